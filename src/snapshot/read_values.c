/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what series hold. See read_values.h.
 */
#include "snapshot/read_values.h"
#include "base/atomic.h"
#include "cells/cells.h"
#include "cells/range_cell.h"
#include "registry/series.h"
#include "registry/slowest_note.h"
#include "snapshot/prefetch.h"

void crest_snapshot_read_values(const crest_directory *directory, crest_kind kind, size_t index,
                                size_t count, uint64_t *values)
{
    crest_series *const *series = directory->series + index;
    if (kind == CREST_KIND_COUNTER)
        crest_cells_sums(directory->slots + index, count, values);
    if (kind == CREST_KIND_GAUGE)
        for (size_t i = 0; i < count; i++)
            values[i] = crest_atomic_load(series[i]->shared);
    if (kind == CREST_KIND_RANGE_SAMPLER)
        for (size_t i = 0; i < count; i++)
            values[i] = (uint64_t)crest_range_cell_value(series[i]->shared);
}

/* Adds all that was recorded into a series to an empty distribution; 0 without memory. */
static int read_values_merge_into(crest_distribution *merged, const crest_series *series)
{
    uint32_t slot = crest_atomic_load32(&series->slot);
    int whole = crest_distribution_add_shared(merged, series->shared);
    const crest_thread_record *record = crest_cells_records();
    const crest_shard *shard;
    while (whole && (shard = crest_ahead_shard(slot, &record)) != NULL)
        whole = crest_distribution_add_shard(merged, shard);
    crest_distribution_finish(merged);
    return whole;
}

static crest_distribution *read_values_merge(const crest_series *series, int notes)
{
    const crest_layout *layout = series->metric->layout;
    const crest_thread_record *record = crest_cells_records();
    const crest_shard *shard;
    uint64_t blocks = 0;
    while ((shard = crest_ahead_shard(crest_atomic_load32(&series->slot), &record)) != NULL)
        blocks |= crest_distribution_blocks(layout, shard);
    crest_distribution *merged = crest_distribution_make_with(layout, blocks);
    /* before the counts: what is recorded in between is in them and noted the next time */
    if (notes && merged != NULL)
        crest_slowest_take(series, &merged->note);
    if (merged != NULL && read_values_merge_into(merged, series))
        return merged;
    crest_distribution_free(merged);
    return NULL;
}

crest_distribution *crest_series_merge(const crest_series *series)
{
    return read_values_merge(series, 0);
}

crest_distribution *crest_series_merge_noted(const crest_series *series)
{
    return read_values_merge(series, 1);
}
