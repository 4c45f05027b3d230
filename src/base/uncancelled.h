/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that defer their thread's cancellation: those that take a lock and may then wait, read a
 * file or call the host. A thread cancelled there would leave the lock taken for ever.
 *
 *     crest_status crest_report_now(...)
 *     {
 *         CREST_UNCANCELLED;
 *         ...
 *
 * A deferred cancellation that is pending or arrives meanwhile acts at the thread's next
 * cancellation point after the call. Asynchronous cancellation is not made safe by this.
 */
#ifndef CREST_UNCANCELLED_H
#define CREST_UNCANCELLED_H

#include <pthread.h>

static inline int crest_cancel_disable(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void crest_cancel_restore(const int *before)
{
    pthread_setcancelstate(*before, NULL);
}

/* Until the end of the block, however it is left. */
#define CREST_UNCANCELLED                                                                          \
    const int uncancelled_ __attribute__((unused, cleanup(crest_cancel_restore))) =                \
        crest_cancel_disable()

#endif
