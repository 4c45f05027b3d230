/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ticker does beside its readings: forks while its lock is held, registries that a test
 * ticks, what it says about windows, the clock and memory, and reports that hang.
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/misuse.h"
#include "clock/clock_inside.h"
#include "support/core_fixture.h"
#include "support/fake_reporter.h"
#include "windows/ticker.h"
#include "windows/windows.h"

#include <crest/poll.h>

#include <dirent.h>
#include <sys/wait.h>

#define SECOND UINT64_C(1000000000)
#define PATIENCE_MS 20000u
enum { FORKS = 100, READERS = 2 };

static crest_counter *read_on;
static int over; /* by __atomic */

static void *read_rates(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
        (void)crest_counter_rate(read_on, CREST_WINDOW_S);
    return unused;
}

/* The lock that readers hold at the moment of a fork belongs to no thread of the child. */
static void test_fork_while_read(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    read_on = fixture_counter(registry, "c");
    pthread_t readers[READERS];
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_rates, NULL), 0);
    int wrong = 0;
    for (unsigned i = 0; i < FORKS && wrong == 0; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(120);
            (void)crest_counter_rate(read_on, CREST_WINDOW_S);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &wrong, 0), child);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < READERS; i++)
        fixture_join(readers[i], NULL);
    assert_int_equal(wrong, 0);
    crest_registry_free(registry);
}

/* Whether there is a thread of this name. */
static int has_thread(const char *name)
{
    char path[300], comm[32];
    int found = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        if (fgets(comm, sizeof comm, file) != NULL) {
            comm[strcspn(comm, "\n")] = '\0';
            found += strcmp(comm, name) == 0;
        }
        fclose(file);
    }
    closedir(tasks);
    return found;
}

/* The thread is there while anything is observed, and no longer: detached, or freed. */
static void test_thread_ends_with_the_last(void **state)
{
    (void)state;
    for (int freed = 0; freed < 2; freed++) {
        crest_registry *one = fixture_registry(NULL), *other = fixture_registry(NULL);
        assert_int_equal(has_thread("crest-ticker"), 0);
        assert_int_equal(crest_ticker_attach(one), CREST_OK);
        assert_int_equal(crest_ticker_attach(other), CREST_OK);
        assert_int_equal(has_thread("crest-ticker"), 1);
        assert_int_equal(crest_ticker_detach(one), CREST_OK);
        assert_int_equal(has_thread("crest-ticker"), 1);
        if (!freed)
            assert_int_equal(crest_ticker_detach(other), CREST_OK);
        crest_registry_free(other);
        assert_int_equal(has_thread("crest-ticker"), 0);
        crest_registry_free(one);
    }
}

/* A handle whose series has been retired has no window, although the windows still have its. */
static void test_window_of_a_retired_series(void **state)
{
    (void)state;
    static const char *const keys[] = {"k"}, *const values[] = {"v"};
    crest_metric_options options = {.name = "f"};
    crest_registry *registry = fixture_registry(NULL);
    crest_counter_family family = crest_counter_family_new(registry, &options, keys, 1, NULL);
    crest_counter *counter = crest_counter_family_get(&family, values, 1);
    crest_testing_clock_set(1000 * SECOND);
    for (unsigned tick = 0; tick < 3; tick++) {
        assert_int_equal(crest_testing_tick(registry), CREST_OK);
        crest_counter_add(counter, 5);
        crest_testing_clock_advance(SECOND);
    }
    assert_true(crest_counter_rate(counter, CREST_WINDOW_S).per_second > 0);
    assert_int_equal(crest_retire(registry, "k", "v"), 1);
    assert_true(crest_counter_rate(counter, CREST_WINDOW_S).covered_s == 0);
    crest_testing_clock_real();
    crest_registry_free(registry);
}

static double polled(void *calls)
{
    return __atomic_add_fetch((unsigned *)calls, 1, __ATOMIC_RELAXED);
}

/* The thread makes so many more ticks, by steps of its clock. */
static void await_ticks(uint64_t more)
{
    for (; more > 0; more--) {
        uint64_t made = FIXTURE_READING(NULL, "crest.tick-time", "outcome", "ok").count;
        crest_testing_clock_advance(SECOND);
        crest_ticker_step(SECOND);
        FIXTURE_AWAIT(FIXTURE_READING(NULL, "crest.tick-time", "outcome", "ok").count > made);
    }
    crest_testing_clock_real();
}

/* One that a test ticks is none of the thread's business: neither its polls nor its windows. */
static void test_by_hand_is_left_alone(void **state)
{
    (void)state;
    crest_registry *running = fixture_registry(NULL), *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    unsigned calls = 0;
    crest_poll *poll = crest_gauge_poll(fixture_gauge(registry, "g"), polled, &calls, NULL, NULL);
    assert_non_null(poll);
    assert_int_equal(crest_ticker_attach(running), CREST_OK);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    unsigned before = __atomic_load_n(&calls, __ATOMIC_RELAXED);
    assert_true(before > 0);
    crest_counter_inc(counter);
    await_ticks(2);
    assert_int_equal(__atomic_load_n(&calls, __ATOMIC_RELAXED), before);
    assert_true(crest_counter_rate(counter, CREST_WINDOW_S).covered_s == 0);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    assert_true(__atomic_load_n(&calls, __ATOMIC_RELAXED) > before);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    crest_registry_free(registry);
    crest_registry_free(running);
}

/* One that the thread ticks is polled by it, without a snapshot. */
static void test_polls_with_each_tick(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    unsigned calls = 0;
    crest_poll *poll = crest_gauge_poll(fixture_gauge(registry, "g"), polled, &calls, NULL, NULL);
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    unsigned before = __atomic_load_n(&calls, __ATOMIC_RELAXED);
    await_ticks(3);
    assert_true(__atomic_load_n(&calls, __ATOMIC_RELAXED) >= before + 2);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    crest_registry_free(registry);
}

/* Windows that stand still since memory lacks are told from no traffic. */
static void test_lack_of_memory_is_counted(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    fixture_counter(registry, "c");
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    uint64_t counted = crest_misuse_value(CREST_MISUSE_NO_MEMORY);
    crest_alloc_fail_after(1);
    crest_status status = crest_testing_tick(registry);
    crest_alloc_fail_after(0);
    assert_int_equal(status, CREST_NO_MEMORY);
    assert_true(crest_misuse_value(CREST_MISUSE_NO_MEMORY) > counted);
    crest_registry_free(registry);
}

/* What each window covers is there before the first tick, and is its own. */
static void test_covered_of_each_window(void **state)
{
    (void)state;
    const crest_windows_options three = {.window_s = {60, 300, 900}}, usual = {.window_s = {60}};
    assert_int_equal(crest_windows_configure(&three), CREST_OK);
    crest_registry *registry = fixture_registry(NULL);
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    assert_true(fixture_series(snapshot, "crest.window-covered", "5m").gauge == 0);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
    crest_testing_clock_set(1000 * SECOND);
    for (unsigned tick = 0; tick <= 400; tick++) {
        assert_int_equal(crest_testing_tick(NULL), CREST_OK);
        crest_testing_clock_advance(SECOND);
    }
    double minute = FIXTURE_READING(NULL, "crest.window-covered", "window", "1m").gauge;
    double five = FIXTURE_READING(NULL, "crest.window-covered", "window", "5m").gauge;
    double fifteen = FIXTURE_READING(NULL, "crest.window-covered", "window", "15m").gauge;
    assert_true(minute >= 59 && minute <= 61);
    assert_true(five >= 290 && five <= 315);
    assert_true(fifteen >= 390 && fifteen <= 401);
    assert_int_equal(crest_ticker_detach(NULL), CREST_OK);
    crest_testing_clock_real();
    assert_int_equal(crest_windows_configure(&usual), CREST_OK);
}

#ifdef CREST_CLOCK_READ
/* A counter that runs twice as fast from now on, as on another machine. Not where the kernel's
 * clock is used, which is right by itself. */
static void test_rebase_is_counted(void **state)
{
    (void)state;
    static crest_clock_scale fast;
    crest_registry *registry = fixture_registry(NULL);
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    await_ticks(1);
    uint64_t counted = FIXTURE_READING(NULL, "crest.clock-rebases").counter;
    if (crest_clock_source_now() == CREST_CLOCK_COUNTER) {
        fast = *crest_clock_current;
        fast.ns_base = crest_now();
        fast.counter_base = CREST_CLOCK_READ();
        fast.multiplier *= 2;
        __atomic_store_n(&crest_clock_current, &fast, __ATOMIC_RELEASE);
        for (unsigned ms = 0; FIXTURE_READING(NULL, "crest.clock-rebases").counter == counted;
             ms += 10) {
            assert_true(ms < PATIENCE_MS);
            usleep(10000);
            crest_ticker_step(SECOND);
        }
    }
    crest_registry_free(registry);
}
#endif

static int cancelled; /* by __atomic */

static void cancel(crest_reporter *self)
{
    fake_reporter *fake = self->state;
    __atomic_store_n(&cancelled, 1, __ATOMIC_RELEASE);
    fake_set(fake, &fake->hang, 0);
}

/* A report past its deadline is cancelled although no caller waits for it and no other reporter has
 * anything to do. */
static void test_hanging_report_is_cancelled(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    fake_reporter fake;
    fake_init(&fake, "hanging");
    fake.hang = 1;
    fake.reporter.cancel = cancel;
    const crest_schedule schedule = {.interval_ms = CREST_INTERVAL_MS_MIN, .timeout_ms = 50};
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    assert_int_equal(crest_reporter_attach(registry, &fake.reporter, &schedule, NULL), CREST_OK);
    for (unsigned ms = 0; !__atomic_load_n(&cancelled, __ATOMIC_ACQUIRE); ms += 10) {
        assert_true(ms < PATIENCE_MS);
        usleep(10000);
        crest_ticker_step(SECOND);
    }
    assert_int_equal(crest_reporter_detach(&fake.reporter, 5000, NULL), CREST_OK);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_covered_of_each_window), /* first: nothing has been told yet */
        cmocka_unit_test(test_fork_while_read),
        cmocka_unit_test(test_thread_ends_with_the_last),
        cmocka_unit_test(test_window_of_a_retired_series),
        cmocka_unit_test(test_by_hand_is_left_alone),
        cmocka_unit_test(test_polls_with_each_tick),
        cmocka_unit_test(test_lack_of_memory_is_counted),
#ifdef CREST_CLOCK_READ
        cmocka_unit_test(test_rebase_is_counted),
#endif
        cmocka_unit_test(test_hanging_report_is_cancelled),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("the ticker's thread", tests, NULL, NULL);
}
