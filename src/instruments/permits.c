/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permits of mutexes. See permits.h.
 */
#include "instruments/permits.h"
#include "registry/handles.h"
#include "base/lock.h"
#include "cells/shards.h"

#ifdef CREST_CLOCK_READ
#define PERMIT_COUNT() CREST_CLOCK_READ()
#else
#define PERMIT_COUNT() UINT64_C(0)
#endif

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

/* ---- the user, under the lock ---- */

static void permit_begin(crest_permit *permit)
{
    if (crest_atomic_load(&permit->seen_count) != 0)
        return;
    permit->seen_held = permit->held;
    permit->seen_time = crest_range_time();
    /* release: partner of the acquire load in crest_permit_read */
    crest_atomic_store_release(&permit->seen_count, PERMIT_COUNT() | 1);
}

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
    permit_begin(&cell->permit);
    mutex->line = &cell->permit;
    mutex->zeros = &shard->zeros;
    crest_atomic_store(&cell->permit.user, permit_user(mutex));
}

/* Whether it is worth the lock. */
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

void crest_permit_close(crest_permit *permit)
{
    crest_atomic_store(&permit->user, CREST_PERMIT_SHARED);
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
    crest_permit_change(mutex->line, crest_atomic_load(&mutex->line->held), PERMIT_COUNT());
    return 1;
}

void crest_permit_lower(const crest_mutex *mutex)
{
    crest_permit_change(mutex->line, crest_atomic_load(&mutex->line->held), 0 - PERMIT_COUNT());
}

/* ---- by the ticker ---- */

/* How long it was held between two looks, in counts. Of a counter that begins again, or one that
 * another processor has a little behind: nothing, and at most all the time. */
static uint64_t permit_busy(const crest_permit *permit, uint64_t held, uint64_t count)
{
    uint64_t from = (permit->seen_held & 1) * permit->seen_count;
    uint64_t to = (held & 1) * count;
    uint64_t readings = (held >> CREST_PERMIT_BITS) - (permit->seen_held >> CREST_PERMIT_BITS);
    int64_t busy = (int64_t)((to - from - readings) << CREST_PERMIT_BITS) >> CREST_PERMIT_BITS;
    int64_t passed = (int64_t)(count - permit->seen_count);
    if (busy > passed)
        busy = passed;
    return busy > 0 ? (uint64_t)busy : 0;
}

void crest_permit_read(crest_permit *permit, crest_range_reading *reading)
{
    __extension__ typedef unsigned __int128 permit_wide;
    /* acquire: partner of the release store in permit_begin */
    uint64_t from = crest_atomic_load_acquire(&permit->seen_count);
    if (from == 0)
        return;
    if (crest_clock_source_now() != CREST_CLOCK_COUNTER)
        crest_permit_close(permit);
    uint64_t held = crest_atomic_load(&permit->held), count = PERMIT_COUNT() | 1;
    uint64_t busy = permit_busy(permit, held, count);
    uint64_t elapsed = reading->time - permit->seen_time, passed = count - from;
    int before = permit->seen_held & 1, now = held & 1, changed = held != permit->seen_held;
    if (busy != 0 && (int64_t)elapsed > 0)
        permit->area += (uint64_t)(((permit_wide)busy * elapsed + passed / 2) / passed);
    permit->seen_held = held;
    crest_atomic_store(&permit->seen_count, count);
    permit->seen_time = reading->time;
    reading->maximum += before || changed;
    reading->minimum += before && !changed;
    reading->value += now;
    /* so that value * time - moment is greater by the area, and by no more */
    reading->moment += (uint64_t)now * reading->time - permit->area;
}
