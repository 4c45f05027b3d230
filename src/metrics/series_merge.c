/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging all threads' records of a distribution's series. See series_merge.h.
 */
#include "metrics/series_merge.h"
#include "base/atomic.h"
#include "distributions/distribution_inside.h"
#include "metrics/slowest_note.h"

/* Adds all records of a series to an empty distribution; 0 without memory. */
static int merge_into(crest_distribution *merged, const crest_series *series)
{
    uint32_t slot = crest_atomic_load32(&series->slot);
    int whole = crest_distribution_add_shared(merged, series->shared);
    const crest_thread_table *table = crest_cells_tables();
    const crest_shard *shard;
    while (whole && (shard = crest_shard_next(slot, &table)) != NULL)
        whole = crest_distribution_add_shard(merged, shard);
    crest_distribution_finish(merged);
    return whole;
}

static crest_distribution *merge_series(const crest_series *series, int noted)
{
    const crest_layout *layout = series->metric->layout;
    const crest_thread_table *table = crest_cells_tables();
    const crest_shard *shard;
    uint64_t blocks = 0;
    while ((shard = crest_shard_next(crest_atomic_load32(&series->slot), &table)) != NULL)
        blocks |= crest_distribution_blocks(layout, shard);
    crest_distribution *merged = crest_distribution_make_with(layout, blocks);
    /* notes before counts: a record in between is counted now and its note taken next time */
    if (noted && merged != NULL)
        crest_slowest_take(series, &merged->note);
    if (merged != NULL && merge_into(merged, series))
        return merged;
    crest_distribution_free(merged);
    return NULL;
}

crest_distribution *crest_series_merge(const crest_series *series)
{
    return merge_series(series, 0);
}

crest_distribution *crest_series_merge_noted(const crest_series *series)
{
    return merge_series(series, 1);
}
