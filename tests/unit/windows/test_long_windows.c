/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.h beyond the minute: all three windows against lists of what was recorded and against
 * closed forms, who has a place, and what it costs.
 */
#include "base/alloc.h"
#include "base/misuse.h"
#include "clock/clock_inside.h"
#include "instruments/child_get.h"
#include "instruments/metric_get.h"
#include "registry/growth.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"
#include "windows/windows.h"

#include <crest/lifetime.h>
#include <crest/page.h>
#include <crest/reporter.h>
#include <malloc.h>

#define SECOND UINT64_C(1000000000)
enum { TICKS_MAX = 4000 };

static const unsigned lengths[] = {60, 300, 900};

typedef struct bench {
    crest_registry *registry;
    crest_windows *windows;
    uint64_t now_ns;
    int ticks; /* each tick's seconds and growth, as the test knows them */
    double lasted[TICKS_MAX], added[TICKS_MAX];
} bench;

static bench *bench_begin(void)
{
    bench *b = calloc(1, sizeof *b);
    b->registry = fixture_registry(NULL);
    b->windows = crest_windows_new();
    b->now_ns = 1000 * SECOND;
    assert_non_null(b->windows);
    return b;
}

static void bench_end(bench *b)
{
    crest_clock_fake(0);
    crest_windows_free(b->windows);
    crest_registry_free(b->registry);
    assert_int_equal(crest_windows_places(), 0);
    assert_int_equal(crest_windows_refused(), 0);
    crest_windows_set(lengths, 3, CREST_WINDOWED_SERIES_DEFAULT);
    free(b);
}

static int bench_read(bench *b, uint64_t ns)
{
    b->now_ns += ns;
    crest_clock_fake(b->now_ns);
    crest_snapshot *snapshot = crest_snapshot_read_notes(b->registry->state);
    assert_non_null(snapshot);
    return crest_windows_tick(b->windows, snapshot);
}

static void bench_tick(bench *b, double seconds)
{
    assert_int_equal(bench_read(b, (uint64_t)(seconds * 1e9)), 0);
}

static crest_window bench_window(const bench *b, const crest_handle *handle, unsigned window_s)
{
    crest_window window;
    crest_windows_result(b->windows, handle->series, window_s, &window);
    return window;
}

static void assert_near(double said, double wanted)
{
    if (!(fabs(said - wanted) <= 1e-9 * (1 + fabs(wanted))))
        fail_msg("%.17g instead of %.17g", said, wanted);
}

/* A tick in which a counter grows, kept in the list. */
static void bench_grow(bench *b, crest_counter *counter, int64_t by, double seconds)
{
    crest_counter_add(counter, by);
    bench_tick(b, seconds);
    b->lasted[b->ticks] = seconds;
    b->added[b->ticks++] = (double)by;
}

/*
 * A window against the list of all ticks: it covers its length, up to half a minute more where
 * there was as much, or all there was; its events are exactly those of the ticks it covers, and its
 * peak is the highest rate of these.
 */
static void bench_check(const bench *b, const crest_counter *counter, unsigned window_s)
{
    crest_window window = bench_window(b, &counter->handle, window_s);
    double covered = 0, events = 0, peak = 0, longest = 0;
    int tick = b->ticks - 1;
    for (; tick >= 0 && covered + 1e-6 < window.covered_s; tick--) {
        covered += b->lasted[tick];
        events += b->added[tick];
        peak = fmax(peak, b->lasted[tick] > 0 ? b->added[tick] / b->lasted[tick] : 0);
        longest = fmax(longest, b->lasted[tick]);
    }
    /* ticks of no length may belong to it or not */
    assert_true(fabs(window.covered_s - covered) < 1e-6);
    assert_near((double)window.events, events);
    assert_near(window.per_second, events / covered);
    assert_true(fabs(window.peak - peak) <= 1e-6 * (1 + peak));
    if (tick >= 0 && window_s > 60)
        assert_true(covered > window_s - 0.51 && covered < window_s + 30.5 + longest);
}

static void test_bursts(void **state)
{
    (void)state;
    bench *b = bench_begin();
    crest_counter *counter = fixture_counter(b->registry, "c");
    bench_tick(b, 0);
    uint64_t random = 7;
    for (int i = 0; i < 2500; i++) {
        random = random_step(random);
        int64_t by = random >> 60 == 0 ? (int64_t)(random >> 40 & 0xffff) : 0;
        double seconds = random >> 55 & 31 ? 1 : 0.5 + (double)(random >> 50 & 7);
        bench_grow(b, counter, by, seconds);
        for (size_t w = 0; w < LENGTH(lengths); w++)
            bench_check(b, counter, lengths[w]);
    }
    bench_end(b);
}

/* Every single event is in each window at the very next tick, and leaves each once. */
static void test_integral(void **state)
{
    (void)state;
    bench *b = bench_begin();
    crest_counter *counter = fixture_counter(b->registry, "c");
    bench_tick(b, 0);
    for (int i = 0; i < 40; i++)
        bench_tick(b, 1);
    crest_counter_add(counter, 12345);
    for (int i = 1; i <= 1000; i++) {
        bench_tick(b, 1);
        for (size_t w = 0; w < LENGTH(lengths); w++) {
            crest_window window = bench_window(b, &counter->handle, lengths[w]);
            uint64_t least = lengths[w], most = lengths[w] + (w == 0 ? 0 : 30);
            if ((uint64_t)i <= least)
                assert_true(window.events == 12345 && window.peak == 12345);
            else if ((uint64_t)i > most)
                assert_true(window.events == 0 && window.peak == 0);
            else
                assert_true(window.events == 12345 || window.events == 0);
        }
    }
    bench_end(b);
}

/* Constant, linear and sinusoidal load against their integrals. */
static void test_closed_forms(void **state)
{
    (void)state;
    bench *b = bench_begin();
    crest_counter *constant = fixture_counter(b->registry, "constant");
    crest_counter *linear = fixture_counter(b->registry, "linear");
    crest_counter *sine = fixture_counter(b->registry, "sine");
    bench_tick(b, 0);
    uint64_t sine_before = 0;
    const double period = 2 * M_PI / 120;
    for (int t = 1; t <= 2000; t++) {
        crest_counter_add(constant, 500);
        crest_counter_add(linear, 2 * t - 1); /* its integral is t * t */
        uint64_t sine_now = (uint64_t)(1000.0 * t + 900 / period * (1 - cos(period * t)));
        crest_counter_add(sine, (int64_t)(sine_now - sine_before));
        sine_before = sine_now;
        bench_tick(b, 1);
        for (size_t w = 0; t > 930 && w < LENGTH(lengths); w++) {
            crest_window c = bench_window(b, &constant->handle, lengths[w]);
            crest_window l = bench_window(b, &linear->handle, lengths[w]);
            crest_window s = bench_window(b, &sine->handle, lengths[w]);
            double d = c.covered_s;
            assert_true(d >= lengths[w] && d < lengths[w] + 30 + (w == 0 ? -29.5 : 0));
            assert_near(c.per_second, 500);
            assert_near(c.peak, 500);
            assert_near((double)l.events, (double)t * t - (t - d) * (t - d));
            assert_near(l.peak, 2 * t - 1);
            double integral = 1000 * d + 900 / period * (cos(period * (t - d)) - cos(period * t));
            assert_true(fabs((double)s.events - integral) <= 1.01);
            if (w > 0) /* a whole period: the top of the wave, averaged over a second */
                assert_true(fabs(s.peak - 1900) < 3);
        }
    }
    bench_end(b);
}

/* Growth of more than 32 bits in a tick, and in a slot. */
static void test_wide(void **state)
{
    (void)state;
    bench *b = bench_begin();
    crest_counter *counter = fixture_counter(b->registry, "bytes");
    crest_counter *slowly = fixture_counter(b->registry, "slowly");
    bench_tick(b, 0);
    for (int i = 0; i < 1200; i++) {
        crest_counter_add(slowly, 300000000); /* 9 * 10^9 in a slot */
        bench_grow(b, counter, i % 7 == 0 ? (int64_t)i << 34 : i, 1);
        for (size_t w = 0; w < LENGTH(lengths); w++) {
            bench_check(b, counter, lengths[w]);
            crest_window window = bench_window(b, &slowly->handle, lengths[w]);
            assert_near(window.per_second, 3e8);
            assert_near(window.peak, 3e8);
        }
    }
    bench_end(b);
}

/* Without memory for the upper halves nothing is lost: it counts later. */
static void test_wide_without_memory(void **state)
{
    (void)state;
    bench *b = bench_begin();
    crest_counter *counter = fixture_counter(b->registry, "bytes");
    bench_tick(b, 0);
    crest_counter_add(counter, (int64_t)3 << 32);
    b->now_ns += SECOND;
    crest_clock_fake(b->now_ns);
    crest_snapshot *snapshot = crest_snapshot_read_notes(b->registry->state);
    crest_alloc_fail_after(1);
    assert_true(crest_windows_tick(b->windows, snapshot) != 0);
    crest_alloc_fail_after(0);
    assert_int_equal(bench_window(b, &counter->handle, 300).events, UINT32_MAX);
    bench_tick(b, 1);
    for (size_t w = 0; w < LENGTH(lengths); w++)
        assert_int_equal(bench_window(b, &counter->handle, lengths[w]).events, UINT64_C(3) << 32);
    bench_end(b);
}

/* An hour in one tick: the windows are what that tick was, until they have passed. */
static void test_suspension(void **state)
{
    (void)state;
    bench *b = bench_begin();
    crest_counter *counter = fixture_counter(b->registry, "c");
    bench_tick(b, 0);
    for (int i = 0; i < 1000; i++)
        bench_grow(b, counter, 10, 1);
    bench_grow(b, counter, 36000, 3600);
    for (size_t w = 0; w < LENGTH(lengths); w++) {
        crest_window window = bench_window(b, &counter->handle, lengths[w]);
        assert_near(window.per_second, 10);
        assert_near(window.peak, 10);
        assert_true(window.covered_s >= 3600 && window.covered_s < 3631);
    }
    for (int i = 0; i < 1000; i++) {
        bench_grow(b, counter, 10, 1);
        for (size_t w = 0; w < LENGTH(lengths); w++)
            bench_check(b, counter, lengths[w]);
    }
    assert_near(bench_window(b, &counter->handle, 60).covered_s, 60);
    assert_true(bench_window(b, &counter->handle, 900).covered_s < 931);
    bench_end(b);
}

/* A clock that goes back makes no time, and loses nothing. */
static void test_clock_back(void **state)
{
    (void)state;
    bench *b = bench_begin();
    crest_counter *counter = fixture_counter(b->registry, "c");
    bench_tick(b, 0);
    for (int i = 0; i < 100; i++) {
        crest_counter_add(counter, 10);
        if (i == 50)
            b->now_ns -= 500 * SECOND;
        bench_tick(b, i == 50 ? 0 : 1);
    }
    crest_window window = bench_window(b, &counter->handle, 900);
    assert_near(window.covered_s, 99);
    assert_int_equal(window.events, 1000);
    assert_near(window.peak, 10);
    bench_end(b);
}

/* Maxima and whose they were, averages, and quantiles that recover. */
static void test_timer(void **state)
{
    (void)state;
    bench *b = bench_begin();
    const crest_metric_options options = {.name = "t", .quantiles = {0.5, 0.99}};
    crest_timer *timer = crest_timer_get(b->registry, &options, NULL);
    const crest_handle *ok = &timer->outcome[CREST_OUTCOME_OK].handle;
    for (int i = 0; i < 10; i++)
        crest_timer_record(timer, 77777, CREST_OUTCOME_OK);
    bench_tick(b, 0);
    enum { BAD = 1200, BAD_END = 1200 + 3600, END = 1200 + 3600 + 1000 };
    for (int t = 1; t <= END; t++) {
        int bad = t > BAD && t <= BAD_END;
        crest_op op = crest_op_u64((uint64_t)t), last_bad = crest_op_u64(BAD_END);
        for (int i = 0; i < 10; i++)
            crest_timer_record_op(timer, bad ? 1000000 + t : 1000 + i, CREST_OUTCOME_OK, &op);
        bench_tick(b, 1);
        for (size_t w = 0; w < LENGTH(lengths); w++) {
            crest_window window = bench_window(b, ok, lengths[w]);
            int since_bad = t - BAD_END, longest = (int)lengths[w] + (int)lengths[w] / 10 + 30;
            assert_near((double)window.events, 10 * window.covered_s);
            if (t <= BAD) {
                assert_near(window.maximum, 1009);
                assert_near(window.average, 1004.5);
                assert_true(fabs(window.quantiles[0] - 1004) < 10);
                assert_true(fabs(window.quantiles[1] - 1009) < 10);
            } else if (bad) {
                assert_near(window.maximum, 1000000 + t);
                assert_true(window.slowest.kind != CREST_OP_NONE);
                assert_true(crest_op_equal(&window.slowest, &op));
                if (t > BAD + longest)
                    assert_true(fabs(window.quantiles[0] / 1e6 - 1) < 0.01);
            } else if (since_bad < (int)lengths[w]) {
                assert_near(window.maximum, 1000000 + BAD_END);
                assert_true(crest_op_equal(&window.slowest, &last_bad));
            } else if (since_bad > longest) {
                assert_near(window.maximum, 1009);
                assert_true(window.quantiles[1] < 1020 && window.quantiles[1] > 990);
            }
        }
    }
    bench_end(b);
}

static void test_range_sampler(void **state)
{
    (void)state;
    bench *b = bench_begin();
    crest_range_sampler *sampler =
        crest_range_sampler_get(b->registry, &(crest_metric_options){.name = "r"}, NULL);
    bench_tick(b, 0);
    crest_range_sampler_set(sampler, 4);
    for (int t = 1; t <= 1200; t++) {
        if (t == 100) {
            crest_range_sampler_add(sampler, 1000);
            crest_range_sampler_add(sampler, -2000);
            crest_range_sampler_add(sampler, 1000);
        }
        bench_tick(b, 1);
        for (size_t w = 0; t > 1 && w < LENGTH(lengths); w++) {
            crest_window window = bench_window(b, &sampler->handle, lengths[w]);
            int had = t >= 100 && t < 100 + (int)lengths[w];
            int gone = t < 100 || t >= 100 + (int)lengths[w] + 31;
            if (had)
                assert_true(window.maximum == 1004 && window.minimum == -996);
            if (gone && t > 31 + (int)lengths[w])
                assert_true(window.maximum == 4 && window.minimum == 4);
            assert_near(window.average, 4);
        }
    }
    bench_end(b);
}

/* Only so many have a place: the first by name, and the next when one goes. */
static void test_limit(void **state)
{
    (void)state;
    bench *b = bench_begin();
    crest_windows_set(NULL, 0, 3);
    uint64_t misused = crest_misuse_value(CREST_MISUSE_LIMIT);
    crest_counter *c[6];
    static const char *const names[] = {"f", "e", "d", "c", "b", "a"};
    for (int i = 0; i < 6; i++)
        c[i] = fixture_counter(b->registry, names[i]);
    const crest_metric_options none = {.name = "aa", .no_windows = 1};
    crest_counter *without = crest_counter_get(b->registry, &none, NULL);
    bench_tick(b, 0);
    bench_tick(b, 1);
    for (int i = 0; i < 6; i++)
        assert_true((bench_window(b, &c[i]->handle, 60).covered_s > 0) == (i >= 3));
    assert_true(bench_window(b, &without->handle, 60).covered_s == 0);
    assert_int_equal(crest_windows_places(), 3);
    assert_int_equal(crest_windows_refused(), 3);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), misused + 3);
    /* a new one comes after those that wait, for its name does */
    crest_counter_add(c[2], 100);
    crest_windows_set(NULL, 0, 4);
    bench_tick(b, 1);
    crest_counter_add(c[2], 7);
    bench_tick(b, 2);
    crest_window window = bench_window(b, &c[2]->handle, 300);
    assert_int_equal(window.events, 7);
    assert_near(window.covered_s, 2);
    assert_near(window.per_second, 3.5);
    assert_int_equal(crest_windows_refused(), 2);
    /* fewer are allowed than there are: nobody loses a place */
    crest_windows_set(NULL, 0, 1);
    bench_tick(b, 1);
    assert_int_equal(crest_windows_places(), 4);
    bench_end(b);
}

/* A family's series goes, and its place is another's, who has nothing of it. */
static void test_places_are_used_again(void **state)
{
    (void)state;
    bench *b = bench_begin();
    crest_windows_set(NULL, 0, 2);
    const char *const keys[] = {"peer"};
    crest_status status;
    crest_metric *metric = crest_metric_get(b->registry, CREST_KIND_COUNTER,
                                            &(crest_metric_options){.name = "m"}, keys, 1, &status);
    crest_child *x = crest_child_get(metric, (const char *const[]){"x"}, &status);
    crest_child *y = crest_child_get(metric, (const char *const[]){"y"}, &status);
    crest_child *z = crest_child_get(metric, (const char *const[]){"z"}, &status);
    bench_tick(b, 0);
    crest_counter_add(&x->own->counter, 1000);
    crest_counter_add(&z->own->counter, 500);
    bench_tick(b, 1);
    assert_int_equal(bench_window(b, &x->own->handle, 60).events, 1000);
    assert_int_equal(bench_window(b, &z->own->handle, 60).events, 0);
    assert_int_equal(crest_retire(b->registry, "peer", "x"), 1);
    for (int i = 0; i < 200 && crest_windows_refused() != 0; i++) {
        crest_clock_fake(b->now_ns += SECOND);
        crest_growth_tick();
        crest_snapshot_free(crest_snapshot_take(b->registry));
        bench_tick(b, 1);
    }
    assert_int_equal(crest_windows_refused(), 0);
    crest_counter_add(&z->own->counter, 3);
    bench_tick(b, 1);
    for (size_t w = 0; w < LENGTH(lengths); w++)
        assert_int_equal(bench_window(b, &z->own->handle, lengths[w]).events, 3);
    crest_window window;
    crest_windows_result(b->windows, &y->first, 900, &window);
    assert_true(window.covered_s > 0);
    bench_end(b);
}

/* The same at once: a series that another one replaces, and a third where it was. */
static void test_place_in_the_same_minute(void **state)
{
    (void)state;
    bench *b = bench_begin();
    const char *const keys[] = {"peer"}, *const x[] = {"x"}, *const y[] = {"y"};
    crest_status status;
    crest_metric *metric = crest_metric_get(b->registry, CREST_KIND_COUNTER,
                                            &(crest_metric_options){.name = "m"}, keys, 1, &status);
    crest_child *child = crest_child_get(metric, x, &status);
    bench_tick(b, 0);
    crest_counter_add(&child->own->counter, INT64_C(5) << 32);
    bench_tick(b, 1);
    assert_int_equal(crest_retire(b->registry, "peer", "x"), 1);
    child = crest_child_get(metric, x, &status);
    crest_counter_add(&child->own->counter, 4);
    bench_tick(b, 1);
    crest_child *third = crest_child_get(metric, y, &status);
    uint32_t place = (uint32_t)child->first.window;
    crest_counter_add(&third->own->counter, 6);
    bench_tick(b, 1);
    assert_true((uint32_t)third->first.window < place);
    for (size_t w = 0; w < LENGTH(lengths); w++) {
        crest_window window = bench_window(b, &child->own->handle, lengths[w]);
        assert_true(window.events == 4 && window.peak == 4);
        window = bench_window(b, &third->own->counter.handle, lengths[w]);
        assert_true(window.events == 6 && window.peak == 6 && window.covered_s == 3);
    }
    bench_end(b);
}

static crest_window snapshot_window(const crest_snapshot *snapshot, const char *name,
                                    unsigned window_s, crest_status wanted)
{
    crest_series_view view = {.name = NULL};
    crest_window window;
    size_t i = 0;
    while (crest_snapshot_series(snapshot, i, &view) == CREST_OK && strcmp(view.name, name) != 0)
        i++;
    assert_non_null(view.name);
    assert_int_equal(crest_snapshot_window(snapshot, i, window_s, &window), wanted);
    if (window_s == CREST_WINDOW_S)
        assert_true(view.window.covered_s == window.covered_s &&
                    view.window.events == window.events && view.window.peak == window.peak &&
                    view.window.maximum == window.maximum);
    return window;
}

/* What snapshots have of windows: whole, narrowed twice, of range samplers alone, and of fewer
 * windows. */
static void test_snapshots(void **state)
{
    (void)state;
    bench *b = bench_begin();
    crest_registry *registry = b->registry;
    crest_counter *counters[20];
    for (int i = 0; i < 20; i++) {
        char name[24];
        snprintf(name, sizeof name, "%s.c%02d", i % 2 ? "odd" : "even", i);
        counters[i] = fixture_counter(registry, name);
    }
    fixture_range_sampler(registry, "odd.range");
    fixture_gauge(registry, "odd.gauge");
    crest_testing_clock_set(1000 * SECOND);
    assert_int_equal(crest_testing_tick(registry), CREST_OK);
    for (int t = 0; t < 100; t++) {
        for (int i = 0; i < 20; i++)
            crest_counter_add(counters[i], i);
        crest_testing_clock_advance(SECOND);
        assert_int_equal(crest_testing_tick(registry), CREST_OK);
    }
    unsigned window_s[CREST_WINDOWS_MAX];
    crest_window window;
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    for (int round = 0; round < 3; round++) {
        if (round == 1)
            assert_int_equal(crest_snapshot_select(snapshot, "odd*", NULL), CREST_OK);
        if (round == 2)
            assert_int_equal(crest_snapshot_select(snapshot, "*", "*c01:*c05"), CREST_OK);
        assert_int_equal(crest_snapshot_windows(snapshot, window_s), 3);
        assert_memory_equal(window_s, lengths, sizeof lengths);
        window = snapshot_window(snapshot, "odd.c17", 60, CREST_OK);
        assert_true(window.events == 17 * 60 && window.per_second == 17 && window.peak == 17);
        window = snapshot_window(snapshot, "odd.c03", 900, CREST_OK);
        assert_true(window.events == 300 && window.covered_s == 100);
        window = snapshot_window(snapshot, "odd.range", 300, CREST_OK);
        assert_true(window.covered_s == 100);
        snapshot_window(snapshot, "odd.gauge", 60, CREST_NOT_FOUND);
        snapshot_window(snapshot, "odd.c03", 61, CREST_NOT_FOUND);
        assert_int_equal(crest_snapshot_window(snapshot, 100, 60, &window), CREST_INVALID_ARGUMENT);
    }
    crest_snapshot_free(snapshot);
    snapshot = crest_snapshot_take_windows(registry, CREST_PAGE_WINDOWS_RANGES);
    snapshot_window(snapshot, "odd.c03", 60, CREST_NOT_FOUND);
    snapshot_window(snapshot, "odd.range", 60, CREST_OK);
    crest_snapshot_free(snapshot);
    snapshot = crest_snapshot_take_windows(registry, CREST_PAGE_WINDOWS_NONE);
    assert_int_equal(crest_snapshot_windows(snapshot, window_s), 0);
    crest_snapshot_free(snapshot);
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);

    const crest_windows_options two = {.window_s = {60, 900}}, one = {.window_s = {60}},
                                none = {.window_s = {300}}, twice = {.window_s = {60, 60}},
                                four = {.window_s = {60, 300, 900, 900}};
    assert_int_equal(crest_windows_configure(&none), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_windows_configure(&twice), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_windows_configure(&four), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_windows_configure(NULL), CREST_INVALID_ARGUMENT);
    const crest_windows_options *fewer[] = {&two, &one};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(crest_windows_configure(fewer[i]), CREST_OK);
        for (int t = 0; t < 50; t++) {
            assert_int_equal(crest_testing_tick(registry), CREST_OK);
            crest_testing_clock_advance(SECOND);
            crest_counter_inc(counters[3]);
        }
        assert_true(crest_counter_rate(counters[3], 60).covered_s == 49);
        assert_true(crest_counter_rate(counters[3], 300).covered_s == 0);
        assert_true(crest_counter_rate(counters[3], 900).covered_s == (i == 0 ? 49 : 0));
        assert_int_equal(crest_ticker_detach(registry), CREST_OK);
    }
    crest_testing_clock_real();
    bench_end(b);
}

/* What 10,000 counters' windows take, everything included but what snapshots share. */
static void test_memory(void **state)
{
    (void)state;
    enum { SERIES = 10000 };
    bench *b = bench_begin();
    for (unsigned i = 0; i < SERIES; i++) {
        char name[24];
        snprintf(name, sizeof name, "some.counter-%u", i);
        fixture_counter(b->registry, name);
    }
    crest_snapshot *snapshot = crest_snapshot_read_notes(b->registry->state);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    assert_int_equal(crest_windows_tick(b->windows, snapshot), 0);
    bench_tick(b, 1);
    size_t bytes = mallinfo2().uordblks + mallinfo2().hblkhd - before;
    /* the last reading: it was there before */
    bytes += SERIES * sizeof(uint64_t);
    print_message("%.1f bytes a counter series\n", (double)bytes / SERIES);
    assert_int_equal(crest_windows_places(), SERIES);
    if (bytes != SERIES * sizeof(uint64_t)) /* 0: another allocator, a sanitizer's */
        assert_in_range(bytes / SERIES, 500, 600);
    bench_end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bursts),
        cmocka_unit_test(test_integral),
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_wide_without_memory),
        cmocka_unit_test(test_suspension),
        cmocka_unit_test(test_clock_back),
        cmocka_unit_test(test_timer),
        cmocka_unit_test(test_range_sampler),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_places_are_used_again),
        cmocka_unit_test(test_place_in_the_same_minute),
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("long windows", tests, NULL, NULL);
}
