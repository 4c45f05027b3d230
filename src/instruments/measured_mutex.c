/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measured mutex. See <crest/mutex.h>.
 *
 * While its name is this mutex's alone, lock and unlock are inline and write to its permit
 * (permits.h); here is the rest.
 *  - `queue` is raised and lowered in one function.
 *  - `permit` is raised by the holder, once per lock: in the mutex's own permit, or in the sampler,
 *    noting that in the mutex. It is lowered where the holder finds it raised. So mutexes of one
 *    name add up. A holder that finds it raised by a thread that died does not raise it again.
 */
#include <crest/mutex.h>

#include "base/atomic.h"
#include "base/forked.h"
#include "instruments/permits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The process's number among forked processes. In a child every sampler begins at zero, so it must
 * not be lowered for what the parent raised. Written while there is one thread. 32 bits, since it
 * lies in a public type. It wraps after 2^32 nested forks, 49 days at one a millisecond; even then
 * only a mutex held all that time would be mistaken. */
static uint32_t mutex_process = 1;

static void mutex_forked(void)
{
    mutex_process++;
}
CREST_FORKED(MUTEXES, mutex_forked)

/* Bit 0 of the owner: unlock takes the cold path, because the lock is held recursively or the
 * sampler was raised. Thread pointers are even. */
#define MUTEX_COLD UINT64_C(1)

/* Whether this thread holds it. Only this thread writes its id there or removes it. */
static int mutex_is_mine(const crest_mutex *mutex)
{
    return (crest_atomic_load(&mutex->owner) & ~MUTEX_COLD) == crest_mutex_self();
}

/* The holder's recursion depth. Inlined locks leave `depth` alone. */
static unsigned mutex_depth(const crest_mutex *mutex)
{
    return (crest_atomic_load(&mutex->owner) & MUTEX_COLD) != 0 ? mutex->depth : 1;
}

static void mutex_hold_times(crest_mutex *mutex, unsigned depth)
{
    mutex->depth = depth;
    crest_atomic_store(&mutex->owner, crest_mutex_self() | MUTEX_COLD);
}

/* By the holder: raises the permit or sampler, unless a holder that died left it raised. */
static void mutex_raise(crest_mutex *mutex)
{
    if (mutex->permitted == mutex_process || crest_permit_is_raised(mutex))
        return;
    if (crest_permit_raise(mutex)) {
        crest_atomic_store(&mutex->owner, crest_mutex_self());
        return;
    }
    mutex->permitted = mutex_process;
    crest_range_sampler_add(mutex->permit, 1);
}

/* After taking the lock. A robust mutex may still carry the marks of a holder that died. */
static void mutex_hold(crest_mutex *mutex, int result)
{
    if (result == 0 && mutex_is_mine(mutex)) {
        mutex_hold_times(mutex, mutex_depth(mutex) + 1);
        return;
    }
    mutex_hold_times(mutex, 1);
    mutex_raise(mutex);
}

/* Before releasing the lock: until then no other thread writes these words. */
static void mutex_let_go(crest_mutex *mutex)
{
    crest_atomic_store(&mutex->owner, 0);
    if (mutex->permitted == mutex_process)
        crest_range_sampler_add(mutex->permit, -1);
    else if (crest_permit_is_raised(mutex))
        crest_permit_lower(mutex);
    mutex->permitted = 0;
}

static int mutex_is_had(int result)
{
    return result == 0 || result == EOWNERDEAD;
}

/* Waits for a contended lock; until NULL: without a limit. */
static int mutex_wait(crest_mutex *mutex, const struct timespec *until)
{
    uint64_t start_ns = crest_now();
    crest_range_sampler_add(mutex->queue, 1);
    int result =
        until ? pthread_mutex_timedlock(&mutex->mutex, until) : pthread_mutex_lock(&mutex->mutex);
    crest_range_sampler_add(mutex->queue, -1);
    crest_outcome outcome = mutex_is_had(result)  ? CREST_OUTCOME_OK
                            : result == ETIMEDOUT ? CREST_OUTCOME_TIMEOUT
                                                  : CREST_OUTCOME_ERROR;
    crest_timer_record(mutex->acquire, (int64_t)(crest_now() - start_ns), outcome);
    return result;
}

int crest_mutex_trylock_slow(crest_mutex *mutex, int result)
{
    if (mutex_is_had(result)) {
        crest_timer_record(mutex->acquire, 0, CREST_OUTCOME_OK);
        mutex_hold(mutex, result);
    }
    return result;
}

static int mutex_lock_until(crest_mutex *mutex, int result, const struct timespec *until)
{
    if (result != EBUSY)
        return crest_mutex_trylock_slow(mutex, result);
    result = mutex_wait(mutex, until);
    if (mutex_is_had(result))
        mutex_hold(mutex, result);
    return result;
}

int crest_mutex_lock_slow(crest_mutex *mutex, int result)
{
    return mutex_lock_until(mutex, result, NULL);
}

int crest_mutex_timedlock(crest_mutex *mutex, const struct timespec *until)
{
    return mutex_lock_until(mutex, pthread_mutex_trylock(&mutex->mutex), until);
}

int crest_mutex_unlock_slow(crest_mutex *mutex)
{
    if (!mutex_is_mine(mutex))
        return EPERM;
    unsigned depth = mutex_depth(mutex);
    if (depth > 1)
        mutex_hold_times(mutex, depth - 1);
    else
        mutex_let_go(mutex);
    return pthread_mutex_unlock(&mutex->mutex);
}

int crest_mutex_consistent(crest_mutex *mutex)
{
    return pthread_mutex_consistent(&mutex->mutex);
}

/* After a wait for a condition, cancelled or not: the lock is held again. */
static void mutex_regain(void *mutex)
{
    mutex_hold(mutex, EOWNERDEAD);
}

int crest_mutex_cond_timedwait(crest_mutex *mutex, pthread_cond_t *condition,
                               const struct timespec *until)
{
    int result;
    if (!mutex_is_mine(mutex) || mutex_depth(mutex) != 1)
        return EPERM;
    mutex_let_go(mutex);
    pthread_cleanup_push(mutex_regain, mutex);
    result = until ? pthread_cond_timedwait(condition, &mutex->mutex, until)
                   : pthread_cond_wait(condition, &mutex->mutex);
    pthread_cleanup_pop(1);
    return result;
}

int crest_mutex_cond_wait(crest_mutex *mutex, pthread_cond_t *condition)
{
    return crest_mutex_cond_timedwait(mutex, condition, NULL);
}

crest_mutex_scope crest_mutex_scope_begin(crest_mutex *mutex)
{
    crest_mutex_scope scope = {mutex_is_had(crest_mutex_lock(mutex)) ? mutex : NULL};
    return scope;
}

void crest_mutex_scope_end(crest_mutex_scope *scope)
{
    if (scope->held != NULL)
        crest_mutex_unlock(scope->held);
}

/* The options of one of the three metrics; `text` receives its name. */
static crest_metric_options mutex_options(const char *name, const char *word,
                                          const char *description, char *text, size_t size)
{
    crest_metric_options options = {.name = text, .description = description};
    snprintf(text, size, "%s.lock.%s", name != NULL ? name : "", word);
    return options;
}

crest_status crest_mutex_init(crest_mutex *mutex, crest_registry *registry, const char *name,
                              const pthread_mutexattr_t *attributes)
{
    char text[CREST_NAME_BYTES_MAX * 2];
    crest_status queue, permit, acquire;
    memset(mutex, 0, sizeof *mutex);
    mutex->line = &crest_permit_none;
    crest_metric_options options =
        mutex_options(name, "queue", "Threads that wait for the lock.", text, sizeof text);
    mutex->queue = crest_range_sampler_get(registry, &options, &queue);
    options = mutex_options(name, "permit", "Locks of this name that are held.", text, sizeof text);
    mutex->permit = crest_range_sampler_get(registry, &options, &permit);
    options = mutex_options(name, "acquire", "Waiting for the lock.", text, sizeof text);
    mutex->acquire = crest_timer_get(registry, &options, &acquire);
    if (pthread_mutex_init(&mutex->mutex, attributes) != 0)
        return CREST_SYSTEM;
    return queue != CREST_OK ? queue : permit != CREST_OK ? permit : acquire;
}

int crest_mutex_fini(crest_mutex *mutex)
{
    crest_permit_leave(mutex);
    return pthread_mutex_destroy(&mutex->mutex);
}
