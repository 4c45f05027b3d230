/* SPDX-License-Identifier: Apache-2.0 */
/* What mutex.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_MUTEX_OFF_H
#define CREST_MUTEX_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

#if defined(__STRICT_ANSI__) && !defined(__cplusplus)
extern int pthread_mutex_timedlock(pthread_mutex_t *, const struct timespec *);
extern int pthread_mutex_consistent(pthread_mutex_t *);
#endif

CREST_API crest_status crest_mutex_init(crest_mutex *mutex, crest_registry *registry,
                                        const char *name, const pthread_mutexattr_t *attributes)
{
    (void)registry, (void)name;
    __builtin_memset(mutex, 0, sizeof *mutex);
    return pthread_mutex_init(&mutex->mutex, attributes) == 0 ? CREST_OK : CREST_SYSTEM;
}

CREST_API int crest_mutex_fini(crest_mutex *mutex)
{
    return pthread_mutex_destroy(&mutex->mutex);
}

CREST_API int crest_mutex_lock(crest_mutex *mutex)
{
    return pthread_mutex_lock(&mutex->mutex);
}

CREST_API int crest_mutex_trylock(crest_mutex *mutex)
{
    return pthread_mutex_trylock(&mutex->mutex);
}

CREST_API int crest_mutex_timedlock(crest_mutex *mutex, const struct timespec *until)
{
    return pthread_mutex_timedlock(&mutex->mutex, until);
}

CREST_API int crest_mutex_unlock(crest_mutex *mutex)
{
    return pthread_mutex_unlock(&mutex->mutex);
}

CREST_API int crest_mutex_consistent(crest_mutex *mutex)
{
    return pthread_mutex_consistent(&mutex->mutex);
}

CREST_API int crest_mutex_cond_wait(crest_mutex *mutex, pthread_cond_t *condition)
{
    return pthread_cond_wait(condition, &mutex->mutex);
}

CREST_API int crest_mutex_cond_timedwait(crest_mutex *mutex, pthread_cond_t *condition,
                                         const struct timespec *until)
{
    return pthread_cond_timedwait(condition, &mutex->mutex, until);
}

CREST_API crest_mutex_scope crest_mutex_scope_begin(crest_mutex *mutex)
{
    crest_mutex_scope scope = {crest_mutex_lock(mutex) == 0 ? mutex : NULL};
    return scope;
}

CREST_API void crest_mutex_scope_end(crest_mutex_scope *scope)
{
    if (scope->held != NULL)
        crest_mutex_unlock(scope->held);
}

CREST_API int crest_mutex_lock_slow(crest_mutex *mutex, int result)
{
    (void)mutex, (void)result;
    return 0;
}

CREST_API int crest_mutex_trylock_slow(crest_mutex *mutex, int result)
{
    (void)mutex, (void)result;
    return 0;
}

CREST_API int crest_mutex_unlock_slow(crest_mutex *mutex)
{
    (void)mutex;
    return 0;
}

CREST_API uint64_t crest_mutex_self(void)
{
    return 0;
}

CREST_API int crest_mutex_is_self(uint64_t owner)
{
    (void)owner;
    return 0;
}

CREST_API void crest_permit_change(crest_permit *permit, uint64_t held, uint64_t count)
{
    (void)permit, (void)held, (void)count;
}

CREST_API int crest_mutex_note(crest_mutex *mutex)
{
    (void)mutex;
    return 0;
}

CREST_END_C

#endif
