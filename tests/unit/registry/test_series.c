/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h from inside: children, what dead series stand for, and that publishing one fails whole.
 */
#include "base/arena.h"
#include "base/lock.h"
#include "instruments/child_get.h"
#include "instruments/metric_get.h"
#include "metrics/child.h"
#include "registry/children.h"
#include "support/core_fixture.h"

static void test_dead(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    crest_status status;
    for (int s = 0; s < CREST_STATUS_COUNT; s++) {
        crest_series *dead = crest_series_dead_for((crest_status)s);
        assert_true(crest_series_is_dead(dead, &status));
        assert_int_equal(status, s);
    }
    assert_false(crest_series_is_dead(NULL, &status));
    assert_false(crest_series_is_dead(counter->handle.series, &status));
    crest_registry_free(registry);
    assert_true(crest_series_is_dead(counter->handle.series, &status));
    assert_int_equal(status, CREST_NOT_FOUND);
}

/* What a user calls "overflow" is his own until the family overflows, and then shared. */
static void test_named_overflow(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    static const char *const keys[] = {"k"};
    crest_metric_options options = {.name = "f"};
    crest_counter_family family = crest_counter_family_new(registry, &options, keys, 1, NULL);
    const char *value = "overflow";
    crest_counter *named = crest_counter_family_get(&family, &value, 1);
    for (unsigned i = 1; i < CREST_FAMILY_SERIES_MAX; i++) {
        char text[16];
        snprintf(text, sizeof text, "%u", i);
        value = text;
        crest_counter *counter = crest_counter_family_get(&family, &value, 1);
        assert_ptr_not_equal(counter, named);
        assert_int_not_equal(counter->handle.slot, 0);
    }
    value = "one more";
    assert_ptr_equal(crest_counter_family_get(&family, &value, 1), named);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_size(snapshot), CREST_FAMILY_SERIES_MAX);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

/* A child that could not be made is in no list, table or count; with memory it is made once. */
static void test_made_whole_or_not(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    static const char *const keys[] = {"k"};
    crest_metric_options options = {.name = "f"};
    crest_status status;
    crest_metric *metric = crest_metric_get(registry, CREST_KIND_TIMER, &options, keys, 1, &status);
    assert_non_null(metric);
    for (unsigned i = 0; i < 100; i++) {
        char text[16];
        snprintf(text, sizeof text, "%u", i);
        const char *value = text;
        crest_child *child = NULL;
        for (unsigned long n = 1; child == NULL; n++) {
            crest_arena_fail_after(n);
            child = crest_child_get(metric, &value, &status);
            crest_arena_fail_after(0);
            assert_int_equal(status, child ? CREST_OK : CREST_NO_MEMORY);
            assert_int_equal(metric->child_count, i + (child != NULL));
            unsigned listed = 0;
            crest_children_cursor at = {NULL, 0, NULL};
            while (crest_children_next(metric, &at) != NULL)
                listed++;
            assert_int_equal(listed, metric->child_count);
            assert_true(n < 50);
        }
        assert_ptr_equal(crest_child_get(metric, &value, &status), child);
    }
    crest_registry_free(registry);
}

/* Each outcome's series is made when asked for, once, and then leads its handle. */
static void test_outcomes(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_timer *timer = fixture_timer(registry, "t");
    crest_child *child = crest_series_child(timer->handle.series);
    uint64_t generation = registry->state->generation;
    assert_null(crest_child_at(child, CREST_OUTCOME_TIMEOUT));
    unsigned long failed = 0;
    for (unsigned long n = 1; crest_child_at(child, CREST_OUTCOME_TIMEOUT) == NULL; n++) {
        uint64_t lacking = crest_arena_used(CREST_ARENA_CELLS);
        crest_arena_fail_after(n);
        crest_timer_record(timer, 5, CREST_OUTCOME_TIMEOUT);
        crest_arena_fail_after(0);
        failed += crest_child_at(child, CREST_OUTCOME_TIMEOUT) == NULL;
        assert_true(crest_arena_used(CREST_ARENA_CELLS) >= lacking && n < 20);
    }
    assert_true(failed > 1);
    assert_int_equal(registry->state->generation, generation + 2);
    assert_int_equal(timer->outcome[CREST_OUTCOME_TIMEOUT].handle.slot,
                     crest_child_at(child, CREST_OUTCOME_TIMEOUT)->slot);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(
        crest_distribution_count(fixture_series(snapshot, "t", "timeout").distribution), 1);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dead),
        cmocka_unit_test(test_named_overflow),
        cmocka_unit_test(test_made_whole_or_not),
        cmocka_unit_test(test_outcomes),
    };
    return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
