/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of this side: each lists its benchmarks, and the totals that they must leave behind. */
#ifndef BENCH_CREST_PARTS_H
#define BENCH_CREST_PARTS_H

#include "side.h"

/* What the machine can do. */
void register_limits(side &mine);

/* Recording through handles: from C, from C++, through exported symbols. */
void register_recording(side &mine);

/* Finding the metric each time, by a name or by label values. */
void register_resolving(side &mine);

/* The library as the profile wants it: not started at all, or with these options; and a page of it
 * written every so often, or not. Ends with the object. */
class library
{
  public:
    explicit library(const workload &given);
    ~library();
    library(const library &) = delete;
    library &operator=(const library &) = delete;

  private:
    struct scraper;
    scraper *scraper_ = nullptr;
    bool started_ = false;
};

/* Operations of a sample: of a nanosecond or so, for each metric, alone and with other threads, and
 * those on a thousand metrics. All are whole rounds of the values. */
const uint64_t TIMES_FAST = UINT64_C(1) << 18;
const uint64_t TIMES_TOGETHER = UINT64_C(1) << 20;
const uint64_t TIMES_RANDOM = UINT64_C(1) << 17;
/* Of tens of nanoseconds; whole rounds of the steps. */
const uint64_t TIMES_SLOW = UINT64_C(1) << 13;

#endif
