/* SPDX-License-Identifier: Apache-2.0 */
/*
 * That every poll has its turn: one that takes longer than its interval, within its budget, leaves
 * the others theirs.
 */
#include "support/core_fixture.h"
#include "support/poll_fixture.h"

static void turns_slow(void *calls)
{
    poll_sleep_ms(CREST_POLL_INTERVAL_MS_MIN * 2);
    __atomic_add_fetch((unsigned *)calls, 1, __ATOMIC_RELAXED);
}

static void turns_quick(void *calls)
{
    __atomic_add_fetch((unsigned *)calls, 1, __ATOMIC_RELAXED);
}

static void test_slow_polls_leave_turns(void **state)
{
    (void)state;
    static unsigned slow, slow_too, quick;
    const crest_poll_options often = {.interval_ms = CREST_POLL_INTERVAL_MS_MIN,
                                      .budget_ms = CREST_POLL_BUDGET_MS_MAX};
    const crest_poll_options seldom = {.interval_ms = 5 * CREST_POLL_INTERVAL_MS_MIN,
                                       .budget_ms = CREST_POLL_BUDGET_MS_MAX};
    crest_poll *first = crest_poll_every("slow", turns_slow, &slow, &often, NULL);
    crest_poll *second = crest_poll_every("slow.too", turns_slow, &slow_too, &often, NULL);
    crest_poll *third = crest_poll_every("quick", turns_quick, &quick, &seldom, NULL);
    assert_non_null(first);
    assert_non_null(second);
    assert_non_null(third);
    assert_true(poll_wait_calls(third, 5));
    assert_true(poll_wait_calls(second, 5));
    assert_true(poll_wait_calls(first, 5));
    /* those that want to be called as often are called as often */
    unsigned one = __atomic_load_n(&slow, __ATOMIC_RELAXED);
    unsigned other = __atomic_load_n(&slow_too, __ATOMIC_RELAXED);
    assert_in_range(one, other > 2 ? other - 2 : 0, other + 2);
    assert_int_equal(crest_poll_stop(first), CREST_OK);
    assert_int_equal(crest_poll_stop(second), CREST_OK);
    assert_int_equal(crest_poll_stop(third), CREST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_polls_leave_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
