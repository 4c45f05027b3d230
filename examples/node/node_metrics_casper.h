/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of team casper. Deploys from their offer to their block, blocks from their proposal to
 * full support.
 *
 * Generated from casper.metrics.yaml by crest catalogue: change that file and generate this one
 * again.
 *
 * Sources that record include it. One of them defines what it declares:
 *
 *     #define CASPER_METRICS_DEFINE
 *     #include "node_metrics_casper.h"
 */
/* clang-format off */
#ifndef NODE_METRICS_CASPER_H
#define NODE_METRICS_CASPER_H

#include <crest/crest.h>

/* rchain.block-api.deploys-offered, counter: Deploys the load schedule called for. */
CREST_COUNTER_DECLARE(deploys_offered);

/* rchain.casper.transfers-offered, counter: Transfers in the deploys offered. */
CREST_COUNTER_DECLARE(transfers_offered);

/* rchain.block-api.deploys-received, counter: Deploys accepted from the load and gossiped. */
CREST_COUNTER_DECLARE(deploys_received);

/*
 * rchain.block-api.deploys-refused, counter: Deploys from the load refused because too many were
 * waiting.
 */
CREST_COUNTER_DECLARE(deploys_refused);

/* rchain.casper.node-join-time, timer: From the start until the first block is in the chain. */
CREST_TIMER_DECLARE(node_join_time);

/*
 * rchain.casper.casper.add-block-time, timer: Executing a peer's block again, comparing and
 * storing it.
 */
CREST_TIMER_DECLARE(add_block_time);

/* rchain.casper.blocks-invalid, counter: Blocks received that failed validation. */
CREST_COUNTER_DECLARE(blocks_invalid);

/*
 * rchain.casper.block-propagation-time, timer: From a peer handing its block to the network
 * until this node had read it whole.
 */
CREST_TIMER_DECLARE(block_propagation_time);

/*
 * rchain.casper.block-coverage-time, timer: From handing a block to the network until 99 % of
 * the nodes had it.
 */
CREST_TIMER_DECLARE(block_coverage_time);

/*
 * rchain.casper.stamps-refused, counter: Blocks, and words of their arrival, that no time can be
 * told from.
 */
CREST_COUNTER_DECLARE(stamps_refused);

/* rchain.casper.add-block.block-height, gauge: Height of the chain's tip. */
CREST_GAUGE_DECLARE(block_height);

/*
 * rchain.casper.casper.create-block-time, timer: Choosing deploys, executing, encoding and
 * hashing a block.
 */
CREST_TIMER_DECLARE(create_block_time);

/*
 * rchain.casper.casper.propose-time, keyed-timer: From the begin of a block until it is stored
 * and handed to the network.
 */
CREST_TIMER_DECLARE(propose_time);

/* rchain.casper.deploys-pending, histogram: Deploys waiting when a block is built. */
CREST_HISTOGRAM_DECLARE(deploys_pending);

/*
 * rchain.casper.consensus-time, timer, by support (0, 1/3, 1): At the proposer, from a block
 * having its hash until this fraction of the other nodes has voted for it; 0 is stored and
 * handed to the network.
 */
CREST_TIMER_FAMILY_DECLARE(consensus_time, support);
typedef enum {
    CONSENSUS_TIME_SUPPORT_0 = 0,
    CONSENSUS_TIME_SUPPORT_1_3 = 1,
    CONSENSUS_TIME_SUPPORT_1 = 2,
    CONSENSUS_TIME_SUPPORT_COUNT = 3
} consensus_time_support;
#ifdef CREST_DISABLE
CREST_INLINE crest_timer *consensus_time_of(consensus_time_support support_value_)
{
    (void)support_value_;
    return consensus_time_with("");
}
#else
extern crest_timer *consensus_time_crest_all[3];
crest_timer *consensus_time_crest_one(unsigned support_);
CREST_INLINE crest_timer *consensus_time_of(consensus_time_support support_value_)
{
    crest_timer *series_ = NULL;
    unsigned support_ = support_value_;
    if (support_ < 3u)
        series_ = consensus_time_crest_all[support_];
    if (series_ != NULL)
        return series_;
    return consensus_time_crest_one(support_);
}
#endif

/*
 * rchain.casper.unbound-consensus-time, timer: The same for full support, measured with one
 * start time for whatever block it is: wrong as soon as two are in flight.
 */
CREST_TIMER_DECLARE(unbound_consensus_time);

/* rchain.casper.blocks-proposed, counter: Blocks this node proposed. */
CREST_COUNTER_DECLARE(blocks_proposed);

/*
 * rchain.casper.blocks-orphaned, counter: Blocks this node proposed that were abandoned for
 * another of the same height.
 */
CREST_COUNTER_DECLARE(blocks_orphaned);

/*
 * rchain.casper.blocks-finalised, counter: Blocks this node proposed that every peer has voted
 * for.
 */
CREST_COUNTER_DECLARE(blocks_finalised);

/* rchain.casper.deploys-finalised, counter: Deploys in this node's finalised blocks. */
CREST_COUNTER_DECLARE(deploys_finalised);

/*
 * rchain.casper.transfers-applied, counter: Transfers in this node's finalised blocks that moved
 * money.
 */
CREST_COUNTER_DECLARE(transfers_applied);

/*
 * rchain.casper.transfers-rejected, counter: Transfers in this node's finalised blocks refused
 * for insufficient funds.
 */
CREST_COUNTER_DECLARE(transfers_rejected);

/* rchain.casper.block-size, histogram of bytes: Encoded size of the blocks this node proposed. */
CREST_HISTOGRAM_DECLARE(block_bytes);

#endif

#ifdef CASPER_METRICS_DEFINE
#undef CASPER_METRICS_DEFINE

CREST_COUNTER_DEFINE(
    deploys_offered, "rchain.block-api.deploys-offered", "Deploys the load schedule called for.");
CREST_COUNTER_DEFINE(
    transfers_offered, "rchain.casper.transfers-offered", "Transfers in the deploys offered.");
CREST_COUNTER_DEFINE(
    deploys_received, "rchain.block-api.deploys-received",
    "Deploys accepted from the load and gossiped.");
CREST_COUNTER_DEFINE(
    deploys_refused, "rchain.block-api.deploys-refused",
    "Deploys from the load refused because too many were waiting.");
CREST_TIMER_DEFINE(
    node_join_time, "rchain.casper.node-join-time",
    "From the start until the first block is in the chain.", .buckets = CREST_BUCKETS_DEFAULT);
CREST_TIMER_DEFINE(
    add_block_time, "rchain.casper.casper.add-block-time",
    "Executing a peer's block again, comparing and storing it.", .buckets = CREST_BUCKETS_FAST);
CREST_COUNTER_DEFINE(
    blocks_invalid, "rchain.casper.blocks-invalid", "Blocks received that failed validation.");
CREST_TIMER_DEFINE(
    block_propagation_time, "rchain.casper.block-propagation-time",
    "From a peer handing its block to the network until this node had read it whole.",
    .buckets = CREST_BUCKETS_FAST);
CREST_TIMER_DEFINE(
    block_coverage_time, "rchain.casper.block-coverage-time",
    "From handing a block to the network until 99 % of the nodes had it.",
    .buckets = CREST_BUCKETS_FAST);
CREST_COUNTER_DEFINE(
    stamps_refused, "rchain.casper.stamps-refused",
    "Blocks, and words of their arrival, that no time can be told from.");
CREST_GAUGE_DEFINE(
    block_height, "rchain.casper.add-block.block-height", "Height of the chain's tip.");
CREST_TIMER_DEFINE(
    create_block_time, "rchain.casper.casper.create-block-time",
    "Choosing deploys, executing, encoding and hashing a block.", .buckets = CREST_BUCKETS_FAST);
CREST_TIMER_DEFINE(
    propose_time, "rchain.casper.casper.propose-time",
    "From the begin of a block until it is stored and handed to the network.",
    .buckets = CREST_BUCKETS_FAST);
CREST_HISTOGRAM_DEFINE(
    deploys_pending, "rchain.casper.deploys-pending", "Deploys waiting when a block is built.");
CREST_TIMER_FAMILY_DEFINE(
    consensus_time, "rchain.casper.consensus-time",
    "At the proposer, from a block having its hash until this fraction of the other nodes has "
    "voted for it; 0 is stored and handed to the network.", (), support);
#ifndef CREST_DISABLE
crest_timer *consensus_time_crest_all[3];
crest_timer *consensus_time_crest_one(unsigned support_)
{
    static const char *const support_texts_[] =
        {"0", "1/3", "1"};
    return consensus_time_with(support_ < 3u ? support_texts_[support_] : "");
}
__attribute__((constructor)) static void consensus_time_crest_fill(void)
{
    for (unsigned support_ = 0; support_ < 3u; support_++)
        consensus_time_crest_all[support_] =
            consensus_time_crest_one(support_);
}
#endif
CREST_TIMER_DEFINE(
    unbound_consensus_time, "rchain.casper.unbound-consensus-time",
    "The same for full support, measured with one start time for whatever block it is: wrong as "
    "soon as two are in flight.");
CREST_COUNTER_DEFINE(
    blocks_proposed, "rchain.casper.blocks-proposed", "Blocks this node proposed.");
CREST_COUNTER_DEFINE(
    blocks_orphaned, "rchain.casper.blocks-orphaned",
    "Blocks this node proposed that were abandoned for another of the same height.");
CREST_COUNTER_DEFINE(
    blocks_finalised, "rchain.casper.blocks-finalised",
    "Blocks this node proposed that every peer has voted for.");
CREST_COUNTER_DEFINE(
    deploys_finalised, "rchain.casper.deploys-finalised",
    "Deploys in this node's finalised blocks.");
CREST_COUNTER_DEFINE(
    transfers_applied, "rchain.casper.transfers-applied",
    "Transfers in this node's finalised blocks that moved money.");
CREST_COUNTER_DEFINE(
    transfers_rejected, "rchain.casper.transfers-rejected",
    "Transfers in this node's finalised blocks refused for insufficient funds.");
CREST_HISTOGRAM_DEFINE(
    block_bytes, "rchain.casper.block-size", "Encoded size of the blocks this node proposed.",
    .unit = CREST_BYTES);

#endif
