/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant labels of registries: on every series and page, refused where they cannot be, and static
 * registries of embedded libraries with a prefix and labels of their own.
 */
#include "base/misuse.h"
#include "support/core_fixture.h"

CREST_REGISTRY(constants_dht, .prefix = "dht", .labels = {{"network", "main"}, {"shard", "1/3"}});
#undef CREST_REGISTRY_HERE
#define CREST_REGISTRY_HERE &constants_dht
CREST_COUNTER(constants_lookups, "lookups", "Looked up.");
CREST_GAUGE_FAMILY(constants_table, "table", "Entries.", bucket);
CREST_TIMER_FAMILY(constants_ask, "ask", "Asked.", peer, kind);
CREST_COUNTER_FAMILY(constants_refused, "refused", "", shard);
CREST_RANGE_SAMPLER(constants_queue, "queue", "Waiting.");

static int constants_append(void *context, const void *bytes, size_t length)
{
    strncat(context, bytes, length);
    return 0;
}

static void test_static(void **state)
{
    (void)state;
    crest_counter_inc(&constants_lookups);
    crest_gauge_set(constants_table_with("0"), 3);
    crest_timer_record(constants_ask_with("a", "ping"), 1000, CREST_OUTCOME_ERROR);
    crest_range_sampler_add(&constants_queue, 4);
    crest_snapshot *snapshot = fixture_snapshot(&constants_dht);
    crest_series_view view;
    for (size_t i = 0; crest_snapshot_series(snapshot, i, &view) == CREST_OK; i++) {
        assert_true(view.label_count >= 2);
        assert_string_equal(view.label_keys[0], "network");
        assert_string_equal(view.label_values[0], "main");
        assert_string_equal(view.label_keys[1], "shard");
        assert_string_equal(view.label_values[1], "1/3");
    }
    const char *own[] = {"a", "ping", "error"}, *all[] = {"main", "1/3", "a", "ping", "error"};
    assert_int_equal(crest_snapshot_find(snapshot, "dht.ask", own, 3, &view), CREST_OK);
    assert_int_equal(crest_distribution_count(view.distribution), 1);
    assert_string_equal(view.label_keys[4], "outcome");
    assert_int_equal(crest_snapshot_find(snapshot, "dht.ask", all, 5, &view), CREST_OK);
    assert_int_equal(crest_snapshot_find(snapshot, "dht.ask", all, 4, &view), CREST_NOT_FOUND);
    assert_int_equal(crest_snapshot_find(snapshot, "dht.lookups", NULL, 0, &view), CREST_OK);
    assert_int_equal(view.counter, 1);
    crest_snapshot_free(snapshot);
    char page[65536] = "";
    assert_int_equal(crest_page_write(&constants_dht, CREST_FORMAT_PROMETHEUS_TEXT,
                                      constants_append, page, NULL),
                     CREST_OK);
    assert_non_null(strstr(page, "dht_lookups_total{network=\"main\",shard=\"1/3\"} 1\n"));
    assert_non_null(strstr(page, "dht_table{network=\"main\",shard=\"1/3\",bucket=\"0\"} 3\n"));
    assert_non_null(strstr(page, "dht_ask_seconds_count{network=\"main\",shard=\"1/3\",peer=\"a\","
                                 "kind=\"ping\",outcome=\"error\"} 1\n"));
    assert_null(strstr(page, "refused"));
    assert_int_equal(crest_family_register(&constants_refused.family), CREST_INVALID_LABEL);
}

/* What is no label is left out, and counted; the others are there. */
static void test_refused(void **state)
{
    (void)state;
    uint64_t labels = crest_misuse_value(CREST_MISUSE_LABEL);
    uint64_t texts = crest_misuse_value(CREST_MISUSE_TEXT);
    crest_registry_options options = {.labels = {{"le", "1"},
                                                 {"outcome", "x"},
                                                 {"job", "x"},
                                                 {"a-b", "x"},
                                                 {"good", "\xff"},
                                                 {"good", "twice"},
                                                 {"empty", NULL}}};
    crest_registry *registry = crest_registry_new(&options);
    assert_non_null(registry);
    crest_counter_inc(fixture_counter(registry, "c"));
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LABEL), labels + 5);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_TEXT), texts + 1);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view view;
    assert_int_equal(crest_snapshot_series(snapshot, 0, &view), CREST_OK);
    assert_int_equal(view.label_count, 2);
    assert_string_equal(view.label_values[0], "\xef\xbf\xbd");
    assert_string_equal(view.label_keys[1], "empty");
    assert_string_equal(view.label_values[1], "");
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

/* Eight of the registry's beside eight of a family's. */
static void test_most(void **state)
{
    (void)state;
    crest_registry_options options = {.labels = {{"a1", "1"},
                                                 {"a2", "2"},
                                                 {"a3", "3"},
                                                 {"a4", "4"},
                                                 {"a5", "5"},
                                                 {"a6", "6"},
                                                 {"a7", "7"},
                                                 {"a8", "8"}}};
    crest_registry *registry = crest_registry_new(&options);
    static const char *const keys[] = {"b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8"};
    crest_metric_options metric = {.name = "f"};
    crest_status status;
    crest_timer_family family = crest_timer_family_new(registry, &metric, keys, 8, &status);
    assert_int_equal(status, CREST_OK);
    crest_timer_record(crest_timer_family_get(&family, keys, 8), 5, CREST_OUTCOME_OK);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view view;
    const char *values[] = {"b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "ok"};
    assert_int_equal(crest_snapshot_find(snapshot, "f", values, 9, &view), CREST_OK);
    assert_int_equal(view.label_count, 17);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(view.label_values[i][0], '1' + (int)i);
        assert_string_equal(view.label_values[8 + i], keys[i]);
    }
    char page[65536] = "";
    assert_int_equal(
        crest_page_write(registry, CREST_FORMAT_PROMETHEUS_TEXT, constants_append, page, NULL),
        CREST_OK);
    assert_non_null(strstr(page, "f_seconds_count{a1=\"1\",a2=\"2\""));
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_most),
    };
    return cmocka_run_group_tests_name("constants", tests, NULL, NULL);
}
