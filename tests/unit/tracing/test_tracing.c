/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans from a record to an exporter: which timers, ids and parents, details, rules, budgets. Each
 * test flushes, so none waits for the tracing thread.
 */
#include "support/span_fixture.h"

CREST_TIMER(block_time, "spans.block", "A block.");
CREST_TIMER(fetch_time, "spans.fetch", "A fetch.");
CREST_TIMER(other_time, "elsewhere.block", "Not traced.");
CREST_SPAN_KEY(peer_key, "peer");
CREST_SPAN_KEY(size_key, "size");
CREST_SPAN_KEY(ratio_key, "ratio");
CREST_SPAN_KEY(good_key, "good");
CREST_SPAN_KEY(retry_name, "retry");

static crest_op op_of(unsigned n)
{
    return crest_op_u64x2(0x5eed, n);
}

static void test_plain_timer(void **state)
{
    (void)state;
    crest_op op = op_of(1);
    spans_begin(&(crest_spans_settings){.spans = "spans.*", .sample = 1});
    crest_span_totals before = crest_spans_totals();
    for (int i = 0; i < 3; i++)
        assert_int_equal(crest_timer_record_op(&fetch_time, 1000 + i, CREST_OUTCOME_OK, &op), 0);
    crest_timing timing = crest_timer_start(&block_time, op);
    crest_timer_record_op(&other_time, 7, CREST_OUTCOME_OK, &op);
    assert_int_equal(crest_timing_end(&timing, op, CREST_OUTCOME_ERROR), CREST_OK);
    assert_int_equal(crest_spans_flush(1), CREST_OK);
    crest_span_totals after = crest_spans_totals();
    assert_int_equal(after.offered - before.offered, 4);
    assert_int_equal(spans_count, 4);
    const span_seen *fetch = spans_find("spans.fetch", 0);
    const span_seen *block = spans_find("spans.block", 0);
    assert_non_null(fetch);
    assert_non_null(block);
    crest_trace_id trace = crest_trace_id_of(op);
    assert_memory_equal(&block->span.trace, &trace, sizeof trace);
    assert_int_equal(block->span.outcome, CREST_OUTCOME_ERROR);
    assert_int_equal(fetch->span.end_unix_ns - fetch->span.start_unix_ns, 1000);
    spans_assert_whole();
    spans_end();
}

/* The root is what began first; the others of its operation are its children, whatever came first.
 */
static void test_family(void **state)
{
    (void)state;
    crest_op op = op_of(2);
    spans_begin(&(crest_spans_settings){.spans = "spans.*", .sample = 1});
    crest_timing block = crest_timer_start(&block_time, op);
    crest_span_timing fetch, inner;
    crest_timer_start_under(&fetch_time, op, NULL, &fetch);
    crest_span_context context = crest_span_timing_context(&fetch);
    crest_timer_start_under(&fetch_time, op, &context, &inner);
    assert_int_equal(crest_span_end(&inner, op, CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(crest_span_end(&inner, op, CREST_OUTCOME_OK), CREST_NOT_RUNNING);
    assert_int_equal(crest_span_end(&fetch, op, CREST_OUTCOME_OK), CREST_OK);
    assert_int_equal(crest_timing_end(&block, op, CREST_OUTCOME_OK), CREST_OK);
    crest_spans_flush(1);
    assert_int_equal(spans_count, 3);
    const span_seen *root = spans_find("spans.block", 0);
    const span_seen *inside = spans_find("spans.fetch", 0), *outside = spans_find("spans.fetch", 1);
    assert_true(root->span.parent == 0 && root->span.id != 0);
    assert_true(outside->span.parent == root->span.id && outside->span.id == context.span);
    assert_true(inside->span.parent == context.span && inside->span.id != context.span);
    assert_true(inside->span.start_unix_ns >= outside->span.start_unix_ns);
    assert_true(inside->span.end_unix_ns <= outside->span.end_unix_ns);
    spans_assert_whole();
    spans_end();
}

static void test_details(void **state)
{
    (void)state;
    static char megabyte[1 << 20];
    crest_op op = op_of(3);
    crest_span_timing timing;
    spans_begin(&(crest_spans_settings){.spans = "spans.fetch", .sample = 1});
    crest_timer_start_under(&fetch_time, op, NULL, &timing);
    assert_int_equal(crest_span_set_i64(&timing, &size_key, INT64_MIN), CREST_OK);
    assert_int_equal(crest_span_set_i64(&timing, &size_key, -7), CREST_OK);
    assert_int_equal(crest_span_set_double(&timing, &ratio_key, 0.1), CREST_OK);
    assert_int_equal(crest_span_set_bool(&timing, &good_key, 2), CREST_OK);
    assert_int_equal(crest_span_set_text(&timing, &peer_key, "<b>\xff\"", 5), CREST_OK);
    memset(megabyte, 'x', sizeof megabyte);
    memcpy(&megabyte[126], "\xe2\x82\xac", 3); /* a character over the cut */
    assert_int_equal(crest_span_set_text(&timing, &peer_key, megabyte, sizeof megabyte), CREST_OK);
    assert_int_equal(crest_span_add_event(&timing, &retry_name), CREST_OK);
    crest_span_context link = crest_span_context_of(op_of(99), 5);
    assert_int_equal(crest_span_add_link(&timing, &link), CREST_OK);
    assert_int_equal(crest_span_set_kind(&timing, CREST_SPAN_CLIENT), CREST_OK);
    assert_int_equal(crest_span_set_kind(&timing, CREST_SPAN_KIND_COUNT), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_span_set_message(&timing, "no answer", 9), CREST_OK);
    assert_int_equal(crest_span_set_i64(&timing, &size_key, 1), CREST_OK);
    assert_int_equal(crest_span_set_i64(&timing, &size_key, 2), CREST_OK);
    assert_int_equal(crest_span_set_i64(&timing, &size_key, 3), CREST_LIMIT);
    assert_int_equal(crest_span_end(&timing, op, CREST_OUTCOME_TIMEOUT), CREST_OK);
    crest_spans_flush(1);
    const span_seen *seen = spans_find("spans.fetch", 0);
    assert_int_equal(seen->span.attribute_count, 8);
    assert_int_equal(seen->span.dropped_attributes, 1);
    assert_string_equal(seen->keys[0], "size");
    assert_true(seen->attributes[0].value.i == INT64_MIN && seen->attributes[1].value.i == -7);
    assert_true(seen->attributes[2].value.d == 0.1 && seen->attributes[3].value.b == 1);
    assert_string_equal(seen->texts[4], "<b>\xef\xbf\xbd\"");
    assert_int_equal(seen->attributes[5].length, 126);
    assert_true(seen->attributes[6].value.i == 1 && seen->attributes[7].value.i == 2);
    assert_string_equal(seen->event, "retry");
    assert_true(seen->event_ns >= seen->span.start_unix_ns &&
                seen->event_ns <= seen->span.end_unix_ns);
    assert_memory_equal(&seen->link.trace, &link.trace, sizeof link.trace);
    assert_true(seen->link.span == 5);
    assert_string_equal(seen->message, "no answer");
    assert_int_equal(seen->span.kind, CREST_SPAN_CLIENT);
    assert_int_equal(seen->span.outcome, CREST_OUTCOME_TIMEOUT);
    spans_end();
}

/* Without an option nothing is asked of a timing, and its timer counts as ever. */
static void test_not_traced(void **state)
{
    (void)state;
    crest_op op = op_of(4);
    crest_span_timing timing;
    crest_span_totals before = crest_spans_totals();
    crest_timer_start_under(&other_time, op, NULL, &timing);
    assert_int_equal(crest_span_set_i64(&timing, &size_key, 1), CREST_OK);
    crest_span_context none = crest_span_timing_context(&timing);
    assert_false(crest_span_context_valid(&none));
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    assert_int_equal(crest_span_end(&timing, op_of(5), CREST_OUTCOME_OK), CREST_MISMATCH);
    assert_int_equal(crest_span_end(&timing, op, CREST_OUTCOME_OK), CREST_OK);
    crest_testing_reading reading;
    assert_int_equal(crest_testing_read(NULL, mark, &reading, NULL, "elsewhere.block", "outcome",
                                        "ok", (char *)NULL),
                     CREST_OK);
    assert_int_equal(reading.count, 1);
    crest_testing_mark_free(mark);
    assert_int_equal(crest_spans_totals().offered, before.offered);
}

/* A scope's span is the parent of what begins inside of it on this thread. */
static void test_scope(void **state)
{
    (void)state;
    crest_op op = op_of(6);
    spans_begin(&(crest_spans_settings){.spans = "spans.*", .sample = 1});
    {
        crest_outcome outcome = CREST_OUTCOME_ERROR;
        CREST_SPAN_SCOPE(outer, &block_time, op, &outcome);
        assert_true(crest_span_current().span == outer.id);
        {
            CREST_SPAN_SCOPE(inner, &fetch_time, op_of(7), NULL);
            assert_true(crest_span_current().span == inner.id);
        }
        assert_true(crest_span_current().span == outer.id);
    }
    assert_true(crest_span_current().span == 0);
    crest_spans_flush(1);
    assert_int_equal(spans_count, 2);
    const span_seen *outer = spans_find("spans.block", 0), *inner = spans_find("spans.fetch", 0);
    assert_true(inner->span.parent == outer->span.id && outer->span.parent == 0);
    assert_memory_equal(&inner->span.trace, &outer->span.trace, sizeof outer->span.trace);
    assert_int_equal(outer->span.outcome, CREST_OUTCOME_ERROR);
    assert_true(crest_op_equal(&inner->span.op, &(crest_op){{0x5eed, 7, 0, 0}, 16, 2}));
    spans_end();
}

/* A scope that is ended as another timing is over too: it is no parent of what comes later. */
static void test_scope_ended(void **state)
{
    crest_span_timing outer, inner;
    (void)state;
    spans_begin(&(crest_spans_settings){.spans = "spans.*", .sample = 1});
    crest_span_enter(&block_time, op_of(8), &outer);
    crest_span_enter(&fetch_time, op_of(8), &inner);
    assert_int_equal(crest_span_end(&inner, op_of(9), CREST_OUTCOME_OK), CREST_MISMATCH);
    assert_true(crest_span_current().span == inner.id);
    assert_int_equal(crest_span_end(&inner, op_of(8), CREST_OUTCOME_OK), CREST_OK);
    assert_true(crest_span_current().span == outer.id);
    assert_int_equal(crest_span_end(&outer, op_of(8), CREST_OUTCOME_OK), CREST_OK);
    assert_true(crest_span_current().span == 0);
    assert_int_equal(crest_span_leave(&outer, CREST_OUTCOME_OK), CREST_NOT_RUNNING);
    spans_end();
}

/* Each record of a traced timer is a span, also after a longer one that had no room of its own yet
 * in the thread's shard. */
static void test_shorter_after_longer(void **state)
{
    (void)state;
    spans_begin(&(crest_spans_settings){.spans = "spans.*", .sample = 1});
    crest_span_totals before = crest_spans_totals();
    unsigned made = 0;
    for (int64_t longer = 100; longer < 1000000000; longer *= 3)
        for (int64_t part = 1; part < 6; part++, made++) {
            crest_op op = op_of(1000 + made);
            crest_timer_record_op(&block_time, longer / part, CREST_OUTCOME_OK, &op);
        }
    assert_int_equal(crest_spans_flush(1), CREST_OK);
    assert_int_equal(crest_spans_totals().offered - before.offered, made);
    spans_assert_whole();
    spans_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_timer),
        cmocka_unit_test(test_family),
        cmocka_unit_test(test_details),
        cmocka_unit_test(test_not_traced),
        cmocka_unit_test(test_scope),
        cmocka_unit_test(test_scope_ended),
        cmocka_unit_test(test_shorter_after_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
