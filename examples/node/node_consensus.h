/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consensus: votes, the support a block has, and how long it takes to get it. The support of a
 * block is the fraction of the other nodes (all but its proposer) whose vote has been seen; its
 * levels are 0 (made, stored and handed to the network), 1/3 and 1. Measured at the proposer, three
 * times over:
 *
 *   - by Crest, with one token for each level bound to the block's hash and kept in the block;
 *   - in plain variables, exactly: the truth to compare with;
 *   - the naive way, with one start time for "the block", to show what that gives.
 *
 * Used by the worker only, but for consensus_unsettled.
 */
#ifndef NODE_CONSENSUS_H
#define NODE_CONSENSUS_H

#include "node_chain.h"

/* Votes that came before their block, remembered. */
#define CONSENSUS_EARLY_MAX 512u

void consensus_open(unsigned nodes);

/* A proposal is made or has been received: where the naive way sets its start time. */
void consensus_proposal(void);

/* This node's own block: it has its hash; it is stored and handed to the network. */
void consensus_begin(chain_block *own);
void consensus_handed_out(chain_block *own);

/* A vote for a block, or for a hash whose block has not come yet; consensus_early gives those to
 * it. */
void consensus_vote(chain_block *b, unsigned voter);
void consensus_vote_early(const uint8_t hash[NODE_HASH_BYTES], unsigned voter);
void consensus_early(chain_block *b);

/* For chain_open. */
void consensus_orphaned(chain_block *b);
void consensus_forgotten(chain_block *b);

/* Own blocks that are still timed. Any thread. */
unsigned consensus_unsettled(void);
/* Ends what is still timed as cancelled. */
void consensus_close(void);

/* Blocks of this node that every peer has voted for. */
uint64_t consensus_finalised(void);
void consensus_report(report *r);

#endif
