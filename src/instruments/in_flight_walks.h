/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks over all that is in flight, without a lock: the sweep that expires what is overdue, the
 * search for room, the end of what is in flight of closed series, and reading.
 */
#ifndef CREST_IN_FLIGHT_WALKS_H
#define CREST_IN_FLIGHT_WALKS_H

#include "instruments/keyed_series.h"

struct crest_in_flight_table;

/* For so long after its deadline an operation's late end is told that it timed out. */
#define CREST_TOMBSTONE_S 60u

/* The least time between two searches for room in a table that is full. */
#define CREST_IN_FLIGHT_ROOM_MS 100u

/* Expires what is overdue, and drops tombstones that are old enough. Takes no lock but, for a
 * tombstone, its shard's. Any thread. */
void crest_in_flight_sweep(void);

/* Calls for each operation in flight, without a lock. Cost: proportional to the most that ever were
 * in flight. */
void crest_in_flight_each(void (*each)(const crest_in_flight_seen *seen, void *context),
                          void *context);

/* Ends all that is in flight of closed series (keyed_series.h), and records it. Any thread; not
 * under the lock. */
void crest_in_flight_cancel(void);

/* A begin was refused; whatever has expired goes, however lately. Not too often,
 * for it reads all of the table; 0 when it was done just now. */
int crest_in_flight_make_room(struct crest_in_flight_table *table, uint64_t now_ns);

#endif
