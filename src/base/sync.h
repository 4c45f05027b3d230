/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library's threads wait with: the kernel's clocks in nanoseconds, which tests that fake
 * crest_now() do not change; conditions on the monotonic clock; mutexes made fresh in a forked
 * child.
 *
 *     uint64_t due_ns = crest_monotonic_ns() + 5 * CREST_NS_PER_MS;
 *     struct timespec until = crest_monotonic_timespec(due_ns);
 *     while (!done && pthread_cond_timedwait(&changed, &mutex, &until) == 0) …
 */
#ifndef CREST_BASE_SYNC_H
#define CREST_BASE_SYNC_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define CREST_NS_PER_US UINT64_C(1000)
#define CREST_NS_PER_MS UINT64_C(1000000)
#define CREST_NS_PER_S UINT64_C(1000000000)

/* A clock of the kernel's, in nanoseconds. Any thread, any handler. */
static inline uint64_t crest_kernel_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * CREST_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline uint64_t crest_monotonic_ns(void)
{
    return crest_kernel_ns(CLOCK_MONOTONIC);
}

/* A time or a duration, as the kernel takes it. */
static inline struct timespec crest_monotonic_timespec(uint64_t time_ns)
{
    return (struct timespec){(time_t)(time_ns / CREST_NS_PER_S), (long)(time_ns % CREST_NS_PER_S)};
}

/* Makes a condition whose waits end at times of the monotonic clock; in a forked child, makes it
 * anew. It fails in no known C library. */
static inline void crest_monotonic_condition(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* In a forked child, which lacks the thread that may have held the mutex: free again. */
static inline void crest_mutex_fresh(pthread_mutex_t *mutex)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    *mutex = fresh;
}

#endif
