/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a thread's first record into each of many metrics. Each is measured in a process of
 * its own, because a thread leaves its cells to the next one.
 */
#ifndef BENCH_FIRST_TOUCH_H
#define BENCH_FIRST_TOUCH_H

#include <string>
#include <vector>

class side;

void first_touch_benchmarks(side &mine);
/* The program of that process: `kind` and a number of metrics. Its exit status. */
int first_touch_process(const std::vector<std::string> &words);

#endif
