/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walks of <crest/distribution.h> in steps: that they tile the values, that no record is lost
 * or doubled, and HDR's ticks.
 */
#include "support/core_fixture.h"
#include "support/random_numbers.h"

static crest_distribution *steps_made(const crest_range *range, const int64_t *values, size_t count)
{
    crest_distribution *d = crest_distribution_new(range);
    assert_non_null(d);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(crest_distribution_record(d, values[i], 1), CREST_OK);
    return d;
}

static void test_linear(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 9, 10, 10, 35, 49, 127};
    crest_distribution *d = steps_made(NULL, values, LENGTH(values));
    static const uint64_t counts[] = {2, 2, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1};
    crest_distribution_cursor cursor = {0};
    uint64_t to = 0;
    for (size_t i = 0; i < LENGTH(counts); i++) {
        assert_true(crest_distribution_next_linear(d, 10, &cursor));
        to += counts[i];
        assert_int_equal(cursor.lowest, 10 * i);
        assert_int_equal(cursor.highest, 10 * i + 9);
        assert_int_equal(cursor.count, counts[i]);
        assert_int_equal(cursor.count_to, to);
        assert_true(fabs(cursor.quantile - (double)to / 7) < 1e-15);
    }
    assert_false(crest_distribution_next_linear(d, 10, &cursor));
    assert_false(crest_distribution_next_linear(d, 10, &cursor));
    crest_distribution_cursor none = {0};
    assert_false(crest_distribution_next_linear(d, 0, &none));
    /* one step wide enough for all */
    assert_true(crest_distribution_next_linear(d, UINT64_MAX, &none));
    assert_int_equal(none.count, 7);
    assert_true(none.quantile >= 1);
    assert_false(crest_distribution_next_linear(d, UINT64_MAX, &none));
    crest_distribution_free(d);
}

/* The end of what 64 bits can say is the end of the last step. */
static void test_linear_end(void **state)
{
    (void)state;
    static const crest_range wide = {1, UINT64_C(1) << 62, 2};
    static const int64_t values[] = {1, INT64_MAX};
    crest_distribution *d = steps_made(&wide, values, LENGTH(values));
    crest_distribution_cursor cursor = {0};
    const uint64_t width = (UINT64_C(1) << 62) + 12345;
    assert_true(crest_distribution_next_linear(d, width, &cursor));
    assert_true(cursor.lowest == 0 && cursor.highest == width - 1 && cursor.count == 1);
    assert_true(crest_distribution_next_linear(d, width, &cursor));
    assert_true(cursor.lowest == width && cursor.highest == 2 * width - 1 && cursor.count == 1);
    assert_false(crest_distribution_next_linear(d, width, &cursor));
    crest_distribution_free(d);
}

static void test_logarithmic(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 99, 100, 199, 200, 3000, 3001, 100000};
    crest_distribution *d = steps_made(CREST_RANGE_FINE, values, LENGTH(values));
    static const struct {
        uint64_t lowest, highest, count;
    } wanted[] = {{0, 99, 2},        {100, 199, 2},     {200, 399, 1},     {400, 799, 0},
                  {800, 1599, 0},    {1600, 3199, 2},   {3200, 6399, 0},   {6400, 12799, 0},
                  {12800, 25599, 0}, {25600, 51199, 0}, {51200, 102399, 1}};
    crest_distribution_cursor cursor = {0};
    for (size_t i = 0; i < LENGTH(wanted); i++) {
        assert_true(crest_distribution_next_logarithmic(d, 100, 2, &cursor));
        assert_int_equal(cursor.lowest, wanted[i].lowest);
        assert_int_equal(cursor.highest, wanted[i].highest);
        assert_int_equal(cursor.count, wanted[i].count);
    }
    assert_false(crest_distribution_next_logarithmic(d, 100, 2, &cursor));
    static const double bad[] = {1, 0, -2, NAN};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        crest_distribution_cursor none = {0};
        assert_false(crest_distribution_next_logarithmic(d, 100, bad[i], &none));
    }
    crest_distribution_cursor none = {0};
    assert_false(crest_distribution_next_logarithmic(d, 0, 2, &none));
    crest_distribution_free(d);
}

/* Any steps: they tile the values, and hold each record once, in the step of its bucket. */
static void test_tiling(void **state)
{
    (void)state;
    static const double factors[] = {1.0001, 1.5, 2, 10, 1e9, 1e30, INFINITY};
    static const uint64_t firsts[] = {1, 7, 1000, UINT64_C(1) << 63, UINT64_MAX};
    static int64_t values[3000];
    uint64_t random = 7;
    for (size_t i = 0; i < LENGTH(values); i++) {
        random = random_step(random);
        values[i] = (int64_t)((random >> 2) >> (random >> 59 << 1) % 62);
    }
    static const crest_range wide = {1, UINT64_C(1) << 62, 1};
    crest_distribution *d = steps_made(&wide, values, LENGTH(values));
    for (size_t f = 0; f < LENGTH(factors); f++)
        for (size_t s = 0; s < LENGTH(firsts); s++) {
            crest_distribution_cursor cursor = {0};
            uint64_t next = 0, count = 0, steps = 0;
            while (crest_distribution_next_logarithmic(d, firsts[s], factors[f], &cursor)) {
                assert_true(cursor.lowest == next && cursor.highest >= cursor.lowest);
                next = cursor.highest + 1;
                count += cursor.count;
                assert_int_equal(cursor.count_to, count);
                steps++;
            }
            assert_int_equal(count, LENGTH(values));
            assert_in_range(steps, 1, 1000000);
            assert_true(cursor.highest >= crest_distribution_max(d) / 2);
        }
    crest_distribution_free(d);
}

static void test_percentiles(void **state)
{
    (void)state;
    static int64_t values[100000];
    for (size_t i = 0; i < LENGTH(values); i++)
        values[i] = (int64_t)i + 1;
    crest_distribution *d = steps_made(NULL, values, LENGTH(values));
    static const double ticks[] = {0,     .1, .2,    .3,   .4,    .5,    .55, .6,
                                   .65,   .7, .75,   .775, .8,    .825,  .85, .875,
                                   .8875, .9, .9125, .925, .9375, .94375};
    crest_distribution_cursor cursor = {0};
    for (size_t i = 0; i < LENGTH(ticks); i++) {
        assert_true(crest_distribution_next_percentile(d, 5, &cursor));
        if (fabs(cursor.quantile - ticks[i]) > 1e-9)
            fail_msg("tick %zu: %.17g instead of %g", i, cursor.quantile, ticks[i]);
        assert_int_equal(cursor.highest, crest_distribution_quantile(d, cursor.quantile));
        assert_true((double)cursor.count_to >= ticks[i] * LENGTH(values));
    }
    uint64_t count_to = cursor.count_to, highest = cursor.highest, more = 0;
    while (crest_distribution_next_percentile(d, 5, &cursor)) {
        assert_int_equal(cursor.lowest, highest);
        assert_int_equal(cursor.count, cursor.count_to - count_to);
        assert_true(cursor.highest >= highest);
        count_to = cursor.count_to;
        highest = cursor.highest;
        more++;
    }
    assert_true(cursor.quantile >= 1);
    assert_int_equal(count_to, LENGTH(values));
    assert_int_equal(highest, LENGTH(values));
    assert_in_range(more, 5, 60);
    crest_distribution_free(d);
}

static void test_percentiles_of_few(void **state)
{
    (void)state;
    static const int64_t values[] = {5, 5, 5, 1000000};
    crest_distribution *d = steps_made(NULL, values, 3);
    crest_distribution_cursor cursor = {0};
    assert_true(crest_distribution_next_percentile(d, 5, &cursor)); /* all in one bucket */
    assert_true(cursor.quantile >= 1 && cursor.highest == 5 && cursor.count_to == 3);
    assert_false(crest_distribution_next_percentile(d, 5, &cursor));
    crest_distribution_free(d);
    d = steps_made(NULL, values, 4);
    double before = -1;
    unsigned steps = 0;
    crest_distribution_cursor again = {0};
    while (crest_distribution_next_percentile(d, 1, &again)) {
        assert_true(again.quantile > before);
        before = again.quantile;
        steps++;
    }
    assert_int_equal(steps, 4); /* 0, 1/2, 3/4, 1 */
    assert_int_equal(again.highest, 1000000);
    crest_distribution_cursor none = {0};
    assert_false(crest_distribution_next_percentile(d, 0, &none));
    crest_distribution_free(d);
}

static void test_nothing(void **state)
{
    (void)state;
    crest_distribution *const empty = crest_distribution_new(CREST_RANGE_LOOSE);
    const crest_distribution *const both[] = {empty, NULL};
    for (size_t i = 0; i < LENGTH(both); i++) {
        crest_distribution_cursor cursor = {0};
        assert_false(crest_distribution_next_linear(both[i], 1, &cursor));
        assert_false(crest_distribution_next_logarithmic(both[i], 1, 2, &cursor));
        assert_false(crest_distribution_next_percentile(both[i], 5, &cursor));
    }
    crest_distribution_free(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),      cmocka_unit_test(test_linear_end),
        cmocka_unit_test(test_logarithmic), cmocka_unit_test(test_tiling),
        cmocka_unit_test(test_percentiles), cmocka_unit_test(test_percentiles_of_few),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests_name("distribution_steps", tests, NULL, NULL);
}
