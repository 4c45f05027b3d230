/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An end against a sweep that finds the same operation overdue, on a clock that jumps past the
 * deadline again and again: each operation is recorded once, by whom the answer says. Beside it
 * operations without a deadline, in the places that the others leave: no sweep ends those.
 */
#include "in_flight/in_flight_table.h"
#include "in_flight/in_flight_walks.h"
#include "support/core_fixture.h"

#include <crest/testing.h>

#define RACE_ROUNDS FIXTURE_TIMES(5000000)
#define RACE_DEADLINE_MS 5
#define RACE_OTHERS 64u

static uint32_t race_over;

static void *race_sweep(void *context)
{
    while (!__atomic_load_n(&race_over, __ATOMIC_RELAXED)) {
        crest_testing_clock_advance(RACE_DEADLINE_MS * UINT64_C(1000000));
        crest_in_flight_sweep();
    }
    return context;
}

static uint64_t race_count(crest_registry *registry, const char *name, const char *outcome)
{
    crest_testing_reading reading;
    crest_error error;
    crest_status status =
        crest_testing_read(registry, NULL, &reading, &error, name, "outcome", outcome, NULL);
    return status == CREST_NOT_FOUND ? 0 : reading.count;
}

static void test_end_against_sweep(void **state)
{
    (void)state;
    uint64_t ok = 0, timed_out = 0;
    crest_registry *registry = fixture_registry(NULL);
    const crest_metric_options options = {.name = "hurried", .deadline_ms = RACE_DEADLINE_MS};
    crest_timer *hurried = crest_timer_get(registry, &options, NULL);
    crest_timer *patient = fixture_timer(registry, "patient");
    pthread_t sweeper;
    crest_testing_clock_set(UINT64_C(1000000000000));
    assert_int_equal(pthread_create(&sweeper, NULL, race_sweep, NULL), 0);
    fixture_watchdog(170);
    for (uint64_t i = 0; i < RACE_ROUNDS; i++) {
        crest_op op = crest_op_u64(i % RACE_OTHERS);
        assert_int_equal(crest_timer_begin(hurried, op), CREST_OK);
        crest_status status = crest_timer_end(hurried, op, CREST_OUTCOME_OK);
        assert_true(status == CREST_OK || status == CREST_TIMED_OUT);
        ok += status == CREST_OK;
        timed_out += status == CREST_TIMED_OUT;
        assert_int_equal(crest_timer_begin(patient, op), CREST_OK);
        assert_int_equal(crest_timer_end(patient, op, CREST_OUTCOME_OK), CREST_OK);
    }
    __atomic_store_n(&race_over, 1, __ATOMIC_RELAXED);
    pthread_join(sweeper, NULL);
    assert_int_equal(race_count(registry, "hurried", "ok"), ok);
    assert_int_equal(race_count(registry, "hurried", "timeout"), timed_out);
    assert_int_equal(race_count(registry, "patient", "ok"), RACE_ROUNDS);
    assert_int_equal(race_count(registry, "patient", "timeout"), 0);
    assert_int_equal(crest_timer_in_flight(hurried).count, 0);
    crest_registry_free(registry);
    crest_testing_clock_real();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_against_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
