/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making shards and their blocks, and the shared shard. See shards.h.
 */
#include "cells/shards.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/lock.h"
#include "cells/first_values.h"
#include "state/state_format.h"

/* Even a biased block begins on a cache line, so that the bits of the shift are free. */
_Static_assert(CREST_LINE_BYTES > CREST_BLOCK_SHIFT, "a block's word has no room for its shift");
_Static_assert((sizeof(uint64_t) << CREST_LAYOUT_BITS_MIN) % (CREST_BLOCK_SHIFT + 1) == 0,
               "a block's bias moves it off its cache line");
_Static_assert(CREST_BEGINNING_VALUES * sizeof(uint64_t) != sizeof(crest_shard),
               "of one use a beginning is told from a shard by its size");

#define SHARDS_AT(field, place) (offsetof(crest_shard, field) == (place))
#define SHARED_AT(field, place) (offsetof(crest_shared_shard, field) == (place))
_Static_assert(sizeof(crest_shard) == CREST_STATE_SHARD_BYTES && SHARDS_AT(block, 0) &&
                   SHARDS_AT(sum, CREST_STATE_SHARD_SUM) && SHARDS_AT(max, CREST_STATE_SHARD_MAX) &&
                   SHARDS_AT(min, CREST_STATE_SHARD_MIN) &&
                   CREST_BLOCK_SHIFT == CREST_STATE_BLOCK_SHIFT,
               "the state file's readers know shards so");
_Static_assert(sizeof(crest_shared_shard) == CREST_STATE_SHARED_BYTES &&
                   SHARED_AT(sum, CREST_STATE_SHARED_SUM) &&
                   SHARED_AT(max, CREST_STATE_SHARED_MAX) &&
                   SHARED_AT(min_inverted, CREST_STATE_SHARED_MIN_INVERTED) &&
                   SHARED_AT(count, CREST_STATE_SHARED_COUNT) &&
                   SHARED_AT(zeros, CREST_STATE_SHARED_ZEROS),
               "the state file's readers know shared shards so");
_Static_assert(CREST_BEGINNING_MARK == CREST_STATE_BEGINNING_MARK &&
                   CREST_BEGINNING_PAGE == CREST_STATE_BEGINNING_AT &&
                   CREST_BEGINNING_VALUES == CREST_STATE_BEGINNING_VALUES,
               "the state file's readers know beginnings so");

static void *shards_take(crest_reserve *reserve, crest_arena_use use, size_t bytes)
{
    return reserve != NULL ? crest_reserve_take(reserve, use, bytes)
                           : crest_arena_take_again(use, bytes);
}

/* Puts new counts where there are none; returns the word then there: a handler's if it was faster.
 */
static uint64_t shards_settle(uint64_t *word, uint64_t leads, void *counts, size_t bytes)
{
    uint64_t others = crest_word_settle(word, leads);
    if (others == 0)
        return leads;
    crest_reserve_give(CREST_ARENA_COUNTS, counts, bytes);
    return others;
}

/* Bytes of a block: whole lines. */
static size_t shards_block_bytes(const crest_layout *layout, unsigned number)
{
    uint64_t cells = crest_layout_end_cell(layout) - crest_layout_first_cell(layout, number);
    return (cells * sizeof(uint64_t) + CREST_LINE_BYTES - 1) & ~(size_t)(CREST_LINE_BYTES - 1);
}

/* The word of a block, the block made if need be; 0 without memory. */
static uint64_t shards_block(crest_shard *shard, const crest_layout *layout, unsigned number,
                             crest_reserve *reserve)
{
    uint64_t *word = &shard->block[crest_shard_place(layout, number)];
    uint64_t there = crest_atomic_load(word), first = crest_layout_first_cell(layout, number);
    size_t bytes = shards_block_bytes(layout, number);
    uint64_t *block = there != 0 ? NULL : shards_take(reserve, CREST_ARENA_COUNTS, bytes);
    if (block == NULL)
        return there;
    uint64_t biased = (uint64_t)(uintptr_t)block - first * sizeof(uint64_t);
    /* partner: the acquire load in distribution.c, which reads this word. The lowest block's other
     * words lead to the same cells, visible by then */
    return shards_settle(word, biased | crest_layout_shift(layout, number), block, bytes);
}

int crest_shard_touch(crest_shard *shard, const crest_layout *layout, uint64_t value,
                      crest_reserve *reserve)
{
    unsigned number = crest_layout_block(layout, value);
    if (crest_shard_has_block(shard, value))
        return 1;
    uint64_t word = shards_block(shard, layout, number, reserve);
    unsigned top = 63u - (unsigned)__builtin_clzll(layout->highest);
    /* a handler in between writes the same */
    for (unsigned p = 1; word != 0 && number == 0 && p <= top && p <= layout->unit + layout->bits;
         p++)
        crest_atomic_store_ptr_release(CREST_PTR(&shard->block[p]), (void *)(uintptr_t)word);
    return word != 0;
}

/* The cell of a value, or NULL while it has no block. */
static uint64_t *shard_cell(const crest_shard *shard, uint64_t value)
{
    /* acquire for readers of another thread's shard; partner: the release store above */
    uintptr_t block = (uintptr_t)crest_atomic_load_ptr_acquire(
        CREST_PTR(&shard->block[63u - (unsigned)__builtin_clzll(value | 1)]));
    if (block == 0)
        return NULL;
    uint64_t *cells = (uint64_t *)(block & ~(uintptr_t)CREST_BLOCK_SHIFT);
    return &cells[value >> (block & CREST_BLOCK_SHIFT)];
}

int crest_shard_record_cold(crest_shard *shard, uint64_t value, uint64_t times, int noting)
{
    uint64_t *cell = shard_cell(shard, value);
    if (cell == NULL)
        return 0;
    crest_word_raise(&shard->max, value);
    if (noting)
        crest_word_raise(&shard->noted, value);
    crest_word_lower(&shard->min, value);
    /* release: as in crest_shard_record */
    crest_word_add_release(cell, times);
    crest_word_add_release(&shard->sum, value * times);
    return 1;
}

int crest_shard_record_atomic(crest_shard *shard, uint64_t value, uint64_t times, int noting)
{
    uint64_t *cell = shard_cell(shard, value);
    if (cell == NULL)
        return 0;
    crest_atomic_raise(&shard->max, value);
    /* partner: the runtime's acquire load, made before it counts a value that is not larger */
    if (noting)
        crest_atomic_raise_release(&shard->noted, value);
    crest_atomic_lower(&shard->min, value);
    /* release: as in crest_shard_record */
    crest_atomic_add_release(cell, times);
    crest_atomic_add_release(&shard->sum, value * times);
    return 1;
}

int crest_shard_has_room(const crest_shard *shard, uint64_t value, uint64_t times)
{
    const uint64_t *cell = shard_cell(shard, value);
    return cell != NULL && times <= CREST_CELL_MAX &&
           crest_atomic_load(cell) <= CREST_CELL_MAX - times;
}

crest_shared_shard *crest_shared_shard_new(void)
{
    return crest_arena_take_again(CREST_ARENA_SHARED, sizeof(crest_shared_shard));
}

void crest_shard_give(crest_shard *shard, const crest_layout *layout)
{
    if (crest_shard_counted((uint64_t)(uintptr_t)shard) == NULL) {
        crest_beginning_give(layout, (uint64_t)(uintptr_t)shard);
        return;
    }
    for (unsigned number = 0; number < layout->blocks; number++) {
        uintptr_t word = shard->block[crest_shard_place(layout, number)];
        if (word == 0)
            continue;
        uint64_t first = crest_layout_first_cell(layout, number);
        crest_arena_give(
            CREST_ARENA_COUNTS,
            (uint64_t *)((word & ~(uintptr_t)CREST_BLOCK_SHIFT) + first * sizeof(uint64_t)),
            shards_block_bytes(layout, number));
    }
    uint64_t beginning = crest_atomic_load(&shard->beginning);
    if (beginning != 0)
        crest_beginning_give(layout, beginning);
    crest_arena_give(crest_layout_use(layout), shard, sizeof *shard);
}

/* Records a beginning's values into an unpublished shard; 0 without memory. */
static int shards_take_over(crest_shard *shard, const crest_layout *layout, uint64_t beginning,
                            crest_reserve *reserve)
{
    const crest_shard *from = (const crest_shard *)(uintptr_t)beginning;
    uint64_t value;
    for (unsigned place = 0; crest_shard_values(from, &place, &value);) {
        if (!crest_shard_touch(shard, layout, value, reserve))
            return 0;
        crest_shard_record_cold(shard, value, 1, 0);
    }
    return 1;
}

/* Gives back an unpublished shard, as crest_reserve_give does. */
static void shards_drop(crest_shard *shard, const crest_layout *layout,
                        const crest_reserve *reserve)
{
    crest_lock_saved saved;
    if (reserve == NULL) {
        crest_shard_give(shard, layout);
    } else if (crest_lock_take_unless_forking(&saved)) {
        crest_shard_give(shard, layout);
        crest_lock_drop(&saved);
    }
}

/* Publishes a shard in place of `before`, 0 or a beginning. NULL when a handler changed the cell
 * first, or without memory; *whole tells: 0 without memory. */
static crest_shard *shards_replace(uint64_t *cell, uint64_t before, const crest_layout *layout,
                                   crest_reserve *reserve, int *whole)
{
    crest_shard *shard = shards_take(reserve, crest_layout_use(layout), sizeof *shard);
    *whole = shard != NULL;
    if (shard == NULL)
        return NULL;
    shard->min = UINT64_MAX;
    if (before != 0) {
        crest_beginning_close(before);
        *whole = shards_take_over(shard, layout, before, reserve);
    }
    crest_atomic_store(&shard->beginning, before);
    /* partners: the acquire loads in crest_shard_next, slowest_note.c, and of a lane's in
     * record_slow.c */
    if (*whole && crest_word_change(cell, before, (uint64_t)(uintptr_t)shard) == before)
        return shard;
    crest_atomic_store(&shard->beginning, 0);
    shards_drop(shard, layout, reserve);
    return NULL;
}

/*
 * Steps, with signal handlers of the same thread in between:
 *  1. Take a shard.
 *  2. Close the cell's beginning, if there is one: it takes no more values.
 *  3. Copy its values into the shard.
 *  4. Compare-and-swap the cell. It fails if a handler put a beginning or a shard there; then the
 *     new shard is given back and the steps begin again.
 * Invariant: no record is lost, for a closed beginning takes none.
 */
crest_shard *crest_shard_at(uint64_t *cell, const crest_layout *layout, crest_reserve *reserve)
{
    for (int whole = 1; whole;) {
        uint64_t there = crest_atomic_load(cell);
        crest_shard *shard = crest_shard_counted(there);
        if (shard == NULL)
            shard = shards_replace(cell, there, layout, reserve, &whole);
        if (shard != NULL)
            return shard;
    }
    return NULL;
}

void crest_shared_shard_give(crest_shared_shard *shard)
{
    crest_arena_give(CREST_ARENA_SHARED, shard, sizeof *shard);
}

int crest_shared_shard_record(crest_shared_shard *shard, uint64_t value, uint64_t times)
{
    unsigned bits = value ? 64u - (unsigned)__builtin_clzll(value) : 0;
    if (times > CREST_CELL_MAX || crest_atomic_load(&shard->count[bits]) > CREST_CELL_MAX - times)
        return 0;
    crest_atomic_raise(&shard->max, value);
    crest_atomic_raise(&shard->noted, value);
    crest_atomic_raise(&shard->min_inverted, ~value);
    crest_atomic_add(&shard->count[bits], times);
    /* partner: the acquire load of the sum in distribution.c */
    crest_atomic_add_release(&shard->sum, value * times);
    return 1;
}
