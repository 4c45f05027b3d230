/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserves of arena memory, each of one thread and not used yet. With it a first touch of a
 * histogram takes no lock and blocks no signals. A handler on the same thread may take from it
 * between any two instructions.
 *
 *     void *piece = crest_reserve_take(reserve, use, bytes);     NULL: take it from the arena
 *
 * It grows with what the thread has taken. Larger pieces are prefaulted with one system call, which
 * costs about half of that many page faults.
 */
#ifndef CREST_THREAD_ARENA_H
#define CREST_THREAD_ARENA_H

#include "base/arena.h"

/* A refill's size: a quarter of what the thread has taken, within these bounds. Above the least it
 * is prefaulted: 64 KiB take some 20 us. */
#define CREST_RESERVE_BYTES_MIN (UINT64_C(8) << 10)
#define CREST_RESERVE_BYTES_MAX (UINT64_C(64) << 10)

/* Larger pieces come from the arena: the system then provides only those of their pages that are
 * written to. */
#define CREST_RESERVE_PIECE_MAX (UINT64_C(2) << 10)

/* Its owner thread's only; the next owner of the thread record inherits it. All zeros: an empty
 * one. */
typedef struct crest_reserve {
    uint64_t next; /* address of the next piece */
    uint64_t end;
    uint64_t taken;     /* bytes taken in all */
    uint64_t beginning; /* next address of first_values.h, or the end of its page */
} crest_reserve;

/*
 * By the owner thread, not under the lock: zeroed memory on a cache line. NULL when the caller must
 * ask the arena under the lock: the piece is large, one of this use was given back, there is no
 * memory, or a fork holds the lock. Any handler.
 */
void *crest_reserve_take(crest_reserve *reserve, crest_arena_use use, size_t bytes);

/* Frees an unpublished piece to its use's free list. Leaked if a fork holds the lock (rare,
 * bounded): it takes a handler between two instructions and a fork at the same time. */
void crest_reserve_give(crest_arena_use use, void *piece, size_t bytes);

#endif
