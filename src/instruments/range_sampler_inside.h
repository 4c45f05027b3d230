/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of <crest/range_sampler.h> for collectors, which report what the system counts.
 */
#ifndef CREST_RANGE_SAMPLER_INSIDE_H
#define CREST_RANGE_SAMPLER_INSIDE_H

#include <crest/range_sampler.h>

/* Sets the sampler's value as if it had stood there since it was made. For the first update of a
 * sampler whose source did not begin at 0, or was unknown for a while. The extremes of the tick
 * under way begin anew. Registers it if need be, which takes the lock. One thread, without
 * concurrent updates. */
void crest_range_sampler_begin(crest_range_sampler *sampler, int64_t value);

#endif
