/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads that do the same at the same time, and what an operation costs each of them.
 *
 * Not Google Benchmark's own threads: those are let go one after the other by a condition variable,
 * so that the first may be far ahead, and contention stays hidden.
 */
#ifndef BENCH_TWO_THREADS_H
#define BENCH_TWO_THREADS_H

#include <cstdint>

/* `times` operations by thread `thread`, 0 or 1. */
typedef void two_threads_work(const void *context, unsigned thread, uint64_t times);

struct two_threads_result {
    double ns;        /* a thread's processor time per operation, mean of the two */
    uint64_t done[2]; /* operations of each thread, those of disturbed windows included */
    unsigned disturbed;
};

/*
 * Lets both threads through a spin gate, each on a processor of its own where there are two, until
 * the first has done `times` operations. A window in which either waited for a processor is
 * repeated, because then they did not overlap; after a number of attempts the least disturbed
 * counts.
 */
two_threads_result two_threads_run(two_threads_work *work, const void *context, uint64_t times);

/* The processor time of this thread, in nanoseconds. */
uint64_t two_threads_cpu_ns();

#endif
