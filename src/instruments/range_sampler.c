/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Range samplers: the cold path of their updates, and the change of windows. See
 * <crest/range_sampler.h> and range_cell.h; what is kept of a window is range_windows.c's business.
 *
 * An update has two steps: crest_range_replace writes value and moment, crest_range_extend makes
 * the window's extremes include the value. A change of windows, crest_range_rotate, has three: the
 * extremes are taken away, the value is read, and the extremes of both windows come to include it.
 * Because the value is read after the taking, whatever an update wrote before is read, and whatever
 * it writes afterwards finds the extremes of the next window. The other way round a value could
 * come to stand between the reading and the taking, with its extremes in the window that ends, and
 * be in no extremes of the window that it stands in. tests/model/range_sampler.pml tries every
 * order of these steps.
 *
 * These windows are the cell's own, one for each tick; those of a minute are made of them. A writer
 * that is preempted between its two steps shows its value one of them late. Updates may run in
 * signal handlers.
 */
#include "base/arena.h"
#include "base/atomic.h"
#include "registry/handles.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "instruments/permits.h"
#include "cells/range_cell.h"

_Static_assert(sizeof(crest_range_cell) == 2 * CREST_LINE_BYTES, "a cell is two cache lines");

crest_range_cell *crest_range_cell_new(void)
{
    crest_range_cell *cell = crest_arena_take_again(CREST_ARENA_RANGE, sizeof *cell);
    if (cell != NULL)
        cell->born = crest_range_time();
    return cell;
}

int64_t crest_range_cell_value(const crest_range_cell *cell)
{
    return (int64_t)crest_atomic_load(&cell->state.value) + crest_permit_is_held(&cell->permit);
}

int64_t crest_range_sampler_value(const crest_range_sampler *sampler)
{
    const crest_range_cell *cell = crest_handle_shared(&sampler->handle);
    return cell ? crest_range_cell_value(cell) : 0;
}

/* ---- updates ---- */

#ifndef CREST_X86_64_ASM
static int crest_range_replace(crest_range_cell *cell, crest_range_state *seen, uint64_t value,
                               uint64_t moment)
{
    return crest_atomic_cas_pair(&cell->state.value, &seen->value, value, moment);
}

static crest_range_state crest_range_seen(const crest_range_cell *cell)
{
    return (crest_range_state){crest_atomic_load(&cell->state.value),
                               crest_atomic_load(&cell->state.moment)};
}
#endif

/* The sampler's cell, registering it if need be; NULL, counted, when there is none. */
static crest_range_cell *range_cell_of(crest_range_sampler *sampler)
{
    crest_range_cell *cell = crest_atomic_load_ptr_acquire(CREST_PTR(&sampler->cell));
    if (cell != NULL)
        return cell;
    crest_status why = crest_handle_dead(&sampler->handle);
    if (why == CREST_OK) {
        crest_lock_saved saved;
        crest_lock_take(&saved);
        crest_handle_resolve(&sampler->handle, CREST_KIND_RANGE_SAMPLER, &why);
        cell = sampler->cell;
        crest_lock_drop(&saved);
    }
    if (cell != NULL)
        return cell;
    if (why == CREST_OK) /* the handle of another kind, which has no such cell */
        why = CREST_INVALID_ARGUMENT;
    crest_handle_refused(&sampler->handle, why, 1);
    return NULL;
}

void crest_range_sampler_add_slow(crest_range_sampler *sampler, int64_t delta)
{
    crest_range_cell *cell = range_cell_of(sampler);
    if (cell == NULL)
        return;
    uint64_t moment = (uint64_t)delta * crest_range_time();
    crest_range_state seen = crest_range_seen(cell);
    int64_t value;
    do {
        if (__builtin_add_overflow((int64_t)seen.value, delta, &value)) {
            crest_misuse_count(CREST_MISUSE_OVERFLOW, crest_handle_name(&sampler->handle));
            return;
        }
    } while (!crest_range_replace(cell, &seen, (uint64_t)value, seen.moment + moment));
    crest_range_extend(cell, value);
}

void crest_range_sampler_set_slow(crest_range_sampler *sampler, int64_t value)
{
    crest_range_cell *cell = range_cell_of(sampler);
    if (cell == NULL)
        return;
    uint64_t time = crest_range_time();
    crest_range_state seen = crest_range_seen(cell);
    while (!crest_range_replace(cell, &seen, (uint64_t)value,
                                seen.moment + ((uint64_t)value - seen.value) * time))
        continue;
    crest_range_extend(cell, value);
}

void crest_range_sampler_begin(crest_range_sampler *sampler, int64_t value)
{
    crest_range_cell *cell = range_cell_of(sampler);
    if (cell == NULL)
        return;
    crest_range_state seen = crest_range_seen(cell);
    uint64_t time, delta;
    do {
        time = seen.value == 0 && seen.moment == 0 ? cell->born : crest_range_time();
        delta = (uint64_t)value - seen.value;
    } while (!crest_range_replace(cell, &seen, (uint64_t)value, seen.moment + delta * time));
    crest_atomic_store((uint64_t *)&cell->maximum, (uint64_t)value);
    crest_atomic_store((uint64_t *)&cell->minimum, (uint64_t)value);
}

/* ---- the change of windows ---- */

/* Value and time are read together: when a thread is preempted in between, again, so often. Nothing
 * is lost when all tries fail, but a part of one tick's area is then in the next tick's. */
#define RANGE_READ_TICKS_MAX 100u
#define RANGE_READ_TRIES 8u

/* Value and moment as they are together: a replacement of what is there by itself. */
static crest_range_state range_read(crest_range_cell *cell)
{
    crest_range_state seen = {0, 0};
    while (!crest_range_replace(cell, &seen, seen.value, seen.moment))
        continue;
    return seen;
}

void crest_range_rotate(crest_range_cell *cell, crest_range_reading *reading)
{
    /* both are full barriers, and the reading comes after them: partner of crest_range_extend */
    reading->maximum =
        (int64_t)crest_atomic_exchange((uint64_t *)&cell->maximum, (uint64_t)INT64_MIN);
    reading->minimum = (int64_t)crest_atomic_exchange((uint64_t *)&cell->minimum, INT64_MAX);
    crest_range_state state;
    unsigned tries = RANGE_READ_TRIES;
    do {
        reading->time = crest_range_time();
        state = range_read(cell);
    } while (crest_range_time() - reading->time > RANGE_READ_TICKS_MAX && --tries != 0);
    reading->value = (int64_t)state.value;
    reading->moment = state.moment;
    crest_atomic_store(&cell->rotated, 1);
    /* it stands at the end of the one window and at the beginning of the other */
    crest_range_extend(cell, reading->value);
    if (reading->value > reading->maximum)
        reading->maximum = reading->value;
    if (reading->value < reading->minimum)
        reading->minimum = reading->value;
    crest_permit_read(&cell->permit, reading);
}
