/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ticks that are early, short, long or of no time at all, and bins that are used again: what the
 * windows say then. And names of quantiles, which must tell them apart.
 */
#include "support/window_fixture.h"
#include "names/derived_results.h"

static void assert_near(double said, double wanted)
{
    if (!(fabs(said - wanted) <= 1e-9 * (1 + fabs(wanted))))
        fail_msg("%.17g instead of %.17g", said, wanted);
}

/* A ticker is early and late by fractions of a millisecond: bins have thirty ticks all the same,
 * so that windows do not cover now one tick more and now one less. */
static void test_slots_of_uneven_ticks(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    bench_tick(&b, 1);
    for (int i = 0; i < 2000; i++) {
        bench_tick(&b, i % 2 ? 1.0001 : 0.99985);
        const crest_window_times *times = &b.windows->times;
        if (times->bin_opened && times->bin_count > 1)
            assert_int_equal(times->bin_ticks[crest_window_times_bin(times, 1)], 30);
    }
    crest_window window = {.covered_s = crest_windows_covered_s(b.windows, 300)};
    assert_true(window.covered_s > 299.5 && window.covered_s < 330);
    bench_end(&b);
}

/* Many more ticks than seconds: a bin is full when it has no room for another. */
static void test_short_ticks(void **state)
{
    (void)state;
    enum { TICKS = 40 * (int)CREST_BIN_TICKS_MAX };
    bench b;
    bench_begin(&b);
    crest_counter *counter = fixture_counter(b.registry, "c");
    bench_tick(&b, 1);
    for (int i = 1; i <= TICKS; i++) {
        crest_counter_add(counter, i == TICKS - 500 ? 100 : 10);
        bench_tick(&b, 0.125);
        assert_int_equal(b.windows->times.windows, 3);
        for (unsigned w = 300; w <= 900; w += 600) {
            crest_window window = bench_window(&b, &counter->handle, w);
            int seen = i >= TICKS - 500; /* as many ticks are less than any of the windows */
            assert_near(window.peak, seen ? 800 : 80);
            assert_near((double)window.events, window.covered_s * 80 + (seen ? 90 : 0));
        }
    }
    bench_end(&b);
}

/* What came in a tick of no time at all is an event, but of no rate. */
static void test_no_time(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_counter *counter = fixture_counter(b.registry, "c"),
                  *wide = fixture_counter(b.registry, "w");
    bench_tick(&b, 1);
    for (int i = 0; i < 10; i++) {
        crest_counter_add(counter, i == 5 ? 7000 : 10);
        crest_counter_add(wide, i == 5 ? INT64_C(1) << 40 : 10);
        bench_tick(&b, i == 5 ? 0 : 1);
    }
    for (unsigned w = 60; w <= 300; w += 240) {
        crest_window window = bench_window(&b, &counter->handle, w);
        assert_near(window.covered_s, 9);
        assert_near(window.peak, 10);
        assert_int_equal(window.events, 7090);
        window = bench_window(&b, &wide->handle, w);
        assert_near(window.peak, 10);
        assert_int_equal(window.events, 90 + (UINT64_C(1) << 40));
    }
    bench_end(&b);
}

/* Once a bin is used again, nothing of what it held is left: neither the upper halves of wide
 * growth, nor whose its slowest operation was. */
static void test_slots_begin_anew(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_counter *counter = fixture_counter(b.registry, "c");
    crest_timer *timer = fixture_timer(b.registry, "t");
    const crest_handle *ok = &timer->outcome[CREST_OUTCOME_OK].handle;
    const crest_op op = crest_op_u64(7);
    bench_tick(&b, 1);
    for (int i = 0; i < 40 * (int)CREST_BIN_S; i++) {
        /* wide at first only; the same maximum again later, whose it is unknown */
        crest_counter_add(counter, i < (int)CREST_BIN_S ? INT64_C(1) << 40 : 5);
        crest_timer_record_op(timer, i % 15 == 0 ? 5000 : 100, CREST_OUTCOME_OK,
                              i < (int)CREST_BIN_S ? &op : NULL);
        bench_tick(&b, 1);
    }
    for (unsigned w = 300; w <= 900; w += 600) {
        crest_window window = bench_window(&b, &counter->handle, w);
        assert_near(window.peak, 5);
        assert_near((double)window.events, 5 * window.covered_s);
        window = bench_window(&b, ok, w);
        assert_near(window.maximum, 5000);
        assert_int_equal(window.slowest.kind, CREST_OP_NONE);
    }
    bench_end(&b);
}

/* Quantiles of a minute, where ticks are so long that the readings kept reach back for minutes. */
static void test_quantiles_of_long_ticks(void **state)
{
    (void)state;
    const crest_metric_options options = {.name = "h", .quantiles = {0.5}};
    bench b;
    bench_begin(&b);
    crest_histogram *histogram = crest_histogram_get(b.registry, &options, NULL);
    bench_tick(&b, 1);
    for (int i = 0; i < 30; i++) {
        /* large values stop two minutes before the end, and are most of all of them */
        crest_histogram_record_n(histogram, i < 24 ? 1000000 : 10, i < 24 ? 1000 : 1);
        bench_tick(&b, 20);
    }
    crest_window window = bench_window(&b, &histogram->handle, CREST_WINDOW_S);
    assert_int_equal(window.events, 3);
    assert_near(window.quantiles[0], 10);
    bench_end(&b);
}

static void test_names_of_quantiles(void **state)
{
    (void)state;
    static const struct {
        double quantiles[CREST_QUANTILES_MAX + 1];
        int valid;
    } cases[] = {
        {{0}, 1},
        {{0.5, 0.99, 0.999}, 1},
        {{0.00000001, 0.99999999}, 1},
        {{0.5, 0.5}, 0},
        {{0.5, 0.500000001}, 0}, /* both would be p50 */
        {{0.999999999}, 0},      /* p100 */
        {{0.000000001}, 0},      /* p0 */
        {{1}, 0},
        {{-0.5}, 0},
        {{1.5}, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        if (crest_quantiles_valid(cases[i].quantiles) != cases[i].valid)
            fail_msg("case %zu", i);
    char text[CREST_WINDOW_QUALIFIER_BYTES];
    static const struct {
        double quantile;
        const char *name;
    } names[] = {{0.5, "p50_15m"},
                 {0.05, "p5_15m"},
                 {0.999, "p99_9_15m"},
                 {0.9905, "p99_05_15m"},
                 {0.00000001, "p0_000001_15m"}};
    for (size_t i = 0; i < LENGTH(names); i++) {
        const double quantiles[CREST_QUANTILES_MAX + 1] = {names[i].quantile};
        unsigned last = 0; /* quantiles come after all others */
        while (crest_window_qualifier(CREST_KIND_HISTOGRAM, quantiles, last + 1, 900, text))
            last++;
        assert_true(crest_window_qualifier(CREST_KIND_HISTOGRAM, quantiles, last, 900, text));
        assert_string_equal(text, names[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots_of_uneven_ticks),
        cmocka_unit_test(test_short_ticks),
        cmocka_unit_test(test_no_time),
        cmocka_unit_test(test_slots_begin_anew),
        cmocka_unit_test(test_quantiles_of_long_ticks),
        cmocka_unit_test(test_names_of_quantiles),
    };
    return cmocka_run_group_tests_name("window bins", tests, NULL, NULL);
}
