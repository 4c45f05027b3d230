/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ticker's schedule when it cannot be kept: because a tick takes longer than there is between
 * two, and because the process was stopped. Ticks that are missing are counted, what was recorded
 * is not lost, and it is no peak.
 *
 * crest-test: waits
 */
#include "support/core_fixture.h"

#include <crest/poll.h>

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define LATE_TICK_S (CREST_TICK_MS / 1e3)

static void late_sleep(double seconds)
{
    struct timespec pause = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&pause, NULL);
}

static double late_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t late_ticks(void)
{
    return FIXTURE_READING(NULL, "crest.tick-time", "outcome", "ok").count;
}

static uint64_t late_missed(void)
{
    return FIXTURE_READING(NULL, "crest.ticks-late").counter;
}

/* So many ticks from now have ended. */
static void late_await(uint64_t more)
{
    uint64_t ticks = late_ticks() + more;
    for (int i = 0; late_ticks() < ticks; i++) {
        if (i == 3000)
            fail_msg("no %llu ticks in 30 seconds", (unsigned long long)more);
        late_sleep(0.01);
    }
}

/* Of each registry a tick waits for the polls' thread, which one callback holds up meanwhile. */
enum { LATE_REGISTRIES = 56 };

static int late_held_up;

static uint64_t late_count(void *context)
{
    while (context != NULL && __atomic_load_n((int *)context, __ATOMIC_RELAXED))
        late_sleep(0.01);
    return 0;
}

typedef struct late_span {
    double before_s, after_s; /* the reading took from one to the other */
    uint64_t ticks, missed;
} late_span;

static late_span late_read(void)
{
    late_span read = {.before_s = late_now_s()};
    read.ticks = late_ticks();
    read.missed = late_missed();
    read.after_s = late_now_s();
    return read;
}

/*
 * Ticks that came, and that were late, make up the time that went by. One that comes late by some
 * part of a tick moves the next one by as much, and is counted as whole ones, half a tick and more
 * as one: that is up to a tick too many for each tick. At both ends there is a part of a tick, and
 * the last one takes its time. Gives how many were late.
 */
static uint64_t late_reconcile(const late_span *begin)
{
    late_span end = late_read();
    uint64_t ticks = end.ticks - begin->ticks, missed = end.missed - begin->missed;
    double least_s = end.before_s - begin->after_s, most_s = end.after_s - begin->before_s;
    double count = (double)(ticks + missed);
    if (count - least_s / LATE_TICK_S < -2.6 || count - most_s / LATE_TICK_S > 0.6 + (double)ticks)
        fail_msg("%llu ticks came and %llu were late in %.2f to %.2f seconds",
                 (unsigned long long)ticks, (unsigned long long)missed, least_s, most_s);
    return missed;
}

static void test_slow_ticks(void **state)
{
    (void)state;
    crest_registry *registry[LATE_REGISTRIES];
    crest_poll *poll[LATE_REGISTRIES];
    const crest_poll_options options = {.budget_ms = CREST_POLL_BUDGET_MS_MAX};
    for (unsigned i = 0; i < LATE_REGISTRIES; i++) {
        registry[i] = fixture_registry(NULL);
        poll[i] = crest_counter_poll(fixture_counter(registry[i], "polled"), late_count,
                                     i == 0 ? &late_held_up : NULL, &options, NULL);
        assert_non_null(poll[i]);
        assert_int_equal(crest_ticker_attach(registry[i]), CREST_OK);
    }
    crest_counter *counter = fixture_counter(registry[1], "c");
    late_await(2);
    late_span begin = late_read();
    __atomic_store_n(&late_held_up, 1, __ATOMIC_RELAXED);
    double ended_s[2], busy_s[2]; /* of both: when it ended, and how long all took by then */
    for (int i = 0; i < 2; i++) {
        crest_counter_add(counter, 10);
        late_await(1);
        ended_s[i] = late_now_s();
        busy_s[i] = (double)FIXTURE_READING(NULL, "crest.tick-time", "outcome", "ok").sum / 1e9;
    }
    __atomic_store_n(&late_held_up, 0, __ATOMIC_RELAXED);
    /* the second did not follow on the heels of the first: there was half a tick between */
    assert_true(ended_s[1] - ended_s[0] - (busy_s[1] - busy_s[0]) > 0.4 * LATE_TICK_S);
    late_await(2);
    assert_true(late_reconcile(&begin) >= 4);
    crest_rate rate = crest_counter_rate(counter, CREST_WINDOW_S);
    assert_true(fabs(rate.per_second * rate.covered_s - 20) < 1e-6);
    assert_true(rate.peak <= 20 / (LATE_TICK_S / 2));
    for (unsigned i = 0; i < LATE_REGISTRIES; i++) {
        assert_int_equal(crest_poll_stop(poll[i]), CREST_OK);
        crest_registry_free(registry[i]);
    }
}

/* A child of this process: it stops its parent for a while. */
static void late_stop_parent(double seconds)
{
    pid_t parent = getpid(), child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        kill(parent, SIGSTOP);
        late_sleep(seconds);
        kill(parent, SIGCONT);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void test_suspended(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    late_await(1);
    late_span begin = late_read();
    crest_counter_add(counter, 10);
    late_stop_parent(3.2 * LATE_TICK_S);
    crest_counter_add(counter, 10);
    late_await(2);
    assert_true(late_reconcile(&begin) >= 2);
    crest_rate rate = crest_counter_rate(counter, CREST_WINDOW_S);
    assert_true(rate.covered_s > 3.5 * LATE_TICK_S);
    assert_true(fabs(rate.per_second * rate.covered_s - 20) < 1e-6);
    assert_true(rate.peak <= 20 / (LATE_TICK_S / 2));
    crest_registry_free(registry);
}

/* Late by seven tenths of a tick is late by one. */
static void test_late_by_a_part(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    late_await(1);
    uint64_t missed = late_missed();
    late_stop_parent(1.7 * LATE_TICK_S);
    late_await(1);
    assert_true(late_missed() > missed);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_ticks),
        cmocka_unit_test(test_suspended),
        cmocka_unit_test(test_late_by_a_part),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("late ticks", tests, NULL, NULL);
}
