/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging shards into a distribution, and reading it. See distribution.h.
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "cells/first_values.h"
#include "distributions/distribution_inside.h"

#include <string.h>

crest_distribution *crest_distribution_make(const crest_layout *layout)
{
    return crest_distribution_make_with(layout, 0);
}

crest_distribution *crest_distribution_make_with(const crest_layout *layout, uint64_t blocks)
{
    size_t end = crest_layout_end_cell(layout), within = 0;
    for (unsigned s = 0; s < layout->blocks; s++)
        within += blocks >> s & 1 ? end - crest_layout_first_cell(layout, s) : 0;
    crest_distribution *distribution =
        crest_alloc(1, sizeof *distribution + within * sizeof distribution->own[0]);
    if (distribution == NULL)
        return NULL;
    distribution->layout = *layout;
    distribution->counted = 1;
    distribution->within = within;
    uint64_t *next = distribution->own;
    for (unsigned s = 0; s < layout->blocks; s++)
        if (blocks >> s & 1) {
            distribution->block[s] = next;
            next += end - crest_layout_first_cell(layout, s);
        }
    return distribution;
}

uint64_t crest_distribution_blocks(const crest_layout *layout, const crest_shard *shard)
{
    uint64_t blocks = 0, value;
    for (unsigned place = 0; crest_shard_values(shard, &place, &value);)
        blocks |= UINT64_C(1) << crest_layout_block(layout, value);
    if (crest_shard_counted((uint64_t)(uintptr_t)shard) == NULL)
        return blocks;
    for (unsigned s = 0; s < layout->blocks; s++)
        blocks |= (uint64_t)(crest_atomic_load_ptr_acquire(
                                 CREST_PTR(&shard->block[crest_shard_place(layout, s)])) != NULL)
                  << s;
    return blocks;
}

static int distribution_came_with(const crest_distribution *distribution, const uint64_t *block)
{
    uintptr_t at = (uintptr_t)block, own = (uintptr_t)distribution->own;
    return at >= own && at < own + distribution->within * sizeof(uint64_t);
}

static void distribution_block_free(const crest_distribution *distribution, uint64_t *block)
{
    if (block != NULL && !distribution_came_with(distribution, block))
        crest_alloc_free(block);
}

void crest_distribution_free(crest_distribution *distribution)
{
    if (distribution == NULL)
        return;
    for (unsigned s = 0; s < CREST_DISTRIBUTION_BLOCKS; s++)
        distribution_block_free(distribution, distribution->block[s]);
    crest_alloc_free(distribution);
}

uint64_t *crest_distribution_block(crest_distribution *distribution, unsigned number)
{
    if (distribution->block[number] == NULL)
        distribution->block[number] =
            crest_alloc(crest_distribution_cells(distribution, number), sizeof(uint64_t));
    return distribution->block[number];
}

/* ---- many cells at once ---- */

/* Cache lines of a block that are prefetched: all, except in blocks of the finest ranges. */
#define DISTRIBUTION_FETCHED 64u

/* Copies cells that their threads are writing; returns their sum modulo 2^64; *large gets at least
 * the bits of each. */
static uint64_t distribution_copy_cells(uint64_t *to, const uint64_t *from, size_t cells,
                                        uint64_t *large)
{
    size_t i = 0;
    uint64_t sum = 0, bits = 0;
#if CREST_ATOMIC_LOADS_TWO
    crest_two_words sums = {0, 0}, more = {0, 0}, all = {0, 0};
    for (; i + 8 <= cells; i += 8) {
        crest_two_words *into = (crest_two_words *)(void *)&to[i];
        crest_two_words a = crest_atomic_load_two(&from[i]);
        crest_two_words b = crest_atomic_load_two(&from[i + 2]);
        crest_two_words c = crest_atomic_load_two(&from[i + 4]);
        crest_two_words d = crest_atomic_load_two(&from[i + 6]);
        into[0] = a;
        into[1] = b;
        into[2] = c;
        into[3] = d;
        all |= a | b | c | d;
        sums += a + b;
        more += c + d;
    }
    sums += more;
    sum = sums[0] + sums[1];
    bits = all[0] | all[1];
#endif
    for (; i < cells; i++) {
        to[i] = crest_atomic_load(&from[i]);
        sum += to[i];
        bits |= to[i];
    }
    *large |= bits;
    return sum;
}

/* Adds cells that their threads are writing to a distribution's. Eight at a time, unless a cell is
 * so large that a sum may exceed 64 bits. */
static void distribution_add_cells(uint64_t *to, const uint64_t *from, size_t cells)
{
    size_t i = 0;
#if CREST_ATOMIC_LOADS_TWO
    for (; i + 8 <= cells; i += 8) {
        crest_two_words *into = (crest_two_words *)(void *)&to[i];
        crest_two_words a = crest_atomic_load_two(&from[i]);
        crest_two_words b = crest_atomic_load_two(&from[i + 2]);
        crest_two_words c = crest_atomic_load_two(&from[i + 4]);
        crest_two_words d = crest_atomic_load_two(&from[i + 6]);
        crest_two_words large = a | b | c | d | into[0] | into[1] | into[2] | into[3];
        if ((large[0] | large[1]) >> 63 != 0)
            break;
        into[0] += a;
        into[1] += b;
        into[2] += c;
        into[3] += d;
    }
#endif
    for (; i < cells; i++)
        to[i] = crest_distribution_plus(to[i], crest_atomic_load(&from[i]));
}

typedef uint64_t distribution_two __attribute__((vector_size(16), aligned(8), may_alias));

/* The sum of cells modulo 2^64; *large has at least the bits of each. */
static uint64_t distribution_sum_cells(const uint64_t *cells, size_t count, uint64_t *large)
{
    distribution_two sum = {0, 0}, more = {0, 0}, bits = {0, 0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        distribution_two a = *(const distribution_two *)&cells[i];
        distribution_two b = *(const distribution_two *)&cells[i + 2];
        sum += a;
        more += b;
        bits |= a | b;
    }
    sum += more;
    *large |= bits[0] | bits[1];
    for (; i < count; *large |= cells[i++])
        sum[0] += cells[i];
    return sum[0] + sum[1];
}

static void distribution_extremes(crest_distribution *distribution, uint64_t max,
                                  uint64_t min_inverted)
{
    if (max > distribution->max)
        distribution->max = max;
    /* kept inverted, as in shards, while merging; crest_distribution_finish inverts it back */
    if (min_inverted > distribution->min)
        distribution->min = min_inverted;
}

/* Prefetch: the next block is on its way from memory while this one is read. */
static void distribution_fetch_cells(const uint64_t *cells, size_t count)
{
    const size_t line = CREST_LINE_BYTES / sizeof(uint64_t), most = DISTRIBUTION_FETCHED * line;
    for (size_t i = 0; cells != NULL && i < count && i < most; i += line)
        __builtin_prefetch(&cells[i]);
}

static int distribution_add_block(crest_distribution *distribution, unsigned s,
                                  const uint64_t *from)
{
    size_t cells = crest_distribution_cells(distribution, s);
    if (distribution->block[s] != NULL) {
        distribution_add_cells(distribution->block[s], from, cells);
        distribution->counted = 0;
        return 1;
    }
    uint64_t *to = crest_distribution_block(distribution, s);
    if (to != NULL)
        distribution->count += distribution_copy_cells(to, from, cells, &distribution->large);
    return to != NULL;
}

static int distribution_add_value(crest_distribution *distribution, uint64_t value)
{
    const crest_layout *layout = &distribution->layout;
    unsigned s = crest_layout_block(layout, value);
    uint64_t *to = crest_distribution_block(distribution, s);
    if (to == NULL)
        return 0;
    to += (value >> crest_layout_shift(layout, s)) - crest_layout_first_cell(layout, s);
    *to = crest_distribution_plus(*to, 1);
    distribution->large |= *to;
    distribution->count++;
    distribution->sum += value;
    distribution_extremes(distribution, value, ~value);
    return 1;
}

/*
 * Reads in the opposite order to the writer's:
 *  1. sum: covers only records that the counts have;
 *  2. counts;
 *  3. extremes: cover every record that the counts have.
 */
int crest_distribution_add_shard(crest_distribution *distribution, const crest_shard *shard)
{
    const crest_layout *layout = &distribution->layout;
    uint64_t value;
    for (unsigned place = 0; crest_shard_values(shard, &place, &value);)
        if (!distribution_add_value(distribution, value))
            return 0;
    if (crest_shard_counted((uint64_t)(uintptr_t)shard) == NULL)
        return 1;
    /* acquire: partner of crest_word_sum_release in crest_shard_record */
    distribution->sum += crest_atomic_load_acquire(&shard->sum);
    const uint64_t *from = NULL;
    unsigned number = 0;
    for (unsigned s = 0; s <= layout->blocks; s++) {
        const uint64_t *next = s < layout->blocks ? crest_shard_cells(shard, layout, s) : NULL;
        if (next == NULL && s < layout->blocks)
            continue;
        if (next != NULL)
            distribution_fetch_cells(next, crest_distribution_cells(distribution, s));
        if (from != NULL && !distribution_add_block(distribution, number, from))
            return 0;
        from = next;
        number = s;
    }
#ifndef CREST_THREAD_SANITIZER
    ck_pr_fence_load(); /* counts before extremes */
#endif
    distribution_extremes(distribution, crest_atomic_load_acquire(&shard->max),
                          ~crest_atomic_load(&shard->min));
    return 1;
}

/* The shared shard counts by powers of two: its records count in the middle of theirs. */
int crest_distribution_add_shared(crest_distribution *distribution,
                                  const crest_shared_shard *shared)
{
    const crest_layout *layout = &distribution->layout;
    if (crest_shared_shard_is_empty(shared))
        return 1;
    uint64_t zeros = crest_atomic_load(&shared->zeros);
    uint64_t sum = crest_atomic_load_acquire(&shared->sum); /* as above */
    distribution->counted = 0;
    for (unsigned bits = 0; bits < CREST_DISTRIBUTION_BLOCKS; bits++) {
        uint64_t count = crest_atomic_load(&shared->count[bits]) + (bits == 0 ? zeros : 0);
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
                          zeros != 0 ? UINT64_MAX : crest_atomic_load(&shared->min_inverted));
    return 1;
}

/*
 * Whether the true sum exceeds 64 bits. The sum is kept modulo 2^64; the buckets bound the true sum
 * from both sides. A sum that wrapped lies about 2^64 below the lower bound. Records that are
 * counted, but not in the sum yet, make a much smaller difference. A layout without values has
 * bounds too low to tell.
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

/* A distribution has fewer than 2^24 cells: if all are below 2^40, their sum is below 2^64. */
#define DISTRIBUTION_LARGE 40

static uint64_t distribution_count(const crest_distribution *distribution)
{
    uint64_t count = 0, large = 0;
    for (unsigned s = 0; s < distribution->layout.blocks; s++)
        if (distribution->block[s] != NULL)
            count += distribution_sum_cells(distribution->block[s],
                                            crest_distribution_cells(distribution, s), &large);
    if (large >> DISTRIBUTION_LARGE == 0)
        return count;
    count = 0;
    for (unsigned s = 0; s < distribution->layout.blocks; s++) {
        const uint64_t *counts = distribution->block[s];
        size_t cells = counts != NULL ? crest_distribution_cells(distribution, s) : 0;
        for (size_t i = 0; i < cells; i++)
            count = crest_distribution_plus(count, counts[i]);
    }
    return count;
}

static void distribution_judge(crest_distribution *distribution)
{
    if (distribution->count == 0)
        distribution->min = distribution->max = 0;
    distribution->sum_is_past = distribution_sum_is_past(distribution);
}

void crest_distribution_settle(crest_distribution *distribution)
{
    distribution->count = distribution_count(distribution);
    distribution_judge(distribution);
}

/* A block copied once was counted on the way, and most are. Only others are walked again. */
void crest_distribution_finish(crest_distribution *distribution)
{
    distribution->min = ~distribution->min;
    if (!distribution->counted || distribution->large >> DISTRIBUTION_LARGE != 0)
        distribution->count = distribution_count(distribution);
    distribution_judge(distribution);
    /* a record whose sum was read, but whose count was not, belongs to the next reading, as its
     * extremes do */
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
    /* the cursor holds the block's number and the cell behind the last */
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
