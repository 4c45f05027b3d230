/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A count that may begin before its cell exists. It is kept in a word of its own until it is bound
 * to the cell, and moves there. Nothing is lost or counted twice meanwhile.
 *
 *     static crest_bound_word lost;
 *     crest_bound_word_add(&lost, 1);          any thread, any handler, from load on
 *     crest_bound_word_bind(&lost, cell);      once
 *
 * Protocol. State: `early`, `cell` (NULL, then the cell for good).
 *   adder:  1. cell is there: add to it, done.
 *           2. add to early (acquire and release).
 *           3. cell is there now: move.
 *   binder: 1. store cell (release; pairs with the acquire loads of cell in the adder's 1 and 3).
 *           2. move.
 *   move:   n = exchange(early, 0); add n to the cell.
 * Invariant: once the binder has returned and no adder is between 2 and 3, early is 0.
 * Why: all writes of early are read-modify-write, so they stand in one order. The binder's exchange
 * moves every addition before it. An adder after it has read what the exchange wrote, so it sees
 * the cell and moves its addition itself.
 */
#ifndef CREST_BASE_BOUND_WORD_H
#define CREST_BASE_BOUND_WORD_H

#include "base/atomic.h"

typedef struct crest_bound_word {
    uint64_t early;
    uint64_t *cell; /* shared with other adders, which stop at UINT64_MAX too */
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

/* Adds `n`; the count saturates at UINT64_MAX. Any thread, any handler, any lock held; neither
 * locks nor allocates. */
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

/* Binds the count to `cell`, which must stay: the count so far is added to it. Once. Any thread. */
static inline void crest_bound_word_bind(crest_bound_word *count, uint64_t *cell)
{
    crest_atomic_store_ptr_release(CREST_PTR(&count->cell), cell);
    crest_bound_word_move(count, cell);
}

/* The count: early and cell together. Any thread, any handler. */
static inline uint64_t crest_bound_word_value(const crest_bound_word *count)
{
    const uint64_t *cell = crest_bound_word_cell(count);
    return crest_atomic_load(&count->early) + (cell != NULL ? crest_atomic_load(cell) : 0);
}

#endif
