/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.h against closed forms: readings are taken at times of the test's choosing.
 */
#include "base/alloc.h"
#include "clock/clock_inside.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"
#include "windows/windows.h"

#define SECOND UINT64_C(1000000000)

/* A registry, its windows, and what time it is. */
typedef struct bench {
    crest_registry *registry;
    crest_windows *windows;
    uint64_t now_ns;
} bench;

static void bench_begin(bench *b)
{
    b->registry = fixture_registry(NULL);
    b->windows = crest_windows_new();
    b->now_ns = 1000 * SECOND;
    assert_non_null(b->windows);
}

static void bench_end(bench *b)
{
    crest_clock_fake(0);
    crest_windows_free(b->windows);
    crest_registry_free(b->registry);
}

/* Lets time pass and takes a reading. */
static void bench_tick(bench *b, double seconds)
{
    b->now_ns += (uint64_t)(seconds * 1e9);
    crest_clock_fake(b->now_ns);
    crest_snapshot *snapshot = crest_snapshot_read_notes(b->registry->state);
    assert_non_null(snapshot);
    assert_int_equal(crest_windows_tick(b->windows, snapshot), 0);
}

static crest_window bench_window(const bench *b, const crest_handle *handle)
{
    crest_window window;
    crest_windows_result(b->windows, handle->series, CREST_WINDOW_S, &window);
    return window;
}

static void assert_near(double said, double wanted)
{
    if (!(fabs(said - wanted) <= 1e-9 * (1 + fabs(wanted))))
        fail_msg("%.17g instead of %.17g", said, wanted);
}

static void assert_window(const crest_window *window, double covered, double rate, double peak)
{
    assert_near(window->covered_s, covered);
    assert_near(window->per_second, rate);
    assert_near(window->peak, peak);
}

static void test_constant(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_counter *counter = fixture_counter(b.registry, "c");
    crest_window window;
    bench_tick(&b, 0);
    window = bench_window(&b, &counter->handle);
    assert_window(&window, 0, 0, 0);
    for (int tick = 1; tick <= 200; tick++) {
        crest_counter_add(counter, 50);
        bench_tick(&b, 1);
        window = bench_window(&b, &counter->handle);
        assert_window(&window, tick < 60 ? tick : 60, 50, 50);
        assert_int_equal(window.events, 50 * (tick < 60 ? tick : 60));
    }
    bench_end(&b);
}

/* One burst: the rate falls with the time covered, the peak stays until the burst has left. */
static void test_burst_and_idle(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_counter *counter = fixture_counter(b.registry, "c");
    bench_tick(&b, 0);
    crest_counter_add(counter, 6000);
    for (int tick = 1; tick <= 130; tick++) {
        bench_tick(&b, 1);
        crest_window window = bench_window(&b, &counter->handle);
        if (tick <= 60)
            assert_window(&window, tick, 6000.0 / tick, 6000);
        else
            assert_window(&window, 60, 0, 0);
    }
    bench_end(&b);
}

/* A late tick is measured as what it is: no peak comes of it, none is lost. */
static void test_late_ticks(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_counter *counter = fixture_counter(b.registry, "c");
    bench_tick(&b, 0);
    double at = 0, ticks[] = {1, 1, 3.5, 0.5, 1, 10, 1};
    for (size_t i = 0; i < LENGTH(ticks); i++) {
        crest_counter_add(counter, (int64_t)(ticks[i] * 100));
        bench_tick(&b, ticks[i]);
        at += ticks[i];
        crest_window window = bench_window(&b, &counter->handle);
        assert_window(&window, at, 100, 100);
    }
    /* two readings at one time lose no event */
    crest_counter_add(counter, 1000);
    bench_tick(&b, 0);
    bench_tick(&b, 2);
    crest_window window = bench_window(&b, &counter->handle);
    assert_near(window.covered_s, at + 2);
    assert_int_equal(window.events, 100 * (int)at + 1000);
    bench_end(&b);
}

static void test_distribution(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_histogram *histogram = fixture_histogram(b.registry, "h");
    crest_timer *timer = fixture_timer(b.registry, "t");
    crest_histogram_record(histogram, 1000000); /* before the first reading: of no window */
    bench_tick(&b, 0);
    crest_window window = bench_window(&b, &histogram->handle);
    assert_int_equal(window.events, 0);
    assert_near(window.maximum, 0);
    for (int tick = 1; tick <= 150; tick++) {
        if (tick == 5)
            crest_histogram_record(histogram, 200);
        crest_histogram_record_n(histogram, 100, 3);
        crest_timer_record(timer, tick * 10, CREST_OUTCOME_OK);
        bench_tick(&b, 1);
        window = bench_window(&b, &histogram->handle);
        int covered = tick < 60 ? tick : 60, has_200 = tick >= 5 && tick < 65;
        assert_window(&window, covered, (3.0 * covered + has_200) / covered,
                      tick < 5  ? 3
                      : has_200 ? 4
                                : 3);
        assert_near(window.average, (300.0 * covered + 200 * has_200) / (3.0 * covered + has_200));
        assert_near(window.maximum, has_200 ? 200 : 100);
        window = bench_window(&b, &timer->outcome[CREST_OUTCOME_OK].handle);
        assert_near(window.maximum, tick * 10); /* the largest so far: exact */
        assert_near(window.average, 10 * (tick - (covered - 1) / 2.0));
    }
    bench_end(&b);
}

/* A maximum below the largest of all times is at most a bucket off, and never too low. */
static void test_maximum_is_forgotten(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_histogram *histogram = fixture_histogram(b.registry, "h");
    bench_tick(&b, 0);
    crest_histogram_record(histogram, 5000000);
    for (int tick = 1; tick <= 60; tick++) {
        bench_tick(&b, 1);
        assert_near(bench_window(&b, &histogram->handle).maximum, 5000000);
    }
    crest_histogram_record(histogram, 123456);
    bench_tick(&b, 1);
    crest_window window = bench_window(&b, &histogram->handle);
    assert_true(window.maximum >= 123456 && window.maximum < 123456 * 1.01);
    assert_near(window.average, 123456);
    assert_int_equal(window.events, 1);
    crest_histogram_record(histogram, 5000000); /* again, in a bucket that has the maximum */
    bench_tick(&b, 1);
    assert_near(bench_window(&b, &histogram->handle).maximum, 5000000);
    bench_end(&b);
}

/* A series that is born in the middle began at zero. */
static void test_born_later(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    fixture_counter(b.registry, "c");
    for (int tick = 0; tick < 10; tick++)
        bench_tick(&b, 1);
    crest_counter *later = fixture_counter(b.registry, "later");
    crest_timer *timer = fixture_timer(b.registry, "t");
    crest_counter_add(later, 90);
    crest_timer_record(timer, 1000, CREST_OUTCOME_TIMEOUT);
    bench_tick(&b, 1);
    crest_window window = bench_window(&b, &later->handle);
    assert_window(&window, 10, 9, 90);
    window = bench_window(&b, &timer->outcome[CREST_OUTCOME_TIMEOUT].handle);
    assert_int_equal(window.events, 1);
    assert_near(window.maximum, 1000);
    assert_near(window.average, 1000);
    for (int tick = 0; tick < 60; tick++)
        bench_tick(&b, 1);
    window = bench_window(&b, &later->handle);
    assert_window(&window, 60, 0, 0);
    window = bench_window(&b, &timer->outcome[CREST_OUTCOME_TIMEOUT].handle);
    assert_near(window.maximum, 0);
    bench_end(&b);
}

/* What was counted before the first reading is in no rate, also after others have observed it. */
static void test_observed_again(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_counter *counter = fixture_counter(b.registry, "c");
    for (int tick = 0; tick < 5; tick++) {
        crest_counter_add(counter, 1000);
        bench_tick(&b, 1);
    }
    crest_windows_free(b.windows);
    b.windows = crest_windows_new();
    crest_window window = bench_window(&b, &counter->handle);
    assert_window(&window, 0, 0, 0);
    crest_counter_add(counter, 500000);
    bench_tick(&b, 1);
    crest_counter_add(counter, 7);
    bench_tick(&b, 1);
    window = bench_window(&b, &counter->handle);
    assert_window(&window, 1, 7, 7);
    bench_end(&b);
}

/* Bursts of random sizes at random times, against the list of them: the window is the fewest ticks
 * that are as long as it, but for half a tick, and sixty at most. */
static void test_random_ticks(void **state)
{
    (void)state;
    enum { TICKS = 500 };
    static double lasted[TICKS];
    static uint64_t added[TICKS];
    bench b;
    bench_begin(&b);
    crest_counter *counter = fixture_counter(b.registry, "c");
    bench_tick(&b, 0);
    uint64_t random = 42;
    for (int tick = 0; tick < TICKS; tick++) {
        random = random_step(random);
        lasted[tick] = 0.5 + (double)(random >> 40 & 1023) / 512;
        added[tick] = random >> 60 == 0 ? random >> 30 & 0xffff : random >> 50 & 7;
        crest_counter_add(counter, (int64_t)added[tick]);
        bench_tick(&b, lasted[tick]);
        double covered = 0, peak = 0;
        uint64_t events = 0;
        for (int i = tick; i >= 0 && i > tick - 60 && covered < 59.5; i--) {
            covered += lasted[i];
            events += added[i];
            peak = fmax(peak, (double)added[i] / lasted[i]);
        }
        crest_window window = bench_window(&b, &counter->handle);
        assert_int_equal(window.events, events);
        assert_true(fabs(window.covered_s - covered) < 1e-6);
        assert_true(fabs(window.peak - peak) < 1e-6 * (1 + peak));
        assert_true(fabs(window.per_second - (double)events / covered) < 1e-6 * (1 + peak));
    }
    bench_end(&b);
}

/* A series for which there was no place gets one later, and then does not count its past as new. */
static void test_no_memory(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_counter *counter = fixture_counter(b.registry, "c");
    fixture_gauge(b.registry, "g");
    for (unsigned i = 1; i < CREST_FRAMES_SERIES; i++) {
        char name[16];
        snprintf(name, sizeof name, "filler.%u", i);
        fixture_counter(b.registry, name);
    }
    bench_tick(&b, 0);
    crest_counter *later = fixture_counter(b.registry, "later");
    crest_counter_add(later, 500);
    crest_counter_add(counter, 5);
    b.now_ns += SECOND;
    crest_clock_fake(b.now_ns);
    crest_snapshot *snapshot = crest_snapshot_read_notes(b.registry->state);
    assert_non_null(snapshot);
    crest_alloc_fail_after(1);
    assert_true(crest_windows_tick(b.windows, snapshot) != 0);
    crest_alloc_fail_after(0);
    crest_window window = bench_window(&b, &later->handle);
    assert_window(&window, 0, 0, 0);
    window = bench_window(&b, &counter->handle);
    assert_window(&window, 1, 5, 5);
    bench_tick(&b, 1);
    crest_counter_add(later, 3);
    bench_tick(&b, 1);
    window = bench_window(&b, &later->handle);
    assert_int_equal(window.events, 3);
    assert_near(window.peak, 3);
    assert_near(window.covered_s, 1);
    bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_burst_and_idle),
        cmocka_unit_test(test_late_ticks),
        cmocka_unit_test(test_distribution),
        cmocka_unit_test(test_maximum_is_forgotten),
        cmocka_unit_test(test_born_later),
        cmocka_unit_test(test_observed_again),
        cmocka_unit_test(test_random_ticks),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
