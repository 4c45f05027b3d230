/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/op.h>: which identities are the same, and how they read.
 */
#include "support/core_fixture.h"
#include "base/utf8.h"

static void assert_same(crest_op a, crest_op b)
{
    assert_true(crest_op_equal(&a, &b) && crest_op_equal(&b, &a));
}

static void assert_different(crest_op a, crest_op b)
{
    assert_false(crest_op_equal(&a, &b) || crest_op_equal(&b, &a));
}

static void test_kinds(void **state)
{
    (void)state;
    uint64_t seven = 7, pair[2] = {7, 8};
    crest_op none = {{0, 0, 0, 0}, 0, CREST_OP_NONE};
    const crest_op ops[] = {
        crest_op_u64(7),           crest_op_u64(8),
        crest_op_u64(0),           crest_op_u64x2(7, 0),
        crest_op_u64x2(7, 8),      crest_op_u64x2(0, 7),
        crest_op_bytes(&seven, 8), crest_op_bytes(pair, 16),
        crest_op_bytes("7", 1),    crest_op_text("7"),
        crest_op_text("07"),       crest_op_bytes("\0", 1),
        crest_op_bytes("\0\0", 2), none,
    };
    for (size_t i = 0; i < LENGTH(ops); i++)
        for (size_t j = 0; j < LENGTH(ops); j++)
            if (i == j)
                assert_same(ops[i], ops[j]);
            else
                assert_different(ops[i], ops[j]);
    /* where the compiler sees of which kind the one is, it compares less of the other */
    for (size_t i = 0; i < LENGTH(ops); i++) {
        crest_op op = crest_op_u64(7), zero = crest_op_u64(0);
        assert_int_equal(crest_op_equal(&ops[i], &op), i == 0);
        assert_int_equal(crest_op_equal(&ops[i], &zero), i == 2);
    }
    assert_same(crest_op_text(NULL), none);
    assert_same(crest_op_text(""), none);
    assert_same(crest_op_bytes(NULL, 5), none);
    assert_same(crest_op_bytes("x", 0), none);
}

/* Up to 32 bytes exactly, beyond them by prefix and hash: a change anywhere is another operation.
 */
static void test_bytes(void **state)
{
    (void)state;
    unsigned char a[200], b[200];
    for (size_t i = 0; i < sizeof a; i++)
        a[i] = (unsigned char)(i + 1);
    for (size_t length = 1; length <= sizeof a; length++) {
        memcpy(b, a, sizeof b);
        assert_same(crest_op_bytes(a, length), crest_op_bytes(b, length));
        for (size_t at = 0; at < length; at++) {
            b[at] ^= 1;
            assert_different(crest_op_bytes(a, length), crest_op_bytes(b, length));
            b[at] ^= 1;
        }
        assert_different(crest_op_bytes(a, length), crest_op_bytes(a, length - 1));
        a[sizeof a - 1] = (unsigned char)(a[sizeof a - 1] + (length < sizeof a - 1));
    }
    char text[100];
    memset(text, 't', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_same(crest_op_text(text), crest_op_text(text));
    assert_different(crest_op_text(text), crest_op_bytes(text, sizeof text - 1));
}

static void test_hex(void **state)
{
    (void)state;
    unsigned char bytes[100];
    char lower[201], upper[201];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 37 + 5);
        snprintf(lower + 2 * i, 3, "%02x", bytes[i]);
        snprintf(upper + 2 * i, 3, "%02X", bytes[i]);
    }
    for (size_t length = sizeof bytes; length != 0; length--) {
        lower[2 * length] = upper[2 * length] = '\0';
        assert_same(crest_op_hex(lower), crest_op_bytes(bytes, length));
        assert_same(crest_op_hex(upper), crest_op_bytes(bytes, length));
    }
    static const char *const bad[] = {NULL, "", "a", "abc", "0x12", "zz", "12 4", "1g", "g1", "-1"};
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_int_equal(crest_op_hex(bad[i]).kind, CREST_OP_NONE);
}

static void test_format(void **state)
{
    (void)state;
    unsigned char bytes[40];
    memset(bytes, 0xab, sizeof bytes);
    static const char *const ten_euros = "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82"
                                         "\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2"
                                         "\x82\xac\xe2\x82\xac\xe2\x82\xac";
    const struct {
        crest_op op;
        const char *text;
    } cases[] = {
        {crest_op_u64(7), "7"},
        {crest_op_u64(UINT64_MAX), "18446744073709551615"},
        {crest_op_u64x2(UINT64_MAX, 0), "18446744073709551615:0"},
        {crest_op_u64x2(UINT64_MAX, UINT64_MAX), "18446744073709551615:18446744073709551615"},
        {crest_op_bytes("\x01\xff", 2), "0x01ff"},
        {crest_op_bytes(bytes, 32),
         "0xabababababababababababababababababababababababababababababababab"},
        {crest_op_bytes(bytes, 33), "0xabababababababababababababababab\xe2\x80\xa6"},
        {crest_op_text("block"), "block"},
        {crest_op_text("0123456789abcdef0123456789abcdef"), "0123456789abcdef0123456789abcdef"},
        {crest_op_text("0123456789abcdef0123456789abcdef0"), "0123456789abcdef\xe2\x80\xa6"},
        {crest_op_text(ten_euros),
         "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x80\xa6"},
        {crest_op_hex("nothing"), "-"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char text[CREST_OP_TEXT_BYTES];
        size_t whole = crest_op_format(&cases[i].op, text, sizeof text);
        assert_int_equal(whole, strlen(text));
        assert_string_equal(text, cases[i].text);
        for (size_t size = 0; size <= strlen(cases[i].text); size++) {
            memset(text, '#', sizeof text);
            size_t length = crest_op_format(&cases[i].op, text, size);
            assert_true(size == 0 ? length == 0 : length < size && length + 4 > size);
            if (size != 0)
                assert_true(crest_utf8_is_valid(text));
            assert_int_equal(text[size], '#');
            if (size != 0) {
                assert_int_equal(text[length], '\0');
                assert_memory_equal(text, cases[i].text, length);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_hex),
        cmocka_unit_test(test_format),
    };
    return cmocka_run_group_tests_name("op", tests, NULL, NULL);
}
