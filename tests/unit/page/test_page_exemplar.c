/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exemplars whose span was kept: its trace and its span are named in every format of a page and of
 * OTLP's metrics; an operation of a timer that is not traced has its own id alone.
 */
#define _GNU_SOURCE
#include "page/page_exemplar.h"
#include "spans/kept_spans.h"

#include <crest/crest.h>
#include <crest/otlp.h>
#include <crest/testing.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEXT_BYTES 65536
#define NAME "work-time"

typedef struct text {
    size_t length;
    char bytes[TEXT_BYTES];
} text;

static crest_registry *registry;
static crest_timer *timer;
static text found;

static int set_up(void **state)
{
    const crest_metric_options options = {.name = NAME};
    crest_status status;
    (void)state;
    registry = crest_registry_new(NULL);
    timer = crest_timer_get(registry, &options, &status);
    return status != CREST_OK || crest_testing_tick(registry) != CREST_OK;
}

static int tear_down(void **state)
{
    (void)state;
    crest_registry_free(registry);
    crest_kept_spans_forget();
    crest_testing_clock_real();
    return 0;
}

static int take(void *context, const void *bytes, size_t length)
{
    text *into = context;
    assert_true(length < TEXT_BYTES - into->length);
    memcpy(into->bytes + into->length, bytes, length);
    into->length += length;
    return 0;
}

static int take_body(void *context, const crest_otlp_body *body)
{
    return take(context, body->bytes, body->length);
}

static int has(const char *bytes, size_t length)
{
    return memmem(found.bytes, found.length, bytes, length) != NULL;
}

static int says(const char *words)
{
    return has(words, strlen(words));
}

static void page(crest_format format)
{
    crest_error error;
    found.length = 0;
    assert_int_equal(crest_page_write(registry, format, take, &found, &error), CREST_OK);
}

static void otlp(crest_otlp_encoding encoding, crest_otlp_histograms histograms)
{
    crest_error error;
    crest_otlp_options options = {.encoding = encoding, .histograms = histograms};
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    found.length = 0;
    assert_int_equal(crest_otlp_write(snapshot, &options, take_body, &found, &error), CREST_OK);
    crest_snapshot_free(snapshot);
}

/* The slowest operation of the window. */
static void record(crest_op op)
{
    crest_timing timing = crest_timer_start(timer, op);
    crest_testing_clock_advance(8300000);
    assert_int_equal(crest_timing_stop(&timing, op), CREST_OK);
    crest_testing_clock_advance(1000000000);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
}

static void keep(crest_op op, crest_span_id id, uint64_t lasted_ns)
{
    crest_span span = {.trace = {{0xab, 0xcd, [15] = 0x0f}},
                       .id = id,
                       .name = NAME,
                       .op = op,
                       .start_unix_ns = 1000,
                       .end_unix_ns = 1000 + lasted_ns};
    crest_kept_spans_note(&span);
}

#define TRACE "abcd000000000000000000000000000f"

static void every_format_names_trace_and_span(void **state)
{
    static const char trace[] = {(char)0xab, (char)0xcd, 0, 0, 0, 0, 0, 0,
                                 0,          0,          0, 0, 0, 0, 0, 0x0f};
    (void)state;
    record(crest_op_u64(2));
    keep(crest_op_u64(2), 0x1122334455667788, 8300000);
    page(CREST_FORMAT_OPENMETRICS);
    assert_true(says("# {operation=\"2\",trace_id=\"" TRACE "\",span_id=\"1122334455667788\"} "
                     "0.0083"));
    page(CREST_FORMAT_PROMETHEUS_PROTOBUF);
    assert_true(says("operation"));
    assert_true(has("trace_id\x12 " TRACE, 42));
    assert_true(has("span_id\x12\x10"
                    "1122334455667788",
                    25));
    for (int histograms = CREST_OTLP_EXPONENTIAL; histograms <= CREST_OTLP_EXPLICIT; histograms++) {
        otlp(CREST_OTLP_JSON, (crest_otlp_histograms)histograms);
        assert_true(says(",\"spanId\":\"1122334455667788\",\"traceId\":\"" TRACE "\""));
        assert_true(says("\"operation\""));
        otlp(CREST_OTLP_PROTOBUF, (crest_otlp_histograms)histograms);
        assert_true(has(trace, sizeof trace));
        assert_true(has("\"\x08\x11\x22\x33\x44\x55\x66\x77\x88*\x10", 12));
    }
}

/* 128 characters are all that OpenMetrics allows. */
static void a_hash_gives_way_to_its_trace(void **state)
{
    unsigned char hash[32] = {0xab, 0xcd};
    crest_op op = crest_op_bytes(hash, sizeof hash);
    (void)state;
    record(op);
    page(CREST_FORMAT_OPENMETRICS);
    assert_true(says("# {operation=\"0xabcd"));
    keep(op, 7, 1);
    page(CREST_FORMAT_OPENMETRICS);
    assert_true(says("# {trace_id=\"" TRACE "\",span_id=\"0000000000000007\"} "));
    page(CREST_FORMAT_PROMETHEUS_PROTOBUF);
    assert_false(says("operation"));
    otlp(CREST_OTLP_JSON, CREST_OTLP_EXPONENTIAL); /* which has no such limit */
    assert_true(says("0xabcd"));
}

static void another_operation_or_metric_names_none(void **state)
{
    crest_trace_id trace;
    crest_span_id id;
    crest_op op = crest_op_u64(2), words = crest_op_text("2");
    (void)state;
    record(op);
    assert_false(crest_kept_spans_find(&op, NAME, &trace, &id));
    keep(words, 7, 1);
    keep(crest_op_none(), 8, 1);
    assert_false(crest_kept_spans_find(&op, NAME, &trace, &id));
    page(CREST_FORMAT_OPENMETRICS);
    assert_true(says("# {operation=\"2\"} 0.0083"));
    assert_false(crest_kept_spans_find(&words, "other", &trace, &id));
    assert_true(crest_kept_spans_find(&words, NAME, &trace, &id));
    assert_true(id == 7);
}

static void the_longest_of_an_operation_stays(void **state)
{
    crest_trace_id trace;
    crest_span_id id;
    crest_op op = crest_op_u64(3);
    (void)state;
    keep(op, 1, 50);
    keep(op, 2, 70);
    keep(op, 3, 60);
    assert_true(crest_kept_spans_find(&op, NAME, &trace, &id));
    assert_true(id == 2);
    /* any number of others: one that is found is the one that was kept */
    for (uint64_t i = 0; i < 20 * CREST_KEPT_SPANS; i++)
        keep(crest_op_u64(i), 1000 + i, 1);
    unsigned known = 0;
    for (uint64_t i = 0; i < 20 * CREST_KEPT_SPANS; i++) {
        op = crest_op_u64(i);
        if (!crest_kept_spans_find(&op, NAME, &trace, &id))
            continue;
        assert_true(id == 1000 + i || i == 3);
        known++;
    }
    assert_in_range(known, CREST_KEPT_SPANS / 2, CREST_KEPT_SPANS);
}

#define EXEMPLAR_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EXEMPLAR_TEST(every_format_names_trace_and_span),
        EXEMPLAR_TEST(a_hash_gives_way_to_its_trace),
        EXEMPLAR_TEST(another_operation_or_metric_names_none),
        EXEMPLAR_TEST(the_longest_of_an_operation_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
