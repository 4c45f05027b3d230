/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library does in the child of a fork, of any kind. fork() says so to its handlers;
 * _Fork() and a raw clone() do not. So a word of memory that the kernel zeroes in a child is looked
 * at where the slow path's lock is taken, and at exit: there the handlers run that have not.
 *
 *     __attribute__((constructor)) … { crest_forked_call(module_forked); }
 */
#ifndef CREST_BASE_FORKED_H
#define CREST_BASE_FORKED_H

#include "base/atomic.h"

#include <crest/abi.h>
#include <stddef.h>

#define CREST_FORKED_CALLS_MAX 32u

enum { CREST_FORKED_UNKNOWN, CREST_FORKED_UNLOCKING, CREST_FORKED_KNOWN };

/* The word; NULL before there is memory for it, and where there is none. */
extern uint32_t *crest_forked_word;

/* Calls `child` in every child from now on, in the order in which such were given. It may run with
 * all signals blocked, holds no lock, and finds what other threads had locked as they left it. Any
 * thread; takes no lock. */
void crest_forked_call(void (*child)(void));

/* Once, under the lock: the word that is looked at. Without memory, children of _Fork() are told
 * nothing. */
void crest_forked_prepare(void);

/* In the child of a fork that has not called its handlers. Blocks all signals meanwhile. */
void crest_forked_run(void);

/* In fork()'s own handler, which knows that it is one. */
void crest_forked_tell(void);

/* Any thread, under no lock of the library's; async-signal-safe. */
static inline void crest_forked_check(void)
{
    /* acquire: partner of the release store in crest_forked_run, after the lock was freed */
    if (CREST_UNLIKELY(crest_forked_word != NULL &&
                       crest_atomic_load32_acquire(crest_forked_word) != CREST_FORKED_KNOWN))
        crest_forked_run();
}

#endif
