/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reporter that keeps what it was given, and fails as often as it is told.
 */
#include "base/alloc.h"
#include "support/core_fixture.h"

#include <crest/testing.h>
#include <locale.h>

#define PATIENCE_MS 20000u

static void test_pages(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "comm.events");
    crest_reporter *reporter = crest_testing_reporter_new(NULL);
    assert_string_equal(reporter->name, "testing");
    crest_testing_report report;
    assert_int_equal(crest_testing_reporter_get(reporter, 0, &report), CREST_NOT_FOUND);
    assert_null(report.page);
    crest_schedule hourly = {.interval_ms = 3600000, .jitter = -1};
    assert_int_equal(crest_reporter_attach(registry, reporter, &hourly, NULL), CREST_OK);
    crest_counter_add(counter, 3);
    assert_int_equal(crest_report_now(reporter, 0, NULL), CREST_OK);
    crest_counter_add(counter, 4);
    assert_int_equal(crest_reporter_detach(reporter, 0, NULL), CREST_OK);
    assert_int_equal(crest_testing_reporter_count(reporter), 2);
    assert_int_equal(crest_testing_reporter_stops(reporter), 1);
    assert_int_equal(crest_testing_reporter_wait(reporter, 2, 0), CREST_OK);
    assert_int_equal(crest_testing_reporter_wait(reporter, 3, 1), CREST_TIMED_OUT);

    double value;
    assert_int_equal(crest_testing_reporter_get(reporter, 0, &report), CREST_OK);
    assert_int_equal(report.final, 0);
    assert_int_equal(report.answer, CREST_OK);
    assert_string_equal(report.service, "");
    assert_true(strlen(report.instance) > 0);
    assert_true(report.left_ns > 0 && report.left_ns <= UINT64_C(10000000000));
    assert_int_equal(crest_testing_page_value(report.page, "comm_events_total", &value), CREST_OK);
    assert_true(value == 3);
    assert_int_equal(crest_testing_reporter_get(reporter, 1, &report), CREST_OK);
    assert_int_equal(report.final, 1);
    assert_int_equal(crest_testing_page_value(report.page, "comm_events_total", &value), CREST_OK);
    assert_true(value == 7);
    assert_int_equal(crest_testing_reporter_get(reporter, 2, &report), CREST_NOT_FOUND);
    crest_reporter_free(reporter);
    crest_registry_free(registry);
}

static void test_failing(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_reporter *reporter = crest_testing_reporter_new(NULL);
    crest_error error;
    crest_testing_report report;
    crest_testing_reporter_fail(reporter, 2, CREST_UNREACHABLE, "no route");
    assert_int_equal(crest_report_once(registry, reporter, 0, &error), CREST_UNREACHABLE);
    assert_string_equal(error.message, "testing: no route");
    assert_int_equal(crest_report_once(registry, reporter, 0, &error), CREST_UNREACHABLE);
    assert_int_equal(crest_report_once(registry, reporter, 0, &error), CREST_OK);
    assert_int_equal(crest_testing_reporter_get(reporter, 1, &report), CREST_OK);
    assert_int_equal(report.answer, CREST_UNREACHABLE);
    assert_int_equal(crest_testing_reporter_get(reporter, 2, &report), CREST_OK);
    assert_int_equal(report.answer, CREST_OK);
    crest_testing_reporter_fail(reporter, 1, CREST_IO, NULL);
    crest_testing_reporter_fail(reporter, 0, CREST_OK, NULL);
    assert_int_equal(crest_report_once(registry, reporter, 0, &error), CREST_OK);
    crest_testing_reporter_fail(reporter, 1, CREST_IO, NULL);
    assert_int_equal(crest_report_once(registry, reporter, 0, &error), CREST_IO);
    assert_string_equal(error.message, "testing: reading or writing failed");
    crest_reporter_free(reporter);
    crest_registry_free(registry);
}

typedef struct looked_at {
    uint64_t value;
    unsigned calls, stops;
} looked_at;

static crest_status reporter_inspect(const crest_report *report, void *context, crest_error *error)
{
    looked_at *seen = context;
    crest_series_view view;
    if (seen->calls++ > 0)
        return crest_error_set(error, CREST_REFUSED, "once is enough");
    assert_int_equal(crest_snapshot_find(report->snapshot, "c", NULL, 0, &view), CREST_OK);
    seen->value = view.counter;
    return CREST_OK;
}

static crest_status reporter_stop(void *context, crest_error *error)
{
    ((looked_at *)context)->stops++;
    return crest_error_set(error, CREST_IO, "its stop failed");
}

static void test_functions(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter_add(fixture_counter(registry, "c"), 12);
    looked_at seen = {0, 0, 0};
    crest_testing_reporter_options options = {
        .name = "looking", .inspect = reporter_inspect, .stop = reporter_stop, .context = &seen};
    crest_reporter *reporter = crest_testing_reporter_new(&options);
    crest_error error;
    crest_testing_report report;
    assert_int_equal(crest_report_once(registry, reporter, 0, &error), CREST_IO);
    assert_string_equal(error.message, "stopping looking: its stop failed");
    assert_int_equal(seen.value, 12);
    assert_int_equal(crest_report_once(registry, reporter, 0, &error), CREST_REFUSED);
    assert_string_equal(error.message, "looking: once is enough");
    assert_int_equal(crest_testing_reporter_get(reporter, 1, &report), CREST_OK);
    assert_int_equal(report.answer, CREST_REFUSED);
    assert_int_equal(seen.stops, 2);
    crest_reporter_free(reporter);
    crest_registry_free(registry);
}

/* The latest CREST_TESTING_REPORTS_MAX are kept. */
static void test_many(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    crest_reporter *reporter = crest_testing_reporter_new(NULL);
    crest_testing_report report;
    double value;
    for (unsigned i = 0; i <= CREST_TESTING_REPORTS_MAX; i++) {
        assert_int_equal(crest_report_once(registry, reporter, 0, NULL), CREST_OK);
        crest_counter_inc(counter);
    }
    assert_int_equal(crest_testing_reporter_get(reporter, 0, &report), CREST_NOT_FOUND);
    assert_int_equal(crest_testing_reporter_get(reporter, 1, &report), CREST_OK);
    assert_int_equal(crest_testing_page_value(report.page, "c_total", &value), CREST_OK);
    assert_true(value == 1);
    assert_int_equal(crest_testing_reporter_get(reporter, CREST_TESTING_REPORTS_MAX, &report),
                     CREST_OK);
    assert_int_equal(crest_testing_page_value(report.page, "c_total", &value), CREST_OK);
    assert_true(value == CREST_TESTING_REPORTS_MAX);
    crest_reporter_free(reporter);
    crest_registry_free(registry);
}

static void test_page_value(void **state)
{
    (void)state;
    const char page[] = "# HELP a_total Things.\n# TYPE a_total counter\na_total 1\n"
                        "a_total{k=\"v\"} 2.5\nab 3\nb{le=\"+Inf\"} 1e21\nc NaN\nlast -4";
    const struct {
        const char *series;
        crest_status status;
        double value;
    } cases[] = {
        {"a_total", CREST_OK, 1},
        {"a_total{k=\"v\"}", CREST_OK, 2.5},
        {"ab", CREST_OK, 3},
        {"b{le=\"+Inf\"}", CREST_OK, 1e21},
        {"last", CREST_OK, -4},
        {"a", CREST_NOT_FOUND, 0},
        {"a_total{}", CREST_NOT_FOUND, 0},
        {"", CREST_NOT_FOUND, 0},
        {"a_total 1", CREST_NOT_FOUND, 0},
        {NULL, CREST_NOT_FOUND, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        double value = 99;
        assert_int_equal(crest_testing_page_value(page, cases[i].series, &value), cases[i].status);
        assert_true(value == cases[i].value);
    }
    double value;
    assert_int_equal(crest_testing_page_value(NULL, "a", &value), CREST_NOT_FOUND);
    assert_int_equal(crest_testing_page_value(page, "c", &value), CREST_OK);
    assert_true(isnan(value));
}

/* Whichever allocation fails: it is a status, and nothing leaks. */
static void test_no_memory(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    fixture_counter(registry, "c");
    int made = 0, reported = 0;
    for (unsigned long i = 1; !reported && i < 100; i++) {
        crest_alloc_fail_after(i);
        crest_reporter *reporter = crest_testing_reporter_new(NULL);
        crest_status status = CREST_NO_MEMORY;
        if (reporter != NULL)
            status = crest_report_once(registry, reporter, 0, NULL);
        crest_alloc_fail_after(0);
        made += reporter != NULL;
        if (reporter != NULL)
            crest_reporter_free(reporter);
        reported = status == CREST_OK;
        if (!reported)
            assert_int_equal(status, CREST_NO_MEMORY);
    }
    assert_true(reported);
    assert_true(made > 1);
    crest_registry_free(registry);
}

/* Whether the report before had the first counter of this one, and how much it grew. */
static crest_status look_back(const crest_report *report, void *context, crest_error *error)
{
    int64_t *grown = context;
    crest_series_view now, then;
    (void)error;
    crest_snapshot_series(report->snapshot, 0, &now);
    int known = crest_report_previous(report, 0, &then) == CREST_OK;
    *grown = known ? (int64_t)(now.counter - then.counter) : -1;
    return CREST_OK;
}

/* With `deltas` it sees what was there before, and without it does not. */
static void test_deltas(void **state)
{
    (void)state;
    crest_registry *registry = crest_registry_new(NULL);
    crest_counter *counter =
        crest_counter_get(registry, &(crest_metric_options){.name = "deltas.things"}, NULL);
    crest_schedule seldom = {.interval_ms = 3600000, .jitter = -1};
    for (int deltas = 0; deltas < 2; deltas++) {
        int64_t grown = 0;
        crest_testing_reporter_options options = {
            .inspect = look_back, .context = &grown, .deltas = deltas};
        crest_reporter *reporter = crest_testing_reporter_new(&options);
        assert_int_equal(crest_reporter_attach(registry, reporter, &seldom, NULL), CREST_OK);
        assert_int_equal(crest_report_now(reporter, 0, NULL), CREST_OK);
        assert_int_equal(grown, -1);
        crest_counter_add(counter, 5);
        crest_testing_reporter_fail(reporter, 1, CREST_REFUSED, "not now");
        assert_int_equal(crest_report_now(reporter, 0, NULL), CREST_REFUSED);
        crest_counter_add(counter, 2);
        assert_int_equal(crest_report_now(reporter, 0, NULL), CREST_OK);
        assert_int_equal(grown, deltas ? 7 : -1);
        assert_int_equal(crest_reporter_detach(reporter, 0, NULL), CREST_OK);
        crest_reporter_free(reporter);
    }
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),      cmocka_unit_test(test_failing),
        cmocka_unit_test(test_functions),  cmocka_unit_test(test_many),
        cmocka_unit_test(test_page_value), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_deltas),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("testing_reporter", tests, NULL, NULL);
}
