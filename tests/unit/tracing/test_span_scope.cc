/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CREST_SPAN_SCOPE in C++: scopes within scopes are parents and children, a block that an exception
 * leaves is an error, and the thread's current span is put back however a block is left.
 */
#include <crest/crest.h>
#include <crest/span.h>

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

extern "C" {
#include <cmocka.h>
}

CREST_TIMER(outer_time, "ccspan.outer-time", "Outside.");
CREST_TIMER(inner_time, "ccspan.inner-time", "Inside.");
CREST_SPAN_KEY(depth_key, "depth");

struct seen_span {
    crest_span_id id, parent;
    crest_outcome outcome;
    size_t attributes;
};

static seen_span outer_seen, inner_seen;

static crest_status take_both(crest_span_exporter *, const crest_span_batch *batch, crest_error *)
{
    for (size_t i = 0; i < batch->count; i++) {
        const crest_span *span = &batch->spans[i];
        bool inner = std::strcmp(span->name, "ccspan.inner-time") == 0;
        (inner ? inner_seen : outer_seen) = {span->id, span->parent, span->outcome,
                                             span->attribute_count};
    }
    return CREST_OK;
}

static void throwing(crest_outcome *outcome)
{
    CREST_SPAN_SCOPE(span, &inner_time, crest_op_u64(7), outcome);
    crest_span_set_i64(&span, &depth_key, 2);
    throw std::runtime_error("thrown");
}

/* One scope in another, which an exception leaves; *here: what is current in the outer one. */
static void nested(crest_outcome *outcome, crest_span_context *here)
{
    CREST_SPAN_SCOPE(span, &outer_time, crest_op_u64(7), nullptr);
    *here = crest_span_current();
    try {
        throwing(outcome);
    } catch (const std::runtime_error &) {
    }
    crest_span_context after = crest_span_current();
    assert_true(after.span == here->span);
}

static void traced(void (*run)(crest_span_context *))
{
    crest_span_exporter exporter = {};
    exporter.name = "test";
    exporter.take = take_both;
    crest_spans_settings settings = {};
    crest_span_context here;
    settings.spans = "ccspan.*";
    settings.sample = 1;
    assert_int_equal(crest_span_exporter_add(&exporter), CREST_OK);
    assert_int_equal(crest_spans_set(&settings, nullptr), CREST_OK);
    outer_seen = inner_seen = {};
    run(&here);
    assert_true(crest_span_current().span == 0);
    assert_int_equal(crest_spans_flush(1), CREST_OK);
    assert_true(outer_seen.id != 0 && outer_seen.id == here.span);
    assert_true(inner_seen.id != 0 && inner_seen.parent == outer_seen.id);
    assert_true(outer_seen.parent == 0);
    assert_int_equal(inner_seen.attributes, 1);
    settings.spans = "";
    assert_int_equal(crest_spans_set(&settings, nullptr), CREST_OK);
    assert_int_equal(crest_span_exporter_remove(&exporter), CREST_OK);
}

static void test_exception(void **)
{
    traced([](crest_span_context *here) { nested(nullptr, here); });
    assert_int_equal(inner_seen.outcome, CREST_OUTCOME_ERROR);
    assert_int_equal(outer_seen.outcome, CREST_OUTCOME_OK);
}

static void test_outcome_of_its_own(void **)
{
    static crest_outcome outcome = CREST_OUTCOME_CANCELLED;
    traced([](crest_span_context *here) { nested(&outcome, here); });
    assert_int_equal(inner_seen.outcome, CREST_OUTCOME_CANCELLED);
}

/* Without tracing it is a timing, and current stays what it was. */
static void test_untraced(void **)
{
    crest_span_context other = crest_span_context_of(crest_op_u64(1), 5), here;
    crest_span_context before = crest_span_current_set(&other);
    nested(nullptr, &here);
    assert_true(here.span == 5);
    assert_true(crest_span_current().span == 5);
    crest_span_current_set(&before);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exception),
        cmocka_unit_test(test_outcome_of_its_own),
        cmocka_unit_test(test_untraced),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
