/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bucket_counts.h: counting shards below limits says what merging them and counting then says, for
 * any layout and limits, or that it cannot tell.
 */
#include "base/lock.h"
#include "cells/first_values.h"
#include "distributions/bucket_counts.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"

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

static void shard_record(crest_shard *shard, const crest_layout *layout, uint64_t value,
                         uint64_t times)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    int there = crest_shard_touch(shard, layout, value, NULL);
    crest_lock_drop(&saved);
    assert_true(there);
    assert_true(crest_shard_record_cold(shard, value, times, 1));
}

/* A shard that is not there yet: so many values. */
static crest_shard *beginning_new(unsigned values, uint64_t (*value)(uint64_t), uint64_t most)
{
    static crest_reserve reserve;
    uint64_t cell = 0;
    while (values-- != 0)
        assert_true(crest_beginning_add(&cell, &crest_layout_default, &reserve, value(most)));
    return (crest_shard *)(uintptr_t)cell;
}

static uint64_t tally_random(void)
{
    static uint64_t state = 1;
    state = random_step(state);
    return state >> 11;
}

/* Of any size up to this one, small ones as often as large ones. */
static uint64_t tally_random_value(uint64_t highest)
{
    uint64_t value = tally_random() << 10 ^ tally_random();
    return (value >> tally_random() % 64) % (highest + 1);
}

/* Counts both ways; what the tally can tell is the same. Returns whether it can. */
static int tally_compare(crest_tally *tally, crest_shard *const *shards, unsigned shard_count,
                         const crest_layout *layout, const uint64_t *limits, unsigned count)
{
    crest_distribution *merged = crest_distribution_make(layout);
    crest_totals wanted, found;
    assert_non_null(merged);
    crest_tally_begin(tally, layout, limits, count);
    for (unsigned i = 0; i < shard_count; i++) {
        assert_true(crest_distribution_add_shard(merged, shards[i]));
        crest_tally_add(tally, shards[i]);
    }
    crest_distribution_finish(merged);
    crest_totals_of(merged, limits, count, &wanted);
    crest_distribution_free(merged);
    if (!crest_tally_end(tally, &found))
        return 0;
    assert_int_equal(found.count, wanted.count);
    assert_int_equal(found.sum, wanted.sum);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(found.below[i], wanted.below[i]);
    return 1;
}

static int limit_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static unsigned limits_any(uint64_t *limits, uint64_t highest)
{
    unsigned count = 1 + (unsigned)(tally_random() % CREST_BUCKETS_MAX);
    for (unsigned i = 0; i < count; i++)
        limits[i] = tally_random() % 9 == 0 && i != 0 ? limits[i - 1]
                    : tally_random() % 9 == 0         ? UINT64_MAX - tally_random() % 3
                                                      : tally_random_value(highest);
    qsort(limits, count, sizeof *limits, limit_order);
    return count;
}

static void test_as_merged(void **state)
{
    (void)state;
    static const crest_range narrow = {1000, 100000, 1}, single = {1, 4, 5};
    const crest_range *const ranges[] = {CREST_RANGE_LOOSE,
                                         CREST_RANGE_DEFAULT,
                                         CREST_RANGE_FINE,
                                         CREST_RANGE_PERCENTAGE,
                                         CREST_RANGE_NONE,
                                         &narrow,
                                         &single};
    crest_tally tally = {.limit_count = 0};
    for (unsigned turn = 0; turn < 140; turn++) {
        crest_layout layout;
        assert_int_equal(crest_layout_make(ranges[turn / 2 % LENGTH(ranges)], &layout), CREST_OK);
        uint64_t most = layout.highest < (UINT64_C(1) << 42) ? layout.highest : UINT64_C(1) << 42;
        crest_shard *shards[5];
        uint64_t limits[CREST_BUCKETS_MAX];
        shards[0] = beginning_new(1 + turn % CREST_BEGINNING_VALUES, tally_random_value, most);
        for (unsigned i = 1; i < LENGTH(shards); i++) {
            shards[i] = shard_new();
            for (unsigned n = 0; n < turn * i; n++)
                shard_record(shards[i], &layout, tally_random_value(most), 1 + n % 3);
        }
        /* the second time with limits as they were */
        unsigned count = limits_any(limits, layout.highest);
        for (unsigned shard_count = 0; shard_count <= LENGTH(shards); shard_count++)
            assert_true(tally_compare(&tally, shards, shard_count, &layout, limits, count));
        limits[0] = 0;
        assert_true(tally_compare(&tally, shards, LENGTH(shards), &layout, limits, count));
    }
}

/* What a few of the largest values say of all, times how many there are, is past 2^64, and what
 * there is by limits is not. */
static void test_large_sums(void **state)
{
    (void)state;
    const uint64_t limits[] = {1000, 1000000}, hour = UINT64_C(3600000000000);
    crest_tally tally = {.limit_count = 0};
    crest_shard *shard = shard_new();
    shard_record(shard, &crest_layout_default, 500, UINT64_C(1) << 40);
    shard_record(shard, &crest_layout_default, hour, 3);
    assert_true(tally_compare(&tally, &shard, 1, &crest_layout_default, limits, 2));
    assert_int_equal(tally.sum, (UINT64_C(500) << 40) + 3 * hour);
    assert_false(tally_compare(&tally, &shard, 1, &crest_layout_default, limits, 0));
    shard_record(shard, &crest_layout_default, hour, UINT64_C(1) << 23);
    assert_false(tally_compare(&tally, &shard, 1, &crest_layout_default, limits, 2));
}

/* As many in one cell as there can be, of several threads. */
static void test_large_counts(void **state)
{
    (void)state;
    const uint64_t limits[] = {0, 1};
    crest_tally tally = {.limit_count = 0};
    crest_shard *shards[2] = {shard_new(), shard_new()};
    shard_record(shards[0], &crest_layout_default, 0, UINT64_C(1) << 50);
    assert_true(tally_compare(&tally, shards, 2, &crest_layout_default, limits, 2));
    for (unsigned i = 0; i < 2; i++)
        shard_record(shards[i], &crest_layout_default, 0, CREST_CELL_MAX - i);
    assert_false(tally_compare(&tally, shards, 2, &crest_layout_default, limits, 2));
}

static void test_shared(void **state)
{
    (void)state;
    crest_shared_shard shared = {.sum = 0};
    assert_true(crest_shared_shard_is_empty(&shared));
    assert_true(crest_shared_shard_record(&shared, 0, 1));
    assert_false(crest_shared_shard_is_empty(&shared));
    shared = (crest_shared_shard){.zeros = 1};
    assert_false(crest_shared_shard_is_empty(&shared));
}

static void test_nothing(void **state)
{
    (void)state;
    const uint64_t limits[] = {5};
    crest_totals totals = {.count = 1};
    crest_totals_of(NULL, limits, 1, &totals);
    assert_true(totals.count == 0 && totals.sum == 0 && totals.below[0] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_merged),    cmocka_unit_test(test_large_sums),
        cmocka_unit_test(test_large_counts), cmocka_unit_test(test_shared),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
