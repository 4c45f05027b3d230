/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest_otlp_write over real registries: what is refused; differences, and lives of series that
 * they do not mix up; a call that goes on; histograms that are the same as on a page.
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "distributions/native_cells.h"
#include "snapshot/snapshot_inside.h"

#include <crest/crest.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static crest_registry *registry;

static int setup(void **state)
{
    *state = NULL;
    registry = crest_registry_new(NULL);
    return registry == NULL;
}

static int teardown(void **state)
{
    (void)state;
    crest_registry_free(registry);
    return 0;
}

/* ---- bodies as JSON ---- */

typedef struct text {
    size_t length;
    unsigned bodies;
    size_t end;
    char bytes[1 << 16];
} text;

static int text_take(void *context, const crest_otlp_body *body)
{
    text *into = context;
    assert_in_range(body->length, 1, sizeof into->bytes - 1 - into->length);
    memcpy(into->bytes + into->length, body->bytes, body->length);
    into->length += body->length;
    into->bytes[into->length] = '\0';
    into->bodies++;
    into->end = body->end;
    return 0;
}

static text found;

static void written(const crest_snapshot *snapshot, crest_otlp_options options)
{
    crest_error error;
    options.encoding = CREST_OTLP_JSON;
    found = (text){0};
    assert_int_equal(crest_otlp_write(snapshot, &options, text_take, &found, &error), CREST_OK);
}

static int has(const char *part)
{
    return strstr(found.bytes, part) != NULL;
}

/* ---- what is refused ---- */

static void assert_refused(const crest_otlp_options *options, const char *why)
{
    crest_error error;
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    assert_int_equal(crest_otlp_write(snapshot, options, text_take, &found, &error),
                     CREST_INVALID_ARGUMENT);
    if (strstr(error.message, why) == NULL)
        fail_msg("'%s' is not in: %s", why, error.message);
    crest_snapshot_free(snapshot);
}

static void test_refused(void **state)
{
    static const crest_page_label twice[] = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
    static const crest_page_label empty[] = {{"", "1"}}, missing[] = {{NULL, "1"}};
    crest_error error;
    (void)state;
    assert_int_equal(crest_otlp_write(NULL, NULL, text_take, &found, &error),
                     CREST_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "no snapshot"));
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    assert_int_equal(crest_otlp_write(snapshot, NULL, NULL, NULL, NULL), CREST_INVALID_ARGUMENT);
    crest_snapshot_free(snapshot);
    assert_refused(&(crest_otlp_options){.encoding = (crest_otlp_encoding)2}, "no encoding 2");
    assert_refused(&(crest_otlp_options){.temporality = (crest_otlp_temporality)2},
                   "temporality 2");
    assert_refused(&(crest_otlp_options){.histograms = (crest_otlp_histograms)9}, "histograms 9");
    assert_refused(&(crest_otlp_options){.body_bytes = 1023}, "1024 to 67108864");
    assert_refused(&(crest_otlp_options){.body_bytes = CREST_OTLP_BODY_BYTES_MAX + 1}, "67108865");
    assert_refused(&(crest_otlp_options){.factor = 1}, "grow by 1");
    assert_refused(&(crest_otlp_options){.buckets = 9}, "up to 9");
    assert_refused(&(crest_otlp_options){.buckets = 501}, "up to 501");
    assert_refused(&(crest_otlp_options){.attributes = twice, .attribute_count = 3},
                   "resource has attribute a twice");
    assert_refused(&(crest_otlp_options){.attributes = twice, .attribute_count = 65}, "65");
    assert_refused(&(crest_otlp_options){.attribute_count = 1}, "there are none");
    assert_refused(&(crest_otlp_options){.target = empty, .target_count = 1},
                   "attribute 1 of the target has no key");
    assert_refused(&(crest_otlp_options){.attributes = missing, .attribute_count = 1}, "no key");
    assert_string_equal(crest_otlp_content_type(CREST_OTLP_PROTOBUF), "application/x-protobuf");
    assert_string_equal(crest_otlp_content_type(CREST_OTLP_JSON), "application/json");
    assert_null(crest_otlp_content_type((crest_otlp_encoding)2));
}

static void test_nothing(void **state)
{
    (void)state;
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    written(snapshot, (crest_otlp_options){0});
    assert_int_equal(found.bodies, 0);
    crest_snapshot_free(snapshot);
}

/* ---- differences ---- */

static void test_delta(void **state)
{
    (void)state;
    crest_counter *seen =
        crest_counter_get(registry, &(crest_metric_options){.name = "a.seen"}, NULL);
    crest_counter *still =
        crest_counter_get(registry, &(crest_metric_options){.name = "b.still"}, NULL);
    crest_gauge *level =
        crest_gauge_get(registry, &(crest_metric_options){.name = "c.level"}, NULL);
    crest_histogram *sizes =
        crest_histogram_get(registry, &(crest_metric_options){.name = "d.sizes"}, NULL);
    crest_counter_add(seen, 12);
    crest_gauge_set(level, 5);
    crest_histogram_record(sizes, 3);
    crest_histogram_record(sizes, 1000);
    crest_snapshot *first = crest_snapshot_take(registry);
    crest_otlp_options options = {.temporality = CREST_OTLP_DELTA};
    written(first, options);
    assert_true(has("\"name\":\"a.seen\"") && has("\"asInt\":\"12\""));
    assert_true(has("\"name\":\"b.still\"") && has("\"asInt\":\"0\""));
    assert_true(has("\"count\":\"2\",\"sum\":1003"));
    assert_true(has("\"min\":3,\"max\":1000"));
    assert_true(has("\"aggregationTemporality\":1,\"isMonotonic\":true"));
    /* what has come since, and what has stayed is left out but for gauges */
    crest_counter_add(seen, 30);
    crest_histogram_record(sizes, 7);
    crest_snapshot *second = crest_snapshot_take(registry);
    options.previous = first;
    written(second, options);
    char start[64];
    snprintf(start, sizeof start, "\"startTimeUnixNano\":\"%llu\",\"asInt\":\"30\"",
             (unsigned long long)crest_snapshot_wall_ns(first));
    assert_true(has(start));
    assert_false(has("b.still"));
    assert_true(has("\"asDouble\":5"));
    assert_true(has("\"count\":\"1\",\"sum\":7,"));
    assert_true(has("\"bucketCounts\":[\"1\"]"));
    assert_true(has("\"min\":7,\"max\":7"));
    assert_int_equal(found.end, crest_snapshot_size(second));
    /* nothing at all: only the gauge */
    options.previous = second;
    crest_snapshot *third = crest_snapshot_take(registry);
    written(third, options);
    assert_false(has("\"sum\"") || has("Histogram"));
    assert_int_equal(found.end, crest_snapshot_size(third));
    /* explicit buckets */
    options.histograms = CREST_OTLP_EXPLICIT;
    options.previous = first;
    written(third, options);
    assert_true(has("\"histogram\"") && has("\"count\":\"1\",\"sum\":7,"));
    (void)still;
    crest_snapshot_free(first);
    crest_snapshot_free(second);
    crest_snapshot_free(third);
}

/* Another life of a series began at zero: all of it is new. */
static void test_lives(void **state)
{
    (void)state;
    const crest_metric_options options = {.name = "x"};
    crest_counter *peer =
        crest_counter_labelled(registry, &options, &(crest_label){"peer", "a"}, 1, NULL);
    crest_counter_add(peer, 100);
    crest_snapshot *first = crest_snapshot_take(registry);
    assert_int_equal(crest_retire(registry, "peer", "a"), 1);
    peer = crest_counter_labelled(registry, &options, &(crest_label){"peer", "a"}, 1, NULL);
    crest_counter_add(peer, 101);
    crest_counter_get(registry, &(crest_metric_options){.name = "y.new"}, NULL);
    crest_snapshot *second = crest_snapshot_take(registry);
    written(second, (crest_otlp_options){.temporality = CREST_OTLP_DELTA, .previous = first});
    assert_true(has("\"asInt\":\"101\""));
    assert_true(has("y.new") && has("\"asInt\":\"0\"")); /* new, so that it is said once */
    crest_snapshot_free(first);
    crest_snapshot_free(second);
}

static void test_delta_without_memory(void **state)
{
    (void)state;
    crest_histogram *sizes =
        crest_histogram_get(registry, &(crest_metric_options){.name = "d.sizes"}, NULL);
    crest_histogram_record(sizes, 3);
    /* so that there is a body */
    crest_gauge_get(registry, &(crest_metric_options){.name = "a.level"}, NULL);
    crest_snapshot *first = crest_snapshot_take(registry);
    crest_histogram_record(sizes, 4);
    crest_snapshot *second = crest_snapshot_take(registry);
    const crest_otlp_options options = {.temporality = CREST_OTLP_DELTA, .previous = first};
    crest_status status = CREST_NO_MEMORY;
    for (unsigned after = 1; status != CREST_OK; after++) {
        crest_error error;
        found = (text){0};
        crest_alloc_fail_after(after);
        status = crest_otlp_write(second, &options, text_take, &found, &error);
        crest_alloc_fail_after(0);
        assert_int_equal(found.bodies, status == CREST_OK);
        assert_in_range(after, 1, 12);
        if (status != CREST_OK)
            assert_int_equal(status, CREST_NO_MEMORY);
        else
            assert_in_range(after, 5, 12);
    }
    crest_snapshot_free(first);
    crest_snapshot_free(second);
}

/* ---- histograms ---- */

/* The buckets are the page's native ones, one index lower. */
static void test_native(void **state)
{
    (void)state;
    static crest_native native;
    crest_histogram *sizes =
        crest_histogram_get(registry, &(crest_metric_options){.name = "d.sizes"}, NULL);
    for (int64_t i = 0; i < 3000; i++)
        crest_histogram_record(sizes, i * i % 7001);
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    const crest_distribution *distribution = crest_snapshot_distribution(snapshot, 0);
    crest_native_of(&native, 3, 160, 0, &distribution->layout, distribution);
    written(snapshot, (crest_otlp_options){0});
    static char wanted[8192];
    char *at = wanted;
    at += sprintf(at,
                  "\"scale\":%d,\"zeroCount\":\"%llu\",\"positive\":{\"offset\":%d,"
                  "\"bucketCounts\":[",
                  native.schema, (unsigned long long)native.zero_count, native.bucket[0].index - 1);
    for (unsigned i = 0; i < native.used; i++) {
        for (int k = 1; i != 0 && k < native.bucket[i].index - native.bucket[i - 1].index; k++)
            at += sprintf(at, ",\"0\"");
        at += sprintf(at, "%s\"%llu\"", i == 0 ? "" : ",",
                      (unsigned long long)native.bucket[i].count);
    }
    assert_in_range(native.used, 30, 160);
    assert_true(has(wanted));
    assert_true(has("\"count\":\"3000\""));
    assert_true(has("\"min\":0,"));
    crest_snapshot_free(snapshot);
}

/* Of CREST_RANGE_NONE nothing but count, sum and extremes is known. */
static void test_no_range(void **state)
{
    (void)state;
    const crest_metric_options options = {.name = "d.sizes", .range = CREST_RANGE_NONE};
    crest_histogram *sizes = crest_histogram_get(registry, &options, NULL);
    crest_histogram_record(sizes, 3);
    crest_histogram_record(sizes, 5);
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    written(snapshot, (crest_otlp_options){0});
    assert_true(has("\"histogram\":{\"dataPoints\":["));
    assert_true(has("\"bucketCounts\":[\"2\"],\"explicitBounds\":[],\"count\":\"2\",\"sum\":8,"
                    "\"min\":3,\"max\":5"));
    crest_snapshot_free(snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_delta, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lives, setup, teardown),
        cmocka_unit_test_setup_teardown(test_delta_without_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_native, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_range, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
