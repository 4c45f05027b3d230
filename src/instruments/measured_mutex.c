/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measured mutex. See <crest/mutex.h>.
 *
 * While the mutex has its name alone, lock and unlock are inline and write to its permit
 * (permits.h); what is here is the rest. `queue` is raised and lowered in one function. `permit` is
 * raised by the holder, in the mutex's own permit or, noting that in the mutex, in the sampler, and
 * lowered where it finds that, between having the lock and giving it back: once for each time,
 * whatever the way, and mutexes of one name add up. A holder that finds it raised by one that died
 * does not raise it again.
 */
#include <crest/mutex.h>

#include "base/atomic.h"
#include "base/forked.h"
#include "instruments/permits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* In which of the processes that forks made: in the child every sampler begins at zero, and what
 * the parent raised is not to be lowered there. Written while there is one thread. Of 32 bits,
 * since it lies in a public type: it would come back after 2^32 forks each of which was made in
 * the child of the one before, 49 days of one a millisecond, and even then only a mutex that was
 * held all that time would be taken for one of this process. */
static uint32_t mutex_process = 1;

static void mutex_forked(void)
{
    mutex_process++;
}
CREST_FORKED(MUTEXES, mutex_forked)

/* Bit 0 of the owner: the lock was had once more, or raised the sampler, and is given back here.
 * Thread pointers are even. */
#define MUTEX_COLD UINT64_C(1)

/* Whether this thread holds it: no other can write this one's id there, or take it away. */
static int mutex_is_mine(const crest_mutex *mutex)
{
    return (crest_atomic_load(&mutex->owner) & ~MUTEX_COLD) == crest_mutex_self();
}

/* How often the holder has it. Inlined locks leave `depth` alone. */
static unsigned mutex_depth(const crest_mutex *mutex)
{
    return (crest_atomic_load(&mutex->owner) & MUTEX_COLD) != 0 ? mutex->depth : 1;
}

static void mutex_hold_times(crest_mutex *mutex, unsigned depth)
{
    mutex->depth = depth;
    crest_atomic_store(&mutex->owner, crest_mutex_self() | MUTEX_COLD);
}

/* The holder says that it is held, unless one that died has said so. */
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

/* The lock is had. A robust one may still carry the marks of a holder that died. */
static void mutex_hold(crest_mutex *mutex, int result)
{
    if (result == 0 && mutex_is_mine(mutex)) {
        mutex_hold_times(mutex, mutex_depth(mutex) + 1);
        return;
    }
    mutex_hold_times(mutex, 1);
    mutex_raise(mutex);
}

/* The lock is about to be given back; while it is not, no other thread notes anything. */
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

/* Waits for a lock that was not free at once; until: NULL for as long as it takes. */
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

/* After a wait for a condition, cancelled or not, the lock is held again. */
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

/* The options of one of the three metrics; `text` is where its name is put. */
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
