/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's monotonic clock, whatever a test does to crest_now(), and conditions that wait by
 * it.
 *
 *     uint64_t due_ns = crest_monotonic_ns() + interval_ns;
 */
#ifndef CREST_MONOTONIC_H
#define CREST_MONOTONIC_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t crest_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* As pthread_cond_timedwait takes it. */
static inline struct timespec crest_monotonic_timespec(uint64_t time_ns)
{
    return (struct timespec){(time_t)(time_ns / 1000000000u), (long)(time_ns % 1000000000u)};
}

/* Of glibc's none fails. */
static inline void crest_monotonic_condition(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

#endif
