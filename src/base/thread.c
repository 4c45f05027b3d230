/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting threads. See thread.h.
 */
#define _GNU_SOURCE
#include "thread.h"

#include <signal.h>

/* A thread inherits its maker's mask: blocked from its first instruction on. */
static int thread_make(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                       void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, attributes, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

int crest_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
    return thread_make(thread, NULL, run, context);
}

int crest_thread_detach(pthread_t *thread, void *(*run)(void *), void *context)
{
    pthread_t unseen;
    pthread_attr_t detached;
    int failed = pthread_attr_init(&detached);
    if (failed)
        return failed;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    failed = thread_make(thread != NULL ? thread : &unseen, &detached, run, context);
    pthread_attr_destroy(&detached);
    return failed;
}
