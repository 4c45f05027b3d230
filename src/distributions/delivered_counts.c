/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions into shards of the state file. See delivered_counts.h.
 */
#include "distributions/delivered_counts.h"
#include "base/atomic.h"
#include "cells/delivered_cells.h"

/* A block's counts in a shard, made if need be; NULL without memory. */
static uint64_t *counts_block(crest_shard *shard, const crest_layout *layout, unsigned number)
{
    uint64_t first = crest_layout_first_cell(layout, number);
    if (!crest_shard_touch(shard, layout, crest_layout_lowest(layout, number, first), NULL))
        return NULL;
    return (uint64_t *)(uintptr_t)crest_shard_cells(shard, layout, number);
}

static void counts_extremes(crest_shard *shard, const crest_distribution *from)
{
    if (from->count != 0 && from->max > shard->max)
        crest_atomic_store(&shard->max, from->max);
    if (from->count != 0 && from->min < shard->min)
        crest_atomic_store(&shard->min, from->min);
}

int crest_shard_add_counts(crest_shard *shard, const crest_layout *layout,
                           const crest_distribution *more)
{
    for (unsigned number = 0; number < layout->blocks; number++) {
        const uint64_t *counts = more->block[number];
        uint64_t *cells = counts != NULL ? counts_block(shard, layout, number) : NULL;
        if (counts != NULL && cells == NULL)
            return 0;
        for (size_t i = 0; cells != NULL && i < crest_distribution_cells(more, number); i++)
            crest_atomic_store(&cells[i], crest_distribution_plus(cells[i], counts[i]));
    }
    crest_atomic_store(&shard->sum, shard->sum + more->sum);
    counts_extremes(shard, more);
    return 1;
}

int crest_delivered_inherit_counts(uint32_t slot, const crest_distribution *delivered)
{
    if (crest_distribution_count(delivered) == 0)
        return 1;
    uint64_t *word = crest_delivered_counts_word(slot, 1);
    const crest_layout *layout = crest_layout_shared(&delivered->layout);
    crest_shard *shard = word != NULL && layout != NULL ? crest_shard_at(word, layout, NULL) : NULL;
    return shard != NULL && crest_shard_add_counts(shard, layout, delivered);
}

/* Raises the cells of a block to what was delivered beyond `before`, which may be NULL. */
static void counts_raise(uint64_t *cells, const uint64_t *delivered, const uint64_t *before,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t less = before != NULL ? before[i] : 0;
        if (delivered[i] > less && delivered[i] - less > cells[i])
            crest_atomic_store(&cells[i], delivered[i] - less);
    }
}

void crest_delivered_raise_counts(uint32_t slot, const crest_distribution *delivered)
{
    uint64_t *word =
        crest_distribution_count(delivered) != 0 ? crest_delivered_counts_word(slot, 0) : NULL;
    const crest_layout *layout = word != NULL ? &delivered->layout : NULL;
    crest_shard *own = layout != NULL ? crest_shard_at(word, layout, NULL) : NULL;
    /* no thread records here, so `noted` is free: the count up to which the cells have it all */
    if (own == NULL || own->noted >= delivered->count)
        return;
    const crest_shard *before = crest_delivered_counts(slot, 1);
    for (unsigned number = 0; number < layout->blocks; number++) {
        const uint64_t *counts = delivered->block[number];
        uint64_t *cells = counts != NULL ? counts_block(own, layout, number) : NULL;
        if (counts != NULL && cells == NULL)
            return;
        if (counts != NULL)
            counts_raise(cells, counts,
                         before != NULL ? crest_shard_cells(before, layout, number) : NULL,
                         crest_distribution_cells(delivered, number));
    }
    crest_atomic_store(&own->sum, delivered->sum - (before != NULL ? before->sum : 0));
    counts_extremes(own, delivered);
    crest_atomic_store(&own->noted, delivered->count);
}
