/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a permit: the inside of crest_permit in <crest/range_sampler.h>, which lies in a
 * range sampler's cell. How long it was held is read from them; which mutex writes them, and until
 * when, is permits.h's business.
 */
#ifndef CREST_PERMIT_CELL_H
#define CREST_PERMIT_CELL_H

#include "base/atomic.h"

#include <crest/range_sampler.h>

/* The counter; 0 where there is none. */
#ifdef CREST_CLOCK_READ
#define CREST_PERMIT_COUNT() CREST_CLOCK_READ()
#else
#define CREST_PERMIT_COUNT() UINT64_C(0)
#endif

/* What the ticker takes away at the end of a tick; both ends of it are in it. */
typedef struct crest_range_reading {
    int64_t minimum, maximum;
    int64_t value;
    uint64_t moment;
    uint64_t time; /* in CREST_RANGE_TICK_NS */
} crest_range_reading;

/* Whether it is held. Any thread. */
static inline int crest_permit_is_held(const crest_permit *permit)
{
    return (crest_atomic_load(&permit->held) & 1) != 0;
}

/* Under the lock: the ticker looks at it from now on, if it did not. */
void crest_permit_begin(crest_permit *permit);

/* No mutex writes there any more, but for one that is about to. Any thread. */
void crest_permit_close(crest_permit *permit);

/* The ticker alone, at the end of a tick: adds to the reading what the permit says. In the tick in
 * which a name comes to have two mutexes the extremes are bounds, at most one too far. */
void crest_permit_read(crest_permit *permit, crest_range_reading *reading);

#endif
