/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which mutex may write a permit. See permits.h.
 */
#include "instruments/permits.h"
#include "base/lock.h"
#include "cells/shards.h"
#include "instruments/resolve.h"
#include "metrics/handles.h"

crest_permit crest_permit_none;

static uint64_t permit_user(const crest_mutex *mutex)
{
    return (uint64_t)(uintptr_t)mutex;
}

static int permit_is_ours(const crest_mutex *mutex)
{
    return crest_atomic_load(&mutex->line->user) == permit_user(mutex);
}

int crest_permit_is_raised(const crest_mutex *mutex)
{
    uint64_t user = crest_atomic_load(&mutex->line->user);
    return (user == permit_user(mutex) || user == CREST_PERMIT_SHARED) &&
           crest_permit_is_held(mutex->line);
}

/* ---- the permit's user, under the lock ---- */

static void permit_claim(crest_mutex *mutex)
{
    crest_status why;
    if (crest_timer_resolve(mutex->acquire, CREST_OUTCOME_OK, &why) == 0 ||
        crest_handle_resolve(&mutex->permit->handle, CREST_KIND_RANGE_SAMPLER, &why) == 0)
        return;
    crest_shared_shard *shard =
        crest_handle_shared(&mutex->acquire->outcome[CREST_OUTCOME_OK].handle);
    crest_range_cell *cell = crest_handle_shared(&mutex->permit->handle);
    if (shard == NULL || cell == NULL)
        return;
    uint64_t user = crest_atomic_load(&cell->permit.user);
    if (user != 0 && user != permit_user(mutex)) {
        crest_permit_close(&cell->permit);
        return;
    }
    crest_permit_begin(&cell->permit);
    mutex->line = &cell->permit;
    mutex->zeros = &shard->zeros;
    crest_atomic_store(&cell->permit.user, permit_user(mutex));
}

/* Whether taking the lock to claim is worth while. */
static int permit_may_claim(const crest_mutex *mutex)
{
    /* acquire: partner of the release store in series.c */
    const crest_range_cell *cell = crest_atomic_load_ptr_acquire(CREST_PTR(&mutex->permit->cell));
    return cell != NULL && crest_atomic_load(&cell->permit.user) != CREST_PERMIT_SHARED &&
           crest_clock_source_now() == CREST_CLOCK_COUNTER;
}

void crest_permit_leave(crest_mutex *mutex)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    if (crest_permit_is_raised(mutex))
        crest_permit_lower(mutex);
    if (permit_is_ours(mutex))
        crest_atomic_store(&mutex->line->user, 0);
    mutex->line = &crest_permit_none;
    crest_lock_drop(&saved);
}

/* ---- by the holder ---- */

int crest_permit_raise(crest_mutex *mutex)
{
    if (!permit_is_ours(mutex) && permit_may_claim(mutex)) {
        crest_lock_saved saved;
        crest_lock_take(&saved);
        permit_claim(mutex);
        crest_lock_drop(&saved);
    }
    if (!permit_is_ours(mutex))
        return 0;
    crest_permit_change(mutex->line, crest_atomic_load(&mutex->line->held), CREST_PERMIT_COUNT());
    return 1;
}

void crest_permit_lower(const crest_mutex *mutex)
{
    crest_permit_change(mutex->line, crest_atomic_load(&mutex->line->held),
                        0 - CREST_PERMIT_COUNT());
}
