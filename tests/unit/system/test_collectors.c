/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The framework of collectors, with collectors of the test's own: when figures are made, withdrawn
 * and come back, how cumulative sources become counters, devices that come and go, when a collector
 * is called, one that hangs, and the child of a fork.
 *
 * crest-test: waits
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "support/system_fixture.h"
#include "system/system_inside.h"

#include <sys/wait.h>

/* ---- a collector that gives what it is told ---- */

#define NOTHING INT64_MIN

enum { GAUGE, LABELLED, TOTAL, TOTAL_32, TOTAL_WORD, SCALED, HISTOGRAM, SAMPLER, FIGURES };

static const crest_figure told_figures[] = {
    [GAUGE] = {.kind = CREST_KIND_GAUGE, .options = {.name = "told.gauge"}},
    [LABELLED] = {.kind = CREST_KIND_GAUGE,
                  .options = {.name = "told.labelled"},
                  .label = {"mode", "one"}},
    [TOTAL] = {.kind = CREST_KIND_COUNTER, .options = {.name = "told.total"}},
    [TOTAL_32] = {.kind = CREST_KIND_COUNTER,
                  .options = {.name = "told.narrow"},
                  .width = CREST_WIDTH_32},
    [TOTAL_WORD] = {.kind = CREST_KIND_COUNTER,
                    .options = {.name = "told.word"},
                    .width = CREST_WIDTH_WORD},
    [SCALED] = {.kind = CREST_KIND_COUNTER, .options = {.name = "told.scaled"}, .scale = 512},
    [HISTOGRAM] = {.kind = CREST_KIND_HISTOGRAM, .options = {.name = "told.histogram"}},
    [SAMPLER] = {.kind = CREST_KIND_RANGE_SAMPLER, .options = {.name = "told.sampler"}},
};

enum { DEVICE_GAUGE, DEVICE_TOTAL };

static const crest_figure device_figures[] = {
    [DEVICE_GAUGE] = {.kind = CREST_KIND_GAUGE, .options = {.name = "device.gauge"}},
    [DEVICE_TOTAL] = {.kind = CREST_KIND_COUNTER,
                      .options = {.name = "device.total"},
                      .label = {"direction", "read"}},
};

/* What it is told; changed only while no snapshot is being taken. */
static int64_t told[FIGURES];
static const char *told_devices[8];
static uint64_t told_device_total;
static unsigned told_many;
static unsigned told_consumed;
static uint64_t told_elapsed_ns;

static void told_give(crest_place *place, unsigned figure, int64_t value)
{
    switch (told_figures[figure].kind) {
    case CREST_KIND_GAUGE: crest_figure_gauge(place, figure, (double)value); break;
    case CREST_KIND_COUNTER: crest_figure_total(place, figure, (uint64_t)value); break;
    case CREST_KIND_HISTOGRAM: crest_figure_record(place, figure, value); break;
    default: crest_figure_sample(place, figure, value);
    }
}

static void told_collect(crest_collect *collect)
{
    for (unsigned i = 0; i < FIGURES; i++)
        if (told[i] != NOTHING)
            told_give(collect->own, i, told[i]);
    for (unsigned i = 0; i < LENGTH(told_devices); i++) {
        crest_place *place =
            told_devices[i] ? crest_collect_device(collect, told_devices[i]) : NULL;
        if (place == NULL)
            continue;
        crest_figure_gauge(place, DEVICE_GAUGE, 1.5);
        crest_figure_total(place, DEVICE_TOTAL, told_device_total);
        *(unsigned *)crest_place_state(place) += 1;
    }
    for (unsigned i = 0; i < told_many; i++) {
        char name[32];
        snprintf(name, sizeof name, "many-%u", i);
        crest_place *place = crest_collect_device(collect, name);
        if (place != NULL)
            crest_figure_gauge(place, DEVICE_GAUGE, i);
    }
    told_consumed += (unsigned)collect->consume;
    if (collect->consume)
        told_elapsed_ns = collect->elapsed_ns;
}

static const crest_collector_kind told_kind = {
    .name = "told",
    .group = "told",
    .collect = told_collect,
    .figures = told_figures,
    .figure_count = CREST_FIGURES(told_figures),
    .device_key = "device",
    .device_figures = device_figures,
    .device_figure_count = CREST_FIGURES(device_figures),
    .device_bytes = sizeof(unsigned),
};

static void told_start_kind(system_under_test *test, const crest_collector_kind *kind)
{
    crest_error error;
    memset(test, 0, sizeof *test);
    test->registry = fixture_registry(NULL);
    test->options.registry = test->registry;
    test->options.interval_ms = test->options.slow_interval_ms = CREST_SYSTEM_INTERVAL_MS_MIN;
    test->system = crest_system_start_kinds(&test->options, &kind, 1, &error);
    if (test->system == NULL)
        fail_msg("%s", error.message);
}

static void told_start(system_under_test *test)
{
    for (unsigned i = 0; i < FIGURES; i++)
        told[i] = NOTHING;
    memset(told_devices, 0, sizeof told_devices);
    told_many = 0;
    told_start_kind(test, &told_kind);
}

static void told_restart(system_under_test *test)
{
    const crest_collector_kind *kind = &told_kind;
    crest_error error;
    assert_int_equal(crest_system_stop(test->system), CREST_OK);
    test->system = crest_system_start_kinds(&test->options, &kind, 1, &error);
    assert_non_null(test->system);
}

/* ---- figures ---- */

static void test_made_and_withdrawn(void **state)
{
    (void)state;
    system_under_test test;
    told_start(&test);
    assert_false(system_has(&test, "told.gauge", NULL));
    told[GAUGE] = told[LABELLED] = 7;
    told[HISTOGRAM] = told[SAMPLER] = 3;
    assert_true(system_gauge(&test, "told.gauge", NULL) == 7);
    assert_true(system_gauge(&test, "told.labelled", "one") == 7);
    assert_true(system_has(&test, "told.histogram", NULL));
    assert_true(system_has(&test, "told.sampler", NULL));
    crest_system_state shown;
    assert_int_equal(crest_system_list(test.system, &shown, 1), 1);
    assert_int_equal(shown.series, 4);
    assert_string_equal(shown.name, "told");
    assert_string_equal(shown.why, "");
    for (unsigned again = 0; again < 3; again++) {
        told[GAUGE] = told[LABELLED] = told[HISTOGRAM] = told[SAMPLER] = NOTHING;
        assert_false(system_has(&test, "told.gauge", NULL));
        assert_false(system_has(&test, "told.labelled", "one"));
        assert_false(system_has(&test, "told.histogram", NULL));
        assert_false(system_has(&test, "told.sampler", NULL));
        told[GAUGE] = told[LABELLED] = 7; /* the value that it had: back all the same */
        told[SAMPLER] = 3;
        assert_true(system_gauge(&test, "told.gauge", NULL) == 7);
        assert_true(system_gauge(&test, "told.labelled", "one") == 7);
        assert_true(system_has(&test, "told.sampler", NULL));
    }
    crest_snapshot *before = system_look(&test);
    assert_int_equal(crest_system_stop(test.system), CREST_OK);
    crest_snapshot *after = fixture_snapshot(test.registry);
    crest_series_view view;
    assert_int_equal(crest_snapshot_find(before, "told.gauge", NULL, 0, &view), CREST_OK);
    assert_int_equal(crest_snapshot_find(after, "told.gauge", NULL, 0, &view), CREST_NOT_FOUND);
    crest_snapshot_free(before);
    crest_snapshot_free(after);
    crest_registry_free(test.registry);
}

/* Resets counted of this kind. */
static uint64_t told_resets(const system_under_test *test, const char *kind)
{
    const char *values[] = {"told", kind};
    crest_series_view view;
    crest_snapshot *snapshot = system_snapshot(test);
    crest_status found = crest_snapshot_find(snapshot, "crest.collect-resets", values, 2, &view);
    crest_snapshot_free(snapshot);
    return found == CREST_OK ? view.counter : 0;
}

static void test_totals(void **state)
{
    (void)state;
    static const struct {
        unsigned figure;
        int64_t count;
        uint64_t total, resets, wraps;
    } cases[] = {
        {TOTAL, 1000, 1000, 0, 0}, /* the first in full: the source's own total */
        {TOTAL, 1000, 1000, 0, 0}, /* nothing new */
        {TOTAL, 1500, 1500, 0, 0}, /* growth */
        {TOTAL, 200, 1700, 1, 0},  /* it began again */
        {TOTAL, 0, 1700, 2, 0},    /* and again */
        {TOTAL, 4294967295, 4294968995, 2, 0},
        {TOTAL, 5, 4294969000, 3, 0}, /* not known to be of 32 bits: no wrap */
        {TOTAL_32, 4294967290, 4294967290, 3, 0},
        {TOTAL_32, 4, 4294967300, 3, 1}, /* ten more */
        {TOTAL_32, 2000000000, 6294967296, 3, 1},
        {TOTAL_32, 1000, 6294968296, 4, 1}, /* far too many for a wrap: it began again */
        {TOTAL_WORD, 4294967290, 4294967290, 4, 1},
        {TOTAL_WORD, 4, 4294967294, 5, 1}, /* a word of this kernel has 64 bits */
        {SCALED, 10, 5120, 5, 1},
        {SCALED, 11, 5632, 5, 1},
        {SCALED, INT64_MAX, 5632, 5, 1}, /* no counter takes that */
        {SCALED, 12, 6144, 5, 1},        /* so the one before still counts */
    };
    static const char *const names[FIGURES] = {[TOTAL] = "told.total",
                                               [TOTAL_32] = "told.narrow",
                                               [TOTAL_WORD] = "told.word",
                                               [SCALED] = "told.scaled"};
    system_under_test test;
    told_start(&test);
    if (sizeof(long) != 8) {
        print_message("figures that do not fit into a long are of machines with 64 bits\n");
        skip();
    }
    for (size_t i = 0; i < LENGTH(cases); i++) {
        told[cases[i].figure] = cases[i].count;
        assert_int_equal(system_counter(&test, names[cases[i].figure], NULL), cases[i].total);
        assert_int_equal(told_resets(&test, "reset"), cases[i].resets);
        assert_int_equal(told_resets(&test, "wrap"), cases[i].wraps);
    }
    assert_true(system_failures(&test, "told", "garbage") >= 1);
    system_test_stop(&test);
}

/* Stopped and started again, a counter goes on, and never counts anything twice. */
static void test_totals_go_on(void **state)
{
    (void)state;
    system_under_test test;
    told_start(&test);
    told[TOTAL] = 1000;
    assert_int_equal(system_counter(&test, "told.total", NULL), 1000);
    told_restart(&test);
    assert_int_equal(system_counter(&test, "told.total", NULL), 1000);
    told[TOTAL] = 1200;
    told_restart(&test); /* grown meanwhile */
    assert_int_equal(system_counter(&test, "told.total", NULL), 1200);
    told[TOTAL] = 100;
    assert_int_equal(system_counter(&test, "told.total", NULL), 1300);
    told_restart(&test); /* what had been counted of this source is not known any more */
    assert_int_equal(system_counter(&test, "told.total", NULL), 1300);
    told[TOTAL] = 150;
    assert_int_equal(system_counter(&test, "told.total", NULL), 1350);
    told[TOTAL] = NOTHING; /* gone for a while within one life */
    assert_false(system_has(&test, "told.total", NULL));
    told[TOTAL] = 170;
    assert_int_equal(system_counter(&test, "told.total", NULL), 1370);
    system_test_stop(&test);
}

/* ---- devices ---- */

static void test_devices(void **state)
{
    (void)state;
    system_under_test test;
    crest_series_view view;
    told_start(&test);
    told_devices[0] = "sda";
    told_devices[1] = "sdb";
    told_device_total = 100;
    assert_true(system_gauge(&test, "device.gauge", "sda") == 1.5);
    assert_true(system_find(&test, "device.total", "sdb", "read", &view));
    assert_int_equal(view.counter, 100);
    told_devices[1] = NULL;
    /* the gauge goes at once; the counter is exported once more */
    assert_false(system_has(&test, "device.gauge", "sdb"));
    assert_true(system_has(&test, "device.gauge", "sda"));
    told_devices[1] = "sdb";
    told_device_total = 130;
    assert_true(system_has(&test, "device.gauge", "sdb"));
    assert_true(system_find(&test, "device.total", "sdb", "read", &view));
    assert_int_equal(view.counter, 130);
    /* names that cannot be */
    char longest[CREST_COLLECT_DEVICE_BYTES + 1];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    told_devices[2] = longest;
    told_devices[3] = "";
    crest_snapshot_free(system_look(&test));
    assert_true(system_failures(&test, "told", "limit") >= 2);
    longest[sizeof longest - 2] = '\0';
    assert_true(system_has(&test, "device.gauge", longest));
    system_test_stop(&test);
}

static size_t told_count(const crest_snapshot *snapshot, const char *name)
{
    size_t count = 0;
    crest_series_view view;
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++)
        if (crest_snapshot_series(snapshot, i, &view) == CREST_OK)
            count += strcmp(view.name, name) == 0;
    return count;
}

static void test_too_many_devices(void **state)
{
    (void)state;
    system_under_test test;
    told_start(&test);
    told_many = CREST_COLLECT_DEVICES_MAX + 5;
    crest_snapshot *snapshot = system_look(&test);
    assert_int_equal(told_count(snapshot, "device.gauge"), CREST_COLLECT_DEVICES_MAX);
    crest_snapshot_free(snapshot);
    /* each collection counts once, however many there are beyond */
    crest_system_state first, then;
    assert_int_equal(crest_system_list(test.system, &first, 1), 1);
    assert_true(first.failures >= 1);
    crest_snapshot_free(system_look(&test));
    assert_int_equal(crest_system_list(test.system, &then, 1), 1);
    assert_true(then.collections > first.collections);
    assert_int_equal(then.failures - first.failures, then.collections - first.collections);
    assert_true(system_failures(&test, "told", "limit") >= then.failures);
    told_many = 2;
    crest_snapshot_free(system_look(&test)); /* the others vanish, and leave their places */
    told_devices[0] = "another";
    assert_true(system_has(&test, "device.gauge", "another"));
    assert_true(system_has(&test, "device.gauge", "many-1"));
    assert_false(system_has(&test, "device.gauge", "many-2"));
    system_test_stop(&test);
}

/* ---- when ---- */

static void test_consumption_waits(void **state)
{
    (void)state;
    system_under_test test;
    crest_testing_clock_set(UINT64_C(1000000000000));
    told_start(&test);
    test.options.interval_ms = 1000;
    told_restart(&test);
    crest_snapshot_free(system_look(&test));
    unsigned first = told_consumed;
    assert_int_equal(told_elapsed_ns, 0);
    for (unsigned i = 0; i < 5; i++)
        crest_snapshot_free(system_look(&test));
    assert_int_equal(told_consumed, first); /* a millisecond gives no rate */
    crest_testing_clock_advance(899000000);
    crest_snapshot_free(system_look(&test));
    assert_int_equal(told_consumed, first);
    crest_testing_clock_advance(51000000);
    crest_snapshot_free(system_look(&test));
    assert_int_equal(told_consumed, first + 1); /* a tick that is a little early will do */
    assert_int_equal(told_elapsed_ns, 950000000);
    crest_testing_clock_advance(3000000000);
    crest_snapshot_free(system_look(&test));
    assert_int_equal(told_consumed, first + 2);
    assert_int_equal(told_elapsed_ns, 3000000000);
    system_test_stop(&test);
    crest_testing_clock_real();
}

static unsigned slow_calls;
static uint64_t slow_burns_ns; /* of processor time, each call */

static uint64_t slow_cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static void slow_collect(crest_collect *collect)
{
    (void)collect;
    slow_calls++;
    for (uint64_t begin = slow_cpu_ns(); slow_cpu_ns() - begin < slow_burns_ns;)
        continue;
}

static void test_slow_cadence(void **state)
{
    (void)state;
    static const crest_collector_kind slow = {
        .name = "slow", .group = "slow", .cadence = CREST_CADENCE_SLOW, .collect = slow_collect};
    system_under_test test;
    told_start_kind(&test, &slow);
    crest_snapshot_free(system_look(&test));
    unsigned first = slow_calls;
    assert_true(first >= 1);
    crest_testing_clock_set(crest_now());
    for (unsigned i = 0; i < 20; i++)
        crest_snapshot_free(system_snapshot(&test));
    assert_true(slow_calls <= first + 1);
    crest_testing_clock_advance(1000000 * CREST_SYSTEM_INTERVAL_MS_MIN);
    first = slow_calls;
    for (unsigned i = 0; i < 20; i++)
        crest_snapshot_free(system_snapshot(&test));
    assert_int_equal(slow_calls, first + 1);
    crest_testing_clock_real();
    system_test_stop(&test);
}

/* Of a processor it takes a hundredth at most, whatever its interval. */
static void test_slow_rest(void **state)
{
    (void)state;
    static const crest_collector_kind slow = {
        .name = "slow", .group = "slow", .cadence = CREST_CADENCE_SLOW, .collect = slow_collect};
    system_under_test test;
    crest_testing_clock_set(UINT64_C(1000000000000));
    slow_burns_ns = 10000000;
    told_start_kind(&test, &slow);
    crest_snapshot_free(system_look(&test));
    unsigned first = slow_calls;
    crest_testing_clock_advance(UINT64_C(80) * slow_burns_ns);
    for (unsigned i = 0; i < 5; i++)
        crest_snapshot_free(system_snapshot(&test));
    assert_int_equal(slow_calls, first);
    crest_testing_clock_advance(UINT64_C(1000) * slow_burns_ns);
    crest_snapshot_free(system_look(&test));
    assert_int_equal(slow_calls, first + 1);
    slow_burns_ns = 0;
    crest_testing_clock_real();
    system_test_stop(&test);
}

/* ---- one that hangs ---- */

static pthread_mutex_t hang = PTHREAD_MUTEX_INITIALIZER;
static uint32_t hang_finished;

static void hang_collect(crest_collect *collect)
{
    crest_figure_gauge(collect->own, 0, 1);
    pthread_mutex_lock(&hang);
    pthread_mutex_unlock(&hang);
    crest_figure_gauge(collect->own, 0, 2);
}

static void hang_finish(void *state)
{
    (void)state;
    __atomic_store_n(&hang_finished, 1, __ATOMIC_RELEASE);
}

static void test_hanging(void **state)
{
    (void)state;
    static const crest_collector_kind hanging = {.name = "hanging",
                                                 .group = "hanging",
                                                 .collect = hang_collect,
                                                 .state_bytes = 8,
                                                 .finish = hang_finish,
                                                 .figures = told_figures,
                                                 .figure_count = 1};
    const crest_collector_kind *both[] = {&hanging, &told_kind};
    system_under_test test = {.registry = fixture_registry(NULL)};
    crest_error error;
    for (unsigned i = 0; i < FIGURES; i++)
        told[i] = i == LABELLED ? 5 : NOTHING;
    test.options.registry = test.registry;
    pthread_mutex_lock(&hang);
    test.system = crest_system_start_kinds(&test.options, both, 2, &error);
    assert_non_null(test.system);
    /* the other one goes on */
    crest_series_view view;
    const char *one = "one";
    int found = 0;
    for (unsigned i = 0; i < 400 && !found; i++) {
        crest_snapshot *snapshot = fixture_snapshot(test.registry);
        found = crest_snapshot_find(snapshot, "told.labelled", &one, 1, &view) == CREST_OK;
        crest_snapshot_free(snapshot);
        usleep(5000);
    }
    assert_true(found);
    crest_system_state states[2];
    assert_int_equal(crest_system_list(test.system, states, 2), 2);
    assert_true(states[0].running);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_int_equal(crest_system_stop(test.system), CREST_TIMED_OUT);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_in_range(after.tv_sec - before.tv_sec, 0, 20);
    assert_int_equal(crest_system_stop(test.system), CREST_NOT_FOUND);
    crest_snapshot *snapshot = fixture_snapshot(test.registry);
    assert_int_equal(crest_snapshot_find(snapshot, "told.gauge", NULL, 0, &view), CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
    assert_int_equal(__atomic_load_n(&hang_finished, __ATOMIC_ACQUIRE), 0);
    pthread_mutex_unlock(&hang);
    for (unsigned i = 0; i < 4000 && !__atomic_load_n(&hang_finished, __ATOMIC_ACQUIRE); i++)
        usleep(5000);
    assert_int_equal(__atomic_load_n(&hang_finished, __ATOMIC_ACQUIRE), 1);
    snapshot = fixture_snapshot(test.registry); /* what it gave when it came back is nowhere */
    assert_int_equal(crest_snapshot_find(snapshot, "told.gauge", NULL, 0, &view), CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
    crest_registry_free(test.registry);
}

/* ---- fork ---- */

static int told_child(const system_under_test *test)
{
    crest_series_view view;
    crest_snapshot *snapshot = crest_snapshot_take(test->registry);
    if (crest_snapshot_find(snapshot, "told.gauge", NULL, 0, &view) != CREST_NOT_FOUND)
        return 2; /* the parent's value, or 0 */
    if (crest_snapshot_find(snapshot, "told.total", NULL, 0, &view) != CREST_NOT_FOUND)
        return 3;
    crest_snapshot_free(snapshot);
    if (crest_system_list(test->system, NULL, 0) != 0 ||
        crest_system_stop(test->system) != CREST_NOT_FOUND)
        return 4;
    system_under_test own = *test;
    const crest_collector_kind *kind = &told_kind;
    own.system = crest_system_start_kinds(&own.options, &kind, 1, NULL);
    if (own.system == NULL)
        return 5;
    told[TOTAL] = 40;
    snapshot = system_look(&own);
    if (crest_snapshot_find(snapshot, "told.total", NULL, 0, &view) != CREST_OK ||
        view.counter != 40)
        return 6;
    if (crest_snapshot_find(snapshot, "told.gauge", NULL, 0, &view) != CREST_OK || view.gauge != 7)
        return 7;
    crest_snapshot_free(snapshot);
    return crest_system_stop(own.system) == CREST_OK ? 0 : 8;
}

static void test_fork(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    system_under_test test;
    told_start(&test);
    told[GAUGE] = 7;
    told[TOTAL] = 1000;
    assert_int_equal(system_counter(&test, "told.total", NULL), 1000);
    for (unsigned i = 0; i < 20; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(told_child(&test));
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_int_equal(system_counter(&test, "told.total", NULL), 1000);
    system_test_stop(&test);
}

/* ---- memory ---- */

static void test_no_memory(void **state)
{
    (void)state;
    const crest_collector_kind *kind = &told_kind;
    crest_registry *registry = fixture_registry(NULL);
    crest_system_options options = {.registry = registry};
    crest_system *system = NULL;
    for (unsigned long at = 1; at < 100 && system == NULL; at++) {
        crest_error error;
        crest_alloc_fail_after(at);
        system = crest_system_start_kinds(&options, &kind, 1, &error);
        crest_alloc_fail_after(0);
        if (system == NULL)
            assert_int_equal(error.status, CREST_NO_MEMORY);
    }
    assert_non_null(system);
    assert_int_equal(crest_system_stop(system), CREST_OK);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_and_withdrawn),
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_totals_go_on),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_too_many_devices),
        cmocka_unit_test(test_consumption_waits),
        cmocka_unit_test(test_slow_cadence),
        cmocka_unit_test(test_slow_rest),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_hanging),
    };
    fixture_watchdog(300);
    return cmocka_run_group_tests_name("collectors", tests, NULL, NULL);
}
