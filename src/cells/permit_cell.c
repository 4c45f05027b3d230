/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a permit. See permit_cell.h.
 */
#include "cells/permit_cell.h"

void crest_permit_begin(crest_permit *permit)
{
    if (crest_atomic_load(&permit->seen_count) != 0)
        return;
    permit->seen_held = permit->held;
    permit->seen_time = crest_range_time();
    /* release: partner of the acquire load in crest_permit_read */
    crest_atomic_store_release(&permit->seen_count, CREST_PERMIT_COUNT() | 1);
}

void crest_permit_close(crest_permit *permit)
{
    crest_atomic_store(&permit->user, CREST_PERMIT_SHARED);
}

/* Counts of the clock's counter that it was held between two looks. 0 when the counter was reset,
 * or another processor's is a little behind; at most the whole time. */
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
    /* acquire: partner of the release store in crest_permit_begin */
    uint64_t from = crest_atomic_load_acquire(&permit->seen_count);
    if (from == 0)
        return;
    if (crest_clock_source_now() != CREST_CLOCK_COUNTER)
        crest_permit_close(permit);
    uint64_t held = crest_atomic_load(&permit->held), count = CREST_PERMIT_COUNT() | 1;
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
    /* value * time - moment grows by exactly the area */
    reading->moment += (uint64_t)now * reading->time - permit->area;
}
