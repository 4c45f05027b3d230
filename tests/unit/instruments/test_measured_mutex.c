/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/mutex.h>: whichever way a call ends, the figures say what is so.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "instruments/permits.h"

#include <errno.h>
#include <sys/wait.h>

CREST_MUTEX(declared_lock, "test.declared");

/* Whether the mutexes are as those that share their name: without a permit of their own. */
static int mutex_shared;

/* Nobody waits longer for another thread of a program that works. */
#define MUTEX_PATIENCE_MS 30000

typedef struct mutex_case {
    crest_mutex lock;
    crest_registry *registry;
    pthread_cond_t wake;
    int waiting, woken; /* under the lock */
} mutex_case;

static void mutex_setup(mutex_case *self, int type, int robust)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust);
    memset(self, 0, sizeof *self);
    pthread_cond_init(&self->wake, NULL);
    self->registry = fixture_registry(NULL);
    assert_int_equal(crest_mutex_init(&self->lock, self->registry, "m", &attributes), CREST_OK);
    pthread_mutexattr_destroy(&attributes);
    if (mutex_shared)
        crest_permit_close(&self->lock.permit->cell->permit);
}

static void mutex_teardown(mutex_case *self)
{
    assert_int_equal(crest_mutex_fini(&self->lock), 0);
    pthread_cond_destroy(&self->wake);
    crest_registry_free(self->registry);
}

/* Nobody waits, and it is held or not. */
static void mutex_stands(const mutex_case *self, int64_t held)
{
    assert_int_equal(crest_range_sampler_value(self->lock.queue), 0);
    assert_int_equal(crest_range_sampler_value(self->lock.permit), held);
}

static uint64_t mutex_acquired(const mutex_case *self, const char *outcome)
{
    crest_snapshot *snapshot = fixture_snapshot(self->registry);
    crest_series_view view;
    crest_snapshot_find(snapshot, "m.lock.acquire", &outcome, 1, &view);
    uint64_t count = crest_distribution_count(view.distribution);
    crest_snapshot_free(snapshot);
    return count;
}

static struct timespec mutex_in(long ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

static void *mutex_die_holding(void *context)
{
    crest_mutex_lock(&((mutex_case *)context)->lock);
    return NULL;
}

static void *mutex_unlock_anothers(void *context)
{
    return (void *)(intptr_t)crest_mutex_unlock(&((mutex_case *)context)->lock);
}

static void *mutex_lock_and_unlock(void *context)
{
    mutex_case *self = context;
    CREST_MUTEX_SCOPE(&self->lock);
    return NULL;
}

static void mutex_clean_up(void *context)
{
    crest_mutex_unlock(&((mutex_case *)context)->lock);
}

static void *mutex_wait_for_ever(void *context)
{
    mutex_case *self = context;
    crest_mutex_lock(&self->lock);
    pthread_cleanup_push(mutex_clean_up, self);
    self->waiting++;
    while (!self->woken)
        crest_mutex_cond_wait(&self->lock, &self->wake);
    pthread_cleanup_pop(1);
    return NULL;
}

static void *mutex_in_thread(void *(*what)(void *), mutex_case *self)
{
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, what, self), 0);
    pthread_join(thread, &result);
    return result;
}

static void test_plain(void **state)
{
    (void)state;
    mutex_case self;
    mutex_setup(&self, PTHREAD_MUTEX_DEFAULT, PTHREAD_MUTEX_STALLED);
    mutex_stands(&self, 0);
    assert_int_equal(crest_mutex_lock(&self.lock), 0);
    mutex_stands(&self, 1);
    assert_int_equal(crest_mutex_trylock(&self.lock), EBUSY);
    mutex_stands(&self, 1);
    /* an unlock by a thread that does not hold it */
    assert_int_equal((intptr_t)mutex_in_thread(mutex_unlock_anothers, &self), EPERM);
    mutex_stands(&self, 1);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    mutex_stands(&self, 0);
    assert_int_equal(crest_mutex_unlock(&self.lock), EPERM);
    assert_int_equal(crest_mutex_trylock(&self.lock), 0);
    mutex_stands(&self, 1);
    struct timespec until = mutex_in(10);
    assert_int_equal(crest_mutex_timedlock(&self.lock, &until), ETIMEDOUT);
    mutex_stands(&self, 1);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    mutex_stands(&self, 0);
    assert_int_equal(mutex_acquired(&self, "ok"), 2);
    assert_int_equal(mutex_acquired(&self, "timeout"), 1);
    mutex_teardown(&self);
}

static void test_checked_and_recursive(void **state)
{
    (void)state;
    mutex_case self;
    mutex_setup(&self, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
    assert_int_equal(crest_mutex_lock(&self.lock), 0);
    assert_int_equal(crest_mutex_lock(&self.lock), EDEADLK);
    mutex_stands(&self, 1);
    {
        CREST_MUTEX_SCOPE(&self.lock); /* refused, and so not unlocked at the end */
    }
    mutex_stands(&self, 1);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    mutex_stands(&self, 0);
    assert_int_equal(mutex_acquired(&self, "error"), 2);
    mutex_teardown(&self);
    mutex_setup(&self, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
    for (int i = 0; i < 3; i++)
        assert_int_equal(crest_mutex_lock(&self.lock), 0);
    assert_int_equal(crest_mutex_cond_wait(&self.lock, &self.wake), EPERM);
    for (int i = 0; i < 3; i++) {
        mutex_stands(&self, 1);
        assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    }
    mutex_stands(&self, 0);
    mutex_teardown(&self);
}

/* The holder died: the lock is held by who has it next, and then by nobody. */
static void test_owner_died(void **state)
{
    (void)state;
    mutex_case self;
    mutex_setup(&self, PTHREAD_MUTEX_DEFAULT, PTHREAD_MUTEX_ROBUST);
    mutex_in_thread(mutex_die_holding, &self);
    mutex_stands(&self, 1);
    assert_int_equal(crest_mutex_lock(&self.lock), EOWNERDEAD);
    mutex_stands(&self, 1);
    assert_int_equal(crest_mutex_consistent(&self.lock), 0);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    mutex_stands(&self, 0);
    mutex_in_thread(mutex_die_holding, &self);
    assert_int_equal(crest_mutex_lock(&self.lock), EOWNERDEAD);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0); /* not made consistent */
    assert_int_equal(crest_mutex_lock(&self.lock), ENOTRECOVERABLE);
    mutex_stands(&self, 0);
    assert_int_equal(mutex_acquired(&self, "ok"), 4);
    mutex_teardown(&self);
}

static void mutex_await(const crest_range_sampler *sampler, int64_t value)
{
    for (int i = 0; i < MUTEX_PATIENCE_MS && crest_range_sampler_value(sampler) != value; i++)
        usleep(1000);
    assert_int_equal(crest_range_sampler_value(sampler), value);
}

static void test_contended(void **state)
{
    (void)state;
    mutex_case self;
    pthread_t threads[3];
    mutex_setup(&self, PTHREAD_MUTEX_DEFAULT, PTHREAD_MUTEX_STALLED);
    crest_mutex_lock(&self.lock);
    for (size_t i = 0; i < LENGTH(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, mutex_lock_and_unlock, &self), 0);
    mutex_await(self.lock.queue, LENGTH(threads));
    usleep(2000);
    crest_mutex_unlock(&self.lock);
    for (size_t i = 0; i < LENGTH(threads); i++)
        pthread_join(threads[i], NULL);
    mutex_stands(&self, 0);
    crest_snapshot *snapshot = fixture_snapshot(self.registry);
    crest_series_view view = fixture_series(snapshot, "m.lock.acquire", "ok");
    assert_int_equal(crest_distribution_count(view.distribution), 1 + LENGTH(threads));
    assert_int_equal(crest_distribution_min(view.distribution), 0);
    assert_true(crest_distribution_max(view.distribution) >= 2000000);
    crest_snapshot_free(snapshot);
    mutex_teardown(&self);
}

/* While a condition is waited for the lock is free; a cancelled waiter gives it back, too. */
static void test_condition(void **state)
{
    (void)state;
    mutex_case self;
    pthread_t waiting, cancelled;
    mutex_setup(&self, PTHREAD_MUTEX_DEFAULT, PTHREAD_MUTEX_STALLED);
    assert_int_equal(pthread_create(&cancelled, NULL, mutex_wait_for_ever, &self), 0);
    assert_int_equal(pthread_create(&waiting, NULL, mutex_wait_for_ever, &self), 0);
    /* who has the lock while both are counted has it from the second's wait */
    int both = 0;
    for (int i = 0; i < MUTEX_PATIENCE_MS && !both; i++) {
        usleep(1000);
        crest_mutex_lock(&self.lock);
        both = self.waiting == 2;
        crest_mutex_unlock(&self.lock);
    }
    assert_true(both);
    mutex_stands(&self, 0);
    pthread_cancel(cancelled);
    pthread_join(cancelled, NULL);
    mutex_stands(&self, 0);
    crest_mutex_lock(&self.lock);
    mutex_stands(&self, 1);
    struct timespec until = mutex_in(5);
    assert_int_equal(crest_mutex_cond_timedwait(&self.lock, &self.wake, &until), ETIMEDOUT);
    mutex_stands(&self, 1);
    self.woken = 1;
    pthread_cond_broadcast(&self.wake);
    crest_mutex_unlock(&self.lock);
    pthread_join(waiting, NULL);
    mutex_stands(&self, 0);
    assert_int_equal(crest_mutex_cond_wait(&self.lock, &self.wake), EPERM);
    mutex_teardown(&self);
}

static void test_declared(void **state)
{
    (void)state;
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    assert_int_equal(fixture_series(snapshot, "test.declared.lock.queue", NULL).current, 0);
    assert_int_equal(fixture_series(snapshot, "test.declared.lock.permit", NULL).current, 0);
    fixture_series(snapshot, "test.declared.lock.acquire", "ok");
    crest_snapshot_free(snapshot);
    for (int i = 0; i < 2; i++) {
        CREST_MUTEX_SCOPE(&declared_lock);
        assert_int_equal(crest_range_sampler_value(declared_lock.permit), 1);
        if (i == 0)
            continue;
    }
    assert_int_equal(crest_range_sampler_value(declared_lock.permit), 0);
    crest_mutex odd;
    assert_int_equal(crest_mutex_init(&odd, NULL, "9", NULL), CREST_INVALID_NAME);
    assert_int_equal(crest_mutex_lock(&odd), 0);
    assert_int_equal(crest_mutex_unlock(&odd), 0);
    assert_int_equal(crest_mutex_fini(&odd), 0);
}

/* Mutexes of one name, as those of the parts of one table: the permit says how many are held. */
static void test_one_name(void **state)
{
    (void)state;
    mutex_case self;
    crest_mutex other;
    mutex_setup(&self, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
    assert_int_equal(crest_mutex_init(&other, self.registry, "m", NULL), CREST_OK);
    assert_int_equal(crest_mutex_lock(&self.lock), 0);
    assert_int_equal(crest_mutex_lock(&other), 0);
    mutex_stands(&self, 2);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    mutex_stands(&self, 1);
    assert_int_equal(crest_mutex_unlock(&other), 0);
    mutex_stands(&self, 0);
    assert_int_equal(crest_mutex_fini(&other), 0);
    mutex_teardown(&self);
}

/* A child begins at zero, also while it holds what its parent locked. */
static void test_forked(void **state)
{
    (void)state;
    mutex_case self;
    mutex_setup(&self, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
    assert_int_equal(crest_mutex_lock(&self.lock), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int right =
            crest_mutex_unlock(&self.lock) == 0 &&
            crest_range_sampler_value(self.lock.permit) == 0 && crest_mutex_lock(&self.lock) == 0 &&
            crest_range_sampler_value(self.lock.permit) == 1 &&
            crest_mutex_unlock(&self.lock) == 0 && crest_range_sampler_value(self.lock.permit) == 0;
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    mutex_stands(&self, 1);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    mutex_stands(&self, 0);
    mutex_teardown(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forked),     cmocka_unit_test(test_one_name),
        cmocka_unit_test(test_plain),      cmocka_unit_test(test_checked_and_recursive),
        cmocka_unit_test(test_owner_died), cmocka_unit_test(test_contended),
        cmocka_unit_test(test_condition),  cmocka_unit_test(test_declared),
    };
    fixture_watchdog(170);
    /* permits are written where the counter is the clock, which it is after some milliseconds */
    for (int i = 0; i < MUTEX_PATIENCE_MS && crest_clock_source_now() != CREST_CLOCK_COUNTER; i++) {
        crest_now();
        usleep(1000);
    }
    int failed = cmocka_run_group_tests_name("measured_mutex", tests, NULL, NULL);
    mutex_shared = 1;
    return failed + cmocka_run_group_tests_name("measured_mutex_shared", tests, NULL, NULL);
}
