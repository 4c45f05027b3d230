/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that have metrics of their own: scopes, keyed timers among many, the measured mutex. */
#ifndef BENCH_OTHER_LOOPS_H
#define BENCH_OTHER_LOOPS_H

#include "loops.h"

#define OTHER_SCOPE_NAME "bench.scope-time"
#define OTHER_SCOPE_CC_NAME "bench.cc.scope-time"
#define OTHER_AMONG_NAME "bench.keyed-late-time"
#define OTHER_MUTEX_NAME "bench.mutex"

#ifdef __cplusplus
extern "C" {
#endif

/* A block timed by CREST_TIME_SCOPE, in either language. */
loops_loop other_scope, other_scope_cc;

/* Begin and end of a keyed timer with a deadline, among a thousand others that are in flight. */
void other_among_prepare(void);
loops_loop other_among;

/* An uncontended lock and unlock. */
loops_loop other_mutex;

#ifdef __cplusplus
}
#endif

#endif
