/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options spans=…: what they are read as, what is refused and how, and a process that traces by
 * them, whose last spans are handed out at the stop.
 */
#include "run/spans_run.h"
#include "support/span_fixture.h"

CREST_TIMER(options_time, "options.block", "A block.");

static crest_status read_options(const char *text, crest_spans_settings *settings,
                                 crest_error *error)
{
    crest_options *options;
    assert_int_equal(crest_options_read(text, &options, error), CREST_OK);
    crest_status status = crest_spans_options_read(options, settings, error);
    settings->spans = settings->spans != NULL ? "set" : NULL;
    crest_options_free(options);
    return status;
}

static void test_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        crest_spans_settings settings;
    } cases[] = {
        {"", {NULL, 0, 0, 0, 0, 0, 0}},
        {"spans=off", {NULL, 0, 0, 0, 0, 0, 0}},
        {"spans=a.*:b", {"set", 0, 0, 0, 0, 0, 0}},
        {"spans=a,spans.sample=0.25", {"set", 0.25, 0, 0, 0, 0, 0}},
        {"spans=a,spans.sample=0", {"set", -1, 0, 0, 0, 0, 0}},
        {"spans=a,spans.slow=3", {"set", 0, 3, 0, 0, 0, 0}},
        {"spans=a,spans.slow=1.5", {"set", 0, 1.5, 0, 0, 0, 0}},
        {"spans=a,spans.slow=off", {"set", 0, -1, 0, 0, 0, 0}},
        {"spans=a,spans.slow=500ms", {"set", 0, 0, 500000000, 0, 0, 0}},
        {"spans=a,spans.rate=7,spans.per-op=9", {"set", 0, 0, 0, 7, 9, 0}},
        {"spans=a,spans.buffer=2MiB", {"set", 0, 0, 0, 0, 0, 2 << 20}},
        {"spans=a,spans.buffer=2097152", {"set", 0, 0, 0, 0, 0, 2 << 20}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_spans_settings got;
        crest_error error;
        if (read_options(cases[i].text, &got, &error) != CREST_OK)
            fail_msg("%s: %s", cases[i].text, error.message);
        const crest_spans_settings *want = &cases[i].settings;
        assert_true((got.spans == NULL) == (want->spans == NULL));
        assert_true(got.sample == want->sample && got.slow_factor == want->slow_factor);
        assert_int_equal(got.slow_ns, want->slow_ns);
        assert_int_equal(got.rate, want->rate);
        assert_int_equal(got.per_op, want->per_op);
        assert_int_equal(got.buffer_bytes, want->buffer_bytes);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "spans.sample=1.1",  "spans.sample=x",     "spans.sample=-1",    "spans.slow=0.5",
        "spans.slow=fast",   "spans.slow=1001",    "spans.slow=0ms",     "spans.rate=0",
        "spans.rate=1e3",    "spans.rate=1000001", "spans.per-op=4097",  "spans.per-op=",
        "spans.buffer=1KiB", "spans.buffer=2GiB",  "spans.buffer=8 MiB", "spans.buffer=MiB",
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_error error;
        if (crest_options_check(cases[i], &error) != CREST_INVALID_OPTIONS)
            fail_msg("%s is taken", cases[i]);
        char key[32];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(cases[i], "="), cases[i]);
        if (strstr(error.message, key) == NULL)
            fail_msg("%s: %s", cases[i], error.message);
    }
    crest_error error;
    assert_int_equal(crest_options_check("spans.sampel=1", &error), CREST_INVALID_OPTIONS);
    assert_non_null(strstr(error.message, "spans.sample"));
}

static void test_start_and_stop(void **state)
{
    (void)state;
    crest_error error;
    crest_op op = crest_op_u64(1);
    spans_count = spans_finals = 0;
    assert_int_equal(crest_span_exporter_add(&spans_exporter), CREST_OK);
    crest_status status =
        crest_start("instance=here,windows=off,spans=options.*,spans.sample=1", &error);
    if (status != CREST_OK)
        fail_msg("%s", error.message);
    crest_timing timing = crest_timer_start(&options_time, op);
    assert_int_equal(crest_timing_stop(&timing, op), CREST_OK);
    assert_int_equal(crest_stop(20000, &error), CREST_OK);
    assert_int_equal(spans_count, 1);
    assert_int_equal(spans_finals, 1);
    assert_true(spans_seen[0].span.id == crest_span_id_of(op, "options.block", "here"));
    spans_assert_whole();
    /* stopped, it traces no more */
    timing = crest_timer_start(&options_time, op);
    crest_span_totals before = crest_spans_totals();
    crest_timing_stop(&timing, op);
    assert_int_equal(crest_spans_totals().offered, before.offered);
    crest_span_exporter_remove(&spans_exporter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_start_and_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
