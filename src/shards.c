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

crest_shared_shard *crest_shared_shard_new(void)
{
    return crest_arena_take(CREST_ARENA_CELLS, sizeof(crest_shared_shard), CREST_LINE_BYTES);
}

void crest_shared_shard_record(crest_shared_shard *shard, uint64_t value, uint64_t times)
{
    unsigned bits = value ? 64u - (unsigned)__builtin_clzll(value) : 0;
    crest_atomic_raise(&shard->max, value);
    crest_atomic_raise(&shard->min_inverted, ~value);
    crest_atomic_add(&shard->count[bits], times);
    /* partner: the acquire load of the sum in distribution.c */
    crest_atomic_add_release(&shard->sum, value * times);
}
