/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that was stopped in the middle of an update for minutes, and goes on when the series has
 * gone and all that was its is others': it miscounts at worst. A copy of a handle stands for a
 * thread that had loaded where the value is; a shard or a block that was looked up, for one that
 * was stopped in the middle of a histogram's record. Stopped at each instruction by a debugger:
 * tests/concurrency/test_stopped_update.c.
 */
#include "cells/first_values.h"
#include "cells/cells.h"
#include "support/late_fixture.h"
#include "base/lock.h"
#include "cells/shards.h"

static void late_all_is_well(const char *round)
{
    assert_int_equal(late_round(round, LATE_SERIES_MAX), 0);
}

static void test_gauge(void **state)
{
    (void)state;
    crest_gauge stopped = *late_level_with("gauge");
    crest_gauge_set(&stopped, 1);
    assert_true(late_gone("gauge") != 0);
    crest_gauge_set(&stopped, 1e300);
    crest_gauge_add(&stopped, -2);
    late_all_is_well("gauges");
}

static void test_range_sampler(void **state)
{
    (void)state;
    crest_range_sampler stopped = *late_queue_with("range");
    crest_range_sampler_set(&stopped, 1);
    assert_true(late_gone("range") != 0);
    crest_range_sampler_add(&stopped, 3);
    crest_range_sampler_set(&stopped, 77);
    late_all_is_well("ranges");
}

static crest_shard *late_shard(const crest_histogram *histogram)
{
    return (crest_shard *)(uintptr_t)*crest_cell_of(&histogram->handle);
}

/* Into a shard, and into counts, that were looked up before. */
static void late_record(crest_histogram *histogram, const char *peer, const char *round)
{
    for (int k = 0; k < 10; k++)
        crest_histogram_record(histogram, k % 4);
    crest_shard *stopped = late_shard(histogram);
    uint64_t *count = (uint64_t *)(stopped->block[0] & ~(uintptr_t)CREST_BLOCK_SHIFT);
    assert_true(late_gone(peer) != 0);
    crest_word_add_release(count, 1);
    crest_word_sum_release(&stopped->sum, 7);
    crest_shard_record(stopped, 1, 1);
    late_all_is_well(round);
}

static void test_histograms(void **state)
{
    (void)state;
    late_record(late_size_with("h-size"), "h-size", "h-sizes");
    late_record(late_fine_with("h-fine"), "h-fine", "h-fines");
    late_record(late_narrow_with("h-narrow"), "h-narrow", "h-narrows");
}

/* A block, where the shard has none: whose it is by now gives it back with the right length. */
static void test_new_block(void **state)
{
    (void)state;
    crest_histogram *size = late_size_with("block"), *next = late_fine_with("next");
    for (int k = 0; k < 10; k++)
        crest_histogram_record(size, k);
    crest_shard *stopped = late_shard(size);
    const crest_layout *layout = size->handle.series->metric->layout;
    assert_true(late_gone("block") != 0);
    for (int k = 0; k < 10; k++)
        crest_histogram_record(next, k);
    crest_lock_saved saved;
    crest_lock_take(&saved);
    int there = crest_shard_touch(stopped, layout, 1 << 19, NULL);
    crest_lock_drop(&saved);
    assert_true(there);
    late_make("witness", LATE_SERIES_MAX);
    assert_true(late_gone("next") != 0);
    assert_int_equal(late_check("witness", LATE_SERIES_MAX), 0);
    late_all_is_well("blocks");
}

/* A first value that only its own layout has a count for. */
static void test_first_value(void **state)
{
    (void)state;
    crest_histogram *size = late_size_with("first"), *next = late_narrow_with("first next");
    crest_histogram_record(size, 1);
    uint64_t beginning = *crest_cell_of(&size->handle);
    assert_true(crest_beginning_is(beginning));
    assert_true(late_gone("first") != 0);
    crest_histogram_record(next, 1);
    crest_beginning_values(beginning)[1] = UINT64_C(1) << 41;
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    const crest_distribution *d =
        fixture_series(snapshot, "late.narrow", "first next").distribution;
    assert_in_range(crest_distribution_max(d), 1, 3);
    crest_snapshot_free(snapshot);
    for (int k = 0; k < 10; k++)
        crest_histogram_record(next, 2);
    late_all_is_well("firsts");
}

/* A shard that was made for a cell whose slot has gone is of the layout that the slot serves. */
static void test_slot_keeps_its_layout(void **state)
{
    (void)state;
    crest_histogram *fine = late_fine_with("slot");
    crest_histogram_record(fine, 5);
    uint32_t slot = fine->handle.slot;
    assert_true(late_gone("slot") != 0);
    for (unsigned i = 0; i < LATE_SERIES_MAX; i++) {
        char peer[32];
        late_peer(peer, "slots", i);
        assert_int_not_equal(late_size_with(peer)->handle.slot, slot);
        assert_int_not_equal(late_narrow_with(peer)->handle.slot, slot);
        assert_int_not_equal(late_level_with(peer)->handle.slot, slot);
    }
    int again = 0;
    for (unsigned i = 0; i < LATE_SERIES_MAX; i++) {
        char peer[32];
        again |= late_fine_with(late_peer(peer, "slots", i))->handle.slot == slot;
    }
    assert_true(again);
}

int main(void)
{
    crest_testing_clock_set(1000 * LATE_SECOND);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gauge),       cmocka_unit_test(test_range_sampler),
        cmocka_unit_test(test_histograms),  cmocka_unit_test(test_new_block),
        cmocka_unit_test(test_first_value), cmocka_unit_test(test_slot_keeps_its_layout),
    };
    return cmocka_run_group_tests_name("late writer", tests, NULL, NULL);
}
