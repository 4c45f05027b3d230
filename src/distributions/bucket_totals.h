/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a page says of a distribution. It knows no cells, so that a test of pages can make up any.
 */
#ifndef CREST_BUCKET_TOTALS_H
#define CREST_BUCKET_TOTALS_H

#include <crest/distribution.h>
#include <crest/metric.h>

typedef struct crest_totals {
    uint64_t count;
    uint64_t sum;
    /* records in cells whose lowest value is at most the i-th limit */
    uint64_t below[CREST_BUCKETS_MAX];
} crest_totals;

/* The totals of a distribution, NULL being an empty one; limits ascend. bucket_counts.c. */
void crest_totals_of(const crest_distribution *distribution, const uint64_t *limits, unsigned count,
                     crest_totals *totals);

#endif
