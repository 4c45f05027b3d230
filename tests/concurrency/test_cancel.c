/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that are cancelled within calls that take locks and wait: the call ends as it would have,
 * the thread then, and no lock stays behind. Each act runs on a thread whose cancellation is
 * pending before the call, so that the first cancellation point within would end it.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "support/fake_reporter.h"

#include <crest/crest.h>
#include <crest/testing.h>
#include <unistd.h>

#define CANCEL_NAP_US 20000
#define CANCEL_RACES FIXTURE_TIMES(300)

CREST_GAUGE(polled, "cancel.polled", "Polled.");
CREST_TIMER(timed, "cancel.timed", "Timed.");

static fake_reporter fake;
static crest_poll *poll_of_gauge;
static crest_status answered;

/* ---- what the host does ---- */

/* Long enough for the snapshot to wait; a cancellation point itself. */
static double slow_value(void *context)
{
    (void)context;
    usleep(CANCEL_NAP_US);
    return 1;
}

static crest_status slow_report(crest_reporter *self, const crest_report *report,
                                crest_error *error)
{
    usleep(CANCEL_NAP_US);
    return fake_report(self, report, error);
}

/* ---- the acts ---- */

static void act_snapshot(void)
{
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    answered = snapshot != NULL ? CREST_OK : CREST_NO_MEMORY;
    crest_snapshot_free(snapshot);
}

static void act_report_now(void)
{
    answered = crest_report_now(&fake.reporter, FAKE_PATIENCE_MS, NULL);
}

static void act_detach_and_attach(void)
{
    answered = crest_reporter_detach(&fake.reporter, FAKE_PATIENCE_MS, NULL);
    if (answered == CREST_OK)
        answered = crest_reporter_attach(NULL, &fake.reporter, NULL, NULL);
}

static void act_report_once(void)
{
    fake_reporter once;
    fake_init(&once, "once");
    once.reporter.report = slow_report;
    answered = crest_report_once(NULL, &once.reporter, FAKE_PATIENCE_MS, NULL);
}

static void act_poll_stop(void)
{
    answered = crest_poll_stop(poll_of_gauge);
    poll_of_gauge = crest_gauge_poll(&polled, slow_value, NULL, NULL, NULL);
}

/* The options are read from a file, and what they ask for makes threads, files and sockets. */
static char options_file[] = "@/tmp/crest-cancel-XXXXXX";

static void act_start(void)
{
    answered = crest_start(options_file, NULL);
}

/* It detaches what the host attached, too. */
static void act_stop(void)
{
    answered = crest_stop(FAKE_PATIENCE_MS, NULL);
    if (answered == CREST_OK)
        answered = crest_reporter_attach(
            NULL, &fake.reporter, &(crest_schedule){.interval_ms = CREST_INTERVAL_MS_MAX}, NULL);
}

static void act_coverage(void)
{
    crest_coverage_options options = {.nodes = 4};
    crest_coverage *coverage = crest_coverage_new(&timed, &options, NULL);
    answered = coverage != NULL ? CREST_OK : CREST_NO_MEMORY;
    crest_coverage_free(coverage);
}

static void act_registry(void)
{
    crest_registry *registry = crest_registry_new(NULL);
    answered = registry != NULL ? crest_ticker_attach(registry) : CREST_NO_MEMORY;
    if (answered == CREST_OK)
        answered = crest_ticker_detach(registry);
    crest_registry_free(registry);
}

/* The callbacks of the host's that hold a cancellation point. */
static int point_write(void *context, const void *bytes, size_t length)
{
    (void)context;
    (void)bytes;
    (void)length;
    pthread_testcancel();
    return 0;
}

static void act_page(void)
{
    answered = crest_page_write(NULL, CREST_FORMAT_PROMETHEUS_TEXT, point_write, NULL, NULL);
}

/* Of a reporter that is never given a report. */
static void act_testing_wait(void)
{
    crest_reporter *testing = crest_testing_reporter_new(NULL);
    answered =
        crest_testing_reporter_wait(testing, 1, 1) == CREST_TIMED_OUT ? CREST_OK : CREST_NOT_FOUND;
    crest_reporter_free(testing);
}

static void point_log(crest_log_level level, const char *message, void *context)
{
    (void)level;
    (void)message;
    (void)context;
    pthread_testcancel();
}

static void act_log(void)
{
    crest_log_to(point_log, NULL);
    crest_log_write(CREST_LOG_INFO, "told");
    crest_log_to(NULL, NULL);
    answered = CREST_OK;
}

/* ---- running them ---- */

typedef struct cancel_act {
    const char *name;
    void (*act)(void);
} cancel_act;

/* In this order: what the stop ends is what the start began. */
static const cancel_act acts[] = {{"a snapshot", act_snapshot},
                                  {"a report", act_report_now},
                                  {"a detachment", act_detach_and_attach},
                                  {"a report of one's own", act_report_once},
                                  {"the end of a poll", act_poll_stop},
                                  {"a start", act_start},
                                  {"a stop", act_stop},
                                  {"a coverage", act_coverage},
                                  {"a page", act_page},
                                  {"a wait of the tests", act_testing_wait},
                                  {"the log", act_log},
                                  {"a registry", act_registry}};

static void *cancelled_run(void *act)
{
    pthread_cancel(pthread_self());
    ((const cancel_act *)act)->act();
    pthread_testcancel();
    return NULL;
}

/* All of it goes on as before. */
static void assert_alive(void)
{
    act_snapshot();
    assert_int_equal(answered, CREST_OK);
    act_report_now();
    assert_int_equal(answered, CREST_OK);
    act_poll_stop();
    assert_int_equal(answered, CREST_OK);
}

static void test_pending_cancellations(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(acts); i++) {
        pthread_t thread;
        void *result;
        answered = CREST_TIMED_OUT;
        assert_int_equal(pthread_create(&thread, NULL, cancelled_run, (void *)(uintptr_t)&acts[i]),
                         0);
        assert_int_equal(pthread_join(thread, &result), 0);
        if (answered != CREST_OK || result != PTHREAD_CANCELED)
            fail_msg("%s: %s, %s", acts[i].name, crest_status_text(answered),
                     result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
        assert_alive();
    }
}

static void *racing_run(void *unused)
{
    for (;;) {
        crest_snapshot_free(crest_snapshot_take(NULL));
        crest_report_now(&fake.reporter, FAKE_PATIENCE_MS, NULL);
        pthread_testcancel();
    }
    return unused;
}

/* Whenever it comes. */
static void test_racing_cancellations(void **state)
{
    (void)state;
    crest_poll_stop(poll_of_gauge);
    fake.reporter.report = fake_report;
    for (unsigned i = 0; i < CANCEL_RACES; i++) {
        pthread_t thread;
        void *result;
        assert_int_equal(pthread_create(&thread, NULL, racing_run, NULL), 0);
        for (unsigned pause = 0; pause < i % 50 * 100; pause++)
            __asm__ volatile("");
        pthread_cancel(thread);
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_true(result == PTHREAD_CANCELED);
    }
    poll_of_gauge = crest_gauge_poll(&polled, slow_value, NULL, NULL, NULL);
    assert_alive();
    crest_poll_stop(poll_of_gauge);
    assert_int_equal(crest_reporter_detach(&fake.reporter, FAKE_PATIENCE_MS, NULL), CREST_OK);
}

static int cancel_setup(void **state)
{
    (void)state;
    static const char lines[] = "service=cancelled\nhiccups=on\nsystem=process\n";
    int file = mkstemp(options_file + 1);
    if (write(file, lines, sizeof lines - 1) != (ssize_t)sizeof lines - 1 || close(file) != 0)
        return -1;
    fake_init(&fake, "fake");
    fake.reporter.report = slow_report;
    poll_of_gauge = crest_gauge_poll(&polled, slow_value, NULL, NULL, NULL);
    return crest_reporter_attach(NULL, &fake.reporter,
                                 &(crest_schedule){.interval_ms = CREST_INTERVAL_MS_MAX}, NULL);
}

static int cancel_teardown(void **state)
{
    (void)state;
    return unlink(options_file + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pending_cancellations),
        cmocka_unit_test(test_racing_cancellations),
    };
    fixture_watchdog(120);
    return cmocka_run_group_tests_name("cancel", tests, cancel_setup, cancel_teardown);
}
