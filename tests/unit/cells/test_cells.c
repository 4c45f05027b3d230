/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h: slots, tables and shared cells, up to the last slot there is. That test comes last, for
 * nothing can be registered after it.
 */
#include "base/arena.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "cells/cells.h"
#include "metrics/metric_inside.h"
#include "support/core_fixture.h"

static uint32_t slot_new(void)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    uint32_t slot = crest_cells_slot_new();
    crest_lock_drop(&saved);
    return slot;
}

static uint64_t *touch(uint32_t slot)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    uint64_t *cell = crest_cells_touch(slot);
    crest_lock_drop(&saved);
    return cell;
}

static void test_slots(void **state)
{
    (void)state;
    uint64_t before = crest_cells_slot_count();
    uint32_t a = slot_new(), b = slot_new();
    assert_true(a >= CREST_CHUNK_CELLS);
    assert_int_equal(b, a + 1);
    assert_int_equal(crest_cells_slot_count(), before + 2);
    assert_null(touch(0)); /* where unregistered handles lead to nobody has a cell */
    assert_null(touch(CREST_CHUNK_CELLS - 1));
    uint64_t *cell = touch(a);
    assert_non_null(cell);
    assert_ptr_equal(touch(a), cell);
    assert_ptr_equal(touch(b), cell + 1);
    assert_int_equal(crest_cells_sum(a), 0);
    crest_word_add(cell, 5);
    __atomic_fetch_add(crest_cells_shared(a), 7, __ATOMIC_RELAXED);
    assert_int_equal(crest_cells_sum(a), 12);
    assert_int_equal(crest_cells_sum(b), 0);
    const crest_handle handle = {a, CREST_ABI, NULL, NULL},
                       unregistered = {0, CREST_ABI, NULL, NULL};
    assert_ptr_equal(crest_cell_of(&handle), cell);
    assert_null(crest_cell_of(&unregistered));
}

static void *other_thread(void *slot)
{
    const crest_handle handle = {(uint32_t)(uintptr_t)slot, CREST_ABI, NULL, NULL};
    uint64_t *first = crest_cell_of(&handle);
    uint64_t *cell = touch((uint32_t)(uintptr_t)slot);
    if (cell != NULL)
        crest_word_add(cell, 100);
    return first == NULL ? cell : NULL;
}

static void test_threads(void **state)
{
    (void)state;
    uint32_t slot = slot_new();
    uint64_t *mine = touch(slot), records = crest_cells_table_count();
    crest_word_add(mine, 1);
    void *cells[3];
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, other_thread, (void *)(uintptr_t)slot), 0);
        pthread_join(thread, &cells[i]);
        assert_non_null(cells[i]);
    }
    assert_ptr_not_equal(cells[0], mine);
    assert_ptr_equal(cells[1], cells[0]); /* adopted, with what was in it */
    assert_ptr_equal(cells[2], cells[0]);
    assert_int_equal(crest_cells_sum(slot), 301);
    assert_int_equal(crest_cells_table_count(), records + 1);
}

static void *starved_thread(void *slot)
{
    crest_arena_fail_after(1);
    uint64_t *cell = touch((uint32_t)(uintptr_t)slot);
    crest_arena_fail_after(0);
    return cell;
}

static void test_no_memory(void **state)
{
    (void)state;
    uint32_t slot;
    do /* the first of a chunk that nobody has */
        slot = slot_new();
    while (slot % CREST_CHUNK_CELLS != 0);
    crest_arena_fail_after(1);
    assert_null(touch(slot));
    crest_arena_fail_after(0);
    pthread_t thread;
    void *cell;
    assert_int_equal(pthread_create(&thread, NULL, starved_thread, (void *)(uintptr_t)slot), 0);
    pthread_join(thread, &cell);
    assert_null(cell);
    assert_non_null(crest_cells_shared(slot));
    assert_non_null(touch(slot));
    uint32_t last;
    do
        last = slot_new();
    while (last % CREST_CHUNK_CELLS != CREST_CHUNK_CELLS - 1);
    crest_arena_fail_after(1);
    assert_int_equal(slot_new(), 0); /* needs a shared chunk */
    crest_arena_fail_after(0);
    assert_int_equal(slot_new(), last + 1);
}

#define SUMS (3 * CREST_CHUNK_CELLS + 100)

static void *sums_thread(void *slots)
{
    for (unsigned i = 6; i < SUMS; i += 3)
        crest_word_add(touch(((const uint32_t *)slots)[i]), i);
    return NULL;
}

/* Many sums at once are what each would be: across chunks, in any order, where a cell or a thread's
 * chunk is not there, a slot is used again, or a counter is full. */
static void test_sums(void **state)
{
    (void)state;
    static uint32_t slots[SUMS];
    static uint64_t sums[SUMS];
    for (unsigned i = 0; i < SUMS; i++)
        slots[i * 7 % SUMS] = slot_new();
    slots[5] = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, sums_thread, slots), 0);
    pthread_join(thread, NULL);
    for (unsigned i = 6; i < SUMS; i++)
        crest_word_add(crest_cells_shared(slots[i]), 1000000 + i);
    for (unsigned i = 10; i < 2000; i += 17) {
        crest_lock_saved saved;
        crest_lock_take(&saved);
        assert_true(crest_cells_sum_anew(slots[i]));
        crest_lock_drop(&saved);
        crest_word_add(touch(slots[i]), i);
    }
    crest_cells_shared_add(slots[100], UINT64_MAX);
    crest_word_add(touch(slots[100]), 1);
    crest_cells_shared_add(slots[101], UINT64_MAX - 5);
    crest_word_add(touch(slots[101]), 20);
    crest_cells_sums(slots, SUMS, sums);
    for (unsigned i = 0; i < SUMS; i++)
        assert_int_equal(sums[i], crest_cells_sum(slots[i]));
    assert_int_equal(sums[5], 0);
    assert_int_equal(sums[10], 10);
    assert_true(sums[100] == UINT64_MAX && sums[101] == UINT64_MAX);
    assert_int_equal(sums[SUMS - 2], 1000000 + SUMS - 2);
    assert_int_equal(sums[SUMS - 1], 1000000 + 2 * (SUMS - 1));
    crest_cells_sums(slots, 0, NULL);
}

/* The last slot works, and after it everything says so and goes on with what there is. */
static void test_every_slot(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *early = fixture_counter(registry, "early");
    crest_timer *timer = fixture_timer(registry, "timer");
    crest_lock_saved saved;
    int given = 1;
    crest_lock_take(&saved);
    while (given && crest_cells_slot_count() < CREST_SLOT_COUNT - CREST_CHUNK_CELLS - 1)
        given = crest_cells_slot_new() != 0;
    crest_lock_drop(&saved);
    assert_true(given);
    crest_counter *last = fixture_counter(registry, "last");
    assert_int_equal(last->handle.slot, CREST_SLOT_COUNT - 1);
    crest_counter_add(last, 4);
    assert_int_equal(crest_counter_value(last), 4);

    uint64_t limit = crest_misuse_value(CREST_MISUSE_LIMIT);
    crest_metric_options options = {.name = "beyond"};
    for (int i = 0; i < 3; i++) { /* and the name is not taken by its own last try */
        crest_status status;
        crest_counter *beyond = crest_counter_get(registry, &options, &status);
        assert_int_equal(status, CREST_LIMIT);
        crest_counter_inc(beyond);
    }
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit + 6);
    static const crest_declaration declaration = {
        CREST_KIND_HISTOGRAM, NULL, NULL, 0, {.name = "test.beyond"}, NULL};
    crest_histogram declared = {{0, CREST_ABI, NULL, &declaration}};
    crest_histogram_record(&declared, 5);
    crest_histogram_record(&declared, 5);
    crest_timer_record(timer, 5, CREST_OUTCOME_TIMEOUT);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit + 9);
    crest_timer_record(timer, 5, CREST_OUTCOME_OK);
    crest_counter_inc(early);
    assert_int_equal(crest_counter_value(early), 1);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_size(snapshot), 4);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_no_memory),  cmocka_unit_test(test_sums),
        cmocka_unit_test(test_every_slot),
    };
    return cmocka_run_group_tests_name("cells", tests, NULL, NULL);
}
