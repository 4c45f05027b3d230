/* SPDX-License-Identifier: Apache-2.0 */
/* prometheus-cpp's series, Debian's libprometheus-cpp-core; see series_memory.h. */
#include "page_sides.h"
#include "series_memory.h"

#if __has_include(<prometheus/registry.h>)

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <cstdio>

namespace
{

class peer_series_made : public series_made
{
  public:
    peer_series_made(const std::string &kind, bool labelled, size_t count, const workload &given)
        : given_(given)
    {
        counters_.resize(kind == "counter" ? count : 0);
        gauges_.resize(kind == "gauge" ? count : 0);
        histograms_.resize(kind == "histogram" ? count : 0);
        size_t of_family = labelled ? SIDES_FAMILY_SERIES : 1;
        for (size_t first = 0; first < count; first += of_family)
            make(labelled, first, std::min(count, first + of_family));
    }

    void record() override
    {
        for (prometheus::Counter *counter : counters_)
            counter->Increment();
        for (prometheus::Gauge *gauge : gauges_)
            gauge->Set(double(given_.values[0]));
        for (prometheus::Histogram *histogram : histograms_)
            for (unsigned i = 0; i < SERIES_RECORDS; i++)
                histogram->Observe(double(given_.values[i]) * 1e-9);
    }

    uint64_t total() override
    {
        uint64_t total = 0;
        for (prometheus::Counter *counter : counters_)
            total += uint64_t(counter->Value());
        for (prometheus::Gauge *gauge : gauges_)
            total += uint64_t(gauge->Value());
        for (prometheus::Histogram *histogram : histograms_)
            total += histogram->Collect().histogram.sample_count;
        return total;
    }

    uint64_t total_after(uint64_t times) override
    {
        return counters_.size() * times + gauges_.size() * uint64_t(given_.values[0]) +
               histograms_.size() * times * SERIES_RECORDS;
    }

  private:
    void make(bool labelled, size_t first, size_t end)
    {
        char name[64];
        std::snprintf(name, sizeof name, "bench_whole_of_%06zu", first);
        auto labels = [&](size_t i) {
            return labelled ? std::map<std::string, std::string>{{"kind", sides_kind(i)},
                                                                 {"peer", sides_peer_address(i)}}
                            : std::map<std::string, std::string>{};
        };
        auto with = [&](auto &&builder) -> auto &
        {
            return builder.Name(name).Help("One of many.").Register(registry_);
        };
        if (!counters_.empty())
            for (auto &family = with(prometheus::BuildCounter()); first < end; first++)
                counters_[first] = &family.Add(labels(first));
        else if (!gauges_.empty())
            for (auto &family = with(prometheus::BuildGauge()); first < end; first++)
                gauges_[first] = &family.Add(labels(first));
        else
            for (auto &family = with(prometheus::BuildHistogram()); first < end; first++)
                histograms_[first] = &family.Add(labels(first), sides_bounds(given_));
    }

    prometheus::Registry registry_;
    const workload &given_;
    std::vector<prometheus::Counter *> counters_;
    std::vector<prometheus::Gauge *> gauges_;
    std::vector<prometheus::Histogram *> histograms_;
};

} // namespace

std::unique_ptr<series_made> series_made_peer(const std::string &kind, size_t count,
                                              const workload &given)
{
    size_t labelled = kind.find("-labelled");
    return std::make_unique<peer_series_made>(kind.substr(0, labelled),
                                              labelled != std::string::npos, count, given);
}

#else

std::unique_ptr<series_made> series_made_peer(const std::string &, size_t, const workload &)
{
    return nullptr;
}

#endif
