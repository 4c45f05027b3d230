/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting shards' records below limits. See bucket_counts.h.
 */
#include "distributions/bucket_counts.h"
#include "cells/first_values.h"

#include <string.h>

/* Whether the cells below this limit end at or before this cell of this block. If they end later in
 * the block, *to is where. */
static int tally_is_past(const crest_layout *layout, uint64_t limit, unsigned block, uint32_t cell,
                         uint32_t *to)
{
    if (limit > layout->highest)
        limit = layout->highest;
    unsigned last = crest_layout_block(layout, limit);
    uint64_t end =
        (limit >> crest_layout_shift(layout, last)) - crest_layout_first_cell(layout, last) + 1;
    if (last < block || (last == block && end <= cell))
        return 1;
    if (last == block)
        *to = (uint32_t)end;
    return 0;
}

static void tally_cut(crest_tally *tally)
{
    const crest_layout *layout = &tally->layout;
    unsigned runs = 0, bucket = 0;
    for (unsigned s = 0; s < layout->blocks; s++) {
        uint32_t cells =
            (uint32_t)(crest_layout_end_cell(layout) - crest_layout_first_cell(layout, s));
        tally->first[s] = runs;
        for (uint32_t from = 0, to; from < cells; from = to) {
            to = cells;
            while (bucket < tally->limit_count &&
                   tally_is_past(layout, tally->limits[bucket], s, from, &to))
                bucket++;
            tally->runs[runs++] = (crest_tally_run){to, bucket};
        }
    }
    tally->first[layout->blocks] = runs;
}

void crest_tally_begin(crest_tally *tally, const crest_layout *layout, const uint64_t *limits,
                       unsigned count)
{
    if (tally->layout.blocks == 0 || tally->limit_count != count ||
        !crest_layout_equal(&tally->layout, layout) ||
        memcmp(tally->limits, limits, count * sizeof *limits) != 0) {
        tally->layout = *layout;
        tally->limit_count = count;
        memcpy(tally->limits, limits, count * sizeof *limits);
        tally_cut(tally);
    }
    tally->sum = tally->max = tally->large = tally->cells = 0;
    memset(tally->counts, 0, (count + 1) * sizeof tally->counts[0]);
}

/* The sum, modulo 2^64, of cells that their threads are writing; *large gets at least the bits of
 * each cell. */
static inline uint64_t tally_sum(const uint64_t *cells, uint32_t from, uint32_t to, uint64_t *large)
{
    uint64_t sum = 0, bits = 0;
#if CREST_ATOMIC_LOADS_TWO
    if (from % 2 != 0)
        bits = sum = crest_atomic_load(&cells[from++]);
    crest_two_words sums = {0, 0}, more = {0, 0}, all = {0, 0};
    for (; from + 8 <= to; from += 8) {
        crest_two_words a = crest_atomic_load_two(&cells[from]);
        crest_two_words b = crest_atomic_load_two(&cells[from + 2]);
        crest_two_words c = crest_atomic_load_two(&cells[from + 4]);
        crest_two_words d = crest_atomic_load_two(&cells[from + 6]);
        all |= a | b | c | d;
        sums += a + b;
        more += c + d;
    }
    for (; from + 2 <= to; from += 2) {
        crest_two_words a = crest_atomic_load_two(&cells[from]);
        all |= a;
        sums += a;
    }
    sums += more;
    sum += sums[0] + sums[1];
    bits |= all[0] | all[1];
#endif
    for (; from < to; from++) {
        uint64_t cell = crest_atomic_load(&cells[from]);
        sum += cell;
        bits |= cell;
    }
    *large |= bits;
    return sum;
}

static void tally_add_value(crest_tally *tally, uint64_t value)
{
    const crest_layout *layout = &tally->layout;
    unsigned s = crest_layout_block(layout, value), i = tally->first[s];
    uint64_t cell = (value >> crest_layout_shift(layout, s)) - crest_layout_first_cell(layout, s);
    while (cell >= tally->runs[i].end)
        i++;
    tally->counts[tally->runs[i].bucket]++;
    tally->sum += value;
    tally->max = value > tally->max ? value : tally->max;
    tally->large |= 1;
    tally->cells++;
}

/* Reads sum, counts, extremes in that order, as crest_distribution_add_shard does, and for its
 * reasons. */
void crest_tally_add(crest_tally *tally, const crest_shard *shard)
{
    const crest_layout *layout = &tally->layout;
    uint64_t value;
    for (unsigned place = 0; crest_shard_values(shard, &place, &value);)
        tally_add_value(tally, value);
    if (crest_shard_counted((uint64_t)(uintptr_t)shard) == NULL)
        return;
    /* acquire: partner of crest_word_sum_release in crest_shard_record */
    tally->sum += crest_atomic_load_acquire(&shard->sum);
    for (unsigned s = 0; s < layout->blocks; s++) {
        const uint64_t *cells = crest_shard_cells(shard, layout, s);
        uint32_t from = 0;
        for (unsigned i = tally->first[s]; cells != NULL && i < tally->first[s + 1]; i++) {
            const crest_tally_run *run = &tally->runs[i];
            tally->counts[run->bucket] += tally_sum(cells, from, run->end, &tally->large);
            from = run->end;
        }
        tally->cells += from;
    }
#ifndef CREST_THREAD_SANITIZER
    ck_pr_fence_load(); /* counts before extremes */
#endif
    uint64_t max = crest_atomic_load_acquire(&shard->max);
    tally->max = max > tally->max ? max : tally->max;
}

/* Whether the sum cannot exceed 2^64 - 1. A value that counts below a limit is less than its cell's
 * width above it. A cell is no wider than its lowest value, but in the lowest block. */
static int tally_sum_fits(const crest_tally *tally, uint64_t count)
{
    uint64_t most = 0, part;
    if (!__builtin_mul_overflow(count, tally->max, &part))
        return 1;
    for (unsigned i = 0; i <= tally->limit_count; i++) {
        uint64_t largest = tally->max;
        if (i < tally->limit_count && tally->limits[i] < largest / 2)
            largest = 2 * tally->limits[i] + (UINT64_C(1) << tally->layout.unit);
        if (__builtin_mul_overflow(tally->counts[i], largest, &part) ||
            __builtin_add_overflow(most, part, &most))
            return 0;
    }
    return 1;
}

int crest_tally_end(const crest_tally *tally, crest_totals *totals)
{
    uint64_t most, count = 0;
    if (__builtin_mul_overflow(tally->large, tally->cells, &most))
        return 0;
    for (unsigned i = 0; i < tally->limit_count; i++)
        totals->below[i] = count += tally->counts[i];
    totals->count = count + tally->counts[tally->limit_count];
    /* a record whose sum was read, but whose count was not, belongs to the next reading */
    totals->sum = totals->count != 0 ? tally->sum : 0;
    return tally->layout.unit == CREST_LAYOUT_UNIT_NONE || tally_sum_fits(tally, totals->count);
}

void crest_totals_of(const crest_distribution *distribution, const uint64_t *limits, unsigned count,
                     crest_totals *totals)
{
    totals->count = crest_distribution_count(distribution);
    totals->sum = crest_distribution_sum(distribution);
    if (totals->count != 0)
        crest_distribution_below(distribution, limits, count, totals->below);
    else
        memset(totals->below, 0, count * sizeof totals->below[0]);
}
