/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording in signal handlers, under a storm of signals, whatever they interrupt: recording
 * through the same handles, a thread's first touch, the making of metrics, malloc, snapshots.
 * Nothing is lost and nothing hangs.
 *
 * crest-test: timeout=300
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "support/core_fixture.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>

#define WATCHDOG_S 290
#define STORM_SIGNALS FIXTURE_TIMES(3000)

CREST_COUNTER(hits, "test.hits", "By handlers and by what they interrupt.");
CREST_HISTOGRAM(sizes, "test.size", "Likewise.");
CREST_TIMER(waits, "test.wait-time", "Likewise.");
CREST_GAUGE(level, "test.level", "Likewise.");
CREST_HISTOGRAM(locking, "test.locking", "Always above the range, so that each record locks.");

static uint64_t handled;   /* signals */
static uint64_t disturbed; /* of them: errno was changed */
static crest_registry *storm_registry;

static uint64_t storm_random(uint64_t n)
{
    n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return n ^ n >> 32;
}

static void storm_handler(int signal_number)
{
    (void)signal_number;
    uint64_t n = __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
    int before = errno;
    errno = 12345;
    crest_counter_add(&hits, 2);
    crest_histogram_record(&sizes, (int64_t)((storm_random(n) & 0xffffffff) >> n % 32));
    crest_timing timing = crest_timer_start(&waits, crest_op_u64(n));
    crest_timing_end(&timing, crest_op_u64(n), (crest_outcome)(n % CREST_OUTCOME_COUNT));
    crest_gauge_add(&level, 1);
    crest_histogram_record(&locking, INT64_MAX);
    if (errno != 12345)
        __atomic_fetch_add(&disturbed, 1, __ATOMIC_RELAXED);
    errno = before;
}

/* What is interrupted; each does what it does `left` until it is told to end. */
typedef struct victim {
    void *(*run)(void *);
    uint64_t end, times;
} victim;

static void *interrupted_recording(void *argument)
{
    victim *v = argument;
    for (; !crest_atomic_load(&v->end); v->times++) {
        crest_counter_add(&hits, 2);
        crest_histogram_record(&sizes, (int64_t)(v->times % 5000));
        crest_timer_record(&waits, (int64_t)v->times, (crest_outcome)(v->times % 4));
        crest_gauge_add(&level, 1);
    }
    return NULL;
}

static void *interrupted_malloc(void *argument)
{
    victim *v = argument;
    while (!crest_atomic_load(&v->end))
        for (size_t size = 16; size < 300000; size *= 2)
            free(malloc(size));
    return NULL;
}

static void *interrupted_making(void *argument)
{
    victim *v = argument;
    static const char *const keys[] = {"k"};
    for (unsigned i = 0; !crest_atomic_load(&v->end); i++) {
        char name[32];
        snprintf(name, sizeof name, "made.m%u", i % 3000);
        crest_metric_options options = {.name = name};
        crest_histogram_record(crest_histogram_get(storm_registry, &options, NULL), i);
        options.name = "family";
        crest_counter_family family =
            crest_counter_family_new(storm_registry, &options, keys, 1, NULL);
        const char *value = name;
        crest_counter_inc(crest_counter_family_get(&family, &value, 1));
    }
    return NULL;
}

static void *interrupted_snapshots(void *argument)
{
    victim *v = argument;
    uint64_t seen = 0;
    while (!crest_atomic_load(&v->end)) {
        crest_snapshot *snapshot = crest_snapshot_take(NULL);
        if (snapshot == NULL)
            return v;
        crest_series_view view;
        crest_snapshot_find(snapshot, "test.hits", NULL, 0, &view);
        if (view.counter < seen)
            return v;
        seen = view.counter;
        crest_snapshot_free(snapshot);
    }
    return NULL;
}

static uint64_t storm_count(const char *name, const char *outcome)
{
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    crest_series_view view;
    uint64_t count = 0;
    if (crest_snapshot_find(snapshot, name, &outcome, outcome != NULL, &view) == CREST_OK)
        count = crest_distribution_count(view.distribution);
    crest_snapshot_free(snapshot);
    return count;
}

static uint64_t storm_timings(void)
{
    uint64_t count = 0;
    for (int outcome = 0; outcome < CREST_OUTCOME_COUNT; outcome++)
        count += storm_count("test.wait-time", crest_outcome_text((crest_outcome)outcome));
    return count;
}

/* Signals to two threads that do the same, and the totals afterwards. */
static void storm(void *(*run)(void *))
{
    victim victims[2] = {{run, 0, 0}, {run, 0, 0}};
    pthread_t threads[2];
    uint64_t count = crest_counter_value(&hits), records = storm_count("test.size", NULL);
    uint64_t timings = storm_timings(), before = crest_atomic_load(&handled), times = 0;
    double gauge = crest_gauge_value(&level);
    uint64_t locked = storm_count("test.locking", NULL);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, &victims[i]), 0);
    /* signals of a kind that are pending together are one: as many as are handled */
    for (int i = 0; crest_atomic_load(&handled) - before < STORM_SIGNALS; i++) {
        assert_int_equal(pthread_kill(threads[i % 2], SIGUSR1), 0);
        fixture_nap();
    }
    for (int i = 0; i < 2; i++) {
        void *failed;
        crest_atomic_store(&victims[i].end, 1);
        pthread_join(threads[i], &failed);
        assert_null(failed);
        times += victims[i].times;
    }
    uint64_t signals = crest_atomic_load(&handled) - before;
    times += signals;
    assert_int_equal(crest_counter_value(&hits) - count, 2 * times);
    assert_int_equal(storm_count("test.size", NULL) - records, times);
    assert_int_equal(storm_timings() - timings, times);
    assert_true(crest_gauge_value(&level) - gauge == (double)times);
    assert_int_equal(storm_count("test.locking", NULL) - locked, signals);
    assert_int_equal(crest_atomic_load(&disturbed), 0);
}

static void test_recording_interrupted(void **state)
{
    (void)state;
    storm(interrupted_recording);
}

static void test_malloc_interrupted(void **state)
{
    (void)state;
    storm(interrupted_malloc);
}

static void test_making_interrupted(void **state)
{
    (void)state;
    storm_registry = fixture_registry(NULL);
    storm(interrupted_making);
    crest_registry_free(storm_registry);
}

static void test_snapshots_interrupted(void **state)
{
    (void)state;
    storm(interrupted_snapshots);
}

/* ---- first touches ---- */

static uint64_t first_ready, first_done;

/* Records as its first act, while signals come. */
static void *first_touch(void *unused)
{
    crest_atomic_store_release(&first_ready, 1);
    crest_counter_add(&hits, 2);
    crest_histogram_record(&sizes, 100000);
    crest_timer_record(&waits, 1, CREST_OUTCOME_TIMEOUT);
    crest_gauge_add(&level, 1);
    crest_histogram_record(&sizes, 3);
    crest_atomic_store_release(&first_done, 1);
    return unused;
}

static void test_first_touch_interrupted(void **state)
{
    (void)state;
    uint64_t count = crest_counter_value(&hits), records = storm_count("test.size", NULL);
    uint64_t timings = storm_timings(), before = crest_atomic_load(&handled);
    uint64_t threads = 0;
    /* a thread of a busy machine may be done before a signal finds it: on until enough were */
    for (; threads < FIXTURE_TIMES(1000) || crest_atomic_load(&handled) - before <= threads / 10;
         threads++) {
        pthread_t thread;
        crest_atomic_store_release(&first_ready, 0);
        crest_atomic_store_release(&first_done, 0);
        assert_int_equal(pthread_create(&thread, NULL, first_touch, NULL), 0);
        FIXTURE_AWAIT(threads % 2 == 0 || crest_atomic_load_acquire(&first_ready));
        /* not joined yet, so it may be ended but is there */
        for (int more = 0; more < 5 || !crest_atomic_load_acquire(&first_done); more++) {
            pthread_kill(thread, SIGUSR1);
            fixture_nap();
        }
        pthread_join(thread, NULL);
    }
    uint64_t signals = crest_atomic_load(&handled) - before;
    assert_int_equal(crest_counter_value(&hits) - count, 2 * (threads + signals));
    assert_int_equal(storm_count("test.size", NULL) - records, 2 * threads + signals);
    assert_int_equal(storm_timings() - timings, threads + signals);
    assert_int_equal(crest_atomic_load(&disturbed), 0);
}

/* ---- metrics that are registered by the handler ---- */

#define LATE_HANDLES 64
static crest_histogram late[LATE_HANDLES];
static crest_declaration late_declarations[LATE_HANDLES];
static char late_names[LATE_HANDLES][32];
static uint64_t late_recorded[LATE_HANDLES];

static void late_handler(int signal_number)
{
    (void)signal_number;
    uint64_t n = __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
    crest_histogram_record(&late[n % LATE_HANDLES], (int64_t)n);
    __atomic_fetch_add(&late_recorded[n % LATE_HANDLES], 1, __ATOMIC_RELAXED);
}

static void test_registered_by_handlers(void **state)
{
    (void)state;
    for (int i = 0; i < LATE_HANDLES; i++) {
        snprintf(late_names[i], sizeof late_names[i], "late.m%d", i);
        late_declarations[i].kind = CREST_KIND_HISTOGRAM;
        late_declarations[i].options.name = late_names[i];
        late[i].handle.abi = CREST_ABI;
        late[i].handle.declaration = &late_declarations[i];
    }
    struct sigaction action = {.sa_handler = late_handler, .sa_flags = SA_ONSTACK}, old;
    sigaction(SIGUSR1, &action, &old);
    storm_registry = fixture_registry(NULL);
    victim v = {interrupted_making, 0, 0};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupted_making, &v), 0);
    uint64_t before = crest_atomic_load(&handled);
    while (crest_atomic_load(&handled) - before < STORM_SIGNALS / 5 + LATE_HANDLES) {
        pthread_kill(thread, SIGUSR1);
        fixture_nap();
    }
    crest_atomic_store(&v.end, 1);
    pthread_join(thread, NULL);
    sigaction(SIGUSR1, &old, NULL);
    crest_registry_free(storm_registry);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    for (int i = 0; i < LATE_HANDLES; i++) {
        assert_true(late_recorded[i] > 0);
        assert_int_equal(
            crest_distribution_count(fixture_series(snapshot, late_names[i], NULL).distribution),
            late_recorded[i]);
    }
    crest_snapshot_free(snapshot);
}

/* The first of a thread, in a handler that runs on a small stack of its own. */
static void *small_stack(void *bytes)
{
    enum { SMALL_STACK = 32 * 1024 };
    stack_t alternative = {.ss_sp = malloc(SMALL_STACK), .ss_size = SMALL_STACK};
    sigaltstack(&alternative, NULL);
    raise(SIGUSR1);
    alternative.ss_flags = SS_DISABLE;
    sigaltstack(&alternative, NULL);
    free(alternative.ss_sp);
    return bytes;
}

static void test_small_stack(void **state)
{
    (void)state;
    static char name[] = "late.small";
    late_declarations[0].options.name = name;
    for (int i = 0; i < LATE_HANDLES; i++) {
        late[i] = (crest_histogram){{0, CREST_ABI, NULL, &late_declarations[0]}};
        late_recorded[i] = 0;
    }
    struct sigaction action = {.sa_handler = late_handler, .sa_flags = SA_ONSTACK}, old;
    sigaction(SIGUSR1, &action, &old);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, small_stack, NULL), 0);
    pthread_join(thread, NULL);
    sigaction(SIGUSR1, &old, NULL);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    assert_int_equal(crest_distribution_count(fixture_series(snapshot, name, NULL).distribution),
                     1);
    crest_snapshot_free(snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recording_interrupted),
        cmocka_unit_test(test_malloc_interrupted),
        cmocka_unit_test(test_making_interrupted),
        cmocka_unit_test(test_snapshots_interrupted),
        cmocka_unit_test(test_first_touch_interrupted),
        cmocka_unit_test(test_registered_by_handlers),
        cmocka_unit_test(test_small_stack),
    };
    struct sigaction action = {.sa_handler = storm_handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    fixture_watchdog(WATCHDOG_S);
    return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
