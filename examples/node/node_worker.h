/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker: one thread that takes messages from the inbound queue, keeps pool, chain and store,
 * and between messages does what is due by the clock (node_turns.h).
 */
#ifndef NODE_WORKER_H
#define NODE_WORKER_H

#include "node_options.h"
#include "node_report.h"

/* Opens chain and store and starts the thread; false after a message that says why. */
bool worker_open(const node_options *options);

/* Handles what is left in the queue, ends the thread, closes chain and store. The totals stay. */
void worker_close(void);

void worker_report(report *r);

#endif
