/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane.h: cells of no thread, and a thread's cells that are lent, by a runtime that records in them
 * by itself. The first test is of a process that has no lanes yet.
 */
#include "base/arena.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "cells/cells.h"
#include "metrics/slowest_note.h"
#include "support/lane_fixture.h"
#include "support/owned_records.h"

#include <crest/lifetime.h>

#define LANES 8u

CREST_COUNTER(things, "test.things", "Counted in lanes and by threads.");
CREST_COUNTER_FAMILY(sent, "test.sent", "Retired.", peer);
CREST_HISTOGRAM(sizes, "test.sizes", "Recorded in lanes and by threads.",
                .range = CREST_RANGE_FINE);
CREST_TIMER(waits, "test.waits", "Durations.");

static void test_no_memory(void **state)
{
    (void)state;
    assert_null(crest_lane_cells(0));
    /* as the calls for the thread, until there are lanes */
    crest_lane_counter_add(3, &things, 2);
    crest_lane_histogram_record(3, &sizes, 10, 2);
    assert_int_equal(crest_lane_timer_record(3, &waits, 10, CREST_OUTCOME_OK, NULL), CREST_OK);
    assert_int_equal(crest_counter_value(&things), 2);
    uint64_t records = crest_cells_table_count();
    for (unsigned long after = 1; after <= 6; after++) {
        crest_arena_fail_after(after);
        assert_int_equal(crest_lanes_make(LANES), 0);
        assert_null(crest_lane_cells(0));
    }
    crest_arena_fail_after(0);
    assert_in_range(crest_cells_table_count(), records + 1, records + LANES - 1);
    assert_int_equal(crest_lanes_make(LANES - 3), LANES);
    /* what there was memory for before is used now */
    assert_int_equal(crest_cells_table_count(), records + LANES);
    /* the lanes have no memory for their chunks, and so threads share the series' own */
    crest_arena_fail_after(1);
    crest_lane_counter_add(0, &things, 3);
    crest_lane_histogram_record(0, &sizes, 12, 1);
    crest_arena_fail_after(0);
    assert_int_equal(crest_counter_value(&things), 5);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    const crest_distribution *d = fixture_series(snapshot, "test.sizes", NULL).distribution;
    assert_int_equal(crest_distribution_count(d), 3);
    assert_int_equal(crest_distribution_sum(d), 32);
    crest_snapshot_free(snapshot);
}

static void test_numbers(void **state)
{
    (void)state;
    assert_int_equal(crest_lanes_make(1), LANES); /* the first to come decides */
    assert_int_equal(crest_lanes_make(1000), LANES);
    for (unsigned lane = 0; lane < LANES; lane++) {
        assert_non_null(crest_lane_cells(lane));
        assert_ptr_equal(crest_lane_cells(lane + LANES), crest_lane_cells(lane));
        assert_ptr_not_equal(crest_lane_cells(lane), crest_lane_cells((lane + 1) % LANES));
    }
}

static void test_counter(void **state)
{
    (void)state;
    uint64_t before = crest_counter_value(&things);
    for (unsigned lane = 0; lane < LANES; lane++) {
        assert_int_equal(runtime_add(lane, &things, 5), 0); /* the first touch makes the chunk */
        assert_int_equal(runtime_add(lane, &things, 7), 1);
        crest_lane_counter_add(lane, &things, 11);
    }
    crest_counter_add(&things, 13);
    assert_int_equal(crest_counter_value(&things), before + LANES * 23 + 13);
    uint64_t refused = crest_misuse_value(CREST_MISUSE_NEGATIVE);
    crest_lane_counter_add(1, &things, -1);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NEGATIVE), refused + 1);
    assert_int_equal(crest_counter_value(&things), before + LANES * 23 + 13);
}

static void test_full(void **state)
{
    (void)state;
    crest_counter *counter = fixture_counter(NULL, "test.full"),
                  *other = fixture_counter(NULL, "test.full-by-call");
    runtime_add(2, counter, INT64_MAX);
    assert_int_equal(runtime_add(2, counter, UINT64_MAX - INT64_MAX), 1);
    assert_int_equal(crest_counter_value(counter), UINT64_MAX);
    assert_int_equal(runtime_add(2, counter, 5), 1);
    assert_int_equal(crest_counter_value(counter), UINT64_MAX);
    for (int i = 0; i < 3; i++)
        crest_lane_counter_add(2, other, INT64_MAX);
    assert_int_equal(crest_counter_value(other), UINT64_MAX);
}

static void test_histogram(void **state)
{
    (void)state;
    crest_histogram *histogram = fixture_histogram(NULL, "test.values");
    assert_int_equal(runtime_record(0, histogram, 1000), 0); /* makes chunk, shard and block */
    assert_int_equal(runtime_record(0, histogram, 1000), 1);
    assert_int_equal(runtime_record(0, histogram, 1001), 0); /* the largest */
    assert_int_equal(runtime_record(0, histogram, 999), 0);  /* the least */
    assert_int_equal(runtime_record(0, histogram, 999), 1);
    assert_int_equal(runtime_record(1, histogram, 5), 0);
    crest_lane_histogram_record(1, histogram, 3, 4);
    crest_lane_histogram_record(1, histogram, 3, 0);
    crest_histogram_record(histogram, 70000);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    const crest_distribution *d = fixture_series(snapshot, "test.values", NULL).distribution;
    assert_int_equal(crest_distribution_count(d), 11);
    assert_int_equal(fixture_buckets(d), 11);
    assert_int_equal(crest_distribution_sum(d), 2000 + 1001 + 2 * 999 + 5 + 12 + 70000);
    assert_int_equal(crest_distribution_min(d), 3);
    assert_int_equal(crest_distribution_max(d), 70000);
    crest_snapshot_free(snapshot);
    uint64_t clamped = crest_misuse_value(CREST_MISUSE_CLAMPED),
             negative = crest_misuse_value(CREST_MISUSE_NEGATIVE);
    assert_int_equal(runtime_record(1, histogram, INT64_MAX), 0);
    assert_int_equal(runtime_record(1, histogram, -1), 0);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_CLAMPED), clamped + 1);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NEGATIVE), negative + 1);
    snapshot = fixture_snapshot(NULL);
    d = fixture_series(snapshot, "test.values", NULL).distribution;
    assert_int_equal(crest_distribution_count(d), 12);
    assert_int_equal(crest_distribution_max(d), (UINT64_C(1) << 42) - 1);
    crest_snapshot_free(snapshot);
}

static void test_timer(void **state)
{
    (void)state;
    crest_timer *timer = fixture_timer(NULL, "test.time");
    crest_note note;
    runtime_time(4, timer, 300);
    assert_int_equal(runtime_time(4, timer, 300), 1);
    runtime_time(4, timer, 500);
    runtime_time(5, timer, 400);
    crest_timer_record(timer, 100, CREST_OUTCOME_OK);
    crest_slowest_take(timer->outcome[CREST_OUTCOME_OK].handle.series, &note);
    assert_int_equal(note.value, 500);
    crest_op op = crest_op_u64x2(500, ~UINT64_C(500));
    assert_true(crest_op_equal(&note.op, &op));
    /* of the next tick the first is the slowest again */
    assert_int_equal(runtime_time(4, timer, 200), 0);
    crest_slowest_take(timer->outcome[CREST_OUTCOME_OK].handle.series, &note);
    assert_int_equal(note.value, 200);
    assert_int_equal(crest_lane_timer_record(4, timer, 1, (crest_outcome)9, NULL),
                     CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_lane_timer_record(4, timer, -1, CREST_OUTCOME_TIMEOUT, NULL), CREST_OK);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    const crest_distribution *d = fixture_series(snapshot, "test.time", "ok").distribution;
    assert_int_equal(crest_distribution_count(d), 6);
    assert_int_equal(crest_distribution_sum(d), 1800);
    d = fixture_series(snapshot, "test.time", "timeout").distribution;
    assert_int_equal(crest_distribution_count(d), 1);
    assert_int_equal(crest_distribution_max(d), 0);
    crest_snapshot_free(snapshot);
}

/* A series that is retired leaves no way to its cells. */
static void test_retired(void **state)
{
    (void)state;
    crest_counter *counter = sent_with("x");
    runtime_add(0, counter, 1);
    assert_int_equal(runtime_add(0, counter, 1), 1);
    assert_int_equal(crest_retire(NULL, "peer", "x"), 1);
    assert_int_equal(runtime_add(0, counter, 1), 0);
    assert_int_equal(crest_counter_value(sent_with("x")), 0);
}

/* ---- lent ---- */

static crest_cells *lent_own(const crest_counter *counter)
{
    return crest_lane_own(counter->handle.slot);
}

static void *lent_once(void *unused)
{
    (void)unused;
    if (lent_own(&things) != NULL) /* before its first touch */
        return NULL;
    crest_counter_inc(&things);
    crest_cells *cells = lent_own(&things);
    return cells != NULL && runtime_add_own(cells, &things, 9) ? cells : NULL;
}

static void test_lent(void **state)
{
    (void)state;
    uint64_t before = crest_counter_value(&things);
    void *first, *second;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, lent_once, NULL), 0);
    pthread_join(thread, &first);
    assert_int_equal(pthread_create(&thread, NULL, lent_once, NULL), 0);
    pthread_join(thread, &second);
    assert_non_null(first);
    assert_ptr_equal(first, second); /* used again, after the thread's end */
    assert_int_equal(crest_counter_value(&things), before + 20);
    assert_null(crest_lane_own(0));
    assert_null(crest_lane_own(CREST_SLOT_COUNT));
    assert_null(crest_lane_own(UINT32_MAX));
}

static pthread_key_t late_key;
static int late_calls, late_adds, late_shared;

static void *late_other(void *cells)
{
    crest_counter_inc(&things);
    return (void *)(uintptr_t)(lent_own(&things) == cells);
}

/* Runs after the library's own destructor, whose key is older. */
static void late_destructor(void *cells)
{
    pthread_t thread;
    void *shared;
    late_calls++;
    assert_int_equal(pthread_create(&thread, NULL, late_other, cells), 0);
    pthread_join(thread, &shared);
    late_shared += shared != NULL;
    late_adds += runtime_add_own(cells, &things, 1);
    if (late_calls < 2) /* and once more: some detach from a JVM only then */
        pthread_setspecific(late_key, cells);
}

static void *late_run(void *unused)
{
    crest_counter_inc(&things);
    pthread_setspecific(late_key, lent_own(&things));
    return unused;
}

static void test_lent_to_destructors(void **state)
{
    (void)state;
    uint64_t before = crest_counter_value(&things);
    unsigned owned = owned_records();
    pthread_t thread;
    assert_int_equal(pthread_key_create(&late_key, late_destructor), 0);
    assert_int_equal(pthread_create(&thread, NULL, late_run, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(late_calls, 2);
    assert_int_equal(late_shared, 0); /* nobody had the table while it was still lent */
    assert_int_equal(late_adds, 2);
    assert_int_equal(crest_counter_value(&things), before + 1 + 2 * 2);
    assert_int_equal(owned_records(), owned); /* and then it was given back */
    pthread_key_delete(late_key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_counter),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_timer),
        cmocka_unit_test(test_retired),
        cmocka_unit_test(test_lent),
        cmocka_unit_test(test_lent_to_destructors),
    };
    return cmocka_run_group_tests_name("lanes", tests, NULL, NULL);
}
