/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of crest_distribution in <crest/distribution.h>: the counts of one histogram series,
 * merged over all threads, at one moment.
 */
#ifndef CREST_DISTRIBUTION_INSIDE_H
#define CREST_DISTRIBUTION_INSIDE_H

#include <crest/distribution.h>

#include "cells/shards.h"

#include "cells/slowest_board.h"
#include <string.h>

struct crest_distribution {
    crest_layout layout;
    uint64_t count; /* sum of all cells, UINT64_MAX at most */
    uint64_t sum;   /* modulo 2^64, as recorded and subtracted */
    uint64_t min;   /* 0 while count is 0 */
    uint64_t max;
    int sum_is_past; /* the true sum exceeds 64 bits */
    int counted;     /* while merging: `count` is the cells' sum so far, modulo 2^64, */
    uint64_t large;  /* and these are at least the bits of each */
    crest_note note; /* in a reading of the ticker: the slowest operation of its tick */
    uint64_t *block[CREST_DISTRIBUTION_BLOCKS];  /* from its first cell on; NULL: empty */
    size_t within;                               /* cells of the blocks within this allocation */
    __attribute__((aligned(16))) uint64_t own[]; /* those cells */
};

/* An empty one; NULL without memory. */
crest_distribution *crest_distribution_make(const crest_layout *layout);

/* One with the blocks of this mask, in one allocation; further blocks are made when needed. */
crest_distribution *crest_distribution_make_with(const crest_layout *layout, uint64_t blocks);
/* The mask of blocks that a shard has, or that a beginning's values fall into. */
uint64_t crest_distribution_blocks(const crest_layout *layout, const crest_shard *shard);

/* A block's counts from its first cell on, made if need be; NULL without memory. */
uint64_t *crest_distribution_block(crest_distribution *distribution, unsigned number);

/* Cells of a block. */
static inline size_t crest_distribution_cells(const crest_distribution *distribution,
                                              unsigned number)
{
    return crest_layout_end_cell(&distribution->layout) -
           crest_layout_first_cell(&distribution->layout, number);
}

/* Saturating sum of two counts. */
static inline uint64_t crest_distribution_plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Two cells at a time. */
typedef uint64_t crest_cell_pair __attribute__((vector_size(16)));

static inline crest_cell_pair crest_cell_pair_at(const uint64_t *cells)
{
    crest_cell_pair pair;
    memcpy(&pair, cells, sizeof pair);
    return pair;
}

/* The total of so many cells, modulo 2^64. */
static inline uint64_t crest_distribution_total(const uint64_t *cells, size_t count)
{
    crest_cell_pair sum = {0, 0}, more = {0, 0};
    const uint64_t *end = cells + count;
    for (; end - cells >= 4; cells += 4) {
        sum += crest_cell_pair_at(cells);
        more += crest_cell_pair_at(cells + 2);
    }
    sum += more;
    if (count & 2) {
        sum += crest_cell_pair_at(cells);
        cells += 2;
    }
    return sum[0] + sum[1] + (count & 1 ? *cells : 0);
}

/* Reads a shard, or a beginning, that its thread may be writing, and adds it; 0 without memory. */
int crest_distribution_add_shard(crest_distribution *distribution, const crest_shard *shard);
int crest_distribution_add_shared(crest_distribution *distribution,
                                  const crest_shared_shard *shared);
/* After the last add: count and extremes become what callers read. */
void crest_distribution_finish(crest_distribution *distribution);

/* After any change of cells and sum: updates the count, and whether the sum exceeds 64 bits. */
void crest_distribution_settle(crest_distribution *distribution);

/* counts[i] = records in cells whose lowest value is at most limits[i]; limits ascend.
 * distribution_cumulative.c. */
void crest_distribution_below(const crest_distribution *distribution, const uint64_t *limits,
                              unsigned count, uint64_t *counts);

/* The largest value recorded since `before` was read (NULL: ever); 0 when there was none. Exact
 * when it is the largest of all times, else the top of its bucket. */
uint64_t crest_distribution_max_since(const crest_distribution *now,
                                      const crest_distribution *before);

#endif
