/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effect on a recording thread of pages that are written all the time beside it.
 */
#ifndef BENCH_RECORDERS_H
#define BENCH_RECORDERS_H

#include <cstdint>

class crest_side;

/* Batches of one phase: each increments every counter once. */
struct recorders_phase {
    double median_ns, p99_ns; /* of a batch, elapsed */
    uint64_t batches;
    uint64_t pages; /* written meanwhile */
};

/* One phase of so many milliseconds, the recorder on the first processor and, if pages are to be
 * written, a thread that does so on the second. */
recorders_phase recorders_run(crest_side &side, unsigned ms, bool scraped);

#endif
