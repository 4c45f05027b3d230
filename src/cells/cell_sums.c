/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of a slot's cells over all threads, for counters; see cells.h. Made without a lock and
 * without stopping a thread: cells only grow, and each is read once.
 */
#include "base/arena.h"
#include "base/atomic.h"
#include "base/misuse.h"
#include "cells/cells.h"

#include <string.h>

/* Batch: sums made at a time. They stay in the first-level cache from one thread's cells to the
 * next thread's. */
#define SUMS_BATCH 1024
/* Adjacent cells are read this many at once. */
#define SUMS_STEP 8u
/* A batch reads the whole row of cells from its lowest slot to its highest, if the row has at most
 * so many cells, and at most so many for each slot asked for. */
#define SUMS_ROW_MAX 2048u
#define SUMS_ROW_FACTOR 4u

/* The sum of a reused slot at the moment of its reuse, subtracted from later sums. A chunk's table
 * exists from the first reuse of one of its slots. */
static uint64_t *sums_base_chunk[CREST_CHUNK_COUNT];
/* The largest such base, so that the next series has room to count. */
#define SUMS_BASE_MAX (UINT64_C(1) << 62)

int crest_cells_shared_add(uint32_t slot, uint64_t amount)
{
    uint64_t *shared = crest_cells_shared(slot);
    return crest_atomic_load(shared) != UINT64_MAX && crest_atomic_add_capped(shared, amount);
}

/* The sum of everything ever added in this slot, by all its series. */
static uint64_t sums_ever(uint32_t slot)
{
    const uint64_t *cell = crest_cells_shared(slot);
    uint64_t sum = cell ? crest_atomic_load(cell) : 0;
    for (const crest_thread_table *table = crest_cells_tables(); table; table = table->next) {
        cell = crest_cells_of(table, slot);
        if (cell == NULL || !__builtin_add_overflow(sum, crest_atomic_load(cell), &sum))
            continue;
        if (crest_cells_shared_add(slot, UINT64_MAX))
            crest_misuse_count(CREST_MISUSE_FULL, NULL);
        return UINT64_MAX;
    }
    return sum;
}

uint64_t crest_cells_sum(uint32_t slot)
{
    uint64_t sum = sums_ever(slot);
    /* acquire: partner of the release store in crest_cells_sum_anew */
    const uint64_t *base =
        crest_atomic_load_ptr_acquire(CREST_PTR(&sums_base_chunk[slot >> CREST_CHUNK_BITS]));
    if (base == NULL || sum == UINT64_MAX)
        return sum;
    return sum - crest_atomic_load(&base[slot & (CREST_CHUNK_CELLS - 1)]);
}

/* The cells of a chunk, biased so that the whole slot number indexes them; NULL without cells. */
static const uint64_t *sums_biased(const uint64_t *chunk, uint32_t slot)
{
    uint64_t before = (slot & ~(CREST_CHUNK_CELLS - 1)) * sizeof(uint64_t);
    return chunk ? (const uint64_t *)((uintptr_t)chunk - before) : NULL;
}

/* Slots of one chunk whose sums are made together. */
typedef struct sums_batch {
    const uint32_t *slots;
    size_t count;
    uint32_t lowest, highest;
} sums_batch;

/* Looks up each thread's chunk once, and reads the threads' cells one thread after the other. */
static void sums_each(const sums_batch *batch, uint64_t *sums)
{
    const uint32_t *slots = batch->slots;
    uint32_t chunk = batch->lowest >> CREST_CHUNK_BITS;
    size_t count = batch->count;
    int past = 0;
    /* acquire: partners of the release stores in crest_cells_slot_new, _touch and _sum_anew */
    const uint64_t *cells =
        sums_biased(crest_cells_shared(slots[0] & ~(CREST_CHUNK_CELLS - 1)), slots[0]);
    for (size_t i = 0; i < count; i++)
        sums[i] = cells != NULL ? crest_atomic_load(&cells[slots[i]]) : 0;
    for (const crest_thread_table *table = crest_cells_tables(); table; table = table->next) {
        cells = crest_atomic_load_ptr_acquire(CREST_PTR(&table->cells->chunk[chunk]));
        /* prefetch of the next cell: a family's slots come in no order */
        const uint64_t *next = table->next ? crest_cells_of(table->next, slots[0]) : NULL;
        next = next != NULL ? next - slots[0] : NULL;
        for (size_t i = 0; cells != NULL && i < count; i++) {
            if (next != NULL)
                __builtin_prefetch(&next[slots[i]]);
            past |= __builtin_add_overflow(sums[i], crest_atomic_load(&cells[slots[i]]), &sums[i]);
        }
    }
    cells =
        sums_biased(crest_atomic_load_ptr_acquire(CREST_PTR(&sums_base_chunk[chunk])), slots[0]);
    for (size_t i = 0; cells != NULL && i < count; i++)
        if (sums[i] != UINT64_MAX)
            sums[i] -= crest_atomic_load(&cells[slots[i]]);
    for (size_t i = 0; past && i < count; i++)
        sums[i] = crest_cells_sum(slots[i]);
}

/* Adds one thread's cells, a multiple of SUMS_STEP, to the sums so far, modulo 2^64, and prefetches
 * the next thread's (NULL: none). Returns at least the bits of each cell. */
static uint64_t sums_add_row(uint64_t *sums, const uint64_t *cells, const uint64_t *next,
                             size_t count)
{
#if CREST_ATOMIC_LOADS_TWO
    crest_two_words *into = (crest_two_words *)(void *)sums, bits = {0, 0};
    for (size_t i = 0; i < count; i += SUMS_STEP, into += SUMS_STEP / 2) {
        crest_two_words a = crest_atomic_load_two(&cells[i]);
        crest_two_words b = crest_atomic_load_two(&cells[i + 2]);
        crest_two_words c = crest_atomic_load_two(&cells[i + 4]);
        crest_two_words d = crest_atomic_load_two(&cells[i + 6]);
        if (next != NULL)
            __builtin_prefetch(&next[i]);
        bits |= a | b | c | d;
        into[0] += a;
        into[1] += b;
        into[2] += c;
        into[3] += d;
    }
    return bits[0] | bits[1];
#else
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t cell = crest_atomic_load(&cells[i]);
        if (next != NULL && i % SUMS_STEP == 0)
            __builtin_prefetch(&next[i]);
        bits |= cell;
        sums[i] += cell;
    }
    return bits;
#endif
}

/* A table's cells from this slot on, or NULL. */
static const uint64_t *sums_row_of(const crest_thread_table *table, uint32_t slot)
{
    return table != NULL ? crest_cells_of(table, slot) : NULL;
}

/*
 * Sums the whole row from the lowest slot to the highest and picks those asked for. A family's
 * slots lie together, but its series are sorted; reading cells in a row takes a third of the time
 * of finding them one by one. 0, and nothing was done, where sums may exceed 64 bits or a counter
 * is full.
 */
static int sums_row(const sums_batch *batch, uint64_t *sums)
{
    uint32_t first = batch->lowest & ~(SUMS_STEP - 1), chunk = first >> CREST_CHUNK_BITS;
    size_t count = (batch->highest - first + SUMS_STEP) & ~(size_t)(SUMS_STEP - 1);
    _Alignas(16) uint64_t row[SUMS_ROW_MAX + 2 * SUMS_STEP];
    const crest_thread_table *table = crest_cells_tables();
    const uint64_t *next = sums_row_of(table, first), *cells = crest_cells_shared(first);
    uint64_t bits = 0, parts = 1;
    memset(row, 0, count * sizeof row[0]);
    if (cells != NULL)
        bits |= sums_add_row(row, cells, next, count);
    for (; table != NULL; table = table->next, parts++) {
        cells = next;
        next = sums_row_of(table->next, first);
        if (cells != NULL)
            bits |= sums_add_row(row, cells, next, count);
    }
    if (bits >= UINT64_MAX / parts)
        return 0;
    for (size_t i = 0; i < batch->count; i++)
        sums[i] = row[batch->slots[i] - first];
    /* acquire: partner of the release store in crest_cells_sum_anew */
    cells = sums_biased(crest_atomic_load_ptr_acquire(CREST_PTR(&sums_base_chunk[chunk])), first);
    for (size_t i = 0; cells != NULL && i < batch->count; i++)
        sums[i] -= crest_atomic_load(&cells[batch->slots[i]]);
    return 1;
}

/* The first slots of the list that share one chunk, at most a batch. */
static sums_batch sums_batch_of(const uint32_t *slots, size_t left)
{
    uint32_t chunk = slots[0] >> CREST_CHUNK_BITS;
    sums_batch batch = {slots, 1, slots[0], slots[0]};
    size_t most = left < SUMS_BATCH ? left : SUMS_BATCH;
    for (; batch.count < most && slots[batch.count] >> CREST_CHUNK_BITS == chunk; batch.count++) {
        uint32_t slot = slots[batch.count];
        batch.lowest = slot < batch.lowest ? slot : batch.lowest;
        batch.highest = slot > batch.highest ? slot : batch.highest;
    }
    return batch;
}

void crest_cells_sums(const uint32_t *slots, size_t count, uint64_t *sums)
{
    while (count != 0) {
        sums_batch batch = sums_batch_of(slots, count);
        size_t span = batch.highest - batch.lowest + 1;
        if (span > SUMS_ROW_MAX || span > batch.count * SUMS_ROW_FACTOR || !sums_row(&batch, sums))
            sums_each(&batch, sums);
        slots += batch.count;
        sums += batch.count;
        count -= batch.count;
    }
}

uint64_t crest_cells_base(uint32_t slot)
{
    const uint64_t *base = sums_base_chunk[slot >> CREST_CHUNK_BITS];
    return base != NULL ? crest_atomic_load(&base[slot & (CREST_CHUNK_CELLS - 1)]) : 0;
}

int crest_cells_sum_anew(uint32_t slot)
{
    uint64_t **chunk = &sums_base_chunk[slot >> CREST_CHUNK_BITS];
    uint64_t sum = sums_ever(slot), *base = *chunk;
    if (sum > SUMS_BASE_MAX)
        return 0;
    if (base == NULL) {
        base = crest_arena_take(CREST_ARENA_CELLS, CREST_CHUNK_CELLS * sizeof(uint64_t),
                                CREST_LINE_BYTES);
        if (base == NULL)
            return 0;
        /* partner: the acquire load in crest_cells_sum */
        crest_atomic_store_ptr_release(CREST_PTR(chunk), base);
    }
    crest_atomic_store(&base[slot & (CREST_CHUNK_CELLS - 1)], sum);
    return 1;
}
