/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h: what goes in comes out, in bounded pieces, until the callback refuses.
 */
#include "base/alloc.h"
#include "base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SINK_BYTES (1u << 20)

/* Keeps what it is given; refuses the piece with the given number. */
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

static void test_everything_comes_out(void **state)
{
    sink *into = *state;
    crest_buffer buffer;
    assert_true(crest_buffer_init(&buffer, sink_write, into));
    crest_buffer_put_text(&buffer, "x_total ");
    crest_buffer_put_u64(&buffer, 18446744073709551615u);
    crest_buffer_put_char(&buffer, '\n');
    crest_buffer_put_double(&buffer, 0.25);
    crest_buffer_put_bytes(&buffer, " and more", 4);
    crest_buffer_put_char(&buffer, ' ');
    crest_buffer_put_scaled(&buffer, 1500, 3);
    crest_buffer_put_bytes(&buffer, "", 0);
    assert_int_equal(into->pieces, 0);
    assert_true(crest_buffer_flush(&buffer));
    assert_int_equal(into->pieces, 1);
    assert_string_equal(into->bytes, "x_total 18446744073709551615\n0.25 and 1.5");
    assert_int_equal(buffer.delivered, strlen(into->bytes));
    assert_true(crest_buffer_flush(&buffer));
    assert_int_equal(into->pieces, 1);
    crest_buffer_fini(&buffer);
}

/* Texts of all lengths around the size of the buffer, at all fillings around it. */
static void test_long_texts(void **state)
{
    sink *into = *state;
    static char text[3 * CREST_BUFFER_BYTES];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 23);
    static const size_t lengths[] = {0,
                                     1,
                                     CREST_BUFFER_BYTES - 1,
                                     CREST_BUFFER_BYTES,
                                     CREST_BUFFER_BYTES + 1,
                                     2 * CREST_BUFFER_BYTES,
                                     sizeof text};
    for (size_t first = 0; first < sizeof lengths / sizeof lengths[0]; first++) {
        for (size_t second = 0; second < sizeof lengths / sizeof lengths[0]; second++) {
            crest_buffer buffer;
            into->length = into->pieces = 0;
            assert_true(crest_buffer_init(&buffer, sink_write, into));
            crest_buffer_put_bytes(&buffer, text, lengths[first]);
            crest_buffer_put_bytes(&buffer, text, lengths[second]);
            assert_true(crest_buffer_flush(&buffer));
            size_t total = lengths[first] + lengths[second];
            assert_int_equal(into->length, total);
            assert_int_equal(into->pieces, (total + CREST_BUFFER_BYTES - 1) / CREST_BUFFER_BYTES);
            assert_memory_equal(into->bytes, text, lengths[first]);
            assert_memory_equal(into->bytes + lengths[first], text, lengths[second]);
            crest_buffer_fini(&buffer);
        }
    }
}

static void test_many_numbers(void **state)
{
    sink *into = *state;
    crest_buffer buffer;
    assert_true(crest_buffer_init(&buffer, sink_write, into));
    for (uint64_t i = 0; i < 100000; i++) {
        crest_buffer_put_u64(&buffer, i);
        crest_buffer_put_char(&buffer, ' ');
    }
    assert_true(crest_buffer_flush(&buffer));
    const char *at = into->bytes;
    for (uint64_t i = 0; i < 100000; i++) {
        char *end;
        assert_int_equal(strtoull(at, &end, 10), i);
        assert_int_equal(*end, ' ');
        at = end + 1;
    }
    assert_ptr_equal(at, into->bytes + into->length);
    assert_int_equal(buffer.delivered, into->length);
    crest_buffer_fini(&buffer);
}

static void test_refused(void **state)
{
    sink *into = *state;
    into->refuse_at = 2;
    crest_buffer buffer;
    assert_true(crest_buffer_init(&buffer, sink_write, into));
    for (int i = 0; i < 100000; i++)
        crest_buffer_put_text(&buffer, "0123456789");
    assert_false(crest_buffer_flush(&buffer));
    assert_int_equal(into->pieces, 2);
    assert_int_equal(into->length, CREST_BUFFER_BYTES);
    assert_int_equal(buffer.failed, 7);
    assert_int_equal(buffer.delivered, CREST_BUFFER_BYTES);
    assert_int_equal(buffer.refused, CREST_BUFFER_BYTES);
    crest_buffer_put_u64(&buffer, 1);
    assert_false(crest_buffer_flush(&buffer));
    assert_int_equal(into->pieces, 2);
    crest_buffer_fini(&buffer);
}

static void test_no_memory(void **state)
{
    sink *into = *state;
    crest_buffer buffer;
    crest_alloc_fail_after(1);
    int made = crest_buffer_init(&buffer, sink_write, into);
    crest_alloc_fail_after(0);
    assert_false(made);
    crest_buffer_fini(&buffer);
    assert_int_equal(into->pieces, 0);
}

#define SINK_TEST(function) cmocka_unit_test_setup_teardown(function, sink_setup, sink_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SINK_TEST(test_everything_comes_out),
        SINK_TEST(test_long_texts),
        SINK_TEST(test_many_numbers),
        SINK_TEST(test_refused),
        SINK_TEST(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
