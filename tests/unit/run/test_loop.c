/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crest in the host's own loop: polls, ticks and reports without a thread, and polls of the loop
 * beside threads.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "support/loop_fixture.h"

#include <fcntl.h>
#include <sys/wait.h>

CREST_COUNTER(loop_events, "test.loop-events", "Events.");
CREST_GAUGE(loop_length, "test.loop-length", "A length.");
CREST_GAUGE(loop_depth, "test.loop-depth", "A depth.");

static unsigned threads_before;

static double count_calls(void *calls)
{
    return ++*(unsigned *)calls;
}

static int start(void **state)
{
    crest_error error;
    (void)state;
    crest_testing_clock_set(1000000000);
    if (crest_start("threads=off", &error) == CREST_OK)
        return 0;
    fprintf(stderr, "%s\n", error.message);
    return -1;
}

static int stop(void **state)
{
    (void)state;
    crest_testing_clock_real();
    return crest_stop(2000, NULL) == CREST_OK && loop_threads() == threads_before ? 0 : -1;
}

/* ---- polls ---- */

static void test_polls_at_their_interval(void **state)
{
    (void)state;
    unsigned calls = 0;
    int wait_ms;
    const crest_poll_options options = {.interval_ms = 10000};
    crest_poll *poll = crest_gauge_poll(&loop_length, count_calls, &calls, &options, NULL);
    assert_non_null(poll);
    assert_int_equal(loop_threads(), threads_before);
    assert_int_equal(crest_loop_run(&wait_ms), CREST_OK);
    assert_int_equal(calls, 1);
    assert_int_equal(crest_loop_run(&wait_ms), CREST_OK);
    assert_int_equal(calls, 1);
    assert_in_range(wait_ms, 1, 1000); /* the tick's */
    loop_step_ms(9000);
    loop_drain();
    assert_int_equal(calls, 1);
    loop_step_ms(1000);
    loop_drain();
    assert_int_equal(calls, 2);
    /* what passed unused is not made up for */
    loop_step_ms(35000);
    loop_drain();
    assert_int_equal(calls, 3);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    assert_int_equal(loop_threads(), threads_before);
}

/* Gauges without an interval are polled by each snapshot, on its thread. */
static void test_polls_of_snapshots(void **state)
{
    (void)state;
    unsigned calls = 0;
    crest_poll *poll = crest_gauge_poll(&loop_length, count_calls, &calls, NULL, NULL);
    loop_drain();
    unsigned before = calls;
    crest_snapshot_free(crest_snapshot_take(NULL));
    assert_int_equal(calls, before + 1);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
}

typedef struct taken {
    int loop, busy;
    crest_status run, stopped, detached, reported;
    crest_reporter *reporter;
} taken;

static double run_again(void *context)
{
    taken *seen = context;
    int wait_ms = 7;
    seen->run = crest_loop_run(&wait_ms);
    seen->busy = wait_ms;
    seen->stopped = crest_stop(1000, NULL);
    seen->detached = crest_reporter_detach(seen->reporter, 1000, NULL);
    seen->reported = crest_report_now(seen->reporter, 1000, NULL);
    return 1;
}

static void test_not_from_within_itself(void **state)
{
    (void)state;
    taken seen = {.reporter = crest_testing_reporter_new(NULL)};
    const crest_poll_options options = {.interval_ms = 10000};
    assert_int_equal(crest_reporter_attach(NULL, seen.reporter, NULL, NULL), CREST_OK);
    crest_poll *poll = crest_gauge_poll(&loop_length, run_again, &seen, &options, NULL);
    assert_int_equal(crest_loop_run(NULL), CREST_OK);
    assert_non_null(poll);
    assert_int_equal(seen.run, CREST_ALREADY);
    assert_int_equal(seen.busy, 0);
    assert_int_equal(seen.stopped, CREST_INVALID_ARGUMENT);
    assert_int_equal(seen.detached, CREST_INVALID_ARGUMENT);
    assert_int_equal(seen.reported, CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    assert_int_equal(crest_reporter_detach(seen.reporter, 1000, NULL), CREST_OK);
    crest_reporter_free(seen.reporter);
}

/* ---- ticks ---- */

static void test_ticks_each_second(void **state)
{
    (void)state;
    loop_drain();
    uint64_t ticks = FIXTURE_READING(NULL, "crest.tick-time", "outcome", "ok").count;
    loop_step_ms(400);
    loop_drain();
    assert_int_equal(FIXTURE_READING(NULL, "crest.tick-time", "outcome", "ok").count, ticks);
    for (unsigned second = 0; second < 10; second++) {
        crest_counter_add(&loop_events, 30);
        loop_step_ms(1000);
        loop_drain();
    }
    assert_int_equal(FIXTURE_READING(NULL, "crest.tick-time", "outcome", "ok").count, ticks + 10);
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_series_view view;
    assert_int_equal(crest_snapshot_find(snapshot, "test.loop-events", NULL, 0, &view), CREST_OK);
    int found = 0;
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_window window;
        crest_series_view at;
        crest_snapshot_series(snapshot, i, &at);
        if (strcmp(at.name, "test.loop-events") != 0)
            continue;
        found = 1;
        assert_int_equal(crest_snapshot_window(snapshot, i, CREST_WINDOW_S, &window), CREST_OK);
        assert_true(fabs(window.per_second - 30) < 2);
        assert_true(window.covered_s > 9.5 && window.covered_s < 11.5);
    }
    crest_snapshot_free(snapshot);
    assert_true(found);
}

/* ---- reports ---- */

static void test_reports_at_their_interval(void **state)
{
    (void)state;
    crest_reporter *reporter = crest_testing_reporter_new(NULL);
    const crest_schedule schedule = {.interval_ms = 30000, .jitter = -1};
    crest_reporter_state how;
    assert_int_equal(crest_reporter_attach(NULL, reporter, &schedule, NULL), CREST_OK);
    assert_int_equal(loop_threads(), threads_before);
    loop_drain();
    assert_int_equal(crest_testing_reporter_count(reporter), 0);
    loop_step_ms(29000);
    loop_drain();
    assert_int_equal(crest_testing_reporter_count(reporter), 0);
    loop_step_ms(1000);
    loop_drain();
    assert_int_equal(crest_testing_reporter_count(reporter), 1);
    /* one that fails is tried again after its backoff */
    crest_testing_reporter_fail(reporter, 1, CREST_IO, "for the test");
    loop_step_ms(30000);
    loop_drain();
    assert_int_equal(crest_testing_reporter_count(reporter), 2);
    loop_step_ms(1000);
    loop_drain();
    assert_int_equal(crest_testing_reporter_count(reporter), 3);
    /* when asked, at once */
    assert_int_equal(crest_report_now(reporter, 1000, NULL), CREST_OK);
    assert_int_equal(crest_testing_reporter_count(reporter), 4);
    assert_int_equal(crest_reporter_status(reporter, &how), CREST_OK);
    assert_int_equal(how.reports, 4);
    assert_int_equal(how.failures, 1);
    crest_testing_reporter_fail(reporter, 1, CREST_IO, "for the test");
    assert_int_equal(crest_report_now(reporter, 1000, NULL), CREST_IO);
    /* and a last time, then its stop */
    crest_counter_add(&loop_events, 1);
    assert_int_equal(crest_reporter_detach(reporter, 1000, NULL), CREST_OK);
    assert_int_equal(crest_testing_reporter_count(reporter), 6);
    assert_int_equal(crest_testing_reporter_stops(reporter), 1);
    assert_int_equal(loop_threads(), threads_before);
    crest_reporter_free(reporter);
}

/* Each run makes one report, so that the host has a turn between two. */
static void test_one_report_a_run(void **state)
{
    (void)state;
    crest_reporter *reporters[3];
    const crest_schedule schedule = {.interval_ms = 30000, .jitter = -1};
    for (unsigned i = 0; i < 3; i++) {
        reporters[i] = crest_testing_reporter_new(NULL);
        assert_int_equal(crest_reporter_attach(NULL, reporters[i], &schedule, NULL), CREST_OK);
    }
    loop_step_ms(30000);
    for (unsigned runs = 1; runs <= 3; runs++) {
        int wait_ms;
        assert_int_equal(crest_loop_run(&wait_ms), CREST_OK);
        size_t reports = 0;
        for (unsigned i = 0; i < 3; i++)
            reports += crest_testing_reporter_count(reporters[i]);
        assert_int_equal(reports, runs);
        assert_int_equal(wait_ms == 0, runs < 3);
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(crest_reporter_detach(reporters[i], 1000, NULL), CREST_OK);
        crest_reporter_free(reporters[i]);
    }
}

static void test_stop_flushes(void **state)
{
    (void)state;
    crest_reporter *reporters[2] = {crest_testing_reporter_new(NULL),
                                    crest_testing_reporter_new(NULL)};
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(crest_reporter_attach(NULL, reporters[i], NULL, NULL), CREST_OK);
    loop_drain();
    assert_int_equal(crest_stop(2000, NULL), CREST_OK);
    for (unsigned i = 0; i < 2; i++) {
        crest_testing_report report;
        assert_int_equal(crest_testing_reporter_count(reporters[i]), 1);
        assert_int_equal(crest_testing_reporter_stops(reporters[i]), 1);
        assert_int_equal(crest_testing_reporter_get(reporters[i], 0, &report), CREST_OK);
        assert_true(report.final);
        crest_reporter_free(reporters[i]);
    }
    int wait_ms, descriptor = crest_loop_fd(NULL);
    assert_int_equal(crest_loop_run(&wait_ms), CREST_OK);
    assert_int_equal(wait_ms, -1);
    assert_false(loop_readable(descriptor, 0));
    assert_int_equal(loop_threads(), threads_before);
    assert_int_equal(crest_start("threads=off", NULL), CREST_OK);
}

/* ---- what cannot be done ---- */

static crest_status waits_report(crest_reporter *self, const crest_report *report,
                                 crest_error *error)
{
    (void)self, (void)report, (void)error;
    return CREST_OK;
}

static crest_status serves_start(crest_reporter *self, crest_registry *registry, crest_error *error)
{
    (void)self, (void)registry, (void)error;
    return CREST_OK;
}

static void test_refuses_what_needs_threads(void **state)
{
    (void)state;
    crest_error error;
    crest_reporter waits = {.name = "waits", .report = waits_report, .waits = 1};
    crest_reporter serves = {.name = "serves", .start = serves_start};
    assert_int_equal(crest_reporter_attach(NULL, &waits, NULL, &error), CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "threads=off"));
    assert_int_equal(crest_reporter_attach(NULL, &serves, NULL, &error), CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "threads=off"));
    assert_int_equal(crest_hiccups_start(NULL, &error), CREST_SYSTEM);
    assert_int_equal(crest_options_check("threads=off,hiccups=on", &error), CREST_INVALID_OPTIONS);
    assert_non_null(strstr(error.message, "threads=off"));
    assert_int_equal(crest_options_check("threads=off,hiccups=off", &error), CREST_OK);
    assert_true(crest_loop_only());
    assert_int_equal(loop_threads(), threads_before);
}

/* ---- the descriptor ---- */

static void test_descriptor(void **state)
{
    (void)state;
    int descriptor = crest_loop_fd(NULL);
    assert_true(descriptor > 2);
    assert_int_equal(crest_loop_fd(NULL), descriptor);
    assert_true(fcntl(descriptor, F_GETFD) & FD_CLOEXEC);
    assert_true(loop_drain() > 0);
    assert_false(loop_readable(descriptor, 0));
    unsigned calls = 0;
    const crest_poll_options options = {.interval_ms = 50};
    crest_poll *poll = crest_gauge_poll(&loop_length, count_calls, &calls, &options, NULL);
    assert_true(loop_readable(descriptor, 0)); /* at once: it is due */
    loop_drain();
    /* the timer goes by the kernel's clock, of which nothing was stepped away */
    loop_stepped_ns = 0;
    assert_int_equal(crest_stop(2000, NULL), CREST_OK);
    assert_int_equal(crest_start("threads=off,windows=off", NULL), CREST_OK);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    poll = crest_gauge_poll(&loop_length, count_calls, &calls, &options, NULL);
    loop_drain();
    unsigned before = calls;
    assert_true(loop_readable(descriptor, 20000));
    loop_drain();
    assert_int_equal(calls, before + 1);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    int mine[2];
    assert_int_equal(pipe2(mine, O_CLOEXEC), 0);
    loop_drain();
    assert_int_equal(crest_loop_watch(mine[0]), CREST_OK);
    assert_false(loop_readable(descriptor, 0));
    assert_int_equal(write(mine[1], "x", 1), 1);
    assert_true(loop_readable(descriptor, 0));
    assert_int_equal(crest_loop_unwatch(mine[0]), CREST_OK);
    assert_false(loop_readable(descriptor, 0));
    assert_int_equal(crest_loop_unwatch(mine[0]), CREST_SYSTEM);
    close(mine[0]);
    close(mine[1]);
}

/* ---- the child of a fork ---- */

static int child(int descriptor)
{
    unsigned calls = 0;
    int wait_ms;
    threads_before = loop_threads(); /* a sanitizer's may have come or gone */
    if (crest_loop_only() || fcntl(descriptor, F_GETFD) >= 0)
        return 1;
    if (crest_loop_run(&wait_ms) != CREST_OK || wait_ms != -1)
        return 2;
    if (crest_start("threads=off", NULL) != CREST_OK || loop_threads() != threads_before)
        return 3;
    const crest_poll_options options = {.interval_ms = 10000};
    crest_poll *poll = crest_gauge_poll(&loop_depth, count_calls, &calls, &options, NULL);
    loop_drain();
    if (poll == NULL || calls != 1 || crest_loop_fd(NULL) < 0)
        return 4;
    return crest_stop(2000, NULL) == CREST_OK && loop_threads() == threads_before ? 0 : 5;
}

static void test_child_of_a_fork(void **state)
{
    (void)state;
    int descriptor = crest_loop_fd(NULL), status;
    loop_drain();
    pid_t process = fork();
    if (process == 0)
        _exit(child(descriptor));
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
    /* the parent's is as it was */
    assert_false(loop_readable(descriptor, 0));
    loop_step_ms(1000);
    assert_true(loop_drain() > 0);
}

static double fork_within(void *context)
{
    *(pid_t *)context = fork();
    return 0;
}

/* The child goes on in the middle of the run, and leaves it. */
static void test_fork_within_a_run(void **state)
{
    (void)state;
    pid_t process = -1;
    int status;
    const crest_poll_options options = {.interval_ms = 10000};
    crest_poll *poll = crest_gauge_poll(&loop_length, fork_within, &process, &options, NULL);
    crest_status ran = crest_loop_run(NULL);
    if (process == 0)
        _exit(ran == CREST_OK && crest_loop_run(NULL) == CREST_OK ? 0 : 1);
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
}

/* ---- other threads, and Crest's own: these come last ---- */

static void *run_elsewhere(void *status)
{
    *(crest_status *)status = crest_loop_run(NULL);
    return NULL;
}

static void *take_over(void *status)
{
    *(crest_status *)status = crest_loop_fd(NULL) > 2 ? crest_loop_run(NULL) : CREST_SYSTEM;
    return NULL;
}

static void test_not_from_another_thread(void **state)
{
    (void)state;
    pthread_t other;
    crest_status status = CREST_OK;
    assert_int_equal(crest_loop_run(NULL), CREST_OK);
    assert_int_equal(pthread_create(&other, NULL, run_elsewhere, &status), 0);
    pthread_join(other, NULL);
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    assert_int_equal(pthread_create(&other, NULL, take_over, &status), 0);
    pthread_join(other, NULL);
    assert_int_equal(status, CREST_OK);
    assert_int_equal(crest_loop_run(NULL), CREST_INVALID_ARGUMENT);
    assert_true(crest_loop_fd(NULL) > 2);
    assert_int_equal(crest_loop_run(NULL), CREST_OK);
}

static pthread_t poll_thread;

static double note_thread(void *calls)
{
    poll_thread = pthread_self();
    return ++*(unsigned *)calls;
}

/* With threads, a poll of the loop is called by it alone; all else goes on without it. */
static void test_loop_polls_beside_threads(void **state)
{
    (void)state;
    unsigned calls = 0, others = 0;
    assert_int_equal(crest_start("windows=off", NULL), CREST_OK);
    const crest_poll_options mine = {.interval_ms = 10000, .loop = 1};
    const crest_poll_options never = {.interval_ms = CREST_POLL_EACH_SNAPSHOT, .loop = 1};
    crest_status status;
    assert_null(crest_poll_every("never", NULL, NULL, &never, &status));
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    crest_poll *poll = crest_gauge_poll(&loop_length, note_thread, &calls, &mine, NULL);
    assert_non_null(poll);
    /* a snapshot has a poller's thread for its round, and does not call the loop's */
    crest_poll *other = crest_gauge_poll(&loop_depth, count_calls, &others, NULL, NULL);
    crest_snapshot_free(crest_snapshot_take(NULL));
    assert_int_equal(calls, 0);
    assert_int_equal(crest_loop_run(NULL), CREST_OK);
    assert_int_equal(calls, 1);
    assert_true(pthread_equal(poll_thread, pthread_self()));
    loop_step_ms(10000);
    crest_snapshot_free(crest_snapshot_take(NULL));
    assert_int_equal(calls, 1);
    assert_int_equal(loop_drain(), 1);
    assert_int_equal(calls, 2);
    assert_true(FIXTURE_READING(NULL, "test.loop-length").gauge == 2);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
    assert_int_equal(crest_poll_stop(other), CREST_OK);
    assert_int_equal(crest_stop(2000, NULL), CREST_OK);
    /* 0 is each second here, for a gauge too */
    const crest_poll_options usual = {.loop = 1};
    poll = crest_gauge_poll(&loop_length, note_thread, &calls, &usual, NULL);
    assert_int_equal(loop_drain(), 1);
    assert_int_equal(loop_drain(), 1);
    assert_int_equal(calls, 3);
    loop_step_ms(1000);
    loop_drain();
    assert_int_equal(calls, 4);
    assert_int_equal(crest_poll_stop(poll), CREST_OK);
}

int main(void)
{
    threads_before = loop_threads();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_polls_at_their_interval, start, stop),
        cmocka_unit_test_setup_teardown(test_polls_of_snapshots, start, stop),
        cmocka_unit_test_setup_teardown(test_not_from_within_itself, start, stop),
        cmocka_unit_test_setup_teardown(test_ticks_each_second, start, stop),
        cmocka_unit_test_setup_teardown(test_reports_at_their_interval, start, stop),
        cmocka_unit_test_setup_teardown(test_one_report_a_run, start, stop),
        cmocka_unit_test_setup_teardown(test_stop_flushes, start, stop),
        cmocka_unit_test_setup_teardown(test_refuses_what_needs_threads, start, stop),
        cmocka_unit_test_setup_teardown(test_descriptor, start, stop),
        cmocka_unit_test_setup_teardown(test_child_of_a_fork, start, stop),
        cmocka_unit_test_setup_teardown(test_fork_within_a_run, start, stop),
        cmocka_unit_test(test_not_from_another_thread),
        cmocka_unit_test(test_loop_polls_beside_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
