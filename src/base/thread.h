/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the library's own: they block all signals, because those are the host's to handle, and
 * have a stack of their own size, because the process's default is the host's to choose: 8 MiB that
 * mlockall makes resident, or too little.
 *
 *     int failed = crest_thread_detach(NULL, worker_run, worker);
 *     if (failed) … strerror(failed)
 *
 * A host may have forbidden them (threads=off): then none is ever made.
 */
#ifndef CREST_THREAD_H
#define CREST_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Starts a thread that somebody joins. 0, or an error number and nothing was started. Thread-safe;
 * the caller's signal mask is as before. */
int crest_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* The same of one that nobody joins; thread may be NULL. */
int crest_thread_detach(pthread_t *thread, void *(*run)(void *), void *context);

/* Bytes of stack until another size is set. */
#define CREST_THREAD_STACK_DEFAULT 0x40000u

/* The stack of threads that are started from now on, without what thread-local variables take. */
void crest_thread_stack_set(size_t bytes);

/* Whether threads are made from now on; at first they are, and so in the child of a fork. While
 * they are not, the two above answer EPERM. */
void crest_threads_allow(int allowed);
/* Non-zero when they are not. Thread-safe: one load. */
int crest_threads_forbidden(void);

#endif
