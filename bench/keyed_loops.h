/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timed loops of keyed timers, scopes and the measured mutex. Compiled as C; `times` operations
 * each, as in hot_loops.h.
 */
#ifndef BENCH_KEYED_LOOPS_H
#define BENCH_KEYED_LOOPS_H

#include "hot_loops.h"

CREST_BEGIN_C

/* Begin and end of an operation, the ids being a thread's own; the second has a deadline, and a
 * thousand others in flight. The total is what their timers recorded. */
void keyed_begin_end(unsigned thread, uint64_t times);
void keyed_among_others(unsigned thread, uint64_t times);
uint64_t keyed_total(void);

/* A block timed by CREST_TIME_SCOPE. */
void keyed_scope(unsigned which, uint64_t times);
uint64_t keyed_scope_total(void);

/* A lock and an unlock that nobody disturbs, measured and plain. */
void keyed_mutex(unsigned which, uint64_t times);
void keyed_plain_mutex(unsigned which, uint64_t times);

CREST_END_C

#endif
