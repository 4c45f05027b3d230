/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots while metrics are being made: what was there before a snapshot began is in it, and what
 * was made beside one is in the next.
 *
 * crest-test: timeout=300
 */
#include "base/atomic.h"
#include "metrics/metric_inside.h"
#include "support/core_fixture.h"
#include "windows/windows.h"

#include <sched.h>

#define STRESS_METRICS FIXTURE_TIMES(3000)

typedef struct stress {
    crest_registry *registry;
    uint64_t made; /* series that exist for certain */
    uint64_t done;
    uint64_t snapshots;
    uint64_t lacking; /* snapshots that had fewer series than there were before them */
} stress;

/* Series in a snapshot; none if it lacks the one that was made first, which is also the first in
 * order. */
static size_t stress_size(crest_registry *registry)
{
    crest_snapshot *snapshot = fixture_snapshot(registry);
    size_t size = crest_snapshot_size(snapshot);
    crest_series_view first;
    if (size != 0 && (crest_snapshot_series(snapshot, 0, &first) != CREST_OK ||
                      strcmp(first.name, "made.m0") != 0))
        size = 0;
    crest_snapshot_free(snapshot);
    return size;
}

static void *stress_read(void *argument)
{
    stress *s = argument;
    while (!crest_atomic_load_acquire(&s->done)) {
        uint64_t before = crest_atomic_load_acquire(&s->made);
        if (stress_size(s->registry) < before)
            s->lacking++;
        crest_atomic_add(&s->snapshots, 1);
    }
    return NULL;
}

/* Unlabelled metrics, made one by one: after each, its maker looks for it. In many small
 * registries, whose snapshots are short, so that many begin while a metric is being made. */
static void test_metrics_made_beside_snapshots(void **state)
{
    (void)state;
    for (unsigned round = 0; round < STRESS_METRICS / 30; round++) {
        stress s = {.registry = fixture_registry(NULL)};
        pthread_t reader;
        assert_int_equal(pthread_create(&reader, NULL, stress_read, &s), 0);
        uint64_t missed = 0;
        for (unsigned i = 0; i < 30; i++) {
            char name[32];
            snprintf(name, sizeof name, "made.m%u", i);
            uint64_t snapshots = crest_atomic_load(&s.snapshots);
            FIXTURE_AWAIT(crest_atomic_load(&s.snapshots) != snapshots); /* the reader reads */
            fixture_counter(s.registry, name);
            crest_atomic_store_release(&s.made, i + 1);
            if (stress_size(s.registry) != i + 1)
                missed++;
        }
        crest_atomic_store_release(&s.done, 1);
        fixture_join(reader, NULL);
        assert_int_equal(missed, 0);
        assert_int_equal(s.lacking, 0);
        crest_registry_free(s.registry);
    }
}

/* Series of a family, made as fast as can be. */
static void test_series_made_beside_snapshots(void **state)
{
    (void)state;
    stress s = {.registry = fixture_registry(NULL)};
    static const char *const keys[] = {"a"};
    fixture_counter(s.registry, "made.m0");
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, stress_read, &s), 0);
    for (unsigned f = 0; f < 20; f++) {
        char name[32];
        snprintf(name, sizeof name, "made.more%u", f);
        crest_metric_options options = {.name = name};
        crest_counter_family family = crest_counter_family_new(s.registry, &options, keys, 1, NULL);
        for (unsigned i = 0; i < CREST_FAMILY_SERIES_MAX; i++) {
            char text[16];
            snprintf(text, sizeof text, "%u", i);
            const char *value = text;
            crest_counter_inc(crest_counter_family_get(&family, &value, 1));
            crest_atomic_store_release(&s.made, s.made + 1);
        }
    }
    while (crest_atomic_load(&s.snapshots) == 0)
        sched_yield();
    crest_atomic_store_release(&s.done, 1);
    fixture_join(reader, NULL);
    assert_int_equal(s.lacking, 0);
    assert_int_equal(stress_size(s.registry), 1 + 20 * CREST_FAMILY_SERIES_MAX);
    crest_registry_free(s.registry);
}

/* ---- what was recorded before a snapshot is in it, while series come all the time ---- */

#define TOTAL_FAMILIES 8u

static void *total_read(void *argument)
{
    stress *s = argument;
    while (!crest_atomic_load_acquire(&s->done)) {
        uint64_t before = crest_atomic_load_acquire(&s->made), total = 0;
        crest_snapshot *snapshot = fixture_snapshot(s->registry);
        for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
            crest_series_view series;
            fixture_equal(crest_snapshot_series(snapshot, i, &series), CREST_OK);
            total += series.counter;
        }
        if (total < before || total > crest_atomic_load(&s->made) + 1)
            crest_atomic_add(&s->lacking, 1);
        crest_atomic_add(&s->snapshots, 1);
        crest_snapshot_free(snapshot);
    }
    return NULL;
}

/* One series after the other in families in turn, and an increment of one that is there. */
static void test_totals_beside_new_series(void **state)
{
    (void)state;
    stress s = {.registry = fixture_registry(NULL)};
    static const char *const keys[] = {"a"};
    crest_counter_family families[TOTAL_FAMILIES];
    for (unsigned f = 0; f < TOTAL_FAMILIES; f++) {
        char name[32];
        snprintf(name, sizeof name, "made.total%u", f);
        crest_metric_options options = {.name = name};
        families[f] = crest_counter_family_new(s.registry, &options, keys, 1, NULL);
    }
    pthread_t readers[2];
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, total_read, &s), 0);
    while (crest_atomic_load(&s.snapshots) == 0)
        sched_yield();
    for (unsigned i = 0; i < FIXTURE_TIMES(10000); i++)
        for (unsigned again = 0; again < 2; again++) {
            char text[16];
            snprintf(text, sizeof text, "%u", again ? i * 7919 % (i + 1) : i);
            const char *value = text;
            crest_counter_inc(crest_counter_family_get(&families[i % TOTAL_FAMILIES], &value, 1));
            crest_atomic_store_release(&s.made, s.made + 1);
        }
    crest_atomic_store_release(&s.done, 1);
    for (unsigned i = 0; i < 2; i++)
        fixture_join(readers[i], NULL);
    assert_int_equal(s.lacking, 0);
    crest_registry_free(s.registry);
}

/* ---- windows that are ticked while series are made and others take snapshots ---- */

static void *stress_make(void *argument)
{
    stress *s = argument;
    for (unsigned i = 0; i < STRESS_METRICS; i++) {
        char name[32];
        snprintf(name, sizeof name, "made.n%u", i);
        crest_metric_options options = {.name = name};
        crest_histogram_record(crest_histogram_get(s->registry, &options, NULL), i);
        if (i % 4 == 0)
            sched_yield();
    }
    crest_atomic_store_release(&s->done, 1);
    return NULL;
}

static void test_windows_beside_snapshots(void **state)
{
    (void)state;
    stress s = {.registry = fixture_registry(NULL)};
    crest_histogram *first = fixture_histogram(s.registry, "made.m0");
    crest_histogram_record(first, 1000);
    crest_windows *windows = crest_windows_new();
    assert_non_null(windows);
    assert_int_equal(crest_windows_tick(windows, crest_snapshot_read_notes(s.registry->state)), 0);
    pthread_t maker, reader;
    assert_int_equal(pthread_create(&maker, NULL, stress_make, &s), 0);
    assert_int_equal(pthread_create(&reader, NULL, stress_read, &s), 0);
    uint64_t ticks = 0;
    for (; ticks == 0 || !crest_atomic_load_acquire(&s.done); ticks++) {
        crest_histogram_record(first, 10);
        crest_snapshot *snapshot = crest_snapshot_read_notes(s.registry->state);
        assert_non_null(snapshot);
        assert_int_equal(crest_windows_tick(windows, snapshot), 0);
        crest_window window;
        crest_windows_result(windows, first->handle.series, CREST_WINDOW_S, &window);
        assert_int_equal(window.events, ticks < 59 ? ticks + 1 : 60);
        assert_true(window.average == 10 && window.maximum == 10);
    }
    fixture_join(maker, NULL);
    fixture_join(reader, NULL);
    crest_windows_free(windows);
    crest_registry_free(s.registry);
}

/* ---- what can be found is in the next snapshot ---- */

#define FOUND_ROUNDS FIXTURE_TIMES(2000)

typedef struct finding {
    crest_registry *registry;
    uint64_t round, done, lacking;
} finding;

static void *finding_run(void *argument)
{
    finding *f = argument;
    for (uint64_t round = 1; round <= FOUND_ROUNDS; round++) {
        FIXTURE_AWAIT(crest_atomic_load_acquire(&f->round) >= round);
        crest_registry_state *state = crest_registry_state_seen(f->registry);
        FIXTURE_AWAIT(crest_metric_find(state, "made.m0") != NULL);
        f->lacking += stress_size(f->registry) == 0;
        crest_atomic_store_release(&f->done, round);
    }
    return NULL;
}

static void test_found_before_snapshot(void **state)
{
    (void)state;
    finding f = {NULL, 0, 0, 0};
    pthread_t finder;
    assert_int_equal(pthread_create(&finder, NULL, finding_run, &f), 0);
    for (uint64_t round = 1; round <= FOUND_ROUNDS; round++) {
        f.registry = fixture_registry(NULL);
        crest_atomic_store_release(&f.round, round);
        fixture_counter(f.registry, "made.m0");
        FIXTURE_AWAIT(crest_atomic_load_acquire(&f.done) >= round);
        crest_registry_free(f.registry);
    }
    fixture_join(finder, NULL);
    assert_int_equal(f.lacking, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics_made_beside_snapshots),
        cmocka_unit_test(test_series_made_beside_snapshots),
        cmocka_unit_test(test_totals_beside_new_series),
        cmocka_unit_test(test_windows_beside_snapshots),
        cmocka_unit_test(test_found_before_snapshot),
    };
    return cmocka_run_group_tests_name("snapshot_stress", tests, NULL, NULL);
}
