/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting a distribution below bounds, for exported buckets: sums over runs of cells. Most cells
 * are empty, and adding one costs less than testing it.
 */
#include "distributions/distribution_inside.h"

/* The total of cells where it may be past 64 bits. */
static uint64_t below_sum_capped(const uint64_t *cells, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total = crest_distribution_plus(total, cells[i]);
    return total;
}

/* The end of a run: behind this cell of this block. */
typedef struct below_place {
    unsigned block;
    uint64_t cell; /* from the block's first cell */
} below_place;

static below_place below_place_of(const crest_layout *layout, uint64_t limit)
{
    unsigned block = crest_layout_block(layout, limit);
    uint64_t cell = limit >> crest_layout_shift(layout, block);
    return (below_place){block, cell - crest_layout_first_cell(layout, block) + 1};
}

void crest_distribution_below(const crest_distribution *distribution, const uint64_t *limits,
                              unsigned count, uint64_t *counts)
{
    const crest_layout *layout = &distribution->layout;
    uint64_t below = 0;
    below_place at = {0, 0};
    for (unsigned i = 0; i < count; i++) {
        if (limits[i] >= layout->highest) {
            counts[i] = distribution->count;
            continue;
        }
        below_place end = below_place_of(layout, limits[i]);
        while (at.block < end.block || at.cell < end.cell) {
            const uint64_t *cells = distribution->block[at.block];
            uint64_t stop =
                at.block < end.block ? crest_distribution_cells(distribution, at.block) : end.cell;
            if (cells != NULL && distribution->count != UINT64_MAX)
                below += crest_distribution_total(cells + at.cell, stop - at.cell);
            else if (cells != NULL)
                below = crest_distribution_plus(below,
                                                below_sum_capped(cells + at.cell, stop - at.cell));
            at.cell = stop;
            if (at.block < end.block)
                at = (below_place){at.block + 1, 0};
        }
        counts[i] = below;
    }
}
