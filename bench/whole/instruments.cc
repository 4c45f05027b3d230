/* SPDX-License-Identifier: Apache-2.0 */
/* See instruments.h. */
#include "instruments.h"
#include "page_sides.h"

#include <cstdio>
#include <cstdlib>

namespace
{

const char LABELLED[] = "-labelled";

[[noreturn]] void refuse(const std::string &kind)
{
    std::fprintf(stderr, "%s: no such kind, or it cannot be made\n", kind.c_str());
    std::exit(2);
}

std::string numbered(const char *text, size_t number)
{
    char name[64];
    std::snprintf(name, sizeof name, "%s-%06zu", text, number);
    return name;
}

} // namespace

instruments::instruments(const std::string &kind, size_t count) : count_(count)
{
    size_t labelled = kind.find(LABELLED);
    std::string bare = kind.substr(0, labelled);
    /* their memory is there before anything is measured */
    if (bare == "counter")
        counters_.resize(count);
    else if (bare == "gauge")
        gauges_.resize(count);
    else if (bare == "histogram")
        histograms_.resize(count);
    else if (bare == "timer")
        timers_.resize(count);
    else if (bare == "range-sampler")
        samplers_.resize(count);
    else
        refuse(kind);
    if (labelled == std::string::npos)
        make(kind);
    else
        make_labelled(kind);
}

void instruments::make(const std::string &kind)
{
    crest_status status = CREST_OK;
    for (size_t i = 0; i < count_ && status == CREST_OK; i++) {
        std::string name = numbered("bench.whole-of", i);
        crest_metric_options options = {};
        options.name = name.c_str();
        options.description = "One of many.";
        if (!counters_.empty())
            counters_[i] = crest_counter_get(nullptr, &options, &status);
        else if (!gauges_.empty())
            gauges_[i] = crest_gauge_get(nullptr, &options, &status);
        else if (!histograms_.empty())
            histograms_[i] = crest_histogram_get(nullptr, &options, &status);
        else if (!timers_.empty())
            timers_[i] = crest_timer_get(nullptr, &options, &status);
        else
            samplers_[i] = crest_range_sampler_get(nullptr, &options, &status);
    }
    if (status != CREST_OK)
        refuse(kind);
}

/* Of one family, the series from `first` to before `end`. */
template <typename family, typename instrument>
static void fill(family made, instrument *(*get)(family *, const char *const *, unsigned),
                 std::vector<instrument *> &to, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        std::string kind = sides_kind(i), peer = sides_peer_address(i);
        const char *const values[] = {kind.c_str(), peer.c_str()};
        to[i] = get(&made, values, 2);
    }
}

void instruments::make_labelled(const std::string &kind)
{
    static const char *const keys[] = {"kind", "peer"};
    crest_status status = CREST_OK;
    for (size_t first = 0; first < count_ && status == CREST_OK; first += SIDES_FAMILY_SERIES) {
        size_t end = std::min(count_, first + SIDES_FAMILY_SERIES);
        std::string name = numbered("bench.family", first / SIDES_FAMILY_SERIES);
        crest_metric_options options = {};
        options.name = name.c_str();
        options.description = "One of many.";
        if (!counters_.empty())
            fill(crest_counter_family_new(nullptr, &options, keys, 2, &status),
                 crest_counter_family_get, counters_, first, end);
        else if (!gauges_.empty())
            fill(crest_gauge_family_new(nullptr, &options, keys, 2, &status),
                 crest_gauge_family_get, gauges_, first, end);
        else if (!histograms_.empty())
            fill(crest_histogram_family_new(nullptr, &options, keys, 2, &status),
                 crest_histogram_family_get, histograms_, first, end);
        else if (!timers_.empty())
            fill(crest_timer_family_new(nullptr, &options, keys, 2, &status),
                 crest_timer_family_get, timers_, first, end);
        else
            fill(crest_range_sampler_family_new(nullptr, &options, keys, 2, &status),
                 crest_range_sampler_family_get, samplers_, first, end);
    }
    if (status != CREST_OK)
        refuse(kind);
}

void instruments::record_each(int64_t value)
{
    for (crest_counter *counter : counters_)
        crest_counter_inc(counter);
    for (crest_gauge *gauge : gauges_)
        crest_gauge_set(gauge, double(value));
    for (crest_histogram *histogram : histograms_)
        crest_histogram_record(histogram, value);
    for (crest_timer *timer : timers_)
        crest_timer_record(timer, value, CREST_OUTCOME_OK);
    for (crest_range_sampler *sampler : samplers_)
        crest_range_sampler_add(sampler, 1);
}

uint64_t instruments::total() const
{
    uint64_t total = 0;
    for (const crest_counter *counter : counters_)
        total += crest_counter_value(counter);
    for (const crest_gauge *gauge : gauges_)
        total += uint64_t(crest_gauge_value(gauge));
    for (const crest_range_sampler *sampler : samplers_)
        total += uint64_t(crest_range_sampler_value(sampler));
    if (!distributes())
        return total;
    crest_snapshot *snapshot = crest_snapshot_take(nullptr);
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view series;
        crest_snapshot_series(snapshot, i, &series);
        if (series.distribution != nullptr && std::string(series.name).rfind("bench.", 0) == 0)
            total += crest_distribution_count(series.distribution);
    }
    crest_snapshot_free(snapshot);
    return total;
}

uint64_t instruments::total_after(uint64_t times, int64_t value) const
{
    return count_ * (gauges_.empty() ? times : uint64_t(value));
}
