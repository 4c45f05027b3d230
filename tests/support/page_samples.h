/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots that encoders of protobuf, and of OTLP, are shown: values at the edges of what their
 * numbers hold, texts that are not UTF-8, and distributions of every kind.
 */
#ifndef CREST_TEST_PAGE_SAMPLES_H
#define CREST_TEST_PAGE_SAMPLES_H

#include "support/page_fixture.h"

#include <math.h>

static const char *const peer_keys[] = {"peer", "kind"};
static const char *const outcome_keys[] = {"peer", "outcome"};

static const crest_series_view sample_value_series[] = {
    {.name = "casper.blocks-created",
     .exported = "casper_blocks_created",
     .description = "Blocks this node proposed.",
     .kind = CREST_KIND_COUNTER,
     .counter = 0},
    {.name = "comm.messages",
     .exported = "comm_messages",
     .description = "Messages \xff sent.\nTwo \"lines\" \\.",
     .kind = CREST_KIND_COUNTER,
     .label_count = 2,
     .label_keys = peer_keys,
     .label_values = VALUES("node-1", "caf\xc3\xa9 \"\\\n"),
     .counter = UINT64_C(9007199254740993)},
    {.name = "comm.messages",
     .exported = "comm_messages",
     .kind = CREST_KIND_COUNTER,
     .label_count = 2,
     .label_keys = peer_keys,
     .label_values = VALUES("\xe2\x82", ""),
     .counter = UINT64_MAX},
    {.name = "comm.peers",
     .exported = "comm_peers",
     .description = "",
     .kind = CREST_KIND_GAUGE,
     .gauge = -0.0},
    {.name = "comm.ratio",
     .exported = "comm_ratio",
     .description = "Not a number.",
     .kind = CREST_KIND_GAUGE,
     .gauge = NAN},
    {.name = "disk.time",
     .exported = "disk_time",
     .description = "In seconds.",
     .kind = CREST_KIND_COUNTER,
     .unit = CREST_MICROSECONDS,
     .counter = UINT64_C(9007199254740993)},
    {.name = "process.cpu",
     .exported = "process_cpu",
     .description = "What every client of Prometheus has.",
     .kind = CREST_KIND_COUNTER,
     .unit = CREST_NANOSECONDS,
     .counter = 1500000000},
    {.name = "queue.depth",
     .exported = "queue_depth",
     .description = "Goes below zero.",
     .kind = CREST_KIND_RANGE_SAMPLER,
     .current = -3,
     .window = {.covered_s = 60, .minimum = -5, .average = 0.5, .maximum = 7}},
};

static const crest_snapshot sample_values = {sample_value_series, LENGTH(sample_value_series), 0,
                                             1600000000, 0};

/* ---- distributions ---- */

static const crest_bucket time_buckets[] = {{0, 0, 2},
                                            {4990000, 5010000, 1},
                                            {10000000, 10080000, 2},
                                            {10100000, 10180000, 3},
                                            {13000000, 13080000, 4},
                                            {UINT64_C(11000000000), 11080000000u, 1}};
static const crest_bucket size_buckets[] = {{512, 515, 4}, {516, 519, 5}};
static const crest_bucket huge_buckets[] = {{1, 1, UINT64_MAX - 1}, {2, 2, 1}};
static const crest_bucket long_buckets[] = {{1, 1, UINT64_C(9007199254740993)},
                                            {1000, 1003, INT64_MAX - UINT64_C(9007199254740993)}};
static const crest_distribution times = {UINT64_C(9007199254740993), time_buckets,
                                         LENGTH(time_buckets)};
static const crest_distribution sizes = {4700, size_buckets, LENGTH(size_buckets)};
static const crest_distribution huge = {UINT64_MAX, huge_buckets, LENGTH(huge_buckets)};
static const crest_distribution most = {UINT64_MAX, long_buckets, LENGTH(long_buckets)};
static const crest_distribution none;

static const double sample_bounds[] = {0, 1, 515.5, 516, 1e6};
static const crest_buckets sample_buckets = {sample_bounds, LENGTH(sample_bounds)};

/* Their windows: sample_distributions's. */
static crest_series_view sample_distribution_series[] = {
    {.name = "a.depth",
     .exported = "a_depth",
     .description = "Nothing recorded.",
     .kind = CREST_KIND_HISTOGRAM,
     .buckets = &sample_buckets,
     .distribution = &none},
    {.name = "a.missing",
     .exported = "a_missing",
     .description = "No distribution, so that nothing native is known.",
     .kind = CREST_KIND_HISTOGRAM,
     .unit = CREST_RATIO},
    {.name = "b.huge",
     .exported = "b_huge",
     .description = "More than differences can say.",
     .kind = CREST_KIND_HISTOGRAM,
     .buckets = &sample_buckets,
     .distribution = &huge},
    {.name = "b.most",
     .exported = "b_most",
     .description = "As much as they can.",
     .kind = CREST_KIND_HISTOGRAM,
     .buckets = &sample_buckets,
     .distribution = &most},
    {.name = "casper.block-size",
     .exported = "casper_block_size",
     .description = "Bytes of blocks.",
     .kind = CREST_KIND_HISTOGRAM,
     .unit = CREST_BYTES,
     .buckets = &sample_buckets,
     .distribution = &sizes},
    {.name = "comm.ping",
     .exported = "comm_ping",
     .description = "Round trips.",
     .kind = CREST_KIND_TIMER,
     .label_count = 2,
     .label_keys = outcome_keys,
     .label_values = VALUES("node-1", "ok"),
     .buckets = &crest_buckets_default,
     .distribution = &times},
    {.name = "comm.ping",
     .exported = "comm_ping",
     .kind = CREST_KIND_TIMER,
     .label_count = 2,
     .label_keys = outcome_keys,
     .label_values = VALUES("node-2", "ok"),
     .buckets = &crest_buckets_default,
     .distribution = &times},
};

/* The last two are a timer's, whose windows know their slowest operations. */
__attribute__((unused)) static const crest_snapshot *sample_distributions(void)
{
    static const crest_snapshot sample = {sample_distribution_series,
                                          LENGTH(sample_distribution_series), 0, 1600000000, 0};
    crest_series_view *timer = &sample_distribution_series[LENGTH(sample_distribution_series) - 2];
    timer[0].window = (crest_window){.covered_s = 60,
                                     .per_second = 2.5,
                                     .events = 150,
                                     .maximum = 11080000000.0,
                                     .slowest = crest_op_u64x2(1, 2)};
    timer[1].window = (crest_window){
        .covered_s = 60, .events = 1, .maximum = 4990000, .slowest = crest_op_u64x2(3, 4)};
    return &sample;
}

#endif
