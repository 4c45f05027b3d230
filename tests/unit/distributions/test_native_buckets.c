/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_buckets.h and native_cells.h: which bucket a value is in, at every bound of every schema;
 * that cells become buckets without a loss, few enough, and never fewer in one; and how far off
 * quantiles are.
 */
#include "distributions/native_cells.h"
#include "support/random_numbers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static crest_native native;

/* A bound belongs to its own bucket, the next double to the next. */
static void test_bounds(void **state)
{
    (void)state;
    for (int schema = CREST_NATIVE_SCHEMA_MIN; schema <= CREST_NATIVE_SCHEMA_MAX; schema++) {
        int far = schema < 0 ? 60 >> -schema : 60 << schema;
        for (int index = -far; index <= far; index += 1 + far / 700) {
            double bound = crest_native_bound(index, schema);
            assert_int_equal(crest_native_index(bound, schema), index);
            assert_int_equal(crest_native_index(nextafter(bound, INFINITY), schema), index + 1);
            assert_true(fabsl((long double)bound / exp2l(ldexpl(index, -schema)) - 1) < 2e-16L);
            if (schema > CREST_NATIVE_SCHEMA_MIN && index % 2 == 0)
                assert_true(bound == crest_native_bound(index / 2, schema - 1));
        }
    }
}

/* The factors that Prometheus' own client takes these schemas for. */
static void test_schema_of_factor(void **state)
{
    (void)state;
    static const struct {
        double factor;
        int schema;
    } cases[] = {{65536, -4}, {1e9, -4}, {65535, -3}, {256, -3},    {16, -2},   {4, -1},
                 {2, 0},      {1.5, 1},  {1.2, 2},    {1.1, 3},     {1.05, 4},  {1.03, 5},
                 {1.02, 6},   {1.01, 7}, {1.003, 8},  {1.00271, 8}, {1.0001, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(crest_native_schema(cases[i].factor), cases[i].schema);
}

static crest_distribution *values_of(const crest_range *range, uint64_t seed, unsigned count,
                                     double median, double spread)
{
    crest_distribution *made = crest_distribution_new(range);
    assert_non_null(made);
    for (unsigned i = 0; i < count; i++) {
        double normal = 0;
        for (unsigned k = 0; k < 12; k++)
            normal += (double)((seed = random_step(seed)) >> 40) / 0x1p24;
        double value = median * exp(spread * (normal - 6));
        if (value > 3.5e12)
            value = 3.5e12;
        assert_int_equal(crest_distribution_record(made, (int64_t)value, 1), CREST_OK);
    }
    return made;
}

static int native_from(const crest_distribution *from, int schema, unsigned limit)
{
    return crest_native_of(&native, schema, limit, 9, &from->layout, from);
}

static void check_sound(const crest_distribution *from, unsigned limit)
{
    uint64_t count = native.zero_count;
    assert_in_range(native.used, 0, limit);
    for (unsigned i = 0; i < native.used; i++) {
        assert_true(native.bucket[i].count != 0);
        assert_true(i == 0 || native.bucket[i - 1].index < native.bucket[i].index);
        count += native.bucket[i].count;
    }
    assert_int_equal(count, crest_distribution_count(from));
    assert_int_equal(native.count, count);
}

/* Each cell, one by one, is where its middle belongs. */
static void test_cells_in_buckets(void **state)
{
    (void)state;
    static const crest_range *const ranges[] = {&crest_range_loose, &crest_range_default,
                                                &crest_range_fine};
    for (unsigned r = 0; r < 3; r++) {
        crest_distribution *from = values_of(ranges[r], 17 + r, 5000, 3e6, 1.5);
        crest_distribution_record(from, 0, 3);
        for (int schema = CREST_NATIVE_SCHEMA_MIN; schema <= CREST_NATIVE_SCHEMA_MAX; schema++) {
            assert_true(native_from(from, schema, CREST_NATIVE_BUCKETS_MAX));
            check_sound(from, CREST_NATIVE_BUCKETS_MAX);
            assert_int_equal(native.zero_count, 3);
            assert_true(native.zero_threshold == CREST_NATIVE_THRESHOLD_LEAST);
            static uint64_t counts[CREST_NATIVE_BUCKETS_MAX];
            memset(counts, 0, sizeof counts);
            crest_bucket bucket;
            for (size_t at = 0; crest_distribution_next(from, &at, &bucket);) {
                if (bucket.lowest == 0)
                    continue;
                uint64_t middle = bucket.lowest + (bucket.highest - bucket.lowest + 1) / 2;
                int index = crest_native_index((double)middle / 1e9, native.schema);
                unsigned i = 0;
                while (i < native.used && native.bucket[i].index != index)
                    i++;
                assert_true(i < native.used);
                counts[i] += bucket.count;
            }
            for (unsigned i = 0; i < native.used; i++)
                assert_int_equal(native.bucket[i].count, counts[i]);
        }
        crest_distribution_free(from);
    }
}

/* Metrics of several layouts in turn are as each is alone. */
static void test_layouts_in_turn(void **state)
{
    (void)state;
    static crest_native alone;
    static const crest_range *const ranges[] = {&crest_range_default, &crest_range_fine};
    for (unsigned turn = 0; turn < 4; turn++) {
        crest_distribution *from = values_of(ranges[turn % 2], turn, 5000, 3e6, 1.5);
        assert_true(native_from(from, 3, 160));
        memset(&alone, 0, sizeof alone);
        assert_true(crest_native_of(&alone, 3, 160, 9, &from->layout, from));
        check_sound(from, 160);
        assert_int_equal(native.used, alone.used);
        assert_memory_equal(native.bucket, alone.bucket, native.used * sizeof *native.bucket);
        crest_distribution_free(from);
    }
}

/* Coarser until they are few enough, and the same as if that schema had been asked for. */
static void test_coarser(void **state)
{
    (void)state;
    static crest_native direct;
    for (unsigned limit = CREST_NATIVE_BUCKETS_MIN; limit <= 200; limit += 7) {
        crest_distribution *from = values_of(&crest_range_fine, limit, 3000, 1e7, 3);
        assert_true(native_from(from, CREST_NATIVE_SCHEMA_MAX, limit));
        check_sound(from, limit);
        assert_true(native.schema < CREST_NATIVE_SCHEMA_MAX);
        direct = native;
        assert_true(native_from(from, direct.schema, CREST_NATIVE_BUCKETS_MAX));
        assert_int_equal(native.schema, direct.schema);
        assert_int_equal(native.used, direct.used);
        assert_memory_equal(native.bucket, direct.bucket, native.used * sizeof *native.bucket);
        assert_true(native_from(from, direct.schema + 1, CREST_NATIVE_BUCKETS_MAX));
        assert_true(native.used > limit);
        crest_distribution_free(from);
    }
}

/* All that there may be, in the fewest buckets. */
static void test_widest_range(void **state)
{
    (void)state;
    const crest_range widest = {1, CREST_RANGE_HIGHEST_MAX, 5};
    crest_distribution *from = crest_distribution_new(&widest);
    for (unsigned bit = 0; bit <= 62; bit++)
        crest_distribution_record(from, INT64_C(1) << bit, 1 + bit);
    assert_true(native_from(from, CREST_NATIVE_SCHEMA_MAX, CREST_NATIVE_BUCKETS_MIN));
    check_sound(from, CREST_NATIVE_BUCKETS_MIN);
    crest_distribution_free(from);
}

static void test_nothing_and_no_cells(void **state)
{
    (void)state;
    crest_layout none;
    assert_int_equal(crest_layout_make(CREST_RANGE_NONE, &none), CREST_OK);
    assert_false(crest_native_of(&native, 3, 160, 9, &none, NULL));
    assert_true(crest_native_of(&native, 3, 160, 9, &crest_layout_default, NULL));
    assert_int_equal(native.count, 0);
    assert_int_equal(native.used, 0);
    assert_int_equal(native.schema, 3);
    const crest_range coarse = {1000, 1000000000, 2};
    crest_distribution *from = crest_distribution_new(&coarse);
    crest_distribution_record(from, 511, 2);
    crest_distribution_record(from, 512, 1);
    assert_true(native_from(from, 3, 160));
    assert_true(native.zero_threshold == 511 / 1e9);
    assert_int_equal(native.zero_count, 2);
    assert_int_equal(native.used, 1);
    crest_distribution_free(from);
}

static void test_enormous_counts(void **state)
{
    (void)state;
    crest_native_begin(&native, 3, 160, 0, 0);
    crest_native_add(&native, 1, 1, UINT64_MAX);
    crest_native_add(&native, 2, 2, (UINT64_C(1) << 53) + 1);
    assert_int_equal(native.bucket[0].count, UINT64_MAX);
    assert_int_equal(native.bucket[1].count, (UINT64_C(1) << 53) + 1);
    assert_int_equal(native.count, UINT64_MAX);
}

/* As Prometheus 3 reads a quantile of exponential buckets: along the exponent. */
static double native_quantile(double q)
{
    double rank = q * (double)native.count, seen = (double)native.zero_count;
    for (unsigned i = 0; i < native.used; i++) {
        double count = (double)native.bucket[i].count;
        if (seen + count >= rank) {
            double lower = crest_native_bound(native.bucket[i].index - 1, native.schema);
            double upper = crest_native_bound(native.bucket[i].index, native.schema);
            return lower * pow(upper / lower, (rank - seen) / count);
        }
        seen += count;
    }
    return 0;
}

/* What cells add to the error that the buckets have anyway: values that were put into exponential
 * buckets one by one give quantiles, and those that went through cells give others, which are no
 * more than 0.3 % apart at the default digits. The largest of a run of them is told. */
static void test_added_quantile_error(void **state)
{
    (void)state;
    static const double quantiles[] = {0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99};
    enum { COUNT = 400000 };
    static double values[COUNT];
    static crest_native exact;
    double worst = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        crest_distribution *from = crest_distribution_new(NULL);
        uint64_t random = seed;
        int least = INT32_MAX, most = INT32_MIN;
        for (unsigned i = 0; i < COUNT; i++) {
            double normal = 0;
            for (unsigned k = 0; k < 12; k++)
                normal += (double)((random = random_step(random)) >> 40) / 0x1p24;
            uint64_t value = (uint64_t)(2e6 * (double)seed * exp(1.2 * (normal - 6)));
            values[i] = (double)value / 1e9;
            crest_distribution_record(from, (int64_t)value, 1);
            int index = crest_native_index(values[i], 3);
            least = index < least ? index : least;
            most = index > most ? index : most;
        }
        assert_in_range(most - least, 10, CREST_NATIVE_BUCKETS_MAX - 1);
        crest_native_begin(&exact, 3, CREST_NATIVE_BUCKETS_MAX, 9, 0);
        for (int index = least; index <= most; index++)
            exact.bucket[exact.used++] = (crest_native_bucket){index, 0};
        for (unsigned i = 0; i < COUNT; i++)
            exact.bucket[crest_native_index(values[i], 3) - least].count++;
        exact.count = COUNT;
        double wanted[sizeof quantiles / sizeof *quantiles];
        native = exact;
        for (unsigned q = 0; q < sizeof quantiles / sizeof *quantiles; q++)
            wanted[q] = native_quantile(quantiles[q]);
        assert_true(native_from(from, 3, 160));
        assert_int_equal(native.schema, 3);
        for (unsigned q = 0; q < sizeof quantiles / sizeof *quantiles; q++) {
            double off = fabs(native_quantile(quantiles[q]) / wanted[q] - 1);
            worst = off > worst ? off : worst;
        }
        crest_distribution_free(from);
    }
    print_message("added error of quantiles at two digits, schema 3: at most %.3f %%\n",
                  100 * worst);
    assert_true(worst <= 0.003);
    assert_true(worst > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_schema_of_factor),
        cmocka_unit_test(test_cells_in_buckets),
        cmocka_unit_test(test_layouts_in_turn),
        cmocka_unit_test(test_coarser),
        cmocka_unit_test(test_widest_range),
        cmocka_unit_test(test_nothing_and_no_cells),
        cmocka_unit_test(test_enormous_counts),
        cmocka_unit_test(test_added_quantile_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
