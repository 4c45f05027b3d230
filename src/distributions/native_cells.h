/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native histograms from distributions. See native_buckets.h.
 */
#ifndef CREST_NATIVE_CELLS_H
#define CREST_NATIVE_CELLS_H

#include "distributions/distribution_inside.h"
#include "distributions/native_buckets.h"

/* The finest schema, up to `schema`, whose buckets are nowhere narrower than the layout's cells:
 * with a finer one every second bucket would stay empty. */
int crest_native_schema_within(int schema, const crest_layout *layout);

/* Begins a histogram and adds all cells of a distribution, NULL being an empty one of the layout.
 * The schema is that of crest_native_schema_within. 0, and nothing is done, for a layout without
 * cells (CREST_RANGE_NONE), whose values are unknown. */
int crest_native_of(crest_native *native, int schema, unsigned limit, unsigned decimals,
                    const crest_layout *layout, const crest_distribution *distribution);

#endif
