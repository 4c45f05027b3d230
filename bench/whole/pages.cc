/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See pages.h. Costs are processor time of the measuring thread, per series, but for the
 * recorders', whose batches are timed by the clock. Both sides' pages are compared, line by line.
 */
#include "pages.h"
#include "own_process.h"
#include "page_crest.h"
#include "page_memory.h"
#include "recorders.h"
#include "side.h"
#include "together.h"

#include <crest/testing.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace
{

const unsigned COUNTER_WRITERS = 8;
const size_t TICK_COUNTERS = 100000, RECORDED_COUNTERS = 1000;
const unsigned PHASE_MS = 20;
/* Series in a measurement at least: smaller pages are written several times. */
const size_t CREST_SERIES = 400000, PEER_SERIES = 10000;
const size_t CREST_HISTOGRAMS = 10000, PEER_HISTOGRAMS = 1000;
/* Pages of so many series take prometheus-cpp a fifth of a second, and of ten times as many two
 * seconds: they are not written in each round. */
const size_t MANY = 100000;
const unsigned MANY_EVERY = 3;

/* The same series on both sides. */
struct pair_of_sides {
    sides_shape shape;
    std::string of; /* the end of its ids: OPERATION's, and the number of series */
    std::unique_ptr<crest_side> crest;
    std::unique_ptr<sides_side> peer;
};

/* Processor time of a page, per series. */
double page_ns(sides_side &of, const sides_shape &shape, size_t at_least)
{
    size_t times = std::max<size_t>(1, at_least / shape.series);
    uint64_t before = together_cpu_ns();
    for (size_t i = 0; i < times; i++) {
        sides_sink sink;
        of.page(sink);
    }
    return double(together_cpu_ns() - before) / double(times * shape.series);
}

/* The same of the snapshot alone. */
double snapshot_ns(const crest_side &of, const sides_shape &shape, size_t at_least)
{
    size_t times = std::max<size_t>(1, at_least / shape.series);
    uint64_t before = together_cpu_ns();
    for (size_t i = 0; i < times; i++)
        crest_snapshot_free(crest_snapshot_take(of.registry()));
    return double(together_cpu_ns() - before) / double(times * shape.series);
}

/* Checks that both pages have what was recorded. Done before the first round, because the memory
 * measurement adds a series. */
void pair_expect(side &mine, const pair_of_sides &pair)
{
    const sides_shape &shape = pair.shape;
    uint64_t total = 0, checksums[2] = {0, 0};
    for (size_t i = 0; i < shape.series; i++)
        total += shape.histograms ? SIDES_RECORDS : sides_amounts(i, shape.writers);
    uint64_t samples = shape.series * (shape.histograms ? shape.given->bounds.size() + 3 : 1);
    sides_side *const both[] = {pair.crest.get(), pair.peer.get()};
    for (unsigned i = 0; i < 2 && both[i] != nullptr; i++) {
        sides_sink page(true);
        both[i]->page(page);
        checksums[i] = page.checksum;
        std::string id = (i == 0 ? "crest/page-" : "prometheus-cpp/page-") + pair.of;
        uint64_t found_samples = page.samples, found_total = page.total;
        mine.expect(
            id + ": samples", [=] { return found_samples; }, [=] { return samples; });
        mine.expect(
            id + ": their total", [=] { return found_total; }, [=] { return total; });
    }
    if (pair.peer && !shape.histograms)
        mine.expect(
            "page-" + pair.of + ": the lines themselves", [=] { return checksums[0]; },
            [=] { return checksums[1]; });
}

void pair_benchmarks(side &mine, const sides_shape &shape)
{
    std::string kind = shape.histograms ? "histograms" : "counters";
    if (shape.histograms && shape.writers != 1)
        kind += "-of-" + std::to_string(shape.writers) + "-threads";
    std::string of = kind + "/" + std::to_string(shape.series);
    const bool memory = !shape.histograms && mine.wanted("crest/snapshot-memory-" + of);
    if (!memory && !mine.wanted("crest/page-" + of) && !mine.wanted("crest/snapshot-" + of) &&
        !mine.wanted("prometheus-cpp/page-" + of))
        return;
    auto pair = std::make_shared<pair_of_sides>();
    pair->shape = shape;
    pair->of = of;
    pair->crest = std::make_unique<crest_side>(shape);
    if (mine.wanted("prometheus-cpp/page-" + of))
        pair->peer = sides_peer(shape);
    size_t ours = shape.histograms ? CREST_HISTOGRAMS : CREST_SERIES;
    size_t theirs = shape.histograms ? PEER_HISTOGRAMS : PEER_SERIES;
    mine.value("crest/page-" + of, "ns", [=] { return page_ns(*pair->crest, pair->shape, ours); });
    if (pair->peer)
        mine.value(
            "prometheus-cpp/page-" + of, "ns",
            [=] { return page_ns(*pair->peer, pair->shape, theirs); },
            shape.series < MANY        ? 1
            : shape.series < 10 * MANY ? MANY_EVERY
                                       : SIDE_ONCE);
    mine.value("crest/snapshot-" + of, "ns",
               [=] { return snapshot_ns(*pair->crest, pair->shape, ours); });
    pair_expect(mine, *pair);
    if (shape.histograms)
        return;
    auto figures = std::make_shared<own_process_figures>([=] { return page_memory(*pair->crest); });
    for (const char *each :
         {"snapshot-memory-", "snapshot-shared-memory-", "encoding-memory-", "encoding-resident-"})
        mine.value(
            "crest/" + (each + of), "B", [=] { return figures->value(each); }, SIDE_ONCE);
}

/* A tick after each counter has grown. */
void tick_benchmarks(side &mine)
{
    std::string id = "crest/tick/" + std::to_string(TICK_COUNTERS);
    if (!mine.wanted(id))
        return;
    crest_windows_options all = {};
    all.series = 2 * TICK_COUNTERS;
    crest_windows_configure(&all);
    auto ticked = std::make_shared<crest_side>(sides_shape{TICK_COUNTERS, false, 1, &mine.given()});
    auto failed = std::make_shared<uint64_t>(0);
    mine.value(id, "ms", [=] {
        for (crest_counter *counter : ticked->counters)
            crest_counter_inc(counter);
        uint64_t before = together_cpu_ns();
        *failed += crest_testing_tick(ticked->registry()) != CREST_OK;
        return double(together_cpu_ns() - before) * 1e-6;
    });
    mine.expect(
        id + ": ticks without memory", [=] { return *failed; }, [] { return 0; });
    /* after several ticks each counter has its window */
    mine.expect(
        id + ": counters with a window",
        [=] {
            uint64_t windowed = 0;
            for (const crest_counter *counter : ticked->counters)
                windowed += crest_counter_rate(counter, CREST_WINDOW_S).covered_s > 0;
            return windowed;
        },
        [] { return TICK_COUNTERS; });
}

/* A thousand increments, alone and beside a thread that writes pages all the time. */
void recorders_benchmarks(side &mine)
{
    std::string spread = "/" + std::to_string(RECORDED_COUNTERS);
    if (!mine.wanted("crest/batch-alone-median" + spread) &&
        !mine.wanted("crest/batch-alone-p99" + spread) &&
        !mine.wanted("crest/batch-scraped-median" + spread) &&
        !mine.wanted("crest/batch-scraped-p99" + spread))
        return;
    auto recorded =
        std::make_shared<crest_side>(sides_shape{RECORDED_COUNTERS, false, 1, &mine.given()});
    auto without_pages = std::make_shared<uint64_t>(0);
    auto figures = std::make_shared<own_process_figures>([=] {
        recorders_phase alone = recorders_run(*recorded, PHASE_MS, false);
        recorders_phase scraped = recorders_run(*recorded, PHASE_MS, true);
        *without_pages += scraped.pages == 0;
        return own_process_values{{"alone-median", alone.median_ns},
                                  {"alone-p99", alone.p99_ns},
                                  {"scraped-median", scraped.median_ns},
                                  {"scraped-p99", scraped.p99_ns}};
    });
    for (const char *each : {"alone-median", "scraped-median", "alone-p99", "scraped-p99"})
        mine.value(std::string("crest/batch-") + each + spread, "ns",
                   [=] { return figures->value(each); });
    mine.expect(
        "crest/batch-scraped: phases without a page", [=] { return *without_pages; },
        [] { return 0; });
}

} // namespace

void pages_benchmarks(side &mine)
{
    const workload &given = mine.given();
    for (uint64_t series : given.numbers("series"))
        pair_benchmarks(mine, {series, false, COUNTER_WRITERS, &given});
    std::vector<uint64_t> histograms = given.numbers("histogram_series");
    for (uint64_t series : histograms)
        pair_benchmarks(mine, {series, true, 1, &given});
    if (!histograms.empty())
        pair_benchmarks(mine, {histograms[0], true, COUNTER_WRITERS, &given});
    tick_benchmarks(mine);
    recorders_benchmarks(mine);
    if (!sides_peer_is_there())
        mine.missing("prometheus-cpp/page-counters/1000/1",
                     "prometheus-cpp's headers were not there when this was built: install "
                     "prometheus-cpp-dev and build again");
}
