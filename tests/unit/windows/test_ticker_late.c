/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ticker's schedule when it cannot be kept: because a tick takes longer than there is between
 * two, and because the process was stopped. Ticks that are missing are counted, what was recorded
 * is not lost, and it is no peak. The ticker's clock goes by steps, of tenths of a tick.
 */
#include "support/core_fixture.h"
#include "windows/tick_listeners.h"
#include "windows/ticker.h"

#define LATE_TENTH_NS (CREST_TICK_MS * UINT64_C(100000))
#define LATE_TICK_S (CREST_TICK_MS / 1e3)
/* As long as nothing is to happen, in real time. */
#define LATE_NOTHING_NS 30000000

static uint64_t late_ticks(void)
{
    return FIXTURE_READING(NULL, "crest.tick-time", "outcome", "ok").count;
}

static uint64_t late_missed(void)
{
    return FIXTURE_READING(NULL, "crest.ticks-late").counter;
}

static void late_step(unsigned tenths)
{
    crest_testing_clock_advance(tenths * LATE_TENTH_NS);
    crest_ticker_step(tenths * LATE_TENTH_NS);
}

/* The one tick that comes with a step; how many were late by it. */
static uint64_t late_tick(unsigned tenths)
{
    uint64_t ticks = late_ticks(), missed = late_missed();
    late_step(tenths);
    FIXTURE_AWAIT(late_ticks() > ticks);
    assert_int_equal(late_ticks(), ticks + 1);
    return late_missed() - missed;
}

/* No tick comes with it. */
static void late_too_soon(unsigned tenths)
{
    uint64_t ticks = late_ticks();
    late_step(tenths);
    nanosleep(&(struct timespec){0, LATE_NOTHING_NS}, NULL);
    assert_int_equal(late_ticks(), ticks);
}

/* A registry whose next tick is due one tick from now. */
static crest_registry *late_begin(crest_counter **counter)
{
    crest_registry *registry = fixture_registry(NULL);
    *counter = fixture_counter(registry, "c");
    late_step(0);
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    assert_int_equal(late_tick(10), 0);
    return registry;
}

/* What was recorded is whole, and no peak although some ticks are short. */
static void late_check_rate(const crest_counter *counter, double events, double covered_ticks)
{
    crest_rate rate = crest_counter_rate(counter, CREST_WINDOW_S);
    assert_true(fabs(rate.covered_s - covered_ticks * LATE_TICK_S) < 1e-6);
    assert_true(fabs(rate.per_second * rate.covered_s - events) < 1e-6);
    assert_true(rate.peak <= events / (LATE_TICK_S / 2));
}

/* Tenths of a tick that each tick takes. */
static unsigned late_takes;

static void late_listener(void)
{
    unsigned tenths = __atomic_load_n(&late_takes, __ATOMIC_ACQUIRE);
    if (tenths != 0)
        late_step(tenths);
}

/* After a tick that took 2.5 there is half a tick before the next, which is late by the rest. */
static void test_slow_ticks(void **state)
{
    (void)state;
    crest_counter *counter;
    crest_registry *registry = late_begin(&counter);
    assert_int_equal(crest_on_tick(late_listener), 0);
    __atomic_store_n(&late_takes, 25, __ATOMIC_RELEASE);
    crest_counter_add(counter, 10);
    assert_int_equal(late_tick(10), 0); /* the next is due at 10, and may come at 30 */
    crest_counter_add(counter, 10);
    late_too_soon(4);
    assert_int_equal(late_tick(1), 2); /* the next is due at 35, and may come at 60 */
    __atomic_store_n(&late_takes, 0, __ATOMIC_RELEASE);
    late_too_soon(4);
    assert_int_equal(late_tick(1), 3);
    assert_int_equal(late_tick(5), 0); /* half a tick later, and then at its time again */
    assert_int_equal(late_tick(10), 0);
    late_check_rate(counter, 20, 1 + 1 + 2.5 + 0.5 + 2.5 + 0.5 + 0.5 + 1);
    crest_registry_free(registry);
}

static void test_suspended(void **state)
{
    (void)state;
    crest_counter *counter;
    crest_registry *registry = late_begin(&counter);
    crest_counter_add(counter, 10);
    assert_int_equal(late_tick(32), 2);
    crest_counter_add(counter, 10);
    late_too_soon(4);
    assert_int_equal(late_tick(1), 0);
    late_check_rate(counter, 20, 1 + 3.2 + 0.5);
    crest_registry_free(registry);
}

/* Late by half a tick is late by one, by less is not. */
static void test_late_by_a_part(void **state)
{
    (void)state;
    crest_counter *counter;
    crest_registry *registry = late_begin(&counter);
    assert_int_equal(late_tick(15), 1);
    assert_int_equal(late_tick(5 + 4), 0);
    late_check_rate(counter, 0, 1 + 1.5 + 0.9);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_ticks),
        cmocka_unit_test(test_suspended),
        cmocka_unit_test(test_late_by_a_part),
    };
    fixture_watchdog(60);
    return cmocka_run_group_tests_name("late ticks", tests, NULL, NULL);
}
