/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks as a careful hand writes them: relaxed atomics, each on a cache line of its own, a
 * bucket for each power of two and the sum, and the C library's clock. There is neither a label nor
 * a largest value, no window, no identity that an end is compared with; a keyed timing is a time
 * kept in the object, and so has no table of what is in flight. Of the lock it is counted how often
 * it was taken, and timed how long it was waited for, but not how long it was held.
 */
#ifndef HOOKS_ATOMICS_H
#define HOOKS_ATOMICS_H

#include <time.h>

typedef struct hook_counter {
    uint64_t value;
} __attribute__((aligned(64))) hook_counter;

typedef struct hook_histogram {
    uint64_t sum;
    uint64_t bucket[64];
} __attribute__((aligned(64))) hook_histogram;

typedef struct hook_mutex {
    pthread_mutex_t mutex;
    hook_counter taken;
    hook_histogram waited;
} hook_mutex;

#define HOOK_COUNTER_(variable, name, text) extern hook_counter hook_##variable;
#define HOOK_HISTOGRAM_(variable, name, text) extern hook_histogram hook_##variable;
METRICS(HOOK_COUNTER_, HOOK_HISTOGRAM_, HOOK_HISTOGRAM_, HOOK_COUNTER_)

/* The mutex that there is, for hook_end_all, which writes all totals into $DAEMON_TOTALS. */
extern const hook_mutex *hook_the_mutex;
void hook_end_all(void);

static inline void hook_add(hook_counter *counter, uint64_t n)
{
    __atomic_fetch_add(&counter->value, n, __ATOMIC_RELAXED);
}

static inline void hook_record(hook_histogram *histogram, uint64_t value)
{
    __atomic_fetch_add(&histogram->bucket[63 - __builtin_clzll(value | 1)], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&histogram->sum, value, __ATOMIC_RELAXED);
}

static inline uint64_t hook_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline int hook_trylock(hook_mutex *mutex)
{
    int result = pthread_mutex_trylock(&mutex->mutex);
    if (result == 0)
        hook_add(&mutex->taken, 1);
    return result;
}

static inline void hook_lock(hook_mutex *mutex)
{
    if (hook_trylock(mutex) == 0)
        return;
    uint64_t start = hook_now();
    pthread_mutex_lock(&mutex->mutex);
    hook_record(&mutex->waited, hook_now() - start);
    hook_add(&mutex->taken, 1);
}

#define HOOK_BEGIN_ALL() ((void)0)
#define HOOK_END_ALL() hook_end_all()

#define HOOK_INC(counter) hook_add(&hook_##counter, 1)
#define HOOK_ADD(counter, n) hook_add(&hook_##counter, (uint64_t)(n))
#define HOOK_RECORD(histogram, value) hook_record(&hook_##histogram, (uint64_t)(value))
#define HOOK_RAISE(sampler, n) hook_add(&hook_##sampler, (uint64_t)(n))

#define HOOK_TIMING(field) uint64_t field;
#define HOOK_START(field, timer, id) (field) = hook_now()
#define HOOK_STOP(field, timer, id) hook_record(&hook_##timer, hook_now() - (field))
#define HOOK_STAMP(field) uint64_t field;
#define HOOK_KEYED_BEGIN(field, timer, object, id) (field) = hook_now()
#define HOOK_KEYED_END(field, timer, object, id) hook_record(&hook_##timer, hook_now() - (field))

#define HOOK_MUTEX(variable, name)                                                                 \
    static hook_mutex variable = {.mutex = PTHREAD_MUTEX_INITIALIZER};                             \
    __attribute__((constructor)) static void variable##_is(void)                                   \
    {                                                                                              \
        hook_the_mutex = &variable;                                                                \
    }
#define HOOK_LOCK(variable) hook_lock(&(variable))
#define HOOK_UNLOCK(variable) pthread_mutex_unlock(&(variable).mutex)
#define HOOK_TRYLOCK(variable) hook_trylock(&(variable))

#endif
