/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking from a thread's reserve, and filling it. See thread_arena.h.
 */
#include "cells/thread_arena.h"
#include "base/atomic.h"
#include "base/lock.h"

#define RESERVE_PAGE 4096u

/* A handler that refills the reserve meanwhile moves `next` to an address it never had, so the
 * replacing fails. */
static void *reserve_piece(crest_reserve *reserve, uint64_t bytes)
{
    uint64_t next = crest_atomic_load(&reserve->next);
    while (bytes <= crest_atomic_load(&reserve->end) - next)
        if (crest_word_replace(&reserve->next, &next, next + bytes))
            return (void *)(uintptr_t)next;
    return NULL;
}

static uint64_t reserve_bytes(const crest_reserve *reserve)
{
    uint64_t bytes = reserve->taken / 4 & ~(uint64_t)(RESERVE_PAGE - 1);
    if (bytes < CREST_RESERVE_BYTES_MIN)
        return CREST_RESERVE_BYTES_MIN;
    return bytes < CREST_RESERVE_BYTES_MAX ? bytes : CREST_RESERVE_BYTES_MAX;
}

/* 0 without memory, or while a fork holds the lock. */
static int reserve_fill(crest_reserve *reserve, uint64_t wanted)
{
    crest_lock_saved saved;
    char *more = NULL;
    if (!crest_lock_take_unless_forking(&saved))
        return 0;
    /* a handler may have done it before the signals were blocked */
    int enough = wanted <= reserve->end - reserve->next;
    uint64_t bytes = reserve_bytes(reserve);
    if (!enough)
        more = crest_arena_take(CREST_ARENA_CELLS, bytes, CREST_LINE_BYTES);
    if (more != NULL) {
        uint64_t start = (uint64_t)(uintptr_t)more;
        if (start != reserve->end) /* adjacent: the rest of the last piece is used too */
            crest_atomic_store(&reserve->next, start);
        crest_atomic_store(&reserve->end, start + bytes);
        reserve->taken += bytes;
    }
    crest_lock_drop(&saved);
    /* without the lock: other threads must not wait for it */
    if (more != NULL && bytes > CREST_RESERVE_BYTES_MIN)
        crest_arena_populate(more, bytes);
    return enough || more != NULL;
}

void *crest_reserve_take(crest_reserve *reserve, crest_arena_use use, size_t bytes)
{
    uint64_t lines = (bytes + CREST_LINE_BYTES - 1) & ~(uint64_t)(CREST_LINE_BYTES - 1);
    if (bytes > CREST_RESERVE_PIECE_MAX || crest_arena_has_given(use, bytes))
        return NULL;
    void *piece = reserve_piece(reserve, lines);
    if (piece == NULL && reserve_fill(reserve, lines))
        piece = reserve_piece(reserve, lines);
    return piece;
}

void crest_reserve_give(crest_arena_use use, void *piece, size_t bytes)
{
    crest_lock_saved saved;
    if (!crest_lock_take_unless_forking(&saved))
        return;
    crest_arena_give(use, piece, bytes);
    crest_lock_drop(&saved);
}
