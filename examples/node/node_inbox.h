/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inbound queue: messages from peers and from the node's own load, waiting for the worker.
 * Bounded; a message that finds it full is dropped and counted. Its depth is measured twice, to
 * compare: in a histogram at each enqueue, and by a gauge that a thread sets once a second
 * (inbox_sample).
 */
#ifndef NODE_INBOX_H
#define NODE_INBOX_H

#include "node_report.h"
#include "node_wire.h"

/* `from` of what the node's own load made. */
#define INBOX_SELF (-1)

typedef struct inbox_message {
    int from; /* index of the peer, or INBOX_SELF */
    wire_type type;
    uint64_t arrived_ns; /* node_now_ns */
    uint64_t come_ns;    /* the same moment by the wall clock */
    uint64_t apart_ns;   /* and how far the two may be apart */
    size_t size;
    uint8_t bytes[];
} inbox_message;

void inbox_open(unsigned capacity);

/* Copies the message in; false when it was dropped. Any thread. */
bool inbox_push(int from, wire_type type, const void *bytes, size_t size);

/* The next message, for the caller to free, or NULL when none came before the deadline
 * (node_now_ns). One thread. */
inbox_message *inbox_pop(uint64_t deadline_ns);

/* Wakes the worker to check its condition again. Any thread. */
void inbox_wake(void);

/* The naive way: looks at the queue now and sets the gauge. Called once a second by the main
 * thread, which has nothing else to do. */
void inbox_sample(void);

/* How many messages wait now. Any thread. */
unsigned inbox_waiting(void);

/* The deepest the queue has ever been. */
uint64_t inbox_deepest(void);

void inbox_close(void);
void inbox_report(report *r);

#endif
