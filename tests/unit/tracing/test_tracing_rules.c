/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which spans are kept: sampling by operation, slow, failed and timed-out roots, budgets, folding,
 * late spans, circles; and that each offered span has exactly one fate. The clock is stepped.
 */
#include "support/span_fixture.h"

#define S UINT64_C(1000000000)

CREST_TIMER(root_time, "rules.root", "A root.");
CREST_TIMER(child_time, "rules.child", "A child.");
CREST_STAGES(steps, "rules.steps", "Stages.", .stages = {"first", "last"});

static crest_op op_of(uint64_t n)
{
    return crest_op_u64x2(0xca5e, n);
}

static void record(crest_timer *timer, uint64_t ns, crest_outcome outcome, uint64_t n)
{
    crest_op op = op_of(n);
    assert_int_equal(crest_timer_record_op(timer, (int64_t)ns, outcome, &op), CREST_OK);
}

/* A share of the operations is kept, the same every time, with all of their spans. */
static void test_sampled_by_operation(void **state)
{
    (void)state;
    static uint8_t kept[2][2000];
    for (int run = 0; run < 2; run++) {
        spans_begin(&(crest_spans_settings){
            .spans = "rules.*", .sample = 0.25, .slow_factor = -1, .rate = 1000000});
        for (uint64_t n = 0; n < 2000; n++) {
            record(&child_time, 10, CREST_OUTCOME_OK, n);
            record(&root_time, 100, CREST_OUTCOME_OK, n);
            if (n % 256 == 0)
                crest_spans_flush(1);
        }
        crest_spans_flush(1);
        unsigned sampled = 0;
        for (size_t i = 0; i < spans_count; i++) {
            assert_int_equal(spans_seen[i].span.kept_why, CREST_SPAN_SAMPLED);
            assert_int_equal(strncmp(spans_seen[i].tracestate, "ot=th:c", 7), 0);
            kept[run][spans_seen[i].span.op.word[1]]++;
        }
        for (size_t n = 0; n < 2000; n++) {
            if (kept[run][n] != 0 && kept[run][n] != 2)
                fail_msg("run %d: operation %zu has %u spans", run, n, kept[run][n]);
            sampled += kept[run][n] != 0;
        }
        assert_in_range(sampled, 400, 600);
        spans_assert_whole();
        spans_end();
    }
    assert_memory_equal(kept[0], kept[1], sizeof kept[0]);
}

/* Of operations that are not sampled those are kept whose root failed, with their children. */
static void test_failed_roots(void **state)
{
    (void)state;
    spans_begin(&(crest_spans_settings){.spans = "rules.*", .sample = -1, .slow_ns = 3600 * S});
    static const struct {
        crest_outcome outcome;
        int kept;
        crest_span_why why;
    } cases[] = {{CREST_OUTCOME_OK, 0, CREST_SPAN_WHY_COUNT},
                 {CREST_OUTCOME_ERROR, 1, CREST_SPAN_FAILED},
                 {CREST_OUTCOME_TIMEOUT, 1, CREST_SPAN_TIMED_OUT},
                 {CREST_OUTCOME_CANCELLED, 0, CREST_SPAN_WHY_COUNT}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        spans_count = 0;
        record(&child_time, 10, CREST_OUTCOME_OK, 20100 + i);
        record(&root_time, 100, cases[i].outcome, 20100 + i);
        crest_spans_flush(1);
        assert_int_equal(spans_count, cases[i].kept ? 2 : 0);
        if (cases[i].kept)
            assert_int_equal(spans_find("rules.child", 0)->span.kept_why, cases[i].why);
    }
    spans_assert_whole();
    spans_end();
}

/* Records 450 roots that last so long, so that four may be longer, and lets the percentile be
 * computed anew. */
static void record_many(uint64_t ns, uint64_t first)
{
    for (uint64_t n = 0; n < 450; n++)
        record(&root_time, ns, n % 2 ? CREST_OUTCOME_OK : CREST_OUTCOME_CANCELLED, first + n);
    crest_spans_flush(1);
    crest_testing_clock_advance(2 * S);
}

static size_t kept_of(uint64_t ns, uint64_t n)
{
    size_t before = spans_count;
    record(&root_time, ns, CREST_OUTCOME_OK, n);
    crest_spans_flush(1);
    return spans_count - before;
}

/* The threshold is of the last 30 to 60 s: what is older is forgotten, and without 100 roots there
 * is none. */
static void test_slow_window(void **state)
{
    (void)state;
    crest_testing_clock_advance(100 * S); /* what other tests recorded is too old */
    spans_begin(&(crest_spans_settings){.spans = "rules.*", .sample = -1, .slow_factor = 2});
    assert_int_equal(kept_of(3600 * S, 41000), 0); /* nothing is known */
    crest_testing_clock_advance(2 * S);
    assert_int_equal(kept_of(8000 * S, 41001), 0); /* one is known, fewer than 100 */
    record_many(S, 42000);
    assert_int_equal(kept_of(19 * S / 10, 41300), 0);
    assert_int_equal(kept_of(23 * S / 10, 41301), 1); /* above 2 s and a sixteenth */
    crest_testing_clock_advance(25 * S); /* 29 s after the first ones: they count */
    assert_int_equal(kept_of(19 * S / 10, 41302), 0);
    assert_int_equal(kept_of(23 * S / 10, 41303), 1);
    crest_testing_clock_advance(61 * S); /* they do not any more */
    assert_int_equal(kept_of(3600 * S, 41304), 0);
    record_many(S / 100, 43000);
    assert_int_equal(kept_of(S / 10, 41305), 1);
    crest_testing_clock_advance(50 * S); /* they are less than a minute old */
    assert_int_equal(kept_of(S / 10, 41306), 1);
    crest_testing_clock_advance(20 * S); /* and now more, however late the sets took turns */
    assert_int_equal(kept_of(3600 * S, 41307), 0);
    spans_end();
}

static void test_slow_roots(void **state)
{
    (void)state;
    crest_span_totals before = crest_spans_totals();
    spans_begin(&(crest_spans_settings){.spans = "rules.*", .sample = -1, .slow_factor = 3});
    for (uint64_t n = 0; n < 500; n++)
        record(&root_time, 1000000 + n, CREST_OUTCOME_OK, 31000 + n);
    crest_spans_flush(1);
    assert_int_equal(spans_count, 0);
    crest_testing_clock_advance(2 * S); /* the percentile is at most a second old */
    record(&root_time, 2500000, CREST_OUTCOME_OK, 32000);
    record(&root_time, 3500000, CREST_OUTCOME_OK, 32001);
    crest_spans_flush(1);
    assert_int_equal(spans_count, 1);
    assert_true(spans_seen[0].span.op.word[1] == 32001);
    assert_int_equal(spans_seen[0].span.kept_why, CREST_SPAN_SLOW);
    /* a fixed bound, set while it runs */
    assert_int_equal(
        crest_spans_set(
            &(crest_spans_settings){.spans = "rules.root", .sample = -1, .slow_ns = 2000000}, NULL),
        CREST_OK);
    record(&root_time, 1999999, CREST_OUTCOME_OK, 32002);
    record(&root_time, 2000000, CREST_OUTCOME_OK, 32003);
    record(&child_time, 9000000, CREST_OUTCOME_OK, 32004); /* not traced any more */
    crest_spans_flush(1);
    assert_int_equal(spans_count, 2);
    assert_true(spans_seen[1].span.op.word[1] == 32003);
    assert_int_equal(crest_spans_totals().offered - before.offered, 504);
    spans_assert_whole();
    spans_end();
    crest_testing_clock_real();
}

/* A root is waited on for those that end a little later; what comes later still follows. */
static void test_late(void **state)
{
    (void)state;
    crest_testing_clock_advance(S);
    spans_begin(&(crest_spans_settings){.spans = "rules.*", .sample = -1, .slow_ns = 3600 * S});
    uint64_t late = crest_spans_totals().late;
    record(&root_time, 100, CREST_OUTCOME_ERROR, 3000);
    crest_spans_flush(0);
    assert_int_equal(crest_spans_totals().waiting, 1);
    crest_testing_clock_advance(S);
    record(&child_time, 5, CREST_OUTCOME_OK, 3000);
    crest_spans_flush(0);
    assert_int_equal(spans_count, 0);
    crest_testing_clock_advance(3 * S);
    crest_spans_flush(0);
    assert_int_equal(spans_count, 2);
    crest_testing_clock_advance(S);
    record(&child_time, 6, CREST_OUTCOME_OK, 3000);
    crest_spans_flush(0);
    assert_int_equal(spans_count, 3);
    assert_int_equal(crest_spans_totals().late - late, 1);
    assert_true(spans_seen[2].span.parent == spans_find("rules.root", 0)->span.id);
    spans_assert_whole();
    spans_end();
    crest_testing_clock_real();
}

static void test_rate(void **state)
{
    (void)state;
    crest_testing_clock_advance(S);
    crest_span_totals before = crest_spans_totals();
    spans_begin(&(crest_spans_settings){.spans = "rules.*", .sample = 1, .rate = 10});
    for (uint64_t n = 0; n < 100; n++)
        record(&root_time, 100, CREST_OUTCOME_OK, 4000 + n);
    crest_spans_flush(1);
    crest_span_totals after = crest_spans_totals();
    assert_int_equal(after.kept - before.kept, 10);
    assert_int_equal(after.dropped_rate - before.dropped_rate, 90);
    crest_testing_clock_advance(S / 2);
    for (uint64_t n = 0; n < 100; n++)
        record(&root_time, 100, CREST_OUTCOME_OK, 4200 + n);
    crest_spans_flush(1);
    assert_int_equal(crest_spans_totals().kept - after.kept, 5);
    spans_assert_whole();
    spans_end();
    crest_testing_clock_real();
}

/* 100,000 children of one operation are 512 spans and one more that stands for all others. */
static void test_folded(void **state)
{
    (void)state;
    crest_span_totals before = crest_spans_totals();
    spans_begin(&(crest_spans_settings){.spans = "rules.*", .sample = 1, .rate = 100000});
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        record(&child_time, 1 + i, CREST_OUTCOME_OK, 5000);
        sum += 1 + i;
        if (i % 500 == 0)
            crest_spans_flush(0);
    }
    record(&root_time, 60 * S, CREST_OUTCOME_OK, 5000); /* it began before all of them */
    crest_spans_flush(1);
    crest_span_totals after = crest_spans_totals();
    assert_int_equal(after.offered - before.offered, 100001);
    assert_int_equal(after.dropped_full, before.dropped_full);
    assert_int_equal(after.kept - before.kept, 513);
    assert_int_equal(after.folded - before.folded, 100001 - 513);
    const span_seen *fold = NULL, *root = spans_find("rules.root", 0);
    for (size_t i = 0; i < spans_count; i++) {
        sum -= spans_seen[i].span.folded_sum_ns;
        if (spans_seen[i].span.folded_count != 0)
            fold = &spans_seen[i];
        else if (&spans_seen[i] != root)
            sum -= spans_seen[i].span.end_unix_ns - spans_seen[i].span.start_unix_ns;
        assert_true(&spans_seen[i] == root || spans_seen[i].span.parent == root->span.id);
    }
    assert_int_equal(sum, 0);
    assert_int_equal(fold->span.folded_count, 100001 - 513);
    assert_int_equal(fold->span.folded_max_ns, 100000);
    spans_assert_whole();
    spans_end();
}

/* Parents that lead in circles, as hostile peers and hosts may name them. */
static void test_circles(void **state)
{
    (void)state;
    crest_op op = op_of(6000);
    spans_begin(&(crest_spans_settings){.spans = "rules.*", .sample = 1});
    crest_span_timing a, b, self, root;
    crest_span_context to_root =
        crest_span_context_of(op, crest_span_id_of(op, "rules.root", "nowhere"));
    to_root.remote = 1;
    crest_timer_start_under(&root_time, op, &to_root, &root);
    crest_span_context in = crest_span_timing_context(&root);
    crest_timer_start_under(&child_time, op, &in, &a);
    crest_span_context a_context = crest_span_timing_context(&a);
    crest_timer_start_under(&child_time, op, &a_context, &b);
    crest_span_context b_context = crest_span_timing_context(&b);
    crest_timer_start_under(&child_time, op, &in, &self);
    self.parent.span = crest_span_timing_context(&self).span;
    a.parent = b_context;
    root.parent = b_context;
    root.parent.remote = 1;
    crest_span_end(&self, op, CREST_OUTCOME_OK);
    crest_span_end(&b, op, CREST_OUTCOME_OK);
    crest_span_end(&a, op, CREST_OUTCOME_OK);
    crest_span_end(&root, op, CREST_OUTCOME_OK);
    crest_spans_flush(1);
    assert_int_equal(spans_count, 4);
    for (size_t i = 0; i < 4; i++) {
        /* from each span up to one without a parent, or with one that is not here */
        const crest_span *at = &spans_seen[i].span;
        for (unsigned steps_up = 0; at != NULL; steps_up++) {
            assert_in_range(steps_up, 0, 4);
            const crest_span *above = NULL;
            for (size_t k = 0; k < 4; k++)
                if (spans_seen[k].span.id == at->parent)
                    above = &spans_seen[k].span;
            at = above;
        }
        for (size_t k = 0; k < i; k++)
            assert_true(spans_seen[k].span.id != spans_seen[i].span.id);
    }
    spans_end();
}

static void test_stages(void **state)
{
    (void)state;
    crest_op op = op_of(7000);
    spans_begin(&(crest_spans_settings){.spans = "rules.*", .sample = 1});
    assert_int_equal(crest_stages_begin(&steps, op), CREST_OK);
    assert_int_equal(crest_stages_mark(&steps, op, 0), CREST_OK);
    assert_int_equal(crest_stages_mark(&steps, op, 1), CREST_OK);
    crest_spans_flush(0);
    assert_int_equal(crest_stages_end(&steps, op, CREST_OUTCOME_OK), CREST_OK);
    crest_spans_flush(1);
    assert_int_equal(spans_count, 3);
    const span_seen *whole = spans_find("rules.steps", 0);
    const span_seen *first = spans_find("rules.steps.first", 0);
    const span_seen *last = spans_find("rules.steps.last", 0);
    assert_true(whole != NULL && first != NULL && last != NULL && whole->span.parent == 0);
    assert_true(first->span.parent == whole->span.id && last->span.parent == whole->span.id);
    assert_true(first->span.end_unix_ns == last->span.start_unix_ns);
    spans_end();
}

/* Nothing to go to, or refused: counted, and the next batch is tried. A record without an operation
 * is a trace of its own. */
static void test_export_and_no_op(void **state)
{
    (void)state;
    crest_span_totals before = crest_spans_totals();
    spans_begin(&(crest_spans_settings){.spans = "rules.*", .sample = 1});
    spans_answer = CREST_REFUSED;
    crest_timer_record(&root_time, 5, CREST_OUTCOME_OK);
    crest_spans_flush(1);
    spans_answer = CREST_OK;
    crest_timer_record(&root_time, 5, CREST_OUTCOME_OK);
    crest_timer_record(&root_time, 5, CREST_OUTCOME_OK);
    crest_spans_flush(1);
    assert_int_equal(spans_count, 2);
    assert_memory_not_equal(&spans_seen[0].span.trace, &spans_seen[1].span.trace, 16);
    crest_span_exporter_remove(&spans_exporter);
    crest_timer_record(&root_time, 5, CREST_OUTCOME_OK);
    crest_spans_flush(1);
    crest_span_totals after = crest_spans_totals();
    assert_int_equal(after.dropped_export - before.dropped_export, 2);
    assert_int_equal(after.kept - before.kept, 2);
    spans_assert_whole();
    spans_end();
}

/* The wall clock is set back while an operation waits: its spans stay in order. An id that comes
 * again is the same trace, with spans of their own. */
static void test_clock_and_id_again(void **state)
{
    (void)state;
    spans_begin(&(crest_spans_settings){.spans = "rules.*", .sample = 1});
    record(&child_time, 1000, CREST_OUTCOME_OK, 8000);
    crest_spans_flush(0);
    crest_testing_clock_shift_wall(-(int64_t)(3600 * S), 0);
    record(&root_time, 2 * S, CREST_OUTCOME_OK, 8000);
    crest_spans_flush(1);
    crest_testing_clock_shift_wall(0, 0);
    const span_seen *root = spans_find("rules.root", 0), *child = spans_find("rules.child", 0);
    assert_true(child->span.start_unix_ns >= root->span.start_unix_ns);
    assert_true(child->span.end_unix_ns <= root->span.end_unix_ns);
    record(&root_time, 50, CREST_OUTCOME_OK, 8000);
    crest_spans_flush(1);
    assert_int_equal(spans_count, 3);
    assert_true(spans_seen[2].span.id != root->span.id);
    assert_memory_equal(&spans_seen[2].span.trace, &root->span.trace, 16);
    spans_end();
}

/* More than the rings hold between two collections: dropped, counted, and the timer has all. */
static void test_ring_full(void **state)
{
    (void)state;
    crest_testing_mark *mark = crest_testing_mark_take(NULL);
    crest_span_totals before = crest_spans_totals();
    spans_begin(&(crest_spans_settings){.spans = "rules.*", .sample = -1, .slow_factor = -1});
    for (uint64_t n = 0; n < 200000; n++)
        record(&child_time, 100, CREST_OUTCOME_OK, 100000 + n);
    crest_spans_flush(1);
    crest_span_totals after = crest_spans_totals();
    assert_int_equal(after.offered - before.offered, 200000);
    spans_assert_whole();
    crest_testing_reading reading;
    assert_int_equal(crest_testing_read(NULL, mark, &reading, NULL, "rules.child", "outcome", "ok",
                                        (char *)NULL),
                     CREST_OK);
    assert_int_equal(reading.count, 200000);
    crest_testing_mark_free(mark);
    spans_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sampled_by_operation),
        cmocka_unit_test(test_failed_roots),
        cmocka_unit_test(test_slow_roots),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_folded),
        cmocka_unit_test(test_circles),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_export_and_no_op),
        cmocka_unit_test(test_clock_and_id_again),
        cmocka_unit_test(test_ring_full),
        cmocka_unit_test(test_slow_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
