/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading values as a page asks for them. See streaming.h.
 */
#include "snapshot/streaming.h"
#include "base/atomic.h"
#include "cells/shards.h"
#include "metrics/series_merge.h"
#include "registry/series.h"
#include "snapshot/read_values.h"

#include <string.h>

/* Reads the counters from `index` on, up to CREST_PASSING_COUNTERS of them. */
static void passing_read_counters(crest_passing *passing, const crest_directory *directory,
                                  size_t index)
{
    size_t low = 0, high = directory->stretch_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (directory->stretches[middle].first <= index)
            low = middle;
        else
            high = middle;
    }
    size_t end = directory->stretches[low].first + directory->stretches[low].count;
    if (end - index > CREST_PASSING_COUNTERS)
        end = index + CREST_PASSING_COUNTERS;
    crest_snapshot_read_values(directory, CREST_KIND_COUNTER, index, end - index,
                               passing->counters);
    passing->first = index;
    passing->end = end;
}

void crest_passing_values(crest_passing *passing, const crest_directory *directory, crest_kind kind,
                          size_t index, size_t count, uint64_t *values)
{
    if (kind != CREST_KIND_COUNTER) {
        crest_snapshot_read_values(directory, kind, index, count, values);
        return;
    }
    if (index < passing->first || index + count > passing->end)
        passing_read_counters(passing, directory, index);
    memcpy(values, passing->counters + (index - passing->first), count * sizeof *values);
}

/* Merges what a tally cannot tell; 0 without memory. */
static int passing_merge(const crest_series *series, const uint64_t *limits, unsigned count,
                         crest_totals *totals)
{
    crest_distribution *merged = crest_series_merge(series);
    crest_totals_of(merged, limits, count, totals);
    crest_distribution_free(merged);
    return merged != NULL;
}

void crest_passing_totals(crest_passing *passing, const crest_directory *directory, size_t index,
                          const uint64_t *limits, unsigned count, crest_totals *totals)
{
    const crest_series *series = directory->series[index];
    const crest_thread_table *table = crest_cells_tables();
    const crest_shard *shard;
    crest_tally *tally = &passing->tally;
    crest_tally_begin(tally, series->metric->layout, limits, count);
    int told = crest_shared_shard_is_empty(series->shared);
    while (told && (shard = crest_shard_next(directory->slots[index], &table)) != NULL)
        crest_tally_add(tally, shard);
    if (!(told && crest_tally_end(tally, totals)) && !passing_merge(series, limits, count, totals))
        passing->lacked = 1;
}
