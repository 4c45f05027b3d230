/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of traces and spans against SipHash computed elsewhere; traceparent and tracestate, good ones
 * and the ways in which they can be bad.
 */
#include "base/misuse.h"
#include "support/core_fixture.h"

#include <crest/trace_context.h>

#define GOOD_PARENT "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static void trace_is(crest_trace_id trace, const char *digits)
{
    char text[33];
    for (unsigned i = 0; i < sizeof trace.bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", trace.bytes[i]);
    assert_string_equal(text, digits);
}

static void test_trace_of_operation(void **state)
{
    (void)state;
    unsigned char hash[32], zeros[32] = {0};
    for (unsigned i = 0; i < sizeof hash; i++)
        hash[i] = (unsigned char)(0xa0 + i);
    trace_is(crest_trace_id_of(crest_op_bytes(hash, 32)), "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
    trace_is(crest_trace_id_of(crest_op_bytes(hash, 16)), "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
    trace_is(crest_trace_id_of(crest_op_u64(7)), "345e9dd90bc6abbd293c23bfe1061891");
    trace_is(crest_trace_id_of(crest_op_u64x2(7, 8)), "533a0007879fa3d2cfeef8a9b66ae83e");
    trace_is(crest_trace_id_of(crest_op_hex("0a0b0c")), "cb34bdab9ac2713edef0f39a4c9612cb");
    trace_is(crest_trace_id_of(crest_op_text("propose")), "f2a24c3fd86bc6b1551fcb37e1ee3af3");
    /* a hash that begins with zeros makes no trace of zeros */
    memset(zeros + 16, 1, 16);
    trace_is(crest_trace_id_of(crest_op_bytes(zeros, 32)), "c1808a1049e2a1f7f1dfcb37a19e4c45");
    trace_is(crest_trace_id_of(crest_op_none()), "00000000000000000000000000000000");
    /* long bytes are found by their beginning; long texts with one beginning are two traces */
    unsigned char longer[100];
    memset(longer, 7, sizeof longer);
    trace_is(crest_trace_id_of(crest_op_bytes(longer, 100)), "07070707070707070707070707070707");
    crest_trace_id a = crest_trace_id_of(crest_op_text("a text of more than 32 bytes, the one"));
    crest_trace_id b = crest_trace_id_of(crest_op_text("a text of more than 32 bytes, another"));
    assert_memory_not_equal(&a, &b, sizeof a);
    /* an operation that was made up */
    crest_op wrong = crest_op_u64(7);
    wrong.kind = 9;
    trace_is(crest_trace_id_of(wrong), "00000000000000000000000000000000");
}

static void test_flags(void **state)
{
    (void)state;
    const unsigned char hash[32] = {0xab, 1};
    crest_span_context context = crest_span_context_of(crest_op_u64(7), 5);
    assert_int_equal(context.flags, CREST_TRACE_RANDOM);
    assert_int_equal(context.span, 5);
    assert_int_equal(context.remote, 0);
    assert_int_equal(crest_span_context_of(crest_op_text("block"), 5).flags, CREST_TRACE_RANDOM);
    /* bytes as given: zeros of a proof of work are not random */
    assert_int_equal(crest_span_context_of(crest_op_bytes(hash, 32), 5).flags, 0);
    assert_int_equal(crest_span_context_of(crest_op_bytes(hash, 15), 5).flags, CREST_TRACE_RANDOM);
    context = crest_span_context_of(crest_op_none(), 5);
    assert_false(crest_span_context_valid(&context));
    assert_int_equal(context.span, 0);
    context = crest_span_context_of(crest_op_u64(7), 0);
    assert_false(crest_trace_id_valid(&context.trace));
}

static void test_spans(void **state)
{
    (void)state;
    crest_op op = crest_op_u64(7);
    assert_true(crest_span_id_of(op, "casper.block-time", "node-1") == 0x40adab54effb9650);
    assert_true(crest_span_id_of(op, "casper.block-time", "") == 0xe28b636fd07223f2);
    assert_true(crest_span_id_of(op, "casper.block-time", NULL) == 0xe28b636fd07223f2);
    assert_true(crest_span_id_of(op, "casper.block-tim", "enode-1") != 0x40adab54effb9650);
    assert_true(crest_span_id_of(crest_op_none(), "casper.block-time", "node-1") == 0);
    assert_true(crest_span_id_of(op, NULL, NULL) != 0);
}

static void test_parent_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned flags;
    } good[] = {
        {GOOD_PARENT, 1},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", 0},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03", 3},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fd", 1},
        {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", 1},
        {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what.the.future", 1},
        {"fe-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02-", 2},
    };
    crest_error error;
    crest_span_context context;
    for (size_t i = 0; i < LENGTH(good); i++) {
        assert_int_equal(
            crest_traceparent_read(good[i].text, strlen(good[i].text), &context, &error), CREST_OK);
        trace_is(context.trace, "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_true(context.span == 0x00f067aa0ba902b7);
        assert_int_equal(context.flags, good[i].flags);
        assert_int_equal(context.remote, 1);
        assert_int_equal(error.status, CREST_OK);
    }
}

static void test_parent_bad(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "shorter"},
        {"00", "shorter"},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0", "shorter"},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-", "shorter"},
        {GOOD_PARENT "0", "behind"},
        {GOOD_PARENT "-", "behind"},
        {GOOD_PARENT "-what.the.future", "behind"},
        {GOOD_PARENT " ", "behind"},
        {" " GOOD_PARENT, "version"},
        {"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "ff"},
        {"0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "version"},
        {"CC-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "version"},
        {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what", "begin with -"},
        {"00-00000000000000000000000000000000-00f067aa0ba902b7-01", "trace id is zero"},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", "span id is zero"},
        {"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", "trace id is not"},
        {"00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01", "trace id is not"},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01", "span id is not"},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0A", "flags"},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-.0", "flags"},
        {"00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "no -"},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01", "no -"},
        {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01", "no -"},
        {"00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b722-1", "no -"},
        {"00-\xc3\xa4"
         "f92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
         "trace id is not"},
    };
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_CONTEXT);
    crest_span_context context, zeros;
    crest_error error;
    memset(&zeros, 0, sizeof zeros);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        memset(&context, 0xee, sizeof context);
        assert_int_equal(crest_traceparent_read(bad[i].text, strlen(bad[i].text), &context, &error),
                         CREST_INVALID_ARGUMENT);
        assert_memory_equal(&context, &zeros, sizeof zeros);
        if (strstr(error.message, bad[i].why) == NULL)
            fail_msg("%zu: %s", i, error.message);
    }
    /* bytes in the middle, and nothing at all */
    assert_int_equal(
        crest_traceparent_read("00-4bf92f3577b34da6\0003ce929d0e0e4736-00f067aa0ba902b7-01", 55,
                               &context, NULL),
        CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_traceparent_read(NULL, 55, &context, NULL), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_CONTEXT) - misuse,
                     LENGTH(bad) + 2);
}

static void test_parent_written(void **state)
{
    (void)state;
    char text[CREST_TRACEPARENT_BYTES];
    crest_span_context context;
    assert_int_equal(crest_traceparent_read(GOOD_PARENT, 55, &context, NULL), CREST_OK);
    assert_int_equal(crest_traceparent_write(&context, text, sizeof text), 55);
    assert_string_equal(text, GOOD_PARENT);
    context.flags = 0xff; /* those that level 2 knows */
    assert_int_equal(crest_traceparent_write(&context, text, sizeof text), 55);
    assert_string_equal(text + 53, "03");
    assert_int_equal(crest_traceparent_write(&context, text, sizeof text - 1), 0);
    assert_string_equal(text, "");
    text[0] = 'x';
    assert_int_equal(crest_traceparent_write(&context, text, 0), 0);
    assert_int_equal(text[0], 'x');
    context.span = 0;
    assert_int_equal(crest_traceparent_write(&context, text, sizeof text), 0);
    assert_string_equal(text, "");
}

/* A member `key=vvv…` of `length` bytes. */
static size_t state_member(char *to, const char *key, size_t length)
{
    size_t used = (size_t)sprintf(to, "%s=", key);
    memset(to + used, 'v', length - used);
    to[length] = '\0';
    return length;
}

static void state_reads(const char *text, crest_status status, const char *kept)
{
    crest_tracestate read;
    crest_error error;
    memset(&read, 0xee, sizeof read);
    if (crest_tracestate_read(text, strlen(text), &read, &error) != status ||
        strcmp(read.text, kept) != 0 || read.length != strlen(kept))
        fail_msg("%s: %s, read as %s", text, error.message, read.text);
}

static void test_state_read(void **state)
{
    (void)state;
    char text[2000], longest[520], keys[300];
    state_reads("", CREST_OK, "");
    state_reads("ot=th:8", CREST_OK, "ot=th:8");
    state_reads("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", CREST_OK,
                "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
    state_reads(" a=1 ,\t, b=2\t,", CREST_OK, "a=1,b=2");
    state_reads("t@s/_-*=x y~!", CREST_OK, "t@s/_-*=x y~!");
    state_reads("0a=1,a0=1", CREST_OK, "0a=1,a0=1");
    static const char *const bad[] = {
        "a",      "=1",         "a=",          "a= ",  "A=1",       "a=1=2",     "@=1",   "a =1",
        "a=\x7f", "a=\xc3\xa4", "a=1,b=1,a=2", "_a=1", "a=1;b=2,c", "a=1,\nb=2", "a=\tb",
    };
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_CONTEXT);
    for (size_t i = 0; i < LENGTH(bad); i++)
        state_reads(bad[i], CREST_INVALID_ARGUMENT, "");
    assert_int_equal(crest_misuse_value(CREST_MISUSE_CONTEXT) - misuse, LENGTH(bad));
    /* 32 members are kept, 33 are none */
    char *at = text;
    for (int i = 0; i < 32; i++)
        at += sprintf(at, "%sk%d=1", i == 0 ? "" : ",", i);
    state_reads(text, CREST_OK, text);
    strcpy(at, ",k32=1");
    state_reads(text, CREST_INVALID_ARGUMENT, "");
    /* keys and values of 256 bytes */
    memset(keys, 'k', 257);
    strcpy(keys + 256, "=1");
    state_reads(keys, CREST_OK, keys);
    memset(keys, 'k', 257);
    strcpy(keys + 257, "=1");
    state_reads(keys, CREST_INVALID_ARGUMENT, "");
    state_member(longest, "a", 2 + 256);
    state_reads(longest, CREST_OK, longest);
    state_member(longest, "a", 2 + 257);
    state_reads(longest, CREST_INVALID_ARGUMENT, "");
}

static void test_state_shortened(void **state)
{
    (void)state;
    char text[2000], kept[600];
    /* 512 bytes pass whole: three of 128 and one of 125, and three commas */
    char *at = text;
    for (int i = 0; i < 4; i++) {
        char key[] = {(char)('a' + i), 0};
        if (i != 0)
            *at++ = ',';
        at += state_member(at, key, i == 3 ? 125 : 128);
    }
    assert_int_equal(at - text, 512);
    state_reads(text, CREST_OK, text);
    /* one byte more: the last member goes, whole */
    memcpy(kept, text, 386);
    kept[386] = '\0';
    strcpy(at, "v");
    state_reads(text, CREST_OK, kept);
    /* long members go before short ones, and only as many as must */
    at = text;
    at += state_member(at, "big", 200);
    *at++ = ',';
    at += state_member(at, "huge", 200);
    *at++ = ',';
    at += state_member(at, "a", 100);
    *at++ = ',';
    at += state_member(at, "b", 100);
    state_reads(text, CREST_OK, text + 201);
}

static void test_state_put(void **state)
{
    (void)state;
    crest_tracestate read;
    size_t length;
    char text[600];
    assert_int_equal(crest_tracestate_read("a=1,ot=th:8,b=2", 15, &read, NULL), CREST_OK);
    assert_int_equal(crest_tracestate_put(&read, "ot", "th:c;rv:1"), CREST_OK);
    assert_string_equal(read.text, "ot=th:c;rv:1,a=1,b=2");
    const char *value = crest_tracestate_find(&read, "ot", &length);
    assert_int_equal(length, 9);
    assert_memory_equal(value, "th:c;rv:1", 9);
    assert_null(crest_tracestate_find(&read, "o", &length));
    assert_int_equal(length, 0);
    assert_int_equal(crest_tracestate_put(&read, "Ot", "1"), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_tracestate_put(&read, "ot", "a,b"), CREST_INVALID_ARGUMENT);
    assert_string_equal(read.text, "ot=th:c;rv:1,a=1,b=2");
    /* no room: the last ones go */
    state_member(text, "x", 250);
    strcat(text, ",");
    state_member(text + 251, "y", 250);
    assert_int_equal(crest_tracestate_read(text, strlen(text), &read, NULL), CREST_OK);
    assert_int_equal(read.length, 501);
    assert_int_equal(crest_tracestate_put(&read, "ot", "th:12345"), CREST_OK);
    assert_int_equal(read.length, 11 + 1 + 250);
    assert_null(crest_tracestate_find(&read, "y", &length));
    memset(&read, 0, sizeof read);
    assert_int_equal(crest_tracestate_put(&read, "ot", "th:8"), CREST_OK);
    assert_string_equal(read.text, "ot=th:8");
    /* 32 members stay 32 */
    char *at = text;
    for (int i = 0; i < 32; i++)
        at += sprintf(at, "%sk%d=1", i == 0 ? "" : ",", i);
    assert_int_equal(crest_tracestate_read(text, strlen(text), &read, NULL), CREST_OK);
    assert_int_equal(crest_tracestate_put(&read, "ot", "1"), CREST_OK);
    assert_null(crest_tracestate_find(&read, "k31", &length));
    assert_non_null(crest_tracestate_find(&read, "k30", &length));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace_of_operation),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_parent_read),
        cmocka_unit_test(test_parent_bad),
        cmocka_unit_test(test_parent_written),
        cmocka_unit_test(test_state_read),
        cmocka_unit_test(test_state_shortened),
        cmocka_unit_test(test_state_put),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
