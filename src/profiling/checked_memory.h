/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading memory that may not be there: a stack whose pointers may be broken, tables of a module
 * that may just have been unloaded. An address is read through a window of addresses that are known
 * to be readable. Direct memory grows its window by asking the kernel for each page; a copy of
 * another thread's stack is one window for good.
 *
 *     crest_checked_memory memory = CREST_CHECKED_DIRECT;
 *     uint64_t word;
 *     if (crest_checked_word(&memory, address, &word)) …
 *
 * Signal handlers may call it: no lock, no errno, no C library.
 */
#ifndef CREST_PROFILING_CHECKED_MEMORY_H
#define CREST_PROFILING_CHECKED_MEMORY_H

#include <stdint.h>

#define CREST_CHECKED_PAGE UINT64_C(4096)

typedef struct crest_checked_memory {
    uint64_t from, to; /* addresses that can be read */
    uint64_t shift;    /* the byte of address A lies at A + shift */
    int grows;         /* others may be asked for */
} crest_checked_memory;

#define CREST_CHECKED_DIRECT                                                                       \
    {                                                                                              \
        0, 0, 0, 1                                                                                 \
    }

/* Moves the window so that it holds [address, address + bytes); 0 when that cannot be read. */
int crest_checked_grow(crest_checked_memory *memory, uint64_t address, uint64_t bytes);

static inline int crest_checked_has(crest_checked_memory *memory, uint64_t address, uint64_t bytes)
{
    if (address >= memory->from && address < memory->to && memory->to - address >= bytes)
        return 1;
    return memory->grows && crest_checked_grow(memory, address, bytes);
}

/* Loads of memory that the compiler knows nothing of, and that sanitizers must not judge. */
uint64_t crest_checked_load(uint64_t at, unsigned bytes);

/* The number of `bytes` bytes (1, 2, 4, 8) at the address; 0 when it cannot be read. */
static inline int crest_checked_number(crest_checked_memory *memory, uint64_t address,
                                       unsigned bytes, uint64_t *value)
{
    if (!crest_checked_has(memory, address, bytes))
        return 0;
    *value = crest_checked_load(address + memory->shift, bytes);
    return 1;
}

static inline int crest_checked_word(crest_checked_memory *memory, uint64_t address,
                                     uint64_t *value)
{
    return crest_checked_number(memory, address, 8, value);
}

#endif
