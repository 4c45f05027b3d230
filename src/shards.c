/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making shards and their blocks, and the shared shard. See shards.h.
 */
#include "shards.h"
#include "arena.h"
#include "atomic.h"

#include <stddef.h>

const crest_layout crest_layout_default = {.bits = 7, .highest = (UINT64_C(1) << 42) - 1};

crest_shard *crest_shard_new(const crest_layout *layout)
{
    unsigned blocks = crest_layout_blocks(layout), tops = layout->bits + blocks;
    size_t sums = offsetof(crest_shard, sum) + tops * sizeof(uint64_t);
    crest_shard *shard =
        crest_arena_take(CREST_ARENA_CELLS, sums + blocks * sizeof(uintptr_t), CREST_LINE_BYTES);
    if (shard == NULL)
        return NULL;
    shard->highest = layout->highest;
    shard->bits = layout->bits;
    shard->blocks = blocks;
    shard->block = (uintptr_t *)((char *)shard + sums);
    return shard;
}

/*
 * Lets the blocks between the lowest and the highest in use go without comparing. Both have been
 * hit by a value that the extremes know already, so no value of a block between can be a new one.
 */
static void shard_mark_interior(crest_shard *shard)
{
    unsigned lowest = 0, highest = shard->blocks - 1;
    while (lowest < highest && shard->block[lowest] == 0)
        lowest++;
    while (highest > lowest && shard->block[highest] == 0)
        highest--;
    for (unsigned i = lowest + 1; i < highest; i++)
        crest_atomic_store_ptr_release(CREST_PTR(&shard->interior[i + shard->bits]),
                                       (void *)shard->block[i]);
}

int crest_shard_touch(crest_shard *shard, const crest_layout *layout, uint64_t value)
{
    unsigned shift = crest_layout_shift(layout, value);
    if (shard->block[shift] != 0)
        return 1;
    uint64_t first = crest_layout_first_cell(layout, shift);
    size_t cells = crest_layout_end_cell(layout) - first;
    uint64_t *block =
        crest_arena_take(CREST_ARENA_CELLS, cells * sizeof(uint64_t), CREST_LINE_BYTES);
    if (block == NULL)
        return 0;
    crest_word_raise(&shard->max, value);
    crest_word_raise(&shard->min_inverted, ~value);
    /* biased, so that value >> shift indexes it; partner: the acquire load in distribution.c */
    uintptr_t biased = (uintptr_t)block - (uintptr_t)(first * sizeof(uint64_t));
    crest_atomic_store_ptr_release(CREST_PTR(&shard->block[shift]), (void *)biased);
    shard_mark_interior(shard);
    return 1;
}

crest_shared_shard *crest_shared_shard_new(void)
{
    return crest_arena_take(CREST_ARENA_CELLS, sizeof(crest_shared_shard), CREST_LINE_BYTES);
}

void crest_shared_shard_record(crest_shared_shard *shard, uint64_t value, uint64_t times)
{
    unsigned top = value ? 63u - (unsigned)__builtin_clzll(value) : 0;
    crest_atomic_raise(&shard->max, value);
    crest_atomic_raise(&shard->min_inverted, ~value);
    crest_atomic_add(&shard->count[top], times);
    /* partner: the acquire load of the sum in distribution.c */
    crest_atomic_add_release(&shard->sum, value * times);
}
