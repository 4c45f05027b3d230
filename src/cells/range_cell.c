/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cells of range samplers. See range_cell.h for the protocol.
 */
#include "cells/range_cell.h"
#include "base/arena.h"
#include "state/state_format.h"

_Static_assert(sizeof(crest_range_cell) == 2 * CREST_LINE_BYTES, "a cell is two cache lines");
_Static_assert(sizeof(crest_range_cell) == CREST_STATE_RANGE_BYTES &&
                   offsetof(crest_range_cell, state.value) == CREST_STATE_RANGE_VALUE &&
                   offsetof(crest_range_cell, permit.held) == CREST_STATE_RANGE_HELD,
               "the state file's readers know range samplers so");

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

/* ---- updates ---- */

int crest_range_cell_add(crest_range_cell *cell, int64_t delta)
{
    uint64_t moment = (uint64_t)delta * crest_range_time();
    crest_range_state seen = crest_range_seen(cell);
    int64_t value;
    do {
        if (__builtin_add_overflow((int64_t)seen.value, delta, &value))
            return 0;
    } while (!crest_range_replace(cell, &seen, (uint64_t)value, seen.moment + moment));
    crest_range_extend(cell, value);
    return 1;
}

void crest_range_cell_set(crest_range_cell *cell, int64_t value)
{
    uint64_t time = crest_range_time();
    crest_range_state seen = crest_range_seen(cell);
    while (!crest_range_replace(cell, &seen, (uint64_t)value,
                                seen.moment + ((uint64_t)value - seen.value) * time))
        continue;
    crest_range_extend(cell, value);
}

void crest_range_cell_begin(crest_range_cell *cell, int64_t value)
{
    crest_range_state seen = crest_range_seen(cell);
    uint64_t time, delta;
    do {
        time = seen.value == 0 && seen.moment == 0 ? cell->born : crest_range_time();
        delta = (uint64_t)value - seen.value;
    } while (!crest_range_replace(cell, &seen, (uint64_t)value, seen.moment + delta * time));
    crest_atomic_store((uint64_t *)&cell->maximum, (uint64_t)value);
    crest_atomic_store((uint64_t *)&cell->minimum, (uint64_t)value);
}

/* ---- the end of a tick ---- */

/* Value and time are read together; a reader preempted in between tries again, at most so often.
 * When all tries fail nothing is lost, but part of one tick's area falls into the next tick's. */
#define RANGE_READ_TICKS_MAX 100u
#define RANGE_READ_TRIES 8u

/* Value and moment as a consistent pair, by a compare-and-swap with itself. */
static crest_range_state range_read(crest_range_cell *cell)
{
    crest_range_state seen = {0, 0};
    while (!crest_range_replace(cell, &seen, seen.value, seen.moment))
        continue;
    return seen;
}

void crest_range_rotate(crest_range_cell *cell, crest_range_reading *reading)
{
    /* R1, two full barriers, before R2: partner of crest_range_extend */
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
    /* R3: the value stands at the end of this tick and at the beginning of the next */
    crest_range_extend(cell, reading->value);
    if (reading->value > reading->maximum)
        reading->maximum = reading->value;
    if (reading->value < reading->minimum)
        reading->minimum = reading->value;
    crest_permit_read(&cell->permit, reading);
}
