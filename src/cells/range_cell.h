/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cell that a range sampler's threads share: its updates out of line, and the end of its ticks.
 * The inside of crest_range_cell in <crest/range_sampler.h>; it knows no handles and no metrics.
 * range_windows.c keeps the ticks' readings.
 *
 * State: {value, moment}, changed together by one compare-and-swap of 16 bytes; the extremes of the
 * tick under way; `rotated`, which says that a tick has ended.
 *
 * Update, by any writer, signal handlers included:
 *     U1  {value, moment} = {value + change, moment + change * time}      crest_range_replace
 *     U2  raise `maximum` and lower `minimum` until they include the value   crest_range_extend
 * Rotation, by the ticker:
 *     R1  take `maximum` and `minimum`, leaving none
 *     R2  read {value, moment}
 *     R3  extend the extremes of both ticks by that value
 *
 * Invariant: each value that a sampler stood at is in the extremes of every tick in which it stood.
 * If its writer was preempted between U1 and U2, it may be in the next tick's instead.
 *
 * Orderings: U1 and R1 are full barriers.
 *   1. What U1 wrote before R2 is read by R2.
 *   2. After a U1 that comes after R2, U2 finds the extremes of the next tick.
 *   3. So R1 must precede R2. Otherwise a value could come between them: its extremes would be
 *      taken with the ending tick, and be missing from the tick in which it stands.
 *
 * Model: tests/model/range_sampler.pml tries every order of these steps.
 */
#ifndef CREST_RANGE_CELL_H
#define CREST_RANGE_CELL_H

#include "cells/permit_cell.h"

#ifndef CREST_X86_64_ASM
/* The same as these two names in <crest/range_sampler.h>. */
static inline int crest_range_replace(crest_range_cell *cell, crest_range_state *seen,
                                      uint64_t value, uint64_t moment)
{
    return crest_atomic_cas_pair(&cell->state.value, &seen->value, value, moment);
}

static inline crest_range_state crest_range_seen(const crest_range_cell *cell)
{
    return (crest_range_state){crest_atomic_load(&cell->state.value),
                               crest_atomic_load(&cell->state.moment)};
}
#endif

/* Under the lock: a cell with value 0; NULL without memory. */
crest_range_cell *crest_range_cell_new(void);

/* The present value, the permit's included. Any thread, any handler. */
int64_t crest_range_cell_value(const crest_range_cell *cell);

/* Adds to the value; 0, and nothing was done, where the sum would exceed 64 bits. Any thread, any
 * handler. */
int crest_range_cell_add(crest_range_cell *cell, int64_t delta);

/* Sets the value. Any thread, any handler. */
void crest_range_cell_set(crest_range_cell *cell, int64_t value);

/* Sets the value; as a cell's first update, as if it had stood there since it was made. The
 * extremes of the tick under way begin anew. One thread, without concurrent updates. */
void crest_range_cell_begin(crest_range_cell *cell, int64_t value);

/* Ends the tick under way and begins the next. Ticker only, one thread at a time. */
void crest_range_rotate(crest_range_cell *cell, crest_range_reading *reading);

#endif
