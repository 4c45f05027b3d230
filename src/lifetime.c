/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Releasing and retiring. What follows is in lives.c. See <crest/lifetime.h>.
 */
#include <crest/lifetime.h>

#include "children.h"
#include "handles.h"
#include "lives.h"
#include "lock.h"
#include "series.h"
#include "stage_series.h"
#include "utf8.h"

#include <string.h>

/* Under the lock: the child, and of stages what comes with them; all or nothing. */
static crest_status lifetime_release_child(crest_child *child)
{
    crest_child *parts[CREST_STAGES_PARTS_MAX];
    unsigned count = crest_stages_parts(child, parts), waits = crest_lives_waits(child);
    for (unsigned i = 0; i < count; i++)
        waits += crest_lives_waits(parts[i]);
    if (!crest_lives_reserve(waits))
        return CREST_NO_MEMORY;
    crest_status status = crest_lives_release(child);
    for (unsigned i = 0; i < count && status == CREST_OK; i++)
        status = crest_lives_release(parts[i]);
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
                               !crest_metric_is(series->metric, kind)))
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
        status = crest_lives_withdraw(crest_series_child(series));
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
        crest_lives_readmit(crest_series_child(handle->series));
    crest_lock_drop(&saved);
    return status;
}

/* Under the lock. A retired child may leave the chain; its own link stays. */
static size_t lifetime_retire_in(crest_metric *metric, unsigned label, const char *value)
{
    size_t retired = 0;
    crest_children_cursor at = {NULL, 0, NULL};
    for (crest_child *child; (child = crest_children_next(metric, &at)) != NULL;) {
        if (crest_series_retired(&child->first) ||
            strcmp(crest_series_values(&child->first)[label], value) != 0)
            continue;
        crest_lives_retire(child, CREST_LATE, 1);
        retired++;
    }
    return retired;
}

static size_t lifetime_retire_of(crest_metric *metric, const char *key, const char *value)
{
    size_t retired = 0;
    for (unsigned label = 0; label < crest_metric_keys(metric); label++) {
        if (strcmp(metric->label_keys[label], key) != 0)
            continue;
        crest_lock_saved saved;
        crest_lock_take(&saved);
        retired += lifetime_retire_in(metric, label, value);
        crest_lock_drop(&saved);
    }
    return retired;
}

size_t crest_retire(crest_registry *registry, const char *key, const char *value)
{
    const crest_registry_state *state = crest_registry_state_seen(registry);
    if (state == NULL || key == NULL)
        return 0;
    char clean[CREST_LABEL_VALUE_BYTES_MAX + 1];
    crest_utf8_copy(value != NULL ? value : "", clean, sizeof clean, NULL);
    size_t retired = 0;
    /* acquire: partner of the release store in registry.c */
    crest_metric *metric = crest_atomic_load_ptr_acquire(CREST_PTR(&state->metrics));
    for (; metric != NULL; metric = metric->next)
        retired += lifetime_retire_of(metric, key, clean);
    return retired;
}
