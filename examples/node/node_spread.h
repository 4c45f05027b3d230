/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How blocks get around, measured across processes: at each receiver, how long a block was under
 * way; at its proposer, when 99 % of the nodes had it. Both compare times of two machines, so both
 * are corrected by the estimate of the other machine's clock (<crest/peer_clock.h>).
 *
 *     spread_hand_out(block);                        the proposer: stamp it, send it to all
 *     spread_come(message, &envelope, bytes, …);     a receiver: record it, and tell the proposer
 *     spread_have(from, &have);                      the proposer: one node more had it
 *
 * A block that was requested because it was missing is old: its propagation is not measured, but
 * its arrival is reported. Used by the worker only.
 */
#ifndef NODE_SPREAD_H
#define NODE_SPREAD_H

#include <crest/coverage.h>

#include "node_chain.h"
#include "node_inbox.h"
#include "node_options.h"

/* Nodes of a hundred that are enough. */
#define SPREAD_COVERAGE_PERCENT 99u
/* After this long it is a timeout. */
#define SPREAD_PATIENCE_NS (60 * NODE_NS_PER_S)
/* Own blocks that may be on their way at a time; one more is not waited for. */
#define SPREAD_WATCHED_MAX CREST_COVERAGE_IN_FLIGHT_MAX

void spread_open(const node_options *options);

/* Stamps this node's own block, sends it to every peer, and waits for them to have it. */
void spread_hand_out(const chain_block *own);

/* A block of this hash and encoding has come, for the first time, in message m. envelope: what it
 * travelled in, NULL for a requested block. */
void spread_come(const inbox_message *m, const wire_envelope *envelope, const uint8_t *bytes,
                 size_t size, const uint8_t hash[NODE_HASH_BYTES]);

/* A peer says when it had a block of this node. */
void spread_have(unsigned from, const wire_have *have);

/* Gives up what takes too long. */
void spread_due(uint64_t now_ns);

/* What is still on its way ends as cancelled. */
void spread_close(void);

void spread_report(report *r);

#endif
