/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruments of prometheus-cpp as one interface: how one is made, the timed operation, and its
 * value afterwards. All of it is the library's public interface, and what its example
 * (https://github.com/jupp0r/prometheus-cpp/blob/v1.0.1/pull/tests/integration/sample_server.cc)
 * says is fast: "add and remember dimensional data, incrementing those is very cheap".
 */
#ifndef BENCH_PROMETHEUS_CPP_KINDS_H
#define BENCH_PROMETHEUS_CPP_KINDS_H

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

/* What a metric was left with; each kind knows some of it. */
struct kind_left {
    uint64_t count = 0, sum = 0, last = 0;
    uint64_t buckets = 0; /* of each value the number of its bucket, from 1, added up */
};

/* Names of what a kind can be asked afterwards. */
enum kind_says : unsigned { KIND_COUNT = 1, KIND_SUM = 2, KIND_LAST = 4, KIND_BUCKETS = 8 };

struct counter_kind {
    using metric = prometheus::Counter;
    static constexpr const char *name = "counter";
    static constexpr unsigned says = KIND_COUNT, objects = 8;
    static constexpr uint64_t times = 1 << 17;
    static auto build() { return prometheus::BuildCounter(); }
    static metric &add(prometheus::Family<metric> &family, const prometheus::Labels &labels,
                       const std::vector<double> &)
    {
        return family.Add(labels);
    }
    static void record(metric &counter, double) { counter.Increment(); }
    static kind_left left(const metric &counter)
    {
        kind_left left;
        left.count = uint64_t(counter.Value());
        return left;
    }
};

struct gauge_kind {
    using metric = prometheus::Gauge;
    static constexpr const char *name = "gauge";
    static constexpr unsigned says = KIND_LAST, objects = 8;
    static constexpr uint64_t times = 1 << 17;
    static auto build() { return prometheus::BuildGauge(); }
    static metric &add(prometheus::Family<metric> &family, const prometheus::Labels &labels,
                       const std::vector<double> &)
    {
        return family.Add(labels);
    }
    static void record(metric &gauge, double value) { gauge.Set(value); }
    static kind_left left(const metric &gauge)
    {
        kind_left left;
        left.last = uint64_t(gauge.Value());
        return left;
    }
};

struct histogram_kind {
    using metric = prometheus::Histogram;
    static constexpr const char *name = "histogram";
    static constexpr unsigned says = KIND_COUNT | KIND_SUM | KIND_BUCKETS, objects = 4;
    static constexpr uint64_t times = 1 << 16;
    static auto build() { return prometheus::BuildHistogram(); }
    static metric &add(prometheus::Family<metric> &family, const prometheus::Labels &labels,
                       const std::vector<double> &bounds)
    {
        return family.Add(labels, bounds);
    }
    static void record(metric &histogram, double value) { histogram.Observe(value); }
    static kind_left left(const metric &histogram)
    {
        prometheus::ClientMetric collected = histogram.Collect();
        kind_left left;
        left.count = collected.histogram.sample_count;
        left.sum = uint64_t(collected.histogram.sample_sum);
        uint64_t number = 0, below = 0;
        for (const auto &bucket : collected.histogram.bucket) {
            left.buckets += ++number * (bucket.cumulative_count - below);
            below = bucket.cumulative_count;
        }
        return left;
    }
};

/* The library has no timer; this is what takes its place: the same clock Crest falls back to. */
struct timer_kind : histogram_kind {
    static constexpr const char *name = "timer";
    static constexpr unsigned says = KIND_COUNT;
    static constexpr uint64_t times = 1 << 14;
    static void record(metric &histogram, double)
    {
        auto start = std::chrono::steady_clock::now();
        std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
        histogram.Observe(double(took.count()));
    }
};

#endif
