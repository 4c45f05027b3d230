/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock that stands still and ticks by hand: rates and windows exact, and without sleeping.
 */
#include "support/core_fixture.h"

#include <crest/testing.h>
#include <time.h>

#define SECOND_NS UINT64_C(1000000000)

static void test_clock(void **state)
{
    (void)state;
    uint64_t real = crest_now();
    crest_testing_clock_set(1000);
    assert_int_equal(crest_now(), 1000);
    crest_testing_clock_advance(234);
    assert_int_equal(crest_now(), 1234);
    crest_testing_clock_set(0);
    assert_int_equal(crest_now(), 1);
    crest_testing_clock_real();
    assert_true(crest_now() >= real);
    /* one that runs is made to stand where it is */
    crest_testing_clock_advance(SECOND_NS);
    uint64_t stands = crest_now();
    assert_true(stands >= real + SECOND_NS);
    assert_int_equal(crest_now(), stands);
    crest_testing_clock_real();
    crest_testing_clock_real();
}

static void test_wall(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_gauge *gauge = fixture_gauge(registry, "last");
    crest_testing_clock_set(5);
    crest_testing_clock_set_wall(1600000000 * SECOND_NS);
    crest_testing_clock_advance(3 * SECOND_NS / 2);
    crest_gauge_set_to_now(gauge);
    assert_true(fabs(crest_gauge_value(gauge) - 1600000001.5) < 1e-6);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_time_ns(snapshot), 5 + 3 * SECOND_NS / 2);
    assert_int_equal(crest_snapshot_wall_ns(snapshot), 16000000015 * SECOND_NS / 10);
    crest_snapshot_free(snapshot);
    crest_testing_clock_real();
    crest_gauge_set_to_now(gauge);
    assert_true(fabs(crest_gauge_value(gauge) - (double)time(NULL)) < 60);
    crest_registry_free(registry);
}

static void test_timer(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t");
    crest_op op = crest_op_u64(1);
    crest_testing_clock_set(SECOND_NS);
    crest_timing timing = crest_timer_start(timer, op);
    crest_testing_clock_advance(1500);
    assert_int_equal(crest_timing_stop(&timing, op), CREST_OK);
    crest_testing_clock_real();
    crest_testing_reading reading;
    assert_int_equal(crest_testing_read(registry, NULL, &reading, NULL, "t", "outcome", "ok", NULL),
                     CREST_OK);
    assert_int_equal(reading.sum, 1500);
    crest_registry_free(registry);
}

static void test_ticks(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    crest_testing_reading reading;
    crest_counter_add(counter, 1000);
    crest_testing_clock_set(SECOND_NS);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    for (int i = 1; i <= 4; i++) {
        crest_counter_add(counter, 10 * i);
        crest_testing_clock_advance(SECOND_NS);
        assert_int_equal(crest_testing_tick(registry), CREST_OK);
    }
    crest_rate rate = crest_counter_rate(counter, CREST_WINDOW_S);
    assert_true(rate.covered_s == 4);
    assert_true(rate.per_second == 25);
    assert_true(rate.peak == 40);
    assert_int_equal(crest_testing_read(registry, NULL, &reading, NULL, "c", NULL), CREST_OK);
    assert_true(reading.window.per_second == 25);
    assert_int_equal(reading.window.events, 100);
    /* the window moves on: a minute later nothing of it is left */
    for (int i = 0; i < 60; i++) {
        crest_testing_clock_advance(SECOND_NS);
        assert_int_equal(crest_testing_tick(registry), CREST_OK);
    }
    rate = crest_counter_rate(counter, CREST_WINDOW_S);
    assert_true(fabs(rate.covered_s - 60) < 1e-9);
    assert_true(rate.per_second == 0);
    crest_testing_clock_real();
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);
    assert_int_equal(crest_ticker_detach(registry), CREST_NOT_FOUND);
    crest_registry_free(registry);
}

/* A registry that the ticker observes is left to the test from its first tick on. */
static void test_beside_the_ticker(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    crest_testing_clock_advance(SECOND_NS);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    crest_counter_add(counter, 5);
    double covered_s = crest_counter_rate(counter, CREST_WINDOW_S).covered_s;
    nanosleep(&(struct timespec){1, 300000000}, NULL);
    assert_true(crest_counter_rate(counter, CREST_WINDOW_S).covered_s == covered_s);
    assert_true(crest_counter_rate(counter, CREST_WINDOW_S).per_second == 0);
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);
    assert_int_equal(crest_ticker_detach(registry), CREST_NOT_FOUND);
    crest_testing_clock_real();
    crest_registry_free(registry);
}

static void *time_ticking(void *registry)
{
    for (int i = 0; i < FIXTURE_TIMES(2000); i++) {
        crest_testing_clock_advance(1000);
        fixture_equal(crest_testing_tick(registry), CREST_OK);
    }
    return NULL;
}

/* Ticks by several threads while the ticker's own thread checks the clock. */
static void test_threads(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL), *other = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    assert_int_equal(crest_ticker_attach(other), CREST_OK);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    crest_testing_clock_set(SECOND_NS);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, time_ticking, registry), 0);
    crest_counter_add(counter, 3);
    for (int i = 0; i < 3; i++)
        fixture_join(threads[i], NULL);
    assert_int_equal(crest_now(), SECOND_NS + 3 * UINT64_C(1000) * FIXTURE_TIMES(2000));
    crest_testing_clock_real();
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);
    assert_int_equal(crest_ticker_detach(other), CREST_OK);
    crest_registry_free(registry);
    crest_registry_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock),   cmocka_unit_test(test_wall),
        cmocka_unit_test(test_timer),   cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_beside_the_ticker),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("testing_time", tests, NULL, NULL);
}
