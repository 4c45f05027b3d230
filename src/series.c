/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children and series. See series.h.
 */
#include "series.h"
#include "arena.h"
#include "atomic.h"
#include "cells.h"
#include "hash.h"
#include "lock.h"
#include "misuse.h"
#include "range_cell.h"
#include "utf8.h"

#include <string.h>

#define SERIES_OVERFLOW "overflow"

/* One for each status that a handle can be dead of. */
static crest_series series_dead[CREST_STATUS_COUNT];

crest_series *crest_series_dead_for(crest_status status)
{
    return &series_dead[status];
}

int crest_series_is_dead(const crest_series *series, crest_status *status)
{
    uintptr_t at = (uintptr_t)series, first = (uintptr_t)series_dead;
    if (at < first || at >= first + sizeof series_dead)
        return 0;
    *status = (crest_status)((at - first) / sizeof series_dead[0]);
    return 1;
}

static unsigned long series_child_hash(const void *object, unsigned long seed)
{
    (void)seed;
    return ((const crest_child *)object)->hash;
}

static bool series_child_same(const void *a, const void *b)
{
    const crest_child *x = a, *y = b;
    /* one is the key, the other found; called from the table, so before its user can say acquire */
    CREST_ANNOTATE_ACQUIRE(x);
    CREST_ANNOTATE_ACQUIRE(y);
    if (x->hash != y->hash)
        return false;
    for (unsigned i = 0; i < x->metric->label_count; i++)
        if (strcmp(x->values[i], y->values[i]) != 0)
            return false;
    return true;
}

int crest_metric_children_init(crest_metric *metric)
{
    return metric->label_count == 0 ||
           crest_table_init(&metric->by_values, series_child_hash, series_child_same, 8);
}

/* A series' shared part: where a gauge or a range sampler lives, and where a histogram's homeless
 * records go. */
static void *series_shared_new(const crest_metric *metric)
{
    if (metric->kind == CREST_KIND_GAUGE)
        return crest_arena_take(CREST_ARENA_CELLS, CREST_LINE_BYTES, CREST_LINE_BYTES);
    if (metric->kind == CREST_KIND_RANGE_SAMPLER)
        return crest_range_cell_new();
    return crest_shared_shard_new();
}

/* The child's values and, for a timer, the outcome after them. */
static const char *const *series_values(const crest_child *child, unsigned outcome)
{
    const crest_metric *metric = child->metric;
    if (metric->kind != CREST_KIND_TIMER)
        return child->values;
    const char **values = crest_arena_take(
        CREST_ARENA_META, (metric->label_count + 1) * sizeof *values, _Alignof(char *));
    if (values == NULL)
        return NULL;
    for (unsigned i = 0; i < metric->label_count; i++)
        values[i] = child->values[i];
    values[metric->label_count] = crest_outcome_text((crest_outcome)outcome);
    return values;
}

static crest_series *series_make(crest_child *child, unsigned outcome, crest_status *status)
{
    const crest_metric *metric = child->metric;
    *status = CREST_NO_MEMORY;
    crest_series *series =
        crest_arena_take(CREST_ARENA_META, sizeof *series, _Alignof(crest_series));
    if (series == NULL)
        return NULL;
    series->child = child;
    series->outcome = outcome;
    series->values = series_values(child, outcome);
    if (series->values == NULL && metric->kind == CREST_KIND_TIMER)
        return NULL;
    if (metric->kind != CREST_KIND_COUNTER && (series->shared = series_shared_new(metric)) == NULL)
        return NULL;
    series->slot = crest_cells_slot_new();
    if (series->slot == 0) {
        *status = crest_cells_slot_count() >= CREST_SLOT_COUNT - CREST_CHUNK_CELLS
                      ? CREST_LIMIT
                      : CREST_NO_MEMORY;
        return NULL;
    }
    *status = CREST_OK;
    return series;
}

/* Fills a handle that leads to one series. */
static void series_fill(crest_handle *handle, crest_series *series)
{
    crest_atomic_store_ptr_release(CREST_PTR(&handle->series), series);
    /* relaxed is enough for the hot path, which reaches only the thread's own memory through it */
    crest_atomic_store32_release(&handle->slot, series->slot);
}

/* Where a handle of this kind keeps the address of the series' shared part; NULL: nowhere. */
static void **series_handle_cell(crest_kind kind, crest_handle *handle)
{
    switch (kind) {
    case CREST_KIND_GAUGE: return CREST_PTR(&((crest_gauge *)handle)->cell);
    case CREST_KIND_RANGE_SAMPLER: return CREST_PTR(&((crest_range_sampler *)handle)->cell);
    default: return NULL;
    }
}

void crest_child_fill(const crest_child *child, crest_handle *handle)
{
    series_fill(handle, child->series[0]);
    void **cell = series_handle_cell(child->metric->kind, handle);
    if (cell != NULL)
        /* partners: the acquire loads in crest_gauge_set and crest_range_sampler_add */
        crest_atomic_store_ptr_release(cell, child->series[0]->shared);
    if (child->metric->kind == CREST_KIND_TIMER)
        for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++)
            if (child->series[i] != NULL)
                series_fill(&((crest_timer *)handle)->outcome[i].handle, child->series[i]);
}

static size_t series_child_bytes(crest_kind kind)
{
    size_t before = offsetof(crest_child, handle);
    switch (kind) {
    case CREST_KIND_GAUGE: return before + sizeof(crest_gauge);
    case CREST_KIND_RANGE_SAMPLER: return before + sizeof(crest_range_sampler);
    case CREST_KIND_TIMER: return before + sizeof(crest_timer);
    default: return before + sizeof(crest_counter);
    }
}

static const char *const *series_copy_values(const crest_metric *metric, const char *const *values)
{
    const char **copy =
        crest_arena_take(CREST_ARENA_META, metric->label_count * sizeof *copy, _Alignof(char *));
    if (copy == NULL)
        return NULL;
    for (unsigned i = 0; i < metric->label_count; i++)
        if ((copy[i] = crest_arena_copy(values[i], strlen(values[i]))) == NULL)
            return NULL;
    return copy;
}

/* The handle that a child carries: as a declared one, but made by the library. */
static void series_handle_init(crest_child *child)
{
    child->handle.counter.handle.abi = CREST_ABI;
    if (child->metric->kind == CREST_KIND_TIMER)
        for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++)
            child->handle.timer.outcome[i].handle.abi = CREST_ABI;
    crest_child_fill(child, &child->handle.counter.handle);
}

static uint64_t series_values_hash(const crest_metric *metric, const char *const *values)
{
    uint64_t hash = crest_hash_seed();
    for (unsigned i = 0; i < metric->label_count; i++)
        hash = crest_hash_text(hash, values[i]);
    return hash;
}

/* In the list before it is in the table: a snapshot has what can be found. */
static crest_status series_publish(crest_metric *metric, crest_child *child)
{
    crest_registry_state *state = metric->state;
    child->next = metric->children;
    /* partner: the acquire loads in snapshot.c */
    crest_atomic_store_ptr_release(CREST_PTR(&metric->children), child);
    crest_atomic_store_release(&state->generation, state->generation + 1);
    CREST_ANNOTATE_RELEASE(child);
    if (metric->label_count == 0 || ck_hs_put(&metric->by_values, child->hash, child)) {
        metric->child_count++;
        return CREST_OK;
    }
    crest_atomic_store_ptr_release(CREST_PTR(&metric->children), child->next); /* as above */
    crest_atomic_store_release(&state->generation, state->generation + 1);
    return CREST_NO_MEMORY;
}

crest_child *crest_child_make(crest_metric *metric, const char *const *values, crest_status *status)
{
    *status = CREST_NO_MEMORY;
    crest_child *child =
        crest_arena_take(CREST_ARENA_META, series_child_bytes(metric->kind), _Alignof(crest_child));
    if (child == NULL)
        return NULL;
    child->metric = metric;
    if (metric->label_count != 0) {
        child->hash = series_values_hash(metric, values);
        child->values = series_copy_values(metric, values);
        if (child->values == NULL)
            return NULL;
    }
    unsigned series = metric->kind == CREST_KIND_TIMER ? CREST_OUTCOME_ERROR + 1 : 1;
    for (unsigned i = 0; i < series; i++)
        if ((child->series[i] = series_make(child, i, status)) == NULL)
            return NULL;
    series_handle_init(child);
    *status = series_publish(metric, child);
    return *status == CREST_OK ? child : NULL;
}

crest_series *crest_child_series(crest_child *child, unsigned outcome, crest_status *status)
{
    *status = CREST_OK;
    if (child->series[outcome] != NULL)
        return child->series[outcome];
    crest_series *series = series_make(child, outcome, status);
    if (series == NULL)
        return NULL;
    crest_registry_state *state = child->metric->state;
    crest_atomic_store_ptr_release(CREST_PTR(&child->series[outcome]), series); /* as children */
    crest_atomic_store_release(&state->generation, state->generation + 1);
    series_fill(&child->handle.timer.outcome[outcome].handle, series);
    return series;
}

static void series_kill_handle(crest_handle *handle)
{
    crest_atomic_store_ptr_release(CREST_PTR(&handle->series),
                                   crest_series_dead_for(CREST_NOT_FOUND));
    crest_atomic_store32(&handle->slot, 0);
}

void crest_child_kill(crest_child *child)
{
    series_kill_handle(&child->handle.counter.handle);
    void **cell = series_handle_cell(child->metric->kind, &child->handle.counter.handle);
    if (cell != NULL)
        crest_atomic_store_ptr_release(cell, NULL);
    if (child->metric->kind == CREST_KIND_TIMER)
        for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++)
            series_kill_handle(&child->handle.timer.outcome[i].handle);
}

static crest_child *series_lookup(crest_metric *metric, const char *const *values)
{
    crest_child key = {
        .metric = metric, .values = values, .hash = series_values_hash(metric, values)};
    return ck_hs_get(&metric->by_values, key.hash, &key);
}

/* Under the lock: the child of these clean values, or the overflow child past the limit. None in a
 * registry that has been freed, which would never be killed. */
static crest_child *series_child_locked(crest_metric *metric, const char *const *values,
                                        crest_status *status)
{
    *status = CREST_NOT_FOUND;
    if (metric->state->dead)
        return NULL;
    *status = CREST_OK;
    crest_child *child = series_lookup(metric, values);
    if (child != NULL)
        return child;
    if (metric->child_count < CREST_FAMILY_SERIES_MAX)
        return crest_child_make(metric, values, status);
    if (metric->overflow == NULL) {
        const char *overflow[CREST_LABELS_MAX];
        for (unsigned i = 0; i < metric->label_count; i++)
            overflow[i] = SERIES_OVERFLOW;
        metric->overflow = series_lookup(metric, overflow);
        if (metric->overflow == NULL)
            metric->overflow = crest_child_make(metric, overflow, status);
    }
    if (metric->overflow != NULL)
        *status = CREST_LIMIT;
    return metric->overflow;
}

/* Label values as they are kept: valid UTF-8 of bounded length. Non-zero if one had to be changed.
 */
typedef struct series_clean {
    const char *values[CREST_LABELS_MAX];
    char text[CREST_LABELS_MAX][CREST_LABEL_VALUE_BYTES_MAX + 1];
} series_clean;

static int series_clean_values(unsigned count, const char *const *values, series_clean *clean)
{
    int changed = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned what;
        crest_utf8_copy(values[i], clean->text[i], sizeof clean->text[i], &what);
        clean->values[i] = clean->text[i];
        changed |= what != 0;
    }
    return changed;
}

crest_child *crest_child_get(crest_metric *metric, const char *const *values, crest_status *status)
{
    const char *present[CREST_LABELS_MAX];
    for (unsigned i = 0; i < metric->label_count; i++)
        present[i] = values[i] ? values[i] : "";
    *status = CREST_OK;
    crest_child *child = series_lookup(metric, present);
    if (child != NULL)
        return child;
    series_clean clean;
    int changed = series_clean_values(metric->label_count, present, &clean);
    crest_lock_saved saved;
    crest_lock_take(&saved);
    child = series_child_locked(metric, clean.values, status);
    crest_lock_drop(&saved);
    if (changed)
        crest_misuse_count(CREST_MISUSE_TEXT, metric->name);
    if (*status != CREST_OK)
        crest_misuse_count(crest_misuse_of(*status), metric->name);
    return child;
}
