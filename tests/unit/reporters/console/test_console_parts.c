/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the console's table is made of: numbers for people, columns of characters, and the rates
 * that it remembers.
 */
#include "console/console_columns.h"
#include "console/console_history.h"
#include "console/console_number.h"
#include "support/decimal_comma.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static void test_numbers(void **state)
{
    static const struct {
        double value;
        crest_unit unit;
        const char *text;
    } cases[] = {
        {0, CREST_NONE, "0"},
        {12, CREST_NONE, "12"},
        {-12.5, CREST_NONE, "-12.5"},
        {0.1, CREST_NONE, "0.1"},
        {1.0 / 3, CREST_NONE, "0.333333"},
        {1234567, CREST_NONE, "1234567"},
        {123456.7, CREST_NONE, "123457"},
        {0.0000004, CREST_NONE, "0"},
        {1e15, CREST_NONE, "1e+15"},
        {-1.25e300, CREST_NONE, "-1.25e+300"},
        {INFINITY, CREST_NONE, "Inf"},
        {-INFINITY, CREST_BYTES, "-Inf PiB"},
        {NAN, CREST_NONE, "NaN"},
        {0.25, CREST_RATIO, "0.25"},
        {0, CREST_BYTES, "0 B"},
        {1023, CREST_BYTES, "1023 B"},
        {1024, CREST_BYTES, "1 KiB"},
        {1536, CREST_BYTES, "1.5 KiB"},
        {-2097152, CREST_BYTES, "-2 MiB"},
        {1048570, CREST_BYTES, "1 MiB"},
        {5e18, CREST_BYTES, "4441 PiB"},
        {0, CREST_SECONDS, "0 ns"},
        {999, CREST_NANOSECONDS, "999 ns"},
        {1000, CREST_NANOSECONDS, "1 \xc2\xb5s"},
        {1237, CREST_NANOSECONDS, "1.24 \xc2\xb5s"},
        {999700, CREST_NANOSECONDS, "1 ms"},
        {12.34, CREST_MICROSECONDS, "12.3 \xc2\xb5s"},
        {7, CREST_MILLISECONDS, "7 ms"},
        {0.0123, CREST_SECONDS, "12.3 ms"},
        {1700000000, CREST_SECONDS, "1700000000 s"},
    };
    (void)state;
    char text[CREST_CONSOLE_NUMBER_BYTES];
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_console_quantity(text, cases[i].value, cases[i].unit);
        assert_string_equal(text, cases[i].text);
    }
    crest_console_rate(text, 1234.5, CREST_NONE);
    assert_string_equal(text, "1235/s");
    crest_console_rate(text, 0.0166666, CREST_NONE);
    assert_string_equal(text, "0.0167/s");
    crest_console_rate(text, 3481.6, CREST_BYTES);
    assert_string_equal(text, "3.4 KiB/s");
    crest_console_count(text, UINT64_MAX, CREST_NONE);
    assert_string_equal(text, "18446744073709551615");
    crest_console_count(text, 2048, CREST_BYTES);
    assert_string_equal(text, "2 KiB");
    /* the longest of all still fit */
    static const double extremes[] = {-1.7976931348623157e308, 5e-324, -999999999999999.9, 1e14};
    for (size_t i = 0; i < LENGTH(extremes); i++) {
        for (int unit = CREST_NONE; unit <= CREST_RATIO; unit++) {
            crest_console_rate(text, extremes[i], (crest_unit)unit);
            assert_in_range(strlen(text), 1, sizeof text - 1);
            assert_non_null(strstr(text, "/s"));
        }
    }
}

static void test_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
    } cases[] = {
        {"", 0},
        {"abc", 3},
        {"caf\xc3\xa9", 4},
        {"cafe\xcc\x81", 4},
        {"\xe6\x97\xa5\xe6\x9c\xac", 4},
        {"\xed\x95\x9c", 2},
        {"\xf0\x9f\x8e\x89", 2},
        {"\xef\xbd\xb1", 1},
        {"\xe2\x96\x81\xe2\x96\x88", 2},
        {"a\xe2\x80\x8b"
         "b",
         2},
        {"\xff\xc2", 2},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        assert_int_equal(crest_console_columns(cases[i].text, strlen(cases[i].text)),
                         cases[i].columns);
    static const unsigned controls[] = {0, 0x1b, 0x7f, 0x85, 0x9b, 0x200e, 0x202e, 0x2066, 0x2028};
    for (size_t i = 0; i < LENGTH(controls); i++)
        assert_true(crest_console_is_control(controls[i]));
    static const unsigned shown[] = {' ', '~', 0xa0, 0xe9, 0x65e5, 0x1f389};
    for (size_t i = 0; i < LENGTH(shown); i++)
        assert_false(crest_console_is_control(shown[i]));
}

static void test_history(void **state)
{
    (void)state;
    crest_console_history history = {0};
    const float *points;
    enum { SERIES = CREST_CONSOLE_TREND_SERIES_MAX + 10, REPORTS = CREST_CONSOLE_POINTS + 4 };
    for (unsigned report = 0; report < REPORTS; report++) {
        crest_console_history_begin(&history, UINT64_C(1000000000) * (report + 1) * 2, SERIES);
        for (unsigned i = 0; i < SERIES; i++) {
            unsigned count = crest_console_history_add(
                &history, crest_console_history_key(i + 1, "x"), (uint64_t)i * report, &points);
            unsigned wanted = report < CREST_CONSOLE_POINTS ? report : CREST_CONSOLE_POINTS;
            assert_int_equal(count, i < CREST_CONSOLE_TREND_SERIES_MAX ? wanted : 0);
            for (unsigned at = 0; at < count; at++)
                assert_true(points[at] == (float)i / 2);
        }
        crest_console_history_end(&history);
    }
    /* what is not added is forgotten; what begins anew has no rate at first */
    uint64_t key = crest_console_history_key(0, "one");
    static const struct {
        uint64_t value;
        unsigned count;
    } steps[] = {{10, 0}, {30, 1}, {0, 1}, {20, 2}};
    for (unsigned i = 0; i < LENGTH(steps); i++) {
        crest_console_history_begin(&history, UINT64_C(1000000000) * (100 + i), 5);
        assert_int_equal(crest_console_history_add(&history, key, steps[i].value, &points),
                         steps[i].count);
        assert_int_equal(crest_console_history_add(&history, key, 1, &points), 0);
        crest_console_history_end(&history);
    }
    crest_console_history_begin(&history, UINT64_C(1000000000000), 5);
    crest_console_history_end(&history);
    crest_console_history_begin(&history, UINT64_C(1001000000000), 5);
    assert_int_equal(crest_console_history_add(&history, key, 5, &points), 0);
    crest_console_history_fini(&history);
    assert_true(crest_console_history_key(crest_console_history_key(0, "ab"), "c") !=
                crest_console_history_key(crest_console_history_key(0, "a"), "bc"));
}

int main(void)
{
    decimal_comma(); /* which must not show */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
