/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buckets.h: the presets keep what metric.h promises of them, and bounds become exact integers.
 */
#include "names/buckets.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static void test_presets(void **state)
{
    (void)state;
    static const struct {
        const crest_buckets *buckets;
        double first, last;
    } presets[] = {
        {&crest_buckets_fast, 10e-6, 1},    {&crest_buckets_default, 5e-3, 10},
        {&crest_buckets_slow, 0.1, 3600},   {&crest_buckets_bytes, 512, 16 * 1024 * 1024},
        {&crest_buckets_ratio, 0.05, 0.95}, {&crest_buckets_magnitudes, 1, 1e6},
    };
    for (size_t i = 0; i < LENGTH(presets); i++) {
        const crest_buckets *buckets = presets[i].buckets;
        char why[CREST_BUCKETS_WHY_BYTES];
        assert_int_equal(crest_buckets_check(buckets, why, sizeof why), CREST_OK);
        assert_string_equal(why, "");
        assert_true(buckets->bounds[0] == presets[i].first);
        assert_true(buckets->bounds[buckets->count - 1] == presets[i].last);
    }
    static const double shared[] = {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
    assert_int_equal(crest_buckets_default.count, LENGTH(shared));
    for (size_t i = 0; i < LENGTH(shared); i++)
        assert_true(crest_buckets_default.bounds[i] == shared[i]);
}

static void test_default_by_unit(void **state)
{
    (void)state;
    static const struct {
        crest_unit unit;
        const crest_buckets *buckets;
    } units[] = {
        {CREST_NONE, &crest_buckets_magnitudes},      {CREST_BYTES, &crest_buckets_bytes},
        {CREST_NANOSECONDS, &crest_buckets_default},  {CREST_MICROSECONDS, &crest_buckets_default},
        {CREST_MILLISECONDS, &crest_buckets_default}, {CREST_SECONDS, &crest_buckets_slow},
        {CREST_RATIO, &crest_buckets_ratio},          {(crest_unit)99, &crest_buckets_magnitudes},
    };
    for (size_t i = 0; i < LENGTH(units); i++) {
        assert_ptr_equal(crest_buckets_for_unit(units[i].unit, CREST_KIND_HISTOGRAM),
                         units[i].buckets);
        assert_ptr_equal(crest_buckets_for_unit(units[i].unit, CREST_KIND_TIMER),
                         &crest_buckets_default);
    }
}

static void test_check(void **state)
{
    (void)state;
    double many[CREST_BUCKETS_MAX + 1];
    for (unsigned i = 0; i < LENGTH(many); i++)
        many[i] = i;
    const struct {
        crest_buckets buckets;
        const char *why;
    } sets[] = {
        {{many, CREST_BUCKETS_MAX}, ""},
        {{many, 1}, ""},
        {{(double[]){0, 0x1p-1074}, 2}, ""},
        {{many, 0}, "there are no bucket bounds"},
        {{NULL, 3}, "there are no bucket bounds"},
        {{many, CREST_BUCKETS_MAX + 1},
         "there are 65 bucket bounds; 64 is the limit, +Inf not counted"},
        {{(double[]){1, 2, 2}, 3}, "bucket bound 3 of 3 is not above the one before it"},
        {{(double[]){1, 3, 2}, 3}, "bucket bound 3 of 3 is not above the one before it"},
        {{(double[]){-1, 3}, 2}, "bucket bound 1 of 2 is negative"},
        {{(double[]){-0.0, 3}, 2}, "bucket bound 1 of 2 is negative"},
        {{(double[]){1, INFINITY}, 2},
         "bucket bound 2 of 2 is not a finite number (+Inf is implied)"},
        {{(double[]){NAN}, 1}, "bucket bound 1 of 1 is not a finite number (+Inf is implied)"},
    };
    for (size_t i = 0; i < LENGTH(sets); i++) {
        char why[CREST_BUCKETS_WHY_BYTES] = "unset";
        crest_status wanted = sets[i].why[0] == '\0' ? CREST_OK : CREST_INVALID_ARGUMENT;
        assert_int_equal(crest_buckets_check(&sets[i].buckets, why, sizeof why), wanted);
        assert_string_equal(why, sets[i].why);
        assert_int_equal(crest_buckets_check(&sets[i].buckets, NULL, 0), wanted);
    }
    assert_int_equal(crest_buckets_check(NULL, NULL, 0), CREST_INVALID_ARGUMENT);
}

static void test_limits(void **state)
{
    (void)state;
    static const struct {
        double bound;
        crest_unit unit;
        uint64_t limit;
    } limits[] = {
        {0.005, CREST_NANOSECONDS, 5000000},
        {0.01, CREST_NANOSECONDS, 10000000},
        {0.1, CREST_NANOSECONDS, 100000000},
        {10e-6, CREST_NANOSECONDS, 10000},
        {0.29, CREST_NANOSECONDS, 290000000},
        {1.1, CREST_NANOSECONDS, 1100000000},
        {4.35, CREST_MILLISECONDS, 4350},
        {1e-9, CREST_NANOSECONDS, 1},
        {1.5e-9, CREST_NANOSECONDS, 1},
        {0.9e-9, CREST_NANOSECONDS, 0},
        {0.000001, CREST_MICROSECONDS, 1},
        {0.0000019, CREST_MICROSECONDS, 1},
        {0.0005, CREST_MILLISECONDS, 0},
        {2.5, CREST_SECONDS, 2},
        {512, CREST_BYTES, 512},
        {0.95, CREST_RATIO, 0},
        {0, CREST_NONE, 0},
        {-3, CREST_NONE, 0},
        {NAN, CREST_NONE, 0},
        {9007199254740993.0, CREST_NONE, UINT64_C(9007199254740992)},
        {18446744073709549568.0, CREST_BYTES, UINT64_C(18446744073709549568)},
        {0x1p64, CREST_BYTES, UINT64_MAX},
        {1e300, CREST_NANOSECONDS, UINT64_MAX},
        {INFINITY, CREST_NANOSECONDS, UINT64_MAX},
    };
    for (size_t i = 0; i < LENGTH(limits); i++)
        assert_true(crest_buckets_limit(limits[i].bound, limits[i].unit) == limits[i].limit);
}

/* Every decimal bound of up to nine places means the nanoseconds it says. */
static void test_limits_of_decimals(void **state)
{
    (void)state;
    uint64_t wrong = 0, tried = 0;
    for (uint64_t ns = 1; ns < UINT64_C(4000000000000); ns = ns * 1001 / 1000 + 1, tried++)
        wrong += crest_buckets_limit((double)ns / 1e9, CREST_NANOSECONDS) != ns;
    assert_true(tried > 10000);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_default_by_unit),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_limits_of_decimals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
