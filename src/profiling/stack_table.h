/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded table of stacks and how often each was seen, together with a label. Any thread and any
 * signal handler adds, without a lock; readers read at any time. Nothing is removed: a full table
 * refuses, and its owner clears it when no handler and no reader uses it.
 *
 *   adder    1. compare-and-swap key 0 → hash   2. frames and label   3. place, release
 *            4. adds to count, before or after another adder's 3
 *   reader   place, acquire: 0 means that the frames are not there yet
 */
#ifndef CREST_PROFILING_STACK_TABLE_H
#define CREST_PROFILING_STACK_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A power of two; and frames of all stacks together. With 32 bytes an entry: 2.3 MiB a table. */
#define CREST_STACKS_MAX 8192u
#define CREST_STACK_FRAMES_MAX 262144u
/* What an adder is told instead of a number. */
#define CREST_STACK_REFUSED UINT32_MAX

typedef struct crest_stack_entry {
    uint64_t key;   /* 0: free */
    uint64_t count; /* weights, added up */
    uint64_t place; /* frames' number << 32 | where they begin, + 1; 0: not yet */
    uint64_t label;
} crest_stack_entry;

typedef struct crest_stack_table {
    uint64_t stacks, frames; /* used; may go beyond the bounds by what was refused */
    crest_stack_entry entry[CREST_STACKS_MAX];
    uint64_t frame[CREST_STACK_FRAMES_MAX];
} crest_stack_table;

/* Adds `weight` to the stack under the label; CREST_STACK_REFUSED when there is no room, else the
 * number of its entry. Any handler. */
uint32_t crest_stack_table_add(crest_stack_table *table, const uint64_t *frames, unsigned depth,
                               uint64_t label, uint64_t weight);

/* The entry's frames; 0: it is free, or not written yet. Any thread. */
unsigned crest_stack_table_frames(const crest_stack_table *table, uint32_t number,
                                  const uint64_t **frames);

/* Whether it is time to take another table. */
int crest_stack_table_fills(const crest_stack_table *table);

/* The caller knows that no handler and no reader uses it. */
void crest_stack_table_clear(crest_stack_table *table);

#endif
