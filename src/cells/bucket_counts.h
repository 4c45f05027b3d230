/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tallies: what a page says of one histogram series, counted straight from its threads' shards.
 *
 *     crest_tally_begin(&tally, layout, limits, count);
 *     crest_tally_add(&tally, shard);     for each shard
 *     if (!crest_tally_end(&tally, &totals))
 *         ...a distribution has to be merged...
 *
 * It keeps no cells, so what it reads is read once and nothing is written for it. Where counts or
 * the sum may be more than 64 bits can say it tells nothing: distribution_inside.h does.
 */
#ifndef CREST_BUCKET_COUNTS_H
#define CREST_BUCKET_COUNTS_H

#include "cells/distribution_inside.h"
#include "cells/bucket_totals.h"

/* Cells of a block up to this one, which lie between the same limits. */
typedef struct crest_tally_run {
    uint32_t end;    /* from the block's first cell on */
    uint32_t bucket; /* as many limits are below */
} crest_tally_run;

#define CREST_TALLY_RUNS_MAX (CREST_BUCKETS_MAX + CREST_DISTRIBUTION_BLOCKS)

typedef struct crest_tally {
    crest_layout layout;
    unsigned limit_count;
    uint64_t limits[CREST_BUCKETS_MAX];
    /* what these cut the layout's blocks into: a block's runs from its first on to the next's */
    unsigned first[CREST_DISTRIBUTION_BLOCKS + 1];
    crest_tally_run runs[CREST_TALLY_RUNS_MAX];
    /* of one series so far */
    uint64_t sum, max;
    uint64_t large; /* at least the bits of each cell */
    uint64_t cells; /* that were read */
    uint64_t counts[CREST_BUCKETS_MAX + 1];
} crest_tally;

/* Begins a series; limits ascend, and there are CREST_BUCKETS_MAX at most. A tally must have been
 * zeroed before its first. */
void crest_tally_begin(crest_tally *tally, const crest_layout *layout, const uint64_t *limits,
                       unsigned count);
/* Adds a shard, or a beginning, that its thread may be writing. */
void crest_tally_add(crest_tally *tally, const crest_shard *shard);
/* After the last: what there is, or 0 when only a merged distribution can tell. What threads
 * without a shard share it has not read. */
int crest_tally_end(const crest_tally *tally, crest_totals *totals);

#endif
