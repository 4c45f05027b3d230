/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a thread's registers to the addresses on its stack, leaf first. No lock, no allocation, no C
 * library: signal handlers call it.
 *
 *     crest_walk_state state;
 *     crest_walk_from_context(&state, ucontext);
 *     count = crest_stack_walk(&state, &stack, crest_modules_now(), frames, room, &how);
 *
 * It bounds itself: each frame lies above the one before it on the stack, all but those that a
 * signal interrupted on another stack, and there are no more than the caller has room for. What a
 * module says nothing of is tried by its frame pointer; then the walk ends.
 */
#ifndef CREST_PROFILING_STACK_WALK_H
#define CREST_PROFILING_STACK_WALK_H

#include "profiling/loaded_modules.h"
#include "profiling/unwind_row.h"

#define CREST_FRAMES_MAX 128u

typedef struct crest_walk_state {
    uint64_t reg[CREST_REGISTER_COUNT];
    uint32_t known;       /* bit i: reg[i] is the thread's */
    uint64_t interrupted; /* where the last signal on the stack came; 0: there was none */
} crest_walk_state;

typedef enum crest_walk_end {
    CREST_WALK_WHOLE, /* up to the thread's first function */
    CREST_WALK_LONG,  /* there was no room for more */
    CREST_WALK_BROKEN /* something on the way could not be read or is not known */
} crest_walk_end;

/* All registers, as a signal handler has them: its third argument. */
void crest_walk_from_context(crest_walk_state *state, const void *ucontext);

/* Writes the addresses: the first as it is, callers' less one, so that each lies within its call.
 * Returns how many. */
size_t crest_stack_walk(crest_walk_state *state, crest_checked_memory *stack,
                        const crest_modules *modules, uint64_t *frames, size_t room,
                        crest_walk_end *how);

#endif
