/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of reading: pages against prometheus-cpp's, memory, ticks, and what recording threads
 * notice of it.
 *
 *     make bench-reading                               all of it: half a minute, 3 GB of memory
 *     make bench-reading BENCH_ARGS="--largest=100000 --only=pages --rounds=5"
 *     make bench-reading STRICT=1                      exits 1 when a target is missed
 *
 * --only= takes pages, histograms, memory, tick and recorders, separated by commas. Rounds are
 * interleaved: each measures everything once, so that what disturbs the machine disturbs all alike;
 * ratios are taken within a round. Costs are processor time of the measuring thread, but for the
 * recorders', whose batches are timed by the clock. Both sides' pages are compared, line by line.
 */
#include "crest_side.h"
#include "machine.h"
#include "memory.h"
#include "recorders.h"
#include "two_threads.h"
#include "verdict.h"

#include <crest/testing.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace
{

const unsigned ROUNDS = 9, ROUNDS_MIN = 3;
const char RESULTS[] = "build/bench/reading.json";
const size_t COUNTERS[] = {1000, 10000, 100000, 1000000};
const size_t HISTOGRAMS[] = {1000, 10000};
const unsigned COUNTER_WRITERS = 8;
const size_t TICK_COUNTERS = 100000, RECORDED_COUNTERS = 1000;
const unsigned PHASE_MS = 200;
/* Series in a measurement at least: smaller pages are written several times. */
const size_t CREST_SERIES = 400000, PEER_SERIES = 20000;
const size_t CREST_HISTOGRAMS = 10000, PEER_HISTOGRAMS = 2000;

struct wanted {
    unsigned rounds = ROUNDS;
    size_t largest = SIZE_MAX;
    std::string only;
    bool has(const char *part) const
    {
        return only.empty() ||
               ("," + only + ",").find("," + std::string(part) + ",") != std::string::npos;
    }
};

unsigned wrong;

void expect(const std::string &what, uint64_t found, uint64_t asked)
{
    if (found == asked)
        return;
    std::fprintf(stderr, "WRONG: %s: %llu, but it should be %llu\n", what.c_str(),
                 static_cast<unsigned long long>(found), static_cast<unsigned long long>(asked));
    wrong++;
}

std::string thousands(size_t number)
{
    std::string digits = std::to_string(number), text;
    for (size_t i = 0; i < digits.size(); i++) {
        if (i > 0 && (digits.size() - i) % 3 == 0)
            text += ',';
        text += digits[i];
    }
    return text;
}

/* ---- pages ---- */

/* The same series on both sides. */
struct pair_of_sides {
    sides_shape shape;
    std::string name; /* of its samples, after the side's */
    std::unique_ptr<crest_side> crest;
    std::unique_ptr<sides_side> peer;
};

pair_of_sides pair_make(const sides_shape &shape)
{
    pair_of_sides made;
    made.shape = shape;
    made.name = std::string(shape.histograms ? "/histograms-" : "/counters-") +
                std::to_string(shape.series) + "-" + std::to_string(shape.writers);
    made.crest = std::make_unique<crest_side>(shape);
    made.peer = sides_peer(shape);
    return made;
}

/* What is on the pages is what was recorded, and the same on both. */
void pair_check(const pair_of_sides &pair)
{
    sides_sink ours(true), theirs(true);
    pair.crest->page(ours);
    uint64_t total = 0;
    for (size_t i = 0; i < pair.shape.series; i++)
        total += pair.shape.histograms ? SIDES_RECORDS : sides_amounts(i, pair.shape.writers);
    size_t lines = pair.shape.histograms ? sides_bounds().size() + 3 : 1;
    expect(pair.name + ": samples on Crest's page", ours.samples, pair.shape.series * lines);
    expect(pair.name + ": their total", ours.total, total);
    if (!pair.peer)
        return;
    pair.peer->page(theirs);
    expect(pair.name + ": samples on the peer's page", theirs.samples, ours.samples);
    expect(pair.name + ": their total", theirs.total, total);
    if (!pair.shape.histograms)
        expect(pair.name + ": the lines themselves", theirs.checksum, ours.checksum);
}

/* Processor time of a page, per series. */
double page_ns(sides_side &side, const sides_shape &shape, size_t at_least)
{
    size_t times = std::max<size_t>(1, at_least / shape.series);
    uint64_t before = two_threads_cpu_ns();
    for (size_t i = 0; i < times; i++) {
        sides_sink sink;
        side.page(sink);
    }
    return double(two_threads_cpu_ns() - before) / double(times * shape.series);
}

/* The same of the snapshot alone. */
double snapshot_ns(const crest_side &side, const sides_shape &shape, size_t at_least)
{
    size_t times = std::max<size_t>(1, at_least / shape.series);
    uint64_t before = two_threads_cpu_ns();
    for (size_t i = 0; i < times; i++)
        crest_snapshot_free(crest_snapshot_take(side.registry()));
    return double(two_threads_cpu_ns() - before) / double(times * shape.series);
}

void pair_measure(const pair_of_sides &pair, verdict &to)
{
    size_t ours = pair.shape.histograms ? CREST_HISTOGRAMS : CREST_SERIES;
    size_t theirs = pair.shape.histograms ? PEER_HISTOGRAMS : PEER_SERIES;
    to.add("crest" + pair.name, page_ns(*pair.crest, pair.shape, ours));
    to.add("snapshot" + pair.name, snapshot_ns(*pair.crest, pair.shape, ours));
    if (pair.peer)
        to.add("peer" + pair.name, page_ns(*pair.peer, pair.shape, theirs));
}

std::vector<pair_of_sides> pairs_make(const wanted &what)
{
    std::vector<pair_of_sides> pairs;
    for (size_t series : COUNTERS)
        if (what.has("pages") && series <= what.largest)
            pairs.push_back(pair_make({series, false, COUNTER_WRITERS}));
    for (size_t series : HISTOGRAMS)
        if (what.has("histograms") && series <= what.largest)
            pairs.push_back(pair_make({series, true, 1}));
    if (what.has("histograms") && what.largest >= HISTOGRAMS[0])
        pairs.push_back(pair_make({HISTOGRAMS[0], true, COUNTER_WRITERS}));
    return pairs;
}

void pair_rows(const pair_of_sides &pair, std::vector<verdict_row> &rows)
{
    std::string of = thousands(pair.shape.series) +
                     (pair.shape.histograms ? " histograms" : " counters") + ", " +
                     std::to_string(pair.shape.writers) +
                     (pair.shape.writers == 1 ? " thread" : " threads");
    verdict_row page = {"crest" + pair.name, "peer" + pair.name, 0, "page of " + of};
    if (pair.shape.histograms)
        page.times = pair.shape.writers == 1 ? 6 : 0;
    else if (pair.shape.series >= 100000)
        page.times = 30;
    if (!pair.peer)
        page.reference = "", page.times = 0;
    rows.push_back(page);
    rows.push_back({"snapshot" + pair.name, "crest" + pair.name, 0, "  its snapshot / page"});
    rows.push_back({"peer" + pair.name, "", 0, "  prometheus-cpp"});
    if (!pair.shape.histograms && pair.shape.series == 1000000)
        rows.push_back({"crest" + pair.name, "crest/counters-1000-8", 1.4, "  / that of 1,000"});
}

/* ---- the rest ---- */

void memory_measure(const pair_of_sides &pair, verdict &to)
{
    memory_reading reading = memory_read(*pair.crest);
    to.add("snapshot-bytes" + pair.name, reading.snapshot_bytes);
    to.add("directory-bytes" + pair.name, reading.directory_bytes);
    to.add("encoding-bytes" + pair.name, reading.encoding_bytes);
    to.add("resident-bytes" + pair.name, reading.resident_bytes);
}

void memory_rows(const pair_of_sides &pair, std::vector<verdict_row> &rows)
{
    std::string of = thousands(pair.shape.series) + " counters";
    rows.push_back({"snapshot-bytes" + pair.name, "", 0, "snapshot of " + of, 16, 0, "B a series"});
    rows.push_back(
        {"directory-bytes" + pair.name, "", 0, "  what snapshots share", 0, 0, "B a series"});
    rows.push_back(
        {"encoding-bytes" + pair.name, "", 0, "  its page, beyond that", 1 << 20, 0, "B"});
    rows.push_back({"resident-bytes" + pair.name, "", 0, "  the same, resident", 1 << 20, 0, "B"});
}

void tick_measure(crest_side &side, verdict &to)
{
    for (crest_counter *counter : side.counters)
        crest_counter_inc(counter);
    uint64_t before = two_threads_cpu_ns();
    if (crest_testing_tick(side.registry()) != CREST_OK)
        expect("ticks without memory", 1, 0);
    to.add("tick", double(two_threads_cpu_ns() - before) * 1e-6);
}

/* After several ticks each counter has its window. */
void tick_check(const crest_side &side)
{
    uint64_t windowed = 0;
    for (const crest_counter *counter : side.counters)
        windowed += crest_counter_rate(counter, CREST_WINDOW_S).covered_s > 0;
    expect("counters with a window", windowed, side.counters.size());
}

void recorders_measure(crest_side &side, verdict &to)
{
    recorders_phase alone = recorders_run(side, PHASE_MS, false);
    recorders_phase scraped = recorders_run(side, PHASE_MS, true);
    if (scraped.pages == 0)
        expect("pages beside a recorder", 0, 1);
    to.add("median-alone", alone.median_ns);
    to.add("p99-alone", alone.p99_ns);
    to.add("median-scraped", scraped.median_ns);
    to.add("p99-scraped", scraped.p99_ns);
}

std::vector<verdict_row> table(const std::vector<pair_of_sides> &pairs)
{
    std::vector<verdict_row> rows;
    for (const pair_of_sides &pair : pairs)
        pair_rows(pair, rows);
    for (const pair_of_sides &pair : pairs)
        if (!pair.shape.histograms)
            memory_rows(pair, rows);
    rows.push_back(
        {"tick", "", 0, "tick over " + thousands(TICK_COUNTERS) + " counters", 4, 0, "ms"});
    std::string batch = "1,000 increments while scraped, ";
    rows.push_back({"median-scraped", "median-alone", 1.2, batch + "median"});
    rows.push_back({"p99-scraped", "p99-alone", 1.5, batch + "p99"});
    rows.push_back({"median-alone", "", 0, "  alone, median"});
    rows.push_back({"p99-alone", "", 0, "  alone, p99"});
    return rows;
}

bool wanted_parse(int argc, char **argv, wanted &what)
{
    for (int i = 1; i < argc; i++) {
        std::string argument = argv[i];
        if (argument.compare(0, 9, "--rounds=") == 0)
            what.rounds = std::max(ROUNDS_MIN, unsigned(std::strtoul(argv[i] + 9, nullptr, 10)));
        else if (argument.compare(0, 10, "--largest=") == 0)
            what.largest = std::strtoul(argv[i] + 10, nullptr, 10);
        else if (argument.compare(0, 7, "--only=") == 0)
            what.only = argument.substr(7);
        else
            return false;
    }
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    wanted what;
    if (!wanted_parse(argc, argv, what)) {
        std::fprintf(stderr, "usage: reading [--rounds=N] [--largest=SERIES] [--only=PART,...]\n");
        return 2;
    }
    usleep(20000); /* until the clock knows the rate of its counter */
    std::vector<pair_of_sides> pairs = pairs_make(what);
    std::unique_ptr<crest_side> ticked, recorded;
    if (what.has("tick")) {
        crest_windows_options all;
        all.series = 2 * TICK_COUNTERS;
        crest_windows_configure(&all);
        ticked = std::make_unique<crest_side>(sides_shape{TICK_COUNTERS, false, 1});
    }
    if (what.has("recorders"))
        recorded = std::make_unique<crest_side>(sides_shape{RECORDED_COUNTERS, false, 1});
    for (const pair_of_sides &pair : pairs)
        pair_check(pair);

    verdict gathered, warm_up;
    for (unsigned round = 0; round <= what.rounds && wrong == 0; round++) {
        verdict &to = round == 0 ? warm_up : gathered;
        for (const pair_of_sides &pair : pairs)
            pair_measure(pair, to);
        if (ticked)
            tick_measure(*ticked, to);
        if (recorded)
            recorders_measure(*recorded, to);
    }
    if (ticked)
        tick_check(*ticked);
    for (const pair_of_sides &pair : pairs)
        if (what.has("memory") && !pair.shape.histograms)
            memory_measure(pair, gathered);

    machine_facts facts = machine_describe(what.rounds);
    machine_print(facts);
    std::printf("ratios are medians over rounds of one run; costs are per series\n");
    if (!pairs.empty() && !pairs[0].peer)
        std::printf("\nSKIPPED: prometheus-cpp was not there when this was built: no comparison. "
                    "Install prometheus-cpp-dev and build again.\n");
    std::vector<verdict_row> rows = table(pairs);
    unsigned missed = gathered.print(rows);
    std::error_code failed;
    std::filesystem::create_directories(std::filesystem::path(RESULTS).parent_path(), failed);
    if (!gathered.write_json(RESULTS, rows, facts))
        std::fprintf(stderr, "%s: cannot be written\n", RESULTS);
    if (wrong != 0) {
        std::fprintf(stderr, "\n%u results are wrong: the figures above mean nothing.\n", wrong);
        return 1;
    }
    return missed != 0 && machine_strict();
}
