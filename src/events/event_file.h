/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of events of this process: making it, its directory, its heartbeat and its end.
 */
#ifndef CREST_EVENT_FILE_H
#define CREST_EVENT_FILE_H

#include "events/event_known.h"
#include "state/state_place.h"

/* What the options ask for; zero is the default everywhere. */
typedef struct crest_events_wish {
    crest_state_wish place; /* dir NULL: beside the state file, or without one in memory only */
    uint64_t ring_bytes;    /* of a thread's ring; a power of two in the bounds of event_format.h */
    uint64_t rings;         /* threads at a time, at most CREST_EVENT_RINGS_MAX */
} crest_events_wish;

#define CREST_EVENT_RING_BYTES_DEFAULT (UINT64_C(1) << 16)
#define CREST_EVENT_RINGS_DEFAULT 64u

/*
 * Begins writing events: makes the file, describes what is known in it, gives every event its word.
 * After a stop the same file goes on. CREST_ALREADY when events are written already; otherwise a
 * status with a sentence, and nothing is written. Thread-safe; not for handlers.
 */
crest_status crest_events_begin(const crest_events_wish *wish, crest_error *error);

/* Ends it: events are off, and the file says farewell. */
void crest_events_end(void);

/* A listener of ticks: the file's heartbeat. */
void crest_events_beat(void);

/* The file's descriptor; -1 without one. Where it is: "" in memory only. Any thread. */
int crest_events_descriptor(void);
const char *crest_events_path(void);

#endif
