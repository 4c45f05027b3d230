/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polls come and go while snapshots run: nothing of what a source counted is lost or doubled, and
 * nobody waits for one that hangs. And gauges under many threads: every add is applied, and what
 * stands at the end can be explained by an order of sets and adds.
 */
#include "support/core_fixture.h"
#include "support/poll_fixture.h"

#include <semaphore.h>

#define READERS 3u
#define CHURNERS 3u
#define CHURN_TIMES FIXTURE_TIMES(400)

/* ---- polls ---- */

/* A source that counts, and begins again now and then. */
typedef struct stress_source {
    uint64_t count; /* of its present life; only its poll's callback touches it */
    uint64_t calls;
    uint64_t total; /* of all its lives, as far as the poll was told */
} stress_source;

/* Three steps up, then a reset to something smaller; each reading is told to the poll. */
static uint64_t stress_count(void *context)
{
    stress_source *source = context;
    uint64_t calls = ++source->calls;
    if (calls % 4 == 0) {
        source->count = calls % 3;
        source->total += source->count;
    } else {
        source->count += 3 + calls % 5;
        source->total += 3 + calls % 5;
    }
    return source->count;
}

static uint32_t stress_over;

static void *stress_read(void *registry)
{
    while (!__atomic_load_n(&stress_over, __ATOMIC_ACQUIRE)) {
        crest_snapshot *snapshot = fixture_snapshot(registry);
        fixture_holds(crest_snapshot_size(snapshot) > 0);
        crest_snapshot_free(snapshot);
    }
    return NULL;
}

/* Each poll lives for some rounds; what its source told is what the counter has. */
static void *stress_churn(void *context)
{
    crest_registry *registry = context;
    crest_counter *counter = fixture_counter(registry, "counted");
    uint64_t total = 0;
    for (int i = 0; i < CHURN_TIMES; i++) {
        stress_source source = {0, 0, 0};
        crest_poll_options options = {.interval_ms = i % 2 ? 10 : 0,
                                      .budget_ms = CREST_POLL_BUDGET_MS_MAX};
        crest_poll *poll = crest_counter_poll(counter, stress_count, &source, &options, NULL);
        fixture_holds(poll != NULL);
        for (int look = i % 3; look > 0; look--)
            crest_snapshot_free(fixture_snapshot(registry));
        fixture_equal(crest_poll_stop(poll), CREST_OK);
        total += source.total;
    }
    return (void *)(uintptr_t)total;
}

static double stress_hang(void *context)
{
    while (sem_wait(context) != 0)
        continue;
    sem_post(context);
    return 1;
}

static void test_churn(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "counted");
    sem_t go;
    sem_init(&go, 0, 0);
    crest_poll *hung =
        crest_gauge_poll(fixture_gauge(registry, "hung"), stress_hang, &go, NULL, NULL);
    pthread_t readers[READERS], churners[CHURNERS];
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, stress_read, registry), 0);
    for (unsigned i = 0; i < CHURNERS; i++)
        assert_int_equal(pthread_create(&churners[i], NULL, stress_churn, registry), 0);
    uint64_t total = 0;
    for (unsigned i = 0; i < CHURNERS; i++) {
        void *told;
        fixture_join(churners[i], &told);
        total += (uint64_t)(uintptr_t)told;
    }
    __atomic_store_n(&stress_over, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < READERS; i++)
        fixture_join(readers[i], NULL);
    assert_true(total > 0);
    assert_int_equal(crest_counter_value(counter), total);
    sem_post(&go);
    assert_int_equal(crest_poll_stop(hung), CREST_OK);
    assert_true(poll_wait_threads(0));
    crest_registry_free(registry);
    sem_destroy(&go);
}

typedef struct stress_times {
    crest_registry *registry;
    uint64_t shortest_ms, longest_ms;
} stress_times;

/* Snapshots from many threads under one that hangs: none waits for it, and a thread that has the
 * processor when it wants it is soon done. */
static void *stress_timed(void *context)
{
    stress_times *times = context;
    times->shortest_ms = UINT64_MAX;
    for (int i = 0; i < 20; i++) {
        uint64_t start_ms = poll_now_ms();
        crest_snapshot_free(fixture_snapshot(times->registry));
        uint64_t took_ms = poll_now_ms() - start_ms;
        times->shortest_ms = took_ms < times->shortest_ms ? took_ms : times->shortest_ms;
        times->longest_ms = took_ms > times->longest_ms ? took_ms : times->longest_ms;
    }
    return NULL;
}

static void test_hanging_under_load(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    sem_t go;
    sem_init(&go, 0, 0);
    crest_poll *polls[CREST_POLL_LATE_MAX + 2];
    crest_gauge *gauge = fixture_gauge(registry, "hung");
    for (size_t i = 0; i < LENGTH(polls); i++)
        polls[i] = crest_gauge_poll(gauge, stress_hang, &go, NULL, NULL);
    pthread_t threads[4];
    stress_times times[LENGTH(threads)] = {0};
    for (size_t i = 0; i < LENGTH(threads); i++) {
        times[i].registry = registry;
        assert_int_equal(pthread_create(&threads[i], NULL, stress_timed, &times[i]), 0);
    }
    for (size_t i = 0; i < LENGTH(threads); i++) {
        fixture_join(threads[i], NULL);
        assert_in_range(times[i].shortest_ms, 0, 20 * CREST_POLL_ROUND_MS);
        assert_in_range(times[i].longest_ms, 0, POLL_PATIENCE_MS);
    }
    sem_post(&go);
    for (size_t i = 0; i < LENGTH(polls); i++)
        assert_int_equal(crest_poll_stop(polls[i]), CREST_OK);
    assert_true(poll_wait_threads(0));
    crest_registry_free(registry);
    sem_destroy(&go);
}

/* Freeing a registry while its polls are called and others take snapshots elsewhere. */
static double stress_number(void *context)
{
    return (double)(uintptr_t)context;
}

static void *stress_registries(void *unused)
{
    crest_poll_options often = {.interval_ms = 10};
    for (int i = 0; i < FIXTURE_TIMES(300); i++) {
        crest_registry *registry = fixture_registry(NULL);
        crest_gauge *gauge = fixture_gauge(registry, "g");
        crest_poll *polls[] = {
            crest_gauge_poll(gauge, stress_number, (void *)5, NULL, NULL),
            crest_gauge_poll(gauge, stress_number, (void *)5, &often, NULL),
        };
        crest_snapshot_free(fixture_snapshot(registry));
        double value = crest_gauge_value(gauge);
        fixture_holds(value == 5 || value == 0);
        crest_registry_free(registry);
        for (size_t j = 0; j < LENGTH(polls); j++)
            fixture_equal(crest_poll_stop(polls[j]), CREST_OK);
    }
    return unused;
}

static void test_registries(void **state)
{
    (void)state;
    pthread_t threads[3];
    for (size_t i = 0; i < LENGTH(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, stress_registries, NULL), 0);
    for (size_t i = 0; i < LENGTH(threads); i++)
        fixture_join(threads[i], NULL);
    assert_true(poll_wait_threads(0));
}

/* ---- gauges ---- */

#define ADDERS 4u
#define ADDS FIXTURE_TIMES(200000)

static void *stress_add(void *gauge)
{
    for (int i = 0; i < ADDS; i++) {
        crest_gauge_add(gauge, 3);
        crest_gauge_add(gauge, -1);
        if (i % 64 == 0)
            crest_gauge_add(gauge, NAN); /* changes nothing */
    }
    return NULL;
}

static void test_gauge_adds(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_gauge *gauge = fixture_gauge(registry, "g");
    crest_gauge_set(gauge, -1000);
    pthread_t threads[ADDERS];
    for (size_t i = 0; i < ADDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, stress_add, gauge), 0);
    for (size_t i = 0; i < ADDERS; i++)
        fixture_join(threads[i], NULL);
    assert_true(crest_gauge_value(gauge) == -1000 + 2.0 * ADDS * ADDERS);
    crest_registry_free(registry);
}

/* One sets multiples of SET_STEP, the others add 1 each: what stands is the last set plus the adds
 * that came after it, so no more than all of them; none is ever seen below the set before. */
#define SET_STEP 1e9
#define SETS FIXTURE_TIMES(20000)

typedef struct stress_gauge {
    crest_gauge *gauge;
    uint32_t adding;
} stress_gauge;

static void *stress_add_ones(void *context)
{
    stress_gauge *shared = context;
    for (int i = 0; i < ADDS; i++)
        crest_gauge_add(shared->gauge, 1);
    __atomic_sub_fetch(&shared->adding, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void test_gauge_sets_and_adds(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    stress_gauge shared = {fixture_gauge(registry, "g"), ADDERS};
    pthread_t threads[ADDERS];
    for (size_t i = 0; i < ADDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, stress_add_ones, &shared), 0);
    double sets = 0;
    while (sets < SETS && __atomic_load_n(&shared.adding, __ATOMIC_ACQUIRE) > 0) {
        sets++;
        crest_gauge_set(shared.gauge, sets * SET_STEP);
        double above = crest_gauge_value(shared.gauge) - sets * SET_STEP;
        assert_true(above >= 0 && above <= (double)ADDS * ADDERS);
        assert_true(above == floor(above));
    }
    for (size_t i = 0; i < ADDERS; i++)
        fixture_join(threads[i], NULL);
    double above = crest_gauge_value(shared.gauge) - sets * SET_STEP;
    assert_true(above >= 0 && above <= (double)ADDS * ADDERS);
    /* with no set any more, adds are all there is */
    double before = crest_gauge_value(shared.gauge);
    crest_gauge_add(shared.gauge, 2.5);
    assert_true(crest_gauge_value(shared.gauge) == before + 2.5);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_churn),
        cmocka_unit_test(test_hanging_under_load),
        cmocka_unit_test(test_registries),
        cmocka_unit_test(test_gauge_adds),
        cmocka_unit_test(test_gauge_sets_and_adds),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("polls_stress", tests, NULL, NULL);
}
