/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See first_touch.h. The metrics exist, and another thread has recorded into all of them. Threads
 * that are all there at once have cells of their own each; those that run one after the other take
 * over the cells of the thread before, which is another figure. Distributions keep a thread's first
 * four values as they are and count from the fifth on, so what the first five take is a third.
 */
#include "first_touch.h"
#include "instruments.h"
#include "own_process.h"
#include "side.h"
#include "together.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

namespace
{

const unsigned EVERY = 2; /* rounds: each time is some processes */
const char *const KINDS[] = {"counter", "gauge", "histogram", "timer", "range-sampler"};
const unsigned THREADS = 9; /* of either sort; an odd number has a middle one */
const int64_t VALUE = 100000;
const unsigned VALUES = 5; /* of each metric, by a thread that stays */

/* Processor time of one record into each, less the cost of reading the clock. */
double touch_ns(instruments &all)
{
    uint64_t before = together_cpu_ns(), between = together_cpu_ns();
    all.record_each(VALUE);
    uint64_t after = together_cpu_ns();
    return double(after - between) - double(between - before);
}

/* What the first value takes, and all of them. */
struct touches {
    double first, all;
};

/* Threads that stay until all have recorded: they sleep, and the next one has a processor for
 * itself. */
touches touch_anew(instruments &all)
{
    std::vector<double> ns, sums;
    std::vector<std::thread> threads;
    std::mutex lock;
    std::condition_variable changed;
    bool ended = false;
    for (unsigned i = 0; i < THREADS; i++) {
        threads.emplace_back([&] {
            double first = touch_ns(all), sum = first;
            for (unsigned value = 1; value < VALUES; value++)
                sum += touch_ns(all);
            std::unique_lock<std::mutex> held(lock);
            ns.push_back(first);
            sums.push_back(sum);
            changed.notify_all();
            changed.wait(held, [&] { return ended; });
        });
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [&] { return ns.size() > i; });
    }
    {
        std::lock_guard<std::mutex> held(lock);
        ended = true;
        changed.notify_all();
    }
    for (std::thread &thread : threads)
        thread.join();
    return {own_process_median(ns), own_process_median(sums)};
}

/* Threads that start when the previous one has ended. */
double touch_again(instruments &all)
{
    std::vector<double> ns;
    for (unsigned i = 0; i < THREADS; i++)
        std::thread([&] { ns.push_back(touch_ns(all)); }).join();
    return own_process_median(ns);
}

} // namespace

int first_touch_process(const std::vector<std::string> &words)
{
    instruments all(words[0], std::strtoul(words[1].c_str(), nullptr, 10));
    all.record_each(VALUE);
    touches anew = touch_anew(all);
    double again = touch_again(all), count = double(all.count());
    uint64_t asked = all.total_after(1 + THREADS * (VALUES + 1), VALUE);
    if (all.total() != asked) {
        std::fprintf(stderr, "first touch of %s: %llu, but it should be %llu\n", words[0].c_str(),
                     static_cast<unsigned long long>(all.total()),
                     static_cast<unsigned long long>(asked));
        return 1;
    }
    std::printf("anew %.9g\nfive %.9g\nagain %.9g\n", anew.first / count, anew.all / count,
                again / count);
    return 0;
}

void first_touch_benchmarks(side &mine)
{
    for (const char *kind : KINDS)
        for (uint64_t metrics : {uint64_t(1), mine.given().number("metrics", 1000)}) {
            std::string count = std::to_string(metrics), name = kind;
            auto figures = std::make_shared<own_process_figures>([=] {
                return own_process_run({own_process_path(), "--measure=first-touch", name, count});
            });
            mine.value(
                "crest/first-touch-" + name + "/" + count, "ns",
                [=] { return figures->value("anew"); }, EVERY);
            mine.value(
                "crest/first-touch-taken-over-" + name + "/" + count, "ns",
                [=] { return figures->value("again"); }, EVERY);
            if (metrics != 1 && (name == "histogram" || name == "timer"))
                mine.value(
                    "crest/first-five-" + name + "/" + count, "ns",
                    [=] { return figures->value("five"); }, EVERY);
        }
}
