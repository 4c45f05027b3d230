/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beginnings: the first few values that a thread records into a histogram, as they are, in half a
 * cache line. A shard and its block of counts take 1.6 KiB of fresh pages, which is most of what
 * meeting a histogram costs; many are met by many threads, and few by each of them often.
 *
 * The cell leads to a beginning until it is full, then to a shard that has its values. To the
 * inlined part a beginning is a shard without blocks: the address in the cell is one where zeros
 * lie that nobody ever writes to, a page of them, which the system lends without memory; the values
 * lie a page behind. That it is no multiple of a line tells it from a shard.
 *
 * A value, once there, stays: a reader finds all in the beginning, or all in the shard, and asks
 * crest_shard_values which. The places
 * of a full one are not written to any more, by handlers neither, so that they can be read and
 * taken over.
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

/* Each of the first ones takes the cold path, and then all of them are recorded once more. */
#define CREST_BEGINNING_VALUES 4u

/* Zeros, and as many bytes of values behind them. */
#define CREST_BEGINNING_PAGE 4096u
/* Where in its first line the first address is. */
#define CREST_BEGINNING_MARK 8u

/* A value is kept plus one, for 0 is a place that is free. This one will never be used. */
#define CREST_BEGINNING_CLOSED UINT64_MAX

static inline int crest_beginning_is(uint64_t address)
{
    return (address & (CREST_BEGINNING_MARK)) != 0;
}

/* The values of a beginning, plus one each; readers load them with acquire. */
static inline uint64_t *crest_beginning_values(uint64_t address)
{
    return (uint64_t *)(uintptr_t)(address - CREST_BEGINNING_MARK + CREST_BEGINNING_PAGE);
}

/* The value of a place; 0 if there is none. Any thread. */
static inline int crest_beginning_value(uint64_t address, unsigned place, uint64_t *value)
{
    /* acquire: partner of the release in crest_beginning_add; who sees a value sees its note */
    uint64_t there = crest_atomic_load_acquire(&crest_beginning_values(address)[place]);
    *value = there - 1;
    return there != 0 && there != CREST_BEGINNING_CLOSED;
}

/* The shard that a cell's word leads to; NULL where it leads to nothing, or to single values. */
static inline crest_shard *crest_shard_counted(uint64_t word)
{
    return crest_beginning_is(word) ? NULL : (crest_shard *)(uintptr_t)word;
}

/*
 * The values that are kept one by one at what a cell leads to, from *place = 0 on; 0 at the end,
 * and at once of a shard, whose records are counts. All readers ask here. Each place is loaded
 * once, so that a value is in all of what the reader makes of it, or in nothing. Any thread, any
 * handler.
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

/* Whether a cell has nothing, or a beginning that is not full; out of date once a handler comes. */
int crest_beginning_has_room(const uint64_t *cell);

/* By the cell's thread, not under the lock: records the value once; 0, and nothing was done, when
 * the cell has a shard or a full beginning, or there is no memory. Any handler. */
int crest_beginning_add(uint64_t *cell, const crest_layout *layout, crest_reserve *reserve,
                        uint64_t value);

/* By the same: from now on it is full. */
void crest_beginning_close(uint64_t address);

/* Under the lock: gives its memory back, where nobody records into it any more. */
void crest_beginning_give(const crest_layout *layout, uint64_t address);

#endif
