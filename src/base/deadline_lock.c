/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock with a deadline. See deadline_lock.h.
 */
#include "base/deadline_lock.h"
#include "base/sync.h"

#include <errno.h>

int crest_deadline_lock_take(crest_deadline_lock *lock, uint64_t until_ns)
{
    struct timespec until = crest_monotonic_timespec(until_ns);
    int late = 0;
    pthread_mutex_lock(&lock->mutex);
    if (!lock->made)
        crest_monotonic_condition(&lock->dropped);
    lock->made = 1;
    while (lock->held && !late) {
        if (until_ns == CREST_DEADLINE_NONE)
            pthread_cond_wait(&lock->dropped, &lock->mutex);
        else
            late = pthread_cond_timedwait(&lock->dropped, &lock->mutex, &until) == ETIMEDOUT;
    }
    int taken = !lock->held;
    lock->held = 1;
    pthread_mutex_unlock(&lock->mutex);
    return taken;
}

void crest_deadline_lock_drop(crest_deadline_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
    lock->held = 0;
    pthread_cond_signal(&lock->dropped);
    pthread_mutex_unlock(&lock->mutex);
}

void crest_deadline_lock_fresh(crest_deadline_lock *lock)
{
    crest_mutex_fresh(&lock->mutex);
    lock->made = lock->held = 0;
}
