/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads add to lanes as a runtime does, atomically and without a call, while others record by the
 * normal calls, snapshots are taken, and windows take what was noted: every total is exact, no
 * reading goes back, a sum covers only what the counts have, and the slowest operation is found.
 */
#include "base/atomic.h"
#include "clock/clock_inside.h"
#include "snapshot/snapshot_inside.h"
#include "support/lane_fixture.h"
#include "windows/windows.h"

#include <sched.h>

#define WATCHDOG_S 170
#define LANES 4u
#define RUNTIME_THREADS 3u
#define THREADS (RUNTIME_THREADS + 1)
#define RECORDS FIXTURE_TIMES(600000)
#define SECOND_NS UINT64_C(1000000000)

CREST_COUNTER(counted, "lanes.counted", "Counted by all.");
CREST_HISTOGRAM(constant, "lanes.constant", "One value only.");
CREST_HISTOGRAM(mixed, "lanes.mixed", "Many values.");

#define CONSTANT 777
#define CALLED 2u

typedef struct adder {
    pthread_t thread;
    unsigned number;
    uint64_t sum, least, largest; /* of mixed */
    uint64_t without_call;
} adder;

static uint64_t adders_at_work;

static uint64_t mixed_value(unsigned number, unsigned i)
{
    uint64_t random = ((uint64_t)i * THREADS + number) * UINT64_C(0x9e3779b97f4a7c15);
    return (random >> 20) >> (i % 40) & ((UINT64_C(1) << 42) - 1);
}

/* The last of the threads records by the normal calls, the others in whatever lane comes. */
static void *adder_run(void *argument)
{
    adder *a = argument;
    a->least = UINT64_MAX;
    for (unsigned i = 0; i < RECORDS; i++) {
        uint64_t value = mixed_value(a->number, i);
        a->sum += value;
        a->least = value < a->least ? value : a->least;
        a->largest = value > a->largest ? value : a->largest;
        if (a->number == RUNTIME_THREADS) {
            crest_counter_inc(&counted);
            crest_histogram_record(&constant, CONSTANT);
            crest_histogram_record(&mixed, (int64_t)value);
            continue;
        }
        unsigned lane = i / 1024 % 2; /* two for three, so that they meet in one */
        if (i % CALLED == 0) {        /* what the calls add at the same time is not lost either */
            crest_lane_counter_add(lane, &counted, 1);
            crest_lane_histogram_record(lane, &constant, CONSTANT, 1);
            crest_lane_histogram_record(lane, &mixed, (int64_t)value, 1);
            continue;
        }
        a->without_call += (unsigned)runtime_add(lane, &counted, 1);
        a->without_call += (unsigned)runtime_record(lane, &constant, CONSTANT);
        runtime_record(lane, &mixed, (int64_t)value);
    }
    crest_atomic_add(&adders_at_work, UINT64_MAX);
    return NULL;
}

typedef struct reading {
    uint64_t counted, constant, mixed;
} reading;

static void check_reading(reading *last)
{
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    uint64_t now = fixture_series(snapshot, "lanes.counted", NULL).counter;
    assert_true(now >= last->counted);
    last->counted = now;
    const crest_distribution *d = fixture_series(snapshot, "lanes.constant", NULL).distribution;
    uint64_t count = crest_distribution_count(d), sum = crest_distribution_sum(d);
    assert_true(count >= last->constant && sum <= count * CONSTANT && sum % CONSTANT == 0);
    if (count != 0)
        assert_true(crest_distribution_min(d) == CONSTANT && crest_distribution_max(d) == CONSTANT);
    last->constant = count;
    d = fixture_series(snapshot, "lanes.mixed", NULL).distribution;
    assert_true(crest_distribution_count(d) >= last->mixed);
    last->mixed = crest_distribution_count(d);
    crest_bucket bucket;
    for (size_t cursor = 0; crest_distribution_next(d, &cursor, &bucket);)
        assert_true(bucket.lowest <= crest_distribution_max(d) &&
                    bucket.highest >= crest_distribution_min(d));
    crest_snapshot_free(snapshot);
}

static void test_exact_totals(void **state)
{
    (void)state;
    adder adders[THREADS] = {0};
    adders_at_work = THREADS;
    for (unsigned i = 0; i < THREADS; i++) {
        adders[i].number = i;
        assert_int_equal(pthread_create(&adders[i].thread, NULL, adder_run, &adders[i]), 0);
    }
    reading last = {0, 0, 0};
    while (crest_atomic_load(&adders_at_work) != 0)
        check_reading(&last);
    uint64_t sum = 0, least = UINT64_MAX, largest = 0, without_call = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(adders[i].thread, NULL);
        sum += adders[i].sum;
        least = adders[i].least < least ? adders[i].least : least;
        largest = adders[i].largest > largest ? adders[i].largest : largest;
        without_call += adders[i].without_call;
    }
    const uint64_t all = (uint64_t)THREADS * RECORDS;
    check_reading(&last);
    assert_int_equal(last.counted, all);
    assert_int_equal(last.constant, all);
    assert_int_equal(last.mixed, all);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    const crest_distribution *d = fixture_series(snapshot, "lanes.constant", NULL).distribution;
    assert_int_equal(crest_distribution_sum(d), all * CONSTANT);
    d = fixture_series(snapshot, "lanes.mixed", NULL).distribution;
    assert_int_equal(crest_distribution_sum(d), sum);
    assert_int_equal(crest_distribution_min(d), least);
    assert_int_equal(crest_distribution_max(d), largest);
    crest_snapshot_free(snapshot);
    /* all but a few of those that can */
    uint64_t added = (uint64_t)RUNTIME_THREADS * (RECORDS - RECORDS / CALLED);
    assert_in_range(without_call, 2 * added - 4 * LANES * THREADS, 2 * added);
}

/* ---- the slowest operation of each tick ---- */

#define ROUNDS FIXTURE_TIMES(300)
#define ROUND_RECORDS 200u

typedef struct timing_stress {
    crest_timer *timer;
    pthread_barrier_t barrier;
    uint64_t largest[THREADS];
} timing_stress;

typedef struct timing_writer {
    timing_stress *stress;
    pthread_t thread;
    unsigned number;
} timing_writer;

static void *timing_run(void *argument)
{
    timing_writer *w = argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t largest = 0;
        for (unsigned i = 0; i < ROUND_RECORDS; i++) {
            /* of each thread its own, so that the slowest is one only */
            uint64_t ns = mixed_value(w->number, round * ROUND_RECORDS + i) / 16 * THREADS;
            ns += w->number;
            largest = ns > largest ? ns : largest;
            if (w->number < RUNTIME_THREADS) {
                runtime_time(i, w->stress->timer, ns);
                continue;
            }
            crest_op op = crest_op_u64x2(ns, ~ns);
            crest_timer_record_op(w->stress->timer, (int64_t)ns, CREST_OUTCOME_OK, &op);
        }
        w->stress->largest[w->number] = largest;
        pthread_barrier_wait(&w->stress->barrier);
        pthread_barrier_wait(&w->stress->barrier);
    }
    return NULL;
}

static void timing_tick(crest_windows *windows, crest_registry *registry, uint64_t now_ns)
{
    crest_clock_fake(now_ns);
    crest_snapshot *snapshot = crest_snapshot_read_notes(registry->state);
    assert_non_null(snapshot);
    assert_int_equal(crest_windows_tick(windows, snapshot), 0);
}

static void test_slowest_of_a_tick(void **state)
{
    (void)state;
    timing_stress stress = {0};
    timing_writer writers[THREADS];
    crest_registry *registry = fixture_registry(NULL);
    crest_windows *windows = crest_windows_new();
    stress.timer = fixture_timer(registry, "t");
    timing_tick(windows, registry, 1000 * SECOND_NS);
    pthread_barrier_init(&stress.barrier, NULL, THREADS + 1);
    for (unsigned i = 0; i < THREADS; i++) {
        writers[i] = (timing_writer){.stress = &stress, .number = i};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, timing_run, &writers[i]), 0);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t largest = 0;
        pthread_barrier_wait(&stress.barrier);
        /* a window further each time, so that it has this round only */
        timing_tick(windows, registry, (1100 + 100 * (uint64_t)round) * SECOND_NS);
        for (unsigned i = 0; i < THREADS; i++)
            largest = stress.largest[i] > largest ? stress.largest[i] : largest;
        crest_window window;
        crest_windows_result(windows, stress.timer->outcome[CREST_OUTCOME_OK].handle.series,
                             CREST_WINDOW_S, &window);
        crest_op op = crest_op_u64x2(largest, ~largest);
        assert_int_equal((uint64_t)window.maximum, largest);
        assert_true(crest_op_equal(&window.slowest, &op));
        pthread_barrier_wait(&stress.barrier);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(writers[i].thread, NULL);
    pthread_barrier_destroy(&stress.barrier);
    crest_clock_fake(0);
    crest_windows_free(windows);
    crest_registry_free(registry);
}

/* ---- ticks amid the records ---- */

static void *noted_run(void *argument)
{
    adder *a = argument;
    for (unsigned i = 0; i < RECORDS; i++)
        runtime_record(a->number + i, &mixed, (int64_t)mixed_value(a->number, i));
    crest_atomic_add(&adders_at_work, UINT64_MAX);
    return NULL;
}

/* What a tick takes lies between what the writers have and 0, and none of it is lost for good. */
static void test_ticks_meanwhile(void **state)
{
    (void)state;
    adder adders[RUNTIME_THREADS] = {0};
    crest_registry_state *registry = crest_default_registry()->state;
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    uint64_t before =
        crest_distribution_count(fixture_series(snapshot, "lanes.mixed", NULL).distribution);
    crest_snapshot_free(snapshot);
    adders_at_work = RUNTIME_THREADS;
    for (unsigned i = 0; i < RUNTIME_THREADS; i++) {
        adders[i].number = i;
        assert_int_equal(pthread_create(&adders[i].thread, NULL, noted_run, &adders[i]), 0);
    }
    for (uint64_t last = before; crest_atomic_load(&adders_at_work) != 0;) {
        snapshot = crest_snapshot_read_notes(registry);
        assert_non_null(snapshot);
        const crest_distribution *d = fixture_series(snapshot, "lanes.mixed", NULL).distribution;
        assert_true(crest_distribution_count(d) >= last);
        last = crest_distribution_count(d);
        crest_snapshot_free(snapshot);
        sched_yield();
    }
    for (unsigned i = 0; i < RUNTIME_THREADS; i++)
        pthread_join(adders[i].thread, NULL);
    snapshot = fixture_snapshot(NULL);
    const crest_distribution *d = fixture_series(snapshot, "lanes.mixed", NULL).distribution;
    assert_int_equal(crest_distribution_count(d), before + RUNTIME_THREADS * (uint64_t)RECORDS);
    crest_snapshot_free(snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_totals),
        cmocka_unit_test(test_slowest_of_a_tick),
        cmocka_unit_test(test_ticks_meanwhile),
    };
    fixture_watchdog(WATCHDOG_S);
    assert_int_equal(crest_lanes_make(LANES), LANES);
    return cmocka_run_group_tests_name("lanes", tests, NULL, NULL);
}
