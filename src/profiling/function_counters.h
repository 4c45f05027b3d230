/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time by function, as counters for Prometheus: crest_profile_cpu_seconds_total with the labels
 * function, timer and kind. One thread at a time; without the profiler's lock, as files are read.
 *
 *     crest_function_counters_make(50)
 *     crest_function_counters_add(&rows, period_ns)      rows of a tap
 *
 * A function gets a counter of its own, within an operation's timer or outside of all, once it has
 * CREST_FUNCTIONS_SHARE of the CPU time of the last minutes, while there is a place: `most` of kind
 * self, as many of kind total. It keeps its place for good, so that no counter is ever missing or
 * goes down. What has no place is in the function "other", of kind self: with it, all of kind self
 * are the CPU time that was sampled. Of kind total there is no other: functions call each other.
 */
#ifndef CREST_PROFILING_FUNCTION_COUNTERS_H
#define CREST_PROFILING_FUNCTION_COUNTERS_H

#include "profiling/profile_rows.h"

#define CREST_FUNCTIONS_SHARE 0.01
/* What is read of old samples at each reading: a reading's weight halves in some 7 readings. */
#define CREST_FUNCTIONS_DECAY 0.9
/* Functions that are looked at without having a counter, and samples that one needs. */
#define CREST_FUNCTIONS_SEEN 2048u
#define CREST_FUNCTIONS_SAMPLES 5.0

/* Makes the family. 0 without memory. */
int crest_function_counters_make(unsigned most);

/* Adds what the rows have. Reads files of modules with addresses that are new. */
void crest_function_counters_add(const crest_rows *rows, uint64_t period_ns);

/* As the profiler stops: forgets all names but those of functions that have a counter. */
void crest_function_counters_rest(void);

#endif
