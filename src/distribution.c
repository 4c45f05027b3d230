/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging shards into a distribution, and reading it. See distribution.h.
 */
#include "alloc.h"
#include "atomic.h"
#include "distribution_inside.h"

crest_distribution *crest_distribution_make(const crest_layout *layout)
{
    crest_distribution *distribution = crest_alloc(1, sizeof *distribution);
    if (distribution != NULL)
        distribution->layout = *layout;
    return distribution;
}

void crest_distribution_free(crest_distribution *distribution)
{
    if (distribution == NULL)
        return;
    for (unsigned s = 0; s < CREST_DISTRIBUTION_BLOCKS; s++)
        if (distribution->block[s] != NULL)
            crest_alloc_free(distribution->block[s]);
    crest_alloc_free(distribution);
}

uint64_t *crest_distribution_block(crest_distribution *distribution, unsigned number)
{
    if (distribution->block[number] == NULL)
        distribution->block[number] =
            crest_alloc(crest_distribution_cells(distribution, number), sizeof(uint64_t));
    return distribution->block[number];
}

static void distribution_extremes(crest_distribution *distribution, uint64_t max,
                                  uint64_t min_inverted)
{
    if (max > distribution->max)
        distribution->max = max;
    /* gathered inverted, as the shards keep it; crest_distribution_finish turns it round */
    if (min_inverted > distribution->min)
        distribution->min = min_inverted;
}

/*
 * Sum first, counts next, extremes last: the opposite order to the writer's, so that the sum covers
 * only records that the counts have, and the extremes cover every record that the counts have.
 */
int crest_distribution_add_shard(crest_distribution *distribution, const crest_shard *shard)
{
    const crest_layout *layout = &distribution->layout;
    /* acquire: partner of crest_word_add_release in crest_shard_record */
    distribution->sum += crest_atomic_load_acquire(&shard->sum);
    for (unsigned s = 0; s < layout->blocks; s++) {
        /* acquire: partner of the release store in crest_shard_touch */
        uintptr_t word = (uintptr_t)crest_atomic_load_ptr_acquire(
            CREST_PTR(&shard->block[crest_shard_place(layout, s)]));
        if (word == 0)
            continue;
        uint64_t *to = crest_distribution_block(distribution, s);
        if (to == NULL)
            return 0;
        uint64_t first = crest_layout_first_cell(layout, s);
        const uint64_t *from =
            (const uint64_t *)((word & ~(uintptr_t)CREST_BLOCK_SHIFT) + first * sizeof(uint64_t));
        size_t cells = crest_distribution_cells(distribution, s);
        for (size_t i = 0; i < cells; i++)
            to[i] = crest_distribution_plus(to[i], crest_atomic_load(&from[i]));
    }
#ifndef CREST_THREAD_SANITIZER
    ck_pr_fence_load(); /* counts before extremes */
#endif
    distribution_extremes(distribution, crest_atomic_load_acquire(&shard->max),
                          ~crest_atomic_load(&shard->min));
    return 1;
}

/* The shared shard knows only powers of two: its records count in the middle of theirs. */
int crest_distribution_add_shared(crest_distribution *distribution,
                                  const crest_shared_shard *shared)
{
    const crest_layout *layout = &distribution->layout;
    uint64_t sum = crest_atomic_load_acquire(&shared->sum); /* as above */
    for (unsigned bits = 0; bits < CREST_DISTRIBUTION_BLOCKS; bits++) {
        uint64_t count = crest_atomic_load(&shared->count[bits]);
        if (count == 0)
            continue;
        uint64_t middle = bits < 2 ? bits : (UINT64_C(3) << (bits - 2));
        if (middle > layout->highest)
            middle = layout->highest;
        unsigned s = crest_layout_block(layout, middle);
        uint64_t *to = crest_distribution_block(distribution, s);
        if (to == NULL)
            return 0;
        to += (middle >> crest_layout_shift(layout, s)) - crest_layout_first_cell(layout, s);
        *to = crest_distribution_plus(*to, count);
    }
    distribution->sum += sum;
    distribution_extremes(distribution, crest_atomic_load(&shared->max),
                          crest_atomic_load(&shared->min_inverted));
    return 1;
}

/*
 * The sum is kept modulo 2^64; the buckets say between which numbers the true one lies. Past 2^64
 * it is far below the lower of them, by about 2^64: records that the counts have and the sum still
 * lacks make a much smaller difference. Of what keeps no values the buckets say too little.
 */
static int distribution_sum_is_past(const crest_distribution *distribution)
{
    const crest_layout *layout = &distribution->layout;
    uint64_t product;
    if (!__builtin_mul_overflow(distribution->count, distribution->max, &product) ||
        layout->unit == CREST_LAYOUT_UNIT_NONE)
        return 0;
    __extension__ unsigned __int128 least = 0;
    for (unsigned s = 0; s < layout->blocks; s++) {
        const uint64_t *counts = distribution->block[s];
        uint64_t first = crest_layout_first_cell(layout, s);
        for (size_t i = 0; counts != NULL && i < crest_distribution_cells(distribution, s); i++) {
            __extension__ unsigned __int128 lowest = crest_layout_lowest(layout, s, i + first);
            least += lowest * counts[i];
        }
    }
    return least >> 64 != 0 || distribution->sum < (uint64_t)least / 2;
}

void crest_distribution_settle(crest_distribution *distribution)
{
    distribution->count = 0;
    for (unsigned s = 0; s < distribution->layout.blocks; s++) {
        const uint64_t *counts = distribution->block[s];
        size_t cells = counts != NULL ? crest_distribution_cells(distribution, s) : 0;
        for (size_t i = 0; i < cells; i++)
            distribution->count = crest_distribution_plus(distribution->count, counts[i]);
    }
    if (distribution->count == 0)
        distribution->min = distribution->max = 0;
    distribution->sum_is_past = distribution_sum_is_past(distribution);
}

void crest_distribution_finish(crest_distribution *distribution)
{
    distribution->min = ~distribution->min;
    crest_distribution_settle(distribution);
    /* what was added to the sum by a record that the counts do not have yet belongs to the next
     * reading, as its extremes do */
    if (distribution->count == 0)
        distribution->sum = 0;
}

uint64_t crest_distribution_count(const crest_distribution *distribution)
{
    return distribution ? distribution->count : 0;
}

uint64_t crest_distribution_sum(const crest_distribution *distribution)
{
    if (distribution == NULL)
        return 0;
    return distribution->sum_is_past ? UINT64_MAX : distribution->sum;
}

uint64_t crest_distribution_min(const crest_distribution *distribution)
{
    return distribution ? distribution->min : 0;
}

uint64_t crest_distribution_max(const crest_distribution *distribution)
{
    return distribution ? distribution->max : 0;
}

int crest_distribution_next(const crest_distribution *distribution, size_t *cursor,
                            crest_bucket *bucket)
{
    if (distribution == NULL)
        return 0;
    const crest_layout *layout = &distribution->layout;
    uint64_t end = crest_layout_end_cell(layout);
    /* the cursor is the block's number and the cell behind it */
    unsigned s = (unsigned)(*cursor / end);
    uint64_t cell = *cursor % end;
    for (; s < layout->blocks; s++, cell = 0) {
        const uint64_t *counts = distribution->block[s];
        uint64_t first = crest_layout_first_cell(layout, s);
        if (counts == NULL)
            continue;
        for (cell = cell < first ? first : cell; cell < end; cell++) {
            if (counts[cell - first] == 0)
                continue;
            bucket->lowest = crest_layout_lowest(layout, s, cell);
            bucket->highest = crest_layout_highest(layout, s, cell);
            bucket->count = counts[cell - first];
            *cursor = (size_t)(s * end + cell + 1);
            if (*cursor % end == 0)
                *cursor = (size_t)((s + 1) * end);
            return 1;
        }
    }
    *cursor = (size_t)s * end;
    return 0;
}

uint64_t crest_distribution_quantile(const crest_distribution *distribution, double q)
{
    if (distribution == NULL || distribution->count == 0)
        return 0;
    if (!(q > 0))
        return distribution->min;
    if (q >= 1 || distribution->layout.unit == CREST_LAYOUT_UNIT_NONE)
        return distribution->max;
    double exact_rank = q * (double)distribution->count;
    uint64_t rank = (uint64_t)exact_rank, seen = 0;
    if ((double)rank < exact_rank)
        rank++;
    crest_bucket bucket = {0, 0, 0};
    for (size_t cursor = 0; crest_distribution_next(distribution, &cursor, &bucket);) {
        seen = crest_distribution_plus(seen, bucket.count);
        if (seen >= rank)
            break;
    }
    uint64_t value = bucket.lowest + (bucket.highest - bucket.lowest) / 2;
    if (value < distribution->min)
        return distribution->min;
    return value > distribution->max ? distribution->max : value;
}

uint64_t crest_distribution_max_since(const crest_distribution *now,
                                      const crest_distribution *before)
{
    if (before == NULL)
        return now->max;
    if (now->count == before->count)
        return 0;
    if (now->max > before->max)
        return now->max;
    const crest_layout *layout = &now->layout;
    for (unsigned s = layout->blocks; s-- > 0;) {
        const uint64_t *counts = now->block[s], *old = before->block[s];
        for (size_t i = counts ? crest_distribution_cells(now, s) : 0; i-- > 0;) {
            if (counts[i] <= (old ? old[i] : 0))
                continue;
            uint64_t cell = i + crest_layout_first_cell(layout, s);
            uint64_t highest = crest_layout_highest(layout, s, cell);
            return highest < now->max ? highest : now->max;
        }
    }
    return 0;
}
