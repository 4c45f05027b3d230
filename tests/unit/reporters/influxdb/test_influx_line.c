/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines for InfluxDB: their text byte for byte against tests/golden, one type for each field, and
 * what cannot be written. To rewrite the golden file after a wanted change, and then look at the
 * diff:
 *
 *     CREST_UPDATE_GOLDEN=1 build/release/tests/unit/reporters/influxdb/test_influx_line
 */
#define _GNU_SOURCE
#include "influxdb/influx_line.h"
#include "support/decimal_comma.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define TEXTS(...) ((const char *const[]){__VA_ARGS__})
#define GOLDEN "tests/golden/influxdb.txt"

static const crest_page_label resource_labels[] = {{"zone", "a b"}, {"peer", "not this"}};
static const crest_resource resource = {"rnode", "0.13", "host,1", resource_labels, 2};
static const crest_report report = {.resource = &resource};
static const crest_influx_form crest_form = {.percentiles = {50, 99.9}, .percentile_count = 2};
static const crest_influx_form kamon_form = {
    .fields = CREST_INFLUXDB_FIELDS_KAMON, .percentiles = {50, 99.9}, .percentile_count = 2};
static crest_influx_line line;

static const char *make(const crest_influx_form *form, const crest_series_view *series,
                        const crest_series_view *previous, const crest_report *of)
{
    const crest_influx_point point = {.series = series,
                                      .previous = previous,
                                      .report = of,
                                      .now = UINT64_C(1700000000123),
                                      .period = UINT64_C(1700000000000)};
    assert_int_equal(crest_influx_line_make(&line, form, &point), CREST_OK);
    assert_true(line.length < sizeof line.text);
    line.text[line.length] = '\0';
    return line.text;
}

static crest_distribution *distribution_of(unsigned count)
{
    crest_distribution *made = crest_distribution_new(NULL);
    for (unsigned i = 1; i <= count; i++)
        assert_int_equal(crest_distribution_record(made, (int64_t)i * 1000000, 1), CREST_OK);
    return made;
}

/* Every kind and unit, with and without a previous report, in both manners. */
static size_t write_all(char *text, size_t size)
{
    crest_distribution *now = distribution_of(100), *before = distribution_of(90),
                       *none = distribution_of(0);
    const crest_window window = {
        .covered_s = 60, .average = 2.25, .maximum = 5, .minimum = -3, .events = 7};
    const crest_series_view views[] = {
        {.name = "a.counter", .kind = CREST_KIND_COUNTER, .counter = 12},
        {.name = "a.exact", .kind = CREST_KIND_COUNTER, .counter = (UINT64_C(1) << 53) + 1},
        {.name = "a.most", .kind = CREST_KIND_COUNTER, .counter = UINT64_MAX},
        {.name = "a.bytes", .kind = CREST_KIND_COUNTER, .unit = CREST_BYTES, .counter = 12},
        {.name = "a.busy",
         .kind = CREST_KIND_COUNTER,
         .unit = CREST_NANOSECONDS,
         .counter = (UINT64_C(1) << 53) + 1},
        {.name = "a.slept", .kind = CREST_KIND_COUNTER, .unit = CREST_SECONDS, .counter = 12},
        {.name = "a.labels",
         .kind = CREST_KIND_COUNTER,
         .label_count = 4,
         .label_keys = TEXTS("peer", "time", "empty", "text"),
         .label_values = TEXTS("a,b=c d", "now", "", "caf\xc3\xa9 \xff\"\\x\t"),
         .counter = 1},
        {.name = "a.gauge", .kind = CREST_KIND_GAUGE, .gauge = -0.1},
        {.name = "a.tiny", .kind = CREST_KIND_GAUGE, .gauge = 5e-324},
        {.name = "a.huge", .kind = CREST_KIND_GAUGE, .gauge = 1.7976931348623157e308},
        {.name = "a.whole", .kind = CREST_KIND_GAUGE, .gauge = 3},
        {.name = "a.age", .kind = CREST_KIND_GAUGE, .unit = CREST_MILLISECONDS, .gauge = 250},
        {.name = "a.nan", .kind = CREST_KIND_GAUGE, .gauge = NAN},
        {.name = "a.inf", .kind = CREST_KIND_GAUGE, .gauge = -INFINITY},
        {.name = "a.queue",
         .kind = CREST_KIND_RANGE_SAMPLER,
         .current = INT64_MIN,
         .window = window},
        {.name = "a.size", .kind = CREST_KIND_HISTOGRAM, .unit = CREST_BYTES, .distribution = now},
        {.name = "a.time",
         .kind = CREST_KIND_TIMER,
         .unit = CREST_NANOSECONDS,
         .distribution = now},
        {.name = "a.none", .kind = CREST_KIND_TIMER, .distribution = none},
    };
    const crest_series_view previous = {.kind = CREST_KIND_COUNTER,
                                        .counter = 5,
                                        .distribution = before},
                            same = {.counter = 12, .distribution = now};
    const crest_influx_form *const forms[] = {&crest_form, &kamon_form};
    const crest_series_view *const befores[] = {NULL, &previous, &same};
    size_t used = 0;
    for (size_t f = 0; f < LENGTH(forms); f++)
        for (size_t b = 0; b < LENGTH(befores); b++) {
            used += (size_t)snprintf(text + used, size - used, "# %s, %s\n", f ? "kamon" : "crest",
                                     b == 0   ? "new"
                                     : b == 1 ? "grown"
                                              : "the same");
            for (size_t i = 0; i < LENGTH(views); i++)
                used += (size_t)snprintf(text + used, size - used, "%s",
                                         make(forms[f], &views[i], befores[b], &report));
        }
    crest_distribution_free(now);
    crest_distribution_free(before);
    crest_distribution_free(none);
    return used;
}

static void test_golden(void **state)
{
    (void)state;
    static char text[65536], expected[sizeof text];
    size_t length = write_all(text, sizeof text);
    if (getenv("CREST_UPDATE_GOLDEN") != NULL) {
        FILE *file = fopen(GOLDEN, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, length, file), length);
        assert_int_equal(fclose(file), 0);
        print_message("skipped: %s was rewritten, not compared\n", GOLDEN);
        skip();
    }
    FILE *file = fopen(GOLDEN, "r");
    if (file == NULL)
        fail_msg("%s cannot be read; run this from the top of the tree", GOLDEN);
    assert_true(fread(expected, 1, sizeof expected - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, expected);
    decimal_comma();
    write_all(text, sizeof text);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, expected);
}

/* A server refuses a field whose type changes, for ever. */
static void test_types_do_not_depend_on_values(void **state)
{
    (void)state;
    const double gauges[] = {0, -0.0, 1, 1.5, 1e300, 9007199254740993.0};
    for (size_t i = 0; i < LENGTH(gauges); i++) {
        const crest_series_view series = {
            .name = "g", .kind = CREST_KIND_GAUGE, .gauge = gauges[i]};
        const char *field = strstr(make(&crest_form, &series, NULL, &report), " value=");
        assert_non_null(field);
        assert_true(field[strcspn(field + 1, " ")] != 'i');
    }
    const uint64_t counts[] = {0, 1, 1000000000, UINT64_MAX};
    for (size_t i = 0; i < LENGTH(counts); i++) {
        const crest_series_view whole = {
            .name = "c", .kind = CREST_KIND_COUNTER, .counter = counts[i]};
        const crest_series_view time = {.name = "t",
                                        .kind = CREST_KIND_COUNTER,
                                        .unit = CREST_NANOSECONDS,
                                        .counter = counts[i]};
        assert_non_null(strstr(make(&crest_form, &whole, NULL, &report), "i 1700000000123\n"));
        assert_null(strstr(make(&crest_form, &time, NULL, &report), "i 1700000000123\n"));
        assert_non_null(strstr(make(&kamon_form, &time, NULL, &report), "i 1700000000000\n"));
    }
}

static void test_what_cannot_be_written(void **state)
{
    (void)state;
    static char long_value[CREST_INFLUXDB_LINE_BYTES_MAX];
    memset(long_value, ',', sizeof long_value - 1);
    const struct {
        const char *value;
        crest_influx_cause cause;
    } cases[] = {{"a\nother value=1", CREST_INFLUX_LINE_END},
                 {"\r", CREST_INFLUX_LINE_END},
                 {"C:\\", CREST_INFLUX_BACKSLASH},
                 {"\\\\", CREST_INFLUX_BACKSLASH},
                 {"x\\,y", CREST_INFLUX_BACKSLASH},
                 {"\\x\\ y", CREST_INFLUX_BACKSLASH},
                 {long_value, CREST_INFLUX_TOO_LONG}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const crest_series_view series = {.name = "c",
                                          .kind = CREST_KIND_COUNTER,
                                          .label_count = 1,
                                          .label_keys = TEXTS("k"),
                                          .label_values = TEXTS(cases[i].value)};
        assert_string_equal(make(&crest_form, &series, NULL, &report), "");
        assert_int_equal(line.dropped, 1u << cases[i].cause);
    }
    const crest_series_view nan = {.name = "g", .kind = CREST_KIND_GAUGE, .gauge = NAN};
    assert_string_equal(make(&crest_form, &nan, NULL, &report), "");
    assert_int_equal(line.dropped, 1u << CREST_INFLUX_NOT_A_NUMBER);
}

/* What the last report of a stop says of windows would stand for ever. */
static void test_last_report_has_no_windows(void **state)
{
    (void)state;
    const crest_window window = {.covered_s = 60, .average = 2.25, .maximum = 5, .minimum = -3};
    const crest_series_view series = {
        .name = "q", .kind = CREST_KIND_RANGE_SAMPLER, .current = 4, .window = window};
    crest_report last = report;
    assert_non_null(strstr(make(&kamon_form, &series, NULL, &report), ",max=5 "));
    last.final = 1;
    assert_string_equal(make(&kamon_form, &series, NULL, &last),
                        "q,instance=host\\,1,peer=not\\ this,service=rnode,zone=a\\ b value=4i "
                        "1700000000123\n");
}

/* Without a resource, and with a registry's windows. */
static void test_windows_of_a_registry(void **state)
{
    (void)state;
    crest_registry *registry = crest_registry_new(NULL);
    const crest_metric_options options = {.name = "q", .description = "Queue."};
    crest_counter_add(crest_counter_get(registry, &options, NULL), 7);
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    crest_series_view series;
    assert_int_equal(crest_snapshot_series(snapshot, 0, &series), CREST_OK);
    const crest_report bare = {.snapshot = snapshot};
    crest_influx_form form = crest_form;
    form.windows = 1;
    assert_string_equal(make(&form, &series, NULL, &bare), "q count=7i 1700000000123\n");
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_types_do_not_depend_on_values),
        cmocka_unit_test(test_what_cannot_be_written),
        cmocka_unit_test(test_last_report_has_no_windows),
        cmocka_unit_test(test_windows_of_a_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
