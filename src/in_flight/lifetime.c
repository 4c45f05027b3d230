/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Releasing and retiring: the calls of <crest/lifetime.h>. registry/child_moves.c moves the child;
 * here the operations in flight of it are ended, before its handle dies.
 */
#include <crest/lifetime.h>

#include "base/forked.h"
#include "base/lock.h"
#include "base/sync.h"
#include "base/uncancelled.h"
#include "base/utf8.h"
#include "in_flight/in_flight_walks.h"
#include "in_flight/lifetime_inside.h"
#include "metrics/child.h"
#include "metrics/handles.h"
#include "metrics/slots.h"
#include "registry/child_moves.h"
#include "registry/children.h"

#include <pthread.h>
#include <string.h>

/* Under the lock: releases the child, and the parts of stages; all or nothing. */
static crest_status lifetime_release_child(crest_child *child)
{
    crest_child *parts[CREST_CHILD_PARTS_MAX];
    unsigned count = crest_child_parts(child, parts), waits = crest_child_waits(child);
    for (unsigned i = 0; i < count; i++)
        waits += crest_child_waits(parts[i]);
    if (!crest_waits_reserve(waits))
        return CREST_NO_MEMORY;
    crest_status status = crest_child_release(child);
    for (unsigned i = 0; i < count && status == CREST_OK; i++)
        status = crest_child_release(parts[i]);
    return status;
}

static crest_status lifetime_release(crest_handle *handle, crest_kind kind)
{
    if (handle == NULL)
        return CREST_INVALID_ARGUMENT;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_status status = crest_handle_dead(handle);
    crest_series *series = status == CREST_OK ? handle->series : NULL;
    if (status == CREST_OK && (series == NULL || series->metric->label_count == 0 ||
                               series->metric->lasts || !crest_metric_is(series->metric, kind)))
        status = CREST_INVALID_ARGUMENT;
    if (status == CREST_OK)
        status = lifetime_release_child(crest_series_child(series));
    crest_lock_drop(&saved);
    return status;
}

/* crest_counter_release and its relatives. */
#define LIFETIME_RELEASE(type, kind)                                                               \
    crest_status crest_##type##_release(crest_##type *released)                                    \
    {                                                                                              \
        return lifetime_release((crest_handle *)released, kind);                                   \
    }
CREST_INSTRUMENT_TABLE(LIFETIME_RELEASE)

crest_status crest_handle_withdraw(crest_handle *handle)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_status status = crest_handle_dead(handle);
    crest_series *series = status == CREST_OK ? handle->series : NULL;
    if (status == CREST_OK && (series == NULL || series->metric->stage_count != 0))
        status = CREST_INVALID_ARGUMENT;
    if (status == CREST_OK)
        status = crest_child_withdraw(crest_series_child(series));
    crest_lock_drop(&saved);
    return status;
}

crest_status crest_handle_readmit(crest_handle *handle)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_status status = crest_handle_dead(handle);
    if (status == CREST_OK && handle->series == NULL)
        status = CREST_INVALID_ARGUMENT;
    if (status == CREST_OK)
        crest_child_readmit(crest_series_child(handle->series));
    crest_lock_drop(&saved);
    return status;
}

/* ---- retiring ---- */

/* Held while series are retired. So a thread's closed series have their operations recorded before
 * another thread's retiring kills the handles. The library's lock is taken under it. */
static pthread_mutex_t lifetime_retiring = PTHREAD_MUTEX_INITIALIZER;

/* In a forked child the thread that held it does not exist. */
static void lifetime_forked(void)
{
    crest_mutex_fresh(&lifetime_retiring);
}
CREST_FORKED(RETIRING, lifetime_forked)

/* Which series to retire, and how. */
typedef struct lifetime_end {
    const char *key; /* NULL: every series of a freed registry */
    const char *value;
    crest_status why; /* the status of their dead handles */
    int shown;        /* exported once more */
    size_t retired;
    size_t closed; /* closed, operations may be in flight: not retired yet */
} lifetime_end;

/* Under the lock. */
static void lifetime_retire_in(crest_metric *metric, unsigned label, lifetime_end *end)
{
    crest_children_cursor at = {NULL, 0, NULL};
    for (crest_child *child; (child = crest_children_next(metric, &at)) != NULL;) {
        if (end->key != NULL &&
            (crest_series_retired(&child->first) ||
             strcmp(crest_series_values(&child->first)[label], end->value) != 0))
            continue;
        if (metric->kind == CREST_KIND_TIMER && crest_in_flight_close(child->own->timer.keyed)) {
            end->closed++;
            continue;
        }
        crest_child_retire(child, end->why, end->shown);
        end->retired++;
    }
}

/* By label value: takes the lock once for each family. */
static void lifetime_retire_of(crest_metric *metric, lifetime_end *end)
{
    crest_lock_saved saved;
    for (unsigned label = 0; !metric->lasts && label < crest_metric_keys(metric); label++) {
        if (strcmp(metric->label_keys[label], end->key) != 0)
            continue;
        crest_lock_take(&saved);
        lifetime_retire_in(metric, label, end);
        crest_lock_drop(&saved);
    }
}

static void lifetime_retire_pass(crest_registry_state *state, lifetime_end *end)
{
    crest_lock_saved saved;
    if (end->key == NULL) {
        crest_lock_take(&saved);
        crest_atomic_store32(&state->dead, 1);
        for (crest_metric *metric = state->metrics; metric != NULL; metric = metric->next)
            lifetime_retire_in(metric, 0, end);
        crest_lock_drop(&saved);
        return;
    }
    /* acquire: partner of the release store in metric_make.c */
    crest_metric *metric = crest_atomic_load_ptr_acquire(CREST_PTR(&state->metrics));
    for (; metric != NULL; metric = metric->next)
        lifetime_retire_of(metric, end);
}

/* Retires the series meant:
 *  1. A first pass closes series that may have operations in flight, and retires the others.
 *  2. Operations in flight of closed series end and are recorded.
 *  3. The next pass retires those series. */
static void lifetime_retire(crest_registry_state *state, lifetime_end *end)
{
    pthread_mutex_lock(&lifetime_retiring);
    do {
        end->closed = 0;
        lifetime_retire_pass(state, end);
        if (end->closed != 0)
            crest_in_flight_cancel();
    } while (end->closed != 0);
    pthread_mutex_unlock(&lifetime_retiring);
}

void crest_registry_retire(crest_registry_state *state)
{
    lifetime_end end = {.why = CREST_NOT_FOUND};
    lifetime_retire(state, &end);
}

size_t crest_retire(crest_registry *registry, const char *key, const char *value)
{
    CREST_UNCANCELLED;
    crest_registry_state *state = crest_registry_state_seen(registry);
    if (state == NULL || key == NULL)
        return 0;
    char clean[CREST_LABEL_VALUE_BYTES_MAX + 1];
    crest_utf8_copy(value != NULL ? value : "", clean, sizeof clean, NULL);
    lifetime_end end = {.key = key, .value = clean, .why = CREST_LATE, .shown = 1};
    lifetime_retire(state, &end);
    return end.retired;
}
