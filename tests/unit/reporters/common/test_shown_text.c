/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server's words made fit to show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/shown_text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void utf8_is_told_from_what_is_not(void **state)
{
    (void)state;
    static const char *const valid[] = {"",
                                        "plain",
                                        "\xc2\x80",
                                        "\xdf\xbf",
                                        "\xe0\xa0\x80",
                                        "\xed\x9f\xbf",
                                        "\xee\x80\x80",
                                        "\xef\xbf\xbf",
                                        "\xf0\x90\x80\x80",
                                        "\xf4\x8f\xbf\xbf"};
    static const char *const invalid[] = {
        "\x80",         "\xbf",     "\xc0\x80",     "\xc1\xbf",         "\xc2",
        "\xe0\x9f\xbf", "\xe2\x82", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80", "\xff",     "a\xc3(",       "\xe2\x28\xa1",     "\xf0\x9f\x9a"};
    for (size_t i = 0; i < COUNT(valid); i++)
        assert_true(crest_push_text_valid(valid[i]));
    for (size_t i = 0; i < COUNT(invalid); i++)
        assert_false(crest_push_text_valid(invalid[i]));
}

static void words_are_shown_on_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        const char *shown;
    } cases[] = {
        {"", 0, ""},
        {" \r\n\t ", 5, ""},
        {"  refused\r\n\tby  me\n", 19, "refused by me"},
        {"a\0b\x1b[31mred\x7f", 11, "a b [31mred"},
        {"caf\xc3\xa9 \xe2\x98\x83", 9, "caf\xc3\xa9 \xe2\x98\x83"},
        {"\xc2\x9b"
         "31m",
         5, "31m"},
        {"a\xff\xfe z", 5, "a?? z"},
        {"cut \xe2\x98", 6, "cut ??"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char shown[64];
        size_t length = crest_push_text_show(cases[i].text, cases[i].length, shown, sizeof shown);
        assert_string_equal(shown, cases[i].shown);
        assert_int_equal(length, strlen(shown));
    }
}

static void what_does_not_fit_is_cut_at_a_character(void **state)
{
    (void)state;
    static const char text[] = "ab \xe2\x98\x83\xe2\x98\x83 cd";
    for (size_t size = 4; size <= sizeof text + 2; size++) {
        char shown[32];
        memset(shown, '#', sizeof shown);
        size_t length = crest_push_text_show(text, sizeof text - 1, shown, size);
        assert_true(length < size);
        assert_int_equal(shown[length], '\0');
        assert_int_equal(shown[size], '#');
        assert_true(crest_push_text_valid(shown));
        if (size >= sizeof text) {
            assert_string_equal(shown, text);
        } else {
            assert_string_equal(shown + length - 3, "...");
            assert_memory_equal(shown, text, length - 3);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_told_from_what_is_not),
        cmocka_unit_test(words_are_shown_on_one_line),
        cmocka_unit_test(what_does_not_fit_is_cut_at_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
