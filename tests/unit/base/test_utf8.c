/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h: every code point, every pair of bytes, the known ways of getting it wrong, and cutting.
 */
#include "support/random_numbers.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define BAD CREST_UTF8_REPLACEMENT

/* Encodes any number below 2^21, valid code point or not, in the given number of bytes. */
static void encode(uint32_t code, size_t bytes, char *text)
{
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = bytes; i-- > 1; code >>= 6)
        text[i] = (char)(0x80 | (code & 0x3f));
    text[0] = (char)(marks[bytes] | code);
}

static void test_every_code_point(void **state)
{
    (void)state;
    uint32_t wrong = 0, valid = 0;
    for (uint32_t code = 0x80; code < 0x200000; code++) {
        char text[5] = "";
        size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        encode(code, bytes, text);
        int well_formed = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
        valid += (uint32_t)well_formed;
        wrong += crest_utf8_character(text, bytes, NULL) != (well_formed ? bytes : 0);
        wrong += crest_utf8_is_valid(text) != well_formed;
        /* overlong: in one byte more than needed */
        if (bytes < 4) {
            char overlong[5] = "";
            encode(code, bytes + 1, overlong);
            wrong += crest_utf8_character(overlong, bytes + 1, NULL) != 0;
        }
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(valid, 0x110000 - 0x800 - 0x80);
}

static void test_valid_length(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t valid;
    } texts[] = {
        {"", 0},
        {"plain", 5},
        {"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x8c\x8a", 15},
        {"\x80", 0},
        {"ab\xc3", 2},
        {"ab\xe2\x82", 2},
        {"ab\xf0\x9f\x8c", 2},
        {"ab\xff", 2},
        {"\xc0\xaf", 0},
        {"\xed\xa0\x80", 0},
        {"\xf4\x90\x80\x80", 0},
        {"\xf8\x88\x80\x80\x80", 0},
        {"ok\xc3\x28", 2},
    };
    for (size_t i = 0; i < LENGTH(texts); i++) {
        size_t length = strlen(texts[i].text);
        assert_int_equal(crest_utf8_valid_length(texts[i].text, length), texts[i].valid);
        assert_int_equal(crest_utf8_is_valid(texts[i].text), length == texts[i].valid);
    }
    assert_int_equal(crest_utf8_valid_length("a\0b", 3), 3);
}

static void test_copy(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *copy;
        unsigned what;
    } texts[] = {
        {"", "", 0},
        {"plain", "plain", 0},
        {"\xf0\x9f\x8c\x8a", "\xf0\x9f\x8c\x8a", 0},
        {"a\xff"
         "b",
         "a" BAD "b", CREST_UTF8_REPLACED},
        /* the examples of the standard, section 3.9: one for each maximal part */
        {"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", BAD BAD BAD BAD BAD BAD BAD BAD "A",
         CREST_UTF8_REPLACED},
        {"\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", BAD BAD BAD BAD BAD BAD BAD BAD "A",
         CREST_UTF8_REPLACED},
        {"\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", BAD BAD BAD BAD BAD "A" BAD BAD "B",
         CREST_UTF8_REPLACED},
        {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", BAD BAD BAD BAD "A", CREST_UTF8_REPLACED},
        {"cut off \xf0\x9f\x8c", "cut off " BAD, CREST_UTF8_REPLACED},
        {"cut off \xe2", "cut off " BAD, CREST_UTF8_REPLACED},
    };
    for (size_t i = 0; i < LENGTH(texts); i++) {
        char copy[64];
        unsigned what = 99;
        assert_int_equal(crest_utf8_copy(texts[i].text, copy, sizeof copy, &what),
                         strlen(texts[i].copy));
        assert_string_equal(copy, texts[i].copy);
        assert_int_equal(what, texts[i].what);
        crest_utf8_copy(texts[i].text, copy, sizeof copy, NULL);
        assert_string_equal(copy, texts[i].copy);
    }
}

/* Into every size: as much as fits, whole characters, nothing written beyond. */
static void test_copy_cuts(void **state)
{
    (void)state;
    static const char text[] = "a\xc3\xa4\xe2\x82\xac\xff\xf0\x9f\x8c\x8az";
    static const char whole[] = "a\xc3\xa4\xe2\x82\xac" BAD "\xf0\x9f\x8c\x8az";
    for (size_t size = 1; size <= sizeof whole + 1; size++) {
        char copy[sizeof whole + 2];
        memset(copy, '#', sizeof copy);
        unsigned what = 0;
        size_t length = crest_utf8_copy(text, copy, size, &what);
        assert_int_equal(strlen(copy), length);
        assert_in_range(length, 0, size - 1);
        assert_int_equal(copy[size], '#');
        assert_memory_equal(copy, whole, length);
        assert_true(crest_utf8_is_valid(copy));
        assert_int_equal(!(what & CREST_UTF8_CUT), length == sizeof whole - 1);
        assert_int_equal(!!(what & CREST_UTF8_REPLACED), length >= 9);
        /* no room was wasted: the next character is longer than what was left */
        if (length < sizeof whole - 1)
            assert_true(length + crest_utf8_character(whole + length, 4, NULL) >= size);
    }
}

/* Whatever goes in, valid UTF-8 comes out, and it comes out of a second pass unchanged. */
static void test_copy_any_bytes(void **state)
{
    (void)state;
    uint64_t seed = 20240229;
    for (int i = 0; i < 200000; i++) {
        char text[9], copy[32], again[32];
        for (size_t at = 0; at < sizeof text - 1; at++) {
            seed = random_step(seed);
            /* mostly bytes that can go wrong, and sometimes the end */
            unsigned random = (unsigned)(seed >> 40);
            text[at] = (char)(random % 3 == 0 ? random >> 8 : 0x80 | random >> 8);
        }
        text[sizeof text - 1] = '\0';
        unsigned what, what_again;
        size_t length = crest_utf8_copy(text, copy, sizeof copy, &what);
        assert_true(crest_utf8_is_valid(copy));
        assert_int_equal(what == 0, crest_utf8_is_valid(text));
        assert_int_equal(crest_utf8_copy(copy, again, sizeof again, &what_again), length);
        assert_int_equal(what_again, 0);
        assert_string_equal(again, copy);
    }
}

static void test_cut(void **state)
{
    (void)state;
    static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\x8a";
    static const size_t cuts[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    for (size_t max = 0; max < LENGTH(cuts); max++)
        assert_int_equal(crest_utf8_cut(text, sizeof text - 1, max), cuts[max]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_point),
        cmocka_unit_test(test_valid_length),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_copy_cuts),
        cmocka_unit_test(test_copy_any_bytes),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
