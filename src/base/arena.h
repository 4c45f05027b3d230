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
 * Takes back a block of CREST_ARENA_CELLS, aligned to CREST_LINE_BYTES or, like all of its size, to
 * less, for the next taking of as many bytes; it is zeroed here. Nobody may write to it any more.
 * Of more than CREST_ARENA_SIZES_MAX different sizes the others are not used again.
 */
#define CREST_ARENA_SIZES_MAX 64u
void crest_arena_give(void *block, size_t bytes);

/* Whether a block of so many bytes was given back and is not taken again yet; out of date at once.
 * Any thread, without the lock. */
int crest_arena_has_given(size_t bytes);

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
