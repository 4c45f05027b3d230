/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of traces: compared byte for byte with tests/golden/otlp_spans.traces and .traces.json,
 * which test_otlp_bodies.py reads by protoc and compares with each other; bodies that are cut, and
 * refused; texts of any length and any bytes; no memory. To rewrite the golden files after a wanted
 * change, and then look at the diff of the JSON:
 *
 *     CREST_UPDATE_GOLDEN=1 build/release/tests/unit/otlp/test_otlp_traces
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/misuse.h"
#include "support/span_samples.h"

#include <crest/otlp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <zlib.h>

#include <cmocka.h>

#define TAKEN_MAX (4u << 20)

static const crest_page_label attributes[] = {{"service.name", "node \"1\""},
                                              {"service.instance.id", "caf\xc3\xa9\xff\n"},
                                              {"service.version", NULL},
                                              {"host.name", ""}};

/* All bodies of a call. */
typedef struct taken {
    unsigned bodies, refuse_at;
    size_t spans, length, longest, end;
    char bytes[TAKEN_MAX];
} taken;

static taken found;

static int take(void *context, const crest_otlp_traces_body *body)
{
    taken *into = context;
    assert_in_range(body->spans, 1, SIZE_MAX);
    assert_int_equal(body->first, into->end);
    assert_int_equal(body->end - body->first, body->spans);
    assert_in_range(body->length, 1, TAKEN_MAX - 1 - into->length);
    if (++into->bodies == into->refuse_at)
        return -7;
    memcpy(into->bytes + into->length, body->bytes, body->length);
    into->length += body->length;
    into->bytes[into->length] = '\0';
    into->longest = body->length > into->longest ? body->length : into->longest;
    into->spans += body->spans;
    into->end = body->end;
    return 0;
}

static crest_status write_spans(const crest_span_batch *batch, crest_otlp_traces_options options,
                                crest_error *error)
{
    found = (taken){.refuse_at = found.refuse_at};
    options.attributes = attributes;
    options.attribute_count = 4;
    return crest_otlp_traces_write(batch, &options, take, &found, error);
}

static void golden(crest_otlp_encoding encoding, const char *path)
{
    static char wanted[1 << 16];
    crest_error error;
    crest_span_batch batch = span_samples();
    assert_int_equal(write_spans(&batch, (crest_otlp_traces_options){.encoding = encoding}, &error),
                     CREST_OK);
    assert_int_equal(found.bodies, 1);
    int update = getenv("CREST_UPDATE_GOLDEN") != NULL;
    FILE *file = fopen(path, update ? "wb" : "rb");
    if (file == NULL)
        fail_msg("%s cannot be opened; run this in the root of the tree", path);
    if (update) {
        assert_int_equal(fwrite(found.bytes, 1, found.length, file), found.length);
        assert_int_equal(fclose(file), 0);
        print_message("skipped: %s was rewritten, not compared\n", path);
        skip();
    }
    size_t length = fread(wanted, 1, sizeof wanted, file);
    fclose(file);
    assert_int_equal(found.length, length);
    assert_memory_equal(found.bytes, wanted, length);
}

static void test_protobuf_is_golden(void **state)
{
    (void)state;
    golden(CREST_OTLP_PROTOBUF, "tests/golden/otlp_spans.traces");
}

static void test_json_is_golden(void **state)
{
    (void)state;
    golden(CREST_OTLP_JSON, "tests/golden/otlp_spans.traces.json");
}

/* ---- how many bytes ---- */

/* A span as nodes have them: with two attributes, one of many of a block. Without the root's
 * operation, which is there once a trace. */
static void test_a_span_takes_less_than_200_bytes(void **state)
{
    static const crest_span_attribute two[] = {
        {.key = "peer", .type = CREST_SPAN_TEXT, .value.s = "validator-17", .length = 12},
        {.key = "height", .type = CREST_SPAN_I64, .value.i = 8123456},
    };
    static crest_span spans[512];
    (void)state;
    for (unsigned i = 0; i < 512; i++) {
        spans[i] = span_samples().spans[3];
        spans[i].id += i * UINT64_C(0x9e3779b97f4a7c15);
        spans[i].start_unix_ns += i * UINT64_C(1234567);
        spans[i].end_unix_ns =
            spans[i].start_unix_ns + (i * UINT64_C(0xd6e8feb86659fd93) >> 40); /* to 16 ms */
        spans[i].outcome = CREST_OUTCOME_OK;
        spans[i].attributes = two;
        spans[i].attribute_count = 2;
    }
    crest_span_batch batch = {.spans = spans, .count = 512};
    crest_error error;
    assert_int_equal(write_spans(&batch, (crest_otlp_traces_options){0}, &error), CREST_OK);
    print_message("%zu bytes a span\n", found.length / 512);
    assert_in_range(found.length / 512, 80, 200);
    static unsigned char packed[1 << 17];
    uLongf length = sizeof packed;
    assert_int_equal(compress(packed, &length, (const Bytef *)found.bytes, found.length), Z_OK);
    print_message("%lu bytes a span, compressed\n", length / 512);
    assert_in_range(length / 512, 8, 70);
}

/* ---- bodies that are cut ---- */

static void test_bodies_are_cut_between_spans(void **state)
{
    crest_error error;
    crest_span_batch batch = span_samples();
    (void)state;
    for (int encoding = CREST_OTLP_PROTOBUF; encoding <= CREST_OTLP_JSON; encoding++) {
        crest_otlp_traces_options options = {.encoding = (crest_otlp_encoding)encoding,
                                             .body_bytes = CREST_OTLP_BODY_BYTES_MIN};
        assert_int_equal(write_spans(&batch, options, &error), CREST_OK);
        assert_in_range(found.bodies, 2, 5);
        assert_int_equal(found.spans, 5);
        /* one that is longer alone goes alone */
        assert_in_range(found.longest, 1, 2 * CREST_OTLP_BODY_BYTES_MIN);
    }
}

static void test_a_batch_of_nothing_has_no_body(void **state)
{
    crest_error error;
    crest_span_batch none = {.spans = NULL, .count = 0};
    (void)state;
    assert_int_equal(write_spans(&none, (crest_otlp_traces_options){0}, &error), CREST_OK);
    assert_int_equal(found.bodies, 0);
}

static void test_a_refused_body_ends_it(void **state)
{
    crest_error error;
    crest_span_batch batch = span_samples();
    (void)state;
    found.refuse_at = 2;
    crest_otlp_traces_options options = {.body_bytes = CREST_OTLP_BODY_BYTES_MIN};
    assert_int_equal(write_spans(&batch, options, &error), CREST_IO);
    found.refuse_at = 0;
    assert_int_equal(found.bodies, 2);
    assert_non_null(strstr(error.message, "returned -7"));
}

/* ---- hostile texts ---- */

static void test_a_long_text_is_cut_at_a_character(void **state)
{
    crest_error error;
    char *text;
    crest_span_batch batch = span_sample_long(&text);
    (void)state;
    for (int encoding = CREST_OTLP_PROTOBUF; encoding <= CREST_OTLP_JSON; encoding++) {
        crest_otlp_traces_options options = {.encoding = (crest_otlp_encoding)encoding};
        assert_int_equal(write_spans(&batch, options, &error), CREST_OK);
        assert_in_range(found.length, CREST_OTLP_SPAN_TEXT_BYTES_MAX,
                        CREST_OTLP_SPAN_TEXT_BYTES_MAX + 512);
        size_t bytes = 0;
        const char *at = memmem(found.bytes, found.length, "x\xc3\xa9\xc3\xa9", 5);
        assert_non_null(at);
        for (at++; at[bytes] == '\xc3' && at[bytes + 1] == '\xa9'; bytes += 2)
            continue;
        assert_int_equal(bytes, CREST_OTLP_SPAN_TEXT_BYTES_MAX - 2);
        assert_true((unsigned char)at[bytes] < 0x80);
    }
    free(text);
}

static void test_bytes_that_are_no_utf8_are_replaced_and_counted(void **state)
{
    uint64_t before = 0;
    crest_error error;
    crest_span_batch batch = span_samples();
    (void)state;
    static uint64_t counted;
    crest_misuse_bind(CREST_MISUSE_TEXT, &counted);
    before = counted;
    assert_int_equal(write_spans(&batch, (crest_otlp_traces_options){0}, &error), CREST_OK);
    assert_true(counted > before);
    assert_null(memmem(found.bytes, found.length, "no \xff", 4));
    assert_non_null(memmem(found.bytes, found.length, "no \xef\xbf\xbd parent", 13));
}

static void test_a_root_says_why_it_was_kept(void **state)
{
    static const char *const why[] = {"failed", "timed-out", "slow", "stuck"};
    crest_error error;
    crest_span span = span_samples().spans[0];
    crest_span_batch batch = {.spans = &span, .count = 1};
    (void)state;
    for (unsigned i = CREST_SPAN_SAMPLED; i <= CREST_SPAN_WHY_COUNT; i++) {
        span.kept_why = (uint8_t)i;
        crest_otlp_traces_options options = {.encoding = CREST_OTLP_JSON};
        assert_int_equal(write_spans(&batch, options, &error), CREST_OK);
        const char *said = strstr(found.bytes, "\"crest.kept\"");
        if (i == CREST_SPAN_SAMPLED || i == CREST_SPAN_WHY_COUNT)
            assert_null(said);
        else
            assert_non_null(strstr(said, why[i - 1]));
    }
}

/* ---- what is refused ---- */

static void assert_refused(const crest_span_batch *batch, const crest_otlp_traces_options *options,
                           const char *why)
{
    crest_error error;
    assert_int_equal(crest_otlp_traces_write(batch, options, take, &found, &error),
                     CREST_INVALID_ARGUMENT);
    if (strstr(error.message, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, why);
}

static void test_what_cannot_be_is_refused(void **state)
{
    static const crest_page_label no_key[] = {{"", "x"}};
    crest_span_batch batch = span_samples();
    (void)state;
    assert_refused(NULL, NULL, "no batch");
    assert_refused(&batch, &(crest_otlp_traces_options){.encoding = (crest_otlp_encoding)9},
                   "encoding 9");
    assert_refused(&batch, &(crest_otlp_traces_options){.body_bytes = 12}, "12 bytes");
    assert_refused(&batch, &(crest_otlp_traces_options){.attribute_count = 65}, "65 attributes");
    assert_refused(&batch, &(crest_otlp_traces_options){.attributes = no_key, .attribute_count = 1},
                   "has no key");
    crest_error error;
    assert_int_equal(crest_otlp_traces_write(&batch, NULL, NULL, NULL, &error),
                     CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_otlp_traces_write(&batch, NULL, take, &(taken){0}, NULL), CREST_OK);
}

static void test_without_memory_it_says_so(void **state)
{
    crest_error error;
    crest_span_batch batch = span_samples();
    (void)state;
    for (unsigned long after = 1;; after++) {
        crest_alloc_fail_after(after);
        crest_status status = write_spans(&batch, (crest_otlp_traces_options){0}, &error);
        crest_alloc_fail_after(0);
        if (status == CREST_OK) {
            assert_in_range(after, 2, 3);
            break;
        }
        assert_int_equal(status, CREST_NO_MEMORY);
        assert_int_equal(found.bodies, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_protobuf_is_golden),
        cmocka_unit_test(test_json_is_golden),
        cmocka_unit_test(test_a_span_takes_less_than_200_bytes),
        cmocka_unit_test(test_bodies_are_cut_between_spans),
        cmocka_unit_test(test_a_batch_of_nothing_has_no_body),
        cmocka_unit_test(test_a_refused_body_ends_it),
        cmocka_unit_test(test_a_long_text_is_cut_at_a_character),
        cmocka_unit_test(test_bytes_that_are_no_utf8_are_replaced_and_counted),
        cmocka_unit_test(test_a_root_says_why_it_was_kept),
        cmocka_unit_test(test_what_cannot_be_is_refused),
        cmocka_unit_test(test_without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
