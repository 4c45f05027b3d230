/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefetch for readers of distributions. See prefetch.h.
 */
#include "snapshot/prefetch.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "cells/shards.h"
#include "registry/series.h"

/* Threads, the latest first, whose cells, shards and counts are prefetched. */
#define PREFETCH_THREADS 8u
/* Cache lines of counts that are prefetched for a series: all that some ten threads record at the
 * usual precision. */
#define PREFETCH_LINES 2048u

static void prefetch_cells(uint32_t slot, const crest_series *series)
{
    const crest_thread_table *table = crest_cells_tables();
    for (unsigned n = 0; table != NULL && n < PREFETCH_THREADS; table = table->next, n++)
        __builtin_prefetch(crest_cells_of(table, slot));
    __builtin_prefetch(series->shared);
}

/* Addresses as numbers: after the last distribution comes another kind, whose cells are no
 * addresses. */
static void prefetch_shards(uint32_t slot)
{
    const crest_thread_table *table = crest_cells_tables();
    for (unsigned n = 0; n < PREFETCH_THREADS; n++) {
        uintptr_t shard = (uintptr_t)crest_shard_next(slot, &table);
        for (size_t i = 0; shard != 0 && i < sizeof(crest_shard); i += CREST_LINE_BYTES)
            __builtin_prefetch((const void *)(shard + i));
    }
}

/* Into the second-level cache: a processor waits for few lines at a time on the way to the
 * first. */
static size_t prefetch_block(const uint64_t *cells, size_t count, size_t left)
{
    size_t lines = count * sizeof *cells / CREST_LINE_BYTES;
    lines = lines < left ? lines : left;
    const char *line = (const char *)cells;
    for (const char *end = line + lines * CREST_LINE_BYTES; line != end; line += CREST_LINE_BYTES)
        __builtin_prefetch(line, 0, 2);
    return left - lines;
}

static void prefetch_counts(uint32_t slot, const crest_layout *layout)
{
    const crest_thread_table *table = crest_cells_tables();
    const crest_shard *shard;
    size_t end = crest_layout_end_cell(layout), left = PREFETCH_LINES;
    for (unsigned n = 0; n < PREFETCH_THREADS; n++) {
        if ((shard = crest_shard_next(slot, &table)) == NULL)
            return;
        for (unsigned s = 0; s < layout->blocks; s++) {
            const uint64_t *cells = crest_shard_cells(shard, layout, s);
            if (cells != NULL)
                left = prefetch_block(cells, end - crest_layout_first_cell(layout, s), left);
        }
    }
}

void crest_prefetch(const crest_directory *directory, size_t index)
{
    size_t left = directory->count - index;
    crest_series *const *series = directory->series + index;
    const uint32_t *slots = directory->slots + index;
    if (left > 3)
        prefetch_cells(slots[3], series[3]);
    if (left > 2)
        prefetch_shards(slots[2]);
    if (left > 1 && series[1]->metric->layout != NULL)
        prefetch_counts(slots[1], series[1]->metric->layout);
}
