/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handles.h: from a declaration to a slot, and what a handle that records nowhere is like. That a
 * zeroed handle harms nobody.
 */
#include "base/misuse.h"
#include "metrics/handles.h"
#include "support/core_fixture.h"

static void test_registering(void **state)
{
    (void)state;
    static const crest_declaration declarations[] = {
        {CREST_KIND_COUNTER, NULL, NULL, 0, {.name = "test.counter"}, NULL},
        {CREST_KIND_GAUGE, NULL, NULL, 0, {.name = "test.gauge"}, NULL},
        {CREST_KIND_HISTOGRAM, NULL, NULL, 0, {.name = "test.histogram"}, NULL},
        {CREST_KIND_TIMER, NULL, NULL, 0, {.name = "test.timer"}, NULL},
        {CREST_KIND_RANGE_SAMPLER, NULL, NULL, 0, {.name = "test.sampler"}, NULL},
    };
    crest_counter counter = CREST_COUNTER_INIT_(&declarations[0]);
    crest_gauge gauge = CREST_GAUGE_INIT_(&declarations[1]);
    crest_histogram histogram = CREST_HISTOGRAM_INIT_(&declarations[2]);
    crest_timer timer = CREST_TIMER_INIT_(&declarations[3]);
    crest_range_sampler sampler = CREST_RANGE_SAMPLER_INIT_(&declarations[4]);
    crest_handle *const handles[] = {&counter.handle, &gauge.handle, &histogram.handle,
                                     &timer.handle, &sampler.handle};
    for (size_t i = 0; i < LENGTH(handles); i++) {
        assert_null(crest_handle_series(handles[i]));
        assert_string_equal(crest_handle_name(handles[i]), declarations[i].options.name);
        assert_int_equal(crest_handle_register(handles[i]), CREST_OK);
        uint32_t slot = handles[i]->slot;
        assert_int_not_equal(slot, 0);
        assert_int_equal(crest_handle_register(handles[i]), CREST_OK);
        assert_int_equal(handles[i]->slot, slot);
        assert_int_equal(crest_handle_dead(handles[i]), CREST_OK);
        assert_string_equal(crest_handle_name(handles[i]), declarations[i].options.name);
        assert_ptr_equal(crest_handle_series(handles[i])->metric->name,
                         crest_handle_name(handles[i]));
    }
    assert_non_null(gauge.cell);
    assert_non_null(sampler.cell);
    assert_int_equal(timer.outcome[CREST_OUTCOME_OK].handle.slot, timer.handle.slot);
    assert_int_not_equal(timer.outcome[CREST_OUTCOME_ERROR].handle.slot, 0);
    assert_int_equal(timer.outcome[CREST_OUTCOME_TIMEOUT].handle.slot, 0);
}

/* Handles of nothing at all: zeroed, without a declaration, or of another kind. */
static void test_nothing_declared(void **state)
{
    (void)state;
    static const crest_declaration gauge = {
        CREST_KIND_GAUGE, NULL, NULL, 0, {.name = "test.g"}, NULL};
    static const char *const keys[] = {"k"};
    static const crest_declaration family = {
        CREST_KIND_COUNTER, NULL, keys, 1, {.name = "test.f"}, NULL};
    crest_counter zeroed = {{0, 0, NULL, NULL}}, undeclared = {{0, CREST_ABI, NULL, NULL}};
    crest_counter of_gauge = CREST_COUNTER_INIT_(&gauge), of_family = CREST_COUNTER_INIT_(&family);
    crest_counter *const counters[] = {&zeroed, &undeclared, &of_gauge, &of_family};
    for (size_t i = 0; i < LENGTH(counters); i++) {
        crest_counter_inc(counters[i]);
        crest_counter_add(counters[i], -1);
        assert_int_equal(crest_counter_value(counters[i]), 0);
        assert_int_equal(counters[i]->handle.slot, 0);
        assert_int_not_equal(crest_handle_dead(&counters[i]->handle), CREST_OK);
        assert_true(crest_counter_rate(counters[i], CREST_WINDOW_S).covered_s == 0);
    }
    crest_gauge zero_gauge = {{0, 0, NULL, NULL}, NULL};
    crest_gauge_set(&zero_gauge, 1);
    crest_gauge_add(&zero_gauge, 1);
    assert_true(crest_gauge_value(&zero_gauge) == 0);
    crest_histogram zero_histogram = {{0, 0, NULL, NULL}};
    crest_histogram_record(&zero_histogram, 1);
    crest_timer zero_timer;
    memset(&zero_timer, 0, sizeof zero_timer);
    for (int outcome = 0; outcome < CREST_OUTCOME_COUNT; outcome++)
        crest_timer_record(&zero_timer, 1, (crest_outcome)outcome);
    assert_int_equal(crest_handle_register(NULL), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_handle_register(&undeclared.handle), CREST_INVALID_ARGUMENT);
}

/* One dead handle of each kind for each status; none of them records or is lost count of. */
static void test_dead(void **state)
{
    (void)state;
    for (int s = 1; s < CREST_STATUS_COUNT; s++) {
        crest_status status = (crest_status)s;
        crest_misuse cause = crest_misuse_of(status);
        uint64_t before = crest_misuse_value(cause);
        assert_int_equal(
            crest_handle_dead(&crest_handle_dead_of(CREST_KIND_COUNTER, status)->handle), status);
        crest_counter_inc(&crest_handle_dead_of(CREST_KIND_COUNTER, status)->counter);
        crest_gauge_set(&crest_handle_dead_of(CREST_KIND_GAUGE, status)->gauge, 1);
        crest_gauge_add(&crest_handle_dead_of(CREST_KIND_GAUGE, status)->gauge, 1);
        crest_histogram_record(&crest_handle_dead_of(CREST_KIND_HISTOGRAM, status)->histogram, 1);
        crest_timer_record(&crest_handle_dead_of(CREST_KIND_TIMER, status)->timer, 1,
                           CREST_OUTCOME_TIMEOUT);
        crest_range_sampler *sampler =
            &crest_handle_dead_of(CREST_KIND_RANGE_SAMPLER, status)->range_sampler;
        crest_range_sampler_add(sampler, 1);
        crest_range_sampler_set(sampler, 1);
        assert_int_equal(crest_range_sampler_value(sampler), 0);
        assert_true(crest_range_sampler_window(sampler, CREST_WINDOW_S).covered_s == 0);
        /* what comes after a retirement is nobody's mistake, and counted elsewhere */
        unsigned misuse = status != CREST_LATE;
        assert_int_equal(crest_misuse_value(cause), before + 7 * misuse);
        crest_timing timing = crest_timer_start(
            &crest_handle_dead_of(CREST_KIND_TIMER, status)->timer, crest_op_u64(1));
        assert_int_equal(crest_timing_stop(&timing, crest_op_u64(1)), status);
        assert_int_equal(crest_misuse_value(cause), before + 8 * misuse);
        assert_int_equal(
            crest_counter_value(&crest_handle_dead_of(CREST_KIND_COUNTER, status)->counter), 0);
        assert_true(crest_gauge_value(&crest_handle_dead_of(CREST_KIND_GAUGE, status)->gauge) == 0);
        assert_true(crest_timer_window(&crest_handle_dead_of(CREST_KIND_TIMER, status)->timer,
                                       CREST_OUTCOME_OK, CREST_WINDOW_S)
                        .covered_s == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registering),
        cmocka_unit_test(test_nothing_declared),
        cmocka_unit_test(test_dead),
    };
    return cmocka_run_group_tests_name("handles", tests, NULL, NULL);
}
