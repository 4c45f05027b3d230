/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children and series. See series.h.
 */
#include "registry/series.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/utf8.h"
#include "cells/cells.h"
#include "cells/created.h"
#include "metrics/child.h"
#include "metrics/generation.h"
#include "metrics/handle_pool.h"
#include "metrics/metric_kinds.h"
#include "metrics/slots.h"
#include "registry/children.h"
#include "registry/described.h"
#include "registry/inherited.h"
#include "registry/series_state.h"

#include <string.h>

crest_status crest_series_equip(crest_series *series)
{
    const crest_metric *metric = series->metric;
    const crest_kind_row *kind = crest_kind_row_of(metric->kind);
    if (kind->shared_new != NULL && series->shared == NULL) {
        void *shared = kind->shared_new();
        if (shared == NULL)
            return CREST_NO_MEMORY;
        /* partner: the acquire load in crest_handle_shared */
        crest_atomic_store_ptr_release(CREST_PTR(&series->shared), shared);
    }
    uint32_t inherited = crest_inherited_slot(series), slot = inherited;
    if (slot == 0)
        slot = crest_slot_reuse(metric);
    if (slot == 0)
        slot = crest_cells_slot_new();
    if (slot == 0)
        return crest_cells_slot_count() >= CREST_SLOT_COUNT - CREST_CHUNK_CELLS ? CREST_LIMIT
                                                                                : CREST_NO_MEMORY;
    crest_atomic_store32_release(&series->slot, slot); /* partner: crest_handle_slot */
    crest_made_now(slot);
    crest_life_begin(series);
    if (inherited != 0)
        crest_inherited_taken(series);
    crest_describe_series(series);
    return CREST_OK;
}

/* The series of an outcome, not the series within the child; NULL and *status on failure. */
static crest_series *series_other_make(crest_child *child, unsigned outcome, crest_status *status)
{
    crest_metric *metric = child->first.metric;
    *status = CREST_NO_MEMORY;
    crest_series_other *other = crest_arena_take(
        CREST_ARENA_META, sizeof *other + crest_metric_values(metric) * sizeof(char *),
        _Alignof(crest_series_other));
    if (other == NULL)
        return NULL;
    other->child = child;
    memcpy(other->values, crest_child_values(child), metric->label_count * sizeof(char *));
    other->values[metric->label_count] = crest_outcome_text((crest_outcome)outcome);
    other->series.metric = metric;
    other->series.outcome = (uint16_t)outcome;
    other->series.text_bytes = child->first.text_bytes;
    *status = crest_series_equip(&other->series);
    if (*status != CREST_OK)
        return NULL;
    /* partner: the acquire load in crest_child_at */
    crest_atomic_store_ptr_release(CREST_PTR(&child->others[outcome - 1]), &other->series);
    return &other->series;
}

/* Fills a handle that leads to one series. */
static void series_fill(crest_handle *handle, crest_series *series)
{
    crest_atomic_store_ptr_release(CREST_PTR(&handle->series), series);
    /* the hot path loads it relaxed: it reaches only the thread's own memory through it */
    crest_atomic_store32_release(&handle->slot, series->slot);
}

void crest_child_fill(const crest_child *child, crest_handle *handle)
{
    crest_kind kind = child->first.metric->kind;
    series_fill(handle, crest_child_at(child, 0));
    void **cell = crest_kind_cell(crest_kind_row_of(kind), handle);
    if (cell != NULL)
        /* partners: the acquire loads in crest_gauge_set and crest_range_sampler_add */
        crest_atomic_store_ptr_release(cell, child->first.shared);
    for (unsigned i = 0; kind == CREST_KIND_TIMER && i < CREST_OUTCOME_COUNT; i++) {
        crest_handle *outcome = &((crest_timer *)handle)->outcome[i].handle;
        if (crest_child_at(child, i) != NULL)
            series_fill(outcome, crest_child_at(child, i));
        else /* the handle may have been dead, of a child that was retired */
            crest_atomic_store_ptr_release(CREST_PTR(&outcome->series), NULL);
    }
}

/* The child's own handle: like a declared one, but made by the library. */
static void series_handle_init(crest_child *child)
{
    child->own->handle.abi = CREST_ABI;
    if (child->first.metric->kind == CREST_KIND_TIMER)
        for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++)
            child->own->timer.outcome[i].handle.abi = CREST_ABI;
    crest_child_fill(child, &child->own->handle);
}

/* Whether a page can write the value without escaping. */
static int series_is_plain(const char *value)
{
    return strpbrk(value, "\\\"\n") == NULL && crest_utf8_is_valid(value);
}

/* A block for a child and its values. NULL without memory. */
static crest_child *series_child_new(crest_metric *metric, const char *const *values)
{
    size_t length[CREST_LABELS_KEPT_MAX], text_bytes = 0;
    int plain = 1;
    for (unsigned i = 0; i < metric->label_count; i++) {
        text_bytes += length[i] = strlen(values[i]) + 1;
        plain &= series_is_plain(values[i]);
    }
    size_t pointers = crest_metric_values(metric) * sizeof(char *);
    size_t before = crest_child_bytes(metric) + pointers;
    crest_child *child =
        crest_arena_take(CREST_ARENA_META, before + text_bytes, _Alignof(crest_child));
    crest_own_handle *own = crest_own_handle_new(metric->kind);
    if (child == NULL || own == NULL)
        return NULL;
    child->own = own;
    child->first.metric = metric;
    child->first.text_bytes = plain ? (uint16_t)text_bytes : 0;
    const char **kept = crest_child_values(child);
    char *text = (char *)child + before;
    for (unsigned i = 0; i < metric->label_count; text += length[i++])
        kept[i] = memcpy(text, values[i], length[i]);
    if (metric->kind == CREST_KIND_TIMER)
        kept[metric->label_count] = crest_outcome_text((crest_outcome)0);
    return child;
}

crest_child *crest_child_new(crest_metric *metric, const char *const *values, crest_status *status)
{
    *status = CREST_NO_MEMORY;
    crest_child *child = series_child_new(metric, values);
    if (child == NULL)
        return NULL;
    if (metric->label_count != 0)
        child->first.hash = crest_children_hash(metric, values);
    *status = crest_series_equip(&child->first);
    if (*status != CREST_OK)
        return NULL;
    if (metric->kind == CREST_KIND_TIMER &&
        series_other_make(child, CREST_OUTCOME_ERROR, status) == NULL)
        return NULL;
    return child;
}

crest_status crest_child_publish(crest_metric *metric, crest_child *child)
{
    int added = 1;
    series_handle_init(child);
    crest_registry_changing(metric);
    if (metric->label_count == 0)
        /* partner: the acquire load in children.c */
        crest_atomic_store_ptr_release(CREST_PTR(&metric->children), child);
    else
        added = crest_children_add(metric, child);
    metric->child_count += (unsigned)added;
    crest_registry_changed(metric);
    return added ? CREST_OK : CREST_NO_MEMORY;
}

crest_series *crest_child_series(crest_child *child, unsigned outcome, crest_status *status)
{
    *status = CREST_OK;
    crest_series *series = crest_child_at(child, outcome);
    if (series != NULL && series->slot != 0)
        return series;
    if (series == NULL)
        series = series_other_make(child, outcome, status);
    else if ((*status = crest_series_equip(series)) != CREST_OK)
        return NULL;
    if (series == NULL)
        return NULL;
    crest_registry_changed(child->first.metric);
    series_fill(&child->own->timer.outcome[outcome].handle, series);
    return series;
}

/* Cuts a handle from the hot path: slot 0. `series`, unless NULL, is its new series. */
static void series_cut_handle(crest_handle *handle, crest_series *series)
{
    if (series != NULL)
        crest_atomic_store_ptr_release(CREST_PTR(&handle->series), series);
    crest_atomic_store32(&handle->slot, 0);
}

static void series_cut(crest_child *child, crest_series *series)
{
    const crest_kind_row *kind = crest_kind_row_of(child->first.metric->kind);
    if (kind->shared_cut != NULL && child->first.shared != NULL)
        kind->shared_cut(child->first.shared);
    series_cut_handle(&child->own->handle, series);
    void **cell = crest_kind_cell(kind, &child->own->handle);
    if (cell != NULL)
        crest_atomic_store_ptr_release(cell, NULL);
    if (child->first.metric->kind == CREST_KIND_TIMER)
        for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++)
            series_cut_handle(&child->own->timer.outcome[i].handle, series);
}

void crest_child_blank(crest_child *child)
{
    series_cut(child, NULL);
}

void crest_child_kill(crest_child *child, crest_status status)
{
    series_cut(child, crest_series_dead_for(status));
}
