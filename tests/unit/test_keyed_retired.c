/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed calls through the handle of a series that was retired: late records, as all others are, and
 * no misuse.
 */
#include "core_fixture.h"

#include <crest/lifetime.h>
#include <crest/stages.h>
#include <crest/testing.h>

CREST_TIMER_FAMILY(fetch, "retired.fetch", "Fetching.", peer);
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
    crest_testing_mark_free(mark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timer),
        cmocka_unit_test(test_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
