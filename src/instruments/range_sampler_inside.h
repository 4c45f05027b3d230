/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of <crest/range_sampler.h> for collectors, which fetch what others count.
 */
#ifndef CREST_RANGE_SAMPLER_INSIDE_H
#define CREST_RANGE_SAMPLER_INSIDE_H

#include <crest/range_sampler.h>

/* The sampler stands at this value, and has since it was made: as the first update of one that
 * follows something which did not begin at 0, or of one that nothing was known of for a while. The
 * extremes of the tick under way begin anew. Registers it if need be, for which it takes the lock.
 * One thread, no other updating it meanwhile. */
void crest_range_sampler_begin(crest_range_sampler *sampler, int64_t value);

#endif
