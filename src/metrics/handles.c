/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a handle leads to, and dead handles. See handles.h.
 */
#include "metrics/handles.h"
#include "base/atomic.h"
#include "metrics/child.h"

#include <pthread.h>

static crest_own_handle handles_dead[CREST_KIND_COUNT][CREST_STATUS_COUNT];

crest_series *crest_handle_series(const crest_handle *handle)
{
    /* acquire: partner of the release store in series.c */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&handle->series));
}

crest_status crest_handle_dead(const crest_handle *handle)
{
    crest_status status;
    if (handle->abi != CREST_ABI)
        return CREST_ABI_MISMATCH;
    return crest_series_is_dead(crest_handle_series(handle), &status) ? status : CREST_OK;
}

const char *crest_handle_name(const crest_handle *handle)
{
    crest_status status;
    const crest_series *series = handle->abi == CREST_ABI ? crest_handle_series(handle) : NULL;
    if (series != NULL && !crest_series_is_dead(series, &status))
        return series->metric->name;
    return handle->abi == CREST_ABI && handle->declaration ? handle->declaration->options.name
                                                           : NULL;
}

static const crest_series *handles_alive(const crest_handle *handle)
{
    crest_status status;
    const crest_series *series = crest_handle_series(handle);
    return series == NULL || crest_series_is_dead(series, &status) ? NULL : series;
}

uint32_t crest_handle_slot(const crest_handle *handle)
{
    const crest_series *series = handles_alive(handle);
    /* acquire: partner of the release store in series.c; the slot's shared cell is visible then */
    return series != NULL ? crest_atomic_load32_acquire(&series->slot) : 0;
}

void *crest_handle_shared(const crest_handle *handle)
{
    const crest_series *series = handles_alive(handle);
    /* acquire: partner of the release store in series.c */
    return series != NULL ? crest_atomic_load_ptr_acquire(CREST_PTR(&series->shared)) : NULL;
}

/* Fills all dead handles once; they are only read afterwards. */
static void handles_dead_init(void)
{
    for (int s = 0; s < CREST_STATUS_COUNT; s++) {
        crest_handle dead = {0, CREST_ABI, crest_series_dead_for((crest_status)s), NULL};
        for (int kind = CREST_KIND_COUNTER; kind < CREST_KIND_COUNT; kind++)
            handles_dead[kind][s].handle = dead;
        for (int i = 0; i < CREST_OUTCOME_COUNT; i++) {
            handles_dead[CREST_KIND_TIMER][s].timer.outcome[i].handle = dead;
            handles_dead[CREST_KIND_STAGES][s].timer.outcome[i].handle = dead;
        }
    }
}

crest_own_handle *crest_handle_dead_of(crest_kind kind, crest_status status)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, handles_dead_init);
    return &handles_dead[kind][status];
}
