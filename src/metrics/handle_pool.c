/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of handles in the arena, one kind of block for each size. See handle_pool.h.
 */
#include "metrics/handle_pool.h"
#include "base/arena.h"
#include "metrics/metric_kinds.h"

/* Handles of one size: the rest of the newest block, and the bytes of all blocks. */
typedef struct own_handles_size {
    char *next;
    size_t left;
    size_t taken;
} own_handles_size;

enum { OWN_HANDLES_PLAIN, OWN_HANDLES_WITH_CELL, OWN_HANDLES_TIMER, OWN_HANDLES_SIZES };

/* Guarded by the lock. */
static own_handles_size own_handles[OWN_HANDLES_SIZES];

static const size_t own_handles_bytes[OWN_HANDLES_SIZES] = {
    [OWN_HANDLES_PLAIN] = sizeof(crest_handle),
    [OWN_HANDLES_WITH_CELL] = sizeof(crest_gauge),
    [OWN_HANDLES_TIMER] = sizeof(crest_timer),
};

_Static_assert(sizeof(crest_counter) == sizeof(crest_handle) &&
                   sizeof(crest_histogram) == sizeof(crest_handle) &&
                   sizeof(crest_range_sampler) == sizeof(crest_gauge) &&
                   sizeof(crest_stages) == sizeof(crest_timer),
               "a kind's handle is of another size");
_Static_assert(CREST_OWN_HANDLES_BLOCK_MIN % sizeof(crest_handle) == 0 &&
                   CREST_OWN_HANDLES_BLOCK_MIN % sizeof(crest_gauge) == 0 &&
                   CREST_OWN_HANDLES_BLOCK_MIN % sizeof(crest_timer) == 0,
               "a block does not come out even");

/* The index of a kind's handle size. */
static unsigned own_handles_size_of(crest_kind kind)
{
    size_t bytes = crest_kind_row_of(kind)->handle_bytes;
    unsigned which = OWN_HANDLES_PLAIN;
    while (own_handles_bytes[which] != bytes)
        which++;
    return which;
}

crest_own_handle *crest_own_handle_new(crest_kind kind)
{
    unsigned which = own_handles_size_of(kind);
    own_handles_size *size = &own_handles[which];
    if (size->left == 0) {
        size_t block = size->taken;
        if (block < CREST_OWN_HANDLES_BLOCK_MIN)
            block = CREST_OWN_HANDLES_BLOCK_MIN;
        if (block > CREST_OWN_HANDLES_BLOCK_MAX)
            block = CREST_OWN_HANDLES_BLOCK_MAX;
        size->next = crest_arena_take(CREST_ARENA_META, block, CREST_LINE_BYTES);
        if (size->next == NULL)
            return NULL;
        size->left = block;
        size->taken += block;
    }
    crest_own_handle *own = (crest_own_handle *)(void *)size->next;
    size->next += own_handles_bytes[which];
    size->left -= own_handles_bytes[which];
    return own;
}
