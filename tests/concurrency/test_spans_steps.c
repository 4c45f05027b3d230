/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal handler that ends a traced timing, and one that records a plain one, between any two
 * instructions of a thread that does the same: each span arrives once, whole.
 *
 * Sanitizers hold signals back. crest-test: sanitizers=none
 */
#if !defined(__x86_64__) || defined(__SANITIZE_THREAD__)

#include <stdio.h>

int main(void)
{
    puts("only on x86-64, and without ThreadSanitizer, is it known where a record stops");
    return 77;
}

#else

#define _GNU_SOURCE
#include "support/span_fixture.h"
#include "support/trap_fixture.h"
#include "tracing/tracing.h"

CREST_TIMER(steps_outer, "traps.outer", "Interrupted.");
CREST_TIMER(steps_inner, "traps.inner", "In a handler.");
CREST_SPAN_KEY(steps_key, "number");

static uint64_t steps_number;

/* A span timing with details of two slots. */
static void steps_end_one(crest_timer *timer, uint64_t number)
{
    crest_op op = crest_op_u64x2(number, number);
    crest_span_timing timing;
    crest_timer_start_under(timer, op, NULL, &timing);
    for (int i = 0; i < 3; i++)
        crest_span_set_i64(&timing, &steps_key, (int64_t)(number << 33));
    crest_span_end(&timing, op, CREST_OUTCOME_OK);
}

static void steps_act(void)
{
    steps_end_one(&steps_outer, ++steps_number);
}

static void steps_plain(void)
{
    crest_op op = crest_op_u64x2(++steps_number, 0);
    crest_timer_record_op(&steps_outer, 100, CREST_OUTCOME_OK, &op);
}

static void steps_handle(void)
{
    uint64_t number = ++steps_number;
    steps_end_one(&steps_inner, number);
}

static void steps_check(size_t count)
{
    crest_spans_flush(1);
    assert_int_equal(spans_count, count);
    for (size_t i = 0; i < count; i++) {
        const span_seen *seen = &spans_seen[i];
        for (size_t a = 0; a < seen->span.attribute_count; a++)
            assert_true(seen->attributes[a].value.i == (int64_t)(seen->span.op.word[0] << 33));
        assert_true(seen->span.attribute_count == 3 || seen->span.op.word[1] == 0);
    }
    spans_assert_whole();
    spans_count = 0;
}

/* No thread may collect meanwhile: its lock and the slow path's are not to be met here. */
static void steps_interrupt(void (*act)(void))
{
    for (int i = 0; i < 8; i++) { /* first touches take the lock */
        act();
        steps_handle();
    }
    steps_check(16);
    trap_learn(act);
    steps_check(1);
    unsigned places = trap_count, met = 0;
    for (unsigned place = 0; place < places; place++) {
        if (trap_between(place, act, steps_handle) != 0) {
            met++;
            steps_check(2);
        } else {
            steps_check(1);
        }
    }
    assert_in_range(met, 20, places);
}

static void test_span_timing(void **state)
{
    (void)state;
    spans_begin(&(crest_spans_settings){.spans = "traps.*", .sample = 1, .rate = 1000000});
    crest_tracing_by_hand();
    steps_interrupt(steps_act);
    spans_end();
}

static void test_plain_record(void **state)
{
    (void)state;
    spans_begin(&(crest_spans_settings){.spans = "traps.*", .sample = 1, .rate = 1000000});
    crest_tracing_by_hand();
    steps_interrupt(steps_plain);
    spans_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_span_timing),
        cmocka_unit_test(test_plain_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
