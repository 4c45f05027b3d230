/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements in a fresh process of their own: memory, the first touch of a
 * thread, start-up. What such a process prints is lines of a name, a space and a number.
 */
#ifndef BENCH_OWN_PROCESS_H
#define BENCH_OWN_PROCESS_H

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

typedef std::map<std::string, double> own_process_values;

/* Of all so far. A process that ends with another status than 0 says why on stderr, and its figures
 * are invalid. */
struct own_process_count {
    uint64_t started, right;
};
own_process_count own_process_counted();

/* Runs a program with its arguments to its end; what it printed, or nothing when it failed. */
own_process_values own_process_run(const std::vector<std::string> &words);

/* The path of this program, to start it once more. */
std::string own_process_path();

/* Several figures of one measurement, which is made anew when one of them is asked for again. */
class own_process_figures
{
  public:
    explicit own_process_figures(std::function<own_process_values()> measure)
        : measure_(std::move(measure))
    {
    }
    double value(const std::string &name);

  private:
    std::function<own_process_values()> measure_;
    own_process_values last_;
    std::set<std::string> taken_;
};

/* The middle one. */
double own_process_median(std::vector<double> values);

#endif
