/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making layouts from ranges. See layouts.h.
 */
#include "cells/layouts.h"
#include "base/arena.h"
#include "base/atomic.h"

#define LAYOUTS_HOUR_NS UINT64_C(3600000000000)

const crest_range crest_range_loose = {1, LAYOUTS_HOUR_NS, 1};
const crest_range crest_range_default = {1, LAYOUTS_HOUR_NS, 2};
const crest_range crest_range_fine = {1, LAYOUTS_HOUR_NS, 3};
const crest_range crest_range_percentage = {1, 100, 2};
const crest_range crest_range_none = {1, CREST_RANGE_HIGHEST_MAX, 0};

const crest_layout crest_layout_default = {
    .bits = 7, .blocks = 35, .highest = (UINT64_C(1) << 42) - 1};

/* Layouts that metrics use beside the default; under the lock. */
typedef struct layouts_kept {
    crest_layout layout;
    struct layouts_kept *next;
} layouts_kept;

static layouts_kept *layouts_all;

static unsigned layouts_top_bit(uint64_t value)
{
    return 63u - (unsigned)__builtin_clzll(value);
}

crest_status crest_layout_make(const crest_range *range, crest_layout *layout)
{
    /* ceil(log2(2 * 10^digits)) - 1: a cell is at most 10^-digits of its values wide */
    static const unsigned char bits[CREST_RANGE_DIGITS_MAX + 1] = {0,  4,  7,
                                                                   10, 14, CREST_LAYOUT_BITS_MAX};
    if (range == NULL)
        range = CREST_RANGE_DEFAULT;
    if (range->lowest == 0 || range->highest > CREST_RANGE_HIGHEST_MAX ||
        range->lowest > range->highest / 2 || range->digits > CREST_RANGE_DIGITS_MAX)
        return CREST_INVALID_ARGUMENT;
    unsigned top = layouts_top_bit(range->highest), unit = layouts_top_bit(range->lowest);
    layout->highest = (UINT64_C(2) << top) - 1;
    layout->bits = bits[range->digits];
    layout->unit = unit;
    layout->blocks = 1;
    if (range->digits == 0)
        layout->unit = CREST_LAYOUT_UNIT_NONE;
    else if (unit + layout->bits >= top)
        layout->bits = top - unit; /* one block holds the whole range */
    else
        layout->blocks = top - unit - layout->bits + 1;
    return CREST_OK;
}

const crest_layout *crest_layout_shared(const crest_layout *layout)
{
    if (crest_layout_equal(layout, &crest_layout_default))
        return &crest_layout_default;
    for (layouts_kept *kept = layouts_all; kept != NULL; kept = kept->next)
        if (crest_layout_equal(&kept->layout, layout))
            return &kept->layout;
    layouts_kept *kept = crest_arena_take(CREST_ARENA_META, sizeof *kept, _Alignof(layouts_kept));
    if (kept == NULL)
        return NULL;
    kept->layout = *layout;
    kept->next = layouts_all;
    layouts_all = kept;
    return &kept->layout;
}

int crest_layout_holds(const crest_layout *coarse, const crest_layout *fine)
{
    if (coarse->highest < fine->highest)
        return 0;
    for (unsigned top = 0; top <= layouts_top_bit(fine->highest); top++) {
        uint64_t value = UINT64_C(1) << top;
        if (crest_layout_shift(coarse, crest_layout_block(coarse, value)) <
            crest_layout_shift(fine, crest_layout_block(fine, value)))
            return 0;
    }
    return 1;
}
