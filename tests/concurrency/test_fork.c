/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forking a process that records: the child starts at zero and counts into nobody, the parent is
 * not disturbed, and a fork waits for nobody who waits for it.
 *
 * ThreadSanitizer does not support threads in the child of a process with threads, and the
 * allocator of GCC 12's AddressSanitizer leaves the child its locks as they were: a child that
 * allocates hangs now and then, whoever's library it uses.
 * crest-test: sanitizers=none
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "cells/cells.h"
#include "clock/clock_inside.h"
#include "support/child_fixture.h"
#include "support/lane_fixture.h"
#include "windows/windows.h"

#include <crest/by_name.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCHDOG_S 170

CREST_COUNTER(forked, "test.forked", "Counted on both sides.");
CREST_COUNTER(untouched, "test.untouched", "Counted by one thread only.");
CREST_GAUGE(level, "test.level", "A gauge.");
CREST_HISTOGRAM(sizes, "test.size", "A histogram.");
CREST_TIMER(waits, "test.wait-time", "A timer.");
CREST_RANGE_SAMPLER(queue, "test.queue", "A range sampler.");
CREST_TIMER(keyed, "test.keyed-time", "A timer of keyed operations.", .deadline_ms = 60000);

static void *record_once(void *unused)
{
    crest_counter_inc(&forked);
    crest_histogram_record(&sizes, 1000);
    return unused;
}

static void child_records(void)
{
    alarm(FIXTURE_BUSY * WATCHDOG_S);
    CHILD_WANTS(crest_counter_value(&forked) == 0);
    CHILD_WANTS(crest_counter_value(&untouched) == 0);
    CHILD_WANTS(crest_gauge_value(&level) == 0);
    CHILD_WANTS(crest_range_sampler_value(&queue) == 0);
    CHILD_WANTS(fork_count("test.size", NULL) == 0);
    CHILD_WANTS(fork_count("test.wait-time", "ok") == 0);
    crest_counter_add(&forked, 5);
    crest_gauge_set(&level, 2);
    crest_range_sampler_add(&queue, 3);
    CHILD_WANTS(crest_range_sampler_value(&queue) == 3);
    crest_histogram_record(&sizes, 7);
    crest_timer_record(&waits, 8, CREST_OUTCOME_OK);
    crest_timer_record(&waits, 8, CREST_OUTCOME_TIMEOUT);
    /* a thread of the child adopts what its parent's threads had */
    uint64_t records = crest_cells_table_count();
    pthread_t thread;
    CHILD_WANTS(pthread_create(&thread, NULL, record_once, NULL) == 0);
    fixture_join(thread, NULL);
    CHILD_WANTS(crest_cells_table_count() == records);
    CHILD_WANTS(crest_counter_value(&forked) == 6);
    CHILD_WANTS(crest_gauge_value(&level) == 2);
    CHILD_WANTS(fork_count("test.size", NULL) == 2);
    CHILD_WANTS(fork_count("test.wait-time", "ok") == 1);
    CHILD_WANTS(fork_count("test.wait-time", "timeout") == 1);
    crest_metric_options options = {.name = "test.child-only"};
    crest_counter *own = crest_counter_get(NULL, &options, NULL);
    crest_counter_inc(own);
    CHILD_WANTS(crest_counter_value(own) == 1);
    /* and has a ticker of its own */
    CHILD_WANTS(crest_counter_rate(&forked, CREST_WINDOW_S).covered_s == 0);
    CHILD_WANTS(crest_ticker_detach(NULL) == CREST_NOT_FOUND);
    CHILD_WANTS(crest_ticker_attach(NULL) == CREST_OK);
    crest_counter_add(&forked, 10);
    while (crest_counter_rate(&forked, CREST_WINDOW_S).covered_s == 0)
        usleep(10000); /* the alarm ends a child that has no ticks */
    crest_rate rate = crest_counter_rate(&forked, CREST_WINDOW_S);
    CHILD_WANTS(rate.covered_s > 0.5);
    CHILD_WANTS(fabs(rate.per_second * rate.covered_s - 10) < 1e-6);
    CHILD_WANTS(crest_ticker_detach(NULL) == CREST_OK);
    pid_t grandchild = fork();
    if (grandchild == 0) {
        CHILD_WANTS(crest_counter_value(&forked) == 0);
        crest_counter_inc(&forked);
        CHILD_WANTS(crest_counter_value(&forked) == 1);
        _exit(0);
    }
    int status;
    CHILD_WANTS(waitpid(grandchild, &status, 0) == grandchild && status == 0);
    CHILD_WANTS(crest_counter_value(&forked) == 16);
    _exit(0);
}

static void test_child_starts_at_zero(void **state)
{
    (void)state;
    crest_counter_add(&forked, 100);
    crest_counter_add(&untouched, 3);
    crest_gauge_set(&level, -4);
    crest_range_sampler_set(&queue, -5);
    crest_histogram_record(&sizes, 12345);
    crest_timer_record(&waits, 9, CREST_OUTCOME_OK);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, record_once, NULL), 0);
    fixture_join(thread, NULL);
    assert_int_equal(crest_ticker_attach(NULL), CREST_OK);
    pid_t child = fork();
    if (child == 0)
        child_records();
    wait_for_child(child);
    assert_int_equal(crest_ticker_detach(NULL), CREST_OK);
    assert_int_equal(crest_counter_value(&forked), 101);
    assert_int_equal(crest_counter_value(&untouched), 3);
    assert_true(crest_gauge_value(&level) == -4);
    assert_int_equal(crest_range_sampler_value(&queue), -5);
    assert_int_equal(fork_count("test.size", NULL), 2);
    assert_int_equal(fork_count("test.wait-time", "ok"), 1);
    crest_series_view view;
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    assert_int_equal(crest_snapshot_find(snapshot, "test.child-only", NULL, 0, &view),
                     CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
}

/* ---- forking an observed process ---- */

static void child_is_observed(void)
{
    CHILD_WANTS(crest_windows_places() == 0);
    CHILD_WANTS(crest_windows_refused() == 0);
    crest_testing_clock_set(1000000000);
    CHILD_WANTS(crest_testing_tick(NULL) == CREST_OK);
    crest_counter_add(&forked, 30);
    crest_testing_clock_advance(1000000000);
    CHILD_WANTS(crest_testing_tick(NULL) == CREST_OK);
    CHILD_WANTS(crest_counter_rate(&forked, CREST_WINDOW_S).per_second == 30);
    CHILD_WANTS(crest_windows_places() != 0);
    _exit(0);
}

/* As many series may have windows in the child as in the parent, whose have taken all places. */
static void test_places_of_child(void **state)
{
    (void)state;
    assert_int_equal(crest_ticker_attach(NULL), CREST_OK);
    crest_windows_options options = {.series = (unsigned)crest_windows_places()};
    assert_true(options.series != 0);
    assert_int_equal(crest_windows_configure(&options), CREST_OK);
    pid_t child = fork();
    if (child == 0)
        child_is_observed();
    wait_for_child(child);
    options.series = CREST_WINDOWED_SERIES_DEFAULT;
    assert_int_equal(crest_windows_configure(&options), CREST_OK);
    assert_int_equal(crest_ticker_detach(NULL), CREST_OK);
}

/* ---- forking amid recording and registering ---- */

#define BUSY_THREADS 3
#define BUSY_FORKS FIXTURE_TIMES(300)

typedef struct busy {
    crest_registry *registry;
    uint64_t number, counted, done;
} busy;

static void *busy_run(void *argument)
{
    busy *b = argument;
    for (uint64_t i = 0; !crest_atomic_load(&b->done); i++) {
        crest_counter_inc(&forked);
        crest_atomic_store(&b->counted, b->counted + 1);
        if (i % 64 == 0 && i < 64 * 500) {
            char name[64];
            snprintf(name, sizeof name, "busy.t%llu-m%llu", (unsigned long long)b->number,
                     (unsigned long long)i);
            crest_metric_options options = {.name = name};
            crest_histogram_record(crest_histogram_get(b->registry, &options, NULL), (int64_t)i);
        }
        if (i % 256 == 1)
            crest_snapshot_free(crest_snapshot_take(b->registry));
        free(malloc(2000));
    }
    return NULL;
}

static void test_fork_amid_recording(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    uint64_t before = crest_counter_value(&forked);
    busy threads[BUSY_THREADS];
    pthread_t ids[BUSY_THREADS];
    for (unsigned i = 0; i < BUSY_THREADS; i++) {
        threads[i] = (busy){registry, i, 0, 0};
        assert_int_equal(pthread_create(&ids[i], NULL, busy_run, &threads[i]), 0);
    }
    for (unsigned i = 0; i < BUSY_FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(FIXTURE_BUSY * WATCHDOG_S);
            CHILD_WANTS(crest_counter_value(&forked) == 0);
            crest_counter_inc(&forked);
            crest_metric_options options = {.name = "child.size"};
            crest_status status;
            crest_histogram_record(crest_histogram_get(registry, &options, &status), 1);
            CHILD_WANTS(status == CREST_OK);
            crest_snapshot *snapshot = crest_snapshot_take(registry);
            CHILD_WANTS(snapshot != NULL);
            uint64_t count = 0;
            for (size_t s = 0; s < crest_snapshot_size(snapshot); s++) {
                crest_series_view view;
                crest_snapshot_series(snapshot, s, &view);
                count += crest_distribution_count(view.distribution);
            }
            CHILD_WANTS(count == 1);
            CHILD_WANTS(crest_counter_value(&forked) == 1);
            _exit(0);
        }
        wait_for_child(child);
    }
    uint64_t counted = 0;
    for (unsigned i = 0; i < BUSY_THREADS; i++) {
        crest_atomic_store(&threads[i].done, 1);
        fixture_join(ids[i], NULL);
        counted += threads[i].counted;
    }
    assert_int_equal(crest_counter_value(&forked) - before, counted);
    crest_registry_free(registry);
}

/* ---- forking in a signal handler, and what forks without copying ---- */

static volatile pid_t handler_child;

/* A record of the thread may be anywhere when it comes, but not within the library's lock. */
static void fork_handler(int signal_number)
{
    (void)signal_number;
    crest_counter_inc(&forked);
    pid_t child = fork();
    if (child == 0) {
        if (crest_counter_value(&forked) != 0)
            _exit(2);
        crest_counter_inc(&forked);
        crest_histogram_record(&sizes, 5);
        crest_range_sampler_add(&queue, 1);
        _exit(crest_counter_value(&forked) == 1 && crest_range_sampler_value(&queue) == 1 ? 0 : 3);
    }
    handler_child = child;
}

static void *fork_interrupted(void *done)
{
    uint64_t counted = 0;
    for (; !crest_atomic_load(done); counted++) {
        crest_counter_inc(&forked);
        crest_histogram_record(&sizes, INT64_MAX); /* locks */
    }
    return (void *)(uintptr_t)counted;
}

static void test_fork_in_a_handler(void **state)
{
    (void)state;
    enum { FORKS = 200 };
    struct sigaction action = {.sa_handler = fork_handler, .sa_flags = SA_RESTART}, old;
    sigaction(SIGUSR1, &action, &old);
    uint64_t before = crest_counter_value(&forked), done = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fork_interrupted, &done), 0);
    for (int i = 0; i < FORKS; i++) {
        handler_child = 0;
        pthread_kill(thread, SIGUSR1);
        while (handler_child == 0)
            usleep(10);
        wait_for_child(handler_child);
    }
    crest_atomic_store(&done, 1);
    void *counted;
    fixture_join(thread, &counted);
    sigaction(SIGUSR1, &old, NULL);
    assert_int_equal(crest_counter_value(&forked) - before, (uintptr_t)counted + FORKS);
}

static void *check_the_clock(void *done)
{
    while (!crest_atomic_load(done))
        crest_clock_check();
    return done;
}

/* The child of a fork that came amid a check of the clock goes on checking. */
static void test_fork_amid_checks_of_the_clock(void **state)
{
    (void)state;
    uint64_t done = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, check_the_clock, &done), 0);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            uint64_t now = crest_now();
            CHILD_WANTS(!crest_clock_is_held());
            crest_clock_check();
            CHILD_WANTS(crest_now() - now < UINT64_C(60000000000));
            _exit(0);
        }
        wait_for_child(child);
    }
    crest_atomic_store(&done, 1);
    fixture_join(thread, NULL);
}

/* vfork and posix_spawn share the parent's memory until the child is another program. */
static void test_spawn(void **state)
{
    (void)state;
    uint64_t before = crest_counter_value(&forked);
    char *const arguments[] = {"true", NULL};
    for (int i = 0; i < 50; i++) {
        pid_t child;
        crest_counter_inc(&forked);
        assert_int_equal(posix_spawnp(&child, "true", NULL, NULL, arguments, environ), 0);
        crest_counter_inc(&forked);
        wait_for_child(child);
        child = vfork();
        if (child == 0)
            _exit(0);
        wait_for_child(child);
        crest_counter_inc(&forked);
    }
    assert_int_equal(crest_counter_value(&forked) - before, 150);
    assert_int_equal(crest_range_sampler_value(&queue), -5);
}

/* ---- a first record under a lock that fork waits for ---- */

static uint64_t stuck_step;

static void stuck_wait(uint64_t step)
{
    while (crest_atomic_load_acquire(&stuck_step) < step)
        usleep(1000);
}

/* Called by fflush(NULL) with the lock of the list of streams held, which fork takes as well. */
static ssize_t stuck_write(void *cookie, const char *bytes, size_t length)
{
    (void)cookie, (void)bytes;
    crest_atomic_store_release(&stuck_step, 1);
    stuck_wait(2);
    usleep(100000); /* by now the other thread is in fork */
    crest_counter_add(&forked, 7);
    crest_histogram_record(&sizes, 300);
    crest_histogram_record(&sizes, INT64_MAX);
    crest_timer_record(&waits, 300, CREST_OUTCOME_ERROR);
    crest_gauge_set(&level, 12);
    crest_increment_counter("test.forked");
    return (ssize_t)length;
}

static void *stuck_flush(void *unused)
{
    FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = stuck_write});
    fixture_holds(stream != NULL);
    fputs("text", stream);
    fflush(NULL);
    fclose(stream);
    return unused;
}

static void test_fork_waits_for_nobody_who_waits(void **state)
{
    (void)state;
    uint64_t count = crest_counter_value(&forked), records = fork_count("test.size", NULL);
    uint64_t errors = fork_count("test.wait-time", "error");
    pthread_t thread;
    fflush(stdout);
    assert_int_equal(pthread_create(&thread, NULL, stuck_flush, NULL), 0);
    stuck_wait(1);
    crest_atomic_store_release(&stuck_step, 2);
    pid_t child = fork();
    if (child == 0) {
        CHILD_WANTS(crest_counter_value(&forked) == 0);
        crest_counter_inc(&forked);
        CHILD_WANTS(crest_counter_value(&forked) == 1);
        _exit(0);
    }
    wait_for_child(child);
    fixture_join(thread, NULL);
    assert_int_equal(crest_counter_value(&forked), count + 8);
    assert_int_equal(fork_count("test.size", NULL), records + 2);
    assert_int_equal(fork_count("test.wait-time", "error"), errors + 1);
    assert_true(crest_gauge_value(&level) == 12);
}

/* Begins and ends, and so holds one of the table's locks much of the time. */
static void *begin_and_end(void *stop)
{
    for (uint64_t i = 0; !crest_atomic_load32(stop); i++) {
        crest_timer_begin(&keyed, crest_op_u64x2(1, i % 1000));
        crest_timer_end(&keyed, crest_op_u64x2(1, i % 1000), CREST_OUTCOME_OK);
    }
    return NULL;
}

/* The parent's operations are the parent's: in the child nothing is in flight, and no lock is held
 * by a thread that is not there. */
static void test_in_flight(void **state)
{
    (void)state;
    uint32_t stop = 0;
    pthread_t thread;
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(crest_timer_begin(&keyed, crest_op_u64(i)), CREST_OK);
    assert_int_equal(pthread_create(&thread, NULL, begin_and_end, &stop), 0);
    for (int round = 0; round < 50; round++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(FIXTURE_BUSY * WATCHDOG_S);
            CHILD_WANTS(crest_timer_in_flight(&keyed).count == 0);
            CHILD_WANTS(crest_timer_end(&keyed, crest_op_u64(3), CREST_OUTCOME_OK) ==
                        CREST_NOT_FOUND);
            for (uint64_t i = 0; i < 1000; i++)
                CHILD_WANTS(crest_timer_begin(&keyed, crest_op_u64(i)) == CREST_OK);
            CHILD_WANTS(crest_timer_in_flight(&keyed).count == 1000);
            for (uint64_t i = 0; i < 1000; i++)
                CHILD_WANTS(crest_timer_end(&keyed, crest_op_u64(i), CREST_OUTCOME_OK) == CREST_OK);
            CHILD_WANTS(fork_count("test.keyed-time", "ok") == 1000);
            _exit(0);
        }
        wait_for_child(child);
    }
    crest_atomic_store32(&stop, 1);
    fixture_join(thread, NULL);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(crest_timer_end(&keyed, crest_op_u64(i), CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(crest_timer_in_flight(&keyed).count, 0);
}

/* ---- lanes ---- */

CREST_COUNTER(laned, "test.laned", "Counted in lanes.");
CREST_HISTOGRAM(laned_sizes, "test.laned-sizes", "Recorded in lanes.");

static void *laned_once(void *unused)
{
    (void)unused;
    crest_counter_inc(&laned);
    return crest_lane_own(laned.handle.slot);
}

static void laned_child(unsigned lanes)
{
    alarm(FIXTURE_BUSY * WATCHDOG_S);
    CHILD_WANTS(crest_counter_value(&laned) == 0);
    CHILD_WANTS(fork_count("test.laned-sizes", NULL) == 0);
    CHILD_WANTS(crest_lanes_make(1) == lanes);
    /* its threads do not take the lanes for what threads left */
    for (unsigned i = 0; i < 2 * lanes; i++) {
        pthread_t thread;
        void *cells;
        CHILD_WANTS(pthread_create(&thread, NULL, laned_once, NULL) == 0);
        fixture_join(thread, &cells);
        CHILD_WANTS(cells != NULL);
        CHILD_WANTS(cells != crest_lane_cells(i));
    }
    for (unsigned lane = 0; lane < lanes; lane++) {
        CHILD_WANTS(!runtime_add(lane, &laned, 1) && runtime_add(lane, &laned, 1));
        CHILD_WANTS(!runtime_record(lane, &laned_sizes, 7) &&
                    runtime_record(lane, &laned_sizes, 7));
    }
    CHILD_WANTS(crest_counter_value(&laned) == 4 * lanes);
    CHILD_WANTS(fork_count("test.laned-sizes", NULL) == 2 * lanes);
    _exit(0);
}

static void test_lanes(void **state)
{
    (void)state;
    unsigned lanes = crest_lanes_make(4);
    for (unsigned lane = 0; lane < lanes; lane++) {
        runtime_add(lane, &laned, 3);
        runtime_record(lane, &laned_sizes, 100);
    }
    pid_t child = fork();
    if (child == 0)
        laned_child(lanes);
    wait_for_child(child);
    assert_int_equal(crest_counter_value(&laned), 3 * lanes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_child_starts_at_zero),
        cmocka_unit_test(test_places_of_child),
        cmocka_unit_test(test_fork_amid_recording),
        cmocka_unit_test(test_fork_in_a_handler),
        cmocka_unit_test(test_fork_amid_checks_of_the_clock),
        cmocka_unit_test(test_spawn),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_fork_waits_for_nobody_who_waits),
    };
    fixture_watchdog(WATCHDOG_S);
    return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
