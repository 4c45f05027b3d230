/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages while series come, are released, are retired and come again, under a ticker's thread: no
 * page has a line twice, no counter falls within a life, and in the end nothing is lost.
 */
#include "base/atomic.h"
#include "support/page_lines_apart.h"
#include "support/random_numbers.h"

CREST_REGISTRY(stress_registry, .prefix = "stress");
#undef CREST_REGISTRY_HERE
#define CREST_REGISTRY_HERE &stress_registry
CREST_COUNTER_FAMILY(stress_sent, "sent", "Sent.", peer);
CREST_HISTOGRAM_FAMILY(stress_size, "size", "Sizes.", node);
CREST_TIMER_FAMILY(stress_wait, "wait-time", "Waits.", node);
CREST_RANGE_SAMPLER_FAMILY(stress_queue, "queue", "Queues.", peer);
CREST_COUNTER(stress_all, "all", "Whatever the peers' counters are.");

enum { STRESS_WRITERS = 3, STRESS_PEERS = 90, STRESS_SECONDS = 4 };

static uint64_t stress_done;

/* Peers that only this writer has; those of the first third stay. */
static void *stress_write(void *argument)
{
    unsigned writer = (unsigned)(uintptr_t)argument;
    uint64_t seed = writer + 1;
    for (uint64_t n = 0; crest_atomic_load(&stress_done) == 0; n++) {
        unsigned random = (unsigned)random_next(&seed);
        unsigned peer = (random >> 8) % STRESS_PEERS;
        char name[48];
        snprintf(name, sizeof name, "w%u \"%u\"\\\n", writer, peer);
        crest_counter_inc(stress_sent_with(name));
        crest_counter_inc(&stress_all);
        crest_histogram_record(stress_size_with(name), peer);
        crest_timer_record(stress_wait_with(name), peer, (crest_outcome)(n % CREST_OUTCOME_COUNT));
        crest_range_sampler_add(stress_queue_with(name), n % 2 ? 1 : -1);
        if (peer < STRESS_PEERS / 3 || random >> 24 != 7)
            continue;
        if (n % 2) {
            fixture_holds(crest_retire(&stress_registry, "node", name) != 0);
        } else {
            fixture_equal(crest_counter_release(stress_sent_with(name)), CREST_OK);
            fixture_equal(crest_range_sampler_release(stress_queue_with(name)), CREST_OK);
        }
    }
    return NULL;
}

static void *stress_page(void *argument)
{
    crest_format format = argument ? CREST_FORMAT_OPENMETRICS : CREST_FORMAT_PROMETHEUS_TEXT;
    const crest_page_options all = {.windows = CREST_PAGE_WINDOWS_ALL, .created = 1};
    crest_error error;
    while (crest_atomic_load(&stress_done) == 0) {
        page_gathered page = {.length = 0}, windows = {.length = 0};
        fixture_equal(crest_page_write(&stress_registry, format, page_gather, &page, &error),
                      CREST_OK);
        page_assert_lines_apart(page.text);
        crest_snapshot *snapshot = crest_snapshot_take(&stress_registry);
        fixture_holds(snapshot != NULL);
        fixture_equal(crest_snapshot_write(snapshot, format, &all, page_gather, &windows, &error),
                      CREST_OK);
        crest_snapshot_free(snapshot);
        page_assert_lines_apart(windows.text);
        free(page.text);
        free(windows.text);
    }
    return NULL;
}

/* Peers' counters are not more than all, and each only grows while it lives. */
static void *stress_follow(void *unused)
{
    crest_snapshot *before = NULL;
    while (crest_atomic_load(&stress_done) == 0) {
        crest_snapshot *now = crest_snapshot_take(&stress_registry);
        fixture_holds(now != NULL);
        crest_series_view view, old;
        for (size_t i = 0, o = 0; crest_snapshot_series(now, i, &view) == CREST_OK; i++) {
            if (view.kind != CREST_KIND_COUNTER || before == NULL)
                continue;
            for (o = 0;
                 crest_snapshot_series(before, o, &old) == CREST_OK && old.life != view.life;)
                o++;
            fixture_holds(o == crest_snapshot_size(before) || old.counter <= view.counter);
        }
        crest_snapshot_free(before);
        before = now;
    }
    crest_snapshot_free(before);
    return unused;
}

static void test_pages_of_what_comes_and_goes(void **state)
{
    (void)state;
    pthread_t threads[STRESS_WRITERS + 3];
    assert_int_equal(crest_ticker_attach(&stress_registry), CREST_OK);
    for (uintptr_t i = 0; i < LENGTH(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL,
                                        i < STRESS_WRITERS        ? stress_write
                                        : i < STRESS_WRITERS + 2u ? stress_page
                                                                  : stress_follow,
                                        (void *)(i < STRESS_WRITERS ? i : i - STRESS_WRITERS)),
                         0);
    sleep(STRESS_SECONDS);
    crest_atomic_store(&stress_done, 1);
    for (size_t i = 0; i < LENGTH(threads); i++)
        fixture_join(threads[i], NULL);
    crest_snapshot *snapshot = fixture_snapshot(&stress_registry);
    crest_series_view view;
    uint64_t sent = 0;
    for (size_t i = 0; crest_snapshot_series(snapshot, i, &view) == CREST_OK; i++)
        sent += strcmp(view.name, "stress.sent") == 0 ? view.counter : 0;
    uint64_t all = fixture_series(snapshot, "stress.all", NULL).counter;
    assert_true(all != 0);
    assert_int_equal(sent, all);
    crest_snapshot_free(snapshot);
    assert_int_equal(crest_ticker_detach(&stress_registry), CREST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pages_of_what_comes_and_goes)};
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("pages under stress", tests, NULL, NULL);
}
