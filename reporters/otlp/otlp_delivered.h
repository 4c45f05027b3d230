/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a receiver of differences has confirmed, series by series: of each life of a counter its
 * value, of a histogram its records, and when that was. Knows series, not bodies or HTTP.
 *
 * crest_report.previous would not do: it is the snapshot of the last report that went well as a
 * whole. A report whose second body fails has delivered the first.
 *
 * States of a series' entry: confirmed (what was delivered; nothing at first) and, while a body
 * that has it is on its way or its fate is not known, staged (what will have been delivered).
 *
 *     1. crest_otlp_delivered_begin  before a report: room for its series
 *     2. crest_otlp_delivered_find   for each series: what the difference starts from
 *     3. crest_otlp_delivered_stage  for each series in a body, before it is sent
 *     4. crest_otlp_delivered_settle the body arrived: staged becomes confirmed; or
 *        crest_otlp_delivered_drop   it did not: staged is forgotten
 *
 * Invariant: sum of all confirmed differences of a series = its confirmed value.
 */
#ifndef CREST_REPORTERS_OTLP_DELIVERED_H
#define CREST_REPORTERS_OTLP_DELIVERED_H

#include <crest/snapshot.h>

/* Series that have left the snapshots and are remembered, lest they come back. */
#define CREST_OTLP_ABSENT_MAX 4096u

/* One life of a series. */
typedef struct crest_otlp_entry {
    uint64_t life; /* crest_series_view.life; 0: a free place */
    uint64_t counter;
    uint64_t noted; /* what the state file has been told: a counter, or a number of records */
    crest_distribution *distribution; /* NULL: nothing yet */
    uint64_t wall_ns;                 /* when it was confirmed; 0: nothing was */
    int staged;
    uint64_t next_counter, next_wall_ns;
    crest_distribution *next; /* NULL: as `distribution` */
    uint32_t report;          /* the last one that had it */
} crest_otlp_entry;

/* Zeroed before its first begin. */
typedef struct crest_otlp_delivered_account {
    crest_otlp_entry *entries; /* by a hash of their lives, in the first place that was free */
    size_t places;             /* a power of two, twice the entries at least */
    size_t count;
    uint32_t report;
} crest_otlp_account;

/* Makes room for a report of so many series; entries do not move until the next one. Forgets those
 * that have been absent longest when there are more than CREST_OTLP_ABSENT_MAX.
 * CREST_NO_MEMORY, and nothing has changed. */
crest_status crest_otlp_delivered_begin(crest_otlp_account *account, size_t series);

/* The entry of a series; never NULL for as many as begin was told of. */
crest_otlp_entry *crest_otlp_delivered_find(crest_otlp_account *account,
                                            const crest_series_view *series);

/* Stages the series as it is now, at `wall_ns`. CREST_NO_MEMORY. */
crest_status crest_otlp_delivered_stage(crest_otlp_account *account,
                                        const crest_series_view *series, uint64_t wall_ns);

/* All that is staged was delivered. */
void crest_otlp_delivered_settle(crest_otlp_account *account);

/* Nothing that is staged was. */
void crest_otlp_delivered_drop(crest_otlp_account *account);

void crest_otlp_delivered_fini(crest_otlp_account *account);

#endif
