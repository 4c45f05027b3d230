/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/gauge.h>: the last write wins, adds by many threads are all applied, and a gauge never
 * holds what is not a number.
 */
#include "support/core_fixture.h"
#include "base/misuse.h"

#include <time.h>

CREST_GAUGE(declared, "test.declared", "Declared.");

static void test_set(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_gauge *gauge = fixture_gauge(registry, "g");
    assert_true(crest_gauge_value(gauge) == 0);
    static const double values[] = {1, -1, 0.1, -0.0, 1e308, -1e308, 5e-324, INFINITY, -INFINITY};
    for (size_t i = 0; i < LENGTH(values); i++) {
        crest_gauge_set(gauge, values[i]);
        double value = crest_gauge_value(gauge);
        assert_memory_equal(&value, &values[i], sizeof value);
        crest_snapshot *snapshot = fixture_snapshot(registry);
        value = fixture_series(snapshot, "g", NULL).gauge;
        assert_memory_equal(&value, &values[i], sizeof value);
        crest_snapshot_free(snapshot);
    }
    crest_registry_free(registry);
}

/* Neither given nor come to by adding. */
static void test_not_a_number(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_gauge *gauge = fixture_gauge(registry, "g");
    uint64_t refused = crest_misuse_value(CREST_MISUSE_NOT_A_NUMBER);
    crest_gauge_set(gauge, 3);
    crest_gauge_set(gauge, NAN);
    crest_gauge_add(gauge, NAN);
    crest_gauge_set(gauge, -NAN);
    assert_true(crest_gauge_value(gauge) == 3);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NOT_A_NUMBER), refused + 3);
    crest_gauge_set(gauge, INFINITY);
    crest_gauge_add(gauge, 5);
    assert_true(crest_gauge_value(gauge) == INFINITY);
    crest_gauge_add(gauge, -INFINITY);
    assert_true(crest_gauge_value(gauge) == INFINITY);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NOT_A_NUMBER), refused + 4);
    crest_gauge_set(gauge, 1);
    crest_gauge_add(gauge, 1);
    assert_true(crest_gauge_value(gauge) == 2);
    crest_registry_free(registry);
}

/* The handle of another kind is refused, as a declaration of another kind is. */
static void test_another_kind(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    crest_gauge wrong = {.handle = counter->handle};
    uint64_t refused = crest_misuse_value(CREST_MISUSE_ARGUMENT);
    crest_gauge_set(&wrong, 3);
    crest_gauge_add(&wrong, 3);
    crest_range_sampler wrong_too = {.handle = counter->handle};
    crest_range_sampler_set(&wrong_too, 3);
    crest_range_sampler_add(&wrong_too, 3);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_ARGUMENT), refused + 4);
    assert_int_equal(crest_counter_value(counter), 0);
    crest_registry_free(registry);
}

static void test_declared(void **state)
{
    (void)state;
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    assert_true(fixture_series(snapshot, "test.declared", NULL).gauge == 0);
    crest_snapshot_free(snapshot);
    crest_gauge_add(&declared, -2.5);
    assert_true(crest_gauge_value(&declared) == -2.5);
}

static void test_set_to_now(void **state)
{
    (void)state;
    time_t before = time(NULL);
    crest_gauge_set_to_now(&declared);
    double said = crest_gauge_value(&declared);
    /* time() may lag behind by a tick of the kernel */
    assert_true(said >= (double)before && said <= (double)time(NULL) + 2);
}

#define ADDERS 4
#define ADDS FIXTURE_TIMES(200000)

static void *adder_run(void *gauge)
{
    for (int i = 0; i < ADDS; i++) {
        crest_gauge_add(gauge, 3);
        crest_gauge_add(gauge, -1);
    }
    return NULL;
}

static void test_adds_by_threads(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_gauge *gauge = fixture_gauge(registry, "g");
    pthread_t threads[ADDERS];
    for (int i = 0; i < ADDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, adder_run, gauge), 0);
    for (int i = 0; i < ADDERS; i++)
        pthread_join(threads[i], NULL);
    assert_true(crest_gauge_value(gauge) == 2.0 * ADDERS * ADDS);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),          cmocka_unit_test(test_not_a_number),
        cmocka_unit_test(test_another_kind), cmocka_unit_test(test_declared),
        cmocka_unit_test(test_set_to_now),   cmocka_unit_test(test_adds_by_threads),
    };
    return cmocka_run_group_tests_name("gauge", tests, NULL, NULL);
}
