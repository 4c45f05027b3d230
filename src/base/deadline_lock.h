/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that is waited for until a deadline, for what is held while a callback of the user's runs.
 * Slower than a mutex; not for handlers, not recursive.
 *
 *     static crest_deadline_lock exporting;                          zeroed: open
 *     if (!crest_deadline_lock_take(&exporting, until_ns)) …         still held at the deadline
 *     …
 *     crest_deadline_lock_drop(&exporting);
 *
 * State, under `mutex`: `held`. Taken by the party that finds it 0 and sets it; dropped by the
 * same. Drop wakes one waiter, which looks again: the lock may have been taken in between.
 */
#ifndef CREST_DEADLINE_LOCK_H
#define CREST_DEADLINE_LOCK_H

#include <pthread.h>
#include <stdint.h>

/* No deadline. */
#define CREST_DEADLINE_NONE UINT64_MAX

typedef struct crest_deadline_lock {
    pthread_mutex_t mutex;
    pthread_cond_t dropped;
    int made; /* `dropped` is */
    int held;
} crest_deadline_lock;

#define CREST_DEADLINE_LOCK_OPEN                                                                   \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER                                                         \
    }

/* Non-zero when it was taken; 0 when it was still held at `until_ns` of crest_monotonic_ns. A time
 * that has passed only tries. */
int crest_deadline_lock_take(crest_deadline_lock *lock, uint64_t until_ns);
void crest_deadline_lock_drop(crest_deadline_lock *lock);

/* In a forked child: open, also if a thread of the parent held it. */
void crest_deadline_lock_fresh(crest_deadline_lock *lock);

#endif
