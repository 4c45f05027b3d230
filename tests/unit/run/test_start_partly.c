/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting when not all that is asked for can be started, and trying options without a start.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "support/fake_reporter.h"
#include "base/misuse.h"

#include <crest/crest.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

CREST_COUNTER(things, "test.partial-things", "Things that happened.");

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in: %s", part, text);
}

/* ---- two kinds of reporters ---- */

static fake_reporter one, two;

static crest_reporter *create_one(const char *value, const crest_options *options,
                                  const crest_resource *resource, crest_error *error)
{
    (void)options, (void)resource;
    if (strcmp(value, "missing") == 0)
        crest_error_set(error, CREST_IO, "the directory is missing");
    else if (strcmp(value, "bad") == 0)
        crest_error_set(error, CREST_INVALID_ARGUMENT, "a fake cannot be bad");
    else
        return &one.reporter;
    return NULL;
}

static crest_reporter *create_two(const char *value, const crest_options *options,
                                  const crest_resource *resource, crest_error *error)
{
    (void)value, (void)options, (void)resource, (void)error;
    return &two.reporter;
}

static const crest_reporter_kind kind_one = {.name = "one", .create = create_one};
static const crest_reporter_kind kind_two = {
    .name = "two", .create = create_two, .value_is_interval = 1};

static int begin(void **state)
{
    (void)state;
    unsetenv("CREST_OPTS");
    fake_init(&one, "one");
    fake_init(&two, "two");
    one.counter = two.counter = "test.partial-things";
    return 0;
}

/* ---- a part of what was asked for ---- */

static crest_status refuse_to_start(crest_reporter *self, crest_registry *registry,
                                    crest_error *error)
{
    (void)registry;
    return crest_error_set(error, CREST_SYSTEM, "the port of %s is taken", self->name);
}

static char told[CREST_ERROR_BYTES];
static unsigned told_count;

static void listen_to_log(crest_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    if (strstr(message, "could not be started") == NULL)
        return;
    snprintf(told, sizeof told, "%s", message);
    told_count++;
}

static uint64_t failures_of(const char *reporter, const char *cause)
{
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_series_view view;
    const char *values[] = {reporter, cause};
    uint64_t failures = 0;
    if (crest_snapshot_find(snapshot, "crest.report-failures", values, 2, &view) == CREST_OK)
        failures = view.counter;
    crest_snapshot_free(snapshot);
    return failures;
}

static void test_one_cannot_start(void **state)
{
    (void)state;
    crest_error error;
    told_count = 0;
    crest_log_to(listen_to_log, NULL);
    uint64_t failures = failures_of("one", "system");
    one.reporter.start = refuse_to_start;
    assert_int_equal(crest_start("one=x,two=100ms,jitter=0", &error), CREST_PARTIAL);
    assert_int_equal(error.status, CREST_PARTIAL);
    assert_string_equal(error.message, "1 of 2 reporters could not be started, the others run: "
                                       "starting one: the port of one is taken");
    assert_int_equal(told_count, 1);
    assert_contains(told, "starting one: the port of one is taken");
    assert_int_equal(failures_of("one", "system"), failures + 1);
    crest_counter_inc(&things);
    assert_true(fake_wait(&two, &two.reports, 2));
    assert_int_equal(crest_start(NULL, &error), CREST_OK); /* it runs */
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
    assert_int_equal(two.value, crest_counter_value(&things));
    assert_int_equal(two.finals, 1);
    assert_int_equal(one.frees, 1);
    assert_int_equal(two.frees, 1);
    assert_int_equal(one.reports + one.stops, 0);
    crest_log_to(NULL, NULL);
}

static void test_none_can_start(void **state)
{
    (void)state;
    crest_error error;
    one.reporter.start = two.reporter.start = refuse_to_start;
    assert_int_equal(crest_start("one=x", &error), CREST_SYSTEM);
    assert_string_equal(error.message, "starting one: the port of one is taken");
    assert_int_equal(crest_start("one=x,two@other=1s", &error), CREST_SYSTEM);
    assert_string_equal(error.message, "none of 2 reporters could be started: starting one: the "
                                       "port of one is taken; starting two@other: the port of two "
                                       "is taken");
    assert_int_equal(one.frees, 2);
    assert_int_equal(two.frees, 1);
    assert_int_equal(crest_stop(100, NULL), CREST_NOT_RUNNING);
    assert_int_equal(crest_reporter_list(NULL, 0), 0);
    /* the next port of call */
    two.reporter.start = NULL;
    assert_int_equal(crest_start("two=1s", &error), CREST_OK);
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
}

/* The option is good, and what it names is not there: told by a trial too. */
static void test_one_cannot_be_made(void **state)
{
    (void)state;
    static const char missing[] = "1 of 2 reporters could not be started, the others run: one in "
                                  "the string given to crest_start: the directory is missing";
    crest_error error;
    told_count = 0;
    crest_log_to(listen_to_log, NULL);
    uint64_t failures = failures_of("one", "io");
    assert_int_equal(crest_options_check("one=missing,two=1s", &error), CREST_PARTIAL);
    assert_string_equal(error.message, missing);
    assert_int_equal(crest_options_check("one=missing", &error), CREST_IO);
    assert_contains(error.message, "the directory is missing");
    assert_int_equal(told_count, 0);
    assert_int_equal(crest_start("one=missing,two=100ms,jitter=0", &error), CREST_PARTIAL);
    assert_string_equal(error.message, missing);
    assert_int_equal(told_count, 1);
    assert_int_equal(failures_of("one", "io"), failures + 1);
    crest_counter_inc(&things);
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
    assert_int_equal(two.value, crest_counter_value(&things));
    assert_int_equal(two.finals, 1);
    assert_int_equal(crest_start("one=missing", &error), CREST_IO);
    assert_int_equal(crest_start("one=missing,two=never", &error), CREST_INVALID_OPTIONS);
    assert_int_equal(crest_stop(100, NULL), CREST_NOT_RUNNING);
    crest_log_to(NULL, NULL);
}

/* ---- trying options ---- */

static void test_options_tried(void **state)
{
    (void)state;
    crest_error error;
    uint64_t counted = crest_misuse_value(CREST_MISUSE_OPTIONS);
    assert_int_equal(crest_options_check(NULL, NULL), CREST_OK);
    assert_int_equal(crest_options_check("one=good,service=tried", &error), CREST_OK);
    assert_string_equal(error.message, "");
    assert_int_equal(one.frees, 1);
    /* a start that is going on stays as it is, whatever is tried */
    assert_int_equal(crest_start("two=100ms,jitter=0,service=old", &error), CREST_OK);
    assert_int_equal(crest_options_check("one=bad", &error), CREST_INVALID_OPTIONS);
    assert_contains(error.message, "one in the string given to crest_start: a fake cannot be bad");
    assert_int_equal(crest_options_check("@/nonexistent/reload.conf", &error),
                     CREST_INVALID_OPTIONS);
    assert_contains(error.message, "cannot be read");
    setenv("CREST_OPTS", "interval=never", 1);
    assert_int_equal(crest_options_check("one=x", &error), CREST_INVALID_OPTIONS);
    assert_contains(error.message, "in CREST_OPTS is not a duration");
    unsetenv("CREST_OPTS");
    assert_int_equal(crest_misuse_value(CREST_MISUSE_OPTIONS), counted);
    unsigned reports = two.reports;
    assert_true(fake_wait(&two, &two.reports, reports + 2));
    assert_string_equal(two.service, "old");
    assert_int_equal(one.reports + one.stops, 0);
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
}

int main(void)
{
    if (crest_reporter_kind_add(&kind_one) != CREST_OK ||
        crest_reporter_kind_add(&kind_two) != CREST_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_one_cannot_start, begin),
        cmocka_unit_test_setup(test_none_can_start, begin),
        cmocka_unit_test_setup(test_one_cannot_be_made, begin),
        cmocka_unit_test_setup(test_options_tried, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
