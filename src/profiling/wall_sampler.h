/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where all threads are, sleeping ones included, once or again and again. No sleeping thread is
 * woken for it (captures.h). All under the profiler's lock.
 */
#ifndef CREST_PROFILING_WALL_SAMPLER_H
#define CREST_PROFILING_WALL_SAMPLER_H

#include "profiling/profile_rows.h"

/* Threads that are looked at in a tick, and how long a tick is. */
#define CREST_WALL_THREADS 8u
#define CREST_WALL_TICK_NS (UINT64_C(10) * 1000000)

/* Begins a wall profile; 0 without memory. _end adds its rows, with nanoseconds, and forgets it;
 * _drop forgets it, and _forked too, in the child of a fork, where nothing may be freed. */
int crest_wall_begin(uint64_t now_ns);
void crest_wall_end(crest_rows *rows);
void crest_wall_drop(void);
void crest_wall_forked(void);
/* Non-zero: crest_wall_tick is to be called each CREST_WALL_TICK_NS. */
int crest_wall_active(void);
void crest_wall_tick(int signal, uint64_t now_ns);

/* Adds a row for every thread, as it is now. */
void crest_wall_threads(int signal, crest_rows *rows);

#endif
