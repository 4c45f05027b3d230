/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena (bump allocator) of the record path: mapped regions, handed out in order, never unmapped.
 * So a pointer into them is good for the life of the process, and no allocator's lock is needed.
 *
 * The kinds differ in what a fork and a file do to them. CELLS hold values and are zero in the
 * child, which therefore never counts into its parent; they may lie in a file that outlives the
 * process (state/state_file.h). META describes them and is copied like all other memory. WIPED is
 * zero in the child too, and never in a file: by it a child of any kind knows that it is one.
 *
 * Not thread-safe: the caller holds the lock of lock.h, which makes it usable in signal handlers
 * too.
 */
#ifndef CREST_BASE_ARENA_H
#define CREST_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef enum crest_arena_kind {
    CREST_ARENA_META,  /* names, labels, series, thread records: copied by fork */
    CREST_ARENA_CELLS, /* cell tables, chunks, shards, counts, gauges: zeroed by fork */
    CREST_ARENA_WIPED, /* words of forked.h: zeroed by fork, in no file */
    CREST_ARENA_KINDS
} crest_arena_kind;

/* A cache line, and the least alignment of memory that threads write. */
#define CREST_LINE_BYTES 64u

/* Zeroed memory, aligned to `align`, a power of two up to a page; NULL when the system has none. */
void *crest_arena_take(crest_arena_kind kind, size_t bytes, size_t align);

/*
 * The use of a piece of CREST_ARENA_CELLS, fixed for the life of the process: type-stable memory
 * (M. Greenwald and D. Cheriton, "The Synergy Between Non-Blocking Synchronization and Operating
 * System Structure", 1996).
 *
 * Invariant: a piece that is given back is only ever taken again for the same use. So a thread that
 * was stopped in an update, and continues after the series was retired and its memory passed on:
 *  - at worst adds to a count of the memory's next series;
 *  - never finds an address where it expects a number;
 *  - never follows an address to a smaller object than it expects.
 */
typedef uint64_t crest_arena_use;

enum {
    CREST_ARENA_COUNTS = 1, /* counts of shards; one use per size */
    CREST_ARENA_GAUGE,
    CREST_ARENA_RANGE,
    CREST_ARENA_SHARED,
    CREST_ARENA_SLOWEST,
    CREST_ARENA_USES /* the first use of layouts.h */
};

/*
 * Gives a piece of CREST_ARENA_CELLS back, zeroed, for the next taker of this use and size. It lies
 * on a cache line, or on a smaller alignment if all pieces of its use do. Without memory for the
 * list's link the piece is leaked.
 */
void crest_arena_give(crest_arena_use use, void *piece, size_t bytes);

/* _given: a piece that was given back, or NULL. _again: the same, or else a new piece; NULL without
 * memory. The piece is zero, but for what a stopped thread wrote after it was given back. */
void *crest_arena_take_given(crest_arena_use use, size_t bytes);
void *crest_arena_take_again(crest_arena_use use, size_t bytes);

/* Whether such a piece was given back and not taken yet; a hint, out of date at once. Any thread,
 * without the lock. */
int crest_arena_has_given(crest_arena_use use, size_t bytes);

/* Prefaults the pages of these bytes of the arena with one system call, instead of one fault a
 * page. Their contents stay. Does nothing on a kernel without that call. Any thread, any handler,
 * without the lock. */
void crest_arena_populate(void *start, size_t bytes);

/* A copy of `bytes` bytes and a NUL after them. */
char *crest_arena_copy(const char *text, size_t bytes);

/* Bytes mapped and bytes given out, of one kind. Any thread. */
uint64_t crest_arena_mapped(crest_arena_kind kind);
uint64_t crest_arena_used(crest_arena_kind kind);

/*
 * Puts CELLS into a file, from now on and as far as `map` agrees. It is given a mapped piece, whole
 * pages of which the first `used` bytes are in use, and maps shared memory with these bytes in its
 * place, at the same address; or returns 0 and leaves the piece as it is. It is called under the
 * lock, for the regions that there are before this returns. Under the lock; no other thread may
 * write into CELLS meanwhile. NULL: no further region goes into a file.
 */
typedef int crest_arena_file_map(void *piece, uint64_t bytes, uint64_t used);
void crest_arena_back(crest_arena_file_map *map);

/* In the child of a fork: zeroes the cells where the kernel could not be asked to
 * (MADV_WIPEONFORK), and takes them out of their file, which is the parent's. */
void crest_arena_forked(void);

/* For tests: the `after`-th take from now on (1: the next) and every later one fail, until set to
 * 0. */
void crest_arena_fail_after(unsigned long after);

#endif
