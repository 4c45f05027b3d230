/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/protobuf.h: the bytes that the encoding guide shows, numbers at every border, and messages
 * shorter and longer than the buffer, which are the same bytes whichever way they went.
 */
#include "base/alloc.h"
#include "support/random_numbers.h"
#include "wire/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SINK_BYTES (4u << 20)

typedef struct sink {
    char *bytes;
    size_t length;
    unsigned pieces;
    unsigned refuse_at; /* 0: never */
} sink;

static int sink_write(void *context, const void *bytes, size_t length)
{
    sink *into = context;
    assert_in_range(length, 1, CREST_BUFFER_BYTES);
    if (++into->pieces == into->refuse_at)
        return 7;
    assert_in_range(into->length + length, 1, SINK_BYTES);
    memcpy(into->bytes + into->length, bytes, length);
    into->length += length;
    return 0;
}

static int sink_setup(void **state)
{
    sink *into = calloc(1, sizeof *into);
    into->bytes = calloc(1, SINK_BYTES);
    *state = into;
    return 0;
}

static int sink_teardown(void **state)
{
    sink *into = *state;
    free(into->bytes);
    free(into);
    return 0;
}

#define SINK_TEST(function) cmocka_unit_test_setup_teardown(function, sink_setup, sink_teardown)

/* ---- fields ---- */

static void check_bytes(const char *begin, const char *end, const char *wanted, size_t length)
{
    assert_int_equal(end - begin, length);
    assert_memory_equal(begin, wanted, length);
}

#define CHECK_BYTES(begin, end, wanted) check_bytes(begin, end, wanted, sizeof(wanted) - 1)

/* protobuf.dev/programming-guides/encoding, and what its rules give. */
static void test_guide(void **state)
{
    (void)state;
    char text[512], *body; /* gcc wonders what a length of two bytes would move */
    CHECK_BYTES(text, crest_wire_u64(text, 1, 150), "\x08\x96\x01");
    CHECK_BYTES(text, crest_wire_bytes(text, 2, "testing", 7), "\x12\x07testing");
    CHECK_BYTES(text, crest_wire_u64(text, 1, (uint64_t)(int64_t)-2),
                "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    CHECK_BYTES(text, crest_wire_double(text, 1, 1), "\x09\0\0\0\0\0\0\xf0\x3f");
    CHECK_BYTES(text, crest_wire_u64(text, 16, 0), "\x80\x01\0");
    char *at = crest_wire_begin(text, 3, &body);
    at = crest_wire_u64(at, 1, 150);
    CHECK_BYTES(text, crest_wire_end(body, at), "\x1a\x03\x08\x96\x01");
    at = crest_wire_begin(text, 6, &body);
    for (unsigned i = 0; i < 3; i++)
        at = crest_wire_varint(at, i == 0 ? 3 : i == 1 ? 270 : 86942);
    CHECK_BYTES(text, crest_wire_end(body, at), "\x32\x06\x03\x8e\x02\x9e\xa7\x05");
    at = crest_wire_begin(text, 1, &body);
    CHECK_BYTES(text, crest_wire_end(body, at), "\x0a\0");
}

static void test_zigzag(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        uint64_t encoded;
    } cases[] = {{0, 0},
                 {-1, 1},
                 {1, 2},
                 {-2, 3},
                 {INT32_MAX, 0xfffffffe},
                 {INT32_MIN, 0xffffffff},
                 {INT64_MAX, UINT64_MAX - 1},
                 {INT64_MIN, UINT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(crest_wire_zigzag(cases[i].value), cases[i].encoded);
}

static uint64_t varint_read(const char **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = (unsigned char)*(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

/* Each value around each power of two is read back, and has no byte more than it needs. */
static void test_varints(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        for (int more = -1; more <= 1; more++) {
            uint64_t value = (UINT64_C(1) << bit) + (uint64_t)(int64_t)more;
            char text[CREST_WIRE_VARINT_BYTES_MAX];
            const char *end = crest_wire_varint(text, value), *at = text;
            assert_int_equal(end - text, crest_wire_varint_bytes(value));
            assert_true(end - text == 1 || end[-1] != 0);
            assert_int_equal(varint_read(&at), value);
            assert_ptr_equal(at, end);
        }
    }
}

/* A length of one, two and three bytes. */
static void test_back_patched_lengths(void **state)
{
    (void)state;
    static char text[40000], content[40000];
    static const size_t lengths[] = {0, 1, 127, 128, 129, 16383, 16384, 39000};
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)(i * 7 + i / 251);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *body, *at = crest_wire_begin(text, 5, &body);
        memcpy(at, content, lengths[i]);
        const char *end = crest_wire_end(body, at + lengths[i]), *read = text;
        assert_int_equal(varint_read(&read), 5 << 3 | CREST_WIRE_LENGTH);
        assert_int_equal(varint_read(&read), lengths[i]);
        assert_int_equal(end - read, lengths[i]);
        assert_memory_equal(read, content, lengths[i]);
    }
}

/* ---- streams ---- */

/* A message of about so many bytes, in fields of any lengths. Returns how often it was encoded. */
static unsigned put_message(crest_wire *wire, uint64_t seed, size_t bytes)
{
    unsigned times = 0;
    do {
        uint64_t random = seed;
        crest_wire_open(wire);
        for (size_t put = 0; put < bytes;) {
            random = random_step(random);
            size_t length = (random >> 40) % 3000;
            length = length < bytes - put ? length : bytes - put;
            char *at = crest_wire_reserve(wire, length + CREST_WIRE_FIELD_BYTES_MAX);
            at = crest_wire_varint(crest_wire_tag(at, 1, CREST_WIRE_LENGTH), length);
            memset(at, 'a' + (int)(random >> 33) % 26, length);
            crest_wire_commit(wire, at + length);
            put += length + 1;
        }
        times++;
    } while (!crest_wire_close(wire));
    return times;
}

/* The same, as one that does not know of pieces would write it. */
static size_t put_whole(char *to, uint64_t seed, size_t bytes)
{
    static char body[SINK_BYTES];
    char *end = body;
    for (size_t put = 0; put < bytes;) {
        seed = random_step(seed);
        size_t length = (seed >> 40) % 3000;
        length = length < bytes - put ? length : bytes - put;
        end = crest_wire_varint(crest_wire_tag(end, 1, CREST_WIRE_LENGTH), length);
        memset(end, 'a' + (int)(seed >> 33) % 26, length);
        end += length;
        put += length + 1;
    }
    char *at = crest_wire_varint(to, (uint64_t)(end - body));
    memcpy(at, body, (size_t)(end - body));
    return (size_t)(at - to) + (size_t)(end - body);
}

static void test_any_lengths(void **state)
{
    sink *into = *state;
    static char wanted[SINK_BYTES];
    unsigned encoded[3] = {0, 0, 0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        crest_buffer buffer;
        crest_wire wire;
        size_t length = 0;
        into->length = 0;
        assert_true(crest_buffer_init(&buffer, sink_write, into));
        crest_wire_init(&wire, &buffer);
        if (seed % 2 == 0) /* no buffer can be kept */
            crest_alloc_fail_after(1);
        uint64_t random = seed;
        for (unsigned i = 0; i < 6; i++) {
            random = random_step(random);
            size_t bytes = (random >> 33) % (i % 2 == 0 ? 200000 : 40000);
            if (i == 5)
                bytes = CREST_BUFFER_BYTES - 20 + seed % 40;
            unsigned times = put_message(&wire, random, bytes);
            assert_in_range(times, 1, 1 + (seed % 2 == 0));
            encoded[times]++;
            length += put_whole(wanted + length, random, bytes);
        }
        crest_alloc_fail_after(0);
        assert_true(crest_buffer_flush(&buffer));
        crest_buffer_fini(&buffer);
        assert_int_equal(into->length, length);
        assert_memory_equal(into->bytes, wanted, length);
    }
    assert_true(encoded[1] > 100 && encoded[2] > 100);
}

/* One that just fits is encoded once, one byte more twice where no buffer can be kept. */
static void test_the_largest_that_fits(void **state)
{
    sink *into = *state;
    static const char filler[CREST_WIRE_ROOM_MAX];
    for (unsigned more = 0; more < 2; more++) {
        crest_buffer buffer;
        crest_wire wire;
        unsigned times = 0;
        into->length = 0;
        assert_true(crest_buffer_init(&buffer, sink_write, into));
        crest_wire_init(&wire, &buffer);
        crest_buffer_put_text(&buffer, "what lay there before");
        crest_alloc_fail_after(1);
        do {
            crest_wire_open(&wire);
            crest_wire_put_bytes(&wire, filler, sizeof filler);
            crest_wire_put_bytes(&wire, "x", more);
            times++;
        } while (!crest_wire_close(&wire));
        crest_alloc_fail_after(0);
        assert_true(crest_buffer_flush(&buffer));
        crest_buffer_fini(&buffer);
        assert_int_equal(times, 1 + more);
        assert_int_equal(into->length, 21 + 3 + sizeof filler + more);
    }
}

/* Up to a mebibyte buffers are kept; a longer one is encoded twice. After each, memory may run out
 * on any buffer. */
static void test_kept(void **state)
{
    sink *into = *state;
    static char wanted[SINK_BYTES];
    static const size_t sizes[] = {70000, 130000, 900000, 980000, 1100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned after = 0; after < 18; after++) {
            crest_buffer buffer;
            crest_wire wire;
            into->length = 0;
            assert_true(crest_buffer_init(&buffer, sink_write, into));
            crest_wire_init(&wire, &buffer);
            crest_alloc_fail_after(after); /* 0: it does not */
            unsigned times = put_message(&wire, i + 1, sizes[i]);
            crest_alloc_fail_after(0);
            if (after == 0)
                assert_int_equal(times, sizes[i] > 1000000 ? 2 : 1);
            if (after == 1)
                assert_int_equal(times, 2);
            assert_int_equal(put_message(&wire, 99, 10), 1);
            assert_true(crest_buffer_flush(&buffer));
            crest_buffer_fini(&buffer);
            size_t length = put_whole(wanted, i + 1, sizes[i]);
            length += put_whole(wanted + length, 99, 10);
            assert_int_equal(into->length, length);
            assert_memory_equal(into->bytes, wanted, length);
        }
}

/* What refuses a piece ends it, and the message still comes to its end. */
static void test_refused(void **state)
{
    sink *into = *state;
    for (unsigned piece = 1; piece < 6; piece++) {
        crest_buffer buffer;
        crest_wire wire;
        into->length = into->pieces = 0;
        into->refuse_at = piece;
        assert_true(crest_buffer_init(&buffer, sink_write, into));
        crest_wire_init(&wire, &buffer);
        for (unsigned i = 0; i < 4; i++)
            put_message(&wire, i, i % 2 == 0 ? 150000 : 30000);
        assert_false(crest_buffer_flush(&buffer));
        assert_int_equal(buffer.failed, 7);
        assert_int_equal(into->pieces, piece);
        crest_buffer_fini(&buffer);
    }
}

static void test_texts(void **state)
{
    sink *into = *state;
    static const char *const texts[][2] = {
        {"", ""},
        {"plain", "plain"},
        {"\xe2\x82\xac", "\xe2\x82\xac"},
        {"\xff", "\xef\xbf\xbd"},
        {"a\xe2\x82", "a\xef\xbf\xbd"},
        {"\xc3(\xf0\x9f\x8c\x8a\xed\xa0\x80", "\xef\xbf\xbd(\xf0\x9f\x8c\x8a"
                                              "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        crest_buffer buffer;
        crest_wire wire;
        size_t length = strlen(texts[i][1]);
        into->length = 0;
        assert_int_equal(crest_wire_utf8_bytes(texts[i][0]), length);
        assert_true(crest_buffer_init(&buffer, sink_write, into));
        crest_wire_init(&wire, &buffer);
        crest_wire_open(&wire);
        crest_wire_put_text(&wire, 2, texts[i][0]);
        assert_true(crest_wire_close(&wire));
        assert_true(crest_buffer_flush(&buffer));
        crest_buffer_fini(&buffer);
        assert_int_equal(into->length, 1 + crest_wire_text_bytes(length));
        assert_int_equal(into->bytes[0], crest_wire_text_bytes(length));
        assert_int_equal(into->bytes[1], 2 << 3 | CREST_WIRE_LENGTH);
        assert_int_equal(into->bytes[2], length);
        assert_memory_equal(into->bytes + 3, texts[i][1], length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guide),   cmocka_unit_test(test_zigzag),
        cmocka_unit_test(test_varints), cmocka_unit_test(test_back_patched_lengths),
        SINK_TEST(test_any_lengths),    SINK_TEST(test_the_largest_that_fits),
        SINK_TEST(test_kept),           SINK_TEST(test_refused),
        SINK_TEST(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
