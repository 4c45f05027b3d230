/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the library's own: they block all signals, because those are the host's to handle.
 *
 *     int failed = crest_thread_detach(NULL, worker_run, worker);
 *     if (failed) … strerror(failed)
 */
#ifndef CREST_THREAD_H
#define CREST_THREAD_H

#include <pthread.h>

/* Starts a thread that somebody joins. 0, or an error number and nothing was started. Thread-safe;
 * the caller's signal mask is as before. */
int crest_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* The same of one that nobody joins; thread may be NULL. */
int crest_thread_detach(pthread_t *thread, void *(*run)(void *), void *context);

#endif
