/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of stacks. See stack_table.h.
 */
#include "profiling/stack_table.h"
#include "base/atomic.h"

#define STACK_TABLE_PROBES 64u

/* Never 0. */
static uint64_t stack_table_hash(const uint64_t *frames, unsigned depth, uint64_t label)
{
    uint64_t hash = label * UINT64_C(0x9e3779b97f4a7c15) + depth;
    for (unsigned i = 0; i < depth; i++) {
        hash = (hash ^ frames[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash != 0 ? hash : 1;
}

/* Takes n of a bounded number; the first of them, or `bound` when there are no more. */
static uint64_t stack_table_take(uint64_t *used, uint64_t n, uint64_t bound)
{
    uint64_t seen = crest_atomic_load(used);
    while (seen + n <= bound && !crest_atomic_cas(used, seen, seen + n))
        seen = crest_atomic_load(used);
    return seen + n <= bound ? seen : bound;
}

static void stack_table_write(crest_stack_table *table, crest_stack_entry *entry,
                              const uint64_t *frames, unsigned depth, uint64_t label)
{
    uint64_t from = stack_table_take(&table->frames, depth, CREST_STACK_FRAMES_MAX);
    if (from == CREST_STACK_FRAMES_MAX)
        depth = 0; /* refused, as is what is added to it later */
    for (unsigned i = 0; i < depth; i++)
        table->frame[from + i] = frames[i];
    entry->label = label;
    /* partner: the acquire load in crest_stack_table_frames */
    crest_atomic_store_release(&entry->place, (uint64_t)depth << 32 | (from + 1));
}

uint32_t crest_stack_table_add(crest_stack_table *table, const uint64_t *frames, unsigned depth,
                               uint64_t label, uint64_t weight)
{
    uint64_t hash = stack_table_hash(frames, depth, label);
    for (uint32_t i = 0; i < STACK_TABLE_PROBES; i++) {
        uint32_t number = (uint32_t)(hash + i) % CREST_STACKS_MAX;
        crest_stack_entry *entry = &table->entry[number];
        uint64_t key = crest_atomic_load(&entry->key);
        if (key == 0) {
            if (crest_atomic_load(&table->stacks) >= CREST_STACKS_MAX / 8 * 7)
                return CREST_STACK_REFUSED;
            if (crest_atomic_cas(&entry->key, 0, hash)) {
                crest_atomic_add(&table->stacks, 1);
                stack_table_write(table, entry, frames, depth, label);
                key = hash;
            } else {
                key = crest_atomic_load(&entry->key);
            }
        }
        if (key == hash) {
            /* acquire: as in crest_stack_table_frames; no place is known yet, or one of no depth */
            uint64_t place = crest_atomic_load_acquire(&entry->place);
            if (place != 0 && place >> 32 == 0)
                return CREST_STACK_REFUSED;
            crest_atomic_add(&entry->count, weight);
            return number;
        }
    }
    return CREST_STACK_REFUSED;
}

unsigned crest_stack_table_frames(const crest_stack_table *table, uint32_t number,
                                  const uint64_t **frames)
{
    /* acquire: partner of the release store in stack_table_write */
    uint64_t place = crest_atomic_load_acquire(&table->entry[number].place);
    unsigned depth = (unsigned)(place >> 32);
    if (depth != 0)
        *frames = &table->frame[(uint32_t)place - 1];
    return depth;
}

int crest_stack_table_fills(const crest_stack_table *table)
{
    return crest_atomic_load(&table->stacks) >= CREST_STACKS_MAX / 4 * 3 ||
           crest_atomic_load(&table->frames) >= CREST_STACK_FRAMES_MAX / 4 * 3;
}

void crest_stack_table_clear(crest_stack_table *table)
{
    __builtin_memset(table->entry, 0, sizeof table->entry);
    crest_atomic_store(&table->stacks, 0);
    crest_atomic_store(&table->frames, 0);
}
