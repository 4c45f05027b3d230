/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory per series, and per series of each thread more that records into it: by what a process of
 * its own has resident, and by the library's own account. prometheus-cpp's beside it.
 */
#ifndef BENCH_SERIES_MEMORY_H
#define BENCH_SERIES_MEMORY_H

#include "workload.h"

#include <memory>

class side;

/* Series of one of the two, of which each has been recorded into by this thread. */
class series_made
{
  public:
    virtual ~series_made() = default;
    virtual void record() = 0; /* into each what a distribution is given, or one */
    /* What has been recorded, read back. */
    virtual uint64_t total() = 0;
    virtual uint64_t total_after(uint64_t times) = 0;
};

/* `kind` as in instruments.h. Null: prometheus-cpp has none such, or was not there. */
std::unique_ptr<series_made> series_made_crest(const std::string &kind, size_t count,
                                               const workload &given);
std::unique_ptr<series_made> series_made_peer(const std::string &kind, size_t count,
                                              const workload &given);

/* Records into each distribution, the first of the values. */
const unsigned SERIES_RECORDS = 100;

void series_memory_benchmarks(side &mine);
/* The program of that process: peer, kind, number of series, folder of inputs. Its exit status. */
int series_memory_process(const std::vector<std::string> &words);

#endif
