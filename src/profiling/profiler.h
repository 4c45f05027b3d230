/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler's thread and its lock, for profiles.c. See <crest/profile.h>.
 */
#ifndef CREST_PROFILING_PROFILER_H
#define CREST_PROFILING_PROFILER_H

#include "profiling/profile_rows.h"
#include "profiling/sample_store.h"

/* Takes the lock that start, stop, profiles and the thread's rounds hold; dropped by _unlock. */
void crest_profiler_lock(void);
void crest_profiler_unlock(void);

/* ---- under the lock ---- */

int crest_profiler_runs(void);
/* 1 for each start of it: another number means that it was stopped meanwhile. */
uint64_t crest_profiler_run(void);
uint64_t crest_profiler_period_ns(void);
int crest_profiler_signal(void);
/* Looks at modules, threads and slow operations now. */
void crest_profiler_refresh(void);
/* While not NULL: tables are not turned over a second time after this mark. */
void crest_profiler_hold(const crest_samples_mark *mark);

#endif
