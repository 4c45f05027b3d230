/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library does in the child of a fork, of any kind, and in which order. fork() runs its
 * handlers (fork.h); _Fork() and a raw clone() run none. So takers of the slow path's lock, and
 * exit, check a word of memory that the kernel zeroes in a child (MADV_WIPEONFORK). When it is zero
 * they make the calls that are due.
 *
 *     CREST_FORKED(READERS, readers_forked)
 */
#ifndef CREST_BASE_FORKED_H
#define CREST_BASE_FORKED_H

#include "base/atomic.h"

#include <crest/abi.h>
#include <stddef.h>

/*
 * The places, in the order in which a child calls what is registered there, each at most once.
 *
 *  - LOCK to RUN: called in every child. All signals may be blocked, no lock is held, and other
 *    threads' locks are as those threads left them. So a call neither allocates nor frees: another
 *    thread of the parent may have held malloc's lock.
 *  - OWN_*: called in the child of fork() only. It has one thread then, and nothing was closed or
 *    started since.
 */
#define CREST_FORKED_PLACES(X)                                                                     \
    X(OWN_RECORDS) /* whose thread records are; under the lock still */                            \
    X(LOCK)        /* first of all, for what follows may take it */                                \
    X(CELLS)       /* memory that the kernel has zeroed, and the clock */                          \
    X(STATE)       /* the file that cells lay in is the parent's */                                \
    X(STATE_RECORDS)                                                                               \
    X(STATE_SPANS)                                                                                 \
    X(DELIVERED_CELLS)                                                                             \
    X(INHERITED)                                                                                   \
    X(TRACED) /* nothing is */                                                                     \
    X(SPANS)  /* no rings */                                                                       \
    X(EVENTS) /* no rings */                                                                       \
    X(EVENTS_KNOWN)                                                                                \
    X(EVENTS_FILE)                                                                                 \
    X(IN_FLIGHT) /* another table of operations */                                                 \
    X(IN_FLIGHT_OWNERS)                                                                            \
    X(KEYED)   /* another process, to keyed timers */                                              \
    X(MUTEXES) /* another process, to measured mutexes */                                          \
    X(FIGURES) /* of operations in flight */                                                       \
    X(LIVES)   /* looks at series begin anew */                                                    \
    X(RETIRING)                                                                                    \
    X(READERS)                                                                                     \
    X(DELIVERED)                                                                                   \
    X(POLLER)                                                                                      \
    X(TICKER)                                                                                      \
    X(TRACING)                                                                                     \
    X(EVENT_LOG)                                                                                   \
    X(ATTACHMENTS)                                                                                 \
    X(KEPT_SPANS)                                                                                  \
    X(ONE_REPORT)                                                                                  \
    X(SYSTEM) /* collectors, whose polls the poller has let go by then */                          \
    X(PROBER)                                                                                      \
    X(PROBE_RESOLVE)                                                                               \
    X(PROBE_FILE)                                                                                  \
    X(HICCUPS)                                                                                     \
    X(NAMED_FRAMES)                                                                                \
    X(PROFILER) /* its timers and its thread are the parent's */                                   \
    X(HOST_LOOP)                                                                                   \
    X(RUN)                                                                                         \
    X(OWN_HOST_LOOP) /* closes what HOST_LOOP put aside */

#define CREST_FORKED_ENUM_(place) CREST_FORKED_##place,
typedef enum crest_forked_place {
    CREST_FORKED_PLACES(CREST_FORKED_ENUM_) CREST_FORKED_PLACE_COUNT
} crest_forked_place;
#undef CREST_FORKED_ENUM_

enum { CREST_FORKED_UNKNOWN, CREST_FORKED_UNLOCKING, CREST_FORKED_KNOWN };

/* The word; NULL until there is memory for it. */
extern uint32_t *crest_forked_word;

/* Calls `child` at its place in every child from now on. Any thread; takes no lock. */
void crest_forked_call(crest_forked_place place, void (*child)(void));

/* The same from load on. */
#define CREST_FORKED(place, child)                                                                 \
    __attribute__((constructor)) static void child##_call(void)                                    \
    {                                                                                              \
        crest_forked_call(CREST_FORKED_##place, child);                                            \
    }

/* Once, under the lock: makes the word. Without memory, children of _Fork() make no calls. */
void crest_forked_prepare(void);

/* In a child whose calls are due: makes them once; other threads of the child wait for that. Blocks
 * all signals meanwhile. */
void crest_forked_run(void);

/* In fork()'s own child handler: the calls from LOCK to RUN. */
void crest_forked_tell(void);

/* Makes the call registered at the place, if there is one; places OWN_* only in fork()'s handler.
 */
void crest_forked_call_at(crest_forked_place place);

/* Any thread, under no lock of the library's; async-signal-safe. */
static inline void crest_forked_check(void)
{
    /* acquire: partner of the release store in crest_forked_run, made after the lock was freed */
    if (CREST_UNLIKELY(crest_forked_word != NULL &&
                       crest_atomic_load32_acquire(crest_forked_word) != CREST_FORKED_KNOWN))
        crest_forked_run();
}

#endif
