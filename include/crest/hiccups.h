/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hiccups: how much later than asked a thread of this process wakes up. Causes are too few
 * processors, a hypervisor, swapping, a SIGSTOP. They hold up the program's own threads too, and no
 * timer of the program's own operations tells that apart from slow work.
 *
 *     CREST_OPTS=hiccups=on ./node                      or
 *     crest_hiccups_start(NULL, &error);
 *
 * A thread of the library's own, "crest-hiccups", which blocks all signals, asks again and again to
 * be woken after the resolution, a millisecond. The timer `process.hiccups` gets how much later it
 * woke, less the least lateness ever seen. That least is what waking up costs on this machine
 * without any hiccup.
 *
 * Coordinated omission is corrected (back-filled): a thread that was stopped for 50 ms has missed
 * 49 wake-ups, each of which would have found a hiccup. So a hiccup of 50 ms is recorded as 50, 49,
 * 48 … 1 ms, and quantiles are those of the time, not of the wake-ups. A hiccup shorter than the
 * resolution is one record; one longer than CREST_HICCUPS_LONGEST_NS counts as that long. At most
 * CREST_HICCUPS_STEPS_MAX steps are made, so that an hour's stop is not millions of them. For
 * longer hiccups neighbouring steps are recorded together, as their mean: count and maximum stay
 * exact, the sum to a nanosecond a step or less.
 *
 * The clock is CLOCK_MONOTONIC. It runs while a process is stopped: by SIGSTOP, a debugger, a
 * frozen cgroup, or a paused virtual machine where the hypervisor lets the clock run. It stands
 * while the machine is suspended: that is no hiccup.
 *
 * Cost: docs/latency.md has the measured share of a processor. The child of a fork has no such
 * thread until it starts its own.
 *
 * Source: Gil Tene, "How NOT to Measure Latency", and the rule of his HdrHistogram for an expected
 * interval; the name and the excess over the least are those of Kamon's process metrics.
 */
#ifndef CREST_HICCUPS_H
#define CREST_HICCUPS_H

#include <crest/registry.h>

/* How long the thread asks to sleep. */
#define CREST_HICCUPS_RESOLUTION_US_DEFAULT 1000u
#define CREST_HICCUPS_RESOLUTION_US_MIN 100u
#define CREST_HICCUPS_RESOLUTION_US_MAX 1000000u
/* A longer hiccup is recorded as one of an hour. */
#define CREST_HICCUPS_LONGEST_NS UINT64_C(3600000000000)
/* Steps that one hiccup is back-filled in, after the first. */
#define CREST_HICCUPS_STEPS_MAX 10000u

typedef struct crest_hiccups_options {
    /* where `process.hiccups` goes; NULL: the default registry. Borrowed until the stop */
    crest_registry *registry CREST_DEFAULT_(NULL);
    /* microseconds; 0: CREST_HICCUPS_RESOLUTION_US_DEFAULT; CREST_HICCUPS_RESOLUTION_US_MIN to
       _MAX */
    uint32_t resolution_us CREST_DEFAULT_(0);
} crest_hiccups_options;

CREST_BEGIN_C

/*
 * Starts the hiccup meter, of which a process has one; options NULL for defaults. CREST_OK;
 * CREST_ALREADY when it runs, and nothing is changed; CREST_INVALID_ARGUMENT for a resolution out
 * of bounds, counted in crest_misuse_total; CREST_SYSTEM without a thread; or why the timer cannot
 * be had, as crest_timer_get says. error may be NULL. Thread-safe; not for signal handlers; locks,
 * allocates, starts a thread.
 */
CREST_API crest_status crest_hiccups_start(const crest_hiccups_options *options,
                                           crest_error *error);

/* Ends it: when this returns, nothing is recorded any more. CREST_NOT_RUNNING when none runs.
 * Thread-safe; not for signal handlers; wakes the thread and blocks until it has ended. */
CREST_API crest_status crest_hiccups_stop(void);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/hiccups_off.h>
#endif

#endif
