/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of team mempool. Transactions that wait for a block.
 *
 * Generated from 28_catalogue.metrics.yaml by crest-catalogue: change that file and generate this
 * one again.
 *
 * Sources that record include it. One of them defines what it declares:
 *
 *     #define MEMPOOL_METRICS_DEFINE
 *     #include "28_catalogue_metrics.h"
 */
/* clang-format off */
#ifndef METRICS_28_CATALOGUE_METRICS_H
#define METRICS_28_CATALOGUE_METRICS_H

#include <crest/crest.h>

/*
 * mempool.transactions-received, counter, by source (peer, api): Transactions taken in; one that
 * is refused is in transactions-refused.
 */
CREST_COUNTER_FAMILY_DECLARE(transactions_received, source);

/*
 * mempool.transactions-refused, counter, by reason (invalid, full, known): Transactions turned
 * away.
 */
CREST_COUNTER_FAMILY_DECLARE(transactions_refused, reason);

/* mempool.transactions-waiting, range-sampler: Transactions in the pool. */
CREST_RANGE_SAMPLER_DECLARE(transactions_waiting);

/* mempool.transaction-size, histogram of bytes: Encoded size of what is taken in. */
CREST_HISTOGRAM_DECLARE(transaction_size);

/* mempool.validate-time, timer: Checking a signature; an invalid one is an error. */
CREST_TIMER_DECLARE(validate_time);

/* mempool.inclusion, stages: From arrival until a block has it. */
CREST_STAGES_DECLARE(inclusion);
enum {
    INCLUSION_STAGE_TAKEN = 0,
    INCLUSION_STAGE_GOSSIPED = 1,
    INCLUSION_STAGE_CHOSEN = 2
};

#endif

#ifdef MEMPOOL_METRICS_DEFINE
#undef MEMPOOL_METRICS_DEFINE

CREST_COUNTER_FAMILY_DEFINE(
    transactions_received, "mempool.transactions-received",
    "Transactions taken in; one that is refused is in transactions-refused.", (), source);
CREST_COUNTER_FAMILY_DEFINE(
    transactions_refused, "mempool.transactions-refused", "Transactions turned away.", (), reason);
CREST_RANGE_SAMPLER_DEFINE(
    transactions_waiting, "mempool.transactions-waiting", "Transactions in the pool.");
static const double transaction_size_bounds_[] = {
    128, 256, 512, 1024, 4096, 65536
};
static const crest_buckets transaction_size_buckets_ = {transaction_size_bounds_, 6};
CREST_HISTOGRAM_DEFINE(
    transaction_size, "mempool.transaction-size", "Encoded size of what is taken in.",
    .unit = CREST_BYTES, .buckets = &transaction_size_buckets_);
CREST_TIMER_DEFINE(
    validate_time, "mempool.validate-time", "Checking a signature; an invalid one is an error.",
    .buckets = CREST_BUCKETS_FAST, .quantiles = {0.5, 0.99});
CREST_STAGES_DEFINE(
    inclusion, "mempool.inclusion", "From arrival until a block has it.", .stages = {"taken",
    "gossiped", "chosen"}, .deadline_ms = 600000);

#endif
