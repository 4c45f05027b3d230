/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell_sums.c: the ways of summing many slots at once come to what each slot's own sum is.
 */
#include "cells/cells.h"
#include "support/core_fixture.h"
#include "base/lock.h"
#include "support/random_numbers.h"

enum { SUMS_THREADS = 3 };
#define SUMS_SLOTS (2u * CREST_CHUNK_CELLS)

static uint32_t sums_slots[SUMS_SLOTS];
static uint64_t sums_found[SUMS_SLOTS];
static uint64_t sums_random = 1;

static uint64_t random_below(uint64_t limit)
{
    sums_random = random_step(sums_random);
    return (sums_random >> 33) % limit;
}

static uint64_t *touch(uint32_t slot)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    uint64_t *cell = crest_cells_touch(slot);
    crest_lock_drop(&saved);
    return cell;
}

typedef struct sums_adding {
    unsigned thread;
    pthread_barrier_t *all;
} sums_adding;

/* Each thread has other slots' cells, and the first has none of the second half. */
static void *sums_add(void *argument)
{
    const sums_adding *adding = argument;
    unsigned end = adding->thread == 0 ? SUMS_SLOTS / 2 : SUMS_SLOTS;
    for (unsigned i = 0; i < end; i++)
        if ((i + adding->thread) % 5 != 0)
            crest_word_add(touch(sums_slots[i]), i * 7919u + adding->thread * 101u + 1);
    pthread_barrier_wait(adding->all); /* or one would go on in another one's cells */
    return NULL;
}

static void sums_make(void)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    for (unsigned i = 0; i < SUMS_SLOTS; i++)
        sums_slots[i] = crest_cells_slot_new();
    crest_lock_drop(&saved);
    pthread_t threads[SUMS_THREADS];
    sums_adding adding[SUMS_THREADS];
    pthread_barrier_t all;
    pthread_barrier_init(&all, NULL, SUMS_THREADS);
    for (unsigned i = 0; i < SUMS_THREADS; i++) {
        adding[i] = (sums_adding){i, &all};
        assert_int_equal(pthread_create(&threads[i], NULL, sums_add, &adding[i]), 0);
    }
    for (unsigned i = 0; i < SUMS_THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all);
    for (unsigned i = 0; i < SUMS_SLOTS; i += 11)
        crest_cells_shared_add(sums_slots[i], 1000000 + i);
}

static void sums_assert(size_t count)
{
    memset(sums_found, 0xff, sizeof sums_found);
    crest_cells_sums(sums_slots, count, sums_found);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(sums_found[i], crest_cells_sum(sums_slots[i]));
    assert_true(count == SUMS_SLOTS || sums_found[count] == UINT64_MAX); /* and no more */
}

/* Families: within each, series are sorted and slots in no order. */
static void sums_shuffle(size_t family)
{
    for (size_t first = 0; first < SUMS_SLOTS; first += family) {
        size_t size = SUMS_SLOTS - first < family ? SUMS_SLOTS - first : family;
        for (size_t i = size; i > 1; i--) {
            size_t other = first + random_below(i), last = first + i - 1;
            uint32_t slot = sums_slots[last];
            sums_slots[last] = sums_slots[other];
            sums_slots[other] = slot;
        }
    }
}

static void test_orders(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 7, 8, 9, 63, 1000, 1023, 1024, 1025, SUMS_SLOTS};
    static const size_t families[] = {1, 2, 3, 10, 100, 1000, 2000, SUMS_SLOTS};
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        sums_shuffle(families[f]);
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
            sums_assert(counts[i]);
    }
}

/* Slots that are used again, beside others. */
static void test_bases(void **state)
{
    (void)state;
    for (unsigned i = 3; i < SUMS_SLOTS; i += 29) {
        crest_lock_saved saved;
        crest_lock_take(&saved);
        assert_true(crest_cells_sum_anew(sums_slots[i]));
        crest_lock_drop(&saved);
        assert_int_equal(crest_cells_sum(sums_slots[i]), 0);
        crest_word_add(touch(sums_slots[i]), i);
    }
    sums_shuffle(1000);
    sums_assert(SUMS_SLOTS);
}

static void *sums_add_half(void *slot)
{
    crest_word_add(touch((uint32_t)(uintptr_t)slot), UINT64_C(1) << 63);
    return NULL;
}

static int sums_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Two threads have half of all that 64 bits can say, and nobody has asked for their sum alone; in a
 * row, which adds up without care. */
static void test_past(void **state)
{
    (void)state;
    qsort(sums_slots, SUMS_SLOTS, sizeof sums_slots[0], sums_compare);
    uint32_t slot = sums_slots[100];
    pthread_t thread;
    (void)sums_add_half((void *)(uintptr_t)slot);
    assert_int_equal(pthread_create(&thread, NULL, sums_add_half, (void *)(uintptr_t)slot), 0);
    pthread_join(thread, NULL);
    sums_assert(SUMS_SLOTS);
    assert_true(sums_found[100] == UINT64_MAX);
}

/* Amounts of whatever size, up to where one thread's are all that 64 bits can say, and past it. */
static void test_large(void **state)
{
    (void)state;
    for (unsigned bits = 50; bits < 64; bits++) {
        crest_word_add(touch(sums_slots[bits]), UINT64_C(1) << bits);
        sums_assert(SUMS_SLOTS);
    }
    crest_cells_shared_add(sums_slots[63], UINT64_C(1) << 63);
    sums_assert(SUMS_SLOTS);
    assert_true(sums_found[63] == UINT64_MAX);
    crest_cells_shared_add(sums_slots[64], UINT64_MAX);
    sums_assert(SUMS_SLOTS);
    assert_true(sums_found[64] == UINT64_MAX);
}

int main(void)
{
    sums_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_bases),
        cmocka_unit_test(test_past),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests_name("cell sums", tests, NULL, NULL);
}
