/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the library's own. They block all signals, which are the host's to handle. Their stack
 * has a size of its own: the process's default may be 8 MiB that mlockall makes resident, or too
 * little.
 *
 *     int failed = crest_thread_detach(NULL, worker_run, worker);
 *     if (failed) … strerror(failed)
 *
 * A host may have forbidden threads (threads=off): then none is ever made.
 */
#ifndef CREST_THREAD_H
#define CREST_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Starts a joinable thread, which the caller joins. 0, or an error number and nothing was started.
 * Thread-safe; the caller's signal mask is as before. */
int crest_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* The same, detached; thread may be NULL. */
int crest_thread_detach(pthread_t *thread, void *(*run)(void *), void *context);

/* Bytes of stack until another size is set. */
#define CREST_THREAD_STACK_DEFAULT 0x40000u

/* The stack size of threads started from now on, without room for thread-local variables. */
void crest_thread_stack_set(size_t bytes);

/* Allows or forbids threads. They are allowed at first, and again in the child of a fork. While
 * forbidden, the two above answer EPERM. */
void crest_threads_allow(int allowed);
/* Non-zero when forbidden. Thread-safe: one load. */
int crest_threads_forbidden(void);

#endif
