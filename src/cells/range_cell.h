/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of <crest/range_sampler.h>: the cell that a sampler's threads share, and how its
 * windows change.
 */
#ifndef CREST_RANGE_CELL_H
#define CREST_RANGE_CELL_H

#include <crest/range_sampler.h>

/* What the ticker takes away at the end of a window; both ends of it are in it. */
typedef struct crest_range_reading {
    int64_t minimum, maximum;
    int64_t value;
    uint64_t moment;
    uint64_t time; /* in CREST_RANGE_TICK_NS */
} crest_range_reading;

/* Under the lock: a sampler that stands at 0; NULL without memory. */
crest_range_cell *crest_range_cell_new(void);

/* The value now. Any thread. */
int64_t crest_range_cell_value(const crest_range_cell *cell);

/* The sampler stands at this value, and has since it was made: as the first update of one that
 * follows something which did not begin at 0, or of one that nothing was known of for a while. The
 * extremes of the tick under way begin anew. One thread, no other updating it meanwhile. */
void crest_range_sampler_begin(crest_range_sampler *sampler, int64_t value);

/* Ends the window under way and begins the next. The ticker alone, one thread at a time. */
void crest_range_rotate(crest_range_cell *cell, crest_range_reading *reading);

#endif
