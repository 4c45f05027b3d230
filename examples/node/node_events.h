/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of the example node: what becomes of a block. They are declared here, so each source
 * that emits one includes this; EVENTS.md is made of them (make event-pages). With events=on among
 * the options they are recorded, and `crest events tail` shows them, of a killed node too.
 */
#ifndef NODE_EVENTS_H
#define NODE_EVENTS_H

#include <crest/event.h>

CREST_EVENT(block_received, "rchain.casper.block-received", CREST_INFO,
            "A block came from a peer or out of the store, and is looked at.", (bytes, hash, 32),
            (u64, size), (bool, stored));
CREST_EVENT(block_added, "rchain.casper.block-added", CREST_INFO,
            "A block executed on its parent's state as it says, and is on the DAG.",
            (bytes, hash, 32), (u64, height), (u64, deploys));
CREST_EVENT(block_rejected, "rchain.casper.block-rejected", CREST_WARNING,
            "A block did not execute, or not as it says, and is left out.", (bytes, hash, 32),
            (text, why, 80));
CREST_EVENT(block_building, "rchain.casper.block-building", CREST_INFO,
            "It is this node's turn, and it begins to make a block.", (u64, slot),
            (u64, waiting_deploys));
CREST_EVENT(block_built, "rchain.casper.block-built", CREST_INFO,
            "The block of this node's turn is made, and not handed out yet.", (bytes, hash, 32),
            (u64, slot), (u64, height));
CREST_EVENT(block_proposed, "rchain.casper.block-proposed", CREST_INFO,
            "This node handed its block out to its peers.", (bytes, hash, 32), (u64, slot),
            (u64, deploys));
CREST_EVENT(block_finalised, "rchain.casper.block-finalised", CREST_NOTICE,
            "All other nodes support a block that this one proposed.", (bytes, hash, 32),
            (u64, height), (double, took_seconds));
CREST_EVENT(block_orphaned, "rchain.casper.block-orphaned", CREST_WARNING,
            "A block of this node is on a fork that lost.", (bytes, hash, 32), (u64, slot));

#endif
