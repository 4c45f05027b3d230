/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one idea: every series has a slot, every thread a table of cells found by slot, only the
 * owner writes a cell and anyone may read it.
 *
 *     thread-local pointer -> table -> chunk[slot >> 12] -> cell[slot & 4095]
 *
 * The thread-local pointer starts at a constant table without chunks, and slot 0 lies in a chunk
 * that no thread ever gets, so one predictable branch covers "new thread", "not registered yet" and
 * "chunk not there yet". What follows that branch is out of line, in src/cells.c.
 *
 * Users include counter.h and its neighbours; this header is the part of them that is inlined.
 */
#ifndef CREST_CELL_H
#define CREST_CELL_H

#include <crest/abi.h>

/* A thread's table. A chunk, once given, stays for the life of the process. Written by the owner
 * with release; partner: the acquire load in cells.c that reads other threads' cells. */
typedef struct crest_cells {
    uint64_t *chunk[CREST_CHUNK_COUNT];
} crest_cells;

/* Powers of two of a 64-bit value. */
#define CREST_DISTRIBUTION_BLOCKS 64u

/*
 * One thread's share of one histogram: HDR's log-linear counts, one block per power of two, given
 * when first hit. A value v whose highest bit is at `top` falls into block top, cell v >> (top -
 * bits). Block addresses are biased so that this indexes them directly; 0 says: not there.
 *
 * The lowest and the highest block in use are "edges": only a record in one of them can be a new
 * minimum or maximum. All those between are in `interior` too, where a record needs no comparison
 * with the extremes. Blocks below `bits` are one, the lowest, and so never interior.
 */
typedef struct crest_shard {
    uint64_t max;
    uint64_t min_inverted; /* ~min, so that a zeroed shard has no minimum */
    uint64_t highest;      /* of the range */
    uint32_t bits;         /* position of the highest bit kept: 7 for two decimal digits */
    uint32_t blocks;       /* of the range */
    uintptr_t *block;      /* by top - bits; behind sum */
    uintptr_t interior[CREST_DISTRIBUTION_BLOCKS]; /* by top */
    uint64_t sum[]; /* by top, of what is in the block: a sum of its own for each keeps
                              records from waiting for each other */
} crest_shard;

/* What every handle begins with. Zeroed but for abi and declaration, it is a valid handle. */
typedef struct crest_handle {
    uint32_t slot; /* 0: not registered. Relaxed: the hot path reaches only this thread's memory */
    uint32_t abi;  /* CREST_ABI of the code that made it */
    struct crest_series *series;                 /* the library's */
    const struct crest_declaration *declaration; /* NULL in handles that the library made */
} crest_handle;

CREST_BEGIN_C

/* The library's; read through the recording calls only. */
extern CREST_API __thread crest_cells *crest_thread_cells
    __attribute__((tls_model("initial-exec")));

/* This thread's cell of the handle's series, or NULL for the cold path. */
CREST_INLINE uint64_t *crest_cell_of(const crest_handle *handle)
{
    uint32_t slot = __atomic_load_n(&handle->slot, __ATOMIC_RELAXED);
    uint64_t *chunk =
        __atomic_load_n(&crest_thread_cells->chunk[slot >> CREST_CHUNK_BITS], __ATOMIC_RELAXED);
    if (CREST_UNLIKELY(chunk == NULL))
        return NULL;
    return &chunk[slot & (CREST_CHUNK_CELLS - 1)];
}

/* The position of the highest bit of a word that is not 0. */
CREST_INLINE uint64_t crest_top_bit(uint64_t word)
{
#if defined(__x86_64__) && !defined(__LZCNT__)
    /* in place: bsr waits for the register it writes to, and into another one than it reads from
       it would make each record wait for the record before */
    __asm__("bsrq %0, %0" : "+r"(word) : : "cc");
    return word;
#else
    return 63u ^ (unsigned)__builtin_clzll(word);
#endif
}

/*
 * Records value `times` times into the shard; 0 when its block is not there, which covers values
 * out of range and negative ones too. Written in the order extremes, count, sum and read in the
 * opposite one, so that a sum never covers a record that the counts lack.
 */
CREST_INLINE int crest_shard_record(crest_shard *shard, uint64_t value, uint64_t times)
{
    uint64_t top = crest_top_bit(value | 1);
    uintptr_t block = __atomic_load_n(&shard->interior[top], __ATOMIC_RELAXED);
    if (block == 0) {
        if (CREST_UNLIKELY(value > shard->highest))
            return 0;
        top = top > shard->bits ? top : shard->bits;
        block = __atomic_load_n(&shard->block[top - shard->bits], __ATOMIC_RELAXED);
        if (CREST_UNLIKELY(block == 0))
            return 0;
        if (CREST_UNLIKELY(value > __atomic_load_n(&shard->max, __ATOMIC_RELAXED)))
            crest_word_raise(&shard->max, value);
        if (CREST_UNLIKELY(~value > __atomic_load_n(&shard->min_inverted, __ATOMIC_RELAXED)))
            crest_word_raise(&shard->min_inverted, ~value);
    }
    uintptr_t cell = (uintptr_t)(value >> (top - shard->bits)) * sizeof(uint64_t);
    crest_word_add((uint64_t *)(block + cell), times);
    crest_word_add_release(&shard->sum[top], value * times);
    return 1;
}

CREST_END_C

#endif
