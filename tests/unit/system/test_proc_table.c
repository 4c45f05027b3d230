/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_table.h: what counts as a whole number, and tables that take what is right.
 */
#include "support/proc_fixture.h"

static void whole_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int valid;
        uint64_t value;
    } cases[] = {
        {"0", 1, 0},   {"007", 1, 7}, {"18446744073709551615", 1, UINT64_MAX},
        {" 1", 0, 0},  {"1 ", 0, 0},  {"18446744073709551616", 0, 0},
        {"-1", 0, 0},  {"+1", 0, 0},  {"1.5", 0, 0},
        {"12a", 0, 0}, {"0x1", 0, 0}, {"", 0, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        uint64_t value = 4711;
        assert_int_equal(crest_table_number(TEXT(cases[i].text), &value), cases[i].valid);
        assert_int_equal(value, cases[i].valid ? cases[i].value : 4711);
    }
    crest_text line = TEXT("1 2 x 4");
    uint64_t values[4];
    assert_int_equal(crest_table_u64s(&line, values, 4), 2);
    line = TEXT("1 2 3 4 5");
    assert_int_equal(crest_table_u64s(&line, values, 4), 4);
}

static void lines_with_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {"alpha", "beta", "gamma", "delta"};
    uint64_t values[4] = {0};
    crest_fault fault = {0};
    uint64_t found =
        crest_table_lines(TEXT("alpha 1\nbeta:\t2 kB\nother 9\ngamma x\nalpha 7\n\nalphabet 3\n"),
                          keys, 4, values, &fault);
    assert_int_equal(found, 3); /* gamma is wrong, delta absent */
    assert_int_equal(values[0], 1);
    assert_int_equal(values[1], 2);
    assert_string_equal(fault_shown(&fault), "gamma x");
    crest_fault_set(&fault, "later", TEXT("y"));
    assert_string_equal(fault_shown(&fault), "gamma x");
}

static void pairs_in_a_line(void **state)
{
    (void)state;
    static const char *const keys[] = {"alpha", "beta", "delta"};
    uint64_t values[3] = {0};
    crest_fault fault = {0};
    crest_text line = TEXT("x alpha=5 beta=2 alpha=6 delta=");
    assert_int_equal(crest_table_pairs(line, keys, 2, values, &fault), 3);
    assert_int_equal(values[0], 5);
    assert_null(fault.why);
    assert_int_equal(crest_table_pairs(line, keys, 3, values, &fault), 3);
    assert_non_null(fault.why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(lines_with_keys),
        cmocka_unit_test(pairs_in_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
