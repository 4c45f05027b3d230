/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/snapshot.h>: a reader that did not look at a status, or was given NULL for want of memory,
 * reads nothing instead of bringing its program down. What the figures are is tested with the
 * instruments, what a page says of them in test_prometheus_text.c.
 */
#include "core_fixture.h"

static void test_of_nothing(void **state)
{
    (void)state;
    crest_series_view view;
    assert_int_equal(crest_snapshot_size(NULL), 0);
    assert_int_equal(crest_snapshot_time_ns(NULL), 0);
    assert_int_equal(crest_snapshot_wall_ns(NULL), 0);
    assert_int_equal(crest_snapshot_series(NULL, 0, &view), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_snapshot_find(NULL, "a", NULL, 0, &view), CREST_NOT_FOUND);
    crest_snapshot_free(NULL);
}

/* A series that is not there leaves a view without a distribution, and so does a counter. */
static void test_no_distribution(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    fixture_counter(registry, "c");
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view views[2];
    assert_int_equal(crest_snapshot_find(snapshot, "c", NULL, 0, &views[0]), CREST_OK);
    assert_int_equal(crest_snapshot_find(snapshot, "h", NULL, 0, &views[1]), CREST_NOT_FOUND);
    for (unsigned i = 0; i < LENGTH(views); i++) {
        size_t cursor = 0;
        crest_bucket bucket;
        assert_null(views[i].distribution);
        assert_int_equal(crest_distribution_count(views[i].distribution), 0);
        assert_int_equal(crest_distribution_sum(views[i].distribution), 0);
        assert_int_equal(crest_distribution_min(views[i].distribution), 0);
        assert_int_equal(crest_distribution_max(views[i].distribution), 0);
        assert_int_equal(crest_distribution_quantile(views[i].distribution, 0.5), 0);
        assert_int_equal(crest_distribution_next(views[i].distribution, &cursor, &bucket), 0);
    }
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

static void test_find_without_values(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_metric_options options = {.name = "f"};
    const char *const keys[] = {"k", "l"}, *values[] = {"", NULL}, *other[] = {NULL, "x"};
    crest_status status;
    crest_counter_family family = crest_counter_family_new(registry, &options, keys, 2, &status);
    assert_int_equal(status, CREST_OK);
    crest_counter_add(crest_counter_family_get(&family, values, 2), 3);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view view;
    assert_int_equal(crest_snapshot_find(snapshot, "f", NULL, 2, &view), CREST_OK);
    assert_int_equal(view.counter, 3);
    assert_int_equal(crest_snapshot_find(snapshot, "f", values, 2, &view), CREST_OK);
    assert_int_equal(crest_snapshot_find(snapshot, "f", other, 2, &view), CREST_NOT_FOUND);
    assert_int_equal(crest_snapshot_find(snapshot, "f", NULL, 1, &view), CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_nothing),
        cmocka_unit_test(test_no_distribution),
        cmocka_unit_test(test_find_without_values),
    };
    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
