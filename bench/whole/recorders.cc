/* SPDX-License-Identifier: Apache-2.0 */
/* See recorders.h. */
#include "recorders.h"
#include "page_crest.h"
#include "together.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace
{

/* What one thread and the other share. */
struct phase_state {
    std::atomic<bool> running{false}, ended{false};
    uint64_t pages = 0;
};

void scrape(crest_side &side, phase_state &state)
{
    together_pin(1);
    state.running = true;
    while (!state.ended) {
        sides_sink sink;
        side.page(sink);
        state.pages++;
    }
}

void record(crest_side &side, unsigned ms, std::vector<uint64_t> &batches)
{
    uint64_t end = crest_now() + ms * UINT64_C(1000000);
    for (uint64_t before = crest_now(), after; before < end; before = after) {
        for (crest_counter *counter : side.counters)
            crest_counter_inc(counter);
        after = crest_now();
        batches.push_back(after - before);
    }
}

double at_rank(std::vector<uint64_t> &batches, double part)
{
    size_t rank = size_t(double(batches.size() - 1) * part);
    std::nth_element(batches.begin(), batches.begin() + std::ptrdiff_t(rank), batches.end());
    return double(batches[rank]);
}

} // namespace

recorders_phase recorders_run(crest_side &side, unsigned ms, bool scraped)
{
    phase_state state;
    std::vector<uint64_t> batches;
    batches.reserve(size_t(ms) * 4000); /* so that it does not grow meanwhile */
    std::thread scraper, recorder;
    if (scraped)
        scraper = std::thread([&] { scrape(side, state); });
    while (scraped && !state.running)
        std::this_thread::yield();
    recorder = std::thread([&] {
        together_pin(0);
        record(side, ms, batches);
    });
    recorder.join();
    state.ended = true;
    if (scraped)
        scraper.join();
    return {at_rank(batches, 0.5), at_rank(batches, 0.99), batches.size(), state.pages};
}
