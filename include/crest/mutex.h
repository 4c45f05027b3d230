/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pthread mutex that measures how long threads wait for it, how many wait, and how much it is
 * held.
 *
 *     CREST_MUTEX(dag_lock, "casper.dag");
 *     crest_mutex_lock(&dag_lock);
 *     ...
 *     crest_mutex_unlock(&dag_lock);
 *
 * Exported are, for the name X:
 *
 * - `X.lock.queue`, a range sampler of the threads that wait.
 * - `X.lock.acquire`, a timer of the waiting. A lock that was free counts as 0 ns; a lock that was
 *   not had in time is `timeout`, a refused one `error`.
 * - `X.lock.permit`, a range sampler that is 1 while the lock is held, else 0; its mean is the part
 *   of the time that the lock is busy.
 *
 * Mutexes of one name add up: how many of them are held, and how many threads wait for one of them.
 *
 * The figures stay right on every way out of a call: a thread that does not get the lock stops
 * counting as waiting, and only the holder writes that it is held. A recursive mutex is held until
 * its last unlock. While a thread waits for a condition, it does not hold the lock; the time it
 * then takes to get the lock back is not measured.
 *
 * Uncontended cost, beside a lock and an unlock of a plain mutex: two readings of the processor's
 * counter and some thirty instructions. It is so little because the holder writes the figures with
 * plain stores. That holds for a mutex that has its name alone. Live mutexes of one name share the
 * figures, and each pair takes about 25 ns more (docs/performance.md); so it does where the counter
 * is not the clock.
 */
#ifndef CREST_MUTEX_H
#define CREST_MUTEX_H

#include <crest/range_sampler.h>
#include <crest/registry.h>
#include <crest/timer.h>

#include <pthread.h>
#include <time.h>

/* Public so that it can be static; only the library looks inside. */
typedef struct crest_mutex {
    pthread_mutex_t mutex;
    crest_range_sampler *queue;
    crest_range_sampler *permit;
    crest_timer *acquire;
    uint64_t owner;     /* crest_mutex_self() of the holder, or that + 1: see depth; 0: no holder */
    unsigned depth;     /* the holder's: locks without an unlock yet; 1 when owner is even */
    uint32_t permitted; /* the holder's: whether, and in which process, the sampler was raised */
    crest_permit *line; /* the holder's: its permit word's place, or crest_permit_none */
    uint64_t *zeros;    /* likewise: where it counts a lock that was free */
} crest_mutex;

#ifndef CREST_DISABLE
CREST_BEGIN_C
/* The library's: a permit that belongs to no mutex, and stays zero. */
extern CREST_API crest_permit crest_permit_none;
CREST_END_C
#endif

/* What CREST_MUTEX and CREST_MUTEX_DEFINE have in common. */
#ifndef CREST_DISABLE
#define CREST_MUTEX_OF_(linkage, variable, name)                                                   \
    CREST_RANGE_SAMPLER(variable##_crest_queue, name ".lock.queue",                                \
                        "Threads that wait for the lock.");                                        \
    CREST_TIMER(variable##_crest_acquire, name ".lock.acquire", "Waiting for the lock.");          \
    CREST_RANGE_SAMPLER(variable##_crest_permit, name ".lock.permit",                              \
                        "Locks of this name that are held.");                                      \
    linkage crest_mutex variable = {PTHREAD_MUTEX_INITIALIZER,                                     \
                                    &variable##_crest_queue,                                       \
                                    &variable##_crest_permit,                                      \
                                    &variable##_crest_acquire,                                     \
                                    0,                                                             \
                                    0,                                                             \
                                    0,                                                             \
                                    &crest_permit_none,                                            \
                                    NULL}
#else
#define CREST_MUTEX_OF_(linkage, variable, name)                                                   \
    linkage crest_mutex variable = {                                                               \
        PTHREAD_MUTEX_INITIALIZER, NULL, NULL, NULL, 0, 0, 0, NULL, NULL}
#endif

/*
 * CREST_MUTEX(variable, name): a static mutex of the default kind and its three metrics, which
 * exist as zero from program load on. `name` is a literal. _DECLARE goes into a header and _DEFINE
 * into one source file, for a mutex used by several.
 */
#define CREST_MUTEX(variable, name) CREST_MUTEX_OF_(static, variable, name)
#define CREST_MUTEX_DECLARE(variable) extern crest_mutex variable
#define CREST_MUTEX_DEFINE(variable, name) CREST_MUTEX_OF_(, variable, name)

CREST_BEGIN_C

/*
 * A mutex at run time, of the kind that `attributes` say (NULL: the default; recursive, checked and
 * robust ones too, but not shared between processes), with its metrics in the registry (NULL: the
 * default one). Returns why a metric could not be had, as crest_timer_get does; the mutex locks all
 * the same. CREST_SYSTEM when it could not be made. Any thread; not for signal handlers. fini
 * destroys the mutex, which must be free and have no waiting thread.
 */
CREST_API crest_status crest_mutex_init(crest_mutex *mutex, crest_registry *registry,
                                        const char *name, const pthread_mutexattr_t *attributes);
CREST_API int crest_mutex_fini(crest_mutex *mutex);

/* The cold paths of lock, trylock and unlock: a lock that is not free, that this thread holds
 * already, or that shares its name. `result` is pthread_mutex_trylock's. */
CREST_API int crest_mutex_lock_slow(crest_mutex *mutex, int result);
CREST_API int crest_mutex_trylock_slow(crest_mutex *mutex, int result);
CREST_API int crest_mutex_unlock_slow(crest_mutex *mutex);

#ifndef CREST_DISABLE
/* The calling thread: its thread pointer, which is even. */
CREST_INLINE uint64_t crest_mutex_self(void)
{
#if defined(__x86_64__) && defined(__LP64__)
    uint64_t self;
    __asm__("movq %%fs:0, %0" : "=r"(self));
    return self;
#else
    return (uint64_t)(uintptr_t)pthread_self();
#endif
}

/* Whether the calling thread is `owner`. */
CREST_INLINE int crest_mutex_is_self(uint64_t owner)
{
#if defined(__x86_64__) && defined(__LP64__)
    unsigned char same;
    __asm__("cmpq %%fs:0, %1" : "=@ccz"(same) : "r"(owner));
    return same;
#else
    return owner == crest_mutex_self();
#endif
}

/* Holder: changes its permit word from `held` at this reading of the counter; at the negated
 * reading when it unlocks. */
CREST_INLINE void crest_permit_change(crest_permit *permit, uint64_t held, uint64_t count)
{
    __atomic_store_n(&permit->held, held + (count << CREST_PERMIT_BITS) + 1, __ATOMIC_RELAXED);
}

/* Holder of a lock that was free: counts that, and writes that it is held. Returns 0 when this path
 * may not: another mutex has the permit, or the word says held. */
CREST_INLINE int crest_mutex_note(crest_mutex *mutex)
{
#ifdef CREST_CLOCK_READ
    crest_permit *permit = mutex->line;
    uint64_t held;
    if (CREST_UNLIKELY(__atomic_load_n(&permit->user, __ATOMIC_RELAXED) != (uintptr_t)mutex))
        return 0;
    held = __atomic_load_n(&permit->held, __ATOMIC_RELAXED);
    if (CREST_UNLIKELY((held & 1) != 0)) /* by this thread, or by a thread that died */
        return 0;
    crest_word_add(mutex->zeros, 1);
    crest_permit_change(permit, held, CREST_CLOCK_READ());
    __atomic_store_n(&mutex->owner, crest_mutex_self(), __ATOMIC_RELAXED);
    return 1;
#else
    (void)mutex;
    return 0;
#endif
}

/*
 * As their pthread namesakes, whose errors they return. EOWNERDEAD means that the lock is held, as
 * there; trylock's EBUSY is not recorded. unlock by a thread that does not hold the lock is EPERM,
 * whatever the kind of mutex, and changes nothing. Any thread; not for signal handlers. Cost:
 * inline, the C library's call and a reading of the counter; a call more for a lock that is not
 * free, or that shares its name.
 */
CREST_INLINE int crest_mutex_lock(crest_mutex *mutex)
{
    int result = pthread_mutex_trylock(&mutex->mutex);
    if (CREST_UNLIKELY(result != 0 || !crest_mutex_note(mutex)))
        return crest_mutex_lock_slow(mutex, result);
    return 0;
}

CREST_INLINE int crest_mutex_trylock(crest_mutex *mutex)
{
    int result = pthread_mutex_trylock(&mutex->mutex);
    if (CREST_UNLIKELY(result != 0 || !crest_mutex_note(mutex)))
        return crest_mutex_trylock_slow(mutex, result);
    return 0;
}

CREST_INLINE int crest_mutex_unlock(crest_mutex *mutex)
{
#ifdef CREST_CLOCK_READ
    if (CREST_LIKELY(crest_mutex_is_self(__atomic_load_n(&mutex->owner, __ATOMIC_RELAXED)))) {
        crest_permit *permit = mutex->line;
        /* differs where mutexes share the permit meanwhile, and in the child of a fork */
        if (CREST_LIKELY(__atomic_load_n(&permit->user, __ATOMIC_RELAXED) == (uintptr_t)mutex)) {
            uint64_t held = __atomic_load_n(&permit->held, __ATOMIC_RELAXED);
            crest_permit_change(permit, held, 0 - CREST_CLOCK_READ());
            __atomic_store_n(&mutex->owner, 0, __ATOMIC_RELAXED);
            return pthread_mutex_unlock(&mutex->mutex);
        }
    }
#endif
    return crest_mutex_unlock_slow(mutex);
}
#endif

/* As pthread_mutex_timedlock; otherwise as crest_mutex_lock. */
CREST_API int crest_mutex_timedlock(crest_mutex *mutex, const struct timespec *until);
/* After EOWNERDEAD: what the lock guards is whole again. */
CREST_API int crest_mutex_consistent(crest_mutex *mutex);

/*
 * Waits for a condition and gives the lock back meanwhile. The caller holds the lock, once; EPERM
 * if not. A thread that is cancelled in there holds the lock when its clean-up handlers run, and
 * gives it back by crest_mutex_unlock.
 */
CREST_API int crest_mutex_cond_wait(crest_mutex *mutex, pthread_cond_t *condition);
CREST_API int crest_mutex_cond_timedwait(crest_mutex *mutex, pthread_cond_t *condition,
                                         const struct timespec *until);

/* What CREST_MUTEX_SCOPE declares: the mutex that it has locked, NULL if that was refused. */
typedef struct crest_mutex_scope {
    crest_mutex *held;
} crest_mutex_scope;

CREST_API crest_mutex_scope crest_mutex_scope_begin(crest_mutex *mutex);
CREST_API void crest_mutex_scope_end(crest_mutex_scope *scope);

CREST_END_C

/* CREST_MUTEX_SCOPE(mutex): a declaration. Locks the crest_mutex * and unlocks it when the block is
 * left, in whatever way, by an exception too. */
#define CREST_MUTEX_SCOPE(mutex)                                                                   \
    __attribute__((cleanup(crest_mutex_scope_end), unused)) crest_mutex_scope CREST_PASTE_(        \
        crest_mutex_scope_of_, __COUNTER__) = crest_mutex_scope_begin(mutex)

#ifdef CREST_DISABLE
#include <crest/off/mutex_off.h>
#endif

#endif
