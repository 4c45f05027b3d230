/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From samples to ratios: gathers what each round measured, prints the table, writes the JSON, and
 * says which targets were missed. It knows nothing of what was measured.
 */
#ifndef BENCH_VERDICT_H
#define BENCH_VERDICT_H

#include <map>
#include <string>
#include <vector>

/* One line of the table. */
struct verdict_row {
    std::string name;      /* the benchmark's */
    std::string reference; /* the benchmark it is divided by; empty: none */
    double limit;          /* what the ratio may be at most; 0: no target */
    std::string text;      /* what it is */
    double over_ns = 0;    /* what it may cost above the reference, if any; 0: no such target */
    double times = 0;      /* how many times less than the reference at least; 0: no such target */
    std::string unit = "ns";
};

struct verdict_spread {
    double median, least, most;
};

class verdict
{
  public:
    void add(const std::string &name, double ns) { samples_[name].push_back(ns); }
    size_t rounds(const std::string &name) const;
    bool empty() const { return samples_.empty(); }

    /* Median and range of a benchmark's samples, in nanoseconds an operation. */
    verdict_spread cost(const std::string &name) const;
    /* Of the ratios of each round: both sides of a ratio were measured one after the other. */
    verdict_spread ratio(const verdict_row &row) const;

    /* How many times less than the reference it costs. */
    verdict_spread less(const verdict_row &row) const;

    /* Of what each round cost above the reference, or above nothing, in nanoseconds. */
    verdict_spread over(const verdict_row &row) const;

    /* Prints the rows of which there are samples; the number of missed targets. */
    unsigned print(const std::vector<verdict_row> &rows) const;
    /* Writes them with every sample; 0 when the file cannot be written. */
    int write_json(const std::string &path, const std::vector<verdict_row> &rows,
                   const std::vector<std::pair<std::string, std::string>> &facts) const;

  private:
    bool has(const verdict_row &row) const;
    unsigned print_row(const verdict_row &row) const;
    std::map<std::string, std::vector<double>> samples_;
};

#endif
