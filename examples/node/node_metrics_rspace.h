/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of team rspace. Comm events of the ledger.
 *
 * Generated from rspace.metrics.yaml by crest catalogue: change that file and generate this one
 * again.
 *
 * Sources that record include it. One of them defines what it declares:
 *
 *     #define RSPACE_METRICS_DEFINE
 *     #include "node_metrics_rspace.h"
 */
/* clang-format off */
#ifndef NODE_METRICS_RSPACE_H
#define NODE_METRICS_RSPACE_H

#include <crest/crest.h>

/*
 * rchain.rspace.comm.produce, counter: Produce halves of comm events, while executing a block
 * being proposed.
 */
CREST_COUNTER_DECLARE(comm_produce);

/*
 * rchain.rspace.comm.consume, counter: Consume halves of comm events, while executing a block
 * being proposed.
 */
CREST_COUNTER_DECLARE(comm_consume);

/*
 * rchain.rspace.replay.comm.produce, counter: Produce halves of comm events, while validating a
 * peer's block.
 */
CREST_COUNTER_DECLARE(replay_produce);

/*
 * rchain.rspace.replay.comm.consume, counter: Consume halves of comm events, while validating a
 * peer's block.
 */
CREST_COUNTER_DECLARE(replay_consume);

#endif

#ifdef RSPACE_METRICS_DEFINE
#undef RSPACE_METRICS_DEFINE

CREST_COUNTER_DEFINE(
    comm_produce, "rchain.rspace.comm.produce",
    "Produce halves of comm events, while executing a block being proposed.");
CREST_COUNTER_DEFINE(
    comm_consume, "rchain.rspace.comm.consume",
    "Consume halves of comm events, while executing a block being proposed.");
CREST_COUNTER_DEFINE(
    replay_produce, "rchain.rspace.replay.comm.produce",
    "Produce halves of comm events, while validating a peer's block.");
CREST_COUNTER_DEFINE(
    replay_consume, "rchain.rspace.replay.comm.consume",
    "Consume halves of comm events, while validating a peer's block.");

#endif
