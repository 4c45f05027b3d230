/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layouts.h: which ranges there are, that their cells tile them as finely as promised, and which
 * layouts hold others.
 */
#include "support/core_fixture.h"
#include "cells/layouts.h"
#include "base/lock.h"

static crest_layout layout_of(uint64_t lowest, uint64_t highest, unsigned digits)
{
    crest_range range = {lowest, highest, digits};
    crest_layout layout;
    assert_int_equal(crest_layout_make(&range, &layout), CREST_OK);
    return layout;
}

static void test_refused(void **state)
{
    (void)state;
    static const crest_range bad[] = {
        {0, 100, 2},        {1, 0, 2},
        {1, 1, 2},          {2, 3, 2},
        {100, 1, 2},        {1, (UINT64_C(1) << 62) + 1, 2},
        {1, UINT64_MAX, 2}, {UINT64_MAX, UINT64_MAX, 2},
        {1, 100, 6},        {1, 100, UINT32_MAX},
        {0, 100, 0},        {(UINT64_C(1) << 61) + 1, UINT64_C(1) << 62, 1},
    };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        crest_layout layout;
        assert_int_equal(crest_layout_make(&bad[i], &layout), CREST_INVALID_ARGUMENT);
    }
}

/* The named ranges, and HDR's own figures for a few others. */
static void test_figures(void **state)
{
    (void)state;
    static const struct {
        crest_range range;
        unsigned bits, unit, blocks;
        uint64_t highest;
    } cases[] = {
        {{1, UINT64_C(3600000000000), 1}, 4, 0, 38, (UINT64_C(1) << 42) - 1},
        {{1, UINT64_C(3600000000000), 2}, 7, 0, 35, (UINT64_C(1) << 42) - 1},
        {{1, UINT64_C(3600000000000), 3}, 10, 0, 32, (UINT64_C(1) << 42) - 1},
        {{1, UINT64_C(3600000000000), 4}, 14, 0, 28, (UINT64_C(1) << 42) - 1},
        {{1, UINT64_C(3600000000000), 5}, 17, 0, 25, (UINT64_C(1) << 42) - 1},
        {{1, 100, 2}, 6, 0, 1, 127},
        {{1, 127, 2}, 6, 0, 1, 127},
        {{1, 128, 2}, 7, 0, 1, 255},
        {{1, 256, 2}, 7, 0, 2, 511},
        {{1000, 60000000, 2}, 7, 9, 10, (1 << 26) - 1},
        {{1, 2, 5}, 1, 0, 1, 3},
        {{1, UINT64_C(1) << 62, 5}, 17, 0, 46, INT64_MAX},
        {{UINT64_C(1) << 61, UINT64_C(1) << 62, 5}, 1, 61, 1, INT64_MAX},
        {{1, UINT64_C(1) << 62, 0}, 0, CREST_LAYOUT_UNIT_NONE, 1, INT64_MAX},
        {{1, 1000, 0}, 0, CREST_LAYOUT_UNIT_NONE, 1, 1023},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_layout layout;
        assert_int_equal(crest_layout_make(&cases[i].range, &layout), CREST_OK);
        assert_int_equal(layout.unit, cases[i].unit);
        if (cases[i].range.digits != 0)
            assert_int_equal(layout.bits, cases[i].bits);
        assert_int_equal(layout.blocks, cases[i].blocks);
        assert_int_equal(layout.highest, cases[i].highest);
    }
    crest_layout layout;
    assert_int_equal(crest_layout_make(NULL, &layout), CREST_OK);
    assert_true(crest_layout_equal(&layout, &crest_layout_default));
    assert_int_equal(layout.blocks, crest_layout_default.blocks);
}

/* Each block begins where the one before it ends, and a cell is as narrow as was asked for. */
static void test_tiled(void **state)
{
    (void)state;
    static const double precision[] = {1, 0.1, 0.01, 0.001, 0.0001, 0.00001};
    static const uint64_t lowest[] = {1, 2, 3, 1000, UINT64_C(1) << 40};
    for (unsigned digits = 1; digits <= 5; digits++)
        for (size_t u = 0; u < LENGTH(lowest); u++)
            for (unsigned power = 0; power <= 62; power++) {
                if (UINT64_C(1) << power < 2 * lowest[u])
                    continue;
                crest_layout layout = layout_of(lowest[u], UINT64_C(1) << power, digits);
                uint64_t next = 0;
                for (unsigned b = 0; b < layout.blocks; b++) {
                    uint64_t first = crest_layout_first_cell(&layout, b);
                    uint64_t last = crest_layout_end_cell(&layout) - 1;
                    uint64_t low = crest_layout_lowest(&layout, b, first);
                    uint64_t high = crest_layout_highest(&layout, b, first);
                    assert_true(low == next);
                    assert_int_equal(crest_layout_block(&layout, low), b);
                    next = crest_layout_highest(&layout, b, last) + 1;
                    assert_int_equal(crest_layout_block(&layout, next - 1), b);
                    if (b == 0)
                        assert_true(high - low + 1 <= lowest[u]);
                    else
                        assert_true((double)(high - low + 1) <= precision[digits] * (double)low);
                }
                assert_true(next - 1 == layout.highest);
            }
}

static void test_shared(void **state)
{
    (void)state;
    crest_lock_saved saved;
    crest_layout plain = layout_of(1, UINT64_C(3600000000000), 2), fine = layout_of(1, 5000, 3);
    crest_layout none = layout_of(1, 5000, 0);
    crest_lock_take(&saved);
    const crest_layout *a = crest_layout_shared(&plain), *b = crest_layout_shared(&fine);
    const crest_layout *c = crest_layout_shared(&fine), *d = crest_layout_shared(&none);
    crest_lock_drop(&saved);
    assert_ptr_equal(a, &crest_layout_default);
    assert_ptr_equal(b, c);
    assert_ptr_not_equal(b, d);
    assert_true(crest_layout_equal(b, &fine) && crest_layout_equal(d, &none));
}

static void test_holds(void **state)
{
    (void)state;
    const uint64_t hour = UINT64_C(3600000000000);
    crest_layout loose = layout_of(1, hour, 1), two = layout_of(1, hour, 2);
    crest_layout three = layout_of(1, hour, 3), percent = layout_of(1, 100, 2);
    crest_layout coarse = layout_of(1000, hour, 2), none = layout_of(1, UINT64_C(1) << 62, 0);
    const struct {
        const crest_layout *coarse, *fine;
        int holds;
    } cases[] = {
        {&two, &two, 1},       {&loose, &two, 1},      {&two, &loose, 0},   {&two, &three, 1},
        {&three, &two, 0},     {&two, &percent, 1},    {&percent, &two, 0}, {&coarse, &two, 1},
        {&two, &coarse, 0},    {&none, &two, 1},       {&none, &none, 1},   {&two, &none, 0},
        {&loose, &percent, 1}, {&coarse, &percent, 1},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        if (crest_layout_holds(cases[i].coarse, cases[i].fine) != cases[i].holds)
            fail_msg("case %zu", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_figures),
        cmocka_unit_test(test_tiled),   cmocka_unit_test(test_shared),
        cmocka_unit_test(test_holds),
    };
    return cmocka_run_group_tests_name("layouts", tests, NULL, NULL);
}
