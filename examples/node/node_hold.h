/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `hold`: the node stops in the middle of its next block, as one whose disk does not
 * answer any more, so that it can be killed there and its books compared to the last count. Not for
 * a node that is in use.
 *
 *  1. main asks (hold_ask).
 *  2. The worker finds that in its next block (hold_in_block), and waits from there on.
 *  3. The threads of network and load find it at the top of their loops (hold_here), and wait.
 *  4. When all of them do, hold_reached is true: no plain variable of the node changes any more.
 *  5. hold_release lets all of them go on.
 */
#ifndef NODE_HOLD_H
#define NODE_HOLD_H

#include "node_base.h"

#include <stdbool.h>

void hold_ask(void);
/* A thread more that calls hold_here; before it is started. */
void hold_expect(void);
/* Waits here while the node is held; else at once back. */
void hold_here(void);
/* The same, in the block of this slot: if that is asked for, the node is held from now on. */
void hold_in_block(uint64_t slot);
/* All threads wait: true, with the block's slot and for how long it has been waiting. */
bool hold_reached(uint64_t *slot, uint64_t *ns);
void hold_release(void);

#endif
