/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/timer.h>: a start is only ever paired with the end of the same operation, each outcome is
 * a series, and refusals are counted and leave the timing as it was.
 */
#include "support/core_fixture.h"
#include "base/misuse.h"

#include <limits.h>

CREST_TIMER(declared, "test.wait-time", "Declared.");
CREST_TIMER(declared_again, "test.wait-time", "The same timer, declared twice.");

/* UINT64_MAX: the outcome is not exported. */
static uint64_t timed(crest_registry *registry, const char *name, const char *outcome)
{
    crest_testing_reading found;
    crest_status status =
        crest_testing_read(registry, NULL, &found, NULL, name, "outcome", outcome, NULL);
    return status == CREST_OK ? found.count : UINT64_MAX;
}

static uint64_t timed_sum(crest_registry *registry, const char *name, const char *outcome)
{
    return FIXTURE_READING(registry, name, "outcome", outcome).sum;
}

static void test_outcomes(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t");
    assert_int_equal(timed(registry, "t", "ok"), 0);
    assert_int_equal(timed(registry, "t", "error"), 0);
    assert_int_equal(timed(registry, "t", "timeout"), UINT64_MAX);
    assert_int_equal(timed(registry, "t", "cancelled"), UINT64_MAX);
    for (int outcome = 0; outcome < CREST_OUTCOME_COUNT; outcome++)
        for (int i = 0; i <= outcome; i++)
            crest_timer_record(timer, 100, (crest_outcome)outcome);
    for (int outcome = 0; outcome < CREST_OUTCOME_COUNT; outcome++)
        assert_int_equal(timed(registry, "t", crest_outcome_text((crest_outcome)outcome)),
                         outcome + 1);
    assert_null(crest_outcome_text(CREST_OUTCOME_COUNT));
    assert_null(crest_outcome_text((crest_outcome)-1));
    crest_registry_free(registry);
}

static void test_token(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t");
    crest_op op = crest_op_u64(7), other = crest_op_text("7");
    uint64_t mismatches = crest_misuse_value(CREST_MISUSE_MISMATCH);
    uint64_t ended = crest_misuse_value(CREST_MISUSE_NOT_RUNNING);
    uint64_t outcomes = crest_misuse_value(CREST_MISUSE_OUTCOME);
    crest_testing_clock_set(1000);
    crest_timing timing = crest_timer_start(timer, op);
    crest_testing_clock_set(1500);
    assert_int_equal(crest_timing_end(&timing, other, CREST_OUTCOME_OK), CREST_MISMATCH);
    assert_int_equal(crest_timing_stop(&timing, crest_op_u64(8)), CREST_MISMATCH);
    assert_int_equal(crest_timing_stop(&timing, crest_op_u64x2(7, 0)), CREST_MISMATCH);
    assert_int_equal(crest_timing_end(&timing, op, CREST_OUTCOME_COUNT), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_timing_end(&timing, op, (crest_outcome)-1), CREST_INVALID_ARGUMENT);
    assert_int_equal(timed(registry, "t", "ok"), 0);
    crest_timing copy = timing;
    assert_int_equal(crest_timing_end(&timing, op, CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(crest_timing_end(&timing, op, CREST_OUTCOME_OK), CREST_NOT_RUNNING);
    assert_int_equal(crest_timing_end(&timing, other, CREST_OUTCOME_OK), CREST_NOT_RUNNING);
    assert_int_equal(timed_sum(registry, "t", "ok"), 500);
    crest_testing_clock_set(1700);
    assert_int_equal(crest_timing_end(&copy, op, CREST_OUTCOME_ERROR), CREST_OK);
    assert_int_equal(timed_sum(registry, "t", "error"), 700);
    crest_timing never = {0};
    assert_int_equal(crest_timing_stop(&never, op), CREST_NOT_RUNNING);
    /* two ids that are none are not one operation */
    crest_timing none = crest_timer_start(timer, crest_op_hex("no digits"));
    assert_int_equal(crest_timing_stop(&none, crest_op_hex("odd")), CREST_MISMATCH);
    crest_testing_clock_real();
    assert_int_equal(crest_misuse_value(CREST_MISUSE_MISMATCH), mismatches + 4);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NOT_RUNNING), ended + 3);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_OUTCOME), outcomes + 2);
    crest_registry_free(registry);
}

/* The small token keeps to all that the other one does. */
static void test_token_u64(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t"), *other = fixture_timer(registry, "other");
    uint64_t mismatches = crest_misuse_value(CREST_MISUSE_MISMATCH);
    uint64_t ended = crest_misuse_value(CREST_MISUSE_NOT_RUNNING);
    uint64_t outcomes = crest_misuse_value(CREST_MISUSE_OUTCOME);
    crest_testing_clock_set(1000);
    crest_timing_u64 timing = crest_timer_start_u64(timer, 0);
    crest_testing_clock_set(1500);
    assert_int_equal(crest_timing_u64_end(&timing, 1, CREST_OUTCOME_OK), CREST_MISMATCH);
    assert_int_equal(crest_timing_u64_end(&timing, 0, CREST_OUTCOME_COUNT), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_timing_u64_end(&timing, 0, (crest_outcome)-1), CREST_INVALID_ARGUMENT);
    assert_int_equal(timed(registry, "t", "ok"), 0);
    assert_int_equal(crest_timing_u64_end(&timing, 0, CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(crest_timing_u64_end(&timing, 0, CREST_OUTCOME_OK), CREST_NOT_RUNNING);
    assert_int_equal(crest_timing_u64_end(&timing, 1, CREST_OUTCOME_OK), CREST_NOT_RUNNING);
    assert_int_equal(timed(registry, "t", "ok"), 1);
    assert_int_equal(timed_sum(registry, "t", "ok"), 500);
    timing = crest_timer_start_u64(timer, UINT64_MAX);
    crest_testing_clock_set(1530);
    assert_int_equal(crest_timing_u64_end_in(&timing, UINT64_MAX, CREST_OUTCOME_ERROR, other),
                     CREST_OK);
    assert_int_equal(timed_sum(registry, "other", "error"), 30);
    assert_int_equal(timed(registry, "t", "error"), 0);
    crest_timing_u64 never = {0};
    assert_int_equal(crest_timing_u64_end(&never, 0, CREST_OUTCOME_OK), CREST_NOT_RUNNING);
    crest_testing_clock_real();
    assert_int_equal(crest_misuse_value(CREST_MISUSE_MISMATCH), mismatches + 1);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NOT_RUNNING), ended + 3);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_OUTCOME), outcomes + 2);
    crest_registry_free(registry);
}

/* What a slow record notes of the small token is the operation that crest_op_u64 names. */
static void test_slowest_of_u64(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t");
    crest_testing_clock_set(1000);
    crest_testing_tick(registry);
    crest_timing_u64 timing = crest_timer_start_u64(timer, 4711);
    crest_testing_clock_set(2000001000);
    crest_timing_u64_end(&timing, 4711, CREST_OUTCOME_OK);
    crest_testing_tick(registry);
    crest_window window = crest_timer_window(timer, CREST_OUTCOME_OK, CREST_WINDOW_S);
    crest_op op = crest_op_u64(4711);
    assert_true(crest_op_equal(&window.slowest, &op));
    crest_testing_clock_real();
    crest_registry_free(registry);
}

/* One reading of the clock ends one operation and begins the next; nothing reads it in between. */
static void test_times_read_before(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t"), *other = fixture_timer(registry, "other");
    crest_op op = crest_op_text("first");
    crest_testing_clock_set(999999);
    crest_timing timing = crest_timer_start_at(timer, op, 100);
    uint64_t now_ns = 140;
    assert_int_equal(
        crest_timing_end_at(&timing, crest_op_text("x"), CREST_OUTCOME_OK, NULL, now_ns),
        CREST_MISMATCH);
    assert_int_equal(crest_timing_end_at(&timing, op, CREST_OUTCOME_OK, NULL, now_ns), CREST_OK);
    crest_timing_u64 next = crest_timer_start_u64_at(timer, 2, now_ns);
    assert_int_equal(crest_timing_u64_end_at(&next, 2, CREST_OUTCOME_OK, other, 200), CREST_OK);
    assert_int_equal(timed_sum(registry, "t", "ok"), 40);
    assert_int_equal(timed_sum(registry, "other", "ok"), 60);
    crest_testing_clock_real();
    crest_registry_free(registry);
}

/* The id is known only after decoding: bound once, to one operation. */
static void test_bind(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t");
    crest_op op = crest_op_text("block"), other = crest_op_text("other");
    uint64_t mismatches = crest_misuse_value(CREST_MISUSE_MISMATCH);
    uint64_t ended = crest_misuse_value(CREST_MISUSE_NOT_RUNNING);
    crest_testing_clock_set(1000);
    crest_timing timing = crest_timer_start(timer, crest_op_none());
    assert_int_equal(crest_timing_stop(&timing, op), CREST_MISMATCH);
    assert_int_equal(crest_timing_stop(&timing, crest_op_none()), CREST_MISMATCH);
    assert_int_equal(crest_timing_bind(&timing, crest_op_none()), CREST_MISMATCH);
    assert_int_equal(crest_timing_bind(&timing, op), CREST_OK);
    assert_int_equal(crest_timing_bind(&timing, op), CREST_OK);
    assert_int_equal(crest_timing_bind(&timing, other), CREST_MISMATCH);
    assert_int_equal(crest_timing_stop(&timing, other), CREST_MISMATCH);
    crest_testing_clock_set(1250);
    assert_int_equal(crest_timing_stop(&timing, op), CREST_OK);
    assert_int_equal(crest_timing_bind(&timing, op), CREST_NOT_RUNNING);
    crest_testing_clock_real();
    assert_int_equal(timed(registry, "t", "ok"), 1);
    assert_int_equal(timed_sum(registry, "t", "ok"), 250);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_MISMATCH), mismatches + 5);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NOT_RUNNING), ended + 1);
    crest_registry_free(registry);
}

/* Labels known only at the end: the series named there records, and the one of the start does not.
 */
static void test_end_in(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *unknown = fixture_timer(registry, "unknown");
    crest_timer *known = fixture_timer(registry, "known");
    crest_op op = crest_op_u64(9);
    crest_testing_clock_set(100);
    crest_timing timing = crest_timer_start(unknown, op);
    crest_testing_clock_set(160);
    assert_int_equal(crest_timing_end_in(&timing, crest_op_u64(8), CREST_OUTCOME_OK, known),
                     CREST_MISMATCH);
    assert_int_equal(crest_timing_end_in(&timing, op, CREST_OUTCOME_COUNT, known),
                     CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_timing_end_in(&timing, op, CREST_OUTCOME_ERROR, known), CREST_OK);
    assert_int_equal(crest_timing_end_in(&timing, op, CREST_OUTCOME_ERROR, known),
                     CREST_NOT_RUNNING);
    assert_int_equal(timed_sum(registry, "known", "error"), 60);
    assert_int_equal(timed(registry, "unknown", "error"), 0);
    timing = crest_timer_start(unknown, op);
    assert_int_equal(crest_timing_end_in(&timing, op, CREST_OUTCOME_OK, NULL), CREST_OK);
    crest_testing_clock_real();
    assert_int_equal(timed(registry, "unknown", "ok"), 1);
    crest_registry_free(registry);
}

static void test_durations(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t");
    uint64_t backwards = crest_misuse_value(CREST_MISUSE_BACKWARDS);
    uint64_t clamped = crest_misuse_value(CREST_MISUSE_CLAMPED);
    uint64_t outcomes = crest_misuse_value(CREST_MISUSE_OUTCOME);
    const int64_t highest = (INT64_C(1) << 42) - 1;
    crest_timer_record(timer, -1, CREST_OUTCOME_OK);
    crest_timer_record(timer, INT64_MIN, CREST_OUTCOME_OK);
    crest_timer_record(timer, 0, CREST_OUTCOME_OK);
    crest_timer_record(timer, highest, CREST_OUTCOME_OK);
    crest_timer_record(timer, highest + 1, CREST_OUTCOME_OK);
    crest_timer_record(timer, INT64_MAX, CREST_OUTCOME_OK);
    crest_timer_record(timer, 5, CREST_OUTCOME_COUNT);
    crest_timer_record(timer, 5, (crest_outcome)-1);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_BACKWARDS), backwards + 2);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_CLAMPED), clamped + 2);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_OUTCOME), outcomes + 2);
    assert_int_equal(timed(registry, "t", "ok"), 6);
    assert_int_equal(timed_sum(registry, "t", "ok"), 3 * highest);
    crest_testing_clock_set(5000);
    crest_timing timing = crest_timer_start(timer, crest_op_u64(1));
    crest_testing_clock_set(4000);
    assert_int_equal(crest_timing_end(&timing, crest_op_u64(1), CREST_OUTCOME_ERROR), CREST_OK);
    crest_testing_clock_real();
    assert_int_equal(crest_misuse_value(CREST_MISUSE_BACKWARDS), backwards + 3);
    assert_int_equal(timed(registry, "t", "error"), 1);
    assert_int_equal(timed_sum(registry, "t", "error"), 0);
    crest_registry_free(registry);
}

/* Both handles lead to the same series, also for an outcome that only the other one has hit. */
static void test_declared_twice(void **state)
{
    (void)state;
    crest_timer_record(&declared, 10, CREST_OUTCOME_OK);
    crest_timer_record(&declared_again, 20, CREST_OUTCOME_OK);
    crest_timer_record(&declared, 30, CREST_OUTCOME_TIMEOUT);
    crest_timer_record(&declared_again, 40, CREST_OUTCOME_TIMEOUT);
    assert_int_equal(timed(NULL, "test.wait-time", "ok"), 2);
    assert_int_equal(timed_sum(NULL, "test.wait-time", "ok"), 30);
    assert_int_equal(timed_sum(NULL, "test.wait-time", "timeout"), 70);
    assert_int_equal(timed(NULL, "test.wait-time", "cancelled"), UINT64_MAX);
}

/* An outcome's handle looks like a histogram; used as one it harms nothing. */
static void test_outcome_as_histogram(void **state)
{
    (void)state;
    crest_histogram_record(&declared.outcome[CREST_OUTCOME_CANCELLED], 1);
    crest_timer_record(&declared, 50, CREST_OUTCOME_CANCELLED);
    assert_int_equal(timed_sum(NULL, "test.wait-time", "cancelled"), 50);
    crest_histogram_record(&declared.outcome[CREST_OUTCOME_CANCELLED], 1);
    assert_int_equal(timed_sum(NULL, "test.wait-time", "cancelled"), 51);
}

/* Operations that overlap, end out of order and are dropped: each duration is its own. */
static void test_overlapping(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t");
    enum { OPERATIONS = 500 };
    crest_timing timings[OPERATIONS];
    uint64_t sum = 0, count = 0;
    for (unsigned i = 0; i < OPERATIONS; i++) {
        crest_testing_clock_set(1 + i);
        timings[i] = crest_timer_start(timer, crest_op_u64x2(i, ~(uint64_t)i));
    }
    for (unsigned i = 0; i < OPERATIONS; i++) {
        unsigned which = i * 7 % OPERATIONS;
        if (which % 10 == 3)
            continue; /* dropped */
        uint64_t now = 1000 + i * i;
        crest_testing_clock_set(now);
        crest_op wrong = crest_op_u64x2(which + 1, ~(uint64_t)which);
        assert_int_equal(crest_timing_stop(&timings[which], wrong), CREST_MISMATCH);
        crest_op op = crest_op_u64x2(which, ~(uint64_t)which);
        assert_int_equal(crest_timing_stop(&timings[which], op), CREST_OK);
        sum += now - (1 + which);
        count++;
    }
    crest_testing_clock_real();
    assert_int_equal(timed(registry, "t", "ok"), count);
    assert_int_equal(timed_sum(registry, "t", "ok"), sum);
    crest_registry_free(registry);
}

static void test_other_abi(void **state)
{
    (void)state;
    crest_timer alien = declared;
    alien.handle.abi = CREST_ABI + 1;
    alien.handle.slot = 0;
    for (int i = 0; i < CREST_OUTCOME_COUNT; i++)
        alien.outcome[i].handle = alien.handle;
    uint64_t refused = crest_misuse_value(CREST_MISUSE_ABI);
    for (int i = 0; i < CREST_OUTCOME_COUNT; i++)
        crest_timer_record(&alien, 5, (crest_outcome)i);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_ABI), refused + CREST_OUTCOME_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_token),
        cmocka_unit_test(test_token_u64),
        cmocka_unit_test(test_slowest_of_u64),
        cmocka_unit_test(test_times_read_before),
        cmocka_unit_test(test_bind),
        cmocka_unit_test(test_end_in),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_declared_twice),
        cmocka_unit_test(test_outcome_as_histogram),
        cmocka_unit_test(test_overlapping),
        cmocka_unit_test(test_other_abi),
    };
    return cmocka_run_group_tests_name("timer", tests, NULL, NULL);
}
