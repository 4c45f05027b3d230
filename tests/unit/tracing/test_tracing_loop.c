/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans in a process of one thread: each run of the host's loop collects and decides, batches go
 * out when they are due, and the stop hands out the last one; with and without windows.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "support/loop_fixture.h"
#include "support/span_fixture.h"

#include <crest/run.h>

#define RING_SPANS 512u /* of a thread, when each takes a slot */

CREST_TIMER(loop_time, "looped.work", "Work.");

static unsigned threads_before;

static void work(unsigned number)
{
    crest_op op = crest_op_u64x2(0x100b, number);
    crest_timer_record_op(&loop_time, 1000, CREST_OUTCOME_OK, &op);
}

static void loop_begin(const char *options)
{
    crest_error error;
    spans_count = spans_batches = spans_finals = 0;
    crest_testing_clock_set(1000000000);
    if (crest_start(options, &error) != CREST_OK)
        fail_msg("%s", error.message);
    assert_int_equal(crest_span_exporter_add(&spans_exporter), CREST_OK);
    assert_int_equal(loop_threads(), threads_before);
}

static void loop_end(size_t spans)
{
    assert_int_equal(crest_stop(2000, NULL), CREST_OK);
    assert_int_equal(spans_count, spans);
    assert_int_equal(spans_finals, 1);
    assert_int_equal(crest_span_exporter_remove(&spans_exporter), CREST_OK);
    assert_int_equal(loop_threads(), threads_before);
    crest_testing_clock_real();
    spans_assert_whole();
}

static void spans_by_the_loop(const char *options)
{
    int wait_ms;
    loop_begin(options);
    loop_drain();
    work(1);
    assert_int_equal(crest_loop_run(&wait_ms), CREST_OK);
    assert_in_range(wait_ms, 1, 1000); /* it is asked for a run each second */
    assert_int_equal(crest_spans_totals().waiting, 1);
    /* the operation's end is waited for, then the batch's */
    for (unsigned s = 0; s < 9; s++) {
        loop_step_ms(1000);
        assert_true(loop_drain() != 0);
    }
    assert_int_equal(spans_count, 1);
    assert_string_equal(spans_seen[0].name, "looped.work");
    work(2);
    loop_end(2);
}

static void test_with_windows(void **state)
{
    (void)state;
    spans_by_the_loop("threads=off,atexit=off,spans=looped.*,spans.sample=1");
}

static void test_without_windows(void **state)
{
    (void)state;
    spans_by_the_loop("threads=off,atexit=off,windows=off,spans=looped.*,spans.sample=1");
}

/* Each run empties the rings; what is recorded between two is bounded by a ring, and counted. */
static void test_more_than_a_ring(void **state)
{
    int wait_ms;
    (void)state;
    loop_begin("threads=off,atexit=off,spans=looped.*,spans.sample=1,spans.rate=100000");
    uint64_t full = crest_spans_totals().dropped_full;
    for (unsigned run = 0; run < 3; run++) {
        for (unsigned i = 0; i < RING_SPANS - 10; i++)
            work(100 + 1000 * run + i);
        assert_int_equal(crest_loop_run(&wait_ms), CREST_OK);
    }
    assert_int_equal(crest_spans_totals().dropped_full, full);
    for (unsigned i = 0; i < RING_SPANS + 10; i++)
        work(5000 + i);
    assert_int_equal(crest_spans_totals().dropped_full, full + 10);
    loop_end(3 * (RING_SPANS - 10) + RING_SPANS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_with_windows),
        cmocka_unit_test(test_without_windows),
        cmocka_unit_test(test_more_than_a_ring),
    };
    threads_before = loop_threads();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
