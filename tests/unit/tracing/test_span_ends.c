/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans of what was over before it was recorded: a message that waited after it had come, a
 * coverage that is told later. They end when it was over.
 */
#include "support/span_fixture.h"

#include <crest/coverage.h>
#include <crest/stamp.h>

#define MS UINT64_C(1000000)
/* Between readings of the clock in this test, on a busy machine. */
#define BUSY_NS (20000 * MS)

CREST_TIMER(way_time, "ends.way-time", "From there to here.");
CREST_TIMER(reach_time, "ends.reach-time", "Until all have it.");

static void test_message_that_waited(void **state)
{
    (void)state;
    crest_stamp stamp;
    crest_stamp_view view;
    crest_op op = crest_op_u64(1);
    spans_begin(&(crest_spans_settings){.spans = "ends.*", .sample = 1});
    uint64_t came_ns = crest_wall_now() - 60000 * MS;
    assert_int_equal(crest_stamp_make_at(op, came_ns - 7 * MS, 0, &stamp, NULL), CREST_OK);
    assert_int_equal(crest_stamp_read(stamp.bytes, sizeof stamp.bytes, &view, NULL), CREST_OK);
    crest_propagation found;
    assert_int_equal(
        crest_stamp_record_at(&way_time, came_ns, &view, NULL, CREST_OUTCOME_OK, &op, &found),
        CREST_OK);
    crest_spans_flush(1);
    const span_seen *way = spans_find("ends.way-time", 0);
    assert_non_null(way);
    assert_int_equal(way->span.end_unix_ns - way->span.start_unix_ns, 7 * MS);
    int64_t off_ns = (int64_t)(way->span.end_unix_ns - came_ns);
    assert_in_range(off_ns + (int64_t)MS, 0, BUSY_NS);
    spans_end();
}

static void test_coverage_told_later(void **state)
{
    (void)state;
    crest_op op = crest_op_u64(2);
    crest_coverage_options options = {
        .nodes = 2, .fraction = 1, .deadline_ms = 3600000, .in_flight = 4};
    crest_coverage *coverage = crest_coverage_new(&reach_time, &options, NULL);
    assert_non_null(coverage);
    spans_begin(&(crest_spans_settings){.spans = "ends.*", .sample = 1});
    uint64_t sent_ns = crest_wall_now();
    assert_int_equal(crest_coverage_begin(coverage, op, sent_ns), CREST_OK);
    crest_coverage_add(coverage, &op, 0, sent_ns);
    crest_coverage_add(coverage, &op, 1, sent_ns + 90000 * MS);
    crest_coverage_free(coverage);
    crest_spans_flush(1);
    const span_seen *reach = spans_find("ends.reach-time", 0);
    assert_non_null(reach);
    assert_int_equal(reach->span.outcome, CREST_OUTCOME_OK);
    int64_t off_ns = (int64_t)(reach->span.start_unix_ns - sent_ns);
    assert_in_range(off_ns + (int64_t)MS, 0, BUSY_NS);
    spans_end();
}

/* An operation that ends before it starts, by two processors' clocks: its span has no length. */
static void test_end_before_start(void **state)
{
    (void)state;
    crest_op op = crest_op_u64(3);
    spans_begin(&(crest_spans_settings){.spans = "ends.*", .sample = 1});
    assert_int_equal(crest_timer_record_op(&way_time, -5000, CREST_OUTCOME_OK, &op), CREST_OK);
    crest_spans_flush(1);
    assert_int_equal(spans_count, 1);
    assert_int_equal(spans_seen[0].span.start_unix_ns, spans_seen[0].span.end_unix_ns);
    spans_assert_whole();
    spans_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message_that_waited),
        cmocka_unit_test(test_coverage_told_later),
        cmocka_unit_test(test_end_before_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
