/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a permit: the inside of crest_permit in <crest/range_sampler.h>, within a range
 * sampler's cell. From them the ticker reads how long a mutex was held. Which mutex writes them,
 * and until when, is permits.h's business.
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

/* What the ticker takes at the end of a tick; the values at both ends of the tick are in it. */
typedef struct crest_range_reading {
    int64_t minimum, maximum;
    int64_t value;
    uint64_t moment;
    uint64_t time; /* in units of CREST_RANGE_TICK_NS */
} crest_range_reading;

/* Whether the mutex is held. Any thread. */
static inline int crest_permit_is_held(const crest_permit *permit)
{
    return (crest_atomic_load(&permit->held) & 1) != 0;
}

/* Under the lock: the ticker reads the permit from now on. */
void crest_permit_begin(crest_permit *permit);

/* No mutex writes the permit any more, but for a holder that is in the middle of it. Any thread. */
void crest_permit_close(crest_permit *permit);

/* Ticker only, at the end of a tick: adds the permit's part to the reading. In the tick in which a
 * name gets its second mutex, each extreme may be one too far. */
void crest_permit_read(crest_permit *permit, crest_range_reading *reading);

#endif
