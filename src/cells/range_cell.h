/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cell that a range sampler's threads share: its updates out of line, and how its ticks end.
 * The inside of crest_range_cell in <crest/range_sampler.h>; it knows no handles and no metrics.
 * What is kept of a tick is range_windows.c's business.
 *
 * State: {value, moment}, which change together by one compare-and-swap of 16 bytes; the extremes
 * of the tick under way; `rotated`, which says that a tick has ended.
 *
 * Update, by any writer, signal handlers included:
 *     U1  {value, moment} = {value + change, moment + change * time}      crest_range_replace
 *     U2  raise `maximum` and lower `minimum` until they include the value   crest_range_extend
 * Rotation, by the ticker:
 *     R1  take `maximum` and `minimum`, leaving none
 *     R2  read {value, moment}
 *     R3  extend the extremes of both ticks by that value
 *
 * Invariant: each value that a sampler stood at is in the extremes of every tick in which it stood,
 * or, of a writer that was preempted between U1 and U2, of the next. U1 and R1 are full barriers:
 * what U1 wrote before R2 is read by R2, and what U1 writes after R2 finds, in U2, the extremes of
 * the next tick. With R2 before R1, a value could come to stand between them, its extremes taken
 * with the tick that ends, and be in no extremes of the tick that it stands in.
 * Model: tests/model/range_sampler.pml tries every order of these steps.
 */
#ifndef CREST_RANGE_CELL_H
#define CREST_RANGE_CELL_H

#include "cells/permit_cell.h"

#ifndef CREST_X86_64_ASM
/* As the two of these names in <crest/range_sampler.h>. */
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

/* Under the lock: a cell that stands at 0; NULL without memory. */
crest_range_cell *crest_range_cell_new(void);

/* The value now, the permit's included. Any thread, any handler. */
int64_t crest_range_cell_value(const crest_range_cell *cell);

/* Adds to the value; 0, and nothing was done, where the sum would leave 64 bits. Any thread, any
 * handler. */
int crest_range_cell_add(crest_range_cell *cell, int64_t delta);

/* Sets the value. Any thread, any handler. */
void crest_range_cell_set(crest_range_cell *cell, int64_t value);

/* The cell stands at this value, and has since it was made, where this is its first update. The
 * extremes of the tick under way begin anew. One thread, no other updating it meanwhile. */
void crest_range_cell_begin(crest_range_cell *cell, int64_t value);

/* Ends the tick under way and begins the next. The ticker alone, one thread at a time. */
void crest_range_rotate(crest_range_cell *cell, crest_range_reading *reading);

#endif
