/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking for memory ahead. See prefetch.h.
 *
 * One link of the chain to the counts for each series: the threads' cells of the one three further
 * on, the shards of the one after next, the counts of the next.
 */
#include "snapshot/prefetch.h"
#include "registry/series.h"
#include "base/arena.h"
#include "base/atomic.h"

/* Threads, the latest first, whose cells and shards are asked for. */
#define AHEAD_THREADS 8u

static void ahead_cells(uint32_t slot, const crest_series *series)
{
    const crest_thread_record *record = crest_cells_records();
    for (unsigned n = 0; record != NULL && n < AHEAD_THREADS; record = record->next, n++)
        __builtin_prefetch(crest_cells_of(record, slot));
    __builtin_prefetch(series->shared);
}

/* Numbers, not pointers: after the last distribution comes another kind, whose cells are no
 * addresses. */
static void ahead_shards(uint32_t slot)
{
    const crest_thread_record *record = crest_cells_records();
    for (unsigned n = 0; n < AHEAD_THREADS; n++) {
        uintptr_t shard = (uintptr_t)crest_shard_next(slot, &record);
        for (size_t i = 0; shard != 0 && i < sizeof(crest_shard); i += CREST_LINE_BYTES)
            __builtin_prefetch((const void *)(shard + i));
    }
}

static void ahead_add_block(crest_ahead *ahead, const uint64_t *cells, size_t count)
{
    size_t lines = count * sizeof *cells / CREST_LINE_BYTES,
           left = CREST_AHEAD_LINES - ahead->lines;
    lines = lines < left ? lines : left;
    if (lines == 0 || ahead->count == CREST_AHEAD_BLOCKS)
        return;
    ahead->blocks[ahead->count++] = (crest_ahead_block){(uintptr_t)cells, lines};
    ahead->lines += lines;
}

static void ahead_counts(crest_ahead *ahead, uint32_t slot, const crest_layout *layout)
{
    const crest_thread_record *record = crest_cells_records();
    const crest_shard *shard;
    size_t end = crest_layout_end_cell(layout);
    for (unsigned n = 0; n < AHEAD_THREADS; n++) {
        if ((shard = crest_shard_next(slot, &record)) == NULL)
            return;
        for (unsigned s = 0; s < layout->blocks; s++) {
            const uint64_t *cells = crest_shard_cells(shard, layout, s);
            if (cells != NULL)
                ahead_add_block(ahead, cells, end - crest_layout_first_cell(layout, s));
        }
    }
}

void crest_ahead_of(crest_ahead *ahead, const crest_directory *directory, size_t index,
                    unsigned parts)
{
    size_t left = directory->count - index;
    crest_series *const *series = directory->series + index;
    const uint32_t *slots = directory->slots + index;
    ahead->count = ahead->at = 0;
    ahead->lines = ahead->done = 0;
    if (left > 3)
        ahead_cells(slots[3], series[3]);
    if (left > 2)
        ahead_shards(slots[2]);
    if (left > 1 && series[1]->metric->layout != NULL)
        ahead_counts(ahead, slots[1], series[1]->metric->layout);
    ahead->part = (ahead->lines + parts - 1) / parts;
}

/* Into the second-level cache: of how many lines a processor waits for the first is little. */
void crest_ahead_ask(crest_ahead *ahead)
{
    size_t left = ahead->part;
    while (left != 0 && ahead->at < ahead->count) {
        const crest_ahead_block *block = &ahead->blocks[ahead->at];
        size_t lines = block->lines - ahead->done, count = lines < left ? lines : left;
        uintptr_t line = block->from + ahead->done * CREST_LINE_BYTES;
        for (uintptr_t end = line + count * CREST_LINE_BYTES; line != end; line += CREST_LINE_BYTES)
            __builtin_prefetch((const void *)line, 0, 2);
        left -= count;
        ahead->done += count;
        if (count == lines) {
            ahead->done = 0;
            ahead->at++;
        }
    }
}
