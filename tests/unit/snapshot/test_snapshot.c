/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/snapshot.h>: sorted, immutable, self-contained, and nothing at all rather than a part when
 * memory lacks.
 */
#include "base/alloc.h"
#include "support/core_fixture.h"

static void test_empty(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view view;
    assert_int_equal(crest_snapshot_size(snapshot), 0);
    assert_int_equal(crest_snapshot_series(snapshot, 0, &view), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_snapshot_find(snapshot, "a", NULL, 0, &view), CREST_NOT_FOUND);
    assert_int_equal(crest_snapshot_find(snapshot, NULL, NULL, 0, &view), CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
    crest_snapshot_free(NULL);
    assert_int_equal(crest_snapshot_size(NULL), 0);
    crest_registry_free(registry);
}

static void test_order(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    static const char *const names[] = {"z", "a.b", "a", "m-n", "m", "a.a", "Z", "b"};
    for (size_t i = 0; i < LENGTH(names); i++)
        fixture_timer(registry, names[i]);
    static const char *const keys[] = {"k", "l"};
    crest_metric_options options = {.name = "family"};
    crest_gauge_family family = crest_gauge_family_new(registry, &options, keys, 2, NULL);
    for (unsigned i = 0; i < 100; i++) {
        char first[8], second[8];
        snprintf(first, sizeof first, "%u", i * 37 % 10);
        snprintf(second, sizeof second, "%u", i * 37 % 100);
        crest_gauge_family_get(&family, (const char *[]){first, second}, 2);
    }
    crest_snapshot *snapshot = fixture_snapshot(registry);
    assert_int_equal(crest_snapshot_size(snapshot), 2 * LENGTH(names) + 100);
    for (size_t i = 1; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view a, b;
        assert_int_equal(crest_snapshot_series(snapshot, i - 1, &a), CREST_OK);
        assert_int_equal(crest_snapshot_series(snapshot, i, &b), CREST_OK);
        int order = strcmp(a.exported, b.exported);
        for (unsigned l = 0; order == 0 && l < a.label_count; l++) {
            order = strcmp(a.label_values[l], b.label_values[l]);
            if (a.kind == CREST_KIND_TIMER) {
                assert_string_equal(a.label_values[0], "ok"); /* outcomes in their own order */
                assert_string_equal(b.label_values[0], "error");
                order = -1;
            }
        }
        assert_true(order < 0);
    }
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

static void test_immutable(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_counter *counter = fixture_counter(registry, "c");
    crest_gauge *gauge = fixture_gauge(registry, "g");
    crest_histogram *histogram = fixture_histogram(registry, "h");
    crest_counter_add(counter, 3);
    crest_gauge_set(gauge, 4);
    crest_histogram_record(histogram, 5);
    uint64_t before = crest_now();
    crest_snapshot *snapshot = fixture_snapshot(registry), *same = fixture_snapshot(registry);
    assert_true(crest_snapshot_time_ns(snapshot) >= before);
    assert_true(crest_snapshot_time_ns(same) >= crest_snapshot_time_ns(snapshot));
    assert_true(crest_snapshot_wall_ns(snapshot) > UINT64_C(1500000000000000000));
    crest_counter_add(counter, 30);
    crest_gauge_set(gauge, 40);
    crest_histogram_record(histogram, 50);
    fixture_counter(registry, "a-new-one");
    crest_snapshot *after = fixture_snapshot(registry);
    crest_registry_free(registry);
    assert_int_equal(crest_snapshot_size(snapshot), 3);
    assert_int_equal(crest_snapshot_size(after), 4);
    for (int i = 0; i < 2; i++) {
        const crest_snapshot *old = i ? same : snapshot;
        assert_int_equal(fixture_series(old, "c", NULL).counter, 3);
        assert_true(fixture_series(old, "g", NULL).gauge == 4);
        assert_int_equal(crest_distribution_sum(fixture_series(old, "h", NULL).distribution), 5);
    }
    assert_int_equal(fixture_series(after, "c", NULL).counter, 33);
    assert_int_equal(crest_distribution_sum(fixture_series(after, "h", NULL).distribution), 55);
    crest_snapshot_free(same);
    crest_snapshot_free(snapshot);
    crest_snapshot_free(after);
}

static void test_find(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry("p");
    fixture_counter(registry, "c");
    fixture_timer(registry, "t");
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view view;
    const char *ok[] = {"ok", "ok"};
    assert_int_equal(crest_snapshot_find(snapshot, "p.c", NULL, 0, &view), CREST_OK);
    assert_int_equal(view.kind, CREST_KIND_COUNTER);
    assert_int_equal(crest_snapshot_find(snapshot, "c", NULL, 0, &view), CREST_NOT_FOUND);
    assert_int_equal(crest_snapshot_find(snapshot, "p_c", NULL, 0, &view), CREST_NOT_FOUND);
    assert_int_equal(crest_snapshot_find(snapshot, "p.c", ok, 1, &view), CREST_NOT_FOUND);
    assert_null(view.name);
    assert_int_equal(crest_snapshot_find(snapshot, "p.t", ok, 1, &view), CREST_OK);
    assert_int_equal(view.unit, CREST_NANOSECONDS);
    assert_int_equal(crest_snapshot_find(snapshot, "p.t", ok, 2, &view), CREST_NOT_FOUND);
    assert_int_equal(crest_snapshot_find(snapshot, "p.t", NULL, 0, &view), CREST_NOT_FOUND);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

/* Each allocation fails in turn: no snapshot, and the next one is whole. */
static void test_no_memory(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "h");
    for (int power = 0; power < 40; power += 3)
        crest_histogram_record(histogram, INT64_C(1) << power);
    fixture_counter(registry, "c");
    assert_int_equal(crest_ticker_attach(registry), CREST_OK);
    unsigned long most = 0;
    for (int again = 0; again < 3; again++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", again); /* a new directory */
        fixture_counter(registry, name);
        if (again == 2) { /* or none, and no windows: only values take memory then */
            crest_snapshot_free(fixture_snapshot(registry));
            assert_int_equal(crest_ticker_detach(registry), CREST_OK);
        }
        crest_snapshot *snapshot = NULL;
        for (unsigned long n = 1; snapshot == NULL; n++) {
            crest_alloc_fail_after(n);
            snapshot = crest_snapshot_take(registry);
            crest_alloc_fail_after(0);
            assert_true(n < 100);
            most = n > most ? n : most;
        }
        assert_int_equal(crest_snapshot_size(snapshot), 3 + again);
        assert_int_equal(crest_distribution_count(fixture_series(snapshot, "h", NULL).distribution),
                         14);
        crest_snapshot_free(snapshot);
    }
    assert_true(most > 3);
    crest_registry *none = NULL;
    for (unsigned long n = 1; none == NULL; n++) {
        crest_alloc_fail_after(n);
        none = crest_registry_new(NULL);
        crest_alloc_fail_after(0);
        assert_true((none == NULL) == (n == 1));
    }
    crest_registry_free(none);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),     cmocka_unit_test(test_order),
        cmocka_unit_test(test_immutable), cmocka_unit_test(test_find),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
