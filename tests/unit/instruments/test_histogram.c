/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/histogram.h>: count, sum, extremes and buckets against the sorted list of what was
 * recorded, at the values where a layout can go wrong; and what is clamped or refused.
 */
#include "base/arena.h"
#include "support/core_fixture.h"
#include "base/misuse.h"
#include "support/random_numbers.h"
#include "cells/shards.h"

#include <limits.h>
#include <pthread.h>

#define HIGHEST ((INT64_C(1) << 42) - 1)

CREST_HISTOGRAM(declared, "test.declared-size", "Declared.", .unit = CREST_BYTES);

/* What a histogram should hold. */
typedef struct records {
    uint64_t *value;
    size_t count, room;
    uint64_t sum;
} records;

static void records_add(records *r, uint64_t value)
{
    if (r->count == r->room) {
        r->room = r->room ? 2 * r->room : 1024;
        r->value = realloc(r->value, r->room * sizeof *r->value);
        assert_non_null(r->value);
    }
    r->value[r->count++] = value;
    r->sum += value;
}

static int records_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t records_between(const records *r, uint64_t lowest, uint64_t highest)
{
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++)
        count += r->value[i] >= lowest && r->value[i] <= highest;
    return count;
}

/* Buckets are exact below 256, and above it less than 1 % of their values wide. */
static void check_buckets(const crest_distribution *distribution, const records *r)
{
    crest_bucket bucket;
    for (size_t cursor = 0; crest_distribution_next(distribution, &cursor, &bucket);) {
        uint64_t width = bucket.highest - bucket.lowest + 1;
        assert_true(bucket.lowest < 256 ? width == 1 : width * 100 < bucket.lowest);
        assert_int_equal(bucket.count, records_between(r, bucket.lowest, bucket.highest));
        assert_true(bucket.lowest <= crest_distribution_max(distribution));
        assert_true(bucket.highest >= crest_distribution_min(distribution));
    }
    assert_int_equal(fixture_buckets(distribution), r->count);
}

static void check_quantiles(const crest_distribution *distribution, const records *r)
{
    static const double q[] = {-1,      0,    1e-9, 0.001, 0.01,  0.1,       0.25, 0.5,
                               1 / 3.0, 0.75, 0.9,  0.99,  0.999, 0.9999999, 1,    2};
    for (size_t i = 0; i < LENGTH(q); i++) {
        double exact = ceil(q[i] * (double)r->count);
        size_t rank = exact < 1 ? 1 : exact > (double)r->count ? r->count : (size_t)exact;
        uint64_t value = r->value[rank - 1], said = crest_distribution_quantile(distribution, q[i]);
        uint64_t off = said > value ? said - value : value - said;
        if (off * 200 > value)
            fail_msg("quantile %g: %llu instead of %llu", q[i], (unsigned long long)said,
                     (unsigned long long)value);
    }
    assert_int_equal(crest_distribution_quantile(distribution, 0), r->value[0]);
    assert_int_equal(crest_distribution_quantile(distribution, 1), r->value[r->count - 1]);
    uint64_t nan = crest_distribution_quantile(distribution, NAN);
    assert_true(nan >= r->value[0] && nan <= r->value[r->count - 1]);
}

static void check(crest_registry *registry, const char *name, records *r)
{
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_distribution *distribution = fixture_series(snapshot, name, NULL).distribution;
    assert_int_equal(crest_distribution_count(distribution), r->count);
    assert_int_equal(crest_distribution_sum(distribution), r->sum);
    if (r->count != 0) {
        qsort(r->value, r->count, sizeof *r->value, records_order);
        assert_int_equal(crest_distribution_min(distribution), r->value[0]);
        assert_int_equal(crest_distribution_max(distribution), r->value[r->count - 1]);
        check_buckets(distribution, r);
        check_quantiles(distribution, r);
    }
    crest_snapshot_free(snapshot);
    free(r->value);
}

static void test_nothing(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    fixture_histogram(registry, "h");
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_distribution *none = fixture_series(snapshot, "h", NULL).distribution;
    assert_int_equal(crest_distribution_count(none), 0);
    assert_int_equal(crest_distribution_sum(none), 0);
    assert_int_equal(crest_distribution_min(none), 0);
    assert_int_equal(crest_distribution_max(none), 0);
    assert_int_equal(crest_distribution_quantile(none, 0.5), 0);
    assert_int_equal(fixture_buckets(none), 0);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

/* Every boundary of every block, each value on its own and all together. */
static void test_boundaries(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "all");
    records all = {0};
    for (int power = 0; power < 42; power++)
        for (int64_t off = -2; off <= 2; off++) {
            int64_t value = (INT64_C(1) << power) + off;
            if (value < 0)
                continue;
            crest_histogram_record(histogram, value);
            records_add(&all, (uint64_t)value);
            char name[32];
            snprintf(name, sizeof name, "only.p%d-%c%d", power, off < 0 ? 'm' : 'p', abs((int)off));
            records one = {0};
            crest_histogram_record(fixture_histogram(registry, name), value);
            records_add(&one, (uint64_t)value);
            if (power % 7 == 0)
                check(registry, name, &one);
            else
                free(one.value);
        }
    static const int64_t more[] = {0, 0, 127, 128, 129, 255, 256, 257, HIGHEST, HIGHEST - 1};
    for (size_t i = 0; i < LENGTH(more); i++) {
        crest_histogram_record(histogram, more[i]);
        records_add(&all, (uint64_t)more[i]);
    }
    check(registry, "all", &all);
    crest_registry_free(registry);
}

/* Values spread evenly over the powers of two. */
static void test_spread(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "spread");
    records all = {0};
    uint64_t seed = 1;
    for (int i = 0; i < 4000; i++) {
        uint64_t random = random_next(&seed);
        uint64_t value = (random & (uint64_t)HIGHEST) >> (random >> 58) % 42;
        crest_histogram_record(histogram, (int64_t)value);
        records_add(&all, value);
    }
    check(registry, "spread", &all);
    crest_registry_free(registry);
}

static void test_clamped(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "clamped");
    records all = {0};
    static const int64_t above[] = {HIGHEST + 1, HIGHEST + 2,      INT64_MAX - 1,
                                    INT64_MAX,   INT64_C(1) << 43, INT64_C(1) << 62};
    uint64_t clamped = crest_misuse_value(CREST_MISUSE_CLAMPED);
    for (size_t i = 0; i < LENGTH(above); i++) {
        crest_histogram_record(histogram, above[i]);
        records_add(&all, HIGHEST);
    }
    assert_int_equal(crest_misuse_value(CREST_MISUSE_CLAMPED), clamped + LENGTH(above));
    crest_histogram_record(histogram, HIGHEST);
    records_add(&all, HIGHEST);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_CLAMPED), clamped + LENGTH(above));
    /* what is multiplied is what is counted, and that fits */
    crest_histogram_record_n(histogram, INT64_MAX, 3);
    for (int i = 0; i < 3; i++)
        records_add(&all, HIGHEST);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_CLAMPED), clamped + LENGTH(above) + 1);
    check(registry, "clamped", &all);
    crest_registry_free(registry);
}

static void test_negative(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "negative");
    records all = {0};
    static const int64_t below[] = {-1, -2, -255, -256, INT64_MIN, INT64_MIN + 1};
    uint64_t negative = crest_misuse_value(CREST_MISUSE_NEGATIVE);
    for (int touched = 0; touched < 2; touched++) {
        for (size_t i = 0; i < LENGTH(below); i++)
            crest_histogram_record_n(histogram, below[i], i + 1);
        crest_histogram_record(histogram, 3);
        records_add(&all, 3);
    }
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NEGATIVE), negative + 2 * LENGTH(below));
    check(registry, "negative", &all);
    crest_registry_free(registry);
}

/* Values of all powers of two, the least and the highest among them, so that what follows in this
 * tick takes the inline path. Returns their sum; their count is one more than the powers'. */
static uint64_t record_all_powers(crest_histogram *histogram, unsigned powers)
{
    uint64_t sum = 0;
    crest_histogram_record(histogram, 0);
    for (unsigned power = powers; power-- > 0;) {
        crest_histogram_record(histogram, (INT64_C(2) << power) - 1);
        sum += (UINT64_C(2) << power) - 1;
    }
    return sum;
}

/* Into a histogram that has nothing yet, and into one that has all it needs. */
static void times_into(int warm)
{
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "times");
    uint64_t count = 0, sum = 0, limit = crest_misuse_value(CREST_MISUSE_LIMIT);
    static const struct {
        int64_t value;
        uint64_t times;
        int fits;
    } cases[] = {
        {100, 1, 1},
        {200, 0, 1}, /* nothing, also where there is room for it */
        {0, 0, 1},
        {7, CREST_RECORD_TIMES_INLINE_MAX, 1},
        {7, CREST_RECORD_TIMES_INLINE_MAX + 1, 1},
        {1, UINT64_C(1) << 61, 1},
        {1 << 20, UINT64_C(1) << 40, 1},
        {1 << 20, UINT64_C(1) << 44, 0}, /* 2^64 */
        {2, UINT64_MAX, 0},
        {1, UINT64_MAX, 0}, /* what a -1 becomes */
        {0, UINT64_MAX, 0},
        {1, UINT64_C(1) << 63, 0},
        {HIGHEST, UINT64_MAX, 0},
        {0, 1000, 1},
    };
    if (warm) {
        sum = record_all_powers(histogram, 42);
        count = 43;
    }
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_histogram_record_n(histogram, cases[i].value, cases[i].times);
        if (!cases[i].fits)
            limit++;
        else
            count += cases[i].times, sum += (uint64_t)cases[i].value * cases[i].times;
        assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit);
    }
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_distribution *distribution = fixture_series(snapshot, "times", NULL).distribution;
    assert_int_equal(crest_distribution_count(distribution), count);
    assert_int_equal(crest_distribution_sum(distribution), sum);
    assert_int_equal(crest_distribution_max(distribution), warm ? (INT64_C(1) << 42) - 1 : 1 << 20);
    assert_int_equal(crest_distribution_min(distribution), 0);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

static void test_times(void **state)
{
    (void)state;
    times_into(0);
    times_into(1);
}

/* The product of a value of many bits and its times is past 64 bits. */
static void test_times_of_large_values(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    const crest_range range = {.lowest = 1, .highest = UINT64_C(1) << 62, .digits = 1};
    crest_metric_options options = {.name = "large", .range = &range};
    crest_status status;
    crest_histogram *histogram = crest_histogram_get(registry, &options, &status);
    assert_int_equal(status, CREST_OK);
    uint64_t limit = crest_misuse_value(CREST_MISUSE_LIMIT);
    uint64_t sum = record_all_powers(histogram, 60);
    crest_histogram_record_n(histogram, INT64_C(1) << 50, 1 << 14); /* 2^64 */
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit + 1);
    crest_histogram_record_n(histogram, INT64_C(1) << 50, 3);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_distribution *distribution = fixture_series(snapshot, "large", NULL).distribution;
    assert_int_equal(crest_distribution_count(distribution), 61 + 3);
    assert_int_equal(crest_distribution_sum(distribution), sum + 3 * (UINT64_C(1) << 50));
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

/* Recording nothing leaves no extremes behind. */
static void test_no_times_no_extremes(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "zero");
    crest_histogram_record(histogram, 100);
    crest_histogram_record_n(histogram, 200, 0);
    crest_histogram_record_n(histogram, 50, 0);
    volatile uint64_t none = 0; /* not known when it is compiled either */
    crest_histogram_record_n(histogram, 201, none);
    crest_histogram_record_n(histogram, 49, none);
    records all = {0};
    records_add(&all, 100);
    check(registry, "zero", &all);
    crest_registry_free(registry);
}

/* Where a thread can have no shard: exact but for buckets as wide as a power of two. */
static void *shared_records(void *argument)
{
    crest_histogram *histogram = argument;
    crest_arena_fail_after(1);
    for (int64_t value = 0; value < 5000; value++)
        crest_histogram_record_n(histogram, value, 2);
    crest_histogram_record(histogram, HIGHEST);
    crest_histogram_record(histogram, INT64_MAX);
    crest_arena_fail_after(0);
    return NULL;
}

static void test_without_memory(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "shared");
    uint64_t clamped = crest_misuse_value(CREST_MISUSE_CLAMPED);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, shared_records, histogram), 0);
    pthread_join(thread, NULL);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_CLAMPED), clamped + 1);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_distribution *distribution = fixture_series(snapshot, "shared", NULL).distribution;
    assert_int_equal(crest_distribution_count(distribution), 2 * 5000 + 2);
    assert_int_equal(crest_distribution_sum(distribution), 4999 * 5000 + 2 * HIGHEST);
    assert_int_equal(crest_distribution_min(distribution), 0);
    assert_int_equal(crest_distribution_max(distribution), HIGHEST);
    assert_int_equal(fixture_buckets(distribution), 2 * 5000 + 2);
    /* 0, 1, 2-3, 4-7, ... each power of two in one bucket within it */
    crest_bucket bucket;
    uint64_t from = 0, to = 0;
    for (size_t cursor = 0; crest_distribution_next(distribution, &cursor, &bucket);) {
        if (bucket.lowest > 8191)
            break;
        assert_true(bucket.lowest >= from && bucket.lowest <= to);
        uint64_t until = to < 4999 ? to : 4999;
        assert_int_equal(bucket.count, 2 * (until - from + 1));
        from = to + 1;
        to = 2 * to + 1;
    }
    assert_int_equal(from, 8192);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

static void test_declared(void **state)
{
    (void)state;
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    crest_series_view view = fixture_series(snapshot, "test.declared-size", NULL);
    assert_int_equal(view.kind, CREST_KIND_HISTOGRAM);
    assert_int_equal(view.unit, CREST_BYTES);
    assert_int_equal(crest_distribution_count(view.distribution), 0);
    assert_int_equal(view.buckets->count, crest_buckets_bytes.count);
    crest_snapshot_free(snapshot);
    crest_histogram_record(&declared, 4096);
    snapshot = fixture_snapshot(NULL);
    view = fixture_series(snapshot, "test.declared-size", NULL);
    assert_int_equal(crest_distribution_sum(view.distribution), 4096);
    crest_snapshot_free(snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_boundaries),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_clamped),
        cmocka_unit_test(test_negative),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_times_of_large_values),
        cmocka_unit_test(test_no_times_no_extremes),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_declared),
    };
    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
