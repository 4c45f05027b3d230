/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native histograms from distributions. See native_cells.h.
 */
#include "cells/native_cells.h"

/* 2^(2^-s) - 1, the part of its lower bound that a bucket is wide, is more than 2^-bits, the most
 * that a cell is of its lowest value, as long as s is below bits. */
int crest_native_schema_within(int schema, const crest_layout *layout)
{
    int finest = (int)layout->bits - 1;
    return schema < finest ? schema : finest;
}

int crest_native_of(crest_native *native, int schema, unsigned limit, unsigned decimals,
                    const crest_layout *layout, const crest_distribution *distribution)
{
    if (layout->unit == CREST_LAYOUT_UNIT_NONE)
        return 0;
    crest_native_begin(native, crest_native_schema_within(schema, layout), limit, decimals,
                       crest_layout_highest(layout, 0, 0));
    uint64_t end = crest_layout_end_cell(layout);
    for (unsigned s = 0; distribution != NULL && s < layout->blocks; s++) {
        const uint64_t *counts = distribution->block[s];
        uint64_t first = crest_layout_first_cell(layout, s);
        for (uint64_t cell = first; counts != NULL && cell < end; cell++)
            if (counts[cell - first] != 0)
                crest_native_add(native, crest_layout_lowest(layout, s, cell),
                                 crest_layout_highest(layout, s, cell), counts[cell - first]);
    }
    return 1;
}
