/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tallies: what a page says of one histogram series, counted straight from its threads' shards.
 *
 *     crest_tally_begin(&tally, layout, limits, count);
 *     crest_tally_add(&tally, shard);     for each shard
 *     if (!crest_tally_end(&tally, &totals))
 *         ...a distribution has to be merged...
 *
 * A tally copies no cells: each is read once, nothing is written. Where counts or the sum may
 * exceed 64 bits it gives no answer; distribution_inside.h does.
 */
#ifndef CREST_BUCKET_COUNTS_H
#define CREST_BUCKET_COUNTS_H

#include "distributions/bucket_totals.h"
#include "distributions/distribution_inside.h"

/* A run: the cells of a block up to this one that lie between the same two limits. */
typedef struct crest_tally_run {
    uint32_t end;    /* the cell behind its last, from the block's first */
    uint32_t bucket; /* how many limits are below it */
} crest_tally_run;

#define CREST_TALLY_RUNS_MAX (CREST_BUCKETS_MAX + CREST_DISTRIBUTION_BLOCKS)

typedef struct crest_tally {
    crest_layout layout;
    unsigned limit_count;
    uint64_t limits[CREST_BUCKETS_MAX];
    /* the runs that the limits cut the layout's blocks into: a block's go from its first to the
     * next block's first */
    unsigned first[CREST_DISTRIBUTION_BLOCKS + 1];
    crest_tally_run runs[CREST_TALLY_RUNS_MAX];
    /* of this series so far */
    uint64_t sum, max;
    uint64_t large; /* at least the bits of each cell */
    uint64_t cells; /* cells that were read */
    uint64_t counts[CREST_BUCKETS_MAX + 1];
} crest_tally;

/* Begins a series; limits ascend, at most CREST_BUCKETS_MAX. A tally must have been zeroed before
 * its first series. */
void crest_tally_begin(crest_tally *tally, const crest_layout *layout, const uint64_t *limits,
                       unsigned count);
/* Adds a shard, or a beginning (first_values.h); its thread may be writing it meanwhile. */
void crest_tally_add(crest_tally *tally, const crest_shard *shard);
/* After the last shard: the totals, or 0 when only a merged distribution can tell. The shared shard
 * is not in them. */
int crest_tally_end(const crest_tally *tally, crest_totals *totals);

#endif
