/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that can be left behind. See leavable.h, where the proof is.
 */
#define _GNU_SOURCE
#include "base/leavable.h"
#include "base/thread.h"

#include <unistd.h>

void crest_leavable_init(crest_leavable *leavable, const crest_leavable_kind *kind,
                         pthread_mutex_t *lock)
{
    *leavable = (crest_leavable){.kind = kind, .lock = lock, .process = getpid()};
}

static void *leavable_main(void *context)
{
    crest_leavable *leavable = context;
    pthread_setname_np(pthread_self(), leavable->kind->name);
    pthread_mutex_lock(leavable->lock);
    leavable->kind->run(leavable);
    int last = --leavable->threads == 0 && leavable->left;
    pthread_mutex_unlock(leavable->lock);
    if (last)
        leavable->kind->free(leavable);
    return NULL;
}

int crest_leavable_start(crest_leavable *leavable)
{
    /* the thread may begin before this returns, but waits for the lock */
    int failed = crest_thread_detach(NULL, leavable_main, leavable);
    leavable->threads += failed == 0;
    return failed;
}

void crest_leavable_out(crest_leavable *leavable)
{
    pthread_mutex_unlock(leavable->lock);
}

int crest_leavable_back(crest_leavable *leavable)
{
    pthread_mutex_lock(leavable->lock);
    return !leavable->left;
}

int crest_leavable_leave_locked(crest_leavable *leavable)
{
    leavable->left = 1;
    return leavable->threads == 0;
}

void crest_leavable_leave(crest_leavable *leavable)
{
    int last = 1;
    if (leavable->process == getpid()) {
        pthread_mutex_lock(leavable->lock);
        last = crest_leavable_leave_locked(leavable);
        pthread_mutex_unlock(leavable->lock);
    }
    if (last)
        leavable->kind->free(leavable);
}
