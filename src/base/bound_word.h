/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A count that may begin before there is a cell to count in: it is kept in a word of its own until
 * it is bound to the cell, and moves there. Nothing is lost or counted twice meanwhile.
 *
 *     static crest_bound_word lost;
 *     crest_bound_word_add(&lost, 1);          any thread, any handler, from load on
 *     crest_bound_word_bind(&lost, cell);      once
 *
 * Protocol. State: `early`, `cell` (NULL, then the cell for good).
 *   adder:  1. cell is there: add to it, done.   2. add to early (acquire and release).
 *           3. cell is there now: move.
 *   binder: 1. store cell (release).             2. move.
 *   move:   n = exchange(early, 0); add n to the cell.
 * Invariant: once the binder has returned and no adder is between 2 and 3, early is 0. All writes
 * of early are read-modify-write, so they stand in one order: an addition before the binder's
 * exchange is moved by it; one after it has read what the exchange wrote, and so sees the cell.
 */
#ifndef CREST_BASE_BOUND_WORD_H
#define CREST_BASE_BOUND_WORD_H

#include "base/atomic.h"

typedef struct crest_bound_word {
    uint64_t early;
    uint64_t *cell; /* shared with other adders, who may go no further than UINT64_MAX either */
} crest_bound_word;

static inline uint64_t *crest_bound_word_cell(const crest_bound_word *count)
{
    /* acquire: partner of the release store in crest_bound_word_bind */
    return (uint64_t *)crest_atomic_load_ptr_acquire(CREST_PTR(&count->cell));
}

/* The step "move" of the protocol. */
static inline void crest_bound_word_move(crest_bound_word *count, uint64_t *cell)
{
    (void)crest_atomic_add_capped(cell, crest_atomic_exchange(&count->early, 0));
}

/* Adds `n`; the count goes no further than UINT64_MAX, and stays there. Any thread, any handler,
 * any lock held; neither locks nor allocates. */
static inline void crest_bound_word_add(crest_bound_word *count, uint64_t n)
{
    uint64_t *cell = crest_bound_word_cell(count), seen, to;
    if (CREST_LIKELY(cell != NULL)) {
        (void)crest_atomic_add_capped(cell, n);
        return;
    }
    do {
        seen = crest_atomic_load(&count->early);
        to = n > UINT64_MAX - seen ? UINT64_MAX : seen + n;
    } while (!crest_atomic_cas(&count->early, seen, to));
    cell = crest_bound_word_cell(count);
    if (CREST_UNLIKELY(cell != NULL))
        crest_bound_word_move(count, cell);
}

/* From now on the count is kept in `cell`, which must stay; what it is so far is added there. Once.
 * Any thread. */
static inline void crest_bound_word_bind(crest_bound_word *count, uint64_t *cell)
{
    crest_atomic_store_ptr_release(CREST_PTR(&count->cell), cell);
    crest_bound_word_move(count, cell);
}

/* The count, with all that is in the cell. Any thread, any handler. */
static inline uint64_t crest_bound_word_value(const crest_bound_word *count)
{
    const uint64_t *cell = crest_bound_word_cell(count);
    return crest_atomic_load(&count->early) + (cell != NULL ? crest_atomic_load(cell) : 0);
}

#endif
