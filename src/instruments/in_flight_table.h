/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations in flight: what crest_timer_begin and crest_stages_begin have begun and nobody has
 * ended yet, by instrument and operation. It knows ids, times and deadlines; what an instrument is
 * and how it is found is in keyed_timers.c, what is exported of it in in_flight_figures.c.
 *
 * Each operation ends once: its entry's state word goes from begun to ended or expired by one
 * compare-and-swap, and only who did that records. An expired entry stays for a while as a
 * tombstone, so that a late end is told from one that never began.
 */
#ifndef CREST_IN_FLIGHT_TABLE_H
#define CREST_IN_FLIGHT_TABLE_H

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

/* For so long after its deadline an operation's late end is told that it timed out. */
#define CREST_TOMBSTONE_S 60u

/* The least time between two searches for room in a table that is full. */
#define CREST_IN_FLIGHT_ROOM_MS 100u

/* What operations are begun in: a keyed series, of a timer or of stages. Never goes away. */
typedef struct crest_keyed {
    crest_timer *timer; /* the library's handle */
    struct crest_metric *metric;
    uint64_t deadline_ns; /* 0: none */
    unsigned stage_count; /* 0: a timer */
    uint32_t share;       /* its metric's */
    uint64_t closed;      /* nothing can begin in it: see crest_in_flight_close */
    uint64_t hash;        /* that its operations' hashes begin with */
    /* stages: the histograms of each, gaps and then times since the start */
    crest_histogram **histograms;
} crest_keyed;

/*
 * The calls of <crest/in_flight.h> and <crest/stages.h>, for a series that uses them and an op
 * that is one.
 * They return what those return, but count no misuse. Any thread; not for signal handlers.
 */
crest_status crest_in_flight_begin(crest_keyed *keyed, const crest_op *op);
crest_status crest_in_flight_begin_owned(crest_keyed *keyed, const crest_op *op,
                                         const crest_op *owner);
crest_status crest_in_flight_mark(crest_keyed *keyed, const crest_op *op, unsigned stage);
crest_status crest_in_flight_end(crest_keyed *keyed, const crest_op *op, crest_outcome outcome);

/* Ends all operations in flight of this owner under the outcome; returns how many. */
size_t crest_in_flight_end_owned(const crest_op *owner, crest_outcome outcome);

/* Expires what is overdue, and drops tombstones that are old enough. Takes no lock but, for a
 * tombstone, its shard's. Any thread. */
void crest_in_flight_sweep(void);

/* One operation in flight, as it was at some moment of the call. */
typedef struct crest_in_flight_seen {
    crest_keyed *keyed;
    crest_op op;
    uint64_t age_ns;
    unsigned stages; /* marked last, from 1; 0: none */
} crest_in_flight_seen;

/* Calls for each operation in flight, without a lock. Cost: proportional to the most that ever were
 * in flight. */
void crest_in_flight_each(void (*each)(const crest_in_flight_seen *seen, void *context),
                          void *context);

/* Under the lock: the keyed series of a timer's child; NULL without memory. Its metric has a share
 * from its first one on, until it is given back. */
crest_keyed *crest_in_flight_keyed_new(const struct crest_child *child);
void crest_in_flight_share_give(struct crest_metric *metric);

/*
 * The end of a keyed series, in three steps, which one thread at a time takes: it is closed, so
 * that each further begin answers CREST_LATE; what is in flight of all that are closed is ended,
 * recorded as `cancelled` (or `timeout`, where that was due); and the series is retired. A fork
 * between the first step and the last leaves it open in the child.
 *
 * crest_in_flight_close, _open: under the lock; NULL does nothing. 0 if it was closed before.
 * crest_in_flight_cancel: not under the lock, for it records.
 */
int crest_in_flight_close(crest_keyed *keyed);
void crest_in_flight_open(crest_keyed *keyed);
void crest_in_flight_cancel(void);

#endif
