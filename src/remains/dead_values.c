/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading values out of a state file. See dead_values.h.
 */
#include "remains/dead_values.h"
#include "base/alloc.h"
#include "cells/first_values.h"
#include "cells/layouts.h"

#include <string.h>

/* Metrics of a file, at most; more are damage. */
#define DEAD_METRICS_MAX (1u << 20)

struct crest_dead {
    crest_state_view *view;
    const crest_state_metric **metrics; /* by number */
    uint32_t metric_count;
    uint64_t *tables; /* addresses of tables that count */
    size_t table_count;
    uint64_t delivered[2]; /* likewise, of what was delivered by this run, and before; 0: none */
    uint64_t shared[CREST_STATE_CHUNKS];
    uint64_t *births[CREST_STATE_CHUNKS]; /* by slot: the highest birth of its records, plus one */
    struct {                              /* as a beginning lies in a process */
        _Alignas(16) unsigned char zeros[CREST_STATE_BEGINNING_AT];
        uint64_t values[CREST_STATE_BEGINNING_VALUES];
    } beginning;
};

/* ---- the index ---- */

static int dead_add_metric(crest_dead *dead, const crest_state_metric *metric)
{
    const char *texts[CREST_DEAD_TEXTS_MAX];
    if (metric->id >= DEAD_METRICS_MAX || !crest_dead_texts(metric, texts))
        return 1;
    if (metric->id >= dead->metric_count) {
        uint32_t count = 2 * metric->id + 64;
        const crest_state_metric **more =
            crest_alloc_resize(dead->metrics, count, sizeof(crest_state_metric *));
        if (more == NULL)
            return 0;
        memset(more + dead->metric_count, 0, (count - dead->metric_count) * sizeof *more);
        dead->metrics = more;
        dead->metric_count = count;
    }
    dead->metrics[metric->id] = metric;
    return 1;
}

static int dead_add_table(crest_dead *dead, const crest_state_thread *thread)
{
    if ((thread->flags & CREST_STATE_THREAD_ADOPTED) != 0 && dead->view->header->adopted == 0)
        return 1;
    if ((thread->flags & CREST_STATE_THREAD_DELIVERED) != 0) {
        dead->delivered[(thread->flags & CREST_STATE_THREAD_ADOPTED) != 0] = thread->table;
        return 1;
    }
    if ((dead->table_count & (dead->table_count - 1)) == 0) {
        size_t count = dead->table_count != 0 ? 2 * dead->table_count : 1;
        uint64_t *more = crest_alloc_resize(dead->tables, count, sizeof *more);
        if (more == NULL)
            return 0;
        dead->tables = more;
    }
    dead->tables[dead->table_count++] = thread->table;
    return 1;
}

static int dead_slot_can_be(uint32_t slot)
{
    return slot < CREST_STATE_CHUNK * CREST_STATE_CHUNKS;
}

/* Where the birth of a slot that can be is kept; NULL without memory. */
static uint64_t *dead_birth(crest_dead *dead, uint32_t slot)
{
    uint64_t **chunk = &dead->births[slot / CREST_STATE_CHUNK];
    if (*chunk == NULL)
        *chunk = crest_alloc(CREST_STATE_CHUNK, sizeof **chunk);
    return *chunk != NULL ? &(*chunk)[slot % CREST_STATE_CHUNK] : NULL;
}

static int dead_add(crest_dead *dead, const crest_state_record *record)
{
    const void *body = record;
    uint64_t none = 0;
    if (record->type == CREST_STATE_METRIC)
        return dead_add_metric(dead, body);
    if (record->type == CREST_STATE_THREAD)
        return dead_add_table(dead, body);
    if (record->type == CREST_STATE_SHARED_CHUNK) {
        const crest_state_shared_chunk *chunk = body;
        if (chunk->chunk < CREST_STATE_CHUNKS)
            dead->shared[chunk->chunk] = chunk->address;
    }
    if (record->type == CREST_STATE_SERIES) {
        const crest_state_series *series = body;
        uint64_t *birth = dead_slot_can_be(series->slot) ? dead_birth(dead, series->slot) : &none;
        if (birth == NULL)
            return 0;
        if (*birth < series->birth + 1)
            *birth = series->birth + 1;
    }
    return 1;
}

crest_dead *crest_dead_new(crest_state_view *view)
{
    crest_dead *dead = crest_alloc(1, sizeof *dead);
    const crest_state_record *record;
    if (dead == NULL)
        return NULL;
    dead->view = view;
    for (crest_state_cursor cursor = {0}; (record = crest_state_next(view, &cursor)) != NULL;)
        if (!dead_add(dead, record)) {
            crest_dead_free(dead);
            return NULL;
        }
    return dead;
}

void crest_dead_free(crest_dead *dead)
{
    if (dead == NULL)
        return;
    for (unsigned i = 0; i < CREST_STATE_CHUNKS; i++)
        crest_alloc_free(dead->births[i]);
    crest_alloc_free(dead->tables);
    crest_alloc_free(dead->metrics);
    crest_alloc_free(dead);
}

const crest_state_metric *crest_dead_metric(const crest_dead *dead, uint32_t id)
{
    return id < dead->metric_count ? dead->metrics[id] : NULL;
}

uint32_t crest_dead_metric_count(const crest_dead *dead)
{
    return dead->metric_count;
}

int crest_dead_texts(const crest_state_metric *metric, const char *texts[CREST_DEAD_TEXTS_MAX])
{
    uint64_t count = 3 + 2 * (uint64_t)metric->constant_count + metric->key_count +
                     (uint64_t)metric->stage_count;
    return count <= CREST_DEAD_TEXTS_MAX && metric->bound_count <= CREST_BUCKETS_MAX &&
           crest_state_texts(&metric->record, metric->bound_count * sizeof(double), texts,
                             (size_t)count);
}

const crest_state_series *crest_dead_next(crest_dead *dead, crest_state_cursor *cursor)
{
    const crest_state_record *record;
    while ((record = crest_state_next(dead->view, cursor)) != NULL) {
        const crest_state_series *series = (const crest_state_series *)(const void *)record;
        if (record->type != CREST_STATE_SERIES || crest_dead_metric(dead, series->metric) == NULL)
            continue;
        if (!dead_slot_can_be(series->slot))
            continue;
        const uint64_t *birth = dead_birth(dead, series->slot);
        if (birth != NULL && *birth == series->birth + 1)
            return series;
    }
    return NULL;
}

/* ---- values ---- */

/* The word of a slot's cell in a table; 0 where there is none. */
static uint64_t dead_cell(crest_dead *dead, uint64_t table, uint32_t slot)
{
    uint64_t chunk =
        crest_state_word(dead->view, table + slot / CREST_STATE_CHUNK * (uint64_t)sizeof(uint64_t));
    return chunk != 0 ? crest_state_word(dead->view, chunk + slot * (uint64_t)sizeof(uint64_t)) : 0;
}

uint64_t crest_dead_counter(crest_dead *dead, const crest_state_series *series)
{
    uint64_t shared = dead->shared[series->slot / CREST_STATE_CHUNK];
    uint64_t sum = shared == 0
                       ? 0
                       : crest_state_word(dead->view, shared + series->slot % CREST_STATE_CHUNK *
                                                                   sizeof(uint64_t));
    for (size_t i = 0; i < dead->table_count; i++)
        sum = crest_distribution_plus(sum, dead_cell(dead, dead->tables[i], series->slot));
    if (sum == UINT64_MAX)
        return sum;
    return sum > series->base ? sum - series->base : 0;
}

/* Whether something found no room in the file: the words of what was delivered may be among it. */
static int dead_lacks(const crest_dead *dead)
{
    const crest_state_header *header = dead->view->header;
    return header->refused_bytes != 0 || header->refused_records != 0;
}

uint64_t crest_dead_delivered(crest_dead *dead, const crest_state_series *series)
{
    uint64_t total = crest_dead_counter(dead, series), word[2] = {0, 0};
    for (unsigned i = 0; i < 2; i++)
        if (dead->delivered[i] != 0)
            word[i] = dead_cell(dead, dead->delivered[i], series->slot);
    /* words that found no room cannot be told from such that nothing was delivered of */
    if (word[0] == 0 && dead_lacks(dead))
        return total;
    uint64_t delivered = crest_distribution_plus(word[0], word[1]);
    return delivered < total ? delivered : total;
}

double crest_dead_gauge(crest_dead *dead, const crest_state_series *series)
{
    double value = 0;
    const void *at = crest_state_at(dead->view, series->shared, sizeof value);
    if (at != NULL)
        memcpy(&value, at, sizeof value);
    return value;
}

int64_t crest_dead_range(crest_dead *dead, const crest_state_series *series)
{
    uint64_t value = crest_state_word(dead->view, series->shared + CREST_STATE_RANGE_VALUE);
    return (int64_t)(value +
                     (crest_state_word(dead->view, series->shared + CREST_STATE_RANGE_HELD) & 1));
}

/* ---- distributions ---- */

int crest_dead_layout(const crest_state_metric *metric, crest_layout *layout)
{
    *layout = (crest_layout){.bits = metric->layout_bits,
                             .unit = metric->layout_unit,
                             .blocks = metric->layout_blocks,
                             .highest = metric->layout_highest};
    if (layout->highest == 0 || layout->highest > INT64_MAX ||
        (layout->highest & (layout->highest + 1)) != 0)
        return 0;
    if (layout->bits == 0) /* CREST_RANGE_NONE: count, sum and extremes alone */
        return layout->unit == CREST_LAYOUT_UNIT_NONE && layout->blocks == 1;
    unsigned top = 63u - (unsigned)__builtin_clzll(layout->highest);
    return layout->bits <= CREST_LAYOUT_BITS_MAX && layout->unit < top &&
           layout->unit + layout->bits <= top &&
           layout->blocks == crest_layout_block(layout, layout->highest) + 1;
}

/* The word of a block, leading to its cells in the view; 0 where it leads nowhere. */
static uintptr_t dead_block(crest_dead *dead, const crest_layout *layout, unsigned number,
                            uint64_t word)
{
    uint64_t first = crest_layout_first_cell(layout, number) * sizeof(uint64_t);
    uint64_t cells = crest_layout_end_cell(layout) * sizeof(uint64_t) - first;
    const void *at =
        word == 0 ? NULL
                  : crest_state_at(dead->view, (word & ~CREST_STATE_BLOCK_SHIFT) + first, cells);
    uintptr_t biased = (uintptr_t)at - (uintptr_t)first;
    return at != NULL && (biased & CREST_STATE_BLOCK_SHIFT) == 0
               ? biased | crest_layout_shift(layout, number)
               : 0;
}

/* Values of a beginning; those that the layout has no cell for are left out. The reader of a living
 * process' beginnings gets a copy: what the file says stays as it is while it is read. */
static int dead_add_beginning(crest_dead *dead, crest_distribution *to, uint64_t word)
{
    const void *at =
        crest_state_at(dead->view, word - CREST_STATE_BEGINNING_MARK + CREST_STATE_BEGINNING_AT,
                       sizeof dead->beginning.values);
    if (at == NULL)
        return 1;
    memcpy(dead->beginning.values, at, sizeof dead->beginning.values);
    for (unsigned i = 0; i < CREST_STATE_BEGINNING_VALUES; i++)
        if (dead->beginning.values[i] != CREST_BEGINNING_CLOSED &&
            dead->beginning.values[i] > to->layout.highest + 1)
            dead->beginning.values[i] = 0;
    return crest_distribution_add_shard(
        to, (const crest_shard *)((uintptr_t)&dead->beginning + CREST_STATE_BEGINNING_MARK));
}

/* Adds the shared part, as far as the layout has cells for it. */
static int dead_add_shared(crest_dead *dead, crest_distribution *to, uint64_t address)
{
    const void *at = crest_state_at(dead->view, address, sizeof(crest_shared_shard));
    crest_shared_shard shared;
    if (at == NULL)
        return 1;
    memcpy(&shared, at, sizeof shared);
    for (uint64_t bits = 64u - (unsigned)__builtin_clzll(to->layout.highest);
         ++bits < CREST_DISTRIBUTION_BLOCKS;)
        shared.count[bits] = 0;
    if (shared.max > to->layout.highest)
        shared.max = to->layout.highest;
    return crest_distribution_add_shared(to, &shared);
}

/* Adds what a cell leads to; 0 without memory. */
static int dead_add_shard(crest_dead *dead, crest_distribution *to, uint64_t word)
{
    crest_shard shard;
    if ((word & CREST_STATE_BEGINNING_MARK) != 0)
        return dead_add_beginning(dead, to, word);
    const void *at = crest_state_at(dead->view, word, sizeof shard);
    if (at == NULL)
        return 1;
    memcpy(&shard, at, sizeof shard);
    shard.beginning = 0;
    if (shard.max > to->layout.highest)
        shard.max = to->layout.highest;
    for (unsigned number = 0; number < to->layout.blocks; number++) {
        uintptr_t *block = &shard.block[crest_shard_place(&to->layout, number)];
        *block = dead_block(dead, &to->layout, number, *block);
    }
    return crest_distribution_add_shard(to, &shard);
}

crest_distribution *crest_dead_distribution(crest_dead *dead, const crest_state_series *series)
{
    const crest_state_metric *metric = crest_dead_metric(dead, series->metric);
    crest_layout layout;
    if (metric == NULL || !crest_dead_layout(metric, &layout))
        return NULL;
    crest_distribution *all = crest_distribution_make(&layout);
    int whole = all != NULL && dead_add_shared(dead, all, series->shared);
    for (size_t i = 0; whole && i < dead->table_count; i++) {
        uint64_t word = dead_cell(dead, dead->tables[i], series->slot);
        whole = word == 0 || dead_add_shard(dead, all, word);
    }
    if (whole) {
        crest_distribution_finish(all);
        return all;
    }
    crest_distribution_free(all);
    return NULL;
}

/* Damage aside, no cell has more delivered than recorded. */
static void dead_clamp(crest_distribution *delivered, const crest_distribution *all)
{
    for (unsigned number = 0; number < all->layout.blocks; number++) {
        uint64_t *cells = delivered->block[number];
        const uint64_t *most = all->block[number];
        for (size_t i = 0; cells != NULL && i < crest_distribution_cells(all, number); i++)
            if (most == NULL || cells[i] > most[i])
                cells[i] = most != NULL ? most[i] : 0;
    }
    crest_distribution_settle(delivered);
    if (delivered->count == all->count) /* a kill may come between the cells and the sum */
        delivered->sum = all->sum;
}

crest_distribution *crest_dead_delivered_counts(crest_dead *dead, const crest_state_series *series,
                                                const crest_distribution *all)
{
    if (all == NULL || dead_lacks(dead))
        return crest_distribution_copy(all);
    crest_distribution *delivered = crest_distribution_make(&all->layout);
    int whole = delivered != NULL;
    for (unsigned i = 0; whole && i < 2; i++) {
        uint64_t word =
            dead->delivered[i] != 0 ? dead_cell(dead, dead->delivered[i], series->slot) : 0;
        whole = word == 0 || dead_add_shard(dead, delivered, word);
    }
    if (whole) {
        crest_distribution_finish(delivered);
        dead_clamp(delivered, all);
        return delivered;
    }
    crest_distribution_free(delivered);
    return NULL;
}
