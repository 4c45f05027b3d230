/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When and where the callbacks of polls are called: rounds, overruns, callbacks that do not come
 * back, no threads to be had, forks, the last report of a stop.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "support/poll_fixture.h"
#include "base/thread.h"

#include <crest/testing.h>
#include <errno.h>
#include <semaphore.h>
#include <sys/wait.h>

/* What a snapshot takes beside a callback that hangs: the round, and what a busy machine adds, much
 * to one of them but not to all. Without the budget it would take for ever. */
#define POLLER_LOOK_MS (20 * CREST_POLL_ROUND_MS)

/* For callbacks that do nothing: no pause that a busy machine makes in one is over it. */
static const crest_poll_options unhurried = {.budget_ms = CREST_POLL_BUDGET_MS_MAX};

static double poller_number(void *context)
{
    return poll_get(double, context);
}

/* One that hangs until it is let go. */
typedef struct hanging {
    sem_t go;
    unsigned calls;
} hanging;

static double poller_hang(void *context)
{
    hanging *hung = context;
    __atomic_add_fetch(&hung->calls, 1, __ATOMIC_RELAXED);
    while (sem_wait(&hung->go) != 0)
        continue;
    sem_post(&hung->go); /* once let go, it never hangs again */
    return 77;
}

static unsigned poller_calls(const hanging *hung)
{
    return __atomic_load_n(&hung->calls, __ATOMIC_RELAXED);
}

/* A snapshot; *quickest is how long one took at least. */
static void poller_timed_look(crest_registry *registry, uint64_t *quickest)
{
    uint64_t start_ms = poll_now_ms();
    crest_snapshot_free(fixture_snapshot(registry));
    uint64_t took_ms = poll_now_ms() - start_ms;
    assert_true(took_ms < POLL_PATIENCE_MS);
    *quickest = took_ms < *quickest ? took_ms : *quickest;
}

/* Snapshots until the gauge shows the value; 0 when none does. */
static int poller_look_until(crest_registry *registry, const crest_gauge *gauge, double value)
{
    uint64_t start_ms = poll_now_ms();
    while (crest_gauge_value(gauge) != value) {
        if (poll_now_ms() - start_ms > POLL_PATIENCE_MS)
            return 0;
        crest_snapshot_free(fixture_snapshot(registry));
    }
    return 1;
}

/* Snapshots until a poll was called, and left out, so often. */
static void poller_look_until_called(crest_registry *registry, const crest_poll *poll,
                                     uint64_t calls, uint64_t skipped)
{
    uint64_t start_ms = poll_now_ms();
    while (poll_state(poll).calls < calls || poll_state(poll).skipped < skipped) {
        assert_true(poll_now_ms() - start_ms < POLL_PATIENCE_MS);
        crest_snapshot_free(fixture_snapshot(registry));
    }
}

typedef struct heard {
    pthread_mutex_t lock;
    unsigned messages;
    char last[CREST_ERROR_BYTES];
} heard;

static void poller_listen(crest_log_level level, const char *message, void *context)
{
    heard *log = context;
    if (level != CREST_LOG_WARNING || strstr(message, "budget") == NULL)
        return;
    pthread_mutex_lock(&log->lock);
    log->messages++;
    snprintf(log->last, sizeof log->last, "%s", message);
    pthread_mutex_unlock(&log->lock);
}

static unsigned poller_heard(heard *log)
{
    pthread_mutex_lock(&log->lock);
    unsigned messages = log->messages;
    pthread_mutex_unlock(&log->lock);
    return messages;
}

static double poller_slow(void *context)
{
    poll_sleep_ms(*(unsigned *)context);
    return 1;
}

/* Left out of 1, 2, 4 … rounds; told of once; in time again, the penalty falls. */
static void test_overruns(void **state)
{
    (void)state;
    static heard log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    crest_log_to(poller_listen, &log);
    crest_registry *registry = fixture_registry(NULL);
    unsigned sleep_ms = 3;
    crest_poll_options options = {.name = "a slow one", .budget_ms = 1};
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    crest_poll *poll =
        crest_gauge_poll(fixture_gauge(registry, "g"), poller_slow, &sleep_ms, &options, NULL);
    for (unsigned overruns = 1, skipped = 0; overruns <= 4; overruns++) {
        while (!poll_state(poll).running && poll_state(poll).calls < overruns)
            crest_snapshot_free(fixture_snapshot(registry));
        assert_true(poll_wait_calls(poll, overruns));
        assert_int_equal(poll_state(poll).overruns, overruns);
        assert_int_equal(poll_state(poll).skipped, skipped);
        for (unsigned rounds = 1u << (overruns - 1); rounds > 0; rounds--) {
            /* on a busy machine a snapshot may give up before its round has begun */
            while (poll_state(poll).skipped == skipped)
                crest_snapshot_free(fixture_snapshot(registry));
            assert_int_equal(poll_state(poll).skipped, ++skipped);
            assert_int_equal(poll_state(poll).calls, overruns);
        }
    }
    crest_error error;
    if (crest_testing_grew(mark, 4, &error, "crest.poll-overruns", "poll", "a slow one", NULL) !=
        CREST_OK)
        fail_msg("%s", error.message);
    for (uint64_t start_ms = poll_now_ms();
         poller_heard(&log) == 0 && poll_now_ms() - start_ms < POLL_PATIENCE_MS;)
        poll_sleep_ms(1);
    crest_poll_stop(poll);
    crest_log_to(NULL, NULL);
    assert_int_equal(log.messages, 1);
    assert_non_null(strstr(log.last, "poll a slow one took longer than its budget of 1 ms"));
    crest_testing_mark_free(mark);
    crest_registry_free(registry);
}

/* One that does not come back: snapshots go on, all others give their values, and it is not called
 * again until it is back. */
static void test_hanging(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_gauge *before = fixture_gauge(registry, "before");
    crest_gauge *stuck = fixture_gauge(registry, "stuck");
    crest_gauge *after = fixture_gauge(registry, "after");
    double value = 1;
    hanging hung = {.calls = 0};
    sem_init(&hung.go, 0, 0);
    crest_poll *polls[] = {
        crest_gauge_poll(before, poller_number, &value, &unhurried, NULL),
        crest_gauge_poll(stuck, poller_hang, &hung, NULL, NULL),
        crest_gauge_poll(after, poller_number, &value, &unhurried, NULL),
    };
    uint64_t quickest = UINT64_MAX;
    for (int i = 1; i <= 20; i++) {
        poll_set(value, i);
        poller_timed_look(registry, &quickest);
        assert_true(poller_look_until(registry, before, i));
        assert_true(poller_look_until(registry, after, i));
    }
    assert_in_range(quickest, 0, POLLER_LOOK_MS);
    assert_int_equal(poller_calls(&hung), 1);
    crest_poll_state numbers = poll_state(polls[1]);
    assert_int_equal(numbers.running, 1);
    assert_int_equal(numbers.overruns, 1);
    assert_int_equal(numbers.calls, 0);
    assert_true(numbers.skipped >= 19);
    assert_int_equal(poll_threads(), 2);
    /* a report and a tick are no snapshots of another kind */
    crest_reporter *reporter = crest_testing_reporter_new(NULL);
    uint64_t start_ms = poll_now_ms();
    assert_int_equal(crest_report_once(registry, reporter, 0, NULL), CREST_OK);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    assert_in_range(poll_now_ms() - start_ms, 0, POLL_PATIENCE_MS);
    crest_reporter_free(reporter);
    /* back again, its value counts, and it is called again */
    sem_post(&hung.go);
    assert_true(poll_wait_calls(polls[1], 1));
    assert_true(poll_wait_threads(1));
    assert_true(crest_gauge_value(stuck) == 77);
    for (start_ms = poll_now_ms(); poll_state(polls[1]).calls < 2;) {
        assert_true(poll_now_ms() - start_ms < POLL_PATIENCE_MS);
        crest_snapshot_free(fixture_snapshot(registry));
    }
    for (size_t i = 0; i < LENGTH(polls); i++)
        assert_int_equal(crest_poll_stop(polls[i]), CREST_OK);
    assert_true(poll_wait_threads(0));
    crest_ticker_detach(registry);
    crest_registry_free(registry);
    sem_destroy(&hung.go);
}

static int64_t poller_three(void *context)
{
    (void)context;
    return 3;
}

static int64_t poller_hang_value(void *context)
{
    return (int64_t)poller_hang(context);
}

/* The same among polls of intervals: any snapshot of any registry sees to it. */
static void test_hanging_interval(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL), *other = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "h");
    fixture_counter(other, "c");
    hanging hung = {.calls = 0};
    sem_init(&hung.go, 0, 0);
    crest_poll_options often = {.interval_ms = 10};
    crest_poll *stuck = crest_histogram_poll(histogram, poller_hang_value, &hung, &often, NULL);
    crest_poll *poll = crest_histogram_poll(histogram, poller_three, NULL, &often, NULL);
    while (poller_calls(&hung) == 0)
        poll_sleep_ms(1);
    uint64_t calls = poll_state(poll).calls, start_ms = poll_now_ms(), quickest = UINT64_MAX;
    do {
        poller_timed_look(other, &quickest);
        poll_sleep_ms(1);
    } while (poll_state(poll).calls < calls + 5 && poll_now_ms() - start_ms < POLL_PATIENCE_MS);
    assert_true(poll_state(poll).calls >= calls + 5);
    assert_in_range(quickest, 0, POLLER_LOOK_MS);
    assert_int_equal(poll_state(stuck).running, 1);
    assert_int_equal(poll_state(stuck).overruns, 1);
    sem_post(&hung.go);
    crest_poll_stop(stuck);
    crest_poll_stop(poll);
    assert_true(poll_wait_threads(0));
    crest_registry_free(registry);
    crest_registry_free(other);
    sem_destroy(&hung.go);
}

/* More of them than threads that may be left behind: snapshots go on all the same. */
static void test_many_hanging(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_gauge *stuck = fixture_gauge(registry, "stuck");
    crest_poll *polls[CREST_POLL_LATE_MAX + 3];
    hanging hung = {.calls = 0};
    sem_init(&hung.go, 0, 0);
    for (size_t i = 0; i < LENGTH(polls); i++)
        polls[i] = crest_gauge_poll(stuck, poller_hang, &hung, NULL, NULL);
    uint64_t start_ms = poll_now_ms(), quickest = UINT64_MAX;
    while (poller_calls(&hung) < CREST_POLL_LATE_MAX + 1) {
        assert_true(poll_now_ms() - start_ms < POLL_PATIENCE_MS);
        crest_snapshot_free(fixture_snapshot(registry));
    }
    for (int i = 0; i < 20; i++)
        poller_timed_look(registry, &quickest);
    assert_in_range(quickest, 0, POLLER_LOOK_MS);
    assert_true(poll_threads() <= CREST_POLL_LATE_MAX + 1);
    assert_int_equal(poller_calls(&hung), CREST_POLL_LATE_MAX + 1);
    sem_post(&hung.go);
    for (size_t i = 0; i < LENGTH(polls); i++) {
        start_ms = poll_now_ms();
        while (poll_state(polls[i]).calls == 0 && poll_now_ms() - start_ms < POLL_PATIENCE_MS)
            crest_snapshot_free(fixture_snapshot(registry));
        assert_true(poll_state(polls[i]).calls > 0);
    }
    for (size_t i = 0; i < LENGTH(polls); i++)
        crest_poll_stop(polls[i]);
    assert_true(poll_wait_threads(0));
    crest_registry_free(registry);
    sem_destroy(&hung.go);
}

/* Stopping waits for the call that is running; freeing the registry does not. */
static void *poller_stop(void *poll)
{
    fixture_equal(crest_poll_stop(poll), CREST_OK);
    return NULL;
}

static void test_stop_waits(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    hanging hung = {.calls = 0};
    sem_init(&hung.go, 0, 0);
    crest_poll *poll =
        crest_gauge_poll(fixture_gauge(registry, "g"), poller_hang, &hung, NULL, NULL);
    /* on a busy machine one gives up before its round has begun, and then there is none */
    while (poller_calls(&hung) == 0)
        crest_snapshot_free(fixture_snapshot(registry));
    crest_registry_free(registry);
    pthread_t stopping;
    assert_int_equal(pthread_create(&stopping, NULL, poller_stop, poll), 0);
    poll_sleep_ms(30);
    assert_int_equal(pthread_tryjoin_np(stopping, NULL), EBUSY);
    sem_post(&hung.go);
    fixture_join(stopping, NULL);
    assert_true(poll_wait_threads(0));
    sem_destroy(&hung.go);
}

/* ---- what a callback may do ---- */

typedef struct busy_callback {
    crest_registry *registry;
    crest_poll *self, *other, *made;
    crest_reporter *reporter;
    crest_status statuses[6];
    unsigned calls;
} busy_callback;

static double poller_any(void *context)
{
    (void)context;
    return 5;
}

static void poller_do_everything(void *context)
{
    busy_callback *all = context;
    if (all->calls++ > 0)
        return;
    crest_counter_inc(fixture_counter(all->registry, "made"));
    crest_snapshot_free(fixture_snapshot(all->registry));
    all->statuses[0] = crest_poll_stop(all->other);
    all->made = crest_gauge_poll(fixture_gauge(all->registry, "g"), poller_any, NULL, NULL, NULL);
    all->statuses[1] = crest_start(NULL, NULL);
    all->statuses[2] = crest_report_once(all->registry, all->reporter, 0, NULL);
    all->statuses[3] = crest_reporter_attach(all->registry, all->reporter, NULL, NULL);
    all->statuses[4] = crest_stop(5000, NULL); /* detaches it, with a last report */
    while (__atomic_load_n(&all->self, __ATOMIC_ACQUIRE) == NULL)
        poll_sleep_ms(1);
    all->statuses[5] = crest_poll_stop(all->self);
}

static void test_free_callbacks(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("CREST_OPTS"), 0);
    busy_callback all = {.registry = fixture_registry(NULL)};
    all.reporter = crest_testing_reporter_new(NULL);
    crest_poll_options rarely = {.interval_ms = 60000};
    all.other =
        crest_gauge_poll(fixture_gauge(all.registry, "other"), poller_any, NULL, NULL, NULL);
    crest_poll *self = crest_poll_every("self", poller_do_everything, &all, &rarely, NULL);
    crest_poll_state numbers;
    __atomic_store_n(&all.self, self, __ATOMIC_RELEASE);
    for (uint64_t start_ms = poll_now_ms(); crest_poll_read(self, &numbers) == CREST_OK;) {
        assert_true(poll_now_ms() - start_ms < POLL_PATIENCE_MS);
        poll_sleep_ms(1);
    }
    assert_true(poll_wait_threads(1));
    for (size_t i = 0; i < LENGTH(all.statuses); i++)
        assert_int_equal(all.statuses[i], CREST_OK);
    assert_int_equal(crest_testing_reporter_count(all.reporter), 2);
    assert_true(poller_look_until(all.registry, fixture_gauge(all.registry, "g"), 5));
    assert_int_equal(crest_poll_stop(all.made), CREST_OK);
    assert_true(poll_wait_threads(0));
    crest_reporter_free(all.reporter);
    crest_registry_free(all.registry);
}

/* ---- no thread to be had ---- */

static void test_no_threads(void **state)
{
    (void)state;
    crest_thread_stack_set((size_t)1 << 46); /* more than there are addresses */
    crest_registry *registry = fixture_registry(NULL);
    crest_gauge *gauge = fixture_gauge(registry, "g");
    unsigned sleep_ms = 3;
    double value = 4;
    crest_poll_options options = {.budget_ms = 1}, often = unhurried;
    often.interval_ms = 10;
    uint64_t start_ms = poll_now_ms();
    crest_poll *poll = crest_gauge_poll(gauge, poller_number, &value, &unhurried, NULL);
    crest_poll *own =
        crest_gauge_poll(fixture_gauge(registry, "o"), poller_number, &value, &often, NULL);
    /* the last: who comes after it may be left to the next round */
    crest_poll *slow =
        crest_gauge_poll(fixture_gauge(registry, "s"), poller_slow, &sleep_ms, &options, NULL);
    assert_int_equal(poll_threads(), 0);
    poller_look_until_called(registry, slow, 1, 0);
    assert_true(crest_gauge_value(gauge) == 4);
    assert_int_equal(poll_state(slow).overruns, 1);
    assert_int_equal(poll_state(slow).skipped, 0);
    uint64_t own_calls = poll_state(own).calls;
    assert_in_range(own_calls, 1, 1 + (poll_now_ms() + 1 - start_ms) / often.interval_ms);
    poll_set(value, 5);
    poll_sleep_ms(11);
    poller_look_until_called(registry, slow, 1, 1);
    assert_true(crest_gauge_value(gauge) == 5);
    assert_int_equal(poll_state(slow).calls, 1);
    assert_int_equal(poll_state(slow).skipped, 1);
    assert_in_range(poll_state(own).calls, own_calls + 1,
                    1 + (poll_now_ms() + 1 - start_ms) / often.interval_ms);
    /* a thread that can be had later is */
    crest_thread_stack_set(CREST_THREAD_STACK_DEFAULT);
    poll_set(value, 6);
    assert_true(poller_look_until(registry, gauge, 6));
    /* but for one that the slow poll may have been left to, until it comes back */
    assert_true(poll_wait_threads(1));
    crest_poll_stop(slow);
    crest_poll_stop(poll);
    crest_poll_stop(own);
    assert_true(poll_wait_threads(0));
    crest_registry_free(registry);
}

/* ---- fork ---- */

typedef struct forking {
    crest_registry *registry;
    crest_gauge *gauge, *stuck_gauge;
    crest_poll *poll, *stuck;
    double value;
    hanging hung;
} forking;

/* In the child; 0 when all is as it should be, else which line is not. */
#define CHILD(condition)                                                                           \
    if (!(condition))                                                                              \
    return __LINE__ % 250 + 1

static int poller_in_child(forking *all)
{
    CHILD(poll_threads() == 0);
    poll_set(all->value, 20);
    crest_snapshot_free(crest_snapshot_take(all->registry));
    CHILD(crest_gauge_value(all->gauge) == 20);
    CHILD(poll_threads() == 0);
    /* what was running in the parent is not called again, and can be stopped */
    CHILD(poller_calls(&all->hung) == 1);
    CHILD(poll_state(all->stuck).running == 0);
    CHILD(crest_poll_stop(all->stuck) == CREST_OK);
    double value = 3;
    crest_poll_options often = {.interval_ms = 10};
    crest_poll *own = crest_gauge_poll(all->stuck_gauge, poller_number, &value, &often, NULL);
    CHILD(own != NULL && poll_wait_calls(own, 3));
    CHILD(poll_threads() == 1);
    CHILD(crest_poll_stop(own) == CREST_OK);
    CHILD(crest_poll_stop(all->poll) == CREST_OK);
    CHILD(poll_wait_threads(0));
    return 0;
}

static void test_fork(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    static forking all;
    all.registry = fixture_registry(NULL);
    all.gauge = fixture_gauge(all.registry, "g");
    all.stuck_gauge = fixture_gauge(all.registry, "s");
    sem_init(&all.hung.go, 0, 0);
    all.stuck = crest_gauge_poll(all.stuck_gauge, poller_hang, &all.hung, NULL, NULL);
    all.poll = crest_gauge_poll(all.gauge, poller_number, &all.value, &unhurried, NULL);
    poll_set(all.value, 10);
    assert_true(poller_look_until(all.registry, all.gauge, 10));
    assert_int_equal(poller_calls(&all.hung), 1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(poller_in_child(&all));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    /* the parent goes on */
    poll_set(all.value, 11);
    assert_true(poller_look_until(all.registry, all.gauge, 11));
    sem_post(&all.hung.go);
    assert_true(poll_wait_calls(all.stuck, 1));
    assert_int_equal(crest_poll_stop(all.stuck), CREST_OK);
    assert_int_equal(crest_poll_stop(all.poll), CREST_OK);
    assert_true(poll_wait_threads(0));
    crest_registry_free(all.registry);
    sem_destroy(&all.hung.go);
}

/* ---- the last report ---- */

CREST_GAUGE(poller_last, "poller.last", "The last value.");

/* What the last report of a stop shows. */
static double poller_last_shown(double *value, double next)
{
    crest_schedule hourly = {.interval_ms = 3600000, .jitter = -1};
    crest_reporter *reporter = crest_testing_reporter_new(NULL);
    assert_int_equal(crest_start(NULL, NULL), CREST_OK);
    assert_int_equal(crest_reporter_attach(NULL, reporter, &hourly, NULL), CREST_OK);
    assert_true(poller_look_until(NULL, &poller_last, *value));
    poll_set(*value, next);
    assert_int_equal(crest_stop(POLL_PATIENCE_MS, NULL), CREST_OK);
    crest_testing_report report;
    double shown;
    assert_int_equal(crest_testing_reporter_get(reporter, 0, &report), CREST_OK);
    assert_int_equal(report.final, 1);
    assert_int_equal(crest_testing_page_value(report.page, "poller_last", &shown), CREST_OK);
    assert_true(shown == next || shown == next - 1);
    crest_reporter_free(reporter);
    return shown;
}

/* It is polled for it; but like every snapshot it does not wait for long, and on a busy machine
 * shows what was before. */
static void test_last_report(void **state)
{
    (void)state;
    double value = 1;
    crest_poll *poll = crest_gauge_poll(&poller_last, poller_number, &value, &unhurried, NULL);
    double next = 2;
    while (poller_last_shown(&value, next) != next)
        assert_true(++next < 50);
    crest_poll_stop(poll);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overruns),         cmocka_unit_test(test_hanging),
        cmocka_unit_test(test_hanging_interval), cmocka_unit_test(test_many_hanging),
        cmocka_unit_test(test_stop_waits),       cmocka_unit_test(test_free_callbacks),
        cmocka_unit_test(test_no_threads),       cmocka_unit_test(test_fork),
        cmocka_unit_test(test_last_report),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("poller", tests, NULL, NULL);
}
