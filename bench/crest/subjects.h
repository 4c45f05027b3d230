/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics that Crest's loops record into, and whether in the end they hold the expected totals.
 * Everything is read through the public interface.
 */
#ifndef BENCH_SUBJECTS_H
#define BENCH_SUBJECTS_H

#include "loops.h"
#include "side.h"

/* Copies the inputs to where the loops find them; must come first. */
void subjects_inputs(const workload &given);

/* How many sets of metrics there are, for threads that are to have their own. */
unsigned subjects_sets(const workload &given);

/* Makes the metrics of an operation: LOOPS_HOT, and `sets` times as many as there are names. */
void subjects_make(loops_peer peer, loops_operation operation, unsigned sets);

/* Expects in them what `hot` and `random`, the ids of their benchmarks, were asked for. */
void subjects_expect(side &mine, loops_peer peer, loops_operation operation, const std::string &hot,
                     const std::string &random, unsigned sets);

/* The contents of a histogram or a timer, once the rounds are over. */
workload_left subjects_recorded(const std::string &name, const std::vector<std::string> &labels);

/* Expects so many records in a timer's `ok`, of any duration. */
void subjects_expect_timer(side &mine, const std::string &check, const std::string &name,
                           const std::function<uint64_t()> &asked);

#endif
