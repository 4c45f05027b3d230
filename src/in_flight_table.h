/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations in flight: what crest_timer_begin and crest_stages_begin have begun and nobody has
 * ended yet, by instrument and operation. It knows ids, times and deadlines; what an instrument is
 * and how it is found is in keyed.c, what is exported of it in in_flight_figures.c.
 *
 * Each operation ends once: its entry's state word goes from begun to ended or expired by one
 * compare-and-swap, and only who did that records. An expired entry stays for a while as a
 * tombstone, so that a late end is told from one that never began.
 */
#ifndef CREST_IN_FLIGHT_TABLE_H
#define CREST_IN_FLIGHT_TABLE_H

#include "registry_inside.h"

/* Operations in flight and tombstones, of all instruments; a begin beyond is refused. Memory comes
 * in blocks for each shard, so that the last few may be refused where others still have room. */
#define CREST_IN_FLIGHT_MAX 65536u
#define CREST_IN_FLIGHT_SHARDS 64u
#define CREST_IN_FLIGHT_BLOCK 64u

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
    /* stages: the histograms of each, gaps and then times since the start */
    crest_histogram *const *histograms;
} crest_keyed;

/*
 * The calls of <crest/in_flight.h> and <crest/stages.h>, for a series that uses them and an op
 * that is one.
 * They return what those return, but count no misuse. Any thread; not for signal handlers.
 */
crest_status crest_in_flight_begin(crest_keyed *keyed, const crest_op *op);
crest_status crest_in_flight_mark(crest_keyed *keyed, const crest_op *op, unsigned stage);
crest_status crest_in_flight_end(crest_keyed *keyed, const crest_op *op, crest_outcome outcome);

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

/* Drops the operations of a registry that is being freed; nothing is recorded. */
void crest_in_flight_forget(const struct crest_registry_state *state);

#endif
