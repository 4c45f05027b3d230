/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of team block-storage. The blocks on disk, in LMDB.
 *
 * Generated from block-storage.metrics.yaml by crest catalogue: change that file and generate this
 * one again.
 *
 * Sources that record include it. One of them defines what it declares:
 *
 *     #define BLOCK_STORAGE_METRICS_DEFINE
 *     #include "node_metrics_storage.h"
 */
/* clang-format off */
#ifndef NODE_METRICS_STORAGE_H
#define NODE_METRICS_STORAGE_H

#include <crest/crest.h>

/* rchain.block-storage.lmdb.put-time, timer: Opening a write transaction and putting one block. */
CREST_TIMER_DECLARE(put_time);

/*
 * rchain.block-storage.lmdb.sync-time, timer: Committing it: pages written, fdatasync, meta
 * page.
 */
CREST_TIMER_DECLARE(sync_time);

/* rchain.block-storage.lmdb.get-time, timer: One look-up of a block by its hash. */
CREST_TIMER_DECLARE(get_time);

/*
 * rchain.block-storage.lmdb.put-failed, counter: Attempts to store a block that failed; the
 * block is held and tried again.
 */
CREST_COUNTER_DECLARE(put_failed);

/*
 * rchain.block-storage.blocks-unstored, gauge: Blocks held in memory because the store would not
 * take them.
 */
CREST_GAUGE_DECLARE(blocks_unstored);

#endif

#ifdef BLOCK_STORAGE_METRICS_DEFINE
#undef BLOCK_STORAGE_METRICS_DEFINE

CREST_TIMER_DEFINE(
    put_time, "rchain.block-storage.lmdb.put-time",
    "Opening a write transaction and putting one block.", .buckets = CREST_BUCKETS_FAST);
CREST_TIMER_DEFINE(
    sync_time, "rchain.block-storage.lmdb.sync-time",
    "Committing it: pages written, fdatasync, meta page.", .buckets = CREST_BUCKETS_FAST);
CREST_TIMER_DEFINE(
    get_time, "rchain.block-storage.lmdb.get-time", "One look-up of a block by its hash.",
    .buckets = CREST_BUCKETS_FAST);
CREST_COUNTER_DEFINE(
    put_failed, "rchain.block-storage.lmdb.put-failed",
    "Attempts to store a block that failed; the block is held and tried again.");
CREST_GAUGE_DEFINE(
    blocks_unstored, "rchain.block-storage.blocks-unstored",
    "Blocks held in memory because the store would not take them.");

#endif
