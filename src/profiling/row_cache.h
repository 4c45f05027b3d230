/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded, lock-free cache of rows by instruction. Any thread and any handler reads and writes it
 * at any time: a reader that meets a writer finds nothing, a writer that meets another gives up.
 *
 *   an entry's tag    0            no writer has had it yet
 *                     1            a writer is writing it
 *                     other        what the words belong to
 *
 *   writer   1. compare-and-swap tag → 1   2. words   3. tag, release
 *   reader   1. tag, acquire               2. words   3. the same tag, after a fence
 *
 * A tag is the address and the generation of modules, mixed: a new generation finds nothing old.
 */
#ifndef CREST_PROFILING_ROW_CACHE_H
#define CREST_PROFILING_ROW_CACHE_H

#include "profiling/unwind_row.h"

/* A power of two, of 32 bytes: 512 KiB. */
#define CREST_ROW_CACHE_ENTRIES 16384u

/* 0: it is not there. */
int crest_row_cache_get(uint64_t pc, uint32_t generation, crest_unwind_row *row);
void crest_row_cache_put(uint64_t pc, uint32_t generation, const crest_unwind_row *row);

#endif
