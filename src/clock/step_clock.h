/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module's own clock, as a field: the kernel's monotonic clock, until a test stops it and moves
 * it on in steps. Tests of schedules then need no real time, and their results are exact.
 *
 *     static crest_step_clock module_clock;                  zeroed: the kernel's
 *     until_ns = crest_step_clock_ns(&module_clock) + interval_ns;
 *     while (crest_step_clock_ns(&module_clock) < until_ns)
 *         crest_step_clock_wait(&module_clock, &wake, &lock, until_ns);
 *
 * A function of the module makes the step under the module's lock and then signals its conditions.
 * A waiting thread cannot miss it: it holds the lock from its check until it waits.
 */
#ifndef CREST_STEP_CLOCK_H
#define CREST_STEP_CLOCK_H

#include "base/atomic.h"
#include "base/sync.h"

typedef struct crest_step_clock {
    uint64_t stands_ns; /* the time shown until the next step; 0: the kernel's clock, running */
} crest_step_clock;

/* Any thread, with the module's lock or without. */
static inline uint64_t crest_step_clock_ns(const crest_step_clock *clock)
{
    uint64_t stands_ns = crest_atomic_load(&clock->stands_ns);
    return stands_ns != 0 ? stands_ns : crest_monotonic_ns();
}

/* How far it is ahead of the kernel's; 0 while it runs. Any thread. */
static inline int64_t crest_step_clock_ahead_ns(const crest_step_clock *clock)
{
    uint64_t stands_ns = crest_atomic_load(&clock->stands_ns);
    return stands_ns != 0 ? (int64_t)(stands_ns - crest_monotonic_ns()) : 0;
}

/* Waits for a signal, or until the time if the clock runs. The condition was made by
 * crest_monotonic_condition, and the caller holds the lock. */
static inline void crest_step_clock_wait(const crest_step_clock *clock, pthread_cond_t *condition,
                                         pthread_mutex_t *lock, uint64_t until_ns)
{
    const struct timespec until = crest_monotonic_timespec(until_ns);
    if (crest_atomic_load(&clock->stands_ns) != 0)
        pthread_cond_wait(condition, lock);
    else
        pthread_cond_timedwait(condition, lock, &until);
}

/* For tests, under the module's lock: stops the clock `ns` after its present time. */
static inline void crest_step_clock_step(crest_step_clock *clock, uint64_t ns)
{
    crest_atomic_store(&clock->stands_ns, crest_step_clock_ns(clock) + ns);
}

#endif
