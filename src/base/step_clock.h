/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module's own clock, as a field: the kernel's monotonic one, until a test makes it stand and
 * moves it on in steps. So tests of schedules need not wait for real time, and what they see is
 * exact.
 *
 *     static crest_step_clock module_clock;                  zeroed: the kernel's
 *     until_ns = crest_step_clock_ns(&module_clock) + interval_ns;
 *     while (crest_step_clock_ns(&module_clock) < until_ns)
 *         crest_step_clock_wait(&module_clock, &wake, &lock, until_ns);
 *
 * A step is made under the module's lock, by a function of the module's, which then signals its
 * conditions: a thread that waits sees it, for it has the lock between its look and its wait.
 */
#ifndef CREST_STEP_CLOCK_H
#define CREST_STEP_CLOCK_H

#include "base/atomic.h"
#include "base/sync.h"

typedef struct crest_step_clock {
    uint64_t stands_ns; /* what it shows until the next step; 0: it is the kernel's, and runs */
} crest_step_clock;

/* Any thread, with the module's lock or without. */
static inline uint64_t crest_step_clock_ns(const crest_step_clock *clock)
{
    uint64_t stands_ns = crest_atomic_load(&clock->stands_ns);
    return stands_ns != 0 ? stands_ns : crest_monotonic_ns();
}

/* Waits for a signal, or until then where the clock runs. The condition is one of
 * crest_monotonic_condition, and the lock is held. */
static inline void crest_step_clock_wait(const crest_step_clock *clock, pthread_cond_t *condition,
                                         pthread_mutex_t *lock, uint64_t until_ns)
{
    const struct timespec until = crest_monotonic_timespec(until_ns);
    if (crest_atomic_load(&clock->stands_ns) != 0)
        pthread_cond_wait(condition, lock);
    else
        pthread_cond_timedwait(condition, lock, &until);
}

/* For tests, under the module's lock: it stands from now on, `ns` later than it is. */
static inline void crest_step_clock_step(crest_step_clock *clock, uint64_t ns)
{
    crest_atomic_store(&clock->stands_ns, crest_step_clock_ns(clock) + ns);
}

#endif
