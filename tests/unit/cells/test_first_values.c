/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_values.h: what the first few values of a histogram take, that they are read as what they
 * are, and what becomes of them: more values, many at once, another layout's, no memory, a
 * series' end.
 */
#include "base/arena.h"
#include "cells/first_values.h"
#include "cells/cells.h"
#include "support/core_fixture.h"
#include "base/lock.h"
#include "cells/shards.h"

enum { BEGINNING_BYTES = CREST_BEGINNING_VALUES * sizeof(uint64_t) };

static crest_registry *registry;

/* What this thread's cell has; its chunk is there. */
static uint64_t word_of(const crest_histogram *histogram)
{
    const uint64_t *cell = crest_cell_of(&histogram->handle);
    assert_non_null(cell);
    return *cell;
}

static crest_histogram *histogram_new(const char *name)
{
    static int touched;
    crest_histogram *histogram = fixture_histogram(registry, name);
    if (!touched++)
        crest_counter_inc(fixture_counter(registry, "a-chunk"));
    return histogram;
}

static void expect(const char *name, uint64_t count, uint64_t sum, uint64_t min, uint64_t max)
{
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_distribution *found = fixture_series(snapshot, name, NULL).distribution;
    assert_int_equal(crest_distribution_count(found), count);
    assert_int_equal(crest_distribution_sum(found), sum);
    assert_int_equal(crest_distribution_min(found), min);
    assert_int_equal(crest_distribution_max(found), max);
    crest_snapshot_free(snapshot);
}

static void test_few(void **state)
{
    (void)state;
    crest_histogram *histogram = histogram_new("few");
    uint64_t sum = 0, min = UINT64_MAX, max = 0;
    static const uint64_t values[CREST_BEGINNING_VALUES] = {1000000, 0, 77, 77};
    for (unsigned i = 0; i < CREST_BEGINNING_VALUES; i++) {
        crest_histogram_record(histogram, (int64_t)values[i]);
        sum += values[i];
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
        expect("few", i + 1, sum, min, max);
        assert_true(crest_beginning_is(word_of(histogram)));
    }
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_distribution *found = fixture_series(snapshot, "few", NULL).distribution;
    assert_int_equal(crest_distribution_quantile(found, 0.5), 77);
    crest_snapshot_free(snapshot);
}

static void test_more(void **state)
{
    (void)state;
    crest_histogram *histogram = histogram_new("more");
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= 100; i++) {
        crest_histogram_record(histogram, (int64_t)(i * i * i));
        sum += i * i * i;
        expect("more", i, sum, 1, i * i * i);
        assert_int_equal(crest_beginning_is(word_of(histogram)), i <= CREST_BEGINNING_VALUES);
    }
}

static void test_many_at_once(void **state)
{
    (void)state;
    crest_histogram *histogram = histogram_new("at-once");
    crest_histogram_record(histogram, 50);
    crest_histogram_record_n(histogram, 7, 1000);
    assert_false(crest_beginning_is(word_of(histogram)));
    expect("at-once", 1001, 7050, 7, 50);
    /* what is closed takes no more */
    crest_histogram_record(histogram, 8);
    expect("at-once", 1002, 7058, 7, 50);
    crest_histogram *first = histogram_new("at-once-first");
    crest_histogram_record_n(first, 7, 1000);
    crest_histogram_record(first, 1);
    expect("at-once-first", 1001, 7001, 1, 7);
}

static void test_out_of_range(void **state)
{
    (void)state;
    crest_histogram *histogram = histogram_new("clamped");
    int64_t highest = (INT64_C(1) << 42) - 1;
    crest_histogram_record(histogram, 50);
    crest_histogram_record(histogram, INT64_MAX);
    crest_histogram_record(histogram, -1);
    expect("clamped", 2, 50 + (uint64_t)highest, 50, (uint64_t)highest);
}

/* A line for two, and no more resident pages than they need. */
static void test_memory(void **state)
{
    (void)state;
    enum { HISTOGRAMS = 500 };
    crest_histogram *all[HISTOGRAMS];
    char name[32];
    for (unsigned i = 0; i < HISTOGRAMS; i++) {
        snprintf(name, sizeof name, "memory.of-%u", i);
        all[i] = histogram_new(name);
    }
    uint64_t used = crest_arena_used(CREST_ARENA_CELLS);
    for (unsigned i = 0; i < HISTOGRAMS; i++)
        crest_histogram_record(all[i], 1000 + i);
    used = crest_arena_used(CREST_ARENA_CELLS) - used;
    /* a page of values for 111, and one that is never there; pages may begin a page later */
    print_message("%llu bytes of addresses each\n", (unsigned long long)(used / HISTOGRAMS));
    assert_true(used <= (HISTOGRAMS / 111 + 2) * UINT64_C(3) * CREST_BEGINNING_PAGE);
    for (unsigned i = 0; i < HISTOGRAMS; i++) {
        const unsigned char *zeros = (const unsigned char *)(uintptr_t)word_of(all[i]);
        for (size_t at = 0; at < sizeof(crest_shard); at++)
            assert_int_equal(zeros[at], 0);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    crest_reserve reserve = {.taken = 0};
    uint64_t cell = 0;
    crest_arena_fail_after(1);
    assert_false(crest_beginning_add(&cell, &crest_layout_default, &reserve, 5));
    crest_arena_fail_after(0);
    assert_int_equal(cell, 0);
    crest_histogram *histogram = histogram_new("no-memory");
    for (int64_t i = 0; i < CREST_BEGINNING_VALUES; i++)
        crest_histogram_record(histogram, 100 + i);
    for (unsigned long fail = 1; fail < 4; fail++) {
        /* the shared shard has it instead, and the first values stay where they are */
        crest_arena_fail_after(fail);
        crest_histogram_record_n(histogram, 64, 1);
        crest_arena_fail_after(0);
        expect("no-memory", CREST_BEGINNING_VALUES + fail,
               100 * CREST_BEGINNING_VALUES + 6 + 64 * fail, 64, 103);
    }
}

/* One that was given back is somebody else's next, empty. */
static void test_given_back(void **state)
{
    (void)state;
    crest_reserve reserve = {.taken = 0};
    uint64_t cell = 0, other = 0, value;
    assert_true(crest_beginning_add(&cell, &crest_layout_default, &reserve, 5));
    assert_true(crest_beginning_value(cell, 0, &value));
    assert_int_equal(value, 5);
    assert_false(crest_beginning_value(cell, 1, &value));
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_beginning_give(&crest_layout_default, cell);
    crest_lock_drop(&saved);
    assert_true(crest_arena_has_given(crest_layout_use(&crest_layout_default), BEGINNING_BYTES));
    assert_true(crest_beginning_add(&other, &crest_layout_default, &reserve, 0));
    assert_int_equal(other, cell);
    assert_true(crest_beginning_value(other, 0, &value));
    assert_int_equal(value, 0);
    assert_true(crest_beginning_has_room(&other));
    crest_beginning_close(other);
    assert_false(crest_beginning_has_room(&other));
    assert_false(crest_beginning_add(&other, &crest_layout_default, &reserve, 1));
    for (unsigned i = 1; i < CREST_BEGINNING_VALUES; i++)
        assert_false(crest_beginning_value(other, i, &value));
}

/* The narrowest layout: one block of four counts, as many bytes as a beginning. */
static uint64_t narrow_block(const crest_layout *layout, uint64_t *cell)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_shard *shard = crest_shard_at(cell, layout, NULL);
    assert_non_null(shard);
    assert_true(crest_shard_touch(shard, layout, 3, NULL));
    crest_lock_drop(&saved);
    return shard->block[0];
}

/* What is given back is not taken for another purpose: a block is on a line, with its shift in what
 * is left of its address, and before a beginning there are zeros. */
static void test_given_to_others(void **state)
{
    (void)state;
    static const crest_range range = {1, 3, 2};
    crest_layout layout;
    assert_int_equal(crest_layout_make(&range, &layout), CREST_OK);
    crest_reserve reserve = {.taken = 0};
    uint64_t all[3] = {0, 0, 0}, cell = 0, other = 0;
    for (unsigned i = 0; i < LENGTH(all); i++)
        assert_true(crest_beginning_add(&all[i], &layout, &reserve, i));
    crest_lock_saved saved;
    crest_lock_take(&saved);
    for (unsigned i = 0; i < LENGTH(all); i++)
        crest_beginning_give(&layout, all[i]);
    crest_lock_drop(&saved);
    for (unsigned i = 0; i < LENGTH(all); i++) {
        cell = 0;
        assert_int_equal(narrow_block(&layout, &cell) & CREST_BLOCK_SHIFT, 0);
    }
    crest_shard *shard = (crest_shard *)(uintptr_t)cell;
    assert_true(crest_shard_record_cold(shard, 2, 5, 1));
    crest_lock_take(&saved);
    crest_shard_give(shard, &layout);
    crest_lock_drop(&saved);
    const unsigned char *page = NULL;
    for (unsigned i = 0; i < LENGTH(all) + 1; i++) {
        other = 0;
        assert_true(crest_beginning_add(&other, &layout, &reserve, 1));
        page = (const unsigned char *)(uintptr_t)other;
        for (size_t at = 0; at < sizeof(crest_shard); at++)
            assert_int_equal(page[at], 0);
    }
}

static int setup(void **state)
{
    (void)state;
    registry = fixture_registry(NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    crest_registry_free(registry);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),          cmocka_unit_test(test_more),
        cmocka_unit_test(test_many_at_once), cmocka_unit_test(test_out_of_range),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_given_back),   cmocka_unit_test(test_given_to_others),
    };
    return cmocka_run_group_tests_name("beginnings", tests, setup, teardown);
}
