/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permits.h: what a permit says between two looks, which mutex has it and for how long, and that
 * the name's series say the same whichever way the figures went.
 */
#include "support/core_fixture.h"
#include "cells/range_cell.h"
#include "instruments/permits.h"
#include "windows/ticker.h"

#include <crest/lifetime.h>
#include <errno.h>
#include <sys/wait.h>

#ifndef CREST_CLOCK_READ
#define CREST_CLOCK_READ() UINT64_C(1) /* as permit_cell.h has it where there is no counter */
#endif

#define LINE_PATIENCE_MS 30000

typedef struct line_case {
    crest_registry *registry;
    crest_mutex lock;
} line_case;

/* Lines are written where the counter is the clock, which takes a program's first milliseconds. */
static void line_setup(line_case *self)
{
    for (int i = 0; i < LINE_PATIENCE_MS && crest_clock_source_now() != CREST_CLOCK_COUNTER; i++) {
        crest_now();
        usleep(1000);
    }
    if (crest_clock_source_now() != CREST_CLOCK_COUNTER) {
        print_message("the clock of this machine is the kernel's: no mutex has a line\n");
        skip();
    }
    self->registry = fixture_registry(NULL);
    assert_int_equal(crest_mutex_init(&self->lock, self->registry, "m", NULL), CREST_OK);
}

static void line_teardown(line_case *self)
{
    assert_int_equal(crest_mutex_fini(&self->lock), 0);
    crest_registry_free(self->registry);
}

static void line_turn(crest_mutex *lock, unsigned times)
{
    while (times-- != 0) {
        assert_int_equal(crest_mutex_lock(lock), 0);
        assert_int_equal(crest_mutex_unlock(lock), 0);
    }
}

static uint64_t line_acquired(crest_registry *registry)
{
    return FIXTURE_READING(registry, "m.lock.acquire", "outcome", "ok").count;
}

/* ---- looks ---- */

#define LOOK_TICKS 1000u

static void look_turn(crest_permit *permit, uint64_t from, uint64_t to)
{
    crest_permit_change(permit, permit->held, from);
    crest_permit_change(permit, permit->held, 0 - to);
}

/* A permit that was seen LOOK_TICKS ticks before the next look, which is at `time`. */
static crest_range_reading look(crest_permit *permit, uint64_t time)
{
    crest_range_reading reading = {.time = time};
    crest_permit_read(permit, &reading);
    return reading;
}

/* The counter is the processor's own, so what is held is said in parts of what has passed. */
static void test_looks(void **state)
{
    (void)state;
    uint64_t now = CREST_CLOCK_READ();
    const uint64_t day = UINT64_C(1) << 48;
    crest_permit permit = {.seen_count = now - day, .seen_time = 5};
    crest_range_reading reading = look(&permit, 5 + LOOK_TICKS);
    assert_true(reading.minimum == 0 && reading.maximum == 0 && reading.value == 0);
    assert_int_equal(permit.area, 0);
    assert_int_equal(reading.moment, 0);

    permit.seen_count = now - day;
    look_turn(&permit, now - day / 4, now);
    reading = look(&permit, 5 + 2 * LOOK_TICKS);
    assert_true(reading.minimum == 0 && reading.maximum == 1 && reading.value == 0);
    assert_in_range(permit.area, LOOK_TICKS / 4 - 1, LOOK_TICKS / 4);
    assert_int_equal(0 - reading.moment, permit.area);

    /* held from the middle on */
    uint64_t area = permit.area;
    permit.seen_count = now - day;
    crest_permit_change(&permit, permit.held, now - day / 2);
    reading = look(&permit, 5 + 3 * LOOK_TICKS);
    assert_true(reading.minimum == 0 && reading.maximum == 1 && reading.value == 1);
    assert_in_range(permit.area - area, LOOK_TICKS / 2 - 1, LOOK_TICKS / 2 + 1);
    assert_int_equal(reading.value * reading.time - reading.moment, permit.area);

    /* and all the time: what it stood at does not change */
    area = permit.area;
    reading = look(&permit, 5 + 4 * LOOK_TICKS);
    assert_true(reading.minimum == 1 && reading.maximum == 1 && reading.value == 1);
    assert_in_range(permit.area - area, LOOK_TICKS - 1, LOOK_TICKS);
}

/* Held at both looks, but by one after the other: it was free in between, however shortly. */
static void test_looks_between_holders(void **state)
{
    (void)state;
    uint64_t now = CREST_CLOCK_READ();
    crest_permit permit = {.seen_count = now, .seen_time = 5};
    crest_permit_change(&permit, permit.held, now);
    look(&permit, 6);
    crest_permit_change(&permit, permit.held, 0 - now);
    crest_permit_change(&permit, permit.held, now);
    crest_range_reading reading = look(&permit, 7);
    assert_true(reading.minimum == 0 && reading.maximum == 1 && reading.value == 1);
}

/* A turn within one count of the counter is a turn. */
static void test_looks_see_the_shortest(void **state)
{
    (void)state;
    uint64_t now = CREST_CLOCK_READ();
    crest_permit permit = {.seen_count = now, .seen_time = 5};
    look_turn(&permit, now, now);
    crest_range_reading reading = look(&permit, 6);
    assert_true(reading.minimum == 0 && reading.maximum == 1 && reading.value == 0);
    reading = look(&permit, 7);
    assert_true(reading.minimum == 0 && reading.maximum == 0 && permit.area == 0);
}

/* A counter that is behind what it was gives no time, and one that began again under a holder no
 * more than has passed. */
static void test_looks_of_a_counter_that_began_again(void **state)
{
    (void)state;
    uint64_t now = CREST_CLOCK_READ(), far = UINT64_C(1) << 52;
    crest_permit permit = {.seen_count = now + far, .seen_time = 5};
    look_turn(&permit, now + far, now + far + far / 2);
    look(&permit, 5 + LOOK_TICKS);
    assert_int_equal(permit.area, 0);
    permit = (crest_permit){.seen_count = now, .seen_time = 5};
    crest_permit_change(&permit, 0, now + far);
    look(&permit, 5 + LOOK_TICKS);
    assert_int_equal(permit.area, 0);
    permit = (crest_permit){.seen_count = now, .seen_time = 5};
    crest_permit_change(&permit, 0, now - far);
    look(&permit, 5 + LOOK_TICKS);
    assert_int_equal(permit.area, LOOK_TICKS);
}

/* ---- which mutex has it ---- */

static void test_first_lock_claims(void **state)
{
    (void)state;
    line_case self;
    line_setup(&self);
    assert_ptr_equal(self.lock.line, &crest_permit_none);
    line_turn(&self.lock, 1);
    assert_ptr_equal(self.lock.line, &self.lock.permit->cell->permit);
    assert_int_equal(self.lock.line->user, (uintptr_t)&self.lock);
    line_turn(&self.lock, 9);
    assert_int_equal(*self.lock.zeros, 9);
    assert_int_equal(crest_mutex_trylock(&self.lock), 0);
    assert_int_equal(crest_range_sampler_value(self.lock.permit), 1);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    assert_int_equal(crest_range_sampler_value(self.lock.permit), 0);
    assert_int_equal(line_acquired(self.registry), 11);
    crest_snapshot *snapshot = fixture_snapshot(self.registry);
    const crest_distribution *waits = fixture_series(snapshot, "m.lock.acquire", "ok").distribution;
    assert_int_equal(crest_distribution_min(waits), 0);
    assert_int_equal(crest_distribution_max(waits), 0);
    assert_int_equal(crest_distribution_sum(waits), 0);
    crest_snapshot_free(snapshot);
    line_teardown(&self);
}

/* The least of them is 0 where the figures were inline from the second lock on, after a wait. */
static void test_least(void **state)
{
    (void)state;
    line_case self;
    line_setup(&self);
    crest_timer_record(self.lock.acquire, 5000, CREST_OUTCOME_OK);
    assert_true(crest_permit_raise(&self.lock));
    crest_permit_lower(&self.lock);
    crest_snapshot *snapshot = fixture_snapshot(self.registry);
    const crest_distribution *waits = fixture_series(snapshot, "m.lock.acquire", "ok").distribution;
    assert_int_equal(crest_distribution_count(waits), 1);
    assert_int_equal(crest_distribution_min(waits), 5000);
    crest_snapshot_free(snapshot);
    line_turn(&self.lock, 3);
    snapshot = fixture_snapshot(self.registry);
    waits = fixture_series(snapshot, "m.lock.acquire", "ok").distribution;
    assert_int_equal(crest_distribution_count(waits), 4);
    assert_int_equal(crest_distribution_min(waits), 0);
    assert_int_equal(crest_distribution_sum(waits), 5000);
    crest_snapshot_free(snapshot);
    line_teardown(&self);
}

/* The second mutex of a name shares the permit, in the middle of the first one's turn too. */
static void test_second_mutex(void **state)
{
    (void)state;
    line_case self;
    crest_mutex other;
    line_setup(&self);
    line_turn(&self.lock, 3);
    crest_permit *line = self.lock.line;
    assert_int_equal(crest_mutex_lock(&self.lock), 0);
    assert_int_equal(crest_mutex_init(&other, self.registry, "m", NULL), CREST_OK);
    assert_int_equal(crest_mutex_lock(&other), 0);
    assert_int_equal(line->user, CREST_PERMIT_SHARED);
    assert_ptr_equal(other.line, &crest_permit_none);
    assert_int_equal(crest_range_sampler_value(self.lock.permit), 2);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    assert_int_equal(crest_range_sampler_value(self.lock.permit), 1);
    assert_int_equal(crest_mutex_lock(&self.lock), 0);
    assert_false(crest_permit_is_held(line));
    assert_int_equal(crest_range_sampler_value(self.lock.permit), 2);
    crest_range_reading reading;
    crest_range_rotate(self.lock.permit->cell, &reading);
    assert_int_equal(reading.value, 2);
    assert_true(reading.maximum >= 2 && reading.minimum == 0);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    assert_int_equal(crest_mutex_unlock(&other), 0);
    line_turn(&self.lock, 2);
    line_turn(&other, 2);
    assert_int_equal(crest_range_sampler_value(self.lock.permit), 0);
    assert_int_equal(line_acquired(self.registry), 3 + 1 + 1 + 1 + 2 + 2);
    assert_int_equal(crest_mutex_fini(&other), 0);
    line_teardown(&self);
}

/* One mutex after another has the name: the next one goes on with the permit. */
static void test_one_after_another(void **state)
{
    (void)state;
    line_case self;
    line_setup(&self);
    line_turn(&self.lock, 4);
    crest_permit *line = self.lock.line;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(crest_mutex_fini(&self.lock), 0);
        assert_int_equal(line->user, 0);
        assert_int_equal(crest_mutex_init(&self.lock, self.registry, "m", NULL), CREST_OK);
        line_turn(&self.lock, 2);
        assert_ptr_equal(self.lock.line, line);
        assert_int_equal(line->user, (uintptr_t)&self.lock);
    }
    assert_int_equal(line_acquired(self.registry), 4 + 3 * 2);
    line_teardown(&self);
}

/* A series that goes takes its part along; the mutex locks all the same, and nothing is counted
 * where another series may be by then. */
static void test_registry_freed(void **state)
{
    (void)state;
    line_case self;
    line_setup(&self);
    line_turn(&self.lock, 4);
    assert_int_equal(crest_mutex_lock(&self.lock), 0);
    crest_permit *line = self.lock.line;
    uint64_t *zeros = self.lock.zeros, taken = *zeros;
    crest_registry_free(self.registry);
    assert_int_equal(line->user, CREST_PERMIT_SHARED);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    uint64_t held = line->held;
    line_turn(&self.lock, 5);
    assert_int_equal(*zeros, taken);
    assert_int_equal(line->held, held);
    assert_int_equal(crest_mutex_fini(&self.lock), 0);
}

/* Where the counter is not the clock any more, the tick that finds it so is the last one. */
static void test_other_clock(void **state)
{
    (void)state;
    line_case self;
    line_setup(&self);
    line_turn(&self.lock, 4);
    crest_testing_clock_set(crest_now());
    crest_range_reading reading;
    crest_range_rotate(self.lock.permit->cell, &reading);
    assert_int_equal(self.lock.line->user, CREST_PERMIT_SHARED);
    assert_int_equal(crest_mutex_lock(&self.lock), 0);
    assert_false(crest_permit_is_held(self.lock.line));
    assert_int_equal(crest_range_sampler_value(self.lock.permit), 1);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    crest_testing_clock_real();
    assert_int_equal(line_acquired(self.registry), 5);
    line_teardown(&self);
}

/* ---- windows ---- */

static crest_range_reading line_rotated(crest_mutex *lock)
{
    crest_range_reading reading;
    crest_range_rotate(lock->permit->cell, &reading);
    return reading;
}

static uint64_t line_area(const crest_range_reading *reading)
{
    return (uint64_t)reading->value * reading->time - reading->moment;
}

static void test_windows(void **state)
{
    (void)state;
    line_case self;
    line_setup(&self);
    line_turn(&self.lock, 1);
    crest_range_reading first = line_rotated(&self.lock);
    assert_true(line_area(&first) <= first.time - self.lock.permit->cell->born);
    crest_range_reading free = line_rotated(&self.lock);
    assert_true(free.minimum == 0 && free.maximum == 0 && free.value == 0);
    line_turn(&self.lock, 1);
    crest_range_reading shortly = line_rotated(&self.lock);
    assert_true(shortly.minimum == 0 && shortly.maximum == 1 && shortly.value == 0);
    assert_int_equal(crest_mutex_lock(&self.lock), 0);
    crest_range_reading from = line_rotated(&self.lock);
    assert_true(from.minimum == 0 && from.maximum == 1 && from.value == 1);
    usleep(3000);
    crest_range_reading all = line_rotated(&self.lock);
    assert_true(all.minimum == 1 && all.maximum == 1 && all.value == 1);
    /* the counter is read a moment after the clock */
    uint64_t held = line_area(&all) - line_area(&from);
    assert_true(held >= 2900);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    crest_range_reading to = line_rotated(&self.lock);
    assert_true(to.minimum == 0 && to.maximum == 1 && to.value == 0);
    crest_range_reading after = line_rotated(&self.lock);
    assert_int_equal(line_area(&after), line_area(&to));
    line_teardown(&self);
}

/* A lock that its holder takes once more is not free in between. */
static void test_taken_again(void **state)
{
    (void)state;
    line_case self;
    pthread_mutexattr_t recursive;
    line_setup(&self);
    assert_int_equal(crest_mutex_fini(&self.lock), 0);
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    assert_int_equal(crest_mutex_init(&self.lock, self.registry, "m", &recursive), CREST_OK);
    pthread_mutexattr_destroy(&recursive);
    line_turn(&self.lock, 1);
    assert_int_equal(crest_mutex_lock(&self.lock), 0);
    line_rotated(&self.lock);
    for (int i = 0; i < 3; i++)
        assert_int_equal(crest_mutex_lock(&self.lock), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    assert_int_equal(line_rotated(&self.lock).minimum, 1);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    assert_int_equal(crest_mutex_unlock(&self.lock), EPERM);
    assert_int_equal(line_rotated(&self.lock).value, 0);
    assert_int_equal(line_acquired(self.registry), 5);
    line_teardown(&self);
}

/* ---- forks ---- */

static int line_child(line_case *self)
{
    if (crest_mutex_unlock(&self->lock) != 0 || crest_range_sampler_value(self->lock.permit) != 0)
        return 1;
    line_turn(&self->lock, 2);
    if (self->lock.line->user != (uintptr_t)&self->lock || *self->lock.zeros != 1)
        return 2;
    if (crest_mutex_lock(&self->lock) != 0 || crest_range_sampler_value(self->lock.permit) != 1)
        return 3;
    return crest_mutex_unlock(&self->lock) == 0 && line_acquired(self->registry) == 3 ? 0 : 4;
}

static void test_forked(void **state)
{
    (void)state;
    line_case self;
    line_setup(&self);
    line_turn(&self.lock, 7);
    assert_int_equal(crest_mutex_lock(&self.lock), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(line_child(&self));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(crest_range_sampler_value(self.lock.permit), 1);
    assert_int_equal(crest_mutex_unlock(&self.lock), 0);
    assert_int_equal(line_acquired(self.registry), 8);
    line_teardown(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forked),
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_looks_between_holders),
        cmocka_unit_test(test_looks_see_the_shortest),
        cmocka_unit_test(test_looks_of_a_counter_that_began_again),
        cmocka_unit_test(test_first_lock_claims),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_second_mutex),
        cmocka_unit_test(test_one_after_another),
        cmocka_unit_test(test_registry_freed),
        cmocka_unit_test(test_other_clock),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_taken_again),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("permits", tests, NULL, NULL);
}
