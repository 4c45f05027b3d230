/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the record path: mapped regions, given out in order and never given back, so that a
 * pointer into them is good for the life of the process and no allocator's lock is ever needed.
 *
 * Two kinds, because fork must treat them differently: what values live in is zero in the child,
 * which therefore never counts into its parent, and what describes them is copied as everything
 * else is.
 *
 * Not thread-safe: callers hold the lock of lock.h, which makes it usable from signal handlers too.
 */
#ifndef CREST_BASE_ARENA_H
#define CREST_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef enum crest_arena_kind {
    CREST_ARENA_META,  /* names, labels, series, thread records: copied by fork */
    CREST_ARENA_CELLS, /* cell tables, chunks, shards, counts, gauges: zeroed by fork */
    CREST_ARENA_KINDS
} crest_arena_kind;

/* A cache line, and the least alignment of what threads write. */
#define CREST_LINE_BYTES 64u

/* Zeroed memory, aligned to `align`, a power of two up to a page; NULL when the system has none. */
void *crest_arena_take(crest_arena_kind kind, size_t bytes, size_t align);

/*
 * What a piece of CREST_ARENA_CELLS is used as, for the life of the process: it is never anything
 * else again (type-stable memory: M. Greenwald and D. Cheriton, "The Synergy Between Non-Blocking
 * Synchronization and Operating System Structure", 1996). A thread that was stopped in the middle
 * of an update and goes on when the series has gone, and all that was its is another's, then adds
 * to a count of that one, at worst; it meets no address where it takes one to be a number, and none
 * that leads to less than it takes it to lead to.
 */
typedef uint64_t crest_arena_use;

enum {
    CREST_ARENA_COUNTS = 1, /* of shards; all that have as many bytes */
    CREST_ARENA_GAUGE,
    CREST_ARENA_RANGE,
    CREST_ARENA_SHARED,
    CREST_ARENA_SLOWEST,
    CREST_ARENA_USES /* from here on those of layouts.h */
};

/*
 * Gives back a piece of CREST_ARENA_CELLS on a cache line, or, like all of its use, on less, for
 * the next of this use and size. It is zeroed. Without memory to remember it, it is not used again.
 */
void crest_arena_give(crest_arena_use use, void *piece, size_t bytes);

/* A piece that was given back, NULL if there is none; or else a new one, NULL without memory. It is
 * zero but for what a thread that was stopped has written since it was given. */
void *crest_arena_take_given(crest_arena_use use, size_t bytes);
void *crest_arena_take_again(crest_arena_use use, size_t bytes);

/* Whether such a piece was given back and is not taken again yet; out of date at once. Any thread,
 * without the lock. */
int crest_arena_has_given(crest_arena_use use, size_t bytes);

/* Asks the system for the pages of these bytes of the arena at once, rather than for each when it
 * is written to. What lies there stays as it is, and without such a system nothing is done. Any
 * thread, any handler, without the lock. */
void crest_arena_populate(void *start, size_t bytes);

/* A copy of `bytes` bytes and a NUL after them. */
char *crest_arena_copy(const char *text, size_t bytes);

/* Bytes mapped and bytes given out, of one kind. Any thread. */
uint64_t crest_arena_mapped(crest_arena_kind kind);
uint64_t crest_arena_used(crest_arena_kind kind);

/* In the child of a fork, where the kernel could not be asked to zero the cells itself. */
void crest_arena_forked(void);

/* For tests: the `after`-th take from now on fails (1: the next), and all after it, until set to 0.
 */
void crest_arena_fail_after(unsigned long after);

#endif
