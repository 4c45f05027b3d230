/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What counts as delivered, which decides when a series that went is forgotten: as of when, by
 * which reports, and of which registry. And what is not to be delivered: by an end that discards,
 * or in a parent's name.
 */
#define _GNU_SOURCE
#include "metrics/delivered.h"
#include "metrics/metric_inside.h"
#include "reporting/one_report.h"
#include "reporting/reporting.h"
#include "support/core_fixture.h"
#include "support/fake_reporter.h"

#include <sys/wait.h>

#define PATIENCE_MS 20000u

/* As the reporters of a registry have it; UINT64_MAX: none reports of it. */
static uint64_t delivered(crest_registry *registry)
{
    uint64_t delivered_ns = UINT64_MAX, longest_ns = 0;
    crest_deliveries_of(crest_registry_state_seen(registry), &delivered_ns, &longest_ns);
    return delivered_ns;
}

static void attach(crest_registry *registry, fake_reporter *fake)
{
    const crest_schedule schedule = {.interval_ms = CREST_INTERVAL_MS_MAX, .jitter = -1};
    assert_int_equal(crest_reporter_attach(registry, &fake->reporter, &schedule, NULL), CREST_OK);
}

static void *report_now(void *reporter)
{
    return (void *)(uintptr_t)crest_report_now(reporter, PATIENCE_MS, NULL);
}

/* What is recorded while a report is under way is not in it: it counts from the report's begin. */
static void test_as_of_its_begin(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    fixture_counter(registry, "c");
    fake_reporter fake;
    fake_init(&fake, "slow");
    fake.hang = 1;
    attach(registry, &fake);
    assert_int_equal(delivered(registry), 0);
    pthread_t thread;
    uint64_t before_ns = crest_now();
    assert_int_equal(pthread_create(&thread, NULL, report_now, &fake.reporter), 0);
    assert_true(fake_wait(&fake, &fake.reports, 1));
    uint64_t under_way_ns = crest_now();
    assert_int_equal(delivered(registry), 0);
    usleep(2000);
    fake_set(&fake, &fake.hang, 0);
    void *status;
    fixture_join(thread, &status);
    assert_int_equal((uintptr_t)status, CREST_OK);
    assert_true(delivered(registry) >= before_ns && delivered(registry) <= under_way_ns);
    assert_int_equal(crest_reporter_detach(&fake.reporter, PATIENCE_MS, NULL), CREST_OK);
    crest_registry_free(registry);
}

/* A report that failed has delivered nothing. */
static void test_not_by_a_failure(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    fake_reporter fake;
    fake_init(&fake, "failing");
    attach(registry, &fake);
    assert_int_equal(crest_report_now(&fake.reporter, PATIENCE_MS, NULL), CREST_OK);
    uint64_t delivered_ns = delivered(registry);
    assert_true(delivered_ns > 0);
    fake_answer(&fake, CREST_UNREACHABLE, "away");
    assert_int_equal(crest_report_now(&fake.reporter, PATIENCE_MS, NULL), CREST_UNREACHABLE);
    fake_answer(&fake, CREST_REFUSED, "no");
    assert_int_equal(crest_report_now(&fake.reporter, PATIENCE_MS, NULL), CREST_REFUSED);
    assert_int_equal(delivered(registry), delivered_ns);
    fake_answer(&fake, CREST_OK, "");
    assert_int_equal(crest_report_now(&fake.reporter, PATIENCE_MS, NULL), CREST_OK);
    assert_true(delivered(registry) > delivered_ns);
    assert_int_equal(crest_reporter_detach(&fake.reporter, PATIENCE_MS, NULL), CREST_OK);
    crest_registry_free(registry);
}

static crest_status begin(crest_reporter *self, crest_registry *registry, crest_error *error)
{
    (void)self, (void)registry, (void)error;
    return CREST_OK;
}

/* Reporters of another registry, and what serves by itself and is asked or not, hold nothing back;
 * of several it is the one that is furthest behind. */
static void test_of_which_registry(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL), *other = fixture_registry(NULL);
    fixture_counter(registry, "c");
    fixture_counter(other, "c");
    assert_true(delivered(registry) == UINT64_MAX);
    crest_reporter serves = {.name = "serves", .start = begin};
    assert_int_equal(crest_reporter_attach(registry, &serves, NULL, NULL), CREST_OK);
    assert_true(delivered(registry) == UINT64_MAX);
    fake_reporter first, second;
    fake_init(&first, "first");
    fake_init(&second, "second");
    attach(other, &first);
    assert_true(delivered(registry) == UINT64_MAX);
    assert_int_equal(delivered(other), 0);
    attach(other, &second);
    assert_int_equal(crest_report_now(&first.reporter, PATIENCE_MS, NULL), CREST_OK);
    assert_int_equal(delivered(other), 0);
    assert_int_equal(crest_report_now(&second.reporter, PATIENCE_MS, NULL), CREST_OK);
    uint64_t both_ns = delivered(other);
    assert_true(both_ns > 0 && both_ns != UINT64_MAX);
    assert_int_equal(crest_report_now(&second.reporter, PATIENCE_MS, NULL), CREST_OK);
    assert_int_equal(delivered(other), both_ns);
    assert_int_equal(crest_reporter_detach(&first.reporter, PATIENCE_MS, NULL), CREST_OK);
    assert_true(delivered(other) > both_ns);
    assert_int_equal(crest_reporter_detach(&second.reporter, PATIENCE_MS, NULL), CREST_OK);
    assert_int_equal(crest_reporter_detach(&serves, PATIENCE_MS, NULL), CREST_OK);
    crest_registry_free(registry);
    crest_registry_free(other);
}

/* An end that discards makes no last report, and stops what was started. */
static void test_discarded(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    const crest_schedule schedule = {.interval_ms = CREST_INTERVAL_MS_MAX, .jitter = -1};
    for (int flush = 0; flush < 2; flush++) {
        fake_reporter fake;
        fake_init(&fake, "ends");
        assert_int_equal(
            crest_reporting_attach_owned(registry, &fake.reporter, "ends", &schedule, NULL),
            CREST_OK);
        assert_int_equal(
            crest_reporting_stop_all(flush ? CREST_REPORTING_FLUSH : CREST_REPORTING_DISCARD,
                                     PATIENCE_MS, NULL),
            CREST_OK);
        assert_int_equal(fake_get(&fake, &fake.reports), flush);
        assert_int_equal(fake_get(&fake, &fake.frees), 1);
    }
    crest_registry_free(registry);
}

/* The child of a fork is another process, and does not report under its parent's name. */
static void test_name_of_a_child(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    crest_registry *registry = fixture_registry(NULL);
    fake_reporter fake;
    fake_init(&fake, "once");
    const crest_resource parent = {.service = "parent", .version = "1", .instance = "here"};
    assert_int_equal(crest_one_report_describe(&parent), CREST_OK);
    assert_int_equal(crest_report_once(registry, &fake.reporter, PATIENCE_MS, NULL), CREST_OK);
    assert_string_equal(fake.service, "parent");
    assert_string_equal(fake.instance, "here");
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        crest_status reported = crest_report_once(registry, &fake.reporter, PATIENCE_MS, NULL);
        _exit(reported != CREST_OK || fake.service[0] != '\0' ||
              strcmp(fake.instance, "here") == 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_of_its_begin),   cmocka_unit_test(test_not_by_a_failure),
        cmocka_unit_test(test_of_which_registry), cmocka_unit_test(test_discarded),
        cmocka_unit_test(test_name_of_a_child),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("delivered", tests, NULL, NULL);
}
