/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making shards and their blocks, and the shared shard. See shards.h.
 */
#include "shards.h"
#include "arena.h"
#include "atomic.h"

/* Even biased, a block begins on a cache line, so that the bits of the shift are free. */
_Static_assert(CREST_LINE_BYTES > CREST_BLOCK_SHIFT, "a block's word has no room for its shift");
_Static_assert((sizeof(uint64_t) << CREST_LAYOUT_BITS_MIN) % (CREST_BLOCK_SHIFT + 1) == 0,
               "a block's bias moves it off its cache line");

crest_shard *crest_shard_new(void)
{
    crest_shard *shard = crest_arena_take(CREST_ARENA_CELLS, sizeof *shard, CREST_LINE_BYTES);
    if (shard != NULL)
        shard->min = UINT64_MAX;
    return shard;
}

int crest_shard_touch(crest_shard *shard, const crest_layout *layout, uint64_t value)
{
    unsigned number = crest_layout_block(layout, value);
    unsigned place = crest_shard_place(layout, number);
    if (shard->block[place] != 0)
        return 1;
    uint64_t first = crest_layout_first_cell(layout, number);
    size_t cells = crest_layout_end_cell(layout) - first;
    uint64_t *block =
        crest_arena_take(CREST_ARENA_CELLS, cells * sizeof(uint64_t), CREST_LINE_BYTES);
    if (block == NULL)
        return 0;
    uintptr_t word = ((uintptr_t)block - (uintptr_t)(first * sizeof(uint64_t))) |
                     crest_layout_shift(layout, number);
    /* partner: the acquire load in distribution.c, which reads this word; the lowest block's others
     * lead to cells that it has then seen */
    crest_atomic_store_ptr_release(CREST_PTR(&shard->block[place]), (void *)word);
    unsigned top = 63u - (unsigned)__builtin_clzll(layout->highest);
    for (unsigned p = 1; number == 0 && p <= top && p <= layout->unit + layout->bits; p++)
        crest_atomic_store_ptr_release(CREST_PTR(&shard->block[p]), (void *)word);
    return 1;
}

/* The cell of a value, or NULL while its block is not there. */
static uint64_t *shard_cell(const crest_shard *shard, uint64_t value)
{
    /* acquire for who reads another thread's shard; partner: the release store above */
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
    /* partner: the runtime's acquire load of it, before it counts a value that is not larger */
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
    return crest_arena_take(CREST_ARENA_CELLS, sizeof(crest_shared_shard), CREST_LINE_BYTES);
}

void crest_shard_give(crest_shard *shard, const crest_layout *layout)
{
    for (unsigned number = 0; number < layout->blocks; number++) {
        uintptr_t word = shard->block[crest_shard_place(layout, number)];
        if (word == 0)
            continue;
        uint64_t first = crest_layout_first_cell(layout, number);
        crest_arena_give(
            (uint64_t *)((word & ~(uintptr_t)CREST_BLOCK_SHIFT) + first * sizeof(uint64_t)),
            (crest_layout_end_cell(layout) - first) * sizeof(uint64_t));
    }
    crest_arena_give(shard, sizeof *shard);
}

void crest_shared_shard_give(crest_shared_shard *shard)
{
    crest_arena_give(shard, sizeof *shard);
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
