/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that the library adds to the end of a thread that recorded.
 */
#ifndef BENCH_THREAD_EXIT_H
#define BENCH_THREAD_EXIT_H

#include <string>
#include <vector>

class side;

void thread_exit_benchmarks(side &mine);
/* The program of a process of its own: `kind` and a number of metrics. Its exit status. */
int thread_exit_process(const std::vector<std::string> &words);

#endif
