/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library does in the child of a fork, of any kind, and in which order. fork() says so to
 * its handlers (fork.h); _Fork() and a raw clone() do not. So a word of memory that the kernel
 * zeroes in a child is looked at where the slow path's lock is taken, and at exit: there the calls
 * are made that have not been.
 *
 *     CREST_FORKED(READERS, readers_forked)
 */
#ifndef CREST_BASE_FORKED_H
#define CREST_BASE_FORKED_H

#include "base/atomic.h"

#include <crest/abi.h>
#include <stddef.h>

/*
 * The places, in the order in which a child calls what stands there, each at most once. Those from
 * LOCK to RUN are called in every child. They may run with all signals blocked, hold no lock, and
 * find what other threads had locked as those left it: so they neither allocate nor free, for
 * another thread may have left malloc locked. Those of OWN are called in the child of fork() only,
 * which has one thread and in which nothing has been closed or started since.
 */
#define CREST_FORKED_PLACES(X)                                                                     \
    X(OWN_RECORDS) /* whose thread records are; under the lock still */                            \
    X(LOCK)        /* first of all, for what follows may take it */                                \
    X(CELLS)       /* memory that the kernel has zeroed, and the clock */                          \
    X(IN_FLIGHT)   /* another table of operations */                                               \
    X(IN_FLIGHT_OWNERS)                                                                            \
    X(KEYED) /* another process, to keyed timers */                                                \
    X(MUTEXES)     /* another process, to measured mutexes */                                      \
    X(FIGURES)     /* of operations in flight */                                                   \
    X(LIVES)       /* looks at series begin anew */                                                \
    X(RETIRING)                                                                                    \
    X(READERS)                                                                                     \
    X(DELIVERED)                                                                                   \
    X(POLLER)                                                                                      \
    X(TICKER)                                                                                      \
    X(ATTACHMENTS)                                                                                 \
    X(ONE_REPORT)                                                                                  \
    X(SYSTEM) /* collectors, whose polls the poller has let go by then */                          \
    X(PROBER)                                                                                      \
    X(PROBE_RESOLVE)                                                                               \
    X(PROBE_FILE)                                                                                  \
    X(HICCUPS)                                                                                     \
    X(HOST_LOOP)                                                                                   \
    X(RUN)                                                                                         \
    X(OWN_HOST_LOOP) /* closes what HOST_LOOP put aside */

#define CREST_FORKED_ENUM_(place) CREST_FORKED_##place,
typedef enum crest_forked_place {
    CREST_FORKED_PLACES(CREST_FORKED_ENUM_) CREST_FORKED_PLACE_COUNT
} crest_forked_place;
#undef CREST_FORKED_ENUM_

enum { CREST_FORKED_UNKNOWN, CREST_FORKED_UNLOCKING, CREST_FORKED_KNOWN };

/* The word; NULL before there is memory for it, and where there is none. */
extern uint32_t *crest_forked_word;

/* Calls `child` at its place in every child from now on. Any thread; takes no lock. */
void crest_forked_call(crest_forked_place place, void (*child)(void));

/* The same from load on. */
#define CREST_FORKED(place, child)                                                                 \
    __attribute__((constructor)) static void child##_call(void)                                    \
    {                                                                                              \
        crest_forked_call(CREST_FORKED_##place, child);                                            \
    }

/* Once, under the lock: the word that is looked at. Without memory, children of _Fork() are told
 * nothing. */
void crest_forked_prepare(void);

/* In the child of a fork that has not made its calls. Blocks all signals meanwhile. */
void crest_forked_run(void);

/* In fork()'s own handler, which knows that it is one: the calls from LOCK to RUN. */
void crest_forked_tell(void);

/* Calls what stands at the place, if anything does; of those of OWN, in that handler. */
void crest_forked_call_at(crest_forked_place place);

/* Any thread, under no lock of the library's; async-signal-safe. */
static inline void crest_forked_check(void)
{
    /* acquire: partner of the release store in crest_forked_run, after the lock was freed */
    if (CREST_UNLIKELY(crest_forked_word != NULL &&
                       crest_atomic_load32_acquire(crest_forked_word) != CREST_FORKED_KNOWN))
        crest_forked_run();
}

#endif
