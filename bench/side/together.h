/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several threads at once, each on a processor of its own, to measure the cost of an operation to a
 * thread. They pass a gate together and stop together. Without overlap there is nothing to contend
 * for, so a window in which one of them had to wait for its processor is taken again. A thread that
 * sleeps in a lock does not wait for a processor: that time is counted as part of the operation.
 */
#ifndef BENCH_TOGETHER_H
#define BENCH_TOGETHER_H

#include <cstdint>
#include <functional>
#include <vector>

/* Operations between two checks of the flag that ends a window; `times` are multiples of it. */
const uint64_t TOGETHER_CHUNK = 65536;

struct together_result {
    double ns;                  /* time an operation, asleep in it too, the mean of the threads */
    std::vector<uint64_t> done; /* operations of each thread, those of discarded windows too */
    unsigned disturbed;         /* windows that were taken again */
    double overlap;             /* of the window that counts: this time over wall time, the least */
};

/*
 * Runs `work(thread, times)` in `threads` threads, some chunks each, until the first has done
 * `times`. A chunk is TOGETHER_CHUNK operations, or `times` when that is less.
 */
together_result together_run(unsigned threads, uint64_t times,
                             const std::function<void(unsigned thread, uint64_t times)> &work);

/* Processor time of the calling thread, in nanoseconds. */
uint64_t together_cpu_ns();

/* Processors this process may use. */
unsigned together_processors();

/* Puts the calling thread on the n-th of them, where there are two at least. */
void together_pin(unsigned n);

#endif
