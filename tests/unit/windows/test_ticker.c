/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ticker's thread: attaching, detaching and freeing registries, and what its first readings
 * say. What follows from readings is in test_windows.c.
 */
#include "base/alloc.h"
#include "support/core_fixture.h"
#include "windows/ticker.h"

/* Time goes on, for windows and for the ticker. */
static void ticker_pass(unsigned ms)
{
    crest_testing_clock_advance(ms * UINT64_C(1000000));
    crest_ticker_step(ms * UINT64_C(1000000));
}

/* Time goes on until the counter's window has a tick: a second or, as the thread takes its time to
 * make it, more. */
static void ticker_wait_covered(const crest_counter *counter)
{
    for (int i = 0; i < 200000; i++) {
        if (crest_counter_rate(counter, CREST_WINDOW_S).covered_s > 0)
            return;
        if (i < 100)
            ticker_pass(CREST_TICK_MS / 50);
        fixture_nap();
    }
    fail_msg("no tick within two seconds of its clock");
}

static void test_attached(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    crest_histogram *histogram = fixture_histogram(registry, "h");
    crest_timer *timer = fixture_timer(registry, "t");
    crest_counter_add(counter, 1000000);
    assert_int_equal(crest_ticker_detach(registry), CREST_NOT_FOUND);
    assert_true(crest_counter_rate(counter, CREST_WINDOW_S).covered_s == 0);
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);
    crest_counter_add(counter, 10);
    crest_histogram_record(histogram, 50);
    crest_timer_record(timer, 70, CREST_OUTCOME_CANCELLED);
    ticker_wait_covered(counter);
    crest_rate rate = crest_counter_rate(counter, CREST_WINDOW_S);
    assert_true(rate.covered_s > 0.9);
    assert_true(fabs(rate.per_second * rate.covered_s - 10) < 1e-6);
    assert_true(rate.peak > 0 && rate.peak < 12);
    assert_true(crest_counter_rate(counter, CREST_WINDOW_S + 1).covered_s == 0);
    crest_window window = crest_histogram_window(histogram, CREST_WINDOW_S);
    assert_true(window.events == 1 && window.average == 50 && window.maximum == 50);
    window = crest_timer_window(timer, CREST_OUTCOME_CANCELLED, CREST_WINDOW_S);
    assert_true(window.events == 1 && window.maximum == 70);
    window = crest_histogram_window(&timer->outcome[CREST_OUTCOME_CANCELLED], CREST_WINDOW_S);
    assert_true(window.events == 1 && window.maximum == 70);
    window = crest_timer_window(timer, CREST_OUTCOME_TIMEOUT, CREST_WINDOW_S);
    assert_true(window.covered_s == 0);
    window = crest_timer_window(timer, CREST_OUTCOME_COUNT, CREST_WINDOW_S);
    assert_true(window.covered_s == 0);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(fixture_series(snapshot, "c", NULL).window.events, 10);
    crest_snapshot_free(snapshot);
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);
    assert_true(crest_counter_rate(counter, CREST_WINDOW_S).covered_s == 0);
    assert_int_equal(crest_ticker_detach(registry), CREST_NOT_FOUND);
    crest_testing_clock_real();
    crest_registry_free(registry);
}

/* Attached just before a tick: the little that happens until then is no peak. */
static void test_short_first_tick(void **state)
{
    (void)state;
    crest_registry *running = fixture_registry(NULL), *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    assert_int_equal(crest_ticker_attach(running), CREST_OK);
    ticker_pass(970);
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    crest_counter_add(counter, 10);
    ticker_wait_covered(counter);
    crest_rate rate = crest_counter_rate(counter, CREST_WINDOW_S);
    assert_true(rate.covered_s > 0.5);
    assert_true(fabs(rate.per_second * rate.covered_s - 10) < 1e-6);
    if (!(rate.peak <= 20))
        fail_msg("10 events in a second are a peak of %g", rate.peak);
    crest_registry_free(registry); /* detaches it */
    crest_registry_free(running);
    crest_testing_clock_real();
}

/* An outcome that was first hit through another handle of the same timer. */
CREST_TIMER(declared, "test.wait-time", "Declared.");
CREST_TIMER(declared_again, "test.wait-time", "Declared again.");

static void test_outcome_of_another_handle(void **state)
{
    (void)state;
    crest_testing_clock_set(1);
    assert_int_equal(crest_testing_tick(NULL), CREST_OK);
    crest_timer_record(&declared, 5, CREST_OUTCOME_TIMEOUT);
    crest_testing_clock_advance(CREST_TICK_MS * UINT64_C(1000000));
    assert_int_equal(crest_testing_tick(NULL), CREST_OK);
    crest_testing_clock_real();
    crest_window window =
        crest_timer_window(&declared_again, CREST_OUTCOME_TIMEOUT, CREST_WINDOW_S);
    assert_int_equal(window.events, 1);
    assert_int_equal(crest_ticker_detach(NULL), CREST_OK);
}

static void test_limit(void **state)
{
    (void)state;
    crest_registry *registries[CREST_OBSERVED_MAX + 1];
    for (unsigned i = 0; i <= CREST_OBSERVED_MAX; i++) {
        registries[i] = fixture_registry(NULL);
        assert_int_equal(crest_ticker_attach(registries[i]),
                         i < CREST_OBSERVED_MAX ? CREST_OK : CREST_LIMIT);
    }
    assert_int_equal(crest_ticker_detach(registries[0]), CREST_OK);
    assert_int_equal(crest_ticker_attach(registries[CREST_OBSERVED_MAX]), CREST_OK);
    for (unsigned i = 0; i <= CREST_OBSERVED_MAX; i++)
        crest_registry_free(registries[i]);
    crest_registry alien = {.abi = CREST_ABI + 1};
    assert_int_not_equal(crest_ticker_attach(&alien), CREST_OK);
    assert_int_equal(crest_ticker_detach(&alien), CREST_NOT_FOUND);
}

/* Each allocation fails in turn: what is attached has a reading, what is not says so. */
static void test_no_memory(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    fixture_histogram(registry, "h");
    crest_histogram_record(fixture_histogram(registry, "h"), 5);
    crest_status status = CREST_NO_MEMORY;
    unsigned long n = 0;
    while (status != CREST_OK) {
        crest_alloc_fail_after(++n);
        status = crest_ticker_attach(registry);
        crest_alloc_fail_after(0);
        assert_true(status == CREST_OK || status == CREST_NO_MEMORY);
        assert_true(n < 100);
        if (status != CREST_OK)
            assert_int_equal(crest_ticker_detach(registry), CREST_NOT_FOUND);
    }
    assert_true(n > 4);
    crest_counter_add(counter, 4);
    ticker_wait_covered(counter);
    crest_rate rate = crest_counter_rate(counter, CREST_WINDOW_S);
    assert_true(fabs(rate.per_second * rate.covered_s - 4) < 1e-6);
    assert_int_equal(crest_ticker_detach(registry), CREST_OK);
    crest_testing_clock_real();
    crest_registry_free(registry);
}

/* Registries come and go while the ticker runs, read from other threads. */
static void *ticker_churn(void *unused)
{
    for (int i = 0; i < 200; i++) {
        crest_registry *registry = crest_registry_new(NULL);
        crest_metric_options options = {.name = "c"};
        crest_counter *counter = crest_counter_get(registry, &options, NULL);
        crest_series_view view;
        fixture_equal(crest_ticker_attach(registry), CREST_OK);
        if (i % 8 == 0)
            crest_ticker_step(CREST_TICK_MS * UINT64_C(1000000));
        crest_counter_inc(counter);
        /* no tick of this registry need have come between, and the ticker's may have */
        crest_rate rate = crest_counter_rate(counter, CREST_WINDOW_S);
        fixture_holds(rate.per_second * rate.covered_s < 1.5 && rate.peak >= 0);
        crest_snapshot *snapshot = fixture_snapshot(registry);
        fixture_equal(crest_snapshot_find(snapshot, "c", NULL, 0, &view), CREST_OK);
        fixture_equal(view.counter, 1);
        crest_snapshot_free(snapshot);
        if (i % 2)
            fixture_equal(crest_ticker_detach(registry), CREST_OK);
        crest_registry_free(registry);
    }
    return unused;
}

static void test_churn(void **state)
{
    (void)state;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ticker_churn, NULL), 0);
    for (int i = 0; i < 3; i++)
        fixture_join(threads[i], NULL);
    /* none is left attached, and so no thread */
    crest_registry *registry = fixture_registry(NULL);
    assert_int_equal(crest_ticker_detach(registry), CREST_NOT_FOUND);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attached),
        cmocka_unit_test(test_short_first_tick),
        cmocka_unit_test(test_outcome_of_another_handle),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_churn),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("ticker", tests, NULL, NULL);
}
