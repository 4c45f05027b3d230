/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ticks and results of windows while threads record and make series: what the longest window says
 * at the end is exactly what was recorded.
 */
#include "base/atomic.h"
#include "support/core_fixture.h"
#include "windows/windows.h"

#define SECOND UINT64_C(1000000000)
enum { WRITERS = 3, COUNTERS = 100, TICKS = 600 };
/* Each writer records so often between the first tick and the last, or more, and the reader reads
 * so often: without this the ticks would pass before a thread has begun. */
enum { RECORDS_MIN = 1000000, READINGS_MIN = 50 };

typedef struct stress {
    crest_registry *registry;
    crest_counter *counter[WRITERS][COUNTERS];
    crest_timer *timer;
    crest_range_sampler *sampler;
    uint64_t added[WRITERS][COUNTERS];
    uint64_t records[WRITERS], readings; /* so far */
    uint64_t done;
} stress;

typedef struct writer {
    stress *all;
    unsigned number;
} writer;

static void *record(void *argument)
{
    const writer *w = argument;
    stress *s = w->all;
    for (unsigned n = 0; crest_atomic_load(&s->done) == 0; n++) {
        unsigned i = n % COUNTERS;
        if (s->counter[w->number][i] == NULL) { /* made while ticks go on: all of it counts */
            char name[32];
            snprintf(name, sizeof name, "made.writer-%u.n%u", w->number, i);
            s->counter[w->number][i] = fixture_counter(s->registry, name);
        }
        crest_counter_add(s->counter[w->number][i], n % 5);
        s->added[w->number][i] += n % 5;
        crest_timer_record(s->timer, 1 + n % 1000, CREST_OUTCOME_OK);
        crest_range_sampler_add(s->sampler, n % 2 ? -1 : 1);
        crest_atomic_store(&s->records[w->number], n + 1);
    }
    return NULL;
}

static void *read_results(void *argument)
{
    stress *s = argument;
    while (crest_atomic_load(&s->done) == 0) {
        crest_window window = crest_timer_window(s->timer, CREST_OUTCOME_OK, 300);
        fixture_holds(window.maximum <= 1000 && window.average <= 1000);
        crest_snapshot *snapshot = crest_snapshot_take(s->registry);
        fixture_holds(snapshot != NULL);
        for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
            crest_snapshot_window(snapshot, i, 900, &window);
            fixture_holds(window.covered_s <= 931 && window.peak >= 0);
        }
        crest_snapshot_free(snapshot);
        crest_atomic_add(&s->readings, 1);
    }
    return NULL;
}

/* Whether ticks may end: all threads have had their part of them. */
static int enough(const stress *s)
{
    for (unsigned i = 0; i < WRITERS; i++)
        if (crest_atomic_load(&s->records[i]) < FIXTURE_TIMES(RECORDS_MIN))
            return 0;
    return crest_atomic_load(&s->readings) >= READINGS_MIN;
}

static void test_exact_totals(void **state)
{
    (void)state;
    stress *s = calloc(1, sizeof *s);
    writer writers[WRITERS];
    pthread_t threads[WRITERS + 1];
    s->registry = fixture_registry(NULL);
    s->timer = fixture_timer(s->registry, "t");
    s->sampler = fixture_range_sampler(s->registry, "r");
    crest_testing_clock_set(1000 * SECOND);
    assert_int_equal(crest_testing_tick(s->registry), CREST_OK);
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] = (writer){s, i};
        assert_int_equal(pthread_create(&threads[i], NULL, record, &writers[i]), 0);
    }
    assert_int_equal(pthread_create(&threads[WRITERS], NULL, read_results, s), 0);
    int ticks = 0;
    for (; ticks < FIXTURE_TIMES(TICKS) || (!enough(s) && ticks < 880); ticks++) {
        crest_testing_clock_advance(SECOND);
        assert_int_equal(crest_testing_tick(s->registry), CREST_OK);
        for (int naps = 0; naps < 20 && !enough(s); naps++)
            fixture_nap();
    }
    FIXTURE_AWAIT(enough(s)); /* within the longest window, however slow the machine is */
    crest_atomic_store(&s->done, 1);
    for (unsigned i = 0; i <= WRITERS; i++)
        fixture_join(threads[i], NULL);
    crest_testing_clock_advance(SECOND);
    assert_int_equal(crest_testing_tick(s->registry), CREST_OK);
    crest_snapshot *snapshot = crest_snapshot_take(s->registry);
    for (unsigned w = 0; w < WRITERS; w++)
        for (unsigned i = 0; i < COUNTERS; i++) {
            char name[32];
            crest_series_view view;
            snprintf(name, sizeof name, "made.writer-%u.n%u", w, i);
            if (s->counter[w][i] == NULL)
                continue;
            assert_int_equal(crest_snapshot_find(snapshot, name, NULL, 0, &view), CREST_OK);
            assert_int_equal(view.counter, s->added[w][i]);
            crest_rate rate = crest_counter_rate(s->counter[w][i], 900);
            assert_true(fabs(rate.per_second * rate.covered_s - (double)s->added[w][i]) < 0.5);
        }
    crest_snapshot_free(snapshot);
    assert_int_equal(crest_ticker_detach(s->registry), CREST_OK);
    crest_registry_free(s->registry);
    crest_testing_clock_real();
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact_totals)};
    return cmocka_run_group_tests_name("windows under load", tests, NULL, NULL);
}
