/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of range samplers: extremes and means against an integral that is computed apart, on a
 * clock that stands still; what a first reading means; registries that come and go.
 */
#include "base/alloc.h"
#include "support/core_fixture.h"
#include "base/misuse.h"
#include "support/random_numbers.h"
#include "windows/range_windows.h"
#include "windows/windows.h"

#include <crest/testing.h>
#include <sys/wait.h>

#define SECOND UINT64_C(1000000000)
#define MICROSECOND UINT64_C(1000)
/* Means of a second and more, of which both ends of a change may be off by CREST_RANGE_TICK_NS. */
#define RANGE_UNITS_OFF 2.1e-6

/* A registry with one sampler, read at times of the test's choosing. */
typedef struct scene {
    crest_registry *registry;
    crest_range_sampler *sampler;
} scene;

static void scene_begin(scene *s)
{
    crest_testing_clock_set(1000 * SECOND);
    s->registry = fixture_registry(NULL);
    s->sampler = fixture_range_sampler(s->registry, "s");
}

static void scene_end(scene *s)
{
    crest_registry_free(s->registry);
    crest_testing_clock_real();
}

static void tick_after(crest_registry *registry, uint64_t ns)
{
    crest_testing_clock_advance(ns);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
}

static void assert_range(const crest_range_sampler *sampler, double minimum, double maximum,
                         double average)
{
    crest_window window = crest_range_sampler_window(sampler, CREST_WINDOW_S);
    assert_true(window.covered_s > 0);
    double swing = maximum - minimum;
    if (window.minimum != minimum || window.maximum != maximum ||
        fabs(window.average - average) > swing * RANGE_UNITS_OFF)
        fail_msg("%.17g to %.17g, %.17g on average, instead of %.17g to %.17g, %.17g",
                 window.minimum, window.maximum, window.average, minimum, maximum, average);
    assert_true(window.events == 0 && window.per_second == 0 && window.peak == 0);
}

static void assert_nothing(const crest_range_sampler *sampler, unsigned window_s)
{
    crest_window window = crest_range_sampler_window(sampler, window_s), nothing;
    memset(&nothing, 0, sizeof nothing);
    assert_true(window.covered_s == 0 && window.minimum == 0 && window.maximum == 0 &&
                window.average == 0);
}

/* 100 for 5 ms of a second, as short as one likes. */
static void test_burst(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    assert_nothing(s.sampler, CREST_WINDOW_S);
    assert_int_equal(crest_testing_tick(s.registry), CREST_OK);
    assert_nothing(s.sampler, CREST_WINDOW_S);
    crest_testing_clock_advance(300 * 1000 * MICROSECOND);
    crest_range_sampler_add(s.sampler, 100);
    crest_testing_clock_advance(5 * 1000 * MICROSECOND);
    crest_range_sampler_add(s.sampler, -100);
    tick_after(s.registry, 695 * 1000 * MICROSECOND);
    assert_range(s.sampler, 0, 100, 0.5);
    assert_nothing(s.sampler, CREST_WINDOW_S + 1);
    crest_snapshot *snapshot = fixture_snapshot(s.registry);
    crest_series_view view = fixture_series(snapshot, "s", NULL);
    assert_true(view.window.maximum == 100 && view.current == 0);
    assert_true(fabs(view.window.average - 0.5) <= 100 * RANGE_UNITS_OFF);
    crest_snapshot_free(snapshot);
    /* one that took no time at all is in the extremes and not in the mean */
    crest_range_sampler_add(s.sampler, 7000);
    crest_range_sampler_add(s.sampler, -14000);
    crest_range_sampler_add(s.sampler, 7000);
    tick_after(s.registry, SECOND);
    assert_range(s.sampler, -7000, 7000, 0.25);
    /* both leave the window sixty ticks later, the first first */
    for (int i = 0; i < 58; i++)
        tick_after(s.registry, SECOND);
    assert_range(s.sampler, -7000, 7000, 0.5 / 60);
    tick_after(s.registry, SECOND);
    assert_range(s.sampler, -7000, 7000, 0);
    tick_after(s.registry, SECOND);
    assert_range(s.sampler, 0, 0, 0);
    scene_end(&s);
}

/* A window without updates has the value that stands, however long and however high. */
static void test_standing(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 1, -1, 42, 1000000000000000, -9000000000000000};
    for (size_t i = 0; i < LENGTH(values); i++) {
        scene s;
        scene_begin(&s);
        crest_range_sampler_set(s.sampler, values[i]);
        assert_int_equal(crest_testing_tick(s.registry), CREST_OK);
        for (int tick = 0; tick < 130; tick++) {
            tick_after(s.registry, tick % 7 * SECOND);
            if (tick > 0)
                assert_range(s.sampler, (double)values[i], (double)values[i], (double)values[i]);
        }
        scene_end(&s);
    }
}

/* Areas beyond 64 bits by the height of the value, and up to 2^64 by its swing. */
static void test_large(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    const int64_t billion = 1000000000, most = 1000 * billion;
    crest_range_sampler_set(s.sampler, 50 * most);
    assert_int_equal(crest_testing_tick(s.registry), CREST_OK);
    crest_range_sampler_add(s.sampler, most);
    crest_testing_clock_advance(5 * SECOND);
    crest_range_sampler_add(s.sampler, -most);
    tick_after(s.registry, 5 * SECOND);
    assert_range(s.sampler, 50e12, 51e12, 50.5e12);
    crest_range_sampler_add(s.sampler, -most);
    crest_testing_clock_advance(9 * SECOND);
    crest_range_sampler_add(s.sampler, most);
    tick_after(s.registry, 9 * SECOND);
    assert_range(s.sampler, 49e12, 51e12, (50.5e12 * 10 + 49.5e12 * 18) / 28);
    scene_end(&s);
}

/* A swing times time of 2^64: the mean cannot be told, lies within the extremes, and is counted. */
static void test_too_large(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    assert_int_equal(crest_testing_tick(s.registry), CREST_OK);
    uint64_t counted = crest_misuse_value(CREST_MISUSE_LIMIT);
    crest_range_sampler_set(s.sampler, INT64_MAX);
    crest_testing_clock_advance(SECOND / 4);
    crest_range_sampler_set(s.sampler, INT64_MIN);
    crest_testing_clock_advance(SECOND / 4);
    crest_range_sampler_set(s.sampler, 10);
    tick_after(s.registry, SECOND / 2);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), counted + 1);
    crest_window window = crest_range_sampler_window(s.sampler, CREST_WINDOW_S);
    assert_true(window.minimum == -0x1p63 && window.maximum == 0x1p63);
    assert_true(fabs(window.average) <= 1);
    /* and is right again afterwards */
    for (int i = 0; i < 60; i++)
        tick_after(s.registry, SECOND);
    assert_range(s.sampler, 10, 10, 10);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), counted + 1);
    scene_end(&s);
}

/* A walk of random steps at random times, against the integral; every tick exactly. */
static void test_random_walk(void **state)
{
    (void)state;
    enum { TICKS = 300 };
    static crest_range_area areas[TICKS];
    static int64_t lowest[TICKS], highest[TICKS];
    static uint64_t times[TICKS];
    scene s;
    scene_begin(&s);
    crest_range_ring *ring = crest_range_ring_new(s.sampler->cell, 0);
    assert_non_null(ring);
    assert_int_equal(crest_range_ring_take(ring, s.sampler->cell, 0), 1);
    uint64_t random = 7;
    int64_t value = 0;
    for (int tick = 0; tick < TICKS; tick++) {
        lowest[tick] = highest[tick] = value;
        for (unsigned updates = random >> 59, i = 0; i <= updates; i++) {
            random = random_step(random);
            uint64_t passed = random >> 45;
            crest_testing_clock_advance(passed * CREST_RANGE_TICK_NS);
            times[tick] += passed;
            areas[tick] += (crest_range_area)value * (int64_t)passed;
            int64_t step = (int64_t)(random << 8) >> 32;
            if (i == updates)
                break;
            if (random >> 30 & 1) {
                value += step;
                crest_range_sampler_add(s.sampler, step);
            } else {
                value = step;
                crest_range_sampler_set(s.sampler, step);
            }
            lowest[tick] = value < lowest[tick] ? value : lowest[tick];
            highest[tick] = value > highest[tick] ? value : highest[tick];
        }
        unsigned at = (unsigned)(tick + 1) % CREST_WINDOW_READINGS;
        assert_int_equal(crest_range_ring_take(ring, s.sampler->cell, at), 1);
        assert_true(ring->area[at] == areas[tick]);
        assert_int_equal(ring->time[at], times[tick]);
        assert_int_equal(ring->minimum[at], lowest[tick]);
        assert_int_equal(ring->maximum[at], highest[tick]);
        crest_window window;
        unsigned count = tick < 60 ? (unsigned)tick + 1 : 60;
        assert_int_equal(crest_range_ring_result(ring, at, count, &window), 1);
        crest_range_area area = 0;
        uint64_t time = 0;
        for (unsigned i = 0; i < count; i++) {
            area += areas[tick - (int)i];
            time += times[tick - (int)i];
        }
        assert_true(window.average == (double)area / (double)time);
    }
    crest_range_ring_free(ring);
    scene_end(&s);
}

/* What was before the first reading is in no window. */
static void test_observed_later(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    crest_range_sampler_set(s.sampler, 1000);
    crest_testing_clock_advance(100 * SECOND);
    crest_range_sampler_set(s.sampler, 20);
    assert_int_equal(crest_testing_tick(s.registry), CREST_OK);
    tick_after(s.registry, SECOND);
    assert_range(s.sampler, 20, 20, 20);
    /* detached and attached again, it is as new */
    crest_range_sampler_set(s.sampler, 30);
    assert_int_equal(crest_ticker_detach(s.registry), CREST_OK);
    assert_nothing(s.sampler, CREST_WINDOW_S);
    crest_range_sampler_set(s.sampler, 5);
    assert_int_equal(crest_testing_tick(s.registry), CREST_OK);
    tick_after(s.registry, SECOND);
    assert_range(s.sampler, 5, 5, 5);
    scene_end(&s);
}

/* All that a sampler does that is made between two ticks is in the next; its time begins then. */
static void test_born_later(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    assert_int_equal(crest_testing_tick(s.registry), CREST_OK);
    tick_after(s.registry, SECOND);
    crest_testing_clock_advance(SECOND / 2);
    crest_range_sampler *later = fixture_range_sampler(s.registry, "later");
    assert_nothing(later, CREST_WINDOW_S);
    crest_range_sampler_set(later, 8);
    crest_testing_clock_advance(SECOND / 8);
    crest_range_sampler_set(later, 4);
    tick_after(s.registry, SECOND * 3 / 8);
    assert_range(later, 0, 8, 5);
    tick_after(s.registry, SECOND);
    assert_range(later, 0, 8, (5 * 0.5 + 4) / 1.5);
    /* one made at the very moment of the tick has had no time to average over */
    crest_range_sampler *now = fixture_range_sampler(s.registry, "now");
    crest_range_sampler_set(now, 3);
    tick_after(s.registry, 0);
    assert_range(now, 0, 3, 3);
    scene_end(&s);
}

/* A series that was released is read on while it can come back: then its extremes are those of its
 * last minute, and not of the time in which nobody looked. */
static void test_released_and_revived(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    static const char *const keys[] = {"k"}, *const values[] = {"v"};
    crest_metric_options options = {.name = "family"};
    crest_range_sampler_family family =
        crest_range_sampler_family_new(s.registry, &options, keys, 1, NULL);
    assert_int_equal(crest_testing_tick(s.registry), CREST_OK);
    crest_range_sampler *sampler = crest_range_sampler_family_get(&family, values, 1);
    crest_range_sampler_set(sampler, 1000);
    tick_after(s.registry, SECOND);
    assert_range(sampler, 0, 1000, 1000);
    crest_range_sampler_set(sampler, 5);
    assert_int_equal(crest_range_sampler_release(sampler), CREST_OK);
    int gone = 0;
    for (int tick = 0; tick < 110; tick++) {
        tick_after(s.registry, SECOND);
        crest_snapshot *snapshot = fixture_snapshot(s.registry);
        gone += crest_snapshot_size(snapshot) == 1;
        crest_snapshot_free(snapshot);
    }
    assert_true(gone > 0);
    crest_range_sampler_set(sampler, 9);
    crest_range_sampler_set(sampler, 2);
    tick_after(s.registry, SECOND);
    assert_range(sampler, 2, 9, (59 * 5 + 2) / 60.0);
    /* and one whose slot has gone to others begins anew */
    assert_int_equal(crest_range_sampler_release(sampler), CREST_OK);
    for (int tick = 0; tick < 300; tick++) {
        tick_after(s.registry, SECOND);
        crest_snapshot_free(fixture_snapshot(s.registry));
    }
    crest_range_sampler_set(sampler, 7);
    crest_range_sampler_set(sampler, 3);
    assert_int_equal(crest_range_sampler_value(sampler), 3);
    tick_after(s.registry, SECOND);
    assert_range(sampler, 0, 7, 3);
    scene_end(&s);
}

/* A test that sets the clock back: over that tick there is no time, and so no area. */
static void test_clock_set_back(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    crest_range_sampler_set(s.sampler, 100);
    assert_int_equal(crest_testing_tick(s.registry), CREST_OK);
    tick_after(s.registry, SECOND);
    crest_range_sampler_set(s.sampler, 50);
    crest_testing_clock_set(900 * SECOND);
    assert_int_equal(crest_testing_tick(s.registry), CREST_OK);
    tick_after(s.registry, SECOND);
    assert_range(s.sampler, 50, 100, 75);
    scene_end(&s);
}

/* Each registry has readings of its own, which take nothing from another's. */
static void test_registries(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    crest_registry *other = fixture_registry(NULL);
    crest_range_sampler *there = fixture_range_sampler(other, "s");
    assert_int_equal(crest_testing_tick(s.registry), CREST_OK);
    crest_testing_clock_advance(SECOND);
    assert_int_equal(crest_testing_tick(other), CREST_OK);
    crest_range_sampler_set(s.sampler, 5);
    crest_range_sampler_set(there, 50);
    crest_range_sampler_set(s.sampler, 1);
    crest_range_sampler_set(there, 10);
    tick_after(s.registry, SECOND);
    tick_after(other, SECOND);
    tick_after(s.registry, SECOND);
    assert_range(s.sampler, 0, 5, 0.75);
    assert_range(there, 0, 50, 10);
    assert_int_equal(crest_ticker_detach(other), CREST_OK);
    crest_registry_free(other);
    scene_end(&s);
}

/* The child of a fork has samplers that stand at 0, windows that begin with its own first reading,
 * and takes nothing from its parent. */
static void test_fork(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    assert_int_equal(crest_testing_tick(s.registry), CREST_OK);
    crest_range_sampler_set(s.sampler, 6);
    pid_t child = fork();
    if (child == 0) {
        int right = crest_range_sampler_value(s.sampler) == 0;
        right &= crest_range_sampler_window(s.sampler, CREST_WINDOW_S).covered_s == 0;
        crest_range_sampler_set(s.sampler, 99);
        crest_range_sampler_set(s.sampler, 1);
        right &= crest_testing_tick(s.registry) == CREST_OK;
        crest_range_sampler_add(s.sampler, -3);
        crest_testing_clock_advance(SECOND);
        right &= crest_testing_tick(s.registry) == CREST_OK;
        crest_window window = crest_range_sampler_window(s.sampler, CREST_WINDOW_S);
        right &= window.minimum == -2 && window.maximum == 1 && window.average == -2;
        _exit(right ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    tick_after(s.registry, SECOND);
    assert_range(s.sampler, 0, 6, 6);
    scene_end(&s);
}

/* Without memory for its ticks a sampler gets them later, and what it did before is in none. */
static void test_no_memory(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    crest_windows *windows = crest_windows_new();
    assert_non_null(windows);
    crest_window window;
    for (unsigned long n = 1; n <= 2; n++) {
        crest_range_sampler_set(s.sampler, 100);
        crest_range_sampler_set(s.sampler, 7);
        crest_snapshot *snapshot = crest_snapshot_read_notes(s.registry->state);
        assert_non_null(snapshot);
        crest_alloc_fail_after(n);
        assert_true(crest_windows_tick(windows, snapshot) != 0);
        crest_alloc_fail_after(0);
        crest_testing_clock_advance(SECOND);
        crest_windows_result(windows, s.sampler->handle.series, CREST_WINDOW_S, &window);
        assert_true(window.covered_s == 0 && window.maximum == 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(crest_windows_tick(windows, crest_snapshot_read_notes(s.registry->state)),
                         0);
        crest_testing_clock_advance(SECOND);
    }
    crest_windows_result(windows, s.sampler->handle.series, CREST_WINDOW_S, &window);
    assert_true(window.covered_s > 0);
    assert_true(window.minimum == 7 && window.maximum == 7 && window.average == 7);
    crest_windows_free(windows);
    scene_end(&s);
}

/* Windows that lacked memory for a while have let the sampler go, and know nothing of what it did
 * meanwhile: its next tick is not as long as its life. */
static void test_taken_back(void **state)
{
    (void)state;
    scene s;
    scene_begin(&s);
    crest_range_sampler_set(s.sampler, 5);
    crest_range_ring *ring = crest_range_ring_new(s.sampler->cell, 1);
    assert_non_null(ring);
    crest_testing_clock_advance(SECOND);
    assert_int_equal(crest_range_ring_take(ring, s.sampler->cell, 0), 1);
    assert_true(ring->time[0] > 0 && ring->maximum[0] == 5);
    crest_range_ring_free(ring);
    crest_range_sampler_set(s.sampler, 9);
    crest_testing_clock_advance(60 * SECOND);
    ring = crest_range_ring_new(s.sampler->cell, 1);
    assert_non_null(ring);
    assert_int_equal(crest_range_ring_take(ring, s.sampler->cell, 0), 1);
    assert_int_equal(ring->time[0], 0);
    assert_true(ring->minimum[0] > ring->maximum[0]);
    crest_range_ring_free(ring);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_burst),       cmocka_unit_test(test_standing),
        cmocka_unit_test(test_large),       cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_random_walk), cmocka_unit_test(test_observed_later),
        cmocka_unit_test(test_born_later),  cmocka_unit_test(test_clock_set_back),
        cmocka_unit_test(test_registries),  cmocka_unit_test(test_released_and_revived),
        cmocka_unit_test(test_fork),        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_taken_back),
    };
    return cmocka_run_group_tests_name("range windows", tests, NULL, NULL);
}
