/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of recording, against the physical limit and against plain code, as ratios of one run.
 *
 *     make bench                            prints the table; exits 0 also when a target is missed
 *     make bench STRICT=1                   exits 1 then
 *     make bench BENCH_ARGS=--rounds=51     more rounds; other arguments go to Google Benchmark
 *
 * Rounds are interleaved: each runs every benchmark once, for some milliseconds, so that what
 * disturbs the machine disturbs all alike. Costs are processor time of the measuring thread, so
 * that waiting for a processor does not count. What every loop left behind is checked at the end; a
 * loop that did not do its work makes the run fail, whatever STRICT says.
 */
#include "by_name_loops.h"
#include "hot_loops.h"
#include "keyed_loops.h"
#include "machine.h"
#include "resolve_loops.h"
#include "two_threads.h"
#include "verdict.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <unistd.h>

namespace
{

const unsigned ROUNDS = 31, ROUNDS_MIN = 9;
const uint64_t FAST_BATCH = UINT64_C(1) << 19; /* operations of a nanosecond or so, per metric */
const uint64_t SLOW_BATCH = UINT64_C(1) << 14; /* of tens of nanoseconds */
const uint64_t NAME_BATCH = UINT64_C(1) << 16; /* of ten nanoseconds or so */
const uint64_t PAIR_TIMES = UINT64_C(1) << 21; /* of the first of two threads, in one window */
const uint64_t PAIR_LOCK_TIMES = UINT64_C(1) << 18;
const char RESULTS[] = "build/bench/results.json";

/* Log-normal: median 100 µs, sigma 1.6, cut to 1 µs .. 1 s, in nanoseconds. */
const double VALUES_MEDIAN = 1e5, VALUES_SIGMA = 1.6, VALUES_LEAST = 1e3, VALUES_MOST = 1e9;
/* And evenly spread, as sizes may be: half of them in the highest power of two. */
const int64_t EVEN_MOST = 1 << 20;

/* What the loops of one language have been asked to do so far. */
typedef uint64_t asked_each[HOT_METRICS];
struct asked {
    asked_each counter, xadd, thread_local_inc, timer, gauge, range, raised;
    asked_each histogram, plain, folded, histogram_even, plain_even;
    asked_each literal, named;
    asked_each keyed, scoped, locked, resolved;
    unsigned disturbed;
};

int64_t values[HOT_VALUES], even[HOT_VALUES];
asked asked_of[2];
std::map<std::string, uint64_t> operations; /* of one iteration, by benchmark */
unsigned wrong;

const hot_loops &loops_of(unsigned language)
{
    return language == 0 ? hot_loops_c : hot_loops_cc;
}

void values_prepare()
{
    std::mt19937_64 random(20);
    std::normal_distribution<double> normal(0, VALUES_SIGMA);
    std::uniform_int_distribution<int64_t> spread(0, EVEN_MOST);
    for (unsigned i = 0; i < HOT_VALUES; i++) {
        double value = VALUES_MEDIAN * std::exp(normal(random));
        values[i] = int64_t(std::min(std::max(value, VALUES_LEAST), VALUES_MOST));
        even[i] = spread(random);
    }
}

/* ---- registering ---- */

/* `loop` is given one of HOT_METRICS after the other. */
template <typename function>
void add(const std::string &name, uint64_t times, asked_each asked::*count, unsigned language,
         function loop)
{
    operations[name] = times;
    auto body = [=](benchmark::State &state) {
        unsigned which = 0;
        for (auto _ : state) {
            loop(which, times);
            (asked_of[language].*count)[which] += times;
            which = (which + 1) % HOT_METRICS;
        }
    };
    benchmark::RegisterBenchmark(name.c_str(), body)->Iterations(HOT_METRICS);
}

struct pair_context {
    void (*loop)(unsigned which, uint64_t times);
    unsigned of[2]; /* which metric each thread takes */
};

void pair_work(const void *opaque, unsigned thread, uint64_t times)
{
    const pair_context *context = static_cast<const pair_context *>(opaque);
    context->loop(context->of[thread], times);
}

/* Two windows, so that both metrics weigh the same whether the threads are apart or not. */
void add_pair(const std::string &name, unsigned language, bool apart, uint64_t times,
              void (*loop)(unsigned which, uint64_t times), asked_each asked::*count)
{
    operations[name] = 1;
    auto body = [=](benchmark::State &state) {
        asked &sum = asked_of[language];
        unsigned window = 0;
        for (auto _ : state) {
            pair_context context = {loop, {window, apart ? 1 - window : window}};
            two_threads_result result = two_threads_run(pair_work, &context, times);
            for (unsigned i = 0; i < 2; i++)
                (sum.*count)[context.of[i]] += result.done[i];
            sum.disturbed += result.disturbed;
            state.SetIterationTime(result.ns * 1e-9);
            window = 1 - window;
        }
    };
    benchmark::RegisterBenchmark(name.c_str(), body)->Iterations(2)->UseManualTime();
}

void add_clock(const std::string &name, uint64_t (*loop)(uint64_t))
{
    operations[name] = SLOW_BATCH;
    auto body = [=](benchmark::State &state) {
        uint64_t sum = 0;
        for (auto _ : state)
            sum += loop(SLOW_BATCH);
        if (sum == 0)
            state.SkipWithError("the clock stands still");
    };
    benchmark::RegisterBenchmark(name.c_str(), body)->Iterations(HOT_METRICS);
}

void histogram_latencies(unsigned which, uint64_t times)
{
    loops_of(0).histogram_record(which, values, times);
}

void register_language(unsigned language)
{
    const hot_loops *loops = &loops_of(language);
    std::string in = std::string(loops->language) + "/";
    add(in + "counter", FAST_BATCH, &asked::counter, language, loops->counter_inc);
    add(in + "lock-xadd", FAST_BATCH, &asked::xadd, language, loops->lock_xadd);
    add(in + "thread-local", FAST_BATCH, &asked::thread_local_inc, language,
        loops->thread_local_inc);
    auto over = [](const int64_t *all, void (*record)(unsigned, const int64_t *, uint64_t)) {
        return [all, record](unsigned which, uint64_t times) { record(which, all, times); };
    };
    add(in + "histogram", FAST_BATCH, &asked::histogram, language,
        over(values, loops->histogram_record));
    add(in + "plain-hdr", FAST_BATCH, &asked::plain, language,
        over(values, loops->plain_hdr_record));
    add(in + "plain-hdr-folded", FAST_BATCH, &asked::folded, language,
        over(values, loops->plain_hdr_folded));
    add(in + "histogram-even", FAST_BATCH, &asked::histogram_even, language,
        over(even, loops->histogram_record));
    add(in + "plain-hdr-even", FAST_BATCH, &asked::plain_even, language,
        over(even, loops->plain_hdr_record));
    auto of_one = [](void (*loop)(uint64_t)) {
        return [loop](unsigned, uint64_t times) { loop(times); };
    };
    add(in + "timer", SLOW_BATCH, &asked::timer, language, of_one(loops->timer_start_end));
    add(in + "timer-through-memory", SLOW_BATCH, &asked::timer, language,
        of_one(loops->timer_through_memory));
    add(in + "gauge", FAST_BATCH, &asked::gauge, language, of_one(loops->gauge_set));
    add(in + "range-sampler", SLOW_BATCH, &asked::range, language,
        of_one(loops->range_sampler_add));
    add(in + "range-sampler-raise", SLOW_BATCH, &asked::raised, language,
        of_one(loops->range_sampler_raise));
    add_clock(in + "clock-once", loops->clock_once);
    add_clock(in + "clock-twice", loops->clock_twice);
    if (language == 0) {
        add(in + "by-name-literal", FAST_BATCH, &asked::literal, language, by_name_literal);
        add(in + "by-name-handles", NAME_BATCH, &asked::named, language, by_name_handles);
        add(in + "by-name-run-time", NAME_BATCH, &asked::named, language, by_name_run_time);
        add(in + "by-name-sourced", NAME_BATCH, &asked::named, language, by_name_sourced);
        add(in + "keyed", SLOW_BATCH, &asked::keyed, language, keyed_begin_end);
        add(in + "keyed-among-others", SLOW_BATCH, &asked::keyed, language, keyed_among_others);
        add_pair(in + "two-threads-keyed", language, true, PAIR_LOCK_TIMES, keyed_begin_end,
                 &asked::keyed);
        add(in + "resolve", SLOW_BATCH, &asked::resolved, language, resolve_labels);
        add(in + "scope", SLOW_BATCH, &asked::scoped, language, keyed_scope);
        add(in + "mutex", SLOW_BATCH, &asked::locked, language, keyed_mutex);
        add(in + "plain-mutex", SLOW_BATCH, &asked::locked, language, keyed_plain_mutex);
        for (bool apart : {false, true}) {
            std::string one = in + (apart ? "two-threads-two-" : "two-threads-one-");
            add_pair(one + "counter", language, apart, PAIR_TIMES, loops->counter_inc,
                     &asked::counter);
            add_pair(one + "lock-xadd", language, apart, PAIR_LOCK_TIMES, loops->lock_xadd,
                     &asked::xadd);
            add_pair(one + "histogram", language, apart, PAIR_TIMES, histogram_latencies,
                     &asked::histogram);
        }
    }
}

std::vector<verdict_row> table()
{
    return {
        {"C/counter", "C/lock-xadd", 0.35, "counter increment / lock xadd"},
        {"C++/counter", "C++/lock-xadd", 0.35, "  the same compiled as C++"},
        {"C/thread-local", "C/lock-xadd", 0, "  the limit: thread-local ++ / lock xadd"},
        {"C/lock-xadd", "", 0, "  lock xadd"},
        {"C/two-threads-one-counter", "C/two-threads-two-counter", 1.15,
         "two threads, one counter / two counters"},
        {"C/two-threads-one-lock-xadd", "C/two-threads-two-lock-xadd", 0,
         "  the same with lock xadd"},
        {"C/two-threads-one-histogram", "C/two-threads-two-histogram", 1.2,
         "two threads, one histogram / two histograms"},
        {"C/histogram", "C/plain-hdr", 0.95, "histogram record / plain HDR"},
        {"C++/histogram", "C++/plain-hdr", 0.95, "  the same compiled as C++"},
        {"C/plain-hdr", "", 0, "  plain HDR"},
        {"C/histogram", "C/plain-hdr-folded", 0, "  histogram record / plain HDR folded by hand"},
        {"C/histogram-even", "C/plain-hdr-even", 0.95, "  values evenly spread / plain HDR"},
        {"C/timer", "C/clock-twice", 1.7, "timer start + end / two clock reads"},
        {"C++/timer", "C++/clock-twice", 1.7, "  the same compiled as C++"},
        {"C/timer-through-memory", "C/clock-twice", 1.7, "  token handed on through memory"},
        {"C/clock-twice", "", 0, "  two clock reads"},
        {"C/scope", "C/clock-twice", 0, "  a block by CREST_TIME_SCOPE / two clock reads"},
        {"C/keyed", "", 0, "keyed timer begin + end", 250},
        {"C/keyed-among-others", "", 0, "  with a deadline, 1,000 others in flight", 250},
        {"C/two-threads-keyed", "C/keyed", 0, "  two threads at once / one"},
        {"C/mutex", "C/plain-mutex", 0, "measured mutex, free / a plain one"},
        {"C/plain-mutex", "", 0, "  a plain mutex"},
        {"C/range-sampler", "C/clock-once", 1.2, "range sampler add / one clock read"},
        {"C++/range-sampler", "C++/clock-once", 1.2, "  the same compiled as C++"},
        {"C/range-sampler-raise", "C/clock-once", 1.2, "  each add a new maximum"},
        {"C/clock-once", "", 0, "  one clock read"},
        {"C/gauge", "", 0, "gauge set"},
        {"C/resolve", "", 0, "3 label values to a handle, 1,000 series", 120},
        {"C/by-name-literal", "C/counter", 1.1, "by name, literal / through a handle"},
        {"C/by-name-run-time", "C/by-name-handles", 0, "1,000 names at run time, and handles", 20},
        {"C/by-name-sourced", "C/by-name-handles", 0, "  the same under a source", 20},
        {"C/by-name-handles", "", 0, "  through 1,000 handles"},
    };
}

/* ---- running ---- */

class gatherer : public benchmark::BenchmarkReporter
{
  public:
    explicit gatherer(verdict &to) : to_(to) {}
    bool ReportContext(const Context &) override { return true; }
    void ReportRuns(const std::vector<Run> &runs) override
    {
        for (const Run &run : runs) {
            std::string name = run.run_name.function_name;
            if (run.run_type != Run::RT_Iteration)
                continue;
            if (run.error_occurred) {
                std::fprintf(stderr, "%s: %s\n", name.c_str(), run.error_message.c_str());
                wrong++;
                continue;
            }
            bool manual = !run.run_name.time_type.empty();
            double ns = manual ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime();
            to_.add(name, ns / double(operations.at(name)));
        }
    }

  private:
    verdict &to_;
};

/* ---- checking ---- */

void expect(const std::string &what, uint64_t found, uint64_t asked)
{
    if (found == asked)
        return;
    std::fprintf(stderr, "WRONG: %s: %llu, but it was asked for %llu\n", what.c_str(),
                 static_cast<unsigned long long>(found), static_cast<unsigned long long>(asked));
    wrong++;
}

/* How often Crest's histogram or timer was recorded into; the rest is compared when given. */
uint64_t recorded(const crest_snapshot *snapshot, const char *name, const char *outcome,
                  uint64_t *sum, uint64_t *min, uint64_t *max)
{
    crest_series_view series;
    if (crest_snapshot_find(snapshot, name, &outcome, outcome != nullptr, &series) != CREST_OK)
        return 0;
    *sum = crest_distribution_sum(series.distribution);
    *min = crest_distribution_min(series.distribution);
    *max = crest_distribution_max(series.distribution);
    return crest_distribution_count(series.distribution);
}

/* What recording all values `latencies` times and `sizes` times leaves behind. */
struct left_behind {
    uint64_t count = 0, sum = 0, least = UINT64_MAX, most = 0;
    left_behind(uint64_t latencies, uint64_t sizes)
    {
        for (unsigned i = 0; i < HOT_VALUES; i++) {
            add(uint64_t(values[i]), latencies / HOT_VALUES);
            add(uint64_t(even[i]), sizes / HOT_VALUES);
        }
    }
    void add(uint64_t value, uint64_t times)
    {
        count += times;
        sum += value * times;
        least = times ? std::min(least, value) : least;
        most = times ? std::max(most, value) : most;
    }
};

void check_histogram(const crest_snapshot *snapshot, unsigned language, unsigned which)
{
    const hot_loops &loops = loops_of(language);
    const asked &was = asked_of[language];
    std::string in = std::string(loops.language) + ": ";
    uint64_t sum = 0, min = 0, max = 0;
    left_behind whole(was.histogram[which], was.histogram_even[which]);
    expect(in + "values in a histogram",
           recorded(snapshot, loops.histogram_name[which], nullptr, &sum, &min, &max), whole.count);
    expect(in + "sum of a histogram", sum, whole.sum);
    if (whole.count != 0) {
        expect(in + "least value of a histogram", min, whole.least);
        expect(in + "largest value of a histogram", max, whole.most);
    }
    for (unsigned folded = 0; folded < 2; folded++) {
        int64_t least, most;
        left_behind plain(folded ? was.folded[which] : was.plain[which],
                          folded ? 0 : was.plain_even[which]);
        expect(in + "values in a plain HDR", loops.plain_hdr_total(which, folded, &least, &most),
               plain.count);
        if (plain.count != 0) {
            expect(in + "least value of a plain HDR", uint64_t(least), plain.least);
            expect(in + "largest value of a plain HDR", uint64_t(most), plain.most);
        }
    }
}

void check_by_name()
{
    uint64_t named = 0;
    for (unsigned i = 0; i < HOT_METRICS; i++) {
        expect("by a literal name", by_name_literal_total(i), asked_of[0].literal[i]);
        named += asked_of[0].named[i];
    }
    expect("by names at run time", by_name_total(), named);
}

void check_resolved()
{
    uint64_t resolved = 0;
    for (uint64_t each : asked_of[0].resolved)
        resolved += each;
    expect("label values that led to their handles", resolve_total(), resolved);
}

void check_keyed()
{
    uint64_t keyed = 0, scoped = 0;
    for (unsigned i = 0; i < HOT_METRICS; i++) {
        keyed += asked_of[0].keyed[i];
        scoped += asked_of[0].scoped[i];
    }
    expect("keyed operations", keyed_total(), keyed);
    expect("scopes", keyed_scope_total(), scoped);
}

void check_language(const crest_snapshot *snapshot, unsigned language)
{
    const hot_loops &loops = loops_of(language);
    const asked &was = asked_of[language];
    std::string in = std::string(loops.language) + ": ";
    uint64_t timings = 0, gauges = 0, sum = 0, min = 0, max = 0;
    for (unsigned i = 0; i < HOT_METRICS; i++) {
        expect(in + "counter", loops.counter_total(i), was.counter[i]);
        expect(in + "lock xadd", loops.lock_total(i), was.xadd[i]);
        expect(in + "thread-local ++", loops.thread_local_total(i), was.thread_local_inc[i]);
        check_histogram(snapshot, language, i);
        timings += was.timer[i];
        gauges += was.gauge[i];
    }
    expect(in + "timings", recorded(snapshot, loops.timer_name, "ok", &sum, &min, &max), timings);
    if (timings != 0)
        expect(in + "timings that took any time", sum > 0 && max > 0, 1);
    uint64_t raised = 0;
    for (unsigned i = 0; i < HOT_METRICS; i++)
        raised += was.raised[i];
    expect(in + "range sampler", uint64_t(loops.range_sampler_value()), raised);
    if (gauges != 0)
        expect(in + "gauge", uint64_t(loops.gauge_value()), FAST_BATCH - 1);
}

/* ---- running all ---- */

/* Takes --rounds=N out of the arguments. */
unsigned rounds_wanted(int *argc, char **argv)
{
    unsigned rounds = ROUNDS;
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        if (std::strncmp(argv[i], "--rounds=", 9) == 0)
            rounds = std::max(ROUNDS_MIN, unsigned(std::strtoul(argv[i] + 9, nullptr, 10)));
        else
            argv[kept++] = argv[i];
    }
    *argc = kept;
    return rounds;
}

} // namespace

int main(int argc, char **argv)
{
    unsigned rounds = rounds_wanted(&argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    values_prepare();
    for (unsigned language = 0; language < 2; language++) {
        if (!loops_of(language).plain_hdr_prepare()) {
            std::fprintf(stderr, "no memory for the plain HDR\n");
            return 2;
        }
        register_language(language);
    }
    by_name_prepare();
    usleep(20000); /* until the clock knows the rate of its counter */
    (void)crest_now();

    verdict gathered;
    verdict warm_up;
    for (unsigned round = 0; round <= rounds; round++) {
        gatherer reporter(round == 0 ? warm_up : gathered);
        if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0 || wrong != 0)
            return 2;
        if (warm_up.empty()) /* only listed */
            return 0;
    }
    crest_snapshot *snapshot = crest_snapshot_take(nullptr);
    for (unsigned language = 0; language < 2; language++)
        check_language(snapshot, language);
    crest_snapshot_free(snapshot);
    check_by_name();
    check_keyed();
    check_resolved();

    machine_facts known = machine_describe(rounds);
    machine_print(known);
    std::printf("ratios are medians over rounds of one run; costs are processor time\n");
    unsigned missed = gathered.print(table());
    unsigned disturbed = asked_of[0].disturbed + asked_of[1].disturbed;
    if (disturbed != 0)
        std::printf("\n%u windows of two threads did not overlap and were repeated.\n", disturbed);
    std::error_code failed;
    std::filesystem::create_directories(std::filesystem::path(RESULTS).parent_path(), failed);
    if (!gathered.write_json(RESULTS, table(), known))
        std::fprintf(stderr, "%s: cannot be written\n", RESULTS);
    else
        std::printf("\nAll samples: %s\n", RESULTS);
    if (wrong != 0) {
        std::fprintf(stderr, "\n%u results are wrong: the figures above mean nothing.\n", wrong);
        return 1;
    }
    return missed != 0 && machine_strict();
}
