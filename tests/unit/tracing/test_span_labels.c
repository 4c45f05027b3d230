/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels of a timer's series as attributes of its spans: also of a series that was retired
 * before the span was collected, of stages and of folded spans; and spans while another thread
 * retires their series.
 */
#include "support/span_fixture.h"

#include "base/atomic.h"

#include <crest/lifetime.h>
#include <crest/stages.h>
#include <pthread.h>

#define PEERS 4u
#define RETIRED 300u

CREST_TIMER(block_time, "labels.block", "A block.");
CREST_TIMER_FAMILY(fetch_time, "labels.fetch", "A fetch.", peer, kind);
CREST_STAGES_FAMILY(steps, "labels.steps", "Stages.", (.stages = {"first", "last"}), lane);
CREST_SPAN_KEY(peer_key, "peer");
CREST_SPAN_KEY(size_key, "size");

static crest_op op_of(unsigned n)
{
    return crest_op_u64x2(0x1abe1, n);
}

static void begin(uint32_t per_op)
{
    spans_begin(&(crest_spans_settings){
        .spans = "labels.*", .sample = 1, .rate = 1000000, .per_op = per_op});
}

static void record(crest_timer *timer, unsigned n, crest_outcome outcome)
{
    crest_op op = op_of(n);
    assert_int_equal(crest_timer_record_op(timer, 1000, outcome, &op), CREST_OK);
}

static void assert_attribute(const span_seen *seen, size_t i, const char *key, const char *text)
{
    assert_non_null(seen);
    assert_true(seen->span.attribute_count > i);
    assert_string_equal(seen->keys[i], key);
    assert_int_equal(seen->attributes[i].type, CREST_SPAN_TEXT);
    assert_string_equal(seen->texts[i], text);
    assert_int_equal(seen->attributes[i].length, strlen(text));
}

/* Each of a family's series has its own; a timer without labels has none. */
static void test_each_series(void **state)
{
    (void)state;
    begin(0);
    record(fetch_time_with("one", "block"), 1, CREST_OUTCOME_OK);
    record(fetch_time_with("two", "block"), 1, CREST_OUTCOME_ERROR);
    record(fetch_time_with("three", ""), 1, CREST_OUTCOME_OK);
    record(&block_time, 1, CREST_OUTCOME_OK);
    crest_spans_flush(1);
    assert_int_equal(spans_count, 4);
    for (size_t i = 0; i < 2; i++) {
        const span_seen *seen = spans_find("labels.fetch", i);
        assert_attribute(seen, 0, "peer", i == 0 ? "one" : "two");
        assert_attribute(seen, 1, "kind", "block");
        assert_int_equal(seen->span.attribute_count, 2);
        assert_int_equal(seen->span.dropped_attributes, 0);
    }
    assert_attribute(spans_find("labels.fetch", 2), 0, "peer", "three");
    assert_int_equal(spans_find("labels.fetch", 2)->span.attribute_count, 1);
    assert_int_equal(spans_find("labels.block", 0)->span.attribute_count, 0);
    spans_assert_whole();
    spans_end();
}

/* A series that is gone before its span is collected, whose place another one took. */
static void test_retired_before(void **state)
{
    (void)state;
    begin(0);
    crest_timer *timer = fetch_time_with("gone", "tx");
    record(timer, 2, CREST_OUTCOME_OK);
    record(timer, 2, CREST_OUTCOME_TIMEOUT);
    assert_int_equal(crest_retire(NULL, "peer", "gone"), 1);
    crest_testing_clock_advance(UINT64_C(3600000000000));
    for (unsigned i = 0; i < RETIRED; i++) {
        char peer[16];
        snprintf(peer, sizeof peer, "later-%u", i);
        assert_non_null(fetch_time_with(peer, "tx"));
        assert_int_equal(crest_retire(NULL, "peer", peer), 1);
    }
    crest_spans_flush(1);
    for (size_t i = 0; i < 2; i++) {
        assert_attribute(spans_find("labels.fetch", i), 0, "peer", "gone");
        assert_attribute(spans_find("labels.fetch", i), 1, "kind", "tx");
    }
    spans_assert_whole();
    spans_end();
}

/* What the caller set comes first, and stands where a label has the same key; a timing that ends in
 * another series has that one's labels. */
static void test_beside_attributes(void **state)
{
    (void)state;
    crest_span_timing timing;
    begin(0);
    crest_timer_start_under(fetch_time_with("?", "?"), op_of(3), NULL, &timing);
    crest_span_set_i64(&timing, &size_key, 7);
    crest_span_set_text(&timing, &peer_key, "mine", 4);
    crest_span_end_in(&timing, op_of(3), CREST_OUTCOME_OK, fetch_time_with("label", "answer"));
    crest_spans_flush(1);
    const span_seen *seen = spans_find("labels.fetch", 0);
    assert_non_null(seen);
    assert_int_equal(seen->span.attribute_count, 3);
    assert_string_equal(seen->keys[0], "size");
    assert_attribute(seen, 1, "peer", "mine");
    assert_attribute(seen, 2, "kind", "answer");
    spans_end();
}

/* As many attributes as there may be, and labels of many bytes or of such that are no UTF-8. */
static void test_long_and_broken(void **state)
{
    (void)state;
    char longer[2 * CREST_SPAN_TEXT_BYTES_MAX + 2];
    crest_span_timing timing;
    for (size_t i = 0; i < sizeof longer - 1; i++)
        longer[i] = i == 0 ? 'x' : i % 2 == 1 ? '\xc3' : '\xa9';
    longer[sizeof longer - 1] = '\0';
    begin(0);
    crest_timer_start_under(fetch_time_with(longer, "\xff<\"&"), op_of(4), NULL, &timing);
    for (unsigned i = 0; i < CREST_SPAN_ATTRIBUTES_MAX + 1; i++)
        crest_span_set_i64(&timing, &size_key, i);
    crest_span_end(&timing, op_of(4), CREST_OUTCOME_OK);
    crest_spans_flush(1);
    const span_seen *seen = spans_find("labels.fetch", 0);
    assert_non_null(seen);
    assert_int_equal(seen->span.attribute_count, CREST_SPAN_ATTRIBUTES_MAX + 2);
    assert_int_equal(seen->span.dropped_attributes, 1);
    longer[CREST_SPAN_TEXT_BYTES_MAX - 1] = '\0'; /* the 128th byte begins a character */
    assert_attribute(seen, CREST_SPAN_ATTRIBUTES_MAX, "peer", longer);
    assert_attribute(seen, CREST_SPAN_ATTRIBUTES_MAX + 1, "kind", "\xef\xbf\xbd<\"&");
    spans_end();
}

static void test_stages(void **state)
{
    (void)state;
    begin(0);
    crest_stages *of_lane = steps_with("fast");
    assert_int_equal(crest_stages_begin(of_lane, op_of(5)), CREST_OK);
    crest_testing_clock_advance(1000);
    assert_int_equal(crest_stages_mark(of_lane, op_of(5), 0), CREST_OK);
    assert_int_equal(crest_stages_end(of_lane, op_of(5), CREST_OUTCOME_OK), CREST_OK);
    crest_spans_flush(1);
    assert_attribute(spans_find("labels.steps", 0), 0, "lane", "fast");
    assert_attribute(spans_find("labels.steps.first", 0), 0, "lane", "fast");
    spans_end();
}

/* A folded span has the labels that all it stands for have. */
static void test_folded(void **state)
{
    (void)state;
    begin(2);
    for (unsigned i = 0; i < 10; i++) {
        record(fetch_time_with("same", "tx"), 6, i % 2 ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
        record(fetch_time_with(i % 2 ? "odd" : "even", "tx"), 7, CREST_OUTCOME_OK);
    }
    crest_spans_flush(1);
    unsigned folds = 0;
    for (size_t i = 0; i < spans_count; i++)
        if (spans_seen[i].span.folded_count != 0) {
            folds++;
            assert_int_equal(spans_seen[i].span.folded_count, 8);
            if (spans_seen[i].span.op.word[1] == 6)
                assert_attribute(&spans_seen[i], 0, "peer", "same");
            else
                assert_int_equal(spans_seen[i].span.attribute_count, 0);
        }
    assert_int_equal(folds, 2);
    spans_assert_whole();
    spans_end();
}

/* ---- while series are retired ---- */

static unsigned retiring;

static void *record_many(void *from)
{
    unsigned first = *(unsigned *)from;
    for (unsigned i = 0; crest_atomic_load32(&retiring); i++) {
        char peer[8];
        crest_op op = op_of(first + i);
        snprintf(peer, sizeof peer, "p%u", i % PEERS);
        crest_timer_record_op(fetch_time_with(peer, "race"), 1000 + i % 7,
                              (crest_outcome)(i % CREST_OUTCOME_COUNT), &op);
    }
    return NULL;
}

/* Every span has the labels of its series, whatever became of that; none is of a placeholder. */
static void test_retired_meanwhile(void **state)
{
    (void)state;
    pthread_t thread[2];
    unsigned from[2] = {1000000, 2000000};
    size_t seen = 0;
    begin(0);
    crest_atomic_store32(&retiring, 1);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, record_many, &from[i]), 0);
    for (unsigned i = 0; i < RETIRED || seen < 100; i++) {
        char peer[8];
        snprintf(peer, sizeof peer, "p%u", i % PEERS);
        crest_retire(NULL, "peer", peer);
        crest_spans_flush(1);
        for (size_t n = 0; n < spans_count && n < SPANS_SEEN_MAX; n++, seen++) {
            assert_string_equal(spans_seen[n].keys[0], "peer");
            assert_int_equal(spans_seen[n].texts[0][0], 'p');
            assert_attribute(&spans_seen[n], 1, "kind", "race");
        }
        spans_count = 0;
    }
    crest_atomic_store32(&retiring, 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    crest_spans_flush(1);
    spans_assert_whole();
    spans_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_series),
        cmocka_unit_test(test_retired_before),
        cmocka_unit_test(test_beside_attributes),
        cmocka_unit_test(test_long_and_broken),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_folded),
        cmocka_unit_test(test_retired_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
