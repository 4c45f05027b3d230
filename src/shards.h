/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shards: the counts of one histogram series, one shard per thread that records into it, and one
 * shared by whoever can have none. The inside of crest_shard in <crest/cell.h>; it knows no
 * metrics.
 */
#ifndef CREST_SHARDS_H
#define CREST_SHARDS_H

#include "layouts.h"

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

/* The word of a shard that leads to a block: that of its power of two, or for block 0, which serves
 * several, that of the lowest. */
static inline unsigned crest_shard_place(const crest_layout *layout, unsigned block)
{
    return block == 0 ? 0 : layout->unit + layout->bits + block;
}

#endif
