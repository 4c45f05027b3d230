/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is called in the child of a fork. See forked.h.
 */
#define _GNU_SOURCE
#include "base/forked.h"
#include "base/arena.h"

#include <sched.h>
#include <signal.h>

typedef void forked_call(void);

uint32_t *crest_forked_word;

static forked_call *forked_calls[CREST_FORKED_PLACE_COUNT];

void crest_forked_call(crest_forked_place place, void (*child)(void))
{
    /* partner: the acquire load in crest_forked_call_at, of a child that another thread forks */
    crest_atomic_store_ptr_release(CREST_PTR(&forked_calls[place]), (void *)(uintptr_t)child);
}

void crest_forked_prepare(void)
{
    uint32_t *word = crest_arena_take(CREST_ARENA_WIPED, CREST_LINE_BYTES, CREST_LINE_BYTES);
    if (word == NULL)
        return;
    *word = CREST_FORKED_KNOWN;
    crest_forked_word = word;
}

void crest_forked_call_at(crest_forked_place place)
{
    forked_call *call =
        (forked_call *)(uintptr_t)crest_atomic_load_ptr_acquire(CREST_PTR(&forked_calls[place]));
    if (call != NULL)
        call();
}

static void forked_run_calls(void)
{
    for (int place = CREST_FORKED_LOCK + 1; place <= CREST_FORKED_RUN; place++)
        crest_forked_call_at((crest_forked_place)place);
}

void crest_forked_run(void)
{
    uint32_t *word = crest_forked_word;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (crest_atomic_cas32_acquire(word, CREST_FORKED_UNKNOWN, CREST_FORKED_UNLOCKING)) {
        crest_forked_call_at(CREST_FORKED_LOCK);
        /* first: a call may take the lock; partner: the acquire load in crest_forked_check */
        crest_atomic_store32_release(word, CREST_FORKED_KNOWN);
        forked_run_calls();
        crest_atomic_store32_release(word, CREST_FORKED_KNOWN); /* a call may have forked and zeroed
                                                                 * it */
    }
    while (crest_atomic_load32_acquire(word) != CREST_FORKED_KNOWN)
        sched_yield(); /* another thread, which the child has made since */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void crest_forked_tell(void)
{
    if (crest_forked_word == NULL) {
        crest_forked_call_at(CREST_FORKED_LOCK);
        forked_run_calls();
        return;
    }
    crest_atomic_store32(crest_forked_word, CREST_FORKED_UNKNOWN);
    crest_forked_run();
}
