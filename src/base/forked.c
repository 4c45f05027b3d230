/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is called in the child of a fork. See forked.h.
 */
#define _GNU_SOURCE
#include "base/forked.h"
#include "base/arena.h"
#include "base/lock.h"

#include <sched.h>
#include <signal.h>

typedef void forked_call(void);

uint32_t *crest_forked_word;

static forked_call *forked_calls[CREST_FORKED_CALLS_MAX];
static uint64_t forked_count;

void crest_forked_call(void (*child)(void))
{
    uint64_t place = crest_atomic_load(&forked_count);
    while (!crest_atomic_cas(&forked_count, place, place + 1))
        place = crest_atomic_load(&forked_count);
    if (place < CREST_FORKED_CALLS_MAX)
        forked_calls[place] = child;
}

void crest_forked_prepare(void)
{
    uint32_t *word = crest_arena_take(CREST_ARENA_CELLS, CREST_LINE_BYTES, CREST_LINE_BYTES);
    if (word == NULL)
        return;
    *word = CREST_FORKED_KNOWN;
    crest_forked_word = word;
}

static void forked_run_calls(void)
{
    uint64_t count = crest_atomic_load(&forked_count);
    for (uint64_t i = 0; i < count && i < CREST_FORKED_CALLS_MAX; i++)
        if (forked_calls[i] != NULL)
            forked_calls[i]();
}

void crest_forked_run(void)
{
    uint32_t *word = crest_forked_word;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (crest_atomic_cas32_acquire(word, CREST_FORKED_UNKNOWN, CREST_FORKED_UNLOCKING)) {
        crest_lock_forked();
        /* first, for what is called may take the lock; partner: the load in crest_forked_check */
        crest_atomic_store32_release(word, CREST_FORKED_KNOWN);
        forked_run_calls();
        crest_atomic_store32_release(word, CREST_FORKED_KNOWN); /* it may have been zeroed again */
    }
    while (crest_atomic_load32_acquire(word) != CREST_FORKED_KNOWN)
        sched_yield(); /* another thread, which the child has made since */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void crest_forked_tell(void)
{
    if (crest_forked_word == NULL) {
        crest_lock_forked();
        forked_run_calls();
        return;
    }
    crest_atomic_store32(crest_forked_word, CREST_FORKED_UNKNOWN);
    crest_forked_run();
}
