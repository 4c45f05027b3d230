/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions: the counts of one histogram series, merged over all threads, at one moment. The
 * inside of crest_distribution in <crest/snapshot.h>.
 */
#ifndef CREST_DISTRIBUTION_H
#define CREST_DISTRIBUTION_H

#include <crest/snapshot.h>

#include "shards.h"

struct crest_distribution {
    crest_layout layout;
    uint64_t count;
    uint64_t sum;
    uint64_t min; /* 0 while count is 0 */
    uint64_t max;
    crest_note note; /* of a reading of the ticker: the largest of the tick before it */
    uint64_t *block[CREST_DISTRIBUTION_BLOCKS]; /* from its first cell on; NULL: nothing there */
};

/* An empty one; NULL without memory. */
crest_distribution *crest_distribution_make(const crest_layout *layout);
void crest_distribution_free(crest_distribution *distribution);

/* Reads a shard that its thread may be writing and adds it; 0 without memory. */
int crest_distribution_add_shard(crest_distribution *distribution, const crest_shard *shard);
int crest_distribution_add_shared(crest_distribution *distribution,
                                  const crest_shared_shard *shared);
/* After the last add: the count is the sum of the buckets. */
void crest_distribution_finish(crest_distribution *distribution);

/* The largest value recorded since `before` was read (NULL: ever), exact when it is the largest of
 * all times, else the top of its bucket; 0 when there was none. */
uint64_t crest_distribution_max_since(const crest_distribution *now,
                                      const crest_distribution *before);

#endif
