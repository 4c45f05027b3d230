/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of reading: pages beside prometheus-cpp's, snapshots, their memory, ticks, and their
 * effect on recording threads.
 */
#ifndef BENCH_PAGES_H
#define BENCH_PAGES_H

class side;

void pages_benchmarks(side &mine);

#endif
