/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The creation times of series. See created.h.
 */
#include "cells/created.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "clock/clock_inside.h"

#include <crest/cell.h>

/* Seconds since 1970, which 32 bits hold until 2106. */
static uint32_t *made_chunks[CREST_CHUNK_COUNT];

void crest_made_now(uint32_t slot)
{
    uint32_t *chunk = made_chunks[slot >> CREST_CHUNK_BITS];
    if (chunk == NULL) {
        chunk = crest_arena_take(CREST_ARENA_CELLS, CREST_CHUNK_CELLS * sizeof *chunk,
                                 CREST_LINE_BYTES);
        if (chunk == NULL)
            return;
        /* partner: the acquire load in crest_made_s */
        crest_atomic_store_ptr_release(CREST_PTR(&made_chunks[slot >> CREST_CHUNK_BITS]), chunk);
    }
    crest_atomic_store32(&chunk[slot & (CREST_CHUNK_CELLS - 1)],
                         (uint32_t)(crest_clock_wall_ns() / 1000000000u));
}

uint32_t crest_made_s(uint32_t slot)
{
    /* acquire: partner of the release store in crest_made_now */
    const uint32_t *chunk =
        crest_atomic_load_ptr_acquire(CREST_PTR(&made_chunks[slot >> CREST_CHUNK_BITS]));
    return chunk != NULL ? crest_atomic_load32(&chunk[slot & (CREST_CHUNK_CELLS - 1)]) : 0;
}
