/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans as text: Zipkin's JSON and our JSON lines, byte for byte against tests/golden; texts that
 * are cut. To rewrite the golden files after a wanted change, and then look at the diff:
 *
 *     CREST_UPDATE_GOLDEN=1 build/release/tests/unit/reporters/zipkin/test_zipkin_span
 */
#define _GNU_SOURCE
#include "common/span_json.h"
#include "support/decimal_comma.h"
#include "support/span_samples.h"
#include "zipkin/zipkin_span.h"
#include "json/span_line.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

typedef int write_span_fn(const crest_span *span, const crest_resource *resource,
                          crest_write_fn *write, void *context);

static const crest_resource resource = {.service = "node \"1\"", .instance = "caf\xc3\xa9\xff"};

static crest_span_text written(write_span_fn *write, const crest_span_batch *batch,
                               const crest_resource *about, const char *between)
{
    crest_span_text text = {.bytes = NULL};
    for (size_t i = 0; i < batch->count; i++) {
        if (i != 0)
            assert_int_equal(crest_span_text_write(&text, between, strlen(between)), 0);
        assert_int_equal(write(&batch->spans[i], about, crest_span_text_write, &text), 0);
    }
    assert_int_equal(crest_span_text_write(&text, "", 1), 0);
    return text;
}

static void golden(write_span_fn *write, const char *between, const char *path)
{
    static char wanted[1 << 16];
    crest_span_batch batch = span_samples();
    crest_span_text text = written(write, &batch, &resource, between);
    int update = getenv("CREST_UPDATE_GOLDEN") != NULL;
    FILE *file = fopen(path, update ? "wb" : "rb");
    if (file == NULL)
        fail_msg("%s cannot be opened; run this in the root of the tree", path);
    if (update) {
        assert_int_equal(fwrite(text.bytes, 1, text.length - 1, file), text.length - 1);
        assert_int_equal(fclose(file), 0);
        free(text.bytes);
        print_message("skipped: %s was rewritten, not compared\n", path);
        skip();
    }
    wanted[fread(wanted, 1, sizeof wanted - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text.bytes, wanted);
    free(text.bytes);
}

static void zipkin_is_golden(void **state)
{
    (void)state;
    golden(crest_zipkin_span_write, "\n", "tests/golden/spans.zipkin");
}

static void lines_are_golden(void **state)
{
    (void)state;
    golden(crest_span_line_write, "", "tests/golden/spans.jsonl");
}

static void they_are_the_same_in_every_locale(void **state)
{
    (void)state;
    decimal_comma();
    golden(crest_span_line_write, "", "tests/golden/spans.jsonl");
    setlocale(LC_NUMERIC, "C");
}

static void a_long_text_is_cut_at_a_character(void **state)
{
    static write_span_fn *const all[] = {crest_zipkin_span_write, crest_span_line_write};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        char *bytes;
        crest_span_batch batch = span_sample_long(&bytes);
        crest_span_text text = written(all[i], &batch, NULL, "");
        assert_in_range(text.length, CREST_SPAN_JSON_TEXT_BYTES_MAX,
                        CREST_SPAN_JSON_TEXT_BYTES_MAX + 512);
        /* one byte, then characters of two */
        const char *at = strstr(text.bytes, "\"x\xc3\xa9");
        assert_non_null(at);
        assert_int_equal(strcspn(at + 1, "\""), CREST_SPAN_JSON_TEXT_BYTES_MAX - 1);
        assert_non_null(strstr(text.bytes, "\xc3\xa9\"}"));
        free(text.bytes);
        free(bytes);
    }
}

/* Zipkin refuses a whole body for a duration of 0. */
static void a_duration_is_never_0(void **state)
{
    crest_span span = span_samples().spans[3];
    crest_span_batch batch = {.spans = &span, .count = 1};
    (void)state;
    span.end_unix_ns = span.start_unix_ns - 5000;
    crest_span_text text = written(crest_zipkin_span_write, &batch, NULL, "");
    assert_non_null(strstr(text.bytes, "\"duration\":1,"));
    assert_non_null(strstr(text.bytes, "\"serviceName\":\"unknown\""));
    free(text.bytes);
}

static int refuse(void *context, const void *bytes, size_t length)
{
    (void)bytes;
    (void)length;
    ++*(unsigned *)context;
    return 42;
}

static void a_writer_that_stops_is_not_called_again(void **state)
{
    crest_span_batch batch = span_samples();
    unsigned calls = 0;
    (void)state;
    assert_int_equal(crest_zipkin_span_write(&batch.spans[0], NULL, refuse, &calls), 42);
    assert_int_equal(crest_span_line_write(&batch.spans[0], NULL, refuse, &calls), 42);
    assert_int_equal(calls, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zipkin_is_golden),
        cmocka_unit_test(lines_are_golden),
        cmocka_unit_test(they_are_the_same_in_every_locale),
        cmocka_unit_test(a_long_text_is_cut_at_a_character),
        cmocka_unit_test(a_duration_is_never_0),
        cmocka_unit_test(a_writer_that_stops_is_not_called_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
