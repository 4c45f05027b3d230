/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A side of the comparison that is written in C or C++: lists its benchmarks, runs all of them once
 * a round, and in the end checks their totals. bench/README.md has the protocol; Google Benchmark
 * does the timing. A program makes one side:
 *
 *     int main(int argc, char **argv)
 *     {
 *         side mine("example", argc, argv);
 *         mine.version("example", "1.0");
 *         mine.loop("example/counter/hot", 1 << 19, 8, count);
 *         mine.expect("counts", [] { return total(); },
 *                     [&] { return mine.asked("example/counter/hot"); });
 *         return mine.run();
 *     }
 */
#ifndef BENCH_SIDE_H
#define BENCH_SIDE_H

#include "workload.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

/* Which arrangements of several threads make sense: all on one object, each on its own. */
enum side_threads : unsigned { SIDE_ONE = 0, SIDE_SAME = 1, SIDE_SEPARATE = 2, SIDE_BOTH = 3 };

/* Of a value that is measured once a run: no run has so many rounds. */
const unsigned SIDE_ONCE = 1000000;

class side
{
  public:
    /* Takes --inputs=DIR and --only=REGEX; exits with 2 on anything else. */
    side(const std::string &name, int argc, char **argv);

    const workload &given() const { return given_; }

    /* A version that belongs beside the figures: of a peer, of a runtime. */
    void version(const std::string &what, const std::string &which);
    /* A benchmark that cannot be run here, and why, in a sentence. */
    void missing(const std::string &id, const std::string &why);
    /* Whether the ids of `prefix`, with any number of threads, are wanted: to prepare for. */
    bool wanted(const std::string &prefix) const;

    /*
     * `times` operations of `loop` on one of `objects`, taken in turn; `id` is
     * PEER/OPERATION/SPREAD, to which the number of threads is added. A sample is the processor
     * time of an operation. With several threads each has object number `thread`, or all have the
     * same; `times_together` are the operations of a window then, `times` where it is 0.
     */
    void loop(const std::string &id, uint64_t times, unsigned objects,
              const std::function<void(unsigned object, uint64_t times)> &loop,
              side_threads threads = SIDE_ONE, uint64_t times_together = 0);

    /* Something that measures itself, in `unit`, once every `every` rounds, from the first on. */
    void value(const std::string &id, const std::string &unit, const std::function<double()> &value,
               unsigned every = 1);

    /* Operations asked for so far: of one object, of all. */
    uint64_t asked(const std::string &id, unsigned object) const;
    uint64_t asked(const std::string &id) const;

    /* A total that is compared when the run is over; when they differ, the run has failed. */
    void expect(const std::string &what, const std::function<uint64_t()> &found,
                const std::function<uint64_t()> &asked);

    /* Does what stdin says until it says `finish`; the exit status of the program. */
    int run();

  private:
    struct benchmark_of {
        std::string id, unit;
        unsigned every;
    };
    struct expectation {
        std::string what;
        std::function<uint64_t()> found, asked;
    };
    void together(const std::string &id, unsigned threads, bool same, uint64_t times,
                  unsigned objects, const std::function<void(unsigned, uint64_t)> &loop);
    void list() const;
    void round(uint64_t number);
    int finish() const;

    std::string name_, only_;
    workload given_;
    std::map<std::string, std::string> versions_;
    std::vector<std::pair<std::string, std::string>> missing_;
    std::vector<benchmark_of> benchmarks_;
    std::map<std::string, std::function<double()>> values_;
    std::map<std::string, std::vector<uint64_t>> asked_;
    std::vector<expectation> expectations_;
};

#endif
