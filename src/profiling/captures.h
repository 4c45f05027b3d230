/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The present stack of another thread. A thread that sleeps is not woken: the kernel says where its
 * stack pointer is (/proc/self/task/TID/syscall), its stack is copied, and the copy is walked. Only
 * a thread that runs gets a signal, and answers with its own stack.
 *
 *   asking    1. state := ASKED   2. signal   3. waits for DONE; gives up by swapping ASKED → IDLE
 *   handler   1. swaps ASKED → ANSWERING      2. fills         3. DONE, release
 */
#ifndef CREST_PROFILING_CAPTURES_H
#define CREST_PROFILING_CAPTURES_H

#include "profiling/operations.h"
#include "profiling/stack_walk.h"

typedef enum crest_capture_how {
    CREST_CAPTURE_NONE,     /* neither: it blocks the signal, has ended, or cannot be seen */
    CREST_CAPTURE_SLEEPING, /* its stack was copied */
    CREST_CAPTURE_RUNNING   /* it answered */
} crest_capture_how;

typedef struct crest_capture {
    uint32_t state;
    crest_capture_how how;
    unsigned depth;
    crest_walk_end end;
    int in_operation;
    crest_profile_scope operation; /* outer is not to be followed */
    uint64_t frames[CREST_FRAMES_MAX];
} crest_capture;

/* Captures the thread by `signal`, which crest_capture_answer's caller handles. One thread at a
 * time; returns capture->how. Blocks for some milliseconds. */
crest_capture_how crest_capture_take(crest_capture *capture, int thread, int signal);

/* In the handler, of a signal that was sent by crest_capture_take; any other is ignored. */
void crest_capture_answer(const void *ucontext);

#endif
