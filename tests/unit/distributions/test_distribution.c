/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distribution.h: merging shards and the shared one, the largest value since a reading, and no
 * memory.
 */
#include "base/alloc.h"
#include "base/lock.h"
#include "distributions/distribution_inside.h"
#include "support/core_fixture.h"

static crest_shard *shard_new(void)
{
    crest_lock_saved saved;
    uint64_t cell = 0;
    crest_lock_take(&saved);
    crest_shard *shard = crest_shard_at(&cell, &crest_layout_default, NULL);
    crest_lock_drop(&saved);
    assert_non_null(shard);
    return shard;
}

static void shard_record(crest_shard *shard, uint64_t value, uint64_t times)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    int there = crest_shard_touch(shard, &crest_layout_default, value, NULL);
    crest_lock_drop(&saved);
    assert_true(there);
    assert_true(crest_shard_record_cold(shard, value, times, 1));
}

static crest_distribution *merged(crest_shard **shards, size_t count,
                                  const crest_shared_shard *shared)
{
    crest_distribution *distribution = crest_distribution_make(&crest_layout_default);
    assert_non_null(distribution);
    if (shared != NULL)
        assert_true(crest_distribution_add_shared(distribution, shared));
    for (size_t i = 0; i < count; i++)
        assert_true(crest_distribution_add_shard(distribution, shards[i]));
    crest_distribution_finish(distribution);
    return distribution;
}

static void test_merged(void **state)
{
    (void)state;
    crest_shard *shards[3] = {shard_new(), shard_new(), shard_new()};
    static crest_shared_shard shared;
    crest_distribution *d = merged(shards, 3, &shared);
    assert_int_equal(crest_distribution_count(d), 0);
    assert_int_equal(crest_distribution_min(d), 0);
    assert_int_equal(crest_distribution_max(d), 0);
    crest_distribution_free(d);
    shard_record(shards[0], 300, 2);
    shard_record(shards[1], 301, 3); /* the same bucket */
    shard_record(shards[2], 70000, 1);
    d = merged(shards, 3, &shared);
    assert_int_equal(crest_distribution_count(d), 6);
    assert_int_equal(crest_distribution_sum(d), 600 + 903 + 70000);
    assert_int_equal(crest_distribution_min(d), 300);
    assert_int_equal(crest_distribution_max(d), 70000);
    crest_bucket bucket;
    size_t cursor = 0;
    assert_true(crest_distribution_next(d, &cursor, &bucket));
    assert_true(bucket.lowest == 300 && bucket.highest == 301 && bucket.count == 5);
    assert_true(crest_distribution_next(d, &cursor, &bucket));
    assert_true(bucket.lowest <= 70000 && bucket.highest >= 70000 && bucket.count == 1);
    assert_false(crest_distribution_next(d, &cursor, &bucket));
    assert_false(crest_distribution_next(d, &cursor, &bucket));
    crest_distribution_free(d);
    crest_shared_shard_record(&shared, 5, 10);
    crest_shared_shard_record(&shared, 0, 1);
    d = merged(shards, 3, &shared);
    assert_int_equal(crest_distribution_count(d), 17);
    assert_int_equal(crest_distribution_sum(d), 600 + 903 + 70000 + 50);
    assert_int_equal(crest_distribution_min(d), 0);
    crest_distribution_free(d);
}

/* Each value is in the bucket that says so, whichever block it falls into. */
static void test_every_bucket(void **state)
{
    (void)state;
    for (unsigned power = 0; power < 42; power++)
        for (uint64_t part = 0; part < 8; part++) {
            uint64_t value = (UINT64_C(1) << power) + (part << power) / 8;
            crest_shard *shard = shard_new();
            shard_record(shard, value, 1);
            crest_distribution *d = merged(&shard, 1, NULL);
            crest_bucket bucket;
            size_t cursor = 0;
            assert_true(crest_distribution_next(d, &cursor, &bucket));
            assert_true(bucket.lowest <= value && value <= bucket.highest);
            assert_true((bucket.highest - bucket.lowest) * 100 < value);
            assert_false(crest_distribution_next(d, &cursor, &bucket));
            assert_int_equal(crest_distribution_quantile(d, 0.5), value);
            crest_distribution_free(d);
        }
}

static void test_max_since(void **state)
{
    (void)state;
    crest_shard *shard = shard_new();
    crest_distribution *none = merged(&shard, 1, NULL);
    assert_int_equal(crest_distribution_max_since(none, NULL), 0);
    shard_record(shard, 1000, 1);
    crest_distribution *first = merged(&shard, 1, NULL);
    assert_int_equal(crest_distribution_max_since(first, NULL), 1000);
    assert_int_equal(crest_distribution_max_since(first, none), 1000);
    crest_distribution *same = merged(&shard, 1, NULL);
    assert_int_equal(crest_distribution_max_since(same, first), 0);
    shard_record(shard, 0, 5);
    crest_distribution *zeros = merged(&shard, 1, NULL);
    assert_int_equal(crest_distribution_max_since(zeros, same), 0);
    shard_record(shard, 600, 1);
    shard_record(shard, 500, 1);
    crest_distribution *lower = merged(&shard, 1, NULL);
    assert_in_range(crest_distribution_max_since(lower, zeros), 600, 603);
    shard_record(shard, 1000, 1);
    crest_distribution *again = merged(&shard, 1, NULL);
    assert_int_equal(crest_distribution_max_since(again, lower), 1000);
    shard_record(shard, 70000, 1);
    crest_distribution *higher = merged(&shard, 1, NULL);
    assert_int_equal(crest_distribution_max_since(higher, again), 70000);
    /* below the largest, in a power of two that had none */
    shard_record(shard, 5000, 1);
    crest_distribution *other = merged(&shard, 1, NULL);
    assert_in_range(crest_distribution_max_since(other, higher), 5000, 5031);
    crest_distribution *const all[] = {none, first, same, zeros, lower, again, higher, other};
    for (size_t i = 0; i < LENGTH(all); i++)
        crest_distribution_free(all[i]);
}

static void test_no_memory(void **state)
{
    (void)state;
    crest_shard *shard = shard_new();
    static crest_shared_shard shared;
    for (unsigned power = 0; power < 42; power++) {
        shard_record(shard, UINT64_C(1) << power, 1);
        crest_shared_shard_record(&shared, UINT64_C(1) << power, 1);
    }
    crest_alloc_fail_after(1);
    assert_null(crest_distribution_make(&crest_layout_default));
    crest_alloc_fail_after(0);
    unsigned failed = 0;
    for (unsigned long n = 1;; n++) {
        crest_distribution *d = crest_distribution_make(&crest_layout_default);
        crest_alloc_fail_after(n);
        int whole =
            crest_distribution_add_shard(d, shard) && crest_distribution_add_shared(d, &shared);
        crest_alloc_fail_after(0);
        if (whole) {
            crest_distribution_finish(d);
            assert_int_equal(crest_distribution_count(d), 84);
        }
        crest_distribution_free(d);
        if (whole)
            break;
        failed++;
    }
    assert_int_equal(failed, 35);
    crest_distribution_free(NULL);
}

/* Counts past what 64 bits say are as large as can be said, in one shard, in several, in the
 * shared one, and below any limit. */
static void test_huge_counts(void **state)
{
    (void)state;
    const uint64_t huge = UINT64_C(1) << 62;
    crest_shard *shards[3] = {shard_new(), shard_new(), shard_new()};
    for (uint64_t value = 0; value < 5; value++)
        shard_record(shards[0], value, huge);
    crest_distribution *d = merged(shards, 1, NULL);
    assert_true(crest_distribution_count(d) == UINT64_MAX);
    static const uint64_t limits[] = {0, 1, 2, 3, 4, 5, 1000};
    uint64_t below[LENGTH(limits)];
    crest_distribution_below(d, limits, LENGTH(limits), below);
    for (size_t i = 0; i < LENGTH(limits); i++)
        assert_true(below[i] == (i < 3 ? (i + 1) * huge : UINT64_MAX));
    crest_distribution_free(d);
    /* the same cell of three threads, each as full as it may be */
    for (unsigned i = 0; i < 3; i++)
        shard_record(shards[i], 300, CREST_CELL_MAX - 1);
    d = merged(shards, 3, NULL);
    crest_bucket bucket = {0, 0, 0};
    for (size_t cursor = 0; bucket.lowest < 300;)
        assert_true(crest_distribution_next(d, &cursor, &bucket));
    assert_true(bucket.count == UINT64_MAX);
    assert_true(crest_distribution_count(d) == UINT64_MAX);
    crest_distribution_free(d);
}

/* A sum past 64 bits is as large as can be said, also when only the upper ends of buckets are past
 * it; one that fits is told, however close. */
static void test_huge_sums(void **state)
{
    (void)state;
    const uint64_t lowest = UINT64_C(1) << 41, width = UINT64_C(1) << 34;
    const uint64_t times = (UINT64_C(1) << 23) - (UINT64_C(1) << 15);
    for (unsigned past = 0; past < 2; past++) {
        crest_shard *shard = shard_new();
        for (unsigned part = 0; part < 4; part++)
            shard_record(shard, lowest + (past ? width - 1 : 0), times / 4);
        crest_distribution *d = merged(&shard, 1, NULL);
        assert_int_equal(crest_distribution_count(d), times);
        assert_true(crest_distribution_sum(d) == (past ? UINT64_MAX : lowest * times));
        crest_distribution_free(d);
    }
}

/* What keeps no values has one cell a thread: all of them count. */
static void test_single_cells(void **state)
{
    (void)state;
    crest_layout layout;
    assert_int_equal(crest_layout_make(&crest_range_none, &layout), CREST_OK);
    crest_distribution *d = crest_distribution_make(&layout);
    for (unsigned i = 0; i < 3; i++) {
        crest_lock_saved saved;
        uint64_t cell = 0;
        crest_lock_take(&saved);
        crest_shard *shard = crest_shard_at(&cell, &layout, NULL);
        assert_true(crest_shard_touch(shard, &layout, 7, NULL));
        crest_lock_drop(&saved);
        assert_true(crest_shard_record_cold(shard, 7, 10 + i, 1));
        assert_true(crest_distribution_add_shard(d, shard));
    }
    crest_distribution_finish(d);
    assert_int_equal(crest_distribution_count(d), 33);
    assert_int_equal(crest_distribution_sum(d), 7 * 33);
    crest_distribution_free(d);
}

/* A reader that comes in the middle of a record finds its sum or its extremes without its count:
 * neither belongs to this reading. */
static void test_half_a_record(void **state)
{
    (void)state;
    crest_shard *shard = shard_new();
    crest_atomic_store(&shard->sum, 500);
    crest_atomic_store(&shard->max, 500);
    crest_atomic_store(&shard->min, 500);
    crest_distribution *d = merged(&shard, 1, NULL);
    assert_int_equal(crest_distribution_count(d), 0);
    assert_int_equal(crest_distribution_sum(d), 0);
    assert_int_equal(crest_distribution_max(d), 0);
    assert_int_equal(crest_distribution_min(d), 0);
    crest_distribution_free(d);
}

/* A quantile lies within the extremes, wherever these are in their buckets. */
static void test_quantiles_within_extremes(void **state)
{
    (void)state;
    const uint64_t lowest = UINT64_C(1) << 20; /* of a bucket of 2^13 values */
    crest_shard *upper = shard_new(), *lower = shard_new();
    shard_record(upper, lowest + 8000, 100);
    shard_record(lower, lowest + 100, 100);
    crest_distribution *d = merged(&upper, 1, NULL);
    for (double q = 0; q <= 1; q += 0.25)
        assert_int_equal(crest_distribution_quantile(d, q), lowest + 8000);
    crest_distribution_free(d);
    d = merged(&lower, 1, NULL);
    for (double q = 0; q <= 1; q += 0.25)
        assert_int_equal(crest_distribution_quantile(d, q), lowest + 100);
    crest_distribution_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merged),
        cmocka_unit_test(test_every_bucket),
        cmocka_unit_test(test_max_since),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_huge_counts),
        cmocka_unit_test(test_huge_sums),
        cmocka_unit_test(test_single_cells),
        cmocka_unit_test(test_half_a_record),
        cmocka_unit_test(test_quantiles_within_extremes),
    };
    return cmocka_run_group_tests_name("distribution", tests, NULL, NULL);
}
