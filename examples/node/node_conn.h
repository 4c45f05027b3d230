/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One TCP connection: bytes in, cut into frames; messages out, each with the timing of its own
 * sending. Knows nothing of what the messages mean. A connection belongs to the net thread; only
 * conn_send may be called from others.
 */
#ifndef NODE_CONN_H
#define NODE_CONN_H

#include <crest/crest.h>
#include <pthread.h>

#include "node_report.h"
#include "node_wire.h"

/* Messages that may wait for one connection; more are dropped and counted. */
#define CONN_OUT_MAX 32768u

/* What sending to one peer is measured by: resolved once, kept with the peer. */
typedef struct conn_meter {
    crest_timer *send_time;
    report_timer sent[CREST_OUTCOME_COUNT];
} conn_meter;

typedef struct conn_out conn_out;

typedef struct conn {
    int fd; /* -1: closed */
    conn_meter *meter;
    uint8_t *in;
    size_t in_used;
    pthread_mutex_t lock; /* guards what follows, and fd and meter for other threads */
    conn_out *out_first, *out_last;
    unsigned out_count;
    uint64_t out_sequence;
} conn;

typedef enum conn_state { CONN_OPEN, CONN_ENDED, CONN_MALFORMED } conn_state;

/* Handles one frame; false when no correct peer sends it. */
typedef bool conn_frame_fn(void *context, wire_type type, const uint8_t *payload, size_t size);

void conn_init(conn *c);
/* Takes the descriptor, which must not block. */
void conn_use(conn *c, int fd);
/* The peer is known: what is sent from here on is timed. */
void conn_measure(conn *c, conn_meter *meter);
/* Closes and forgets what was not sent, which is timed with the outcome. */
void conn_close(conn *c, crest_outcome outcome);
void conn_fini(conn *c);

/* Puts a message into the queue; false, and counted, when that is full or the connection is closed.
 * Any thread. */
bool conn_send(conn *c, wire_type type, const void *payload, size_t size);
/* Counts a message that could not even be queued. Any thread. */
void conn_count_dropped(void);
/* Something waits to be written. */
bool conn_waiting(conn *c);
/* Writes what the kernel takes. */
conn_state conn_write(conn *c);
/* Reads what there is and hands every whole frame to `frame`. */
conn_state conn_read(conn *c, conn_frame_fn *frame, void *context);

/* The counts of all connections: call when the net has stopped. */
void conn_report(report *r);

#endif
