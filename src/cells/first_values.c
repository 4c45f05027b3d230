/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making beginnings, and their values' places. See first_values.h.
 */
#include "cells/first_values.h"
#include "base/arena.h"
#include "base/lock.h"

#define BEGINNING_BYTES (CREST_BEGINNING_VALUES * sizeof(uint64_t))

/* The last address of a page at which a shard of zeros still lies within the page. */
#define BEGINNING_LAST (CREST_BEGINNING_PAGE - sizeof(crest_shard))

_Static_assert(BEGINNING_BYTES % (2 * CREST_BEGINNING_MARK) == 0 &&
                   CREST_LINE_BYTES % (2 * CREST_BEGINNING_MARK) == 0,
               "a beginning's address is told from a shard's by its mark");

/* The next address in the thread's reserve; 0 when there is none. */
static uint64_t beginning_next(crest_reserve *reserve)
{
    uint64_t next = crest_atomic_load(&reserve->beginning);
    /* a handler that moved it makes the replacing fail; the address never comes back */
    while (next != 0 && next % CREST_BEGINNING_PAGE <= BEGINNING_LAST)
        if (crest_word_replace(&reserve->beginning, &next, next + BEGINNING_BYTES))
            return next;
    return 0;
}

/* Under the lock: two pages more, unless a handler did it first. 0 without memory. */
static int beginning_fill(crest_reserve *reserve)
{
    uint64_t next = reserve->beginning;
    if (next != 0 && next % CREST_BEGINNING_PAGE <= BEGINNING_LAST)
        return 1;
    void *pages =
        crest_arena_take(CREST_ARENA_CELLS, 2 * CREST_BEGINNING_PAGE, CREST_BEGINNING_PAGE);
    if (pages != NULL)
        crest_atomic_store(&reserve->beginning, (uint64_t)(uintptr_t)pages + CREST_BEGINNING_MARK);
    return pages != NULL;
}

/* Under the lock: a beginning that was given back; 0 when there is none. */
static uint64_t beginning_given(const crest_layout *layout)
{
    void *values = crest_arena_take_given(crest_layout_use(layout), BEGINNING_BYTES);
    return values != NULL
               ? (uint64_t)(uintptr_t)values - CREST_BEGINNING_PAGE + CREST_BEGINNING_MARK
               : 0;
}

/* An empty beginning; 0 without memory, or while a fork holds the lock. */
static uint64_t beginning_take(const crest_layout *layout, crest_reserve *reserve)
{
    crest_lock_saved saved;
    int given = crest_arena_has_given(crest_layout_use(layout), BEGINNING_BYTES);
    uint64_t address = given ? 0 : beginning_next(reserve);
    if (address != 0 || !crest_lock_take_unless_forking(&saved))
        return address;
    address = beginning_given(layout);
    int filled = address == 0 && beginning_fill(reserve);
    crest_lock_drop(&saved);
    return filled ? beginning_next(reserve) : address;
}

void crest_beginning_give(const crest_layout *layout, uint64_t address)
{
    crest_arena_give(crest_layout_use(layout), crest_beginning_values(address), BEGINNING_BYTES);
}

int crest_beginning_has_room(const uint64_t *cell)
{
    uint64_t address = crest_atomic_load(cell);
    return address == 0 ||
           (crest_beginning_is(address) &&
            crest_atomic_load(&crest_beginning_values(address)[CREST_BEGINNING_VALUES - 1]) == 0);
}

/* Puts the value into a free place; a handler in between takes that place first. */
static int beginning_put(uint64_t address, uint64_t value)
{
    uint64_t *values = crest_beginning_values(address);
    for (unsigned i = 0; i < CREST_BEGINNING_VALUES; i++)
        /* partner: crest_beginning_value */
        if (crest_atomic_load(&values[i]) == 0 && crest_word_settle(&values[i], value + 1) == 0)
            return 1;
    return 0;
}

int crest_beginning_add(uint64_t *cell, const crest_layout *layout, crest_reserve *reserve,
                        uint64_t value)
{
    uint64_t there = crest_atomic_load(cell), address;
    crest_lock_saved saved;
    if (there != 0)
        return crest_beginning_is(there) && beginning_put(there, value);
    address = beginning_take(layout, reserve);
    if (address == 0)
        return 0;
    crest_atomic_store(&crest_beginning_values(address)[0], value + 1);
    /* partner: the acquire load in crest_shard_next */
    there = crest_word_settle(cell, address);
    if (there == 0)
        return 1;
    /* a handler was faster; leaked if a fork holds the lock now */
    if (crest_lock_take_unless_forking(&saved)) {
        crest_beginning_give(layout, address);
        crest_lock_drop(&saved);
    }
    return crest_beginning_is(there) && beginning_put(there, value);
}

void crest_beginning_close(uint64_t address)
{
    uint64_t *values = crest_beginning_values(address);
    for (unsigned i = 0; i < CREST_BEGINNING_VALUES; i++)
        if (crest_atomic_load(&values[i]) == 0)
            crest_word_settle(&values[i], CREST_BEGINNING_CLOSED);
}
