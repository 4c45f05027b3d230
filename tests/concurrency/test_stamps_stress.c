/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that exchange, record, relay, read and take snapshots at once: estimates are never a
 * mixture of two, and nothing is lost or counted twice.
 */
#include "latency/peers/peer_filter.h"
#include "support/core_fixture.h"

#include <crest/crest.h>
#include <crest/testing.h>

#define STRESS_WALL UINT64_C(1700000000000000000)
#define STRESS_AHEAD INT64_C(3000000000)
#define STRESS_THREADS 4
#define STRESS_TIMES 10000
#define STRESS_NODES 12

CREST_TIMER(stress_propagation, "stress.propagation-time", "Origin to receipt.");
CREST_TIMER(stress_coverage, "stress.coverage-time", "Until all have it.");

static crest_peer_clock *stress_clock;
static crest_coverage *stress_covered;
static uint32_t stress_over;

/* One out of four is refused; of the others each has a delay of its own. */
static void *stress_exchanges(void *context)
{
    uint64_t thread = (uint64_t)(uintptr_t)context;
    for (uint64_t i = 0; i < STRESS_TIMES; i++) {
        uint64_t delay = 2 * (1000 + STRESS_THREADS * i + thread), t4 = STRESS_WALL;
        uint64_t there = t4 - delay / 2 + (uint64_t)STRESS_AHEAD;
        crest_status wanted = i % 4 == 3 ? CREST_INVALID_ARGUMENT : CREST_OK;
        uint64_t t3 = wanted == CREST_OK ? there : there - 1;
        fixture_equal(crest_peer_clock_add(stress_clock, t4 - delay, there, t3, t4, NULL), wanted);
    }
    return NULL;
}

static void *stress_records(void *context)
{
    uint64_t thread = (uint64_t)(uintptr_t)context;
    for (uint64_t i = 0; i < STRESS_TIMES; i++) {
        crest_stamp stamp, next;
        crest_stamp_view view;
        crest_propagation result;
        crest_op op = crest_op_u64x2(thread, i);
        crest_stamp_make_at(op, STRESS_WALL + (uint64_t)STRESS_AHEAD - 1000 * i, 0, &stamp, NULL);
        fixture_equal(crest_stamp_read(&stamp, sizeof stamp, &view, NULL), CREST_OK);
        fixture_equal(crest_stamp_record(&stress_propagation, &view, stress_clock, CREST_OUTCOME_OK,
                                         &op, &result),
                      CREST_OK);
        fixture_equal(result.duration_ns, 1000 * i);
        fixture_equal(crest_stamp_relay(&view, stress_clock, &next), CREST_OK);
        fixture_equal(crest_stamp_read(&next, sizeof next, &view, NULL), CREST_OK);
        fixture_holds(view.origin_ns == STRESS_WALL - 1000 * i);
    }
    return NULL;
}

/* Error and delay belong together, so that a mixture of two estimates would show. */
static void *stress_reads(void *context)
{
    (void)context;
    while (!__atomic_load_n(&stress_over, __ATOMIC_RELAXED)) {
        crest_peer_clock_state now;
        fixture_equal(crest_peer_clock_read(stress_clock, &now), CREST_OK);
        fixture_equal(now.offset_ns, STRESS_AHEAD);
        fixture_equal(now.samples, 1);
        uint64_t drift = crest_peer_drift(CREST_PEER_CLOCK_DRIFT_PPM_DEFAULT, now.delay_ns);
        fixture_equal(now.error_ns, now.delay_ns / 2 + drift + 1);
        crest_snapshot_free(crest_snapshot_take(NULL));
    }
    return NULL;
}

/* Each thread acknowledges for all nodes: of each acknowledgement, one counts. */
static void *stress_acks(void *context)
{
    unsigned thread = (unsigned)(uintptr_t)context;
    for (uint64_t i = 0; i < STRESS_TIMES / 10; i++) {
        crest_op op = crest_op_u64(i + 1);
        for (unsigned node = 0; node < STRESS_NODES; node++)
            crest_coverage_add_after(stress_covered, &op, (node + thread) % STRESS_NODES, 7);
    }
    return NULL;
}

static void stress_all(void *(*what)(void *), pthread_t *threads)
{
    for (uintptr_t i = 0; i < STRESS_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, what, (void *)i), 0);
}

static void stress_join(pthread_t *threads)
{
    for (int i = 0; i < STRESS_THREADS; i++)
        fixture_join(threads[i], NULL);
}

static crest_testing_reading stress_reading(const char *name, const char *key, const char *value)
{
    crest_testing_reading reading;
    crest_error error;
    if (crest_testing_read(NULL, NULL, &reading, &error, name, key, value, NULL) != CREST_OK)
        fail_msg("%s", error.message);
    return reading;
}

static void test_clock(void **state)
{
    (void)state;
    pthread_t adding[STRESS_THREADS], recording[STRESS_THREADS], reading[2];
    crest_testing_clock_set(STRESS_WALL / 1000);
    crest_testing_clock_set_wall(STRESS_WALL);
    stress_clock = crest_peer_clock_new(NULL, "a", &(crest_peer_clock_options){.samples = 1}, NULL);
    assert_non_null(stress_clock);
    assert_int_equal(crest_peer_clock_add(stress_clock, STRESS_WALL, STRESS_WALL + STRESS_AHEAD,
                                          STRESS_WALL + STRESS_AHEAD, STRESS_WALL, NULL),
                     CREST_OK);
    stress_all(stress_exchanges, adding);
    stress_all(stress_records, recording);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&reading[i], NULL, stress_reads, NULL), 0);
    stress_join(adding);
    stress_join(recording);
    __atomic_store_n(&stress_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        fixture_join(reading[i], NULL);
    uint64_t good = STRESS_THREADS * (uint64_t)(STRESS_TIMES - STRESS_TIMES / 4);
    assert_int_equal(stress_reading("peer.clock-round-trip-time", "outcome", "ok").count, good + 1);
    assert_int_equal(stress_reading("peer.clock-exchanges-refused", "cause", "impossible").counter,
                     STRESS_THREADS * (STRESS_TIMES / 4));
    assert_int_equal(stress_reading("peer.clock-steps", "peer", "a").counter, 0);
    crest_testing_reading recorded = stress_reading("stress.propagation-time", "outcome", "ok");
    assert_int_equal(recorded.count, STRESS_THREADS * STRESS_TIMES);
    assert_int_equal(recorded.sum,
                     STRESS_THREADS * (STRESS_TIMES - 1) * STRESS_TIMES / 2 * 1000ull);
    crest_peer_clock_free(stress_clock);
    crest_testing_clock_real();
}

static void test_coverage(void **state)
{
    (void)state;
    pthread_t threads[STRESS_THREADS];
    crest_coverage_options options = {.nodes = STRESS_NODES, .in_flight = 1000};
    crest_coverage_state now;
    stress_covered = crest_coverage_new(&stress_coverage, &options, NULL);
    assert_non_null(stress_covered);
    for (uint64_t i = 0; i < STRESS_TIMES / 10; i++)
        assert_int_equal(crest_coverage_begin(stress_covered, crest_op_u64(i + 1), STRESS_WALL),
                         CREST_OK);
    stress_all(stress_acks, threads);
    stress_join(threads);
    crest_coverage_read(stress_covered, &now);
    assert_int_equal(now.covered, STRESS_TIMES / 10);
    assert_int_equal(now.in_flight, 0);
    assert_int_equal(now.repeated, (STRESS_THREADS - 1) * STRESS_NODES * (STRESS_TIMES / 10));
    assert_int_equal(now.unknown + now.decisive + now.late + now.timed_out, 0);
    uint64_t covered = now.covered;
    crest_coverage_free(stress_covered);
    crest_testing_reading recorded = stress_reading("stress.coverage-time", "outcome", "ok");
    assert_int_equal(recorded.count, covered);
    assert_int_equal(recorded.sum, covered * 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
