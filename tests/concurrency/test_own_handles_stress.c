/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles that several threads make at once, with and without labels, while one series after the
 * other is released and comes back: all threads get the same handle for the same series, no two
 * handles overlap, and in the end every record is there.
 */
#include "metrics/handle_pool.h"
#include "support/core_fixture.h"

#include <crest/lifetime.h>

enum { MAKERS = 3, NAMES = 150, KINDS = 5, LABELS = 2, RECORDS = 40 };

typedef struct maker {
    unsigned number;
    void *handles[KINDS][LABELS][NAMES];
} maker;

static crest_registry *registry;
static maker makers[MAKERS];
static uint32_t done;

static const size_t bytes_of[KINDS] = {sizeof(crest_counter), sizeof(crest_gauge),
                                       sizeof(crest_histogram), sizeof(crest_timer),
                                       sizeof(crest_range_sampler)};

#define MAKE(type)                                                                                 \
    static void *make_##type(const crest_metric_options *options, int labelled)                    \
    {                                                                                              \
        static const char *const keys[] = {"a"}, *const values[] = {"x"};                          \
        if (!labelled)                                                                             \
            return crest_##type##_get(registry, options, NULL);                                    \
        crest_##type##_family family =                                                             \
            crest_##type##_family_new(registry, options, keys, 1, NULL);                           \
        return crest_##type##_family_get(&family, values, 1);                                      \
    }
MAKE(counter)
MAKE(gauge)
MAKE(histogram)
MAKE(timer)
MAKE(range_sampler)

static void *make(unsigned kind, unsigned labelled, unsigned number)
{
    static void *(*const all[KINDS])(const crest_metric_options *, int) = {
        make_counter, make_gauge, make_histogram, make_timer, make_range_sampler};
    char name[40];
    snprintf(name, sizeof name, "kind-%c.%s-%u.x", 'a' + kind, labelled ? "family" : "one", number);
    crest_metric_options options = {.name = name};
    return all[kind](&options, (int)labelled);
}

static void record(unsigned kind, void *handle)
{
    switch (kind) {
    case 0: crest_counter_add(handle, 3); break;
    case 1: crest_gauge_add(handle, 2); break;
    case 2: crest_histogram_record(handle, 5); break;
    case 3: crest_timer_record(handle, 7, CREST_OUTCOME_OK); break;
    default: crest_range_sampler_add(handle, 1); break;
    }
}

static void *maker_run(void *opaque)
{
    maker *mine = opaque;
    for (unsigned at = 0; at < NAMES; at++)
        for (unsigned kind = 0; kind < KINDS; kind++)
            for (unsigned labelled = 0; labelled < LABELS; labelled++) {
                /* half of the names in another order each */
                unsigned number = at % 2 ? at : (at + mine->number * 50) % NAMES;
                void *handle = make(kind, labelled, number);
                mine->handles[kind][labelled][number] = handle;
                for (unsigned i = 0; i < RECORDS; i++)
                    record(kind, handle);
            }
    return NULL;
}

/* Counters of families leave all the time, and come back with the next record. */
static void *releaser_run(void *opaque)
{
    (void)opaque;
    for (unsigned i = 0; __atomic_load_n(&done, __ATOMIC_ACQUIRE) == 0; i++)
        crest_counter_release(make(0, 1, i % NAMES));
    return NULL;
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = ((const uintptr_t *)a)[0], y = ((const uintptr_t *)b)[0];
    return (x > y) - (x < y);
}

static void assert_apart(void)
{
    static uintptr_t all[KINDS * LABELS * NAMES][2]; /* address, bytes */
    size_t count = 0;
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (unsigned labelled = 0; labelled < LABELS; labelled++)
            for (unsigned i = 0; i < NAMES; i++, count++) {
                all[count][0] = (uintptr_t)makers[0].handles[kind][labelled][i];
                all[count][1] = bytes_of[kind];
                for (unsigned other = 1; other < MAKERS; other++)
                    assert_ptr_equal(makers[other].handles[kind][labelled][i],
                                     (void *)all[count][0]);
            }
    qsort(all, count, sizeof all[0], by_address);
    for (size_t i = 1; i < count; i++)
        assert_true(all[i - 1][0] + all[i - 1][1] <= all[i][0]);
}

static uint64_t value_of(const crest_series_view *view)
{
    switch (view->kind) {
    case CREST_KIND_COUNTER: return view->counter / 3;
    case CREST_KIND_GAUGE: return (uint64_t)view->gauge / 2;
    case CREST_KIND_RANGE_SAMPLER: return (uint64_t)view->current;
    default: return crest_distribution_count(view->distribution);
    }
}

static void test_all_is_there(void **state)
{
    (void)state;
    fixture_watchdog(240);
    registry = fixture_registry(NULL);
    pthread_t threads[MAKERS], releaser;
    assert_int_equal(pthread_create(&releaser, NULL, releaser_run, NULL), 0);
    for (unsigned i = 0; i < MAKERS; i++) {
        makers[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, maker_run, &makers[i]), 0);
    }
    for (unsigned i = 0; i < MAKERS; i++)
        fixture_join(threads[i], NULL);
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    fixture_join(releaser, NULL);
    assert_apart();
    for (unsigned i = 0; i < NAMES; i++) /* those that are on their way out come back */
        record(0, makers[0].handles[0][1][i]);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    uint64_t records = 0, series = 0;
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view view;
        assert_int_equal(crest_snapshot_series(snapshot, i, &view), CREST_OK);
        uint64_t here = value_of(&view);
        unsigned again = view.kind == CREST_KIND_COUNTER && view.label_count == 1;
        assert_true(here == 0 || here == MAKERS * RECORDS + again);
        series += here != 0;
        records += here;
    }
    crest_snapshot_free(snapshot);
    assert_int_equal(series, KINDS * LABELS * NAMES);
    assert_int_equal(records, KINDS * LABELS * NAMES * MAKERS * RECORDS + NAMES);
    crest_registry_free(registry);
}

/* What they are apart for: eight counters, or histograms, one after the other take three lines. */
static void test_dense(void **state)
{
    (void)state;
    registry = fixture_registry(NULL);
    char *first = NULL;
    unsigned beside = 0;
    for (unsigned i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "m-%u", i);
        char *handle = (char *)(i % 2 ? (void *)fixture_counter(registry, name)
                                      : (void *)fixture_histogram(registry, name));
        beside += first != NULL && handle == first + sizeof(crest_handle);
        first = handle;
    }
    /* one in each block begins another */
    assert_true(beside >= 999 - 1000 * sizeof(crest_handle) / CREST_OWN_HANDLES_BLOCK_MIN);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_is_there),
                                       cmocka_unit_test(test_dense)};
    return cmocka_run_group_tests_name("own_handles_stress", tests, NULL, NULL);
}
