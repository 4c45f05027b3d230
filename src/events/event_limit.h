/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rules say of an event to those that emit it: its limiter, its counter, what it goes to.
 *
 * The limiter is a token bucket of N tokens, which gets N anew each second, minute or hour. It is
 * one word, the time at which the bucket would be full again, so that writers share it without a
 * lock. Source: the generic cell rate algorithm in its virtual scheduling form, ITU-T I.371 annex
 * A. An event passes if it comes no more than the tolerance before its theoretical arrival time
 * (the word), and moves that on by the interval. With a tolerance of (N - 1) intervals N events
 * pass at once, and no more than N + T / interval in any time T.
 */
#ifndef CREST_EVENT_LIMIT_H
#define CREST_EVENT_LIMIT_H

#include "base/atomic.h"

#include <crest/counter.h>

/* Zeroed it has no limit. Written under the lock of events; read by any thread, any handler. */
typedef struct crest_event_limit {
    uint64_t arrival_ns;    /* the theoretical arrival time of the next event */
    uint64_t interval_ns;   /* 0: there is no limit */
    uint64_t tolerance_ns;  /* likewise */
    uint64_t suppressed;    /* events that did not pass */
    uint64_t told;          /* of these: in a summary */
    uint64_t outputs;       /* CREST_EVENT_TO_*, none of a confidential event */
    crest_counter *counter; /* of emissions, in the library's memory; NULL: none */
} crest_event_limit;

/* Non-zero: an event passes at this time. Any thread, any handler; lock-free: a compare-and-swap
 * that fails has let another writer's event pass. */
static inline int crest_event_limit_take(uint64_t *arrival_ns, uint64_t interval_ns,
                                         uint64_t tolerance_ns, uint64_t now_ns)
{
    for (;;) {
        uint64_t seen = crest_atomic_load(arrival_ns);
        if (seen > now_ns && seen - now_ns > tolerance_ns)
            return 0;
        if (crest_atomic_cas(arrival_ns, seen, (seen > now_ns ? seen : now_ns) + interval_ns))
            return 1;
    }
}

/* The same of an event; what does not pass is counted. A reader of new rules beside old ones, whose
 * words change one after the other, is at most one bucket wrong. */
static inline int crest_event_limit_allows(crest_event_limit *limit, uint64_t now_ns)
{
    uint64_t interval_ns = crest_atomic_load(&limit->interval_ns);
    if (interval_ns == 0 || crest_event_limit_take(&limit->arrival_ns, interval_ns,
                                                   crest_atomic_load(&limit->tolerance_ns), now_ns))
        return 1;
    crest_atomic_add(&limit->suppressed, 1);
    return 0;
}

/* Counts an emission, whatever the rules and the limiter say of it. */
static inline void crest_event_limit_count(crest_event_limit *limit)
{
    /* acquire: partner of the release store in crest_event_counted */
    crest_counter *counter = crest_atomic_load_ptr_acquire(CREST_PTR(&limit->counter));
    if (counter != NULL)
        crest_counter_inc(counter);
}

#endif
