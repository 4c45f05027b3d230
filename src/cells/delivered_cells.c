/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of what was delivered. See delivered_cells.h.
 */
#include "cells/delivered_cells.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/forked.h"
#include "cells/cells.h"
#include "cells/shards.h"
#include "state/directory_records.h"

/* Only their `cells` are used; NULL: none yet. */
static crest_thread_table delivered_own, delivered_inherited;

/* The word of a slot, made if need be; NULL without memory. */
static uint64_t *delivered_touch(crest_thread_table *table, uint32_t slot, uint64_t flags)
{
    if (table->cells == NULL) {
        table->cells = crest_arena_take(CREST_ARENA_CELLS, sizeof *table->cells, CREST_LINE_BYTES);
        if (table->cells == NULL)
            return NULL;
        crest_state_note_thread(table->cells, CREST_STATE_THREAD_DELIVERED | flags);
    }
    return crest_cells_touch_lane(table, slot);
}

static uint64_t *delivered_word(const crest_thread_table *table, uint32_t slot)
{
    return table->cells != NULL ? (uint64_t *)(uintptr_t)crest_cells_of(table, slot) : NULL;
}

void crest_delivered_raise(uint32_t slot, uint64_t counter)
{
    const uint64_t *inherited = delivered_word(&delivered_inherited, slot);
    uint64_t before = inherited != NULL ? *inherited : 0;
    if (!crest_state_is_on() || counter <= before)
        return;
    uint64_t *own = delivered_touch(&delivered_own, slot, 0);
    if (own != NULL && counter - before > *own)
        crest_atomic_store(own, counter - before);
}

int crest_delivered_inherit(uint32_t slot, uint64_t counter)
{
    if (!crest_state_is_on() || counter == 0)
        return 1;
    uint64_t *word = delivered_touch(&delivered_inherited, slot, CREST_STATE_THREAD_ADOPTED);
    if (word == NULL)
        return 0;
    crest_atomic_store(word, *word > UINT64_MAX - counter ? UINT64_MAX : *word + counter);
    return 1;
}

uint64_t *crest_delivered_counts_word(uint32_t slot, int inherited)
{
    if (!crest_state_is_on())
        return NULL;
    return inherited ? delivered_touch(&delivered_inherited, slot, CREST_STATE_THREAD_ADOPTED)
                     : delivered_touch(&delivered_own, slot, 0);
}

const crest_shard *crest_delivered_counts(uint32_t slot, int inherited)
{
    const uint64_t *word = delivered_word(inherited ? &delivered_inherited : &delivered_own, slot);
    return word != NULL ? (const crest_shard *)(uintptr_t)*word : NULL;
}

static void delivered_empty(uint64_t *word, const crest_layout *layout)
{
    uint64_t there = word != NULL ? *word : 0;
    if (there == 0)
        return;
    crest_atomic_store(word, 0);
    if (layout != NULL)
        crest_shard_give((crest_shard *)(uintptr_t)there, layout);
}

void crest_delivered_end(uint32_t slot, const crest_layout *layout)
{
    delivered_empty(delivered_word(&delivered_own, slot), layout);
    delivered_empty(delivered_word(&delivered_inherited, slot), layout);
}

/* The child has no file. */
static void delivered_cells_forked(void)
{
    delivered_own.cells = NULL;
    delivered_inherited.cells = NULL;
}
CREST_FORKED(DELIVERED_CELLS, delivered_cells_forked)
