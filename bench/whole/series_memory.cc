/* SPDX-License-Identifier: Apache-2.0 */
/* See series_memory.h. */
#include "series_memory.h"
#include "instruments.h"
#include "own_process.h"
#include "page_sides.h"
#include "side.h"

#include <crest/testing.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace
{

/* No program has more unlabelled metrics than this, and prometheus-cpp searches all of them each
 * time that it makes another. */
const uint64_t UNLABELLED_MAX = 10000;
const uint64_t SERIES_MAX = 100000;

class crest_series_made : public series_made
{
  public:
    crest_series_made(const std::string &kind, size_t count, const workload &given)
        : all_(kind, count), given_(given)
    {
    }
    void record() override
    {
        for (unsigned i = 0; i < (all_.distributes() ? SERIES_RECORDS : 1); i++)
            all_.record_each(given_.values[i]);
    }
    uint64_t total() override { return all_.total(); }
    uint64_t total_after(uint64_t times) override
    {
        return all_.total_after(all_.distributes() ? times * SERIES_RECORDS : times,
                                given_.values[0]);
    }

  private:
    instruments all_;
    const workload &given_;
};

double resident_bytes()
{
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string line; std::getline(file, line);)
        if (line.compare(0, 4, "Rss:") == 0)
            return std::strtod(line.c_str() + 4, nullptr) * 1024;
    return 0;
}

/* What the library says that it has given out for series, cells and counts. */
double counted_bytes()
{
    crest_testing_reading reading;
    crest_testing_tick(nullptr);
    crest_testing_read(nullptr, nullptr, &reading, nullptr, "crest.arena-used", nullptr);
    return reading.gauge;
}

} // namespace

std::unique_ptr<series_made> series_made_crest(const std::string &kind, size_t count,
                                               const workload &given)
{
    return std::make_unique<crest_series_made>(kind, count, given);
}

int series_memory_process(const std::vector<std::string> &words)
{
    size_t count = std::strtoul(words[2].c_str(), nullptr, 10);
    workload given = workload_read(words[3]);
    bool ours = words[0] == "crest";
    std::thread([] {}).join(); /* the next one has its stack */
    double counted = ours ? counted_bytes() : 0, before = resident_bytes();
    std::unique_ptr<series_made> made =
        ours ? series_made_crest(words[1], count, given) : series_made_peer(words[1], count, given);
    if (!made)
        return 2;
    made->record();
    double one = resident_bytes();
    std::thread([&] { made->record(); }).join();
    double two = resident_bytes();
    if (made->total() != made->total_after(2) || one <= before) {
        std::fprintf(stderr, "memory of %s: the total is wrong, or nothing was taken\n",
                     words[1].c_str());
        return 1;
    }
    std::printf("series %.9g\nthread %.9g\n", (one - before) / double(count),
                (two - one) / double(count));
    if (ours)
        std::printf("counted %.9g\n", (counted_bytes() - counted) / double(count));
    return 0;
}

static void series_memory_of(side &mine, const std::string &peer, const std::string &kind,
                             uint64_t series)
{
    std::string count = std::to_string(series), inputs = mine.given().folder;
    auto figures = std::make_shared<own_process_figures>([=] {
        return own_process_run({own_process_path(), "--measure=memory", peer, kind, count, inputs});
    });
    std::string id = peer + "/memory-" + kind;
    mine.value(
        id + "/" + count, "B", [=] { return figures->value("series"); }, SIDE_ONCE);
    if (peer != "crest") /* which has nothing of a thread's own, and no account of its own */
        return;
    mine.value(
        id + "-thread/" + count, "B", [=] { return figures->value("thread"); }, SIDE_ONCE);
    mine.value(
        id + "-counted/" + count, "B", [=] { return figures->value("counted"); }, SIDE_ONCE);
}

void series_memory_benchmarks(side &mine)
{
    for (const char *kind : {"counter", "gauge", "range-sampler", "histogram", "timer"})
        for (const char *labelled : {"", "-labelled"}) {
            std::string name = kind;
            bool distributes = name == "histogram" || name == "timer";
            bool peers = name != "range-sampler" && name != "timer" && sides_peer_is_there();
            uint64_t most = *labelled != 0 ? SERIES_MAX : UNLABELLED_MAX;
            for (uint64_t series :
                 mine.given().numbers(distributes ? "histogram_series" : "series")) {
                if (series > most)
                    continue;
                series_memory_of(mine, "crest", name + labelled, series);
                if (peers)
                    series_memory_of(mine, "prometheus-cpp", name + labelled, series);
            }
        }
}
