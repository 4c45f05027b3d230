/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed series: what operations are begun in, and how much of the table of operations in flight
 * each metric may have. The table itself is in in_flight_table.h.
 */
#ifndef CREST_KEYED_SERIES_H
#define CREST_KEYED_SERIES_H

#include "registry/metric_inside.h"

/* Operations in flight and tombstones, of all metrics. Ids are spread over shards by their hash,
 * and each shard has room for as many; memory comes in blocks. */
#define CREST_IN_FLIGHT_MAX 131072u
#define CREST_IN_FLIGHT_SHARDS 64u
#define CREST_IN_FLIGHT_BLOCK 64u

/*
 * Who may have how much of it: a metric no more than is free, in each shard (dynamic thresholds:
 * A. K. Choudhury and E. L. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet
 * Switches", 1998). One metric alone gets half of the table, two that take what they can get a
 * third each; what is left is for those that come later. A begin beyond is refused.
 *
 * Held is counted by share, a small number that a metric has from its first begin on. Of more
 * metrics than shares some have one together.
 */
#define CREST_IN_FLIGHT_SHARES 256u

/* What operations are begun in: a keyed series, of a timer or of stages. Never goes away. */
typedef struct crest_keyed {
    crest_timer *timer; /* the library's handle */
    crest_metric *metric;
    uint64_t deadline_ns; /* 0: none */
    unsigned stage_count; /* 0: a timer */
    uint32_t share;       /* its metric's */
    uint64_t closed;      /* nothing can begin in it: see crest_in_flight_close */
    uint64_t hash;        /* that its operations' hashes begin with */
    /* stages: the histograms of each, gaps and then times since the start */
    crest_histogram **histograms;
} crest_keyed;

/* One operation in flight, as it was at some moment of the call. */
typedef struct crest_in_flight_seen {
    crest_keyed *keyed;
    crest_op op;
    uint64_t age_ns;
    unsigned stages; /* marked last, from 1; 0: none */
} crest_in_flight_seen;

/* Under the lock: the keyed series of a timer's child; NULL without memory. Its metric has a share
 * from its first one on, until it is given back. */
crest_keyed *crest_in_flight_keyed_new(const crest_child *child);
void crest_in_flight_share_give(crest_metric *metric);

/*
 * The end of a keyed series, in three steps, which one thread at a time takes: it is closed, so
 * that each further begin answers CREST_LATE; what is in flight of all that are closed is ended,
 * recorded as `cancelled` (or `timeout`, where that was due); and the series is retired. A fork
 * between the first step and the last leaves it open in the child.
 *
 * crest_in_flight_close, _open: under the lock; NULL does nothing. 0 if it was closed before.
 * crest_in_flight_cancel (in_flight_walks.h): not under the lock, for it records.
 */
int crest_in_flight_close(crest_keyed *keyed);
void crest_in_flight_open(crest_keyed *keyed);

/* Whether nothing can begin in it. Any thread, no lock. */
int crest_in_flight_is_closed(const crest_keyed *keyed);

#endif
