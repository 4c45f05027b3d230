/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node's actions by the clock: proposing when it is its turn, and voting. Slots are counted on
 * the wall clock, so that all nodes agree whose turn it is; in every --fork-every'th slot two nodes
 * propose.
 *
 * A vote is kept back for a while that grows with the node's index: the stand-in for validators on
 * slower machines, without which on one machine all votes would come at once. The validation itself
 * is real: every block has been executed again and its balances compared before.
 *
 * Used by the worker only, but for turns_stop_proposing and turns_height.
 */
#ifndef NODE_TURNS_H
#define NODE_TURNS_H

#include "node_chain.h"
#include "node_options.h"

/* What making --blocks took, from the first deploy that the worker looked at on. */
typedef struct turns_work {
    unsigned blocks;
    uint64_t ns;     /* passed */
    uint64_t cpu_ns; /* of the whole process, all its threads */
} turns_work;

void turns_open(const node_options *options);

/* Non-zero when --blocks have been made, and *work is filled. Any thread. */
bool turns_done(turns_work *work);

/* Does what is due; returns when the next thing is. */
uint64_t turns_due(uint64_t now_ns);

/* A peer's block was validated: its vote becomes due some time later. */
void turns_plan_vote(const chain_block *b);

void turns_tip_changed(void);

/* Proposes no more; goes on voting. Any thread. */
void turns_stop_proposing(void);

/* Height of the chain's tip. Any thread. */
unsigned turns_height(void);

/* A node that never had a block has not joined. */
void turns_close(void);

void turns_report(report *r);

#endif
