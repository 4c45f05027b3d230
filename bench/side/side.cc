/* SPDX-License-Identifier: Apache-2.0 */
/* See side.h. */
#include "side.h"
#include "together.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <regex>

namespace
{

std::string quoted(const std::string &text)
{
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + "\"";
}

void say_sample(const std::string &id, double value, double disturbed, double overlap)
{
    std::printf("{\"id\": %s, \"value\": %.6g, \"disturbed\": %.0f, \"overlap\": %.3f}\n",
                quoted(id).c_str(), value, disturbed, overlap);
    std::fflush(stdout);
}

/* Gives on what Google Benchmark measured: of one thread its processor time, of several a mean. */
class teller : public benchmark::BenchmarkReporter
{
  public:
    bool ReportContext(const Context &) override { return true; }
    void ReportRuns(const std::vector<Run> &runs) override
    {
        for (const Run &run : runs) {
            if (run.run_type != Run::RT_Iteration || run.error_occurred)
                continue;
            auto of = [&run](const char *name, double otherwise) {
                auto found = run.counters.find(name);
                return found == run.counters.end() ? otherwise : double(found->second);
            };
            double ns = of("ns", run.GetAdjustedCPUTime() / of("times", 1));
            say_sample(run.run_name.function_name, ns, of("disturbed", 0), of("overlap", 1));
        }
    }
};

} // namespace

side::side(const std::string &name, int argc, char **argv) : name_(name), only_(".*")
{
    std::string inputs;
    for (int i = 1; i < argc; i++) {
        if (std::strncmp(argv[i], "--inputs=", 9) == 0)
            inputs = argv[i] + 9;
        else if (std::strncmp(argv[i], "--only=", 7) == 0)
            only_ = argv[i] + 7;
    }
    if (inputs.empty()) {
        std::fprintf(stderr, "usage: %s --inputs=DIR [--only=REGEX]; `make bench` starts it\n",
                     argv[0]);
        std::exit(2);
    }
    given_ = workload_read(inputs);
}

void side::version(const std::string &what, const std::string &which)
{
    versions_[what] = which;
}

void side::missing(const std::string &id, const std::string &why)
{
    missing_.emplace_back(id, why);
}

bool side::wanted(const std::string &prefix) const
{
    std::regex only(only_);
    for (unsigned threads : given_.threads)
        for (const char *suffix : {"", "-same", "-separate"})
            if (std::regex_search(prefix + "/" + std::to_string(threads) + suffix, only))
                return true;
    return false;
}

void side::loop(const std::string &id, uint64_t times, unsigned objects,
                const std::function<void(unsigned, uint64_t)> &loop, side_threads threads,
                uint64_t times_together)
{
    asked_[id].resize(std::max<size_t>(objects, 1));
    std::string one = id + "/1";
    if (std::regex_search(one, std::regex(only_))) {
        benchmarks_.push_back({one, "ns", 1});
        std::vector<uint64_t> &asked = asked_[id];
        auto body = [=, &asked](benchmark::State &state) {
            unsigned object = 0;
            for (auto _ : state) {
                loop(object, times);
                asked[object] += times;
                object = (object + 1) % objects;
            }
            state.counters["times"] = double(times);
        };
        benchmark::RegisterBenchmark(one.c_str(), body)->Iterations(objects);
    }
    for (unsigned several : given_.threads) {
        uint64_t window = times_together ? times_together : times;
        if (several > 1 && threads & SIDE_SAME)
            together(id, several, true, window, objects, loop);
        if (several > 1 && threads & SIDE_SEPARATE)
            together(id, several, false, window, objects, loop);
    }
}

void side::together(const std::string &id, unsigned threads, bool same, uint64_t times,
                    unsigned objects, const std::function<void(unsigned, uint64_t)> &loop)
{
    std::string name = id + "/" + std::to_string(threads) + (same ? "-same" : "-separate");
    if (!std::regex_search(name, std::regex(only_)))
        return;
    if (threads > together_processors()) {
        missing(name, "there are " + std::to_string(together_processors()) + " processors here");
        return;
    }
    if (!same && objects < threads) {
        missing(name, "there are " + std::to_string(objects) + " objects to have one each of");
        return;
    }
    benchmarks_.push_back({name, "ns", 1});
    std::vector<uint64_t> &asked = asked_[id];
    /* two windows, so that both arrangements use the objects equally often */
    auto body = [=, &asked](benchmark::State &state) {
        double ns = 0, disturbed = 0, overlap = 1;
        unsigned window = 0;
        for (auto _ : state) {
            auto object_of = [=](unsigned thread) {
                return (same ? window : window + thread) % objects;
            };
            together_result result = together_run(
                threads, times, [&](unsigned thread, uint64_t n) { loop(object_of(thread), n); });
            for (unsigned i = 0; i < threads; i++)
                asked[object_of(i)] += result.done[i];
            ns += result.ns / 2;
            disturbed += result.disturbed;
            overlap = std::min(overlap, result.overlap);
            state.SetIterationTime(result.ns * 1e-9);
            window++;
        }
        state.counters["ns"] = ns;
        state.counters["disturbed"] = disturbed;
        state.counters["overlap"] = overlap;
    };
    benchmark::RegisterBenchmark(name.c_str(), body)->Iterations(2)->UseManualTime();
}

void side::value(const std::string &id, const std::string &unit,
                 const std::function<double()> &value, unsigned every)
{
    std::string one = id + "/1";
    if (!std::regex_search(one, std::regex(only_)))
        return;
    benchmarks_.push_back({one, unit, every});
    values_[one] = value;
}

uint64_t side::asked(const std::string &id, unsigned object) const
{
    auto found = asked_.find(id);
    return found == asked_.end() || object >= found->second.size() ? 0 : found->second[object];
}

uint64_t side::asked(const std::string &id) const
{
    uint64_t all = 0;
    auto found = asked_.find(id);
    if (found != asked_.end())
        for (uint64_t each : found->second)
            all += each;
    return all;
}

void side::expect(const std::string &what, const std::function<uint64_t()> &found,
                  const std::function<uint64_t()> &asked)
{
    expectations_.push_back({what, found, asked});
}

void side::list() const
{
    std::printf("{\"side\": %s, \"versions\": {", quoted(name_).c_str());
    const char *comma = "";
    for (const auto &version : versions_) {
        std::printf("%s%s: %s", comma, quoted(version.first).c_str(),
                    quoted(version.second).c_str());
        comma = ", ";
    }
    std::printf("}, \"benchmarks\": [");
    comma = "";
    for (const benchmark_of &each : benchmarks_) {
        std::printf("%s{\"id\": %s, \"unit\": %s, \"every\": %u}", comma, quoted(each.id).c_str(),
                    quoted(each.unit).c_str(), each.every);
        comma = ", ";
    }
    std::printf("], \"missing\": [");
    comma = "";
    for (const auto &each : missing_) {
        std::printf("%s{\"id\": %s, \"why\": %s}", comma, quoted(each.first).c_str(),
                    quoted(each.second).c_str());
        comma = ", ";
    }
    std::printf("]}\n");
}

void side::round(uint64_t number)
{
    teller reporter;
    if (benchmarks_.size() > values_.size())
        benchmark::RunSpecifiedBenchmarks(&reporter);
    for (const benchmark_of &each : benchmarks_) {
        auto found = values_.find(each.id);
        bool due = number == 0 ? each.every == 1 : (number - 1) % each.every == 0;
        if (found != values_.end() && due)
            say_sample(each.id, found->second(), 0, 1);
    }
    std::printf("{\"done\": \"round\"}\n");
}

int side::finish() const
{
    unsigned wrong = 0;
    for (const expectation &each : expectations_) {
        uint64_t found = each.found(), asked = each.asked();
        std::printf("{\"check\": %s, \"found\": %llu, \"asked\": %llu}\n",
                    quoted(each.what).c_str(), static_cast<unsigned long long>(found),
                    static_cast<unsigned long long>(asked));
        wrong += found != asked;
    }
    std::printf("{\"done\": \"finish\"}\n");
    std::fflush(stdout);
    return wrong != 0;
}

int side::run()
{
    int no_arguments = 1;
    char program[] = "bench", *arguments[] = {program, nullptr};
    benchmark::Initialize(&no_arguments, arguments);
    list();
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "finish")
            return finish();
        if (line.compare(0, 6, "round ") == 0)
            round(std::strtoull(line.c_str() + 6, nullptr, 10));
        std::fflush(stdout);
    }
    return 2; /* the runner is gone */
}
