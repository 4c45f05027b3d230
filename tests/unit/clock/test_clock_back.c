/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows while a test sets the clock back: what stood is what they show.
 */
#include "support/core_fixture.h"

#include <crest/testing.h>

#define BACK_SECOND UINT64_C(1000000000)
#define BACK_START (1000 * BACK_SECOND)

static void back_ticks(crest_registry *registry, unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        crest_testing_clock_advance(BACK_SECOND);
        assert_int_equal(crest_testing_tick(registry), CREST_OK);
    }
}

static void test_mean_of_a_sampler(void **state)
{
    (void)state;
    crest_testing_clock_set(BACK_START);
    crest_registry *registry = fixture_registry(NULL);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    crest_range_sampler *queue = fixture_range_sampler(registry, "queue");
    crest_range_sampler_set(queue, 10);
    back_ticks(registry, 3);
    crest_range_sampler_set(queue, 0); /* for no time at all */
    crest_range_sampler_set(queue, 10);
    back_ticks(registry, 2);
    crest_testing_clock_set(BACK_START);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    back_ticks(registry, 7);
    crest_window window = crest_range_sampler_window(queue, CREST_WINDOW_S);
    assert_true(window.minimum == 0 && window.maximum == 10);
    assert_true(fabs(window.average - 10) < 1e-9);
    crest_ticker_detach(registry);
    crest_registry_free(registry);
    crest_testing_clock_real();
}

/* Rates are of events over measured time: never negative, never infinite. */
static void test_rate_of_a_counter(void **state)
{
    (void)state;
    crest_testing_clock_set(BACK_START);
    crest_registry *registry = fixture_registry(NULL);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    crest_counter *events = fixture_counter(registry, "events");
    crest_counter_add(events, 5);
    back_ticks(registry, 5);
    crest_testing_clock_set(BACK_START - BACK_SECOND);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    for (unsigned i = 0; i < 70; i++) {
        crest_rate rate = crest_counter_rate(events, CREST_WINDOW_S);
        assert_true(rate.per_second >= 0 && rate.per_second <= 5);
        assert_true(rate.peak >= 0 && rate.peak <= 5);
        assert_true(rate.covered_s >= 0 && rate.covered_s <= CREST_WINDOW_S + 1e-9);
        back_ticks(registry, 1);
    }
    crest_ticker_detach(registry);
    crest_registry_free(registry);
    crest_testing_clock_real();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean_of_a_sampler),
        cmocka_unit_test(test_rate_of_a_counter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
