/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series that come, go and come back while windows are kept: whose place is whose, what is never
 * an event of now, and what is used again.
 */
#include "base/alloc.h"
#include "base/misuse.h"
#include "windows/range_windows.h"
#include "support/window_fixture.h"

#include <crest/lifetime.h>
#include <crest/reporter.h>
#include <sys/wait.h>

/* Peers come and go among others that stay: no block more than at first is ever needed. */
static void test_blocks_are_used_again(void **state)
{
    (void)state;
    enum { STAY = 3 * (int)CREST_FRAMES_SERIES, ROUNDS = 10, COME = 8 };
    bench b;
    char name[32];
    bench_begin(&b);
    crest_counter_family family = bench_family(&b, "m");
    for (int i = 0; i < STAY; i++) {
        snprintf(name, sizeof name, "stays%d", i);
        bench_peer(&family, name);
    }
    bench_tick(&b, 1);
    unsigned blocks = b.windows->block_count;
    for (int round = 0; round < ROUNDS; round++) {
        /* a series of the first block makes room for what comes */
        for (int i = 0; i < COME; i++) {
            snprintf(name, sizeof name, "stays%d", round * COME + i);
            assert_int_equal(crest_retire(b.registry, "peer", name), 1);
        }
        bench_live(&b, 130);
        for (int i = 0; i < COME; i++) {
            snprintf(name, sizeof name, "comes%d.%d", round, i);
            bench_peer(&family, name);
        }
        bench_tick(&b, 1);
        assert_int_equal(crest_windows_places(), STAY);
        assert_true(b.windows->block_count <= blocks);
    }
    bench_end(&b);
}

/* A series that went and began anew between two readings is another one, and in one place. */
static void test_another_life_between_readings(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_counter_family family = bench_family(&b, "m");
    crest_counter *x = bench_peer(&family, "x");
    bench_tick(&b, 1);
    crest_counter_add(x, 1000);
    bench_tick(&b, 1);
    assert_int_equal(bench_window(&b, &x->handle, 300).events, 1000);
    assert_int_equal(crest_counter_release(x), CREST_OK);
    for (int i = 0; i < 300; i++) {
        bench_after(&b, 1);
        crest_growth_tick();
        crest_snapshot_free(fixture_snapshot(b.registry));
    }
    assert_int_equal(crest_counter_value(x), 0);
    crest_counter_add(x, 7);
    assert_int_equal(crest_counter_value(x), 7);
    bench_tick(&b, 1);
    assert_int_equal(bench_window(&b, &x->handle, 60).events, 7);
    assert_int_equal(crest_windows_places(), 1);
    crest_counter_add(x, 5);
    bench_tick(&b, 1);
    assert_int_equal(bench_window(&b, &x->handle, 60).events, 12);
    bench_end(&b);
}

/* What had events before windows were kept, and was hidden when they began, comes back with them:
 * they are none of now. */
static void test_hidden_when_windows_begin(void **state)
{
    (void)state;
    static const char *const keys[] = {"peer"};
    const crest_metric_options options = {.name = "m", .idle_s = 10};
    const char *peer = "x";
    bench b;
    bench_begin(&b);
    crest_counter_family family = crest_counter_family_new(b.registry, &options, keys, 1, NULL);
    crest_counter *counter = crest_counter_family_get(&family, &peer, 1);
    crest_counter_add(counter, 1000000);
    bench_live(&b, 30);
    assert_int_equal(crest_snapshot_size(b.windows->last), 0);
    for (int again = 0; again < 2; again++) {
        crest_windows_free(b.windows);
        b.windows = crest_windows_new();
        bench_live(&b, 3);
        crest_counter_inc(counter);
        crest_growth_show_again(b.registry->state);
        bench_live(&b, 1);
        crest_window window = bench_window(&b, &counter->handle, CREST_WINDOW_S);
        assert_true(window.events <= 1 && window.peak <= 1);
        bench_live(&b, 20);
    }
    bench_end(&b);
}

/* Only what is new to the windows is told as lacking a place. */
static void test_a_lacking_place_is_told_once(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_windows_set(NULL, 0, 1);
    fixture_counter(b.registry, "a");
    fixture_counter(b.registry, "b");
    uint64_t misused = crest_misuse_value(CREST_MISUSE_LIMIT);
    bench_tick(&b, 1);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), misused + 1);
    fixture_gauge(b.registry, "g");
    bench_tick(&b, 1);
    fixture_gauge(b.registry, "h");
    bench_tick(&b, 1);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), misused + 1);
    assert_int_equal(crest_windows_refused(), 1);
    crest_windows_set(NULL, 0, CREST_WINDOWED_SERIES_DEFAULT);
    bench_end(&b);
}

/* The child of a fork has no windows yet, so all places are free. */
static void test_fork(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_windows_set(NULL, 0, 1);
    fixture_counter(b.registry, "a");
    fixture_counter(b.registry, "b");
    bench_tick(&b, 1);
    assert_int_equal(crest_windows_places(), 1);
    assert_int_equal(crest_windows_refused(), 1);
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(crest_windows_places() != 0 || crest_windows_refused() != 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(crest_windows_places(), 1);
    crest_windows_set(NULL, 0, CREST_WINDOWED_SERIES_DEFAULT);
    bench_end(&b);
}

/* A reading that finds no memory somewhere: everything is as it should be two readings later. */
static void test_memory_comes_back(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_counter *counter = fixture_counter(b.registry, "c");
    bench_tick(&b, 1);
    unsigned failed = 0;
    for (unsigned long fail = 1; fail < 10; fail++) {
        char name[32];
        snprintf(name, sizeof name, "new.%lu", fail);
        fixture_counter(b.registry, name);
        crest_counter_inc(counter);
        bench_after(&b, 1);
        crest_snapshot *snapshot = crest_snapshot_read_notes(b.registry->state);
        crest_alloc_fail_after(fail);
        failed += crest_windows_tick(b.windows, snapshot) != 0 || b.windows->entries == NULL;
        crest_alloc_fail_after(0);
        assert_int_equal(bench_window(&b, &counter->handle, 60).events, fail);
        bench_tick(&b, 1);
        assert_non_null(b.windows->entries);
        assert_int_equal(b.windows->entry_count, fail + 1);
    }
    assert_true(failed != 0);
    bench_end(&b);
}

/* Hidden for longer than the windows: what was recorded before that is in none of them. */
static void test_hidden_for_long(void **state)
{
    (void)state;
    const crest_metric_options options = {.name = "t", .idle_s = 5};
    bench b;
    bench_begin(&b);
    crest_timer *timer = crest_timer_get(b.registry, &options, NULL);
    bench_live(&b, 1);
    crest_timer_record(timer, 5000000, CREST_OUTCOME_OK);
    bench_live(&b, 70);
    assert_int_equal(crest_snapshot_size(b.windows->last), 0);
    /* its ticks' places have all been used again by now */
    crest_window window = bench_window(&b, &timer->outcome[CREST_OUTCOME_OK].handle, 60);
    assert_int_equal(window.events, 0);
    crest_timer_record(timer, 10, CREST_OUTCOME_OK);
    bench_live(&b, 1);
    window = bench_window(&b, &timer->outcome[CREST_OUTCOME_OK].handle, 60);
    assert_int_equal(window.events, 1);
    assert_true(window.maximum == 10 && window.average == 10);
    bench_end(&b);
}

/* How long a series has been idle does not begin anew because others come and go. */
static void test_idle_among_others_that_come(void **state)
{
    (void)state;
    const crest_metric_options options = {.name = "m", .idle_s = 20};
    bench b;
    bench_begin(&b);
    crest_counter *counter = crest_counter_get(b.registry, &options, NULL);
    crest_counter_inc(counter);
    for (int i = 0; i < 30; i++) {
        char name[32];
        snprintf(name, sizeof name, "a.%d", i);
        fixture_gauge(b.registry, name);
        bench_live(&b, 1);
    }
    for (size_t i = 0; i < crest_snapshot_size(b.windows->last); i++) {
        crest_series_view view;
        assert_int_equal(crest_snapshot_series(b.windows->last, i, &view), CREST_OK);
        assert_string_not_equal(view.name, "m");
    }
    bench_end(&b);
}

/* Each of many range samplers has the extremes of its own tick. */
static void test_many_range_samplers(void **state)
{
    (void)state;
    enum { MANY = 131 };
    bench b;
    static crest_range_sampler *sampler[MANY];
    bench_begin(&b);
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof name, "r%d", i);
        sampler[i] = fixture_range_sampler(b.registry, name);
        crest_range_sampler_set(sampler[i], 5);
    }
    bench_tick(&b, 1);
    for (int i = 0; i < MANY; i++) {
        crest_range_sampler_set(sampler[i], 1000 + i);
        crest_range_sampler_set(sampler[i], 2);
        crest_range_sampler_set(sampler[i], 5);
    }
    bench_tick(&b, 1);
    for (int i = 0; i < MANY; i++) {
        crest_window window = bench_window(&b, &sampler[i]->handle, 60);
        if (window.maximum != 1000 + i || window.minimum != 2)
            fail_msg("sampler %d: %g to %g", i, window.minimum, window.maximum);
    }
    bench_end(&b);
}

/* A filter over what a filter left finds windows for what still has some, and for nothing else. */
static void test_filtered_twice(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b);
    crest_testing_clock_set(b.now_ns);
    char name[32];
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "s.%c", 'a' + i);
        if (i < 3)
            fixture_counter(b.registry, name);
        else
            fixture_gauge(b.registry, name);
    }
    for (int i = 0; i < 3; i++) {
        crest_testing_clock_advance(SECOND);
        assert_int_equal(crest_testing_tick(b.registry), CREST_OK);
    }
    crest_snapshot *snapshot = fixture_snapshot(b.registry);
    assert_int_equal(crest_snapshot_select(snapshot, NULL, "s.a"), CREST_OK);
    assert_int_equal(crest_snapshot_select(snapshot, NULL, "s.l"), CREST_OK);
    assert_int_equal(crest_snapshot_size(snapshot), 10);
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view view;
        assert_int_equal(crest_snapshot_series(snapshot, i, &view), CREST_OK);
        assert_true((view.window.covered_s > 0) == (view.kind == CREST_KIND_COUNTER));
    }
    crest_snapshot_free(snapshot);
    bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_used_again),
        cmocka_unit_test(test_another_life_between_readings),
        cmocka_unit_test(test_hidden_when_windows_begin),
        cmocka_unit_test(test_a_lacking_place_is_told_once),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_memory_comes_back),
        cmocka_unit_test(test_hidden_for_long),
        cmocka_unit_test(test_idle_among_others_that_come),
        cmocka_unit_test(test_many_range_samplers),
        cmocka_unit_test(test_filtered_twice),
    };
    return cmocka_run_group_tests_name("window places", tests, NULL, NULL);
}
