/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shards: the counts of one histogram series, one shard per thread that records into it, and one
 * shared by whoever can have none. The inside of crest_shard in <crest/cell.h>; it knows no
 * metrics.
 */
#ifndef CREST_SHARDS_H
#define CREST_SHARDS_H

#include <crest/cell.h>

/*
 * How a histogram's range is cut: HDR's log-linear buckets. `bits` is the position of the highest
 * bit that is kept, so values up to 2^(bits+1) - 1 are exact and above that a bucket is 2^-bits of
 * its value wide.
 */
typedef struct crest_layout {
    uint32_t bits;
    uint64_t highest; /* 2^n - 1; larger values count as this one */
} crest_layout;

/* Fewer bits would move a biased block off its cache line. */
#define CREST_LAYOUT_BITS_MIN 3u

/* Two decimal digits from 1 to 2^42 - 1: 73 minutes in nanoseconds. Kamon's Default. */
extern const crest_layout crest_layout_default;

/*
 * The shard that threads without one share: a count per power of two, given when the series is
 * made, so that a record always has a place to go.
 */
typedef struct crest_shared_shard {
    uint64_t sum;
    uint64_t max;
    uint64_t min_inverted;
    uint64_t count[CREST_DISTRIBUTION_BLOCKS]; /* by the number of the value's significant bits */
} crest_shared_shard;

/* Under the lock: a new shard, of any layout, or NULL. */
crest_shard *crest_shard_new(void);

/* Under the lock: makes the block that `value`, within the range, falls into; non-zero when it is
 * there. */
int crest_shard_touch(crest_shard *shard, const crest_layout *layout, uint64_t value);

/* Under the lock: a new shared shard, or NULL. */
crest_shared_shard *crest_shared_shard_new(void);

/* Records into a shared shard, atomically. Any thread, any handler. */
void crest_shared_shard_record(crest_shared_shard *shard, uint64_t value, uint64_t times);

/* Cells of block `shift` of a layout, and the number of its blocks. */
static inline uint64_t crest_layout_first_cell(const crest_layout *layout, unsigned shift)
{
    return shift == 0 ? 0 : UINT64_C(1) << layout->bits;
}

static inline uint64_t crest_layout_end_cell(const crest_layout *layout)
{
    return UINT64_C(2) << layout->bits;
}

static inline unsigned crest_layout_blocks(const crest_layout *layout)
{
    return 63u - (unsigned)__builtin_clzll(layout->highest) - layout->bits + 1u;
}

/* The block that a value falls into. */
static inline unsigned crest_layout_shift(const crest_layout *layout, uint64_t value)
{
    uint64_t mask = crest_layout_end_cell(layout) - 1;
    return 63u - (unsigned)__builtin_clzll(value | mask) - layout->bits;
}

#endif
