/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of all kinds. See metric_kinds.h.
 */
#include "metrics/metric_kinds.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "cells/cells.h"
#include "cells/range_cell.h"
#include "metrics/series_merge.h"
#include "metrics/slowest_note.h"

/* ---- counters ---- */

static int kinds_counter_value(const crest_series *series, uint64_t *value)
{
    *value = crest_cells_sum(crest_atomic_load32(&series->slot));
    return 1;
}

/* ---- gauges ---- */

static void *kinds_gauge_new(void)
{
    return crest_arena_take_again(CREST_ARENA_GAUGE, CREST_LINE_BYTES);
}

static void kinds_gauge_give(void *shared)
{
    crest_arena_give(CREST_ARENA_GAUGE, shared, CREST_LINE_BYTES);
}

static int kinds_gauge_value(const crest_series *series, uint64_t *value)
{
    *value = crest_atomic_load(series->shared);
    return 1;
}

/* ---- range samplers ---- */

static void *kinds_range_new(void)
{
    return crest_range_cell_new();
}

static void kinds_range_give(void *shared)
{
    crest_arena_give(CREST_ARENA_RANGE, shared, sizeof(crest_range_cell));
}

/* Its measured mutex goes by handles from now on, which looks for its series: the permit becomes
 * shared (instruments/permits.h). The timer beside it goes with the same registry. */
static void kinds_range_cut(void *shared)
{
    crest_range_cell *cell = shared;
    crest_atomic_store(&cell->permit.user, CREST_PERMIT_SHARED);
}

static int kinds_range_value(const crest_series *series, uint64_t *value)
{
    /* +1 and -1 leave the value as it was, but not the moment: so the moment tells */
    const crest_range_cell *cell = series->shared;
    *value = crest_atomic_load(&cell->state.value) + crest_atomic_load(&cell->state.moment);
    return 1;
}

/* ---- distributions: the shared part takes records of threads without cells of their own ---- */

static void *kinds_histogram_new(void)
{
    return crest_shared_shard_new();
}

static void kinds_histogram_give(void *shared)
{
    crest_shared_shard_give(shared);
}

static void *kinds_timer_new(void)
{
    return crest_slowest_shard_new();
}

static void kinds_timer_give(void *shared)
{
    crest_slowest_shard_give(shared);
}

static int kinds_distribution_value(const crest_series *series, uint64_t *value)
{
    crest_distribution *merged = crest_series_merge(series);
    *value = crest_distribution_count(merged);
    crest_distribution_free(merged);
    return merged != NULL;
}

/* ---- the table ---- */

static const crest_kind_row kinds_rows[CREST_KIND_COUNT] = {
    [CREST_KIND_COUNTER] = {.handle_bytes = sizeof(crest_counter),
                            .adds = 1,
                            .grows = 1,
                            .value = kinds_counter_value},
    [CREST_KIND_GAUGE] = {.handle_bytes = sizeof(crest_gauge),
                          .cell_at = offsetof(crest_gauge, cell),
                          .shared_new = kinds_gauge_new,
                          .shared_give = kinds_gauge_give,
                          .value = kinds_gauge_value},
    [CREST_KIND_HISTOGRAM] = {.handle_bytes = sizeof(crest_histogram),
                              .grows = 1,
                              .shared_new = kinds_histogram_new,
                              .shared_give = kinds_histogram_give,
                              .value = kinds_distribution_value},
    [CREST_KIND_TIMER] = {.handle_bytes = sizeof(crest_timer),
                          .grows = 1,
                          .shared_new = kinds_timer_new,
                          .shared_give = kinds_timer_give,
                          .value = kinds_distribution_value},
    [CREST_KIND_RANGE_SAMPLER] = {.handle_bytes = sizeof(crest_range_sampler),
                                  .cell_at = offsetof(crest_range_sampler, cell),
                                  .shared_new = kinds_range_new,
                                  .shared_give = kinds_range_give,
                                  .shared_cut = kinds_range_cut,
                                  .value = kinds_range_value},
    /* in declarations only: their metrics are timers */
    [CREST_KIND_STAGES] = {.handle_bytes = sizeof(crest_stages)},
};

const crest_kind_row *crest_kind_row_of(crest_kind kind)
{
    return &kinds_rows[kind];
}
