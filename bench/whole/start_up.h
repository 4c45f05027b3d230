/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a program's start: without the library, with it, and with thousands of metrics that
 * are declared at file scope.
 */
#ifndef BENCH_START_UP_H
#define BENCH_START_UP_H

class side;

void start_up_benchmarks(side &mine);

#endif
