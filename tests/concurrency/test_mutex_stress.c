/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured mutexes while their series are read and their windows change: every lock is counted
 * once, whichever way it was had, what is read only grows, and in the end nothing is held. With one
 * mutex that has its name alone, with two that share it from some moment on, and with mutexes that
 * come and go.
 */
#include "base/atomic.h"
#include "cells/range_cell.h"
#include "support/core_fixture.h"

#include <errno.h>

#define LOCKERS 3
#define PATIENCE_MS 30000

typedef struct mutex_stress {
    crest_registry *registry;
    crest_mutex lock[2];
    unsigned locks;
    uint64_t taken;   /* by all threads, under no lock */
    uint64_t guarded; /* under lock[0], without atomics */
    uint64_t done, wrong, readings;
    pthread_barrier_t barrier;
} mutex_stress;

static uint64_t mutex_counted(mutex_stress *s)
{
    static const char *const outcomes[] = {"ok"};
    crest_snapshot *snapshot = crest_snapshot_take(s->registry);
    crest_series_view view;
    crest_snapshot_find(snapshot, "m.lock.acquire", outcomes, 1, &view);
    uint64_t count = crest_distribution_count(view.distribution);
    crest_snapshot_free(snapshot);
    return count;
}

static void *mutex_lock_all(void *argument)
{
    mutex_stress *s = argument;
    uint64_t taken = 0;
    pthread_barrier_wait(&s->barrier);
    for (int i = 0; i < FIXTURE_TIMES(200000); i++) {
        crest_mutex *lock = &s->lock[(unsigned)i % s->locks];
        int result = i % 3 == 0 ? crest_mutex_trylock(lock) : crest_mutex_lock(lock);
        if (result == EBUSY)
            continue;
        crest_atomic_add(&s->wrong, result != 0);
        if (lock == &s->lock[0])
            s->guarded++;
        taken++;
        crest_atomic_add(&s->wrong, crest_mutex_unlock(lock) != 0);
    }
    crest_atomic_add(&s->taken, taken);
    return NULL;
}

static void *mutex_read_all(void *argument)
{
    mutex_stress *s = argument;
    uint64_t before = 0, area = 0;
    pthread_barrier_wait(&s->barrier);
    while (!crest_atomic_load_acquire(&s->done)) {
        uint64_t now = mutex_counted(s);
        crest_atomic_add(&s->wrong, now < before);
        before = now;
        crest_range_reading reading;
        crest_range_rotate(s->lock[0].permit->cell, &reading);
        int64_t most = (int64_t)s->locks;
        crest_atomic_add(&s->wrong, reading.minimum < 0 || reading.value < reading.minimum ||
                                        reading.maximum < reading.value || reading.value > most ||
                                        reading.maximum > (most == 1 ? 1 : 2 * most));
        uint64_t held = (uint64_t)reading.value * reading.time - reading.moment;
        /* without a permit an update that is stopped on its way comes with an earlier time */
        crest_atomic_add(&s->wrong, s->locks == 1 && (int64_t)(held - area) < 0);
        area = held;
        s->readings++;
    }
    return NULL;
}

static void mutex_run(unsigned locks)
{
    mutex_stress s = {.locks = locks};
    pthread_t lockers[LOCKERS], reader;
    while (crest_clock_source_now() != CREST_CLOCK_COUNTER && s.readings++ < PATIENCE_MS) {
        crest_now();
        usleep(1000);
    }
    s.readings = 0;
    s.registry = fixture_registry(NULL);
    for (unsigned i = 0; i < locks; i++)
        assert_int_equal(crest_mutex_init(&s.lock[i], s.registry, "m", NULL), CREST_OK);
    assert_int_equal(pthread_barrier_init(&s.barrier, NULL, LOCKERS + 1), 0);
    assert_int_equal(pthread_create(&reader, NULL, mutex_read_all, &s), 0);
    for (int i = 0; i < LOCKERS; i++)
        assert_int_equal(pthread_create(&lockers[i], NULL, mutex_lock_all, &s), 0);
    for (int i = 0; i < LOCKERS; i++)
        assert_int_equal(pthread_join(lockers[i], NULL), 0);
    crest_atomic_store_release(&s.done, 1);
    assert_int_equal(pthread_join(reader, NULL), 0);
    assert_int_equal(s.wrong, 0);
    assert_true(s.readings > 0 && s.taken >= LOCKERS);
    assert_true(locks > 1 || s.guarded == s.taken);
    assert_int_equal(mutex_counted(&s), s.taken);
    assert_int_equal(crest_range_sampler_value(s.lock[0].permit), 0);
    assert_int_equal(crest_range_sampler_value(s.lock[0].queue), 0);
    crest_range_reading reading;
    crest_range_rotate(s.lock[0].permit->cell, &reading);
    assert_true(reading.value == 0 && (int64_t)(0 - reading.moment) > 0);
    for (unsigned i = 0; i < locks; i++)
        assert_int_equal(crest_mutex_fini(&s.lock[i]), 0);
    pthread_barrier_destroy(&s.barrier);
    crest_registry_free(s.registry);
}

static void test_one(void **state)
{
    (void)state;
    mutex_run(1);
}

/* The second one of the name shares the first one's permit at some moment. */
static void test_two(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        mutex_run(2);
}

/* ---- mutexes that come and go ---- */

#define LIVES 4u

typedef struct mutex_life {
    mutex_stress *stress;
    pthread_mutex_t *turn; /* NULL: nobody waits for the others' mutexes to go */
} mutex_life;

/* Makes, locks and destroys mutexes of the one name; by turns, so that each may have it alone, or
 * all at once. */
static void *mutex_live(void *argument)
{
    mutex_life *life = argument;
    mutex_stress *s = life->stress;
    uint64_t taken = 0;
    pthread_barrier_wait(&s->barrier);
    for (int i = 0; i < FIXTURE_TIMES(4000); i++) {
        crest_mutex lock;
        if (life->turn != NULL)
            pthread_mutex_lock(life->turn);
        crest_atomic_add(&s->wrong, crest_mutex_init(&lock, s->registry, "m", NULL) != CREST_OK);
        for (unsigned turns = 0; turns < LIVES; turns++, taken++) {
            crest_atomic_add(&s->wrong, crest_mutex_lock(&lock) != 0);
            crest_atomic_add(&s->wrong, crest_mutex_unlock(&lock) != 0);
        }
        crest_atomic_add(&s->wrong, crest_mutex_fini(&lock) != 0);
        if (life->turn != NULL)
            pthread_mutex_unlock(life->turn);
    }
    crest_atomic_add(&s->taken, taken);
    return NULL;
}

static void mutex_run_lives(pthread_mutex_t *turn)
{
    mutex_stress s = {.locks = turn != NULL ? 1 : LOCKERS};
    mutex_life life = {&s, turn};
    pthread_t lockers[LOCKERS], reader;
    s.registry = fixture_registry(NULL);
    assert_int_equal(crest_mutex_init(&s.lock[0], s.registry, "m", NULL), CREST_OK);
    assert_int_equal(pthread_barrier_init(&s.barrier, NULL, LOCKERS + 1), 0);
    assert_int_equal(pthread_create(&reader, NULL, mutex_read_all, &s), 0);
    for (int i = 0; i < LOCKERS; i++)
        assert_int_equal(pthread_create(&lockers[i], NULL, mutex_live, &life), 0);
    for (int i = 0; i < LOCKERS; i++)
        assert_int_equal(pthread_join(lockers[i], NULL), 0);
    crest_atomic_store_release(&s.done, 1);
    assert_int_equal(pthread_join(reader, NULL), 0);
    assert_int_equal(s.wrong, 0);
    assert_int_equal(s.taken, (uint64_t)LOCKERS * FIXTURE_TIMES(4000) * LIVES);
    assert_int_equal(mutex_counted(&s), s.taken);
    assert_int_equal(crest_range_sampler_value(s.lock[0].permit), 0);
    assert_int_equal(crest_mutex_fini(&s.lock[0]), 0);
    pthread_barrier_destroy(&s.barrier);
    crest_registry_free(s.registry);
}

static void test_one_after_another(void **state)
{
    (void)state;
    pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    mutex_run_lives(&turn);
}

static void test_many_at_once(void **state)
{
    (void)state;
    mutex_run_lives(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_one_after_another),
        cmocka_unit_test(test_many_at_once),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("mutex_stress", tests, NULL, NULL);
}
