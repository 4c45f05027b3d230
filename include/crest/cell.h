/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per-thread cells: every series has a slot and every thread a table of cells indexed by slot. Only
 * the owner thread writes a cell; any thread may read it.
 *
 *     thread-local pointer -> table -> chunk[slot >> 12] -> cell[slot]
 *
 * The thread-local pointer starts at a constant table without chunks, and slot 0 lies in a chunk
 * that no thread ever gets. So one predictable branch covers "new thread", "not registered yet" and
 * "chunk not there yet". What follows that branch is out of line, in src/cells/cells.c.
 *
 * Users include counter.h and its neighbours; this header is the part of them that is inlined.
 */
#ifndef CREST_CELL_H
#define CREST_CELL_H

#include <crest/abi.h>

/* A thread's table. A chunk stays for the life of the process. Its address is biased, so that the
 * whole slot indexes it. The owner thread stores it with release; partner: the acquire load in
 * cells.c, by which readers reach other threads' cells. */
typedef struct crest_cells {
    uint64_t *chunk[CREST_CHUNK_COUNT];
} crest_cells;

/* Powers of two of a 64-bit value. */
#define CREST_DISTRIBUTION_BLOCKS 64u

/*
 * One thread's share of one histogram: HDR's log-linear counts, in one block per power of two. A
 * block is allocated at its first record.
 *
 * block[top] is all that a value whose highest bit is `top` needs. Its low six bits
 * (CREST_BLOCK_SHIFT) are the right shift that keeps the significant bits. The other bits are the
 * block's address, biased so that the shifted value indexes it. The lowest block holds exact values
 * and serves several powers of two. 0: no block yet, or out of range.
 *
 * Address and shift share a word because the length of the load chain is what a record costs: one
 * load lies between the shard and the count, and the value waits for none before that.
 */
typedef struct crest_shard {
    uintptr_t block[CREST_DISTRIBUTION_BLOCKS];
    uint64_t sum;
    uint64_t max;
    uint64_t min;   /* UINT64_MAX at first */
    uint64_t noted; /* the largest since the ticker's last tick, which sets it to 0; at most max */
    uint64_t beginning; /* the library's: the early values' store, used before there was a shard */
} crest_shard;

/* The part of a block's word that is the shift. Blocks begin on cache lines, so it is free. */
#define CREST_BLOCK_SHIFT UINT64_C(63)

/* What every handle begins with. Zeroed but for abi and declaration it is a valid handle. */
typedef struct crest_handle {
    uint32_t slot; /* 0: not registered. Relaxed: the hot path reaches only this thread's memory */
    uint32_t abi;  /* CREST_ABI of the code that made it */
    struct crest_series *series;                 /* the library's */
    const struct crest_declaration *declaration; /* NULL in handles that the library made */
} crest_handle;

CREST_BEGIN_C

#ifndef CREST_DISABLE
/* The library's; read through the recording calls only. */
extern CREST_API __thread crest_cells *crest_thread_cells
    __attribute__((tls_model("initial-exec")));

/* The library's own reference, by a name that no other copy of the library in the process can
 * interpose. All other code finds its copy by the name crest_thread_cells. */
#ifdef CREST_OWN_CELLS
extern __attribute__((visibility("hidden"))) __thread crest_cells *crest_thread_cells_own
    __attribute__((tls_model("initial-exec")));
#define CREST_THREAD_CELLS_ crest_thread_cells_own
#else
#define CREST_THREAD_CELLS_ crest_thread_cells
#endif

/* This thread's cell of the handle's series, or NULL for the cold path. */
CREST_INLINE uint64_t *crest_cell_of(const crest_handle *handle)
{
    uint32_t slot = __atomic_load_n(&handle->slot, __ATOMIC_RELAXED);
    uint64_t *chunk =
        __atomic_load_n(&CREST_THREAD_CELLS_->chunk[slot >> CREST_CHUNK_BITS], __ATOMIC_RELAXED);
    if (CREST_UNLIKELY(chunk == NULL))
        return NULL;
    return &chunk[slot];
}

/* The position of the highest bit of a word; 0 for 0. */
CREST_INLINE uint64_t crest_top_bit(uint64_t word)
{
#if defined(__x86_64__) && !defined(__LZCNT__)
    /* bsr leaves its destination unchanged when no bit is set, and so depends on it. Zeroed here it
     * gives 0 for 0, and no record waits for the record before */
    uint64_t top = 0;
    __asm__("bsrq %1, %0" : "+r"(top) : "r"(word) : "cc");
    return top;
#else
    return 63u ^ (unsigned)__builtin_clzll(word | 1);
#endif
}

/*
 * Records value `times` times into the shard. Returns 0 when the cold path is needed: the value has
 * no block (which includes negative values and values out of range), is the largest of this tick,
 * or is the least of all.
 *
 * The writer writes extremes, count, sum in this order; a reader reads sum, count, extremes.
 * Invariant: a sum never covers a record that the counts lack.
 */
CREST_INLINE int crest_shard_record(crest_shard *shard, uint64_t value, uint64_t times)
{
    uint64_t top = crest_top_bit(value);
    uintptr_t block = __atomic_load_n(&shard->block[top], __ATOMIC_RELAXED);
    uint64_t *cells = (uint64_t *)(block & ~(uintptr_t)CREST_BLOCK_SHIFT);
    if (CREST_UNLIKELY(block == 0))
        return 0;
    if (CREST_UNLIKELY(value > __atomic_load_n(&shard->noted, __ATOMIC_RELAXED)))
        return 0;
    /* a plain load, which folds into the comparison: only this thread writes */
    if (CREST_UNLIKELY(value < shard->min))
        return 0;
    /* release: the extremes before; partner: the fence behind the counts in distribution.c */
    crest_word_add_release(&cells[value >> (block & CREST_BLOCK_SHIFT)], times);
    crest_word_sum_release(&shard->sum, value * times);
    return 1;
}
#endif

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/cell_off.h>
#endif

#endif
