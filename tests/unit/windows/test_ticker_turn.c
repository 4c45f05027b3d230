/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test takes a registry over from the ticker's thread, which has begun a reading of it: that
 * reading counts no more. To read takes memory, so the allocator is where the thread is stopped.
 * And what the thread looks at where nobody takes snapshots.
 *
 * crest-test: sanitizers=none
 */
#include "base/atomic.h"
#include "metrics/metric_inside.h"
#include "snapshot/snapshot_inside.h"
#include "support/core_fixture.h"
#include "windows/ticker.h"

#include <crest/window.h>

#define TURN_SERIES 3u
#define TURN_PATIENCE_S 20

void *__libc_calloc(size_t count, size_t size);

/* 1: the thread is to stop at its next reading, 2: it stands, 3: it may go on. */
static uint32_t turn_step;
static pthread_t turn_main;

/* In place of the C library's, for the whole program. No lock is held where a snapshot is made. */
void *calloc(size_t count, size_t size)
{
    if (count == 1 && size == sizeof(crest_snapshot) + (TURN_SERIES + 1) * sizeof(uint64_t) &&
        !pthread_equal(pthread_self(), turn_main) && crest_atomic_load32_acquire(&turn_step) == 1) {
        crest_atomic_store32_release(&turn_step, 2);
        while (crest_atomic_load32_acquire(&turn_step) == 2)
            fixture_nap();
    }
    return __libc_calloc(count, size);
}

/* A second passes, for windows and for the ticker. */
static void turn_second(void)
{
    crest_testing_clock_advance(CREST_TICK_MS * UINT64_C(1000000));
    crest_ticker_step(CREST_TICK_MS * UINT64_C(1000000));
}

static uint64_t turn_ticks(void)
{
    return FIXTURE_READING(NULL, "crest.tick-time", "outcome", "ok").count;
}

static void test_taken_over(void **state)
{
    (void)state;
    turn_main = pthread_self();
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "a");
    fixture_counter(registry, "b");
    fixture_counter(registry, "c");
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    crest_atomic_store32_release(&turn_step, 1);
    turn_second();
    FIXTURE_AWAIT(crest_atomic_load32_acquire(&turn_step) == 2);
    uint64_t ticks = turn_ticks();
    crest_counter_add(counter, 5);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    crest_rate rate = crest_counter_rate(counter, CREST_WINDOW_S);
    assert_true(fabs(rate.per_second * rate.covered_s - 5) < 1e-6);
    crest_counter_add(counter, 7); /* of the next tick, which is the test's */
    crest_atomic_store32_release(&turn_step, 3);
    FIXTURE_AWAIT(turn_ticks() > ticks);
    crest_rate after = crest_counter_rate(counter, CREST_WINDOW_S);
    assert_true(after.per_second == rate.per_second);
    assert_true(after.covered_s == rate.covered_s);
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);
    crest_registry_free(registry);
}

/* Series that were given back are looked at by the thread, also where nobody takes snapshots: one
 * that was used again needs no more looks. */
static void test_looks(void **state)
{
    (void)state;
    static const char *const keys[] = {"key"};
    const char *value = "a";
    crest_registry *registry = fixture_registry(NULL);
    crest_metric_options options = {.name = "f"};
    crest_counter_family family = crest_counter_family_new(registry, &options, keys, 1, NULL);
    crest_counter *counter = crest_counter_family_get(&family, &value, 1);
    crest_counter_inc(counter);
    assert_int_equal(crest_counter_release(counter), CREST_OK);
    crest_counter_inc(counter);
    assert_int_equal(crest_atomic_load(&registry->state->waiting), 1);
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    time_t end = time(NULL) + TURN_PATIENCE_S;
    while (crest_atomic_load(&registry->state->waiting) != 0 && time(NULL) < end) {
        turn_second();
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    assert_int_equal(crest_atomic_load(&registry->state->waiting), 0);
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);
    crest_registry_free(registry);
}

int main(void)
{
    fixture_watchdog(60);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taken_over),
        cmocka_unit_test(test_looks),
    };
    return cmocka_run_group_tests_name("whose turn it is", tests, NULL, NULL);
}
