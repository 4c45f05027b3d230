/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page written as it is read, and one of a snapshot: the same, whatever the registry has.
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "cells/cells.h"
#include "support/page_lines_apart.h"
#include "snapshot/streaming.h"
#include "windows/snapshot_take.h"

CREST_REGISTRY(paths_registry, .prefix = "paths");
#undef CREST_REGISTRY_HERE
#define CREST_REGISTRY_HERE &paths_registry
CREST_COUNTER_FAMILY(paths_sent, "sent", "Sent.", peer);
CREST_GAUGE_FAMILY(paths_level, "level", "Level.", peer);
CREST_HISTOGRAM_FAMILY(paths_size, "size", "Sizes.", peer);
CREST_TIMER_FAMILY(paths_wait, "wait-time", "Waits.", peer);
CREST_RANGE_SAMPLER_FAMILY(paths_queue, "queue", "Queues.", peer);
CREST_TIMER(paths_one, "one-time", "One timer, of several outcomes.");
CREST_COUNTER(paths_last, "zeroes", "The last metric.");

CREST_HISTOGRAM_FAMILY(paths_busy, "busy", "Recorded by many threads.", peer);
CREST_HISTOGRAM(paths_fine, "fine", "Of many cells.", .range = CREST_RANGE_FINE);
CREST_HISTOGRAM(paths_past, "past", "Past 64 bits.");
CREST_HISTOGRAM(paths_shared, "shared", "Of a thread without memory.");

enum { PATHS_PEERS = 200, PATHS_THREADS = 12, PATHS_BUSY = 6 };

/* Threads that are all there at once, or one would go on in the cells of the one before it. */
static void *paths_record_busy(void *barrier)
{
    for (unsigned i = 0; i < PATHS_BUSY; i++)
        for (unsigned power = i; power < 40; power++) {
            char peer[16];
            snprintf(peer, sizeof peer, "p%u", i);
            crest_histogram_record(paths_busy_with(peer), INT64_C(1) << power);
        }
    pthread_barrier_wait(barrier);
    return NULL;
}

static void *paths_record_shared(void *unused)
{
    crest_arena_fail_after(1);
    for (int64_t value = 0; value < 5000; value++)
        crest_histogram_record_n(&paths_shared, value, 2);
    crest_arena_fail_after(0);
    return unused;
}

static void paths_record_rare(void)
{
    pthread_t threads[PATHS_THREADS];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, PATHS_THREADS);
    for (unsigned i = 0; i < PATHS_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, paths_record_busy, &barrier), 0);
    for (unsigned i = 0; i < PATHS_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&barrier);
    for (int64_t value = 1; value < INT64_C(1) << 40; value = value * 9 / 8 + 1)
        crest_histogram_record(&paths_fine, value);
    crest_histogram_record_n(&paths_past, INT64_C(1) << 41, 1 << 24);
    crest_histogram_record(&paths_shared, 1);
    assert_int_equal(pthread_create(&threads[0], NULL, paths_record_shared, NULL), 0);
    assert_int_equal(pthread_join(threads[0], NULL), 0);
}

static int paths_setup(void **state)
{
    (void)state;
    crest_testing_clock_set(1000000000);
    assert_int_equal(crest_testing_tick(&paths_registry), CREST_OK);
    for (int i = 0; i < PATHS_PEERS; i++) {
        char peer[64];
        snprintf(peer, sizeof peer, i % 7 == 3 ? "peer \"%d\\\n\xff" : "peer-%d", i);
        crest_counter_add(paths_sent_with(peer), i);
        crest_gauge_set(paths_level_with(peer), i);
        crest_histogram_record(paths_size_with(peer), i);
        crest_timer_record(paths_wait_with(peer), i, (crest_outcome)(i % CREST_OUTCOME_COUNT));
        crest_range_sampler_add(paths_queue_with(peer), i);
    }
    paths_record_rare();
    crest_timer_record(&paths_one, 5, CREST_OUTCOME_TIMEOUT);
    crest_testing_clock_advance(1000000000);
    assert_int_equal(crest_testing_tick(&paths_registry), CREST_OK);
    return 0;
}

static void paths_compare(crest_format format)
{
    page_gathered read = {.length = 0}, taken = {.length = 0};
    crest_error error;
    assert_int_equal(crest_page_write(&paths_registry, format, page_gather, &read, &error),
                     CREST_OK);
    crest_snapshot *snapshot = fixture_snapshot(&paths_registry);
    assert_int_equal(crest_snapshot_write(snapshot, format, NULL, page_gather, &taken, &error),
                     CREST_OK);
    crest_snapshot_free(snapshot);
    assert_true(page_assert_lines_apart(taken.text) > PATHS_PEERS * 40);
    page_assert_lines_apart(read.text);
    assert_string_equal(read.text, taken.text);
    free(read.text);
    free(taken.text);
}

static void test_both_paths(void **state)
{
    (void)state;
    paths_compare(CREST_FORMAT_PROMETHEUS_TEXT);
    paths_compare(CREST_FORMAT_OPENMETRICS);
}

/* A page may ask for counters in any order. */
static void test_backwards(void **state)
{
    (void)state;
    crest_snapshot *snapshot = crest_snapshot_take_passing(&paths_registry);
    assert_non_null(snapshot);
    const crest_directory *directory = snapshot->directory;
    unsigned counters = 0;
    for (size_t i = directory->count; i-- > 0;) {
        uint64_t value = 0;
        if (directory->series[i]->metric->kind != CREST_KIND_COUNTER)
            continue;
        crest_snapshot_values(snapshot, CREST_KIND_COUNTER, i, 1, &value);
        assert_int_equal(value, crest_cells_sum(directory->slots[i]));
        counters++;
    }
    assert_true(counters >= PATHS_PEERS);
    crest_snapshot_free(snapshot);
}

/* Whichever allocation fails, there is no page, or one that it says is wrong. */
static void test_no_memory(void **state)
{
    (void)state;
    crest_error error;
    unsigned failed = 0;
    for (unsigned long n = 1;; n++, failed++) {
        page_gathered page = {.length = 0};
        crest_alloc_fail_after(n);
        crest_status status = crest_page_write(&paths_registry, CREST_FORMAT_PROMETHEUS_TEXT,
                                               page_gather, &page, &error);
        crest_alloc_fail_after(0);
        free(page.text);
        if (status == CREST_OK)
            break;
        assert_int_equal(status, CREST_NO_MEMORY);
    }
    assert_in_range(failed, 4, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_paths),
                                       cmocka_unit_test(test_backwards),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests_name("both ways to a page", tests, paths_setup, NULL);
}
