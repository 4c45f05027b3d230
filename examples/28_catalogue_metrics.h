/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of team mempool. Transactions that wait for a block.
 *
 * Generated from 28_catalogue.metrics.yaml by crest catalogue: change that file and generate this
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
typedef enum {
    TRANSACTIONS_RECEIVED_SOURCE_PEER = 0,
    TRANSACTIONS_RECEIVED_SOURCE_API = 1,
    TRANSACTIONS_RECEIVED_SOURCE_COUNT = 2
} transactions_received_source;
#ifdef CREST_DISABLE
CREST_INLINE crest_counter *transactions_received_of(transactions_received_source source_value_)
{
    (void)source_value_;
    return transactions_received_with("");
}
#else
extern crest_counter *transactions_received_crest_all[2];
crest_counter *transactions_received_crest_one(unsigned source_);
CREST_INLINE crest_counter *transactions_received_of(transactions_received_source source_value_)
{
    crest_counter *series_ = NULL;
    unsigned source_ = source_value_;
    if (source_ < 2u)
        series_ = transactions_received_crest_all[source_];
    if (series_ != NULL)
        return series_;
    return transactions_received_crest_one(source_);
}
#endif

/*
 * mempool.transactions-refused, counter, by reason (invalid, full, known): Transactions turned
 * away.
 */
CREST_COUNTER_FAMILY_DECLARE(transactions_refused, reason);
typedef enum {
    TRANSACTIONS_REFUSED_REASON_INVALID = 0,
    TRANSACTIONS_REFUSED_REASON_FULL = 1,
    TRANSACTIONS_REFUSED_REASON_KNOWN = 2,
    TRANSACTIONS_REFUSED_REASON_COUNT = 3
} transactions_refused_reason;
#ifdef CREST_DISABLE
CREST_INLINE crest_counter *transactions_refused_of(transactions_refused_reason reason_value_)
{
    (void)reason_value_;
    return transactions_refused_with("");
}
#else
extern crest_counter *transactions_refused_crest_all[3];
crest_counter *transactions_refused_crest_one(unsigned reason_);
CREST_INLINE crest_counter *transactions_refused_of(transactions_refused_reason reason_value_)
{
    crest_counter *series_ = NULL;
    unsigned reason_ = reason_value_;
    if (reason_ < 3u)
        series_ = transactions_refused_crest_all[reason_];
    if (series_ != NULL)
        return series_;
    return transactions_refused_crest_one(reason_);
}
#endif

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
#ifndef CREST_DISABLE
crest_counter *transactions_received_crest_all[2];
crest_counter *transactions_received_crest_one(unsigned source_)
{
    static const char *const source_texts_[] =
        {"peer", "api"};
    return transactions_received_with(source_ < 2u ? source_texts_[source_] : "");
}
__attribute__((constructor)) static void transactions_received_crest_fill(void)
{
    for (unsigned source_ = 0; source_ < 2u; source_++)
        transactions_received_crest_all[source_] =
            transactions_received_crest_one(source_);
}
#endif
CREST_COUNTER_FAMILY_DEFINE(
    transactions_refused, "mempool.transactions-refused", "Transactions turned away.", (), reason);
#ifndef CREST_DISABLE
crest_counter *transactions_refused_crest_all[3];
crest_counter *transactions_refused_crest_one(unsigned reason_)
{
    static const char *const reason_texts_[] =
        {"invalid", "full", "known"};
    return transactions_refused_with(reason_ < 3u ? reason_texts_[reason_] : "");
}
__attribute__((constructor)) static void transactions_refused_crest_fill(void)
{
    for (unsigned reason_ = 0; reason_ < 3u; reason_++)
        transactions_refused_crest_all[reason_] =
            transactions_refused_crest_one(reason_);
}
#endif
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
