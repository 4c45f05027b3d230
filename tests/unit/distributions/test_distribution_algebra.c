/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/distribution.h>: distributions of one's own, against the lists of what went into them.
 */
#include "base/alloc.h"
#include "base/misuse.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"

static crest_distribution *algebra_new(const crest_range *range)
{
    crest_distribution *made = crest_distribution_new(range);
    assert_non_null(made);
    return made;
}

static void algebra_record(crest_distribution *d, int64_t value, uint64_t times)
{
    assert_int_equal(crest_distribution_record(d, value, times), CREST_OK);
}

static void algebra_same(const crest_distribution *a, const crest_distribution *b)
{
    assert_int_equal(crest_distribution_count(a), crest_distribution_count(b));
    assert_int_equal(crest_distribution_sum(a), crest_distribution_sum(b));
    assert_int_equal(crest_distribution_min(a), crest_distribution_min(b));
    assert_int_equal(crest_distribution_max(a), crest_distribution_max(b));
    crest_bucket x = {0, 0, 0}, y = {0, 0, 0};
    size_t at = 0, beside = 0;
    for (;;) {
        int more = crest_distribution_next(a, &at, &x);
        assert_int_equal(crest_distribution_next(b, &beside, &y), more);
        if (!more)
            break;
        assert_true(x.lowest == y.lowest && x.highest == y.highest && x.count == y.count);
    }
}

static void test_new(void **state)
{
    (void)state;
    static const crest_range bad = {9, 3, 2};
    assert_null(crest_distribution_new(&bad));
    crest_distribution *d = algebra_new(NULL);
    assert_int_equal(crest_distribution_count(d), 0);
    assert_int_equal(crest_distribution_max(d), 0);
    assert_int_equal(crest_distribution_record(NULL, 1, 1), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_distribution_record(d, -1, 1), CREST_NEGATIVE);
    assert_int_equal(crest_distribution_record(d, 5, 0), CREST_OK);
    assert_int_equal(crest_distribution_record(d, 5, UINT64_MAX), CREST_LIMIT);
    assert_int_equal(crest_distribution_record(d, INT64_MAX, UINT64_C(1) << 23), CREST_LIMIT);
    assert_int_equal(crest_distribution_count(d), 0);
    uint64_t clamped = crest_misuse_value(CREST_MISUSE_CLAMPED);
    algebra_record(d, INT64_MAX, 2);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_CLAMPED), clamped + 1);
    assert_int_equal(crest_distribution_max(d), (INT64_C(1) << 42) - 1);
    crest_distribution *copy = crest_distribution_copy(d);
    algebra_same(copy, d);
    algebra_record(copy, 1, 1);
    assert_int_equal(crest_distribution_count(d), 2);
    assert_int_equal(crest_distribution_min(copy), 1);
    crest_distribution_free(copy);
    crest_distribution_free(d);
    crest_distribution_free(NULL);
    assert_null(crest_distribution_copy(NULL));
}

/* Sums of parts are the whole, differences the parts, for every range. */
static void test_add_and_subtract(void **state)
{
    (void)state;
    static const crest_range odd = {1000, UINT64_C(1) << 50, 4};
    const crest_range *const ranges[] = {
        CREST_RANGE_LOOSE, CREST_RANGE_DEFAULT, CREST_RANGE_FINE, CREST_RANGE_PERCENTAGE, &odd,
        CREST_RANGE_NONE};
    for (size_t r = 0; r < LENGTH(ranges); r++) {
        crest_distribution *parts[4], *whole = algebra_new(ranges[r]);
        crest_distribution *sum = algebra_new(ranges[r]);
        uint64_t random = 42 + r;
        for (size_t p = 0; p < LENGTH(parts); p++) {
            parts[p] = algebra_new(ranges[r]);
            for (int i = 0; i < 3000; i++) {
                random = random_step(random);
                int64_t value = (int64_t)((random >> 22) >> (random >> 59));
                if (ranges[r] == CREST_RANGE_PERCENTAGE)
                    value %= 101;
                algebra_record(parts[p], value, 1 + (random >> 50) % 5);
                algebra_record(whole, value, 1 + (random >> 50) % 5);
            }
            assert_int_equal(crest_distribution_add(sum, parts[p]), CREST_OK);
            if (p == 1)
                assert_int_equal(crest_distribution_add(sum, NULL), CREST_OK);
        }
        algebra_same(sum, whole);
        /* what is left of the whole is the last part, but for the extremes of its buckets */
        crest_distribution *left = crest_distribution_copy(whole);
        for (size_t p = 0; p + 1 < LENGTH(parts); p++)
            assert_int_equal(crest_distribution_subtract(left, parts[p]), CREST_OK);
        const crest_distribution *last = parts[LENGTH(parts) - 1];
        assert_int_equal(crest_distribution_count(left), crest_distribution_count(last));
        assert_int_equal(crest_distribution_sum(left), crest_distribution_sum(last));
        assert_int_equal(fixture_buckets(left), crest_distribution_count(last));
        assert_true(crest_distribution_max(left) >= crest_distribution_max(last));
        assert_true(crest_distribution_min(left) <= crest_distribution_min(last));
        if (ranges[r] != CREST_RANGE_NONE)
            assert_true((double)crest_distribution_max(left) <=
                        1.1 * (double)crest_distribution_max(last));
        assert_int_equal(crest_distribution_subtract(left, NULL), CREST_OK);
        assert_int_equal(crest_distribution_subtract(left, last), CREST_OK);
        assert_int_equal(crest_distribution_count(left), 0);
        assert_int_equal(crest_distribution_sum(left), 0);
        assert_int_equal(crest_distribution_max(left), 0);
        assert_int_equal(crest_distribution_min(left), 0);
        /* twice itself */
        assert_int_equal(crest_distribution_add(sum, sum), CREST_OK);
        assert_int_equal(crest_distribution_count(sum), 2 * crest_distribution_count(whole));
        assert_int_equal(crest_distribution_sum(sum), 2 * crest_distribution_sum(whole));
        crest_distribution_free(left);
        crest_distribution_free(whole);
        crest_distribution_free(sum);
        for (size_t p = 0; p < LENGTH(parts); p++)
            crest_distribution_free(parts[p]);
    }
}

/* Extremes of a difference where they can be known. */
static void test_extremes_of_a_difference(void **state)
{
    (void)state;
    crest_distribution *before = algebra_new(NULL), *now = algebra_new(NULL);
    algebra_record(before, 100003, 5);
    assert_int_equal(crest_distribution_add(now, before), CREST_OK);
    algebra_record(now, 99, 1);
    algebra_record(now, 1000003, 1);
    crest_distribution *grown = crest_distribution_copy(now);
    assert_int_equal(crest_distribution_subtract(grown, before), CREST_OK);
    assert_int_equal(crest_distribution_count(grown), 2);
    assert_int_equal(crest_distribution_min(grown), 99);
    assert_int_equal(crest_distribution_max(grown), 1000003);
    algebra_record(now, 70001, 1);
    crest_distribution *next = crest_distribution_copy(now);
    assert_int_equal(crest_distribution_subtract(next, grown), CREST_OK);
    assert_int_equal(crest_distribution_subtract(next, before), CREST_OK);
    assert_int_equal(crest_distribution_count(next), 1);
    assert_int_equal(crest_distribution_sum(next), 70001);
    assert_in_range(crest_distribution_max(next), 70001, 70001 * 101 / 100);
    assert_in_range(crest_distribution_min(next), 70001 * 99 / 100, 70001);
    crest_distribution_free(next);
    crest_distribution_free(grown);
    crest_distribution_free(now);
    crest_distribution_free(before);
}

/* One without records has no extremes that would count, whichever is added to the other. */
static void test_add_nothing(void **state)
{
    (void)state;
    crest_distribution *some = crest_distribution_new(NULL), *none = crest_distribution_new(NULL);
    assert_int_equal(crest_distribution_record(some, 100, 3), CREST_OK);
    assert_int_equal(crest_distribution_add(some, none), CREST_OK);
    assert_int_equal(crest_distribution_min(some), 100);
    assert_int_equal(crest_distribution_max(some), 100);
    assert_int_equal(crest_distribution_add(none, some), CREST_OK);
    assert_int_equal(crest_distribution_min(none), 100);
    assert_int_equal(crest_distribution_sum(none), 300);
    crest_distribution_free(some);
    crest_distribution_free(none);
}

static void test_refused(void **state)
{
    (void)state;
    crest_distribution *plain = algebra_new(NULL), *fine = algebra_new(CREST_RANGE_FINE);
    crest_distribution *none = algebra_new(CREST_RANGE_NONE);
    algebra_record(plain, 500, 3);
    algebra_record(fine, 777, 2);
    crest_distribution *copy = crest_distribution_copy(fine);
    assert_int_equal(crest_distribution_add(fine, plain), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_distribution_subtract(fine, plain), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_distribution_add(NULL, plain), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_distribution_subtract(NULL, plain), CREST_INVALID_ARGUMENT);
    algebra_same(fine, copy);
    /* records that the later one lacks: one too many, one that is nowhere */
    algebra_record(copy, 777, 1);
    assert_int_equal(crest_distribution_subtract(fine, copy), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_distribution_count(fine), 2);
    crest_distribution *other = algebra_new(CREST_RANGE_FINE);
    algebra_record(other, 1 << 30, 1);
    assert_int_equal(crest_distribution_subtract(fine, other), CREST_INVALID_ARGUMENT);
    /* into a coarser one: exact but for the buckets */
    assert_int_equal(crest_distribution_add(plain, fine), CREST_OK);
    assert_int_equal(crest_distribution_count(plain), 5);
    assert_int_equal(crest_distribution_sum(plain), 3 * 500 + 2 * 777);
    assert_int_equal(crest_distribution_max(plain), 777);
    assert_int_equal(crest_distribution_add(none, plain), CREST_OK);
    assert_int_equal(crest_distribution_min(none), 500);
    assert_int_equal(crest_distribution_quantile(none, 0.5), 777);
    assert_int_equal(crest_distribution_add(plain, none), CREST_INVALID_ARGUMENT);
    crest_distribution *const all[] = {plain, fine, none, copy, other};
    for (size_t i = 0; i < LENGTH(all); i++)
        crest_distribution_free(all[i]);
}

/* Past 64 bits: refused, or as much as 64 bits can say; never a small number. */
static void test_past_64_bits(void **state)
{
    (void)state;
    static const crest_range wide = {1, UINT64_C(1) << 62, 2};
    crest_distribution *d = algebra_new(&wide);
    const uint64_t half = UINT64_C(1) << 62;
    algebra_record(d, 1, half);
    algebra_record(d, 1, half);
    assert_int_equal(crest_distribution_record(d, 1, 1), CREST_LIMIT);
    assert_int_equal(crest_distribution_count(d), 2 * half);
    algebra_record(d, 0, half);
    algebra_record(d, 0, half);
    assert_int_equal(crest_distribution_count(d), UINT64_MAX);
    assert_int_equal(crest_distribution_sum(d), 2 * half);
    assert_int_equal(crest_distribution_quantile(d, 0.9), 1);
    crest_distribution_free(d);
    d = algebra_new(&wide);
    for (int i = 1; i <= 40; i++) {
        algebra_record(d, (int64_t)half, 1);
        assert_int_equal(crest_distribution_sum(d), i < 4 ? (uint64_t)i * half : UINT64_MAX);
    }
    /* what came after is exact, although both sums are past it */
    crest_distribution *before = crest_distribution_copy(d);
    algebra_record(d, 12345, 2);
    assert_int_equal(crest_distribution_sum(d), UINT64_MAX);
    assert_int_equal(crest_distribution_subtract(d, before), CREST_OK);
    assert_int_equal(crest_distribution_count(d), 2);
    assert_int_equal(crest_distribution_sum(d), 2 * 12345);
    crest_distribution_free(before);
    crest_distribution_free(d);
}

/* The same of a metric: 2^63 times at once and again. */
static void test_metric_past_64_bits(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    static const crest_range wide = {1, UINT64_C(1) << 62, 2};
    crest_metric_options options = {.name = "h", .range = &wide};
    crest_histogram *histogram = crest_histogram_get(registry, &options, NULL);
    uint64_t limit = crest_misuse_value(CREST_MISUSE_LIMIT);
    for (int i = 0; i < 10; i++)
        crest_histogram_record_n(histogram, 1, UINT64_C(1) << 62);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit + 8);
    for (int i = 0; i < 10; i++)
        crest_histogram_record_n(histogram, 0, UINT64_C(1) << 62);
    for (int i = 0; i < 10; i++)
        crest_histogram_record(histogram, INT64_C(1) << 62);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_distribution *d = fixture_series(snapshot, "h", NULL).distribution;
    assert_int_equal(crest_distribution_count(d), UINT64_MAX);
    assert_int_equal(crest_distribution_sum(d), UINT64_MAX);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

static void test_no_memory(void **state)
{
    (void)state;
    crest_distribution *from = algebra_new(NULL), *to = algebra_new(NULL);
    for (int power = 0; power < 42; power++)
        algebra_record(from, INT64_C(1) << power, 1);
    unsigned failed = 0;
    for (unsigned long n = 1;; n++, failed++) {
        crest_alloc_fail_after(n);
        crest_status status = crest_distribution_add(to, from);
        crest_alloc_fail_after(0);
        if (status == CREST_OK)
            break;
        assert_int_equal(status, CREST_NO_MEMORY);
        assert_int_equal(crest_distribution_count(to), 0);
        assert_int_equal(crest_distribution_sum(to), 0);
    }
    assert_in_range(failed, 1, 35);
    algebra_same(to, from);
    for (unsigned long n = 1; n <= 36; n += 5) {
        crest_alloc_fail_after(n);
        assert_null(crest_distribution_copy(from));
        crest_alloc_fail_after(0);
    }
    crest_alloc_fail_after(1);
    assert_null(crest_distribution_new(NULL));
    crest_distribution *empty = to;
    assert_int_equal(crest_distribution_subtract(empty, from), CREST_OK);
    crest_alloc_fail_after(0);
    crest_distribution_free(from);
    crest_distribution_free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_add_and_subtract),
        cmocka_unit_test(test_extremes_of_a_difference),
        cmocka_unit_test(test_add_nothing),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_past_64_bits),
        cmocka_unit_test(test_metric_past_64_bits),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("distribution_algebra", tests, NULL, NULL);
}
