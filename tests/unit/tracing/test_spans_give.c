/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finished spans of another tracer: they reach exporters as they are, and are counted.
 */
#include "support/span_fixture.h"

static crest_span span_of(unsigned n)
{
    crest_span span = {.id = n,
                       .parent = n - 1,
                       .flags = CREST_TRACE_SAMPLED,
                       .kind = CREST_SPAN_CLIENT,
                       .outcome = CREST_OUTCOME_ERROR,
                       .name = "theirs",
                       .start_unix_ns = 1795000000000000000u + n,
                       .end_unix_ns = 1795000000000000000u + 3 * n,
                       .tracestate = "",
                       .op = crest_op_none(),
                       .status_message = "no"};
    memset(span.trace.bytes, 0xab, sizeof span.trace.bytes);
    return span;
}

static void test_as_they_are(void **state)
{
    (void)state;
    crest_span_attribute attribute = {
        .key = "peer", .type = CREST_SPAN_TEXT, .value.s = "x", .length = 1};
    crest_span spans[2] = {span_of(1), span_of(2)};
    spans[1].attributes = &attribute;
    spans[1].attribute_count = 1;
    spans_begin(&(crest_spans_settings){.spans = "spans.*", .sample = -1});
    crest_span_totals before = crest_spans_totals();
    assert_int_equal(crest_spans_give(spans, 2), CREST_OK);
    crest_span_totals after = crest_spans_totals();
    assert_int_equal(spans_count, 2);
    assert_int_equal(after.offered - before.offered, 2);
    assert_int_equal(after.kept - before.kept, 2);
    const span_seen *second = spans_find("theirs", 1);
    assert_non_null(second);
    assert_memory_equal(&second->span.trace, &spans[1].trace, sizeof spans[1].trace);
    assert_true(second->span.id == 2 && second->span.parent == 1);
    assert_int_equal(second->span.kind, CREST_SPAN_CLIENT);
    assert_int_equal(second->span.end_unix_ns - second->span.start_unix_ns, 4);
    assert_string_equal(second->keys[0], "peer");
    assert_string_equal(second->message, "no");
    spans_assert_whole();
    spans_end();
}

static void test_in_batches(void **state)
{
    (void)state;
    static crest_span spans[2 * CREST_SPAN_BATCH_MAX + 1];
    for (unsigned i = 0; i < 2 * CREST_SPAN_BATCH_MAX + 1; i++)
        spans[i] = span_of(i + 1);
    spans_begin(&(crest_spans_settings){.spans = "spans.*"});
    size_t batches = spans_batches;
    assert_int_equal(crest_spans_give(spans, 2 * CREST_SPAN_BATCH_MAX + 1), CREST_OK);
    assert_int_equal(spans_count, 2 * CREST_SPAN_BATCH_MAX + 1);
    assert_int_equal(spans_batches - batches, 3);
    spans_end();
}

static void test_not_wanted(void **state)
{
    (void)state;
    crest_span span = span_of(3);
    assert_int_equal(crest_spans_give(NULL, 0), CREST_NOT_RUNNING);
    assert_int_equal(crest_spans_give(&span, 1), CREST_NOT_RUNNING);
    assert_int_equal(crest_span_exporter_add(&spans_exporter), CREST_OK);
    assert_int_equal(crest_spans_give(NULL, 0), CREST_OK);
    spans_answer = CREST_IO;
    crest_span_totals before = crest_spans_totals();
    assert_int_equal(crest_spans_give(&span, 1), CREST_LIMIT);
    crest_span_totals after = crest_spans_totals();
    assert_int_equal(after.dropped_export - before.dropped_export, 1);
    assert_int_equal(after.kept, before.kept);
    assert_int_equal(after.offered - before.offered, 1);
    spans_answer = CREST_OK;
    assert_int_equal(crest_span_exporter_remove(&spans_exporter), CREST_OK);
}

/* None of a call is handed over when one of it is none. */
static void test_none(void **state)
{
    (void)state;
    assert_int_equal(crest_span_exporter_add(&spans_exporter), CREST_OK);
    spans_count = 0;
    crest_span spans[2];
    for (unsigned wrong = 0; wrong < 7; wrong++) {
        spans[0] = spans[1] = span_of(5);
        switch (wrong) {
        case 0: memset(&spans[1].trace, 0, sizeof spans[1].trace); break;
        case 1: spans[1].id = 0; break;
        case 2: spans[1].name = NULL; break;
        case 3: spans[1].name = ""; break;
        case 4: spans[1].kind = CREST_SPAN_KIND_COUNT; break;
        case 5: spans[1].outcome = CREST_OUTCOME_COUNT; break;
        default: spans[1].end_unix_ns = spans[1].start_unix_ns - 1; break;
        }
        crest_span_totals before = crest_spans_totals();
        assert_int_equal(crest_spans_give(spans, 2), CREST_INVALID_ARGUMENT);
        assert_int_equal(crest_spans_totals().offered, before.offered);
    }
    assert_int_equal(spans_count, 0);
    assert_int_equal(crest_span_exporter_remove(&spans_exporter), CREST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_wanted),
        cmocka_unit_test(test_as_they_are),
        cmocka_unit_test(test_in_batches),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
