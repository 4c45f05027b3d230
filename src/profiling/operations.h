/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operation that a thread is in: crest_profile_enter and _leave. The thread's record of cells
 * (cells/cells.h) has a place that leads to the innermost scope, which lies on the thread's stack.
 *
 *   owner thread     enter: 1. fills the scope   2. place := scope     leave: place := outer
 *   its handler      reads place and scope, and counts scope->sampled
 *   another thread   reads them as memory that may not be there any more
 */
#ifndef CREST_PROFILING_OPERATIONS_H
#define CREST_PROFILING_OPERATIONS_H

#include "profiling/checked_memory.h"
#include <crest/profile.h>

/*
 * Scopes of the calling thread, innermost first, at most `room`; returns how many. `rsp` is the
 * stack pointer of what the handler interrupted. A longjmp may have left scopes behind: what lies
 * below the stack pointer, or does not look like a scope, ends the list. Any handler.
 */
unsigned crest_operations_here(uint64_t rsp, crest_checked_memory *stack,
                               crest_profile_scope **scopes, unsigned room);

/* The calling thread's innermost scope, by the place in its record; NULL: it is in none. One that a
 * longjmp has left behind is passed over if a later frame lies over it. Any handler. */
const crest_profile_scope *crest_operations_innermost(void *const *place);

/* The same of another thread, copied: 0 if it is in none, or that cannot be read. Locks. */
int crest_operations_of(int thread, crest_profile_scope *copy);

/* A number of the operation within its metric; never 0. Of one that threads share it is the same in
 * all of them. Any handler. */
uint64_t crest_operations_number(const crest_profile_scope *scope);

/* What is called, on its own thread, when a scope ends of which there are samples; NULL: nothing.
 * Set while no profiler runs. */
typedef void crest_operations_ended_fn(const crest_profile_scope *scope, uint64_t now_ns);
void crest_operations_on_end(crest_operations_ended_fn *ended);

#endif
