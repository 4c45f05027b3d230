/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed series, in which operations are begun, and each metric's allowance in the table of
 * operations in flight. The table itself is in in_flight_table.h.
 */
#ifndef CREST_KEYED_SERIES_H
#define CREST_KEYED_SERIES_H

#include "metrics/metric_inside.h"

/* Operations in flight and tombstones, of all metrics. Ids are spread over stripes by hash, each
 * stripe has equal room, and memory comes in blocks. */
#define CREST_IN_FLIGHT_MAX 131072u
#define CREST_IN_FLIGHT_STRIPES 64u
#define CREST_IN_FLIGHT_BLOCK 64u

/*
 * Dynamic thresholds (A. K. Choudhury and E. L. Hahne, "Dynamic Queue Length Thresholds for
 * Shared-Memory Packet Switches", 1998): in each stripe a metric may hold as much as is free. One
 * metric alone gets half of the table, two greedy ones a third each; the rest is for later ones. A
 * begin beyond is refused.
 *
 * Held entries are counted by share, a small number that a metric gets at its first begin. With
 * more metrics than shares, some share one.
 */
#define CREST_IN_FLIGHT_SHARES 256u

/* A keyed series, of a timer or of stages, in which operations are begun. Never goes away. */
typedef struct crest_keyed {
    crest_timer *timer; /* the library's handle */
    crest_metric *metric;
    const crest_series *series; /* the child's first */
    uint64_t deadline_ns;       /* 0: none */
    unsigned stage_count;       /* 0: a timer */
    uint32_t share;             /* its metric's share */
    uint64_t closed;            /* refuses begins: see crest_in_flight_close */
    uint64_t hash;              /* start of its operations' hashes */
    /* stages: each one's histograms, gaps and then times since the start */
    crest_histogram **histograms;
} crest_keyed;

/* An operation in flight, as it was at some moment of the call. */
typedef struct crest_in_flight_seen {
    crest_keyed *keyed;
    crest_op op;
    uint64_t age_ns;
    unsigned stages; /* marked last, from 1; 0: none */
} crest_in_flight_seen;

/* Under the lock: the keyed series of a timer's child; NULL without memory. Its metric has a share
 * from its first keyed series on, until the share is given back. */
crest_keyed *crest_in_flight_keyed_new(const crest_child *child);
void crest_in_flight_share_give(crest_metric *metric);

/*
 * The end of a keyed series, in three steps, by one thread at a time:
 *   1. close: each further begin answers CREST_LATE;
 *   2. cancel: what is in flight of all closed series is ended and recorded as `cancelled` (or
 *      `timeout`, where that was due);
 *   3. retire the series.
 * A fork between 1 and 3 leaves the series open in the child.
 *
 * crest_in_flight_close, _open: under the lock; NULL does nothing. 0 if it was closed before.
 * crest_in_flight_cancel (in_flight_walks.h): not under the lock, for it records.
 */
int crest_in_flight_close(crest_keyed *keyed);
void crest_in_flight_open(crest_keyed *keyed);

/* Whether begins are refused. Any thread, no lock. */
int crest_in_flight_is_closed(const crest_keyed *keyed);

#endif
