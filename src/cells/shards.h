/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shards: the counts of one histogram series. Each recording thread has one; threads that can have
 * none use the series' shared shard. The inside of crest_shard in <crest/cell.h>; it knows no
 * metrics.
 */
#ifndef CREST_SHARDS_H
#define CREST_SHARDS_H

#include "base/atomic.h"
#include "cells/cells.h"
#include "cells/layouts.h"
#include "cells/thread_arena.h"

/* The most that a record of more than CREST_RECORD_TIMES_INLINE_MAX at once may bring a cell to; a
 * record beyond is refused. Reaching it one by one would take 292 years. */
#define CREST_CELL_MAX (UINT64_C(1) << 63)

/*
 * The shared shard: a count per power of two, made with the series, so that a record always has a
 * place to go.
 */
typedef struct crest_shared_shard {
    uint64_t sum;
    uint64_t max;
    uint64_t min_inverted;
    uint64_t noted; /* as a shard's, also of records without a known operation */
    uint64_t count[CREST_DISTRIBUTION_BLOCKS]; /* by the number of significant bits of the value */
    uint64_t zeros; /* further records of 0, written by the holder of the permit's mutex only */
} crest_shared_shard;

/* Whether nothing was ever recorded into it. */
static inline int crest_shared_shard_is_empty(const crest_shared_shard *shard)
{
    /* a thread in the middle of a record has raised one of these */
    return crest_atomic_load(&shard->max) == 0 && crest_atomic_load(&shard->min_inverted) == 0 &&
           crest_atomic_load(&shard->zeros) == 0;
}

/*
 * The shard that a cell leads to, made if need be from a beginning's values; NULL without memory.
 * Memory: the arena's under the lock, or the thread's reserve for the cell's thread (and its
 * handlers) without the lock.
 */
crest_shard *crest_shard_at(uint64_t *cell, const crest_layout *layout, crest_reserve *reserve);

/* The same conditions: makes the block of `value`, which is within the range; non-zero when it is
 * there. */
int crest_shard_touch(crest_shard *shard, const crest_layout *layout, uint64_t value,
                      crest_reserve *reserve);

/* By the shard's thread: records on the cold path, extremes included; `noting` 0 leaves `noted`
 * alone. 0 when there is no block. Any handler. */
int crest_shard_record_cold(crest_shard *shard, uint64_t value, uint64_t times, int noting);

/* The same for a lane's shard, by any thread, beside concurrent writers. */
int crest_shard_record_atomic(crest_shard *shard, uint64_t value, uint64_t times, int noting);

/* Iterator over a histogram slot's threads: what the next thread's cell leads to, a shard or single
 * values (crest_shard_values). It starts at *record and moves *record behind; NULL at the end. For
 * a slot of another kind the cell holds a number, not an address. Any thread. */
static inline const crest_shard *crest_shard_next(uint32_t slot, const crest_thread_table **table)
{
    while (*table != NULL) {
        const uint64_t *cell = crest_cells_of(*table, slot);
        *table = (*table)->next;
        /* acquire: partner of the releases in crest_beginning_add and shards_replace */
        uint64_t word = cell != NULL ? crest_atomic_load_acquire(cell) : 0;
        if (word != 0)
            return (const crest_shard *)(uintptr_t)word;
    }
    return NULL;
}

/* Whether the block of a value exists. */
static inline int crest_shard_has_block(const crest_shard *shard, uint64_t value)
{
    return crest_atomic_load(&shard->block[63u - (unsigned)__builtin_clzll(value | 1)]) != 0;
}

/* Whether `times` more fit into the cell of a value whose block exists. */
int crest_shard_has_room(const crest_shard *shard, uint64_t value, uint64_t times);

/* Under the lock: a new shared shard, or NULL. */
crest_shared_shard *crest_shared_shard_new(void);

/* Under the lock: gives back the memory that a cell led to, a shard or a beginning, which no thread
 * records into any more. */
void crest_shard_give(crest_shard *shard, const crest_layout *layout);
void crest_shared_shard_give(crest_shared_shard *shard);

/* Records into a shared shard, atomically; 0 when so many do not fit. Any thread, any handler. */
int crest_shared_shard_record(crest_shared_shard *shard, uint64_t value, uint64_t times);

/* The index of a shard's word that leads to a block: that of its power of two. Block 0 has several;
 * the lowest is its. */
static inline unsigned crest_shard_place(const crest_layout *layout, unsigned block)
{
    return block == 0 ? 0 : layout->unit + layout->bits + block;
}

/* A block's counts from its first cell on, or NULL. Any thread. */
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
