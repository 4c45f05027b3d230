/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/range_sampler.h>: values without a ticker, all ways to get a handle, what is refused, and
 * the change of windows. What windows make of it is in test_range_windows.c.
 */
#include "base/misuse.h"
#include "cells/range_cell.h"
#include "clock/clock_inside.h"
#include "instruments/range_sampler_inside.h"
#include "support/core_fixture.h"

#include <crest/by_name.h>
#include <signal.h>

CREST_RANGE_SAMPLER(declared, "test.declared", "Declared.", .unit = CREST_BYTES);
CREST_RANGE_SAMPLER_DECLARE(shared);
CREST_RANGE_SAMPLER_DEFINE(shared, "test.shared", "Declared and defined.");
CREST_RANGE_SAMPLER_FAMILY(queues, "test.queues", "By queue.", queue);
CREST_RANGE_SAMPLER_FAMILY_DECLARE(links, peer, kind);
CREST_RANGE_SAMPLER_FAMILY_DEFINE(links, "test.links", "By peer.", (.unit = CREST_BYTES), peer,
                                  kind);

static int64_t current_of(crest_registry *registry, const char *name, const char *label)
{
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view view = fixture_series(snapshot, name, label);
    assert_int_equal(view.kind, CREST_KIND_RANGE_SAMPLER);
    assert_null(view.distribution);
    assert_true(view.window.covered_s == 0);
    crest_snapshot_free(snapshot);
    return view.current;
}

static void test_values(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_range_sampler *sampler = fixture_range_sampler(registry, "s");
    assert_int_equal(crest_range_sampler_value(sampler), 0);
    static const struct {
        int set;
        int64_t with, then;
    } steps[] = {
        {0, 1, 1},
        {0, -3, -2},
        {1, 100, 100},
        {0, 0, 100},
        {1, INT64_MAX, INT64_MAX},
        {0, -1, INT64_MAX - 1},
        {1, INT64_MIN, INT64_MIN},
        {0, 1, INT64_MIN + 1},
        {1, INT64_MAX, INT64_MAX},
        {1, 0, 0},
        {0, INT64_MIN, INT64_MIN},
    };
    for (size_t i = 0; i < LENGTH(steps); i++) {
        if (steps[i].set)
            crest_range_sampler_set(sampler, steps[i].with);
        else
            crest_range_sampler_add(sampler, steps[i].with);
        assert_int_equal(crest_range_sampler_value(sampler), steps[i].then);
        assert_int_equal(current_of(registry, "s", NULL), steps[i].then);
    }
    crest_registry_free(registry);
}

static void test_all_ways(void **state)
{
    (void)state;
    assert_int_equal(current_of(NULL, "test.declared", NULL), 0);
    crest_range_sampler_add(&declared, 5);
    crest_range_sampler_add(&shared, -5);
    crest_range_sampler_set(queues_with("in"), 3);
    crest_range_sampler_add(queues_with("in"), 1);
    crest_range_sampler_add(queues_with("out"), 2);
    crest_range_sampler_add(links_with("a", "b"), 9);
    assert_int_equal(current_of(NULL, "test.declared", NULL), 5);
    assert_int_equal(current_of(NULL, "test.shared", NULL), -5);
    assert_int_equal(current_of(NULL, "test.queues", "in"), 4);
    assert_int_equal(current_of(NULL, "test.queues", "out"), 2);
    assert_int_equal(crest_range_sampler_value(links_with("a", "b")), 9);

    static const char *const keys[] = {"k"}, *const values[] = {"v"};
    crest_metric_options options = {.name = "run.time"};
    crest_status status;
    crest_range_sampler_family family =
        crest_range_sampler_family_new(NULL, &options, keys, 1, &status);
    assert_int_equal(status, CREST_OK);
    crest_range_sampler_add(crest_range_sampler_family_get(&family, values, 1), 7);
    assert_int_equal(current_of(NULL, "run.time", "v"), 7);
}

static void test_by_name(void **state)
{
    (void)state;
    char name[] = "named.b";
    for (int i = 0; i < 3; i++) {
        crest_sample("named.a");
        crest_increment_sampler("named.a", 2);
        crest_increment_sampler(name, -2);
        crest_sample(name);
    }
    (crest_increment_sampler)("named.a", 1);
    (crest_sample)("named.c");
    crest_sample("named.d");
    assert_int_equal(current_of(NULL, "named.a", NULL), 7);
    assert_int_equal(current_of(NULL, "named.b", NULL), -6);
    assert_int_equal(current_of(NULL, "named.c", NULL), 0);
    assert_int_equal(current_of(NULL, "named.d", NULL), 0);
    uint64_t clashes = crest_misuse_value(CREST_MISUSE_TYPE_CLASH);
    crest_increment_gauge("named.a", 1);
    assert_true(crest_misuse_value(CREST_MISUSE_TYPE_CLASH) > clashes);
    clashes = crest_misuse_value(CREST_MISUSE_TYPE_CLASH);
    crest_increment_counter("named.e");
    crest_increment_sampler("named.e", 1);
    assert_true(crest_misuse_value(CREST_MISUSE_TYPE_CLASH) > clashes);
    assert_int_equal(current_of(NULL, "named.a", NULL), 7);
}

/* Past either end of 64 bits nothing is applied, and it is counted. */
static void test_overflow(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_range_sampler *sampler = fixture_range_sampler(registry, "s");
    uint64_t counted = crest_misuse_value(CREST_MISUSE_OVERFLOW);
    crest_range_sampler_set(sampler, INT64_MAX);
    crest_range_sampler_add(sampler, 1);
    crest_range_sampler_add(sampler, INT64_MAX);
    assert_int_equal(crest_range_sampler_value(sampler), INT64_MAX);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_OVERFLOW), counted + 2);
    crest_range_sampler_set(sampler, -2);
    crest_range_sampler_add(sampler, INT64_MIN);
    assert_int_equal(crest_range_sampler_value(sampler), -2);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_OVERFLOW), counted + 3);
    crest_registry_free(registry);
}

static void test_dead_handles(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_range_sampler *sampler = fixture_range_sampler(registry, "s");
    crest_range_sampler_set(sampler, 4);
    uint64_t late = crest_misuse_value(CREST_MISUSE_LATE);
    crest_registry_free(registry);
    crest_range_sampler_add(sampler, 1);
    crest_range_sampler_set(sampler, 1);
    assert_int_equal(crest_range_sampler_value(sampler), 0);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LATE), late + 2);

    crest_range_sampler alien = {{0, CREST_ABI + 1, NULL, NULL}, NULL};
    uint64_t abi = crest_misuse_value(CREST_MISUSE_ABI);
    crest_range_sampler_add(&alien, 1);
    crest_range_sampler_set(&alien, 1);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_ABI), abi + 2);
    assert_null(alien.cell);

    crest_status status;
    crest_metric_options bad = {.name = "no name"};
    crest_range_sampler_add(crest_range_sampler_get(NULL, &bad, &status), 1);
    assert_int_equal(status, CREST_INVALID_NAME);
}

/* ---- time ---- */

#ifdef CREST_CLOCK_READ
/* A scale so slow, of 2^32 counts a nanosecond, that the clock stands between two readings. */
static void time_at(int64_t passed_ns, uint64_t ns_base)
{
    const crest_clock_scale *real = crest_clock_current;
    crest_clock_scale slow = {0, ns_base, 1};
    slow.counter_base = CREST_CLOCK_READ() - (uint64_t)passed_ns * (UINT64_C(1) << 32);
    crest_clock_current = &slow;
    uint64_t before, time, after;
    do {
        before = crest_now() / CREST_RANGE_TICK_NS;
        time = crest_range_time();
        after = crest_now() / CREST_RANGE_TICK_NS;
    } while (before != after);
    crest_clock_current = real;
    assert_true(time == before || time + 1 == before);
}
#endif

/* By the counter: the clock's, or one less. */
static void test_time(void **state)
{
    (void)state;
#ifdef CREST_CLOCK_READ
    const int64_t passed[] = {0, 1, 1023, 1024, 100000, INT64_C(1) << 28, -1, -1024, -1025};
    const uint64_t bases[] = {2000, 2047, 2048, UINT64_C(1) << 60};
    for (unsigned i = 0; i < sizeof passed / sizeof *passed; i++)
        for (unsigned k = 0; k < sizeof bases / sizeof *bases; k++)
            time_at(passed[i], bases[k]);
#endif
}

/* ---- the change of windows, by hand ---- */

/* Of a million of the samplers' own units. */
#define SECOND (UINT64_C(1000000) * CREST_RANGE_TICK_NS)

static void test_rotation(void **state)
{
    (void)state;
    crest_clock_fake(100 * SECOND);
    crest_registry *registry = fixture_registry(NULL);
    crest_range_sampler *sampler = fixture_range_sampler(registry, "s");
    crest_range_reading reading;
    assert_int_equal(sampler->cell->born, 100000000);
    crest_range_sampler_set(sampler, 10);
    crest_range_sampler_add(sampler, -12);
    crest_clock_fake(101 * SECOND);
    crest_range_rotate(sampler->cell, &reading);
    assert_int_equal(reading.maximum, 10);
    assert_int_equal(reading.minimum, -2);
    assert_int_equal(reading.value, -2);
    assert_int_equal(reading.time, 101000000);
    assert_int_equal((int64_t)(reading.value * 101000000 - (int64_t)reading.moment), -2000000);

    /* no update: the standing value, as often as one looks */
    for (int i = 0; i < 3; i++) {
        crest_range_rotate(sampler->cell, &reading);
        assert_int_equal(reading.maximum, -2);
        assert_int_equal(reading.minimum, -2);
    }
    crest_range_sampler_add(sampler, 1);
    crest_range_rotate(sampler->cell, &reading);
    assert_int_equal(reading.maximum, -1);
    assert_int_equal(reading.minimum, -2);

    /* the ends of 64 bits are values, not marks */
    crest_range_sampler_set(sampler, INT64_MIN);
    crest_range_rotate(sampler->cell, &reading);
    crest_range_rotate(sampler->cell, &reading);
    assert_true(reading.maximum == INT64_MIN && reading.minimum == INT64_MIN);
    crest_range_sampler_set(sampler, INT64_MAX);
    crest_range_rotate(sampler->cell, &reading);
    assert_true(reading.maximum == INT64_MAX && reading.minimum == INT64_MIN);
    crest_range_rotate(sampler->cell, &reading);
    assert_true(reading.maximum == INT64_MAX && reading.minimum == INT64_MAX);
    crest_clock_fake(0);
    crest_registry_free(registry);
}

/* The first value of what began unseen, as of a file that was there before: it stood since the
 * sampler was made, and there was no zero before it. */
static void test_begin(void **state)
{
    (void)state;
    crest_clock_fake(100 * SECOND);
    crest_registry *registry = fixture_registry(NULL);
    crest_range_sampler *sampler = fixture_range_sampler(registry, "s");
    crest_range_reading reading;
    crest_clock_fake(110 * SECOND);
    crest_range_sampler_begin(sampler, 5);
    crest_clock_fake(120 * SECOND);
    crest_range_rotate(sampler->cell, &reading);
    assert_int_equal(reading.minimum, 5);
    assert_int_equal(reading.maximum, 5);
    assert_int_equal(5 * 120000000 - (int64_t)reading.moment, 5 * 20000000);
    /* one that has a value already changes as any other does, and has the new one's extremes */
    crest_clock_fake(130 * SECOND);
    crest_range_sampler_begin(sampler, 7);
    crest_clock_fake(140 * SECOND);
    crest_range_rotate(sampler->cell, &reading);
    assert_int_equal(reading.minimum, 7);
    assert_int_equal(7 * 140000000 - (int64_t)reading.moment, 5 * 30000000 + 7 * 10000000);
    crest_clock_fake(0);
    crest_registry_free(registry);
}

CREST_RANGE_SAMPLER(first_update, "test.first-update", "Updated by a handle that is not resolved.");
static crest_range_sampler unresolved = {CREST_HANDLE_INIT_(&first_update_crest_declaration), NULL};

/* The first update by a handle, which resolves it, is in the extremes too. */
static void test_first_update(void **state)
{
    (void)state;
    crest_range_reading reading;
    crest_range_sampler_add(&unresolved, 5);
    crest_range_sampler_add(&first_update, -4);
    crest_range_rotate(first_update.cell, &reading);
    assert_int_equal(reading.maximum, 5);
    assert_int_equal(reading.minimum, 0);
    assert_int_equal(reading.value, 1);
}

/* ---- a change of windows, interrupted ---- */

#if defined(__x86_64__) && !FIXTURE_SANITIZED
enum { TRAP_FLAG = 0x100, STEPS_MAX = 5000 };

static crest_range_sampler *stepped;
static int64_t stepped_to;           /* what the update sets */
static int steps, steps_interrupted; /* instructions so far; the one before which it comes */

/* Sets the sampler at one boundary, and steps on. */
static void step_handler(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    if (++steps == steps_interrupted)
        crest_range_sampler_set(stepped, stepped_to);
}

static void step_begin(void)
{
    __asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" : : "i"(TRAP_FLAG) : "memory", "cc");
}

static void step_end(void)
{
    __asm__ volatile("pushfq\n\tandq %0, (%%rsp)\n\tpopfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
}

/* At every instruction of a change of windows a value comes, and goes afterwards: the next window,
 * at whose beginning it stood, has it, wherever it came; and the one before has no value that came
 * after its own. */
static void test_interrupted_rotation(void **state)
{
    (void)state;
    struct sigaction action = {.sa_sigaction = step_handler, .sa_flags = SA_SIGINFO}, before;
    crest_clock_fake(100 * SECOND);
    crest_registry *registry = fixture_registry(NULL);
    stepped = fixture_range_sampler(registry, "s");
    sigaction(SIGTRAP, &action, &before);
    crest_range_reading first, next;
    for (steps_interrupted = 1; steps_interrupted < STEPS_MAX; steps_interrupted++) {
        stepped_to = steps_interrupted % 2 ? 100 : -100;
        crest_range_sampler_set(stepped, 1);
        crest_range_rotate(stepped->cell, &first);
        steps = 0;
        step_begin();
        crest_range_rotate(stepped->cell, &first);
        step_end();
        if (steps < steps_interrupted)
            break;
        crest_range_sampler_set(stepped, 2);
        crest_range_rotate(stepped->cell, &next);
        if (first.value != 1 && first.value != stepped_to)
            fail_msg("step %d: the value is %lld", steps_interrupted, (long long)first.value);
        if (stepped_to > 0 ? next.maximum != 100 : next.minimum != -100)
            fail_msg("step %d: %lld stood in the next window, which is %lld to %lld",
                     steps_interrupted, (long long)stepped_to, (long long)next.minimum,
                     (long long)next.maximum);
    }
    sigaction(SIGTRAP, &before, NULL);
    assert_in_range(steps_interrupted, 20, STEPS_MAX - 1);
    crest_clock_fake(0);
    crest_registry_free(registry);
}
#endif

/* ---- in a signal handler ---- */

CREST_RANGE_SAMPLER(in_handler, "test.in-handler", "First touched by a handler.");
static crest_range_sampler untouched = {CREST_HANDLE_INIT_(&in_handler_crest_declaration), NULL};

static void handler(int signal)
{
    (void)signal;
    crest_range_sampler_add(&untouched, 2);
    crest_range_sampler_set(&in_handler, crest_range_sampler_value(&in_handler) + 1);
}

static void test_first_touch_in_handler(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = handler}, before;
    sigaction(SIGUSR1, &action, &before);
    for (int i = 0; i < 10; i++)
        raise(SIGUSR1);
    sigaction(SIGUSR1, &before, NULL);
    assert_ptr_equal(untouched.cell, in_handler.cell);
    assert_int_equal(crest_range_sampler_value(&untouched), 30);
}

/* ---- by many threads ---- */

#define ADDERS 4
#define ADDS FIXTURE_TIMES(200000)

static void *adder_run(void *sampler)
{
    for (int i = 0; i < ADDS; i++) {
        crest_range_sampler_add(sampler, 3);
        crest_range_sampler_add(sampler, -1);
    }
    return NULL;
}

static void test_adds_by_threads(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_range_sampler *sampler = fixture_range_sampler(registry, "s");
    pthread_t threads[ADDERS];
    for (int i = 0; i < ADDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, adder_run, sampler), 0);
    for (int i = 0; i < ADDERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(crest_range_sampler_value(sampler), 2 * ADDERS * ADDS);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_all_ways),
        cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_dead_handles),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_first_touch_in_handler),
        cmocka_unit_test(test_adds_by_threads),
        cmocka_unit_test(test_begin),
        cmocka_unit_test(test_first_update),
#if defined(__x86_64__) && !FIXTURE_SANITIZED
        cmocka_unit_test(test_interrupted_rotation),
#endif
    };
    return cmocka_run_group_tests_name("range sampler", tests, NULL, NULL);
}
