/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shards: the counts of one histogram series, one shard per thread that records into it, and one
 * shared by whoever can have none. The inside of crest_shard in <crest/cell.h>; it knows no
 * metrics.
 */
#ifndef CREST_SHARDS_H
#define CREST_SHARDS_H

#include "base/atomic.h"
#include "cells/cells.h"
#include "cells/layouts.h"
#include "cells/thread_arena.h"

/* No cell is brought beyond this by a record of more than CREST_RECORD_TIMES_INLINE_MAX at once:
 * such a record is refused. One at a time it would take 292 years. */
#define CREST_CELL_MAX (UINT64_C(1) << 63)

/*
 * The shard that threads without one share: a count per power of two, given when the series is
 * made, so that a record always has a place to go.
 */
typedef struct crest_shared_shard {
    uint64_t sum;
    uint64_t max;
    uint64_t min_inverted;
    uint64_t noted; /* as a shard's, and of whoever could not note whose it was */
    uint64_t count[CREST_DISTRIBUTION_BLOCKS]; /* by the number of the value's significant bits */
    uint64_t zeros; /* more records of 0, which the holder of the permit's mutex adds to alone */
} crest_shared_shard;

/* Whether nobody has recorded into it. */
static inline int crest_shared_shard_is_empty(const crest_shared_shard *shard)
{
    /* a thread that has begun to record has raised one of these */
    return crest_atomic_load(&shard->max) == 0 && crest_atomic_load(&shard->min_inverted) == 0 &&
           crest_atomic_load(&shard->zeros) == 0;
}

/*
 * The shard that a cell leads to, made if need be, with the values of a beginning that was there;
 * NULL without memory. Of the arena's memory under the lock, or without it by the cell's thread,
 * handlers included, of that thread's reserve.
 */
crest_shard *crest_shard_at(uint64_t *cell, const crest_layout *layout, crest_reserve *reserve);

/* Likewise: makes the block that `value`, within the range, falls into; non-zero when it is there.
 */
int crest_shard_touch(crest_shard *shard, const crest_layout *layout, uint64_t value,
                      crest_reserve *reserve);

/* By the shard's thread: records on the cold path, extremes included; `noting` 0 leaves `noted` as
 * it is. 0 when the block is not there. Any handler. */
int crest_shard_record_cold(crest_shard *shard, uint64_t value, uint64_t times, int noting);

/* The same of a lane's, by any thread: others add to it at the same time. */
int crest_shard_record_atomic(crest_shard *shard, uint64_t value, uint64_t times, int noting);

/* What the next thread's cell of a histogram's slot leads to, a shard or single values
 * (crest_shard_values), from *record on, which goes on behind it; NULL at the end. Of a slot of
 * another kind it is a number that is no address. Any thread. */
static inline const crest_shard *crest_shard_next(uint32_t slot, const crest_thread_record **record)
{
    while (*record != NULL) {
        const uint64_t *cell = crest_cells_of(*record, slot);
        *record = (*record)->next;
        /* acquire: partner of the releases in crest_beginning_add and shards_replace */
        uint64_t word = cell != NULL ? crest_atomic_load_acquire(cell) : 0;
        if (word != 0)
            return (const crest_shard *)(uintptr_t)word;
    }
    return NULL;
}

/* Whether the block of a value is there. */
static inline int crest_shard_has_block(const crest_shard *shard, uint64_t value)
{
    return crest_atomic_load(&shard->block[63u - (unsigned)__builtin_clzll(value | 1)]) != 0;
}

/* Whether so many more would still fit into the cell of a value whose block is there. */
int crest_shard_has_room(const crest_shard *shard, uint64_t value, uint64_t times);

/* Under the lock: a new shared shard, or NULL. */
crest_shared_shard *crest_shared_shard_new(void);

/* Under the lock: gives the memory back of what a cell led to, a shard or single values, which no
 * thread records into any more. */
void crest_shard_give(crest_shard *shard, const crest_layout *layout);
void crest_shared_shard_give(crest_shared_shard *shard);

/* Records into a shared shard, atomically; 0 when so many would not fit any more. Any thread, any
 * handler. */
int crest_shared_shard_record(crest_shared_shard *shard, uint64_t value, uint64_t times);

/* The word of a shard that leads to a block: that of its power of two, or for block 0, which serves
 * several, that of the lowest. */
static inline unsigned crest_shard_place(const crest_layout *layout, unsigned block)
{
    return block == 0 ? 0 : layout->unit + layout->bits + block;
}

/* The counts of a block of a shard, from the block's first cell on, or NULL. Any thread. */
static inline const uint64_t *crest_shard_cells(const crest_shard *shard,
                                                const crest_layout *layout, unsigned block)
{
    /* acquire: partner of the release store in crest_shard_touch */
    uintptr_t word = (uintptr_t)crest_atomic_load_ptr_acquire(
        CREST_PTR(&shard->block[crest_shard_place(layout, block)]));
    uint64_t first = crest_layout_first_cell(layout, block);
    return word != 0 ? (const uint64_t *)((word & ~(uintptr_t)CREST_BLOCK_SHIFT) +
                                          first * sizeof(uint64_t))
                     : NULL;
}

#endif
