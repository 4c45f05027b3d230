/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beginnings: a thread's first few values in a histogram, kept one by one in half a cache line. A
 * shard with its block of counts takes 1.6 KiB of fresh pages, most of the cost of a first touch.
 * Most pairs of thread and histogram record little.
 *
 * States of a thread's cell:
 *
 *     0          first record: BEGINNING, or SHARD on the other cold paths
 *     BEGINNING  a record with all places full: SHARD, which gets the beginning's values
 *     SHARD      stays
 *
 * To the inlined recording a beginning is a shard without blocks. The cell's address points at
 * zeros: a page that is never written, which the system lends without memory. The values lie a page
 * behind. The address is no multiple of a cache line, which tells it from a shard's.
 *
 * Invariant: a value, once there, stays, and no thread or handler writes to the places of a full
 * beginning. So a reader finds all values in the beginning, or all in the shard; it asks
 * crest_shard_values which. Model: tests/model/beginning.pml.
 *
 *     if (!crest_beginning_add(cell, layout, reserve, value))
 *         ... into a shard
 */
#ifndef CREST_FIRST_VALUES_H
#define CREST_FIRST_VALUES_H

#include "base/atomic.h"
#include "cells/layouts.h"
#include "cells/thread_arena.h"

#include <crest/cell.h>

/* Values of a beginning. Each takes the cold path, and all are recorded again into the shard. */
#define CREST_BEGINNING_VALUES 4u

/* Bytes of zeros, and of values behind them. */
#define CREST_BEGINNING_PAGE 4096u
/* Where in its first line the first address lies. */
#define CREST_BEGINNING_MARK 8u

/* A place holds its value plus one; 0: free. CLOSED: the place will never be used. */
#define CREST_BEGINNING_CLOSED UINT64_MAX

static inline int crest_beginning_is(uint64_t address)
{
    return (address & (CREST_BEGINNING_MARK)) != 0;
}

/* The places of a beginning; readers load them with acquire. */
static inline uint64_t *crest_beginning_values(uint64_t address)
{
    return (uint64_t *)(uintptr_t)(address - CREST_BEGINNING_MARK + CREST_BEGINNING_PAGE);
}

/* The value of a place; 0 if it has none. Any thread. */
static inline int crest_beginning_value(uint64_t address, unsigned place, uint64_t *value)
{
    /* acquire: partner of the release in crest_beginning_add; a reader of a value sees its note */
    uint64_t there = crest_atomic_load_acquire(&crest_beginning_values(address)[place]);
    *value = there - 1;
    return there != 0 && there != CREST_BEGINNING_CLOSED;
}

/* The shard that a cell's word leads to; NULL for none, or for a beginning. */
static inline crest_shard *crest_shard_counted(uint64_t word)
{
    return crest_beginning_is(word) ? NULL : (crest_shard *)(uintptr_t)word;
}

/*
 * Iterator over the values kept one by one at what a cell leads to, from *place = 0 on. 0 at the
 * end; at once for a shard, whose records are counts. All readers use it. Each place is loaded
 * once, so a value is in all of what the reader makes of it, or in none. Any thread, any handler.
 *
 *     for (unsigned place = 0; crest_shard_values(shard, &place, &value);)
 *         ... value
 *     if (crest_shard_counted(word) != NULL)
 *         ... the shard's blocks
 */
static inline int crest_shard_values(const crest_shard *shard, unsigned *place, uint64_t *value)
{
    uint64_t address = (uint64_t)(uintptr_t)shard;
    if (crest_beginning_is(address))
        while (*place < CREST_BEGINNING_VALUES)
            if (crest_beginning_value(address, (*place)++, value))
                return 1;
    return 0;
}

/* Whether a cell is empty or leads to a beginning that is not full; out of date once a handler
 * comes. */
int crest_beginning_has_room(const uint64_t *cell);

/* By the cell's thread, not under the lock: records the value once. 0, and nothing was done, when
 * the cell leads to a shard or a full beginning, or without memory. Any handler. */
int crest_beginning_add(uint64_t *cell, const crest_layout *layout, crest_reserve *reserve,
                        uint64_t value);

/* By the cell's thread: closes all free places. */
void crest_beginning_close(uint64_t address);

/* Under the lock: gives back a beginning that no thread records into any more. */
void crest_beginning_give(const crest_layout *layout, uint64_t address);

#endif
