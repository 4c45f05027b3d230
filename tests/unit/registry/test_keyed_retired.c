/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed operations and the end of their series: what is in flight of a series that is retired ends
 * as cancelled and leaves its place to others; calls through its handle are late records, as all
 * others are, and no misuse.
 */
#include "in_flight/in_flight_table.h"
#include "in_flight/in_flight_walks.h"
#include "support/core_fixture.h"

#include <crest/lifetime.h>
#include <crest/stages.h>
#include <crest/testing.h>
#include <sys/wait.h>

CREST_TIMER_FAMILY(fetch, "retired.fetch", "Fetching.", peer);
CREST_TIMER_FAMILY_OPTIONS(awaited, "retired.awaited", "Waiting.", (.deadline_ms = 1000), peer);
CREST_STAGES_FAMILY(block, "retired.block", "A block.", (.stages = {"seen", "stored"}), peer);

static uint64_t misuse_of(const crest_testing_mark *since, const char *cause)
{
    crest_testing_reading reading;
    assert_int_equal(
        crest_testing_read(NULL, since, &reading, NULL, "crest.misuse", "cause", cause, NULL),
        CREST_OK);
    return reading.counter;
}

static void grew_by(const crest_testing_mark *since, uint64_t by)
{
    crest_error error;
    if (crest_testing_grew(since, by, &error, "crest.late-records", NULL) != CREST_OK)
        fail_msg("%s", error.message);
    assert_int_equal(misuse_of(since, "late-record"), 0);
}

static void test_cancelled(void **state)
{
    (void)state;
    const uint64_t second = UINT64_C(1000000000);
    crest_testing_clock_set(1000 * second);
    crest_timer *old = fetch_with("10.0.0.1"), *other = fetch_with("10.0.0.2");
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(crest_timer_begin(old, crest_op_u64(i)), CREST_OK);
    assert_int_equal(crest_timer_begin(other, crest_op_u64(0)), CREST_OK);
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    crest_testing_clock_advance(5 * second);
    assert_int_equal(crest_retire(NULL, "peer", "10.0.0.1"), 1);
    /* it is exported once more, with what was cancelled */
    crest_testing_reading cancelled =
        FIXTURE_READING(NULL, "retired.fetch", "peer", "10.0.0.1", "outcome", "cancelled");
    assert_int_equal(cancelled.count, 3);
    assert_int_equal(cancelled.sum, 3 * 5 * second);
    assert_true(FIXTURE_READING(NULL, "retired.fetch.in-flight", NULL).gauge == 1);
    assert_int_equal(crest_timer_in_flight(other).count, 1);
    grew_by(mark, 0);
    assert_int_equal(crest_timer_end(old, crest_op_u64(0), CREST_OUTCOME_OK), CREST_LATE);
    grew_by(mark, 1);
    assert_int_equal(crest_timer_end(other, crest_op_u64(0), CREST_OUTCOME_OK), CREST_OK);
    crest_testing_mark_free(mark);
    crest_testing_clock_real();
}

/* What was overdue when its series was retired had timed out before. */
static void test_timed_out(void **state)
{
    (void)state;
    const uint64_t second = UINT64_C(1000000000);
    crest_testing_clock_set(1000 * second);
    crest_timer *old = awaited_with("10.0.0.1");
    assert_int_equal(crest_timer_begin(old, crest_op_u64(1)), CREST_OK);
    crest_testing_clock_advance(second);
    assert_int_equal(crest_timer_begin(old, crest_op_u64(2)), CREST_OK);
    crest_testing_clock_advance(second / 2);
    assert_int_equal(crest_retire(NULL, "peer", "10.0.0.1"), 1);
    assert_int_equal(FIXTURE_READING(NULL, "retired.awaited", "outcome", "timeout").count, 1);
    assert_int_equal(FIXTURE_READING(NULL, "retired.awaited", "outcome", "timeout").sum, second);
    assert_int_equal(FIXTURE_READING(NULL, "retired.awaited", "outcome", "cancelled").count, 1);
    assert_int_equal(FIXTURE_READING(NULL, "retired.awaited", "outcome", "cancelled").sum,
                     second / 2);
    crest_testing_clock_real();
}

/* What the sweep found first has timed out once. */
static void test_timed_out_before(void **state)
{
    (void)state;
    const uint64_t second = UINT64_C(1000000000);
    crest_testing_clock_set(1000 * second);
    crest_timer *old = awaited_with("10.0.0.5");
    assert_int_equal(crest_timer_begin(old, crest_op_u64(1)), CREST_OK);
    crest_testing_clock_advance(2 * second);
    crest_in_flight_sweep();
    assert_int_equal(crest_retire(NULL, "peer", "10.0.0.5"), 1);
    crest_testing_reading timeouts =
        FIXTURE_READING(NULL, "retired.awaited", "peer", "10.0.0.5", "outcome", "timeout");
    assert_int_equal(timeouts.count, 1);
    crest_testing_clock_real();
}

/* Peers come, begin, and are retired, more often than there is room. */
static void test_room(void **state)
{
    (void)state;
    enum { AT_ONCE = 1024 };
    crest_timer *lasting = fetch_with("lasting");
    for (unsigned round = 0; round <= CREST_IN_FLIGHT_MAX / AT_ONCE; round++) {
        crest_timer *peer = fetch_with("10.0.0.3");
        for (uint64_t i = 0; i < AT_ONCE; i++)
            assert_int_equal(crest_timer_begin(peer, crest_op_u64(i)), CREST_OK);
        assert_int_equal(crest_retire(NULL, "peer", "10.0.0.3"), 1);
    }
    assert_int_equal(crest_timer_begin(lasting, crest_op_u64(1)), CREST_OK);
    assert_int_equal(crest_timer_end(lasting, crest_op_u64(1), CREST_OUTCOME_OK), CREST_OK);
}

/* A fork while another thread is about to retire a series: in the child nobody is. */
static void test_fork_between(void **state)
{
    (void)state;
    crest_timer *peer = fetch_with("10.0.0.4");
    crest_op one = crest_op_u64(1), two = crest_op_u64(2);
    assert_int_equal(crest_timer_begin(peer, one), CREST_OK);
    assert_true(crest_in_flight_close(peer->keyed));
    assert_int_equal(crest_timer_begin(peer, two), CREST_LATE);
    pid_t child = fork();
    if (child == 0)
        _exit(crest_timer_begin(peer, two) != CREST_OK ||
              crest_timer_end(peer, two, CREST_OUTCOME_OK) != CREST_OK ||
              crest_retire(NULL, "peer", "10.0.0.4") != 1 ||
              crest_timer_begin(peer, two) != CREST_LATE);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(crest_retire(NULL, "peer", "10.0.0.4"), 1);
}

static void test_timer(void **state)
{
    (void)state;
    crest_timer *old = fetch_with("10.0.0.7");
    crest_op one = crest_op_u64(1), two = crest_op_u64(2);
    assert_int_equal(crest_timer_begin(old, one), CREST_OK);
    crest_timing token = crest_timer_start(old, two);
    assert_int_equal(crest_retire(NULL, "peer", "10.0.0.7"), 1);
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    assert_int_equal(crest_timer_begin(old, two), CREST_LATE);
    assert_int_equal(crest_timer_end(old, one, CREST_OUTCOME_OK), CREST_LATE);
    assert_int_equal(crest_timing_stop(&token, two), CREST_LATE);
    grew_by(mark, 3);
    assert_int_equal(crest_timer_in_flight(old).count, 0);
    /* the next one of these values knows nothing of it */
    crest_timer *next = fetch_with("10.0.0.7");
    assert_ptr_not_equal(next, old);
    assert_int_equal(crest_timer_end(next, one, CREST_OUTCOME_OK), CREST_NOT_FOUND);
    assert_int_equal(crest_timer_begin(next, one), CREST_OK);
    assert_int_equal(crest_timer_end(next, one, CREST_OUTCOME_OK), CREST_OK);
    grew_by(mark, 3);
    crest_testing_mark_free(mark);
}

static void test_stages(void **state)
{
    (void)state;
    crest_stages *old = block_with("10.0.0.8");
    crest_op one = crest_op_u64(1);
    assert_int_equal(crest_stages_begin(old, one), CREST_OK);
    /* the whole, and its two histograms with two stages each */
    assert_int_equal(crest_retire(NULL, "peer", "10.0.0.8"), 5);
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    assert_int_equal(crest_stages_mark(old, one, 0), CREST_LATE);
    assert_int_equal(crest_stages_end(old, one, CREST_OUTCOME_OK), CREST_LATE);
    grew_by(mark, 2);
    assert_int_equal(FIXTURE_READING(NULL, "retired.block", "outcome", "cancelled").count, 1);
    crest_testing_mark_free(mark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancelled),        cmocka_unit_test(test_timed_out),
        cmocka_unit_test(test_timed_out_before), cmocka_unit_test(test_room),
        cmocka_unit_test(test_fork_between),     cmocka_unit_test(test_timer),
        cmocka_unit_test(test_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
