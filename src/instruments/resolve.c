/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles: resolved, registered, found by name, or refused. See resolve.h.
 */
#include "instruments/resolve.h"
#include "base/atomic.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "instruments/metric_get.h"
#include "metrics/child.h"
#include "metrics/handles.h"
#include "registry/child_moves.h"
#include "registry/series.h"

void crest_handle_refused(const crest_handle *handle, crest_status why, uint64_t times)
{
    if (why == CREST_LATE || why == CREST_NOT_FOUND)
        crest_misuse_late(times);
    if (why != CREST_LATE)
        crest_misuse_count(crest_misuse_of(why), crest_handle_name(handle));
}

/* A failure that may pass leaves the handle as it is; a later call tries again. */
static uint32_t resolve_give_up(crest_handle *handle, crest_status status)
{
    if (status != CREST_NO_MEMORY)
        crest_atomic_store_ptr_release(CREST_PTR(&handle->series), crest_series_dead_for(status));
    return 0;
}

/* A library handle without a slot: its series was released and comes back. */
static uint32_t resolve_revive(crest_handle *handle, crest_kind kind, crest_status *status)
{
    crest_series *series = handle->series;
    *status = CREST_INVALID_ARGUMENT;
    if (series->metric->kind == kind && crest_child_revive(crest_series_child(series), status))
        return handle->slot;
    return 0;
}

uint32_t crest_handle_resolve(crest_handle *handle, crest_kind kind, crest_status *status)
{
    *status = crest_handle_dead(handle);
    if (*status != CREST_OK)
        return 0;
    if (handle->slot != 0)
        return handle->slot;
    if (handle->declaration == NULL && handle->series != NULL)
        return resolve_revive(handle, kind, status);
    const crest_declaration *declaration = handle->declaration;
    if (declaration == NULL || declaration->label_count != 0 ||
        (declaration->kind != kind &&
         (kind != CREST_KIND_TIMER || declaration->kind != CREST_KIND_STAGES))) {
        *status = CREST_INVALID_ARGUMENT;
        return resolve_give_up(handle, *status);
    }
    crest_metric *metric = crest_metric_get_declared_locked(declaration, status);
    if (metric == NULL)
        return resolve_give_up(handle, *status);
    crest_child_fill(metric->children, handle);
    return handle->slot;
}

uint32_t crest_timer_resolve(crest_timer *timer, crest_outcome outcome, crest_status *status)
{
    if (crest_handle_resolve(&timer->handle, CREST_KIND_TIMER, status) == 0)
        return 0;
    crest_handle *handle = &timer->outcome[outcome].handle;
    if (handle->slot != 0)
        return handle->slot;
    crest_child *child = crest_series_child(timer->handle.series);
    if (crest_child_series(child, outcome, status) == NULL)
        return 0;
    crest_child_fill(child, &timer->handle);
    return handle->slot;
}

crest_status crest_handle_register(crest_handle *handle)
{
    if (handle == NULL || handle->abi != CREST_ABI || handle->declaration == NULL) {
        crest_misuse_count(
            handle && handle->abi != CREST_ABI ? CREST_MISUSE_ABI : CREST_MISUSE_NAME, NULL);
        return handle && handle->abi != CREST_ABI ? CREST_ABI_MISMATCH : CREST_INVALID_ARGUMENT;
    }
    crest_status status;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_handle_resolve(handle, handle->declaration->kind, &status);
    crest_lock_drop(&saved);
    if (status != CREST_OK)
        crest_misuse_count(crest_misuse_of(status), handle->declaration->options.name);
    return status;
}

/* The handle of an unlabelled metric, or a dead one; *status, if not NULL, says why. */
static crest_own_handle *resolve_get(crest_registry *registry, crest_kind kind,
                                     const crest_metric_options *options, crest_status *status)
{
    crest_status why;
    crest_metric *metric = crest_metric_get(registry, kind, options, NULL, 0, &why);
    if (status != NULL)
        *status = why;
    return metric ? metric->children->own : crest_handle_dead_of(kind, why);
}

/* crest_counter_get and its relatives. */
#define RESOLVE_GET(type, kind)                                                                    \
    crest_##type *crest_##type##_get(crest_registry *registry,                                     \
                                     const crest_metric_options *options, crest_status *status)    \
    {                                                                                              \
        return &resolve_get(registry, kind, options, status)->type;                                \
    }
CREST_INSTRUMENT_TABLE(RESOLVE_GET)
