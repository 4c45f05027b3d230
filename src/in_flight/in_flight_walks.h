/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks over the whole table of operations in flight, without a lock: the sweep that expires
 * overdue ones, the search for room, the end of closed series' operations, and reading.
 */
#ifndef CREST_IN_FLIGHT_WALKS_H
#define CREST_IN_FLIGHT_WALKS_H

#include "instruments/keyed_series.h"

struct crest_in_flight_table;

/* Seconds after its deadline during which a late end of an operation answers that it timed out. */
#define CREST_TOMBSTONE_S 60u

/* The least time between two searches for room in a full table. */
#define CREST_IN_FLIGHT_ROOM_MS 100u

/* Expires overdue operations, and drops tombstones that are old enough. Takes no lock but, for a
 * tombstone, its stripe's. Any thread. */
void crest_in_flight_sweep(void);

/* Calls `each` for every operation in flight, without a lock. Cost: proportional to the most that
 * ever were in flight. */
void crest_in_flight_each(void (*each)(const crest_in_flight_seen *seen, void *context),
                          void *context);

/* Ends and records all operations in flight of closed series (keyed_series.h). Any thread; not
 * under the lock. */
void crest_in_flight_cancel(void);

/* For a refused begin: drops all tombstones, however new. It reads the whole table, so not too
 * often: 0, and nothing was done, when it was done just now. */
int crest_in_flight_make_room(struct crest_in_flight_table *table, uint64_t now_ns);

#endif
