/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserves: arena memory that belongs to one thread and is not used yet, so that a first touch of a
 * histogram takes no lock and blocks no signals. A handler on the same thread may take from it
 * between any two instructions.
 *
 *     void *piece = crest_reserve_take(reserve, use, bytes);     NULL: take it from the arena
 *
 * It grows with what the thread has taken, and where that is much its pages are asked of the
 * system together, which costs about half of what as many page faults do.
 */
#ifndef CREST_THREAD_ARENA_H
#define CREST_THREAD_ARENA_H

#include "base/arena.h"

/* A thread takes at least and at most so much at a time, and in between a quarter of what it has
 * taken. More than the least is asked of the system at once: 64 KiB are some 20 us. */
#define CREST_RESERVE_BYTES_MIN (UINT64_C(8) << 10)
#define CREST_RESERVE_BYTES_MAX (UINT64_C(64) << 10)

/* Larger pieces are the arena's: of those the system is to provide only the pages written to. */
#define CREST_RESERVE_PIECE_MAX (UINT64_C(2) << 10)

/* Its thread's alone, or whoever adopts what the thread leaves behind. All zeros: an empty one. */
typedef struct crest_reserve {
    uint64_t next; /* the address of the next piece */
    uint64_t end;
    uint64_t taken;     /* bytes, ever */
    uint64_t beginning; /* the next one of first_values.h, or the end of their page */
} crest_reserve;

/*
 * By the thread whose reserve it is, not under the lock: zeroed memory on a cache line, or NULL
 * when the arena is to be asked under the lock: the piece is large, one of this use was given
 * back, there is no memory, or somebody forks. Any handler.
 */
void *crest_reserve_take(crest_reserve *reserve, crest_arena_use use, size_t bytes);

/* Takes back a piece that nobody else has seen, for the next of this use. It is as likely to
 * be lost as a handler is to come between two instructions and a fork at the same time. */
void crest_reserve_give(crest_arena_use use, void *piece, size_t bytes);

#endif
