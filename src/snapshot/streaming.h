/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots for one page, which keep no values: they are read on demand, counters some at a time,
 * distributions one by one.
 */
#ifndef CREST_STREAMING_H
#define CREST_STREAMING_H

#include "distributions/bucket_counts.h"
#include "distributions/bucket_totals.h"
#include "snapshot/directory.h"
#include "snapshot/snapshot_inside.h"

/* Counters that are read at a time. */
#define CREST_PASSING_COUNTERS 1024u

typedef struct crest_passing {
    uint64_t counters[CREST_PASSING_COUNTERS];
    size_t first, end; /* the series that these are of */
    int lacked;        /* memory lacked for a distribution, which the page then lacks */
    crest_tally tally;
} crest_passing;

/* As crest_snapshot_values and crest_snapshot_totals. */
void crest_passing_values(crest_passing *passing, const crest_directory *directory, crest_kind kind,
                          size_t index, size_t count, uint64_t *values);
void crest_passing_totals(crest_passing *passing, const crest_directory *directory, size_t index,
                          const uint64_t *limits, unsigned count, crest_totals *totals);

#endif
