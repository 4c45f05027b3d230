/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest-test: timeout=240
 *
 * Reporters of differences under stress: many of them, each at an interval of its own and failing
 * by chance, come and go while threads record, series appear and snapshots are taken. What each was
 * told between attaching and detaching adds up to exactly what was recorded by then.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "support/random_numbers.h"

#include <time.h>

#define DELTA_REPORTERS 12
#define DELTA_RECORDERS 3
#define DELTA_PEERS FIXTURE_TIMES(200)
#define DELTA_DETACH_MS 60000
#define DELTA_ROUNDS 3

CREST_COUNTER_FAMILY(delta_sent, "delta.sent", "Sent.", peer);
CREST_HISTOGRAM_FAMILY(delta_size, "delta.size", "Sizes.", peer);

typedef struct delta_reporter {
    crest_reporter reporter;
    char name[16];
    uint64_t seed;
    uint64_t sent, sizes, size_sum;
    uint64_t reports, failures, wrong;
} delta_reporter;

static int delta_stopping;
static uint64_t delta_peers; /* grows */

static uint64_t delta_draw(uint64_t *seed)
{
    return random_next(seed);
}

static crest_status delta_report(crest_reporter *self, const crest_report *report,
                                 crest_error *error)
{
    delta_reporter *mine = self->state;
    mine->reports++;
    if (!report->final && delta_draw(&mine->seed) % 3 == 0) {
        mine->failures++;
        return crest_error_set(error, CREST_REFUSED, "by chance");
    }
    for (size_t i = 0; i < crest_snapshot_size(report->snapshot); i++) {
        crest_series_view now, then;
        crest_snapshot_series(report->snapshot, i, &now);
        crest_report_previous(report, i, &then);
        mine->wrong += then.counter > now.counter;
        mine->sent += now.counter - then.counter;
        mine->sizes += crest_distribution_count(now.distribution) -
                       crest_distribution_count(then.distribution);
        mine->size_sum +=
            crest_distribution_sum(now.distribution) - crest_distribution_sum(then.distribution);
    }
    return CREST_OK;
}

/* Each records one of each, and counts it. */
static void *delta_record(void *argument)
{
    uint64_t seed = (uint64_t)(uintptr_t)argument * 77777 + 1,
             *recorded = calloc(1, sizeof *recorded);
    while (!__atomic_load_n(&delta_stopping, __ATOMIC_ACQUIRE)) {
        char peer[32];
        uint64_t peers = __atomic_load_n(&delta_peers, __ATOMIC_RELAXED);
        snprintf(peer, sizeof peer, "p%llu", (unsigned long long)(delta_draw(&seed) % peers));
        crest_counter *counter = delta_sent_with(peer);
        crest_histogram *histogram = delta_size_with(peer);
        for (unsigned i = 0; i < 50; i++) {
            crest_counter_inc(counter);
            crest_histogram_record(histogram, 3);
            ++*recorded;
        }
        if (peers < DELTA_PEERS && delta_draw(&seed) % 8 == 0)
            __atomic_store_n(&delta_peers, peers + 1, __ATOMIC_RELAXED);
        nanosleep(&(struct timespec){0, 300000}, NULL);
    }
    return recorded;
}

static void delta_attach(delta_reporter *one, unsigned index)
{
    memset(one, 0, sizeof *one);
    snprintf(one->name, sizeof one->name, "delta-%u", index);
    one->seed = index + 1;
    one->reporter =
        (crest_reporter){.name = one->name, .report = delta_report, .state = one, .deltas = 1};
    crest_schedule schedule = {
        .interval_ms = 100 + 17 * index, .align = index % 2 != 0, .include = "delta.*"};
    crest_error error;
    if (crest_reporter_attach(NULL, &one->reporter, &schedule, &error) != CREST_OK)
        fail_msg("%s", error.message);
}

static void delta_check(const delta_reporter *one, uint64_t recorded)
{
    assert_int_equal(one->wrong, 0);
    assert_int_equal(one->sent, recorded);
    assert_int_equal(one->sizes, recorded);
    assert_int_equal(one->size_sum, 3 * recorded);
}

static void test_totals(void **state)
{
    (void)state;
    static delta_reporter reporters[DELTA_REPORTERS];
    uint64_t recorded = 0, reports = 0, failures = 0;
    delta_peers = 1;
    for (unsigned round = 0; round < DELTA_ROUNDS; round++) {
        pthread_t recorders[DELTA_RECORDERS];
        __atomic_store_n(&delta_stopping, 0, __ATOMIC_RELEASE);
        for (unsigned i = 0; i < DELTA_RECORDERS; i++)
            assert_int_equal(pthread_create(&recorders[i], NULL, delta_record,
                                            (void *)(uintptr_t)(round * 10 + i + 1)),
                             0);
        for (unsigned i = 0; i < DELTA_REPORTERS; i++)
            delta_attach(&reporters[i], i);
        for (unsigned i = 0; i < 12; i++) {
            nanosleep(&(struct timespec){0, 70000000}, NULL);
            crest_report_now(&reporters[i % DELTA_REPORTERS].reporter, 5000, NULL);
            crest_snapshot_free(crest_snapshot_take(NULL));
        }
        /* one goes early: nothing of its own is left behind */
        assert_int_equal(crest_reporter_detach(&reporters[3].reporter, DELTA_DETACH_MS, NULL),
                         CREST_OK);
        delta_attach(&reporters[3], 3);
        nanosleep(&(struct timespec){0, 150000000}, NULL);
        __atomic_store_n(&delta_stopping, 1, __ATOMIC_RELEASE);
        for (unsigned i = 0; i < DELTA_RECORDERS; i++) {
            void *own;
            pthread_join(recorders[i], &own);
            recorded += *(uint64_t *)own;
            free(own);
        }
        for (unsigned i = 0; i < DELTA_REPORTERS; i++) {
            assert_int_equal(crest_reporter_detach(&reporters[i].reporter, DELTA_DETACH_MS, NULL),
                             CREST_OK);
            delta_check(&reporters[i], recorded);
            reports += reporters[i].reports;
            failures += reporters[i].failures;
        }
    }
    assert_true(reports > 3 * DELTA_REPORTERS && failures > 0 && recorded > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_totals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
