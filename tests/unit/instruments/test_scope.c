/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/scope.h> in C: a block is timed however it is left, under what it said last.
 */
#include "support/core_fixture.h"
#include "base/misuse.h"

CREST_TIMER(scope_time, "test.scope-time", "Blocks.");
CREST_TIMER(inner_time, "test.inner-time", "Blocks inside blocks.");

static uint64_t scope_count(const char *name, const char *outcome)
{
    crest_testing_reading found;
    crest_testing_read(NULL, NULL, &found, NULL, name, "outcome", outcome, NULL);
    return found.count; /* 0 before the outcome is first hit */
}

static uint64_t scope_sum(const char *name, const char *outcome)
{
    return FIXTURE_READING(NULL, name, "outcome", outcome).sum;
}

static int scope_return_early(int how)
{
    crest_outcome outcome = CREST_OUTCOME_ERROR;
    CREST_TIME_SCOPE(&scope_time, crest_op_u64(1), &outcome);
    if (how == 0)
        return 0;
    outcome = CREST_OUTCOME_OK;
    if (how == 1)
        return 1;
    outcome = CREST_OUTCOME_CANCELLED;
    return 2;
}

static void test_return(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++)
        assert_int_equal(scope_return_early(how), how);
    assert_int_equal(scope_count("test.scope-time", "error"), 1);
    assert_int_equal(scope_count("test.scope-time", "ok"), 1);
    assert_int_equal(scope_count("test.scope-time", "cancelled"), 1);
}

static void test_break_and_goto(void **state)
{
    (void)state;
    uint64_t before = scope_count("test.scope-time", "ok");
    for (int i = 0; i < 10; i++) {
        CREST_TIME_SCOPE(&scope_time, crest_op_none(), NULL);
        if (i % 2 == 0)
            continue;
        if (i == 5)
            break;
    }
    assert_int_equal(scope_count("test.scope-time", "ok"), before + 6);
    {
        CREST_TIME_SCOPE(&scope_time, crest_op_u64(2), NULL);
        goto out;
    }
out:
    assert_int_equal(scope_count("test.scope-time", "ok"), before + 7);
}

/* Two in one block and one nested in both: each has its own time, and ends before what is outside.
 */
static void test_nested(void **state)
{
    (void)state;
    uint64_t count = scope_count("test.inner-time", "ok");
    uint64_t sum = scope_sum("test.inner-time", "ok");
    crest_testing_clock_set(1000);
    {
        CREST_TIME_SCOPE(&inner_time, crest_op_u64(3), NULL);
        crest_testing_clock_set(1100);
        CREST_TIME_SCOPE(&inner_time, crest_op_u64(4), NULL);
        crest_testing_clock_set(1300);
        {
            CREST_TIME_SCOPE(&inner_time, crest_op_u64(5), NULL);
            crest_testing_clock_set(1700);
        }
        assert_int_equal(scope_sum("test.inner-time", "ok"), sum + 400);
        crest_testing_clock_set(2000);
    }
    crest_testing_clock_real();
    assert_int_equal(scope_count("test.inner-time", "ok"), count + 3);
    assert_int_equal(scope_sum("test.inner-time", "ok"), sum + 400 + 900 + 1000);
}

static void test_invalid_outcome(void **state)
{
    (void)state;
    uint64_t refused = crest_misuse_value(CREST_MISUSE_OUTCOME);
    {
        crest_outcome outcome = CREST_OUTCOME_COUNT;
        CREST_TIME_SCOPE(&inner_time, crest_op_u64(6), &outcome);
    }
    assert_int_equal(crest_misuse_value(CREST_MISUSE_OUTCOME), refused + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_return),
        cmocka_unit_test(test_break_and_goto),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_invalid_outcome),
    };
    return cmocka_run_group_tests_name("scope", tests, NULL, NULL);
}
