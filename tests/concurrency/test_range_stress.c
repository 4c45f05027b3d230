/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Range samplers while their windows change: no update is lost, no peak is missed, none is shown
 * that was not there, and the areas of all windows add up to the integral. Exactly.
 */
#include "base/atomic.h"
#include "clock/clock_inside.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"
#include "windows/range_windows.h"

#include <sched.h>
#include <signal.h>
#include <sys/time.h>

#define MICROSECOND ((uint64_t)CREST_RANGE_TICK_NS)
#define SECOND UINT64_C(1000000000)
#define WRITERS 3

typedef struct stress {
    crest_registry *registry;
    crest_range_sampler *sampler;
    pthread_barrier_t barrier;
    uint64_t done;
    uint64_t rotations;
    uint64_t wrong;
    int64_t amount; /* of the round that is being written */
    int lingers;    /* its peak stands until a window has changed */
    int64_t highest, lowest;
    crest_range_area area;
} stress;

static void stress_begin(stress *s, unsigned threads)
{
    memset(s, 0, sizeof *s);
    s->registry = fixture_registry(NULL);
    s->sampler = fixture_range_sampler(s->registry, "s");
    assert_int_equal(pthread_barrier_init(&s->barrier, NULL, threads), 0);
}

static void stress_end(stress *s)
{
    pthread_barrier_destroy(&s->barrier);
    crest_registry_free(s->registry);
    crest_clock_fake(0);
}

/* ---- value and moment ---- */

static void *add_up_and_down(void *argument)
{
    stress *s = argument;
    for (int i = 0; i < FIXTURE_TIMES(300000); i++) {
        crest_range_sampler_add(s->sampler, 5);
        crest_range_sampler_add(s->sampler, -4);
    }
    return NULL;
}

static void *set_again_and_again(void *argument)
{
    stress *s = argument;
    for (int i = 0; i < FIXTURE_TIMES(300000); i++)
        crest_range_sampler_set(s->sampler, i);
    return NULL;
}

static void *rotate_and_compare(void *argument)
{
    stress *s = argument;
    while (!crest_atomic_load_acquire(&s->done)) {
        crest_range_reading reading;
        crest_range_rotate(s->sampler->cell, &reading);
        s->wrong += (uint64_t)reading.value * 7 != reading.moment;
        s->wrong += reading.value < reading.minimum || reading.value > reading.maximum;
        crest_atomic_add(&s->rotations, 1);
    }
    return NULL;
}

/* While the clock stands at 7 the moment is seven times the sum of all changes. It is seven times
 * the value too unless a change was lost, as one by an add would be that a set overwrote unseen. */
static void test_adds_against_sets(void **state)
{
    (void)state;
    crest_clock_fake(7 * MICROSECOND);
    stress s;
    stress_begin(&s, 1);
    pthread_t threads[WRITERS + 1], rotator;
    assert_int_equal(pthread_create(&rotator, NULL, rotate_and_compare, &s), 0);
    for (int i = 0; i < WRITERS + 1; i++)
        assert_int_equal(pthread_create(&threads[i], NULL,
                                        i == WRITERS ? set_again_and_again : add_up_and_down, &s),
                         0);
    for (int i = 0; i < WRITERS + 1; i++)
        pthread_join(threads[i], NULL);
    while (crest_atomic_load(&s.rotations) == 0)
        sched_yield();
    crest_atomic_store_release(&s.done, 1);
    pthread_join(rotator, NULL);
    assert_int_equal(s.wrong, 0);
    crest_range_reading reading;
    crest_range_rotate(s.sampler->cell, &reading);
    assert_int_equal(reading.moment, (uint64_t)reading.value * 7);
    stress_end(&s);
}

static void *add_only(void *argument)
{
    stress *s = argument;
    for (int i = 0; i < FIXTURE_TIMES(300000); i++)
        crest_range_sampler_add(s->sampler, i % 3 - 1);
    crest_range_sampler_add(s->sampler, 11);
    return NULL;
}

static void test_exact_sum(void **state)
{
    (void)state;
    crest_clock_fake(7 * MICROSECOND);
    stress s;
    stress_begin(&s, 1);
    pthread_t threads[WRITERS], rotator;
    assert_int_equal(pthread_create(&rotator, NULL, rotate_and_compare, &s), 0);
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_only, &s), 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    crest_atomic_store_release(&s.done, 1);
    pthread_join(rotator, NULL);
    assert_int_equal(s.wrong, 0);
    assert_int_equal(crest_range_sampler_value(s.sampler), 11 * WRITERS);
    stress_end(&s);
}

/* ---- peaks ---- */

#define ROUNDS FIXTURE_TIMES(4000)

/* Up together, and when all are up, down together: in each round the sum of all is reached. */
static void *burst(void *argument)
{
    stress *s = argument;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&s->barrier); /* the amount is set */
        int64_t amount = s->amount;
        crest_range_sampler_add(s->sampler, amount);
        pthread_barrier_wait(&s->barrier);
        if (s->lingers)
            pthread_barrier_wait(&s->barrier);
        crest_range_sampler_add(s->sampler, -amount);
        pthread_barrier_wait(&s->barrier);
    }
    return NULL;
}

/* The peaks of rounds are all different, so that none is taken for another's. */
static int64_t amount_of(int round)
{
    int64_t amount = (round * 7919) % 100003 + 1;
    return round % 2 ? -amount : amount;
}

/* A window after each burst: the peak is in it, and in that one alone. */
static void test_one_window_a_burst(void **state)
{
    (void)state;
    stress s;
    stress_begin(&s, WRITERS + 1);
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, burst, &s), 0);
    crest_range_reading reading;
    for (int round = 0; round < ROUNDS; round++) {
        s.amount = amount_of(round);
        for (int barriers = 0; barriers < 3; barriers++)
            pthread_barrier_wait(&s.barrier);
        int64_t peak = WRITERS * amount_of(round);
        crest_range_rotate(s.sampler->cell, &reading);
        assert_int_equal(reading.maximum, peak > 0 ? peak : 0);
        assert_int_equal(reading.minimum, peak > 0 ? 0 : peak);
        crest_range_rotate(s.sampler->cell, &reading);
        assert_true(reading.maximum == 0 && reading.minimum == 0 && reading.value == 0);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    stress_end(&s);
}

/* Windows change all the time. A round is over when two more have ended: then the extremes of those
 * since its begin have its peak, in one of them or in neighbours if it stood when they changed. */
static void test_peaks_while_windows_change(void **state)
{
    (void)state;
    stress s;
    stress_begin(&s, WRITERS + 1);
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, burst, &s), 0);
    crest_range_reading reading;
    uint64_t together = 0, apart = 0;
    for (int round = 0; round < ROUNDS; round++) {
        s.amount = amount_of(round);
        s.lingers = round % 8 == 7;
        int64_t peak = WRITERS * s.amount;
        pthread_barrier_wait(&s.barrier);
        /* in some rounds the windows change while they go up, in others while they go down */
        int shown = 0, ended = 0;
        for (int part = 0; part < 3; part++) {
            for (int i = 0; i < (part == 2 ? 2 : (round >> part) % 4); i++) {
                crest_range_rotate(s.sampler->cell, &reading);
                int64_t extreme = peak > 0 ? reading.maximum : reading.minimum;
                if (peak > 0 ? extreme > peak || reading.minimum < 0
                             : extreme < peak || reading.maximum > 0)
                    fail_msg("%lld to %lld in a round to %lld", (long long)reading.minimum,
                             (long long)reading.maximum, (long long)peak);
                if (extreme == peak) {
                    assert_false(ended);
                    shown++;
                } else if (shown > 0) {
                    ended = 1;
                }
            }
            for (int waits = part == 1 && s.lingers ? 2 : part<2; waits> 0; waits--)
                pthread_barrier_wait(&s.barrier);
        }
        assert_true(shown >= 1);
        assert_true(reading.value == 0 && reading.maximum == 0 && reading.minimum == 0);
        together += shown > 1;
        apart += shown == 1;
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    assert_true(apart > 0 && together > 0);
    stress_end(&s);
}

/* ---- one writer, who knows every value ---- */

static void *walk(void *argument)
{
    stress *s = argument;
    uint64_t random = 11;
    int64_t value = 0;
    while (!crest_atomic_load_acquire(&s->done)) {
        random = random_step(random);
        int64_t step = (int64_t)(random >> 40) - (1 << 23);
        if (random >> 30 & 1) {
            crest_range_sampler_add(s->sampler, step);
            value += step;
        } else {
            crest_range_sampler_set(s->sampler, step);
            value = step;
        }
        s->highest = value > s->highest ? value : s->highest;
        s->lowest = value < s->lowest ? value : s->lowest;
    }
    return NULL;
}

static void test_extremes_of_all_windows(void **state)
{
    (void)state;
    stress s;
    stress_begin(&s, 1);
    pthread_t writer;
    int64_t highest = 0, lowest = 0;
    crest_range_reading reading, before;
    crest_range_rotate(s.sampler->cell, &before);
    assert_int_equal(pthread_create(&writer, NULL, walk, &s), 0);
    for (uint64_t until = crest_now() + 2 * SECOND; crest_now() < until;) {
        crest_range_rotate(s.sampler->cell, &reading);
        highest = reading.maximum > highest ? reading.maximum : highest;
        lowest = reading.minimum < lowest ? reading.minimum : lowest;
        /* what stood when the window changed is in both */
        assert_true(reading.minimum <= before.value && before.value <= reading.maximum);
        assert_true(reading.minimum <= reading.value && reading.value <= reading.maximum);
        before = reading;
    }
    crest_atomic_store_release(&s.done, 1);
    pthread_join(writer, NULL);
    crest_range_rotate(s.sampler->cell, &reading);
    highest = reading.maximum > highest ? reading.maximum : highest;
    lowest = reading.minimum < lowest ? reading.minimum : lowest;
    assert_int_equal(highest, s.highest);
    assert_int_equal(lowest, s.lowest);
    stress_end(&s);
}

/* ---- areas ---- */

#define PHASES FIXTURE_TIMES(4000)

static void *step_in_phases(void *argument)
{
    stress *s = argument;
    for (int phase = 0; phase < PHASES; phase++) {
        pthread_barrier_wait(&s->barrier);
        int64_t amount = s->amount;
        for (int i = 0; i < 5; i++)
            crest_range_sampler_add(s->sampler, i % 2 ? -amount : amount);
        pthread_barrier_wait(&s->barrier);
    }
    return NULL;
}

static void *take_areas(void *argument)
{
    stress *s = argument;
    crest_range_ring *ring = crest_range_ring_new(s->sampler->cell, 1);
    for (int last = 0; !last;) {
        last = crest_atomic_load_acquire(&s->done) != 0;
        s->wrong += !crest_range_ring_take(ring, s->sampler->cell, 0);
        s->area += ring->area[0];
        crest_atomic_add(&s->rotations, 1);
    }
    crest_range_ring_free(ring);
    return NULL;
}

/* The clock moves only between two phases, so the integral is known; windows change at any time. */
static void test_areas_add_up(void **state)
{
    (void)state;
    uint64_t now = 1000000;
    crest_clock_fake(now * MICROSECOND);
    stress s;
    stress_begin(&s, WRITERS + 1);
    pthread_t threads[WRITERS], taker;
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, step_in_phases, &s), 0);
    assert_int_equal(pthread_create(&taker, NULL, take_areas, &s), 0);
    crest_range_area area = 0;
    int64_t value = 0;
    for (int phase = 0; phase < PHASES; phase++) {
        s.amount = amount_of(phase);
        pthread_barrier_wait(&s.barrier);
        value += WRITERS * s.amount;
        pthread_barrier_wait(&s.barrier);
        uint64_t passed = (uint64_t)(phase * 7919) % 3000000;
        now += passed;
        crest_clock_fake(now * MICROSECOND);
        area += (crest_range_area)value * (int64_t)passed;
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    crest_atomic_store_release(&s.done, 1);
    pthread_join(taker, NULL);
    assert_int_equal(crest_range_sampler_value(s.sampler), value);
    assert_int_equal(s.wrong, 0);
    assert_true(s.rotations > 1);
    assert_true(s.area == area);
    stress_end(&s);
}

/* ---- handlers ---- */

static stress *handler_stress;
static uint64_t handler_runs; /* of the main thread, as everything in the test */

static void handler(int signal)
{
    (void)signal;
    crest_range_sampler_add(handler_stress->sampler, 1000);
    crest_range_sampler_add(handler_stress->sampler, -999);
    crest_atomic_add(&handler_runs, 1);
}

/* A handler that updates interrupts the same thread's updates. */
static void test_handlers(void **state)
{
    (void)state;
    crest_clock_fake(7 * MICROSECOND);
    stress s;
    stress_begin(&s, 1);
    handler_stress = &s;
    struct sigaction action = {.sa_handler = handler}, before;
    sigaction(SIGALRM, &action, &before);
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (uint64_t i = 0; crest_atomic_load(&handler_runs) < 2000; i++)
        crest_range_sampler_add(s.sampler, i % 2 ? 1 : -1);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    crest_range_reading reading;
    crest_range_rotate(s.sampler->cell, &reading);
    int64_t handled = (int64_t)crest_atomic_load(&handler_runs);
    assert_true(reading.value == handled || reading.value == handled - 1);
    assert_int_equal(reading.moment, (uint64_t)reading.value * 7);
    assert_in_range(reading.maximum, handled + 998, handled + 1000);
    stress_end(&s);
}

int main(void)
{
    /* the alarms are the main thread's: the watchdog would wake of them */
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    fixture_watchdog(170);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adds_against_sets),
        cmocka_unit_test(test_exact_sum),
        cmocka_unit_test(test_one_window_a_burst),
        cmocka_unit_test(test_peaks_while_windows_change),
        cmocka_unit_test(test_extremes_of_all_windows),
        cmocka_unit_test(test_areas_add_up),
        cmocka_unit_test(test_handlers),
    };
    return cmocka_run_group_tests_name("range stress", tests, NULL, NULL);
}
