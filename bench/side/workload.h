/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of every side: the same values, names, labels and order for each language. `make
 * bench` writes them into a folder as plain files (bench/README.md says which); this reads them. It
 * measures nothing.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/* How many values there are, and how many steps of the order: a power of two. */
const unsigned WORKLOAD_VALUES = 65536;

struct workload {
    std::string folder;             /* that it was read from */
    std::vector<int64_t> values;    /* WORKLOAD_VALUES durations in nanoseconds, to be recorded */
    std::vector<int64_t> even;      /* as many sizes, spread evenly */
    std::vector<uint32_t> order;    /* WORKLOAD_VALUES numbers of metrics, by chance */
    std::vector<std::string> names; /* of metrics, dotted, `metrics` of them */
    std::vector<std::vector<std::string>> labels; /* the values of each metric's label keys */
    std::vector<double> bounds;    /* of a histogram, in nanoseconds, ascending, without +Inf */
    std::vector<unsigned> threads; /* how many at once: 1 and others */
    std::map<std::string, std::string> settings; /* every line of workload.txt */

    /* A setting as a number, or `otherwise` where there is none. */
    uint64_t number(const std::string &key, uint64_t otherwise) const;
    /* A setting that lists numbers, separated by spaces. */
    std::vector<uint64_t> numbers(const std::string &key) const;
};

/* Reads the folder. Says on stderr what is missing or damaged, and exits with 2 then. */
workload workload_read(const std::string &folder);

/* What recording all values `times` times, WORKLOAD_VALUES being a whole round, leaves behind. */
struct workload_left {
    uint64_t count, sum;
    int64_t least, most;
};
workload_left workload_left_of(const std::vector<int64_t> &values, uint64_t times);

#endif
