/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts: how a range is cut into cells. The arithmetic of HDR's log-linear buckets, and the
 * layouts that metrics use. It knows no counts.
 *
 * Source: the layout of HdrHistogram (Gil Tene); `unit` is its unit magnitude, `bits` its
 * sub-bucket half-count magnitude.
 */
#ifndef CREST_LAYOUTS_H
#define CREST_LAYOUTS_H

#include "base/arena.h"

#include <crest/metric.h>

/*
 * Block 0 holds the values below 2^(unit + bits + 1) in cells 2^unit wide. Each further block holds
 * one more power of two, in cells twice as wide as the previous block's. So above block 0 a cell is
 * less than 2^-bits of its values wide.
 */
typedef struct crest_layout {
    uint32_t bits;    /* the highest bit of a shifted value: blocks above 0 have 2^bits cells */
    uint32_t unit;    /* the shift of block 0 */
    uint32_t blocks;  /* 1 or more */
    uint64_t highest; /* 2^n - 1; larger values count as this */
} crest_layout;

/* With this many bits or more, or as the only block, a biased block stays on its cache line. */
#define CREST_LAYOUT_BITS_MIN 3u
/* With CREST_RANGE_DIGITS_MAX digits it has this many. */
#define CREST_LAYOUT_BITS_MAX 17u
/* The shift that leaves no bit of a value. */
#define CREST_LAYOUT_UNIT_NONE 63u

/* The largest `highest` of a range, and the most digits. */
#define CREST_RANGE_HIGHEST_MAX (UINT64_C(1) << 62)
#define CREST_RANGE_DIGITS_MAX 5u

/* Two decimal digits from 1 to 2^42 - 1: the layout of metrics whose options name no range. */
extern const crest_layout crest_layout_default;

/* Fills *layout for a range, NULL meaning CREST_RANGE_DEFAULT; CREST_INVALID_ARGUMENT for an
 * invalid one. Any thread. */
crest_status crest_layout_make(const crest_range *range, crest_layout *layout);

/* Under the lock: interns the layout: equal layouts share one object for the life of the process.
 * NULL without memory. */
const crest_layout *crest_layout_shared(const crest_layout *layout);

/* Whether each cell of `fine` lies within one cell of `coarse`, so that counts convert without
 * loss. */
int crest_layout_holds(const crest_layout *coarse, const crest_layout *fine);

static inline int crest_layout_equal(const crest_layout *a, const crest_layout *b)
{
    return a->bits == b->bits && a->unit == b->unit && a->highest == b->highest;
}

/* A block's first cell, and the cell behind its last; a value's cell is value >> shift. */
static inline uint64_t crest_layout_first_cell(const crest_layout *layout, unsigned block)
{
    return block == 0 ? 0 : UINT64_C(1) << layout->bits;
}

static inline uint64_t crest_layout_end_cell(const crest_layout *layout)
{
    return UINT64_C(2) << layout->bits;
}

static inline unsigned crest_layout_shift(const crest_layout *layout, unsigned block)
{
    return layout->unit + block;
}

/* The block that a value within the range falls into. */
static inline unsigned crest_layout_block(const crest_layout *layout, uint64_t value)
{
    unsigned top = 63u - (unsigned)__builtin_clzll(value | 1), lowest = layout->unit + layout->bits;
    return top > lowest ? top - lowest : 0;
}

/* The arena use of a shard, and of a beginning, of this layout. Memory is never reused across
 * layouts, whose blocks differ in length. */
static inline crest_arena_use crest_layout_use(const crest_layout *layout)
{
    uint64_t top = 63u - (unsigned)__builtin_clzll(layout->highest);
    return CREST_ARENA_USES + (top << 16 | (uint64_t)layout->unit << 8 | layout->bits);
}

/* The least and the largest value of a cell. */
static inline uint64_t crest_layout_lowest(const crest_layout *layout, unsigned block,
                                           uint64_t cell)
{
    return cell << crest_layout_shift(layout, block);
}

static inline uint64_t crest_layout_highest(const crest_layout *layout, unsigned block,
                                            uint64_t cell)
{
    unsigned shift = crest_layout_shift(layout, block);
    return (cell << shift) + ((UINT64_C(1) << shift) - 1);
}

#endif
