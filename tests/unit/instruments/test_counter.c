/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/counter.h>: exact, monotonic, and never led backwards by what is not an amount.
 */
#include "base/arena.h"
#include "support/core_fixture.h"
#include "base/misuse.h"

#include <limits.h>

CREST_COUNTER(declared, "test.declared", "Declared.");
CREST_COUNTER(declared_again, "test.declared", "The same counter, declared twice.");
CREST_COUNTER(misnamed, "not a name", "Refused at load.");
CREST_GAUGE(clashing, "test.declared", "Refused at load: the name is a counter's.");

static void test_adds(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    assert_int_equal(crest_counter_value(counter), 0);
    crest_counter_inc(counter);
    crest_counter_add(counter, 0);
    crest_counter_add(counter, 1000000000000);
    assert_int_equal(crest_counter_value(counter), 1000000000001);
    crest_counter_add(counter, INT64_MAX);
    assert_true(crest_counter_value(counter) == (uint64_t)INT64_MAX + 1000000000001u);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_true(fixture_series(snapshot, "c", NULL).counter ==
                (uint64_t)INT64_MAX + 1000000000001u);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

static void test_negative(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    static const int64_t below[] = {-1, -1000, INT64_MIN, INT64_MIN + 1};
    uint64_t refused = crest_misuse_value(CREST_MISUSE_NEGATIVE);
    for (int touched = 0; touched < 2; touched++) {
        for (size_t i = 0; i < LENGTH(below); i++)
            crest_counter_add(counter, below[i]);
        crest_counter_inc(counter);
    }
    assert_int_equal(crest_counter_value(counter), 2);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NEGATIVE), refused + 2 * LENGTH(below));
    crest_registry_free(registry);
}

static void test_declared_twice(void **state)
{
    (void)state;
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    assert_int_equal(fixture_series(snapshot, "test.declared", NULL).counter, 0);
    crest_snapshot_free(snapshot);
    crest_counter_add(&declared, 2);
    crest_counter_add(&declared_again, 3);
    assert_int_equal(crest_counter_value(&declared), 5);
    assert_int_equal(crest_counter_value(&declared_again), 5);
    crest_counter_inc(fixture_counter(NULL, "test.declared"));
    assert_int_equal(crest_counter_value(&declared), 6);
}

/* A declaration that was refused records nowhere, and each record is counted. */
static void test_refused_declarations(void **state)
{
    (void)state;
    uint64_t names = crest_misuse_value(CREST_MISUSE_NAME);
    uint64_t types = crest_misuse_value(CREST_MISUSE_TYPE_CLASH);
    assert_true(names >= 1 && types >= 1);
    for (int i = 0; i < 10; i++) {
        crest_counter_inc(&misnamed);
        crest_gauge_set(&clashing, 1);
    }
    assert_int_equal(crest_counter_value(&misnamed), 0);
    assert_true(crest_gauge_value(&clashing) == 0);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NAME), names + 10);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_TYPE_CLASH), types + 10);
    assert_int_equal(crest_handle_register(&misnamed.handle), CREST_INVALID_NAME);
}

/* Code compiled against headers of another ABI: counted, nothing written. */
static void test_other_abi(void **state)
{
    (void)state;
    static const crest_declaration declaration = {
        CREST_KIND_COUNTER, NULL, NULL, 0, {.name = "test.alien"}, NULL};
    crest_counter alien = {{0, CREST_ABI + 1, NULL, &declaration}};
    uint64_t refused = crest_misuse_value(CREST_MISUSE_ABI);
    crest_counter_inc(&alien);
    assert_int_equal(crest_handle_register(&alien.handle), CREST_ABI_MISMATCH);
    assert_int_equal(crest_counter_value(&alien), 0);
    assert_int_equal(alien.handle.slot, 0);
    assert_null(alien.handle.series);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_ABI), refused + 2);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    crest_series_view view;
    assert_int_equal(crest_snapshot_find(snapshot, "test.alien", NULL, 0, &view), CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
}

/* A thread whose n-th allocation fails, and all after it: it still counts. */
typedef struct starved {
    crest_counter *counter;
    unsigned long after;
} starved;

static void *starved_run(void *argument)
{
    starved *s = argument;
    crest_arena_fail_after(s->after);
    for (int i = 0; i < 1000; i++)
        crest_counter_inc(s->counter);
    crest_arena_fail_after(0);
    for (int i = 0; i < 1000; i++)
        crest_counter_inc(s->counter);
    return NULL;
}

static void test_without_memory(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    for (unsigned long after = 1; after <= 5; after++) {
        starved s = {counter, after};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, starved_run, &s), 0);
        pthread_join(thread, NULL);
        assert_int_equal(crest_counter_value(counter), 2000 * after);
    }
    crest_registry_free(registry);
}

/* A declared counter that could not be registered tries again, and nothing was counted as there. */
static void test_registered_later(void **state)
{
    (void)state;
    static const crest_declaration declaration = {
        CREST_KIND_COUNTER, NULL, NULL, 0, {.name = "test.late", .description = "Late."}, NULL};
    crest_counter late = {{0, CREST_ABI, NULL, &declaration}};
    uint64_t refused = crest_misuse_value(CREST_MISUSE_NO_MEMORY);
    crest_arena_fail_after(1);
    crest_counter_inc(&late);
    assert_int_equal(crest_handle_register(&late.handle), CREST_NO_MEMORY);
    crest_arena_fail_after(0);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_NO_MEMORY), refused + 2);
    crest_counter_add(&late, 4);
    assert_int_equal(crest_counter_value(&late), 4);
}

static void *add_most(void *counter)
{
    crest_counter_add(counter, INT64_MAX);
    return NULL;
}

/* However 2^64 is passed: within one thread's share, by a constant, or only in the sum. */
static void test_full(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry("full");
    static const struct {
        const char *name;
        unsigned adds, threads;
        uint64_t value;
    } cases[] = {
        {"one", 1, 0, INT64_MAX},
        {"two", 2, 0, UINT64_MAX - 1},
        {"three", 3, 0, UINT64_MAX},
        {"many", 1000, 0, UINT64_MAX},
        {"two-threads", 1, 1, UINT64_MAX - 1},
        {"three-threads", 1, 2, UINT64_MAX},
        {"four-threads", 2, 2, UINT64_MAX},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_counter *counter = fixture_counter(registry, cases[i].name);
        uint64_t before = crest_misuse_value(CREST_MISUSE_FULL);
        pthread_t threads[2];
        for (unsigned n = 0; n < cases[i].adds; n++)
            crest_counter_add(counter, INT64_MAX);
        for (unsigned n = 0; n < cases[i].threads; n++)
            assert_int_equal(pthread_create(&threads[n], NULL, add_most, counter), 0);
        for (unsigned n = 0; n < cases[i].threads; n++)
            pthread_join(threads[n], NULL);
        if (crest_counter_value(counter) != cases[i].value)
            fail_msg("%s: %llu", cases[i].name, (unsigned long long)crest_counter_value(counter));
        if (cases[i].value == UINT64_MAX - 1)
            crest_counter_inc(counter); /* exact to the last */
        if (cases[i].value >= UINT64_MAX - 1) {
            assert_true(crest_counter_value(counter) == UINT64_MAX);
            crest_counter_inc(counter);
            crest_counter_add(counter, INT64_MAX);
            assert_true(crest_counter_value(counter) == UINT64_MAX);
        }
        crest_snapshot *snapshot = fixture_snapshot(registry);
        char name[64];
        snprintf(name, sizeof name, "full.%s", cases[i].name);
        assert_true(fixture_series(snapshot, name, NULL).counter == crest_counter_value(counter));
        crest_snapshot_free(snapshot);
        assert_int_equal(crest_misuse_value(CREST_MISUSE_FULL),
                         before + (cases[i].value >= UINT64_MAX - 1));
    }
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adds),
        cmocka_unit_test(test_negative),
        cmocka_unit_test(test_declared_twice),
        cmocka_unit_test(test_refused_declarations),
        cmocka_unit_test(test_other_abi),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_registered_later),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests_name("counter", tests, NULL, NULL);
}
