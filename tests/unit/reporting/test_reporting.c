/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporters and their threads: schedule, failures, requests, the last report, one that hangs, and
 * the child of a fork.
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/host_name.h"
#include "support/core_fixture.h"
#include "base/error.h"
#include "support/fake_reporter.h"
#include "run/options.h"

#include <crest/crest.h>
#include <crest/testing.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

CREST_COUNTER(things, "test.things", "Things that happened.");

static const crest_schedule often = {.interval_ms = 100, .jitter = -1};
static const crest_schedule seldom = {.interval_ms = 3600000, .jitter = -1};

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in: %s", part, text);
}

/* What the log callback was told, a line each. */
static struct {
    pthread_mutex_t lock;
    char text[4096];
    unsigned lines;
} logged = {PTHREAD_MUTEX_INITIALIZER, "", 0};

static void keep_log(crest_log_level level, const char *message, void *context)
{
    (void)context;
    pthread_mutex_lock(&logged.lock);
    size_t used = strlen(logged.text);
    snprintf(logged.text + used, sizeof logged.text - used, "%d %s\n", (int)level, message);
    logged.lines++;
    pthread_mutex_unlock(&logged.lock);
}

static unsigned log_lines(void)
{
    pthread_mutex_lock(&logged.lock);
    unsigned lines = logged.lines;
    pthread_mutex_unlock(&logged.lock);
    return lines;
}

static uint64_t reports_measured(const char *reporter, const char *outcome)
{
    crest_testing_reading found;
    crest_error error;
    if (crest_testing_read(NULL, NULL, &found, &error, "crest.report-time", "reporter", reporter,
                           "outcome", outcome, NULL) != CREST_OK)
        fail_msg("%s", error.message);
    return found.count;
}

static void test_reports_at_its_interval(void **state)
{
    (void)state;
    fake_reporter fake;
    fake_init(&fake, "a-reporter-with-a-long-name");
    fake.counter = "test.things";
    crest_counter_add(&things, 7);
    assert_int_equal(crest_reporter_attach(NULL, &fake.reporter, &often, NULL), CREST_OK);
    assert_true(fake_wait(&fake, &fake.reports, 4));
    crest_reporter_state seen;
    assert_int_equal(crest_reporter_status(&fake.reporter, &seen), CREST_OK);
    assert_true(seen.reports >= 3 && seen.failures == 0 && seen.consecutive_failures == 0);
    assert_true(seen.last_success_wall_ns / 1000000000 + 60 > (uint64_t)time(NULL));
    assert_true(seen.last_duration_ns > 0);
    assert_int_equal(seen.last_error.status, CREST_OK);
    assert_string_equal(seen.last_error.message, "");
    assert_int_equal(crest_reporter_detach(&fake.reporter, 0, NULL), CREST_OK);
    assert_int_equal(crest_reporter_status(&fake.reporter, &seen), CREST_NOT_FOUND);
    assert_int_equal(seen.reports, 0);

    assert_true(fake.value >= 7);
    assert_int_equal(fake.signals_open, 0);
    assert_string_equal(fake.thread_name, "crest-a-reporte");
    assert_true(fake.left_ns <= 2000000000);
    char host[CREST_HOST_BYTES];
    crest_host_name(host);
    assert_string_equal(fake.instance, host);
    assert_string_equal(fake.service, "");
    /* the grid does not drift: the first four are 100 ms apart, but for lateness */
    assert_in_range(fake.began_ns[3] - fake.began_ns[0], 200000000, 10000000000);
    assert_int_equal(fake.frees, 0);
}

static void test_detach_flushes(void **state)
{
    (void)state;
    fake_reporter fake;
    fake_init(&fake, "flush");
    fake.counter = "test.things";
    assert_int_equal(crest_reporter_attach(NULL, &fake.reporter, NULL, NULL), CREST_OK);
    crest_counter_inc(&things);
    crest_error error;
    assert_int_equal(crest_reporter_detach(&fake.reporter, 5000, &error), CREST_OK);
    assert_int_equal(fake.finals, 1);
    assert_int_equal(fake.stops, 1);
    assert_int_equal(fake.value, crest_counter_value(&things));
    assert_true(fake.left_ns > 1000000000 && fake.left_ns <= 5000000000);
    assert_int_equal(crest_reporter_detach(&fake.reporter, 5000, &error), CREST_NOT_FOUND);
    assert_contains(error.message, "not attached");

    /* the last report's failure is told, and that of stop if there is none */
    assert_int_equal(crest_reporter_attach(NULL, &fake.reporter, NULL, NULL), CREST_OK);
    fake.stop_answer = CREST_REFUSED;
    fake_answer(&fake, CREST_UNREACHABLE, "nobody there");
    crest_log_to(keep_log, NULL);
    assert_int_equal(crest_reporter_detach(&fake.reporter, 5000, &error), CREST_UNREACHABLE);
    crest_log_to(NULL, NULL);
    assert_string_equal(error.message, "detaching flush: nobody there");
    /* nobody promises another try of what was the last */
    assert_contains(logged.text, "1 crest: flush: nobody there (this was the last report: ");
    assert_true(strstr(logged.text, "tried again") == NULL);
    logged.text[0] = '\0';
    logged.lines = 0;
    assert_int_equal(crest_reporter_attach(NULL, &fake.reporter, NULL, NULL), CREST_OK);
    fake_answer(&fake, CREST_OK, "");
    assert_int_equal(crest_reporter_detach(&fake.reporter, 5000, &error), CREST_REFUSED);
    assert_string_equal(error.message, "detaching flush: its stop failed");
    assert_int_equal(fake.stops, 3);
}

static void test_failures(void **state)
{
    (void)state;
    fake_reporter fake;
    fake_init(&fake, "failing");
    fake_answer(&fake, CREST_UNREACHABLE, "nobody there");
    crest_log_to(keep_log, NULL);
    assert_int_equal(crest_reporter_attach(NULL, &fake.reporter, &often, NULL), CREST_OK);
    assert_int_equal(reports_measured("failing", "ok"), 0);
    assert_true(fake_wait(&fake, &fake.reports, 3));
    crest_reporter_state seen;
    assert_int_equal(crest_reporter_status(&fake.reporter, &seen), CREST_OK);
    assert_true(seen.failures >= 2 && seen.consecutive_failures == seen.failures);
    assert_int_equal(seen.last_success_wall_ns, 0);
    assert_int_equal(seen.last_error.status, CREST_UNREACHABLE);
    assert_string_equal(seen.last_error.message, "nobody there");
    assert_int_equal(log_lines(), 1);
    fake_answer(&fake, CREST_OK, "");
    assert_true(fake_wait(&fake, &fake.reports, fake_get(&fake, &fake.reports) + 3));
    assert_int_equal(crest_reporter_status(&fake.reporter, &seen), CREST_OK);
    assert_int_equal(seen.consecutive_failures, 0);
    assert_true(seen.last_success_wall_ns > 0 && seen.failures >= 2);
    assert_string_equal(seen.last_error.message, "nobody there");
    assert_int_equal(crest_reporter_detach(&fake.reporter, 5000, NULL), CREST_OK);
    crest_log_to(NULL, NULL);
    assert_int_equal(log_lines(), 2);
    assert_contains(logged.text,
                    "1 crest: failing: nobody there (nothing is lost: it is tried again");
    assert_contains(logged.text, "0 crest: failing: reports again, after ");

    /* measured in the default registry: each report, by outcome, and the last success */
    uint64_t failed = reports_measured("failing", "error");
    assert_int_equal(failed, seen.failures);
    assert_int_equal(reports_measured("failing", "ok") + failed, fake.reports);
    crest_testing_reading success;
    assert_int_equal(crest_testing_read(NULL, NULL, &success, NULL,
                                        "crest.report-last-success-timestamp", "reporter",
                                        "failing", NULL),
                     CREST_OK);
    assert_true(success.gauge + 60 > (double)time(NULL));
}

static void test_report_now(void **state)
{
    (void)state;
    fake_reporter fake;
    fake_init(&fake, "now");
    fake.counter = "test.things";
    crest_error error;
    assert_int_equal(crest_report_now(&fake.reporter, 1000, &error), CREST_NOT_FOUND);
    assert_int_equal(crest_reporter_attach(NULL, &fake.reporter, &seldom, NULL), CREST_OK);
    crest_counter_inc(&things);
    assert_int_equal(crest_report_now(&fake.reporter, FAKE_PATIENCE_MS, &error), CREST_OK);
    assert_int_equal(fake_get(&fake, &fake.reports), 1);
    assert_int_equal(fake.value, crest_counter_value(&things));
    assert_int_equal(fake.finals, 0);
    assert_true(fake.left_ns > 5000000000); /* the schedule's own timeout */
    fake_answer(&fake, CREST_REFUSED, "no");
    assert_int_equal(crest_report_now(&fake.reporter, FAKE_PATIENCE_MS, &error), CREST_REFUSED);
    assert_string_equal(error.message, "no");
    assert_int_equal(crest_report_now(&fake.reporter, FAKE_PATIENCE_MS, NULL), CREST_REFUSED);
    /* one that hangs does not keep the caller; its late end harms nobody */
    fake_set(&fake, &fake.hang, 1);
    uint64_t start_ms = fake_now_ms();
    assert_int_equal(crest_report_now(&fake.reporter, 50, &error), CREST_TIMED_OUT);
    assert_in_range(fake_now_ms() - start_ms, 45, 5000);
    assert_int_equal(crest_report_now(&fake.reporter, 50, &error), CREST_TIMED_OUT);
    fake_answer(&fake, CREST_OK, "");
    fake_set(&fake, &fake.hang, 0);
    assert_int_equal(crest_report_now(&fake.reporter, FAKE_PATIENCE_MS, &error), CREST_OK);
    assert_int_equal(crest_reporter_detach(&fake.reporter, 5000, NULL), CREST_OK);
}

/* However often somebody asks, also while each is refused, the schedule goes on as it was. */
static void test_report_now_keeps_the_schedule(void **state)
{
    (void)state;
    fake_reporter fake;
    fake_init(&fake, "punctual");
    crest_reporter_state seen;
    assert_int_equal(crest_reporter_attach(NULL, &fake.reporter, &seldom, NULL), CREST_OK);
    fake_answer(&fake, CREST_REFUSED, "no");
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(crest_report_now(&fake.reporter, FAKE_PATIENCE_MS, NULL), CREST_REFUSED);
    assert_int_equal(crest_reporter_status(&fake.reporter, &seen), CREST_OK);
    assert_in_range(seen.next_in_ns, 1, 3600000000000);
    fake_answer(&fake, CREST_OK, "");
    assert_int_equal(crest_report_now(&fake.reporter, FAKE_PATIENCE_MS, NULL), CREST_OK);
    assert_int_equal(crest_reporter_status(&fake.reporter, &seen), CREST_OK);
    assert_in_range(seen.next_in_ns, 1, 3600000000000);
    /* nor is a point lost to one that failed before it, and was tried again */
    fake_answer(&fake, CREST_UNREACHABLE, "not now");
    assert_int_equal(crest_report_now(&fake.reporter, FAKE_PATIENCE_MS, NULL), CREST_UNREACHABLE);
    fake_answer(&fake, CREST_OK, "");
    assert_int_equal(crest_report_now(&fake.reporter, FAKE_PATIENCE_MS, NULL), CREST_OK);
    assert_int_equal(crest_reporter_status(&fake.reporter, &seen), CREST_OK);
    assert_in_range(seen.next_in_ns, 3500000000000, 3600000000000);
    assert_int_equal(crest_reporter_detach(&fake.reporter, 5000, NULL), CREST_OK);
}

static crest_status statuses_inside[4];

/* Calls that would wait for the very thread they are made on. */
static crest_status report_asking_itself(crest_reporter *self, const crest_report *report,
                                         crest_error *error)
{
    (void)report;
    statuses_inside[0] = crest_report_now(self, 100, error);
    statuses_inside[1] = crest_reporter_detach(self, 100, error);
    statuses_inside[2] = crest_reporter_attach(NULL, self, NULL, error);
    statuses_inside[3] = crest_report_once(NULL, self, 100, error);
    return CREST_OK;
}

/* When a server says how long it wants to be left alone, the retry is not before that. */
static void test_retries_when_the_server_wants(void **state)
{
    (void)state;
    fake_reporter fake;
    fake_init(&fake, "left alone");
    crest_schedule rarely = {.interval_ms = 3600000, .jitter = -1};
    assert_int_equal(crest_reporter_attach(NULL, &fake.reporter, &rarely, NULL), CREST_OK);
    crest_reporter_state seen;
    fake_answer(&fake, CREST_UNREACHABLE, "later");
    fake.reporter.retry_at_ns = crest_now() + 500 * UINT64_C(1000000000);
    assert_int_equal(crest_report_now(&fake.reporter, 0, NULL), CREST_UNREACHABLE);
    assert_int_equal(crest_reporter_status(&fake.reporter, &seen), CREST_OK);
    assert_in_range(seen.next_in_ns, 400 * UINT64_C(1000000000), 500 * UINT64_C(1000000000));
    fake.reporter.retry_at_ns = 1;
    assert_int_equal(crest_report_now(&fake.reporter, 0, NULL), CREST_UNREACHABLE);
    assert_int_equal(crest_reporter_status(&fake.reporter, &seen), CREST_OK);
    assert_in_range(seen.next_in_ns, 0, 2 * UINT64_C(1000000000));
    fake_answer(&fake, CREST_OK, "");
    assert_int_equal(crest_reporter_detach(&fake.reporter, 5000, NULL), CREST_OK);
}

static void test_own_thread(void **state)
{
    (void)state;
    crest_reporter reporter = {.name = "inward", .report = report_asking_itself};
    assert_int_equal(crest_reporter_attach(NULL, &reporter, &seldom, NULL), CREST_OK);
    assert_int_equal(crest_report_now(&reporter, FAKE_PATIENCE_MS, NULL), CREST_OK);
    assert_int_equal(crest_reporter_detach(&reporter, 5000, NULL), CREST_OK);
    assert_int_equal(statuses_inside[0], CREST_NOT_FOUND); /* it is being detached by now */
    assert_int_equal(statuses_inside[1], CREST_INVALID_ARGUMENT);
    assert_int_equal(statuses_inside[2], CREST_ALREADY);
    assert_int_equal(statuses_inside[3], CREST_ALREADY);
}

static void test_hanging(void **state)
{
    (void)state;
    fake_reporter *fake = malloc(sizeof *fake);
    fake_init(fake, "hanging");
    fake->hang = 1;
    crest_error error;
    assert_int_equal(crest_reporter_attach(NULL, &fake->reporter, &often, NULL), CREST_OK);
    assert_true(fake_wait(fake, &fake->reports, 1));
    uint64_t start_ms = fake_now_ms();
    assert_int_equal(crest_reporter_detach(&fake->reporter, 100, &error), CREST_TIMED_OUT);
    assert_in_range(fake_now_ms() - start_ms, 95, 5000);
    assert_string_equal(error.message,
                        "detaching hanging: its last report did not end before the deadline");
    /* busy: neither attached anew nor forgotten */
    assert_int_equal(crest_reporter_attach(NULL, &fake->reporter, &often, &error), CREST_ALREADY);
    assert_contains(error.message, "still busy");
    assert_int_equal(crest_report_now(&fake->reporter, 50, &error), CREST_NOT_FOUND);
    assert_int_equal(crest_reporter_detach(&fake->reporter, 50, &error), CREST_TIMED_OUT);
    crest_reporter_state seen;
    assert_int_equal(crest_reporter_status(&fake->reporter, &seen), CREST_OK);
    /* its thread ends with the report, and then touches the reporter no more */
    fake_set(fake, &fake->hang, 0);
    crest_status status = crest_reporter_detach(&fake->reporter, FAKE_PATIENCE_MS, &error);
    assert_true(status == CREST_OK || status == CREST_NOT_FOUND);
    assert_int_equal(crest_reporter_status(&fake->reporter, &seen), CREST_NOT_FOUND);
    assert_int_equal(fake->stops, 0);
    assert_int_equal(fake->finals, 0);
    free(fake);
}

static crest_status refuse_to_stop(void *context, crest_error *error)
{
    return *(int *)context ? crest_error_set(error, CREST_IO, "its stop failed") : CREST_OK;
}

static void test_report_once(void **state)
{
    (void)state;
    int refuse = 0;
    crest_testing_reporter_options options = {
        .name = "once", .stop = refuse_to_stop, .context = &refuse};
    crest_reporter *reporter = crest_testing_reporter_new(&options);
    crest_testing_report report;
    crest_error error;
    double value;
    assert_int_equal(crest_report_once(NULL, reporter, FAKE_PATIENCE_MS, &error), CREST_OK);
    assert_int_equal(crest_testing_reporter_count(reporter), 1);
    assert_int_equal(crest_testing_reporter_stops(reporter), 1);
    assert_int_equal(crest_testing_reporter_get(reporter, 0, &report), CREST_OK);
    assert_int_equal(report.final, 1);
    assert_in_range(report.left_ns, 1, FAKE_PATIENCE_MS * UINT64_C(1000000));
    assert_int_equal(crest_testing_page_value(report.page, "test_things_total", &value), CREST_OK);
    assert_true(value == (double)crest_counter_value(&things));
    assert_int_equal(reports_measured("once", "ok"), 1);
    crest_testing_reporter_fail(reporter, 1, CREST_IO, "cable cut");
    assert_int_equal(crest_report_once(NULL, reporter, 0, &error), CREST_IO);
    assert_string_equal(error.message, "once: cable cut");
    assert_int_equal(crest_testing_reporter_stops(reporter), 2);
    refuse = 1;
    assert_int_equal(crest_report_once(NULL, reporter, 0, &error), CREST_IO);
    assert_string_equal(error.message, "stopping once: its stop failed");
    crest_testing_reporter_fail(reporter, 1, CREST_IO, "");
    assert_int_equal(crest_report_once(NULL, reporter, 0, &error), CREST_IO);
    assert_string_equal(error.message,
                        "once: the reporter gave no reason but: reading or writing failed");
    /* a registry of one's own is what is reported */
    crest_registry *registry = crest_registry_new(NULL);
    crest_metric_options own = {.name = "own.things"};
    crest_counter_add(crest_counter_get(registry, &own, NULL), 3);
    refuse = 0;
    assert_int_equal(crest_report_once(registry, reporter, 0, &error), CREST_OK);
    assert_int_equal(crest_testing_reporter_get(reporter, 4, &report), CREST_OK);
    assert_string_equal(report.page, "# HELP own_things_total [own.things]\n"
                                     "# TYPE own_things_total counter\n"
                                     "own_things_total 3\n");
    crest_registry_free(registry);
    crest_reporter_free(reporter);
}

static void test_refused(void **state)
{
    (void)state;
    fake_reporter fakes[CREST_REPORTERS_MAX + 1];
    crest_error error;
    char names[CREST_REPORTERS_MAX + 1][16];
    for (unsigned i = 0; i <= CREST_REPORTERS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "r%u", i);
        fake_init(&fakes[i], names[i]);
        crest_status status = crest_reporter_attach(NULL, &fakes[i].reporter, &seldom, &error);
        assert_int_equal(status, i < CREST_REPORTERS_MAX ? CREST_OK : CREST_LIMIT);
    }
    assert_contains(error.message, "64 reporters are attached");
    assert_contains(error.message, "detach one before attaching r64");
    for (unsigned i = 0; i < CREST_REPORTERS_MAX; i++)
        assert_int_equal(crest_reporter_detach(&fakes[i].reporter, 5000, NULL), CREST_OK);
    crest_reporter bad = fakes[0].reporter;
    bad.name = "";
    assert_int_equal(crest_reporter_attach(NULL, &bad, NULL, &error), CREST_INVALID_ARGUMENT);
    bad.name = NULL;
    assert_int_equal(crest_report_once(NULL, &bad, 0, &error), CREST_INVALID_ARGUMENT);
    bad.name = "x";
    bad.report = NULL;
    assert_int_equal(crest_reporter_attach(NULL, &bad, NULL, NULL), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_reporter_attach(NULL, NULL, NULL, NULL), CREST_INVALID_ARGUMENT);
    crest_schedule schedule = {.interval_ms = 1};
    assert_int_equal(crest_reporter_attach(NULL, &fakes[0].reporter, &schedule, &error),
                     CREST_INVALID_ARGUMENT);
    assert_contains(error.message, "an interval of 1 ms");
    assert_int_equal(crest_reporter_status(&fakes[0].reporter, NULL), CREST_INVALID_ARGUMENT);
    crest_reporter_free(NULL);
    crest_reporter_free(&fakes[0].reporter);
    assert_int_equal(fakes[0].frees, 1);
}

static void test_no_memory(void **state)
{
    (void)state;
    fake_reporter fake;
    fake_init(&fake, "frugal");
    crest_error error;
    unsigned long fail = 1;
    crest_status status = CREST_NO_MEMORY;
    for (; status != CREST_OK && fail < 20; fail++) {
        crest_alloc_fail_after(fail);
        status = crest_reporter_attach(NULL, &fake.reporter, &seldom, &error);
        crest_alloc_fail_after(0);
        if (status != CREST_OK)
            assert_int_equal(status, CREST_NO_MEMORY);
    }
    assert_in_range(fail, 3, 19);
    /* no snapshot: a failure like any other */
    crest_alloc_fail_after(1);
    status =
        crest_report_once(NULL, &(crest_reporter){.name = "x", .report = fake_report}, 0, &error);
    crest_alloc_fail_after(0);
    assert_int_equal(status, CREST_NO_MEMORY);
    assert_contains(error.message, "x: no memory for a snapshot");
    assert_int_equal(crest_reporter_detach(&fake.reporter, 5000, NULL), CREST_OK);
}

/* In the child: 0 when all is as it has to be, else the number of what is not. */
static int forked_child(fake_reporter *inherited)
{
    crest_reporter_state seen;
    unsigned before = inherited->reports;
    if (crest_reporter_status(&inherited->reporter, &seen) != CREST_NOT_FOUND)
        return 1;
    if (crest_reporter_detach(&inherited->reporter, 100, NULL) != CREST_NOT_FOUND)
        return 2;
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    if (inherited->reports != before)
        return 3;
    fake_reporter own;
    fake_init(&own, "child");
    if (crest_report_once(NULL, &own.reporter, 0, NULL) != CREST_OK || own.reports != 1)
        return 4;
    if (crest_reporter_attach(NULL, &own.reporter, &often, NULL) != CREST_OK)
        return 5;
    if (!fake_wait(&own, &own.reports, 3))
        return 6;
    if (crest_reporter_detach(&own.reporter, 5000, NULL) != CREST_OK || own.finals != 2)
        return 7;
    return 0;
}

static void test_fork(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    fake_reporter fake;
    fake_init(&fake, "parent");
    assert_int_equal(crest_reporter_attach(NULL, &fake.reporter, &seldom, NULL), CREST_OK);
    assert_int_equal(crest_report_now(&fake.reporter, FAKE_PATIENCE_MS, NULL), CREST_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(forked_child(&fake));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    /* the parent goes on */
    assert_int_equal(crest_report_now(&fake.reporter, FAKE_PATIENCE_MS, NULL), CREST_OK);
    assert_int_equal(crest_reporter_detach(&fake.reporter, 5000, NULL), CREST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reports_at_its_interval),
        cmocka_unit_test(test_detach_flushes),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_report_now),
        cmocka_unit_test(test_report_now_keeps_the_schedule),
        cmocka_unit_test(test_retries_when_the_server_wants),
        cmocka_unit_test(test_own_thread),
        cmocka_unit_test(test_hanging),
        cmocka_unit_test(test_report_once),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
