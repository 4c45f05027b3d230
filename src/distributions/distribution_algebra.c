/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions made by the caller: copied, recorded into, added and subtracted. See
 * <crest/distribution.h>.
 */
#include "base/alloc.h"
#include "base/misuse.h"
#include "distributions/distribution_inside.h"

#include <string.h>

crest_distribution *crest_distribution_new(const crest_range *range)
{
    crest_layout layout;
    return crest_layout_make(range, &layout) == CREST_OK ? crest_distribution_make(&layout) : NULL;
}

crest_distribution *crest_distribution_copy(const crest_distribution *distribution)
{
    if (distribution == NULL)
        return NULL;
    crest_distribution *copy = crest_distribution_make(&distribution->layout);
    if (copy != NULL && crest_distribution_add(copy, distribution) == CREST_OK)
        return copy;
    crest_distribution_free(copy);
    return NULL;
}

/* The cell of a value within the range, its block made if need be; NULL without memory. */
static uint64_t *algebra_cell(crest_distribution *distribution, uint64_t value)
{
    const crest_layout *layout = &distribution->layout;
    unsigned number = crest_layout_block(layout, value);
    uint64_t *block = crest_distribution_block(distribution, number);
    if (block == NULL)
        return NULL;
    return &block[(value >> crest_layout_shift(layout, number)) -
                  crest_layout_first_cell(layout, number)];
}

static void algebra_extremes(crest_distribution *distribution, uint64_t min, uint64_t max)
{
    if (distribution->count == 0 || min < distribution->min)
        distribution->min = min;
    if (distribution->count == 0 || max > distribution->max)
        distribution->max = max;
}

crest_status crest_distribution_record(crest_distribution *distribution, int64_t value,
                                       uint64_t times)
{
    if (distribution == NULL)
        return CREST_INVALID_ARGUMENT;
    if (value < 0)
        return CREST_NEGATIVE;
    if (times == 0)
        return CREST_OK;
    int clamped = (uint64_t)value > distribution->layout.highest;
    uint64_t kept = clamped ? distribution->layout.highest : (uint64_t)value, product;
    if (times > INT64_MAX || __builtin_mul_overflow(kept, times, &product))
        return CREST_LIMIT;
    uint64_t *cell = algebra_cell(distribution, kept);
    if (cell == NULL)
        return CREST_NO_MEMORY;
    if (*cell > CREST_CELL_MAX - times)
        return CREST_LIMIT;
    algebra_extremes(distribution, kept, kept);
    *cell += times;
    distribution->sum += product;
    distribution->count = crest_distribution_plus(distribution->count, times);
    /* an exact answer takes a walk over all cells, made only in doubt */
    if (__builtin_mul_overflow(distribution->count, distribution->max, &product))
        crest_distribution_settle(distribution);
    if (clamped)
        crest_misuse_count(CREST_MISUSE_CLAMPED, NULL);
    return CREST_OK;
}

/* Makes the blocks that the records of `from` need, so that nothing fails half way. */
static int algebra_make_room(crest_distribution *to, const crest_distribution *from)
{
    crest_bucket bucket;
    for (size_t cursor = 0; crest_distribution_next(from, &cursor, &bucket);)
        if (algebra_cell(to, bucket.lowest) == NULL)
            return 0;
    return 1;
}

crest_status crest_distribution_add(crest_distribution *to, const crest_distribution *from)
{
    if (to == NULL || (from != NULL && !crest_layout_holds(&to->layout, &from->layout)))
        return CREST_INVALID_ARGUMENT;
    if (from == NULL)
        return CREST_OK;
    if (!algebra_make_room(to, from))
        return CREST_NO_MEMORY;
    crest_bucket bucket;
    for (size_t cursor = 0; crest_distribution_next(from, &cursor, &bucket);) {
        uint64_t *cell = algebra_cell(to, bucket.lowest);
        *cell = crest_distribution_plus(*cell, bucket.count);
    }
    if (from->count != 0)
        algebra_extremes(to, from->min, from->max);
    to->sum += from->sum;
    crest_distribution_settle(to);
    return CREST_OK;
}

/* Tightens the extremes to the least and the largest value that the buckets allow. */
static void algebra_narrow(crest_distribution *distribution)
{
    crest_bucket bucket;
    uint64_t min = 0, max = 0;
    int any = 0;
    for (size_t cursor = 0; crest_distribution_next(distribution, &cursor, &bucket); any = 1) {
        if (!any)
            min = bucket.lowest;
        max = bucket.highest;
    }
    if (any && min > distribution->min)
        distribution->min = min;
    if (any && max < distribution->max)
        distribution->max = max;
}

/* Whether each cell is at least the other's. */
static int algebra_contains(const crest_distribution *later, const crest_distribution *earlier)
{
    for (unsigned b = 0; b < later->layout.blocks; b++) {
        const uint64_t *counts = later->block[b], *less = earlier->block[b];
        for (size_t i = 0; less != NULL && i < crest_distribution_cells(later, b); i++)
            if (less[i] > (counts != NULL ? counts[i] : 0))
                return 0;
    }
    return 1;
}

crest_status crest_distribution_subtract(crest_distribution *later,
                                         const crest_distribution *earlier)
{
    if (later == NULL)
        return CREST_INVALID_ARGUMENT;
    if (earlier == NULL)
        return CREST_OK;
    if (!crest_layout_equal(&later->layout, &earlier->layout) || !algebra_contains(later, earlier))
        return CREST_INVALID_ARGUMENT;
    for (unsigned b = 0; b < later->layout.blocks; b++) {
        const uint64_t *less = earlier->block[b];
        /* an absent block is all zeros: the earlier one's must be, too */
        for (size_t i = 0;
             later->block[b] != NULL && less != NULL && i < crest_distribution_cells(later, b); i++)
            later->block[b][i] -= less[i];
    }
    later->sum -= earlier->sum;
    crest_distribution_settle(later);
    algebra_narrow(later);
    return CREST_OK;
}
