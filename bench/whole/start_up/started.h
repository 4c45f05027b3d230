/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the programs that are started to measure how long a start takes.
 */
#ifndef BENCH_STARTED_H
#define BENCH_STARTED_H

/* Takes a snapshot: how many metrics it has that make_static_metrics.py declared. Without the
 * library, none. */
unsigned long started_metrics(void);

#endif
