/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timer for each thread of the process, on the thread's own CPU clock. Threads are found in
 * /proc/self/task; the timers of those that have ended are deleted, so that none is left behind
 * however many threads come and go.
 *
 * Everything is called under the profiler's lock.
 */
#ifndef CREST_PROFILING_THREAD_TIMERS_H
#define CREST_PROFILING_THREAD_TIMERS_H

#include "profiling/captures.h"

#include <time.h>

typedef struct crest_sampled_thread {
    int thread; /* the kernel's number; 0: a free place */
    int timed;  /* it has a timer */
    int seen;   /* in the look under way */
    timer_t timer;
    crest_capture *capture; /* its last stack, while a wall profile is taken; NULL: none yet */
    uint64_t cpu_ns;        /* its CPU clock then */
    uint64_t wall_ns;       /* up to when it was counted; at first, when it was seen */
} crest_sampled_thread;

/* Begins with no threads. own: a thread that is left out; hz and signal of the timers. */
void crest_thread_timers_begin(int own, unsigned hz, int signal);
/* Deletes all timers. */
void crest_thread_timers_end(void);
/* In the child of a fork, which has no timers: forgets all. Frees nothing. */
void crest_thread_timers_forked(void);

/* Looks which threads there are. Cost: some system calls a thread; one if they are many, their
 * number is as before and `thorough` is 0: then a thread that came as another went is not seen. */
void crest_thread_timers_look(int thorough);
/* Adds one thread, if it is new. */
void crest_thread_timers_add(int thread);

/* Places by number, up to CREST_PROFILE_THREADS_MAX; NULL: no thread has it. */
crest_sampled_thread *crest_thread_timers_at(unsigned number);
unsigned crest_thread_timers_count(void);
/* How often a thread got no timer; only grows. */
uint64_t crest_thread_timers_refused(void);

/* A thread's CPU clock, for clock_gettime. Source: the kernel's posix-timers.h. */
static inline clockid_t crest_thread_clock(int thread)
{
    return (clockid_t)(~(unsigned)thread << 3 | 6u);
}

#endif
