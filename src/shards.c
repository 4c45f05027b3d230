/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making shards and their blocks, and the shared shard. See shards.h.
 */
#include "shards.h"
#include "arena.h"
#include "atomic.h"

#include <crest/metric.h>

#define SHARDS_HOUR_NS UINT64_C(3600000000000)

const crest_range crest_range_loose = {1, SHARDS_HOUR_NS, 1};
const crest_range crest_range_default = {1, SHARDS_HOUR_NS, 2};
const crest_range crest_range_fine = {1, SHARDS_HOUR_NS, 3};
const crest_range crest_range_percentage = {1, 100, 2};
const crest_range crest_range_none = {1, UINT64_C(1) << 62, 0};

const crest_layout crest_layout_default = {.bits = 7, .highest = (UINT64_C(1) << 42) - 1};

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
    unsigned shift = crest_layout_shift(layout, value), top = shift + layout->bits;
    if (shard->block[top] != 0)
        return 1;
    uint64_t first = crest_layout_first_cell(layout, shift);
    size_t cells = crest_layout_end_cell(layout) - first;
    uint64_t *block =
        crest_arena_take(CREST_ARENA_CELLS, cells * sizeof(uint64_t), CREST_LINE_BYTES);
    if (block == NULL)
        return 0;
    uintptr_t word = ((uintptr_t)block - (uintptr_t)(first * sizeof(uint64_t))) | shift;
    /* partner: the acquire load in distribution.c, which reads this word; the lowest block's others
     * lead to cells that it has then seen */
    crest_atomic_store_ptr_release(CREST_PTR(&shard->block[top]), (void *)word);
    for (unsigned lower = 0; shift == 0 && lower < top; lower++)
        crest_atomic_store_ptr_release(CREST_PTR(&shard->block[lower]), (void *)word);
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
