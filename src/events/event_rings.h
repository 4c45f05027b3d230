/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of this process: a mapped file of them, and which thread has which. The protocol of one
 * ring is event_ring.h's.
 *
 * A ring belongs to a thread's table of cells (cells/cells.h) and goes with it: to the thread
 * itself, and when that has ended to the next one that gets the table. The ring says from which
 * position on it is whose. A thread whose table has ended, a child of a fork, and a thread beyond
 * the number of rings have none: what they emit is counted as refused.
 *
 * Fork: where the mapping is, is known by a word that the kernel zeroes in every child, so that no
 * child ever writes into its parent's rings.
 */
#ifndef CREST_EVENT_RINGS_H
#define CREST_EVENT_RINGS_H

#include "base/atomic.h"
#include "events/event_ring.h"

#include <crest/event.h>

/* The mapping; all zero while there is none, and in a child. */
typedef struct crest_event_mapping {
    crest_event_file_header *header; /* NULL: none; stored last */
    uint64_t offset, stride, size;   /* of rings; `size` of a ring's events */
    uint64_t epoch;                  /* of this mapping: threads' numbers are its */
    int file;                        /* descriptor */
} crest_event_mapping;

/* The mapping; NULL while there is none, and in a child. Any thread, any handler. */
crest_event_mapping *crest_event_mapping_now(void);

/* Maps the file, whose header is filled and whose pages of header and directory are there. 0
 * without memory. Under the list's lock. */
int crest_event_rings_map(int file, uint64_t bytes);

/* The ring with this number, below rings_given. */
crest_event_ring *crest_event_ring_of(const crest_event_mapping *mapping, uint64_t number);

/* The calling thread's ring, and its size; NULL: it has none. *table: its table, or NULL. Any
 * thread, any handler. */
struct crest_thread_table;
crest_event_ring *crest_event_ring_own(uint64_t *size, const struct crest_thread_table **table);

/* For tests: rings that are made from now on begin at this position, a multiple of their size, with
 * this many events before. */
void crest_event_rings_begin_at(uint64_t position, uint64_t events);

/* Counts an event that found no ring. */
void crest_event_ring_refused(uint64_t bytes);

#endif
