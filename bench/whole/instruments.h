/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A number of Crest's metrics of one kind, with labels or without, to be recorded into one after
 * the other; and what was recorded, read back.
 */
#ifndef BENCH_INSTRUMENTS_H
#define BENCH_INSTRUMENTS_H

#include <crest/crest.h>

#include <string>
#include <vector>

class instruments
{
  public:
    /* `kind`: counter, gauge, histogram, timer or range-sampler, and `-labelled` after it for
     * series of two labels, in families of a thousand. Exits with 2 on any other. */
    instruments(const std::string &kind, size_t count);

    size_t count() const { return count_; }
    /* Whether it keeps what it is given in a distribution. */
    bool distributes() const { return !histograms_.empty() || !timers_.empty(); }
    /* One record into each: a counter is incremented, a gauge set, a range sampler raised. */
    void record_each(int64_t value);
    /* What all hold: the sum of counters, gauges and samplers; how many were recorded in others. */
    uint64_t total() const;
    /* The total once each has been recorded into so often, a gauge with this value. */
    uint64_t total_after(uint64_t times, int64_t value) const;

  private:
    void make(const std::string &kind);
    void make_labelled(const std::string &kind);
    size_t count_;
    std::vector<crest_counter *> counters_;
    std::vector<crest_gauge *> gauges_;
    std::vector<crest_histogram *> histograms_;
    std::vector<crest_timer *> timers_;
    std::vector<crest_range_sampler *> samplers_;
};

#endif
