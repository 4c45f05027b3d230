/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict reading of the kernel's texts: what is a number and what only begins like one, lines,
 * words and fields, up to the end of the text and not beyond. Each text lies at the end of memory
 * that ends with it, so that a sanitizer sees a step too far.
 */
#include "support/core_fixture.h"
#include "system/parse/proc_text.h"

/* A copy that ends where the text ends; the test frees it. */
static crest_text proc_text_copy(const char *text, char **memory)
{
    size_t length = strlen(text);
    *memory = malloc(length ? length : 1);
    assert_non_null(*memory);
    memcpy(*memory, text, length);
    return crest_text_of(*memory, length);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int is_u64, is_i64, is_decimal;
        uint64_t value;
        double decimal;
    } cases[] = {
        {"0", 1, 1, 1, 0, 0},
        {"  \t42 rest", 1, 1, 1, 42, 42},
        {"7\nnext", 1, 1, 1, 7, 7},
        {"9223372036854775807", 1, 1, 1, INT64_MAX, 9223372036854775807.0},
        {"9223372036854775808", 1, 0, 1, UINT64_C(9223372036854775808), 9223372036854775808.0},
        {"18446744073709551615", 1, 0, 1, UINT64_MAX, 18446744073709551615.0},
        {"18446744073709551616", 0, 0, 0, 0, 0},
        {"99999999999999999999999999", 0, 0, 0, 0, 0},
        {"00000000000000000000000000012", 1, 1, 1, 12, 12},
        {"-1", 0, 1, 0, (uint64_t)-1, 0},
        {"-9223372036854775808", 0, 1, 0, (uint64_t)INT64_MIN, 0},
        {"-9223372036854775809", 0, 0, 0, 0, 0},
        {"+1", 0, 0, 0, 0, 0},
        {"1.5", 0, 0, 1, 0, 1.5},
        {"0.25 0.5", 0, 0, 1, 0, 0.25},
        {"1.", 0, 0, 0, 0, 0},
        {".5", 0, 0, 0, 0, 0},
        {"1e5", 0, 0, 0, 0, 0},
        {"1,5", 0, 0, 0, 0, 0},
        {"0x10", 0, 0, 0, 0, 0},
        {"12kB", 0, 0, 0, 0, 0},
        {"nan", 0, 0, 0, 0, 0},
        {"", 0, 0, 0, 0, 0},
        {"   ", 0, 0, 0, 0, 0},
        {"\n7", 0, 0, 0, 0, 0},
        {"-", 0, 0, 0, 0, 0},
        {"--1", 0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char *memory;
        uint64_t u64 = 77;
        int64_t i64 = 77;
        double decimal = 77;
        crest_text text = proc_text_copy(cases[i].text, &memory), at = text;
        assert_int_equal(crest_text_u64(&at, &u64), cases[i].is_u64);
        assert_int_equal(u64, cases[i].is_u64 ? cases[i].value : 77);
        assert_true(cases[i].is_u64 || at.at == text.at);
        at = text;
        assert_int_equal(crest_text_i64(&at, &i64), cases[i].is_i64);
        assert_int_equal(i64, cases[i].is_i64 ? (int64_t)cases[i].value : 77);
        assert_true(cases[i].is_i64 || at.at == text.at);
        at = text;
        assert_int_equal(crest_text_decimal(&at, &decimal), cases[i].is_decimal);
        assert_true(decimal == (cases[i].is_decimal ? cases[i].decimal : 77));
        free(memory);
    }
}

static void test_lines_and_words(void **state)
{
    (void)state;
    char *memory, copy[8];
    crest_text text = proc_text_copy("one  two\t3\n\n last", &memory), line, word;
    assert_true(crest_text_line(&text, &line));
    assert_true(crest_text_word(&line, &word) && crest_text_is(word, "one"));
    assert_false(crest_text_is(word, "on"));
    assert_false(crest_text_is(word, "ones"));
    assert_true(crest_text_copy(word, copy, sizeof copy));
    assert_string_equal(copy, "one");
    assert_false(crest_text_copy(word, copy, 3));
    assert_true(crest_text_word(&line, &word) && crest_text_is(word, "two"));
    assert_true(crest_text_word(&line, &word) && crest_text_is(word, "3"));
    assert_false(crest_text_word(&line, &word));
    assert_true(crest_text_line(&text, &line));
    assert_int_equal(crest_text_length(line), 0);
    assert_false(crest_text_word(&line, &word));
    assert_true(crest_text_line(&text, &line));
    assert_true(crest_text_word(&line, &word) && crest_text_is(word, "last"));
    assert_false(crest_text_line(&text, &line));
    free(memory);
    text = proc_text_copy("", &memory);
    assert_false(crest_text_line(&text, &line));
    assert_false(crest_text_word(&text, &word));
    assert_true(crest_text_is(text, ""));
    assert_true(crest_text_copy(text, copy, 1));
    free(memory);
    assert_false(crest_text_copy(crest_text_of("a\0b", 3), copy, sizeof copy));
}

static void test_fields(void **state)
{
    (void)state;
    char *memory;
    crest_text rest, part;
    uint64_t value;
    crest_text text = proc_text_copy("xPss: 1\nPss_Dirty: 2\nPss:\t3 kB\nPss: 4", &memory);
    assert_true(crest_text_field(text, "Pss:", &rest));
    assert_true(crest_text_u64(&rest, &value));
    assert_int_equal(value, 3);
    assert_false(crest_text_field(text, "Ps:", &rest));
    assert_true(crest_text_until(&text, ':', &part));
    assert_true(crest_text_is(part, "xPss"));
    assert_true(crest_text_u64(&text, &value));
    assert_int_equal(value, 1);
    assert_false(crest_text_until(&text, '#', &part));
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_lines_and_words),
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests_name("proc_text", tests, NULL, NULL);
}
