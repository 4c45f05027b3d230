/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every instrument and family defined once for a header that declares it, in a static registry with
 * a prefix and labels of its own.
 */
#include "support/core_fixture.h"
#include "support/declared_pairs.h"

CREST_REGISTRY_DEFINE(pairs_registry, .prefix = "pairs", .labels = {{"library", "dht"}});
#define CREST_REGISTRY_HERE &pairs_registry
CREST_COUNTER_DEFINE(pairs_counter, "counter", "One.");
CREST_GAUGE_DEFINE(pairs_gauge, "gauge", "One.");
CREST_HISTOGRAM_DEFINE(pairs_histogram, "histogram", "One.", .unit = CREST_BYTES);
CREST_TIMER_DEFINE(pairs_timer, "timer", "One.", .buckets = CREST_BUCKETS_FAST);
CREST_RANGE_SAMPLER_DEFINE(pairs_sampler, "sampler", "One.");
CREST_STAGES_DEFINE(pairs_stages, "stages", "One.", .stages = {"x", "y"});
CREST_MUTEX_DEFINE(pairs_mutex, "mutex");
CREST_COUNTER_FAMILY_DEFINE(pairs_counters, "counters", "Many.", (), a, b, c, d, e, f, g, h);
CREST_GAUGE_FAMILY_DEFINE(pairs_gauges, "gauges", "Many.", (), a, b, c, d, e, f, g, h);
CREST_HISTOGRAM_FAMILY_DEFINE(pairs_histograms, "histograms", "Many.", (.unit = CREST_BYTES), a, b,
                              c, d, e, f, g, h);
CREST_TIMER_FAMILY_DEFINE(pairs_timers, "timers", "Many.", (), a, b, c, d, e, f, g, h);
CREST_RANGE_SAMPLER_FAMILY_DEFINE(pairs_samplers, "samplers", "Many.", (), a, b, c, d, e, f, g, h);
CREST_STAGES_FAMILY_DEFINE(pairs_many_stages, "many-stages", "Many.", (.stages = {"x", "y"}), a, b,
                           c, d, e, f, g, h);

static const char *const pairs_values[] = {"1", "2", "3", "4", "5", "6", "7", "8", "ok"};

/* All are there, as zero, from load on, with the registry's label first. */
static void test_there_at_once(void **state)
{
    (void)state;
    static const char *const names[] = {"pairs.counter", "pairs.gauge",   "pairs.histogram",
                                        "pairs.timer",   "pairs.sampler", "pairs.stages"};
    crest_snapshot *snapshot = fixture_snapshot(&pairs_registry);
    crest_series_view view;
    for (unsigned i = 0; i < LENGTH(names); i++) {
        unsigned outcome = i == 3 || i == 5;
        assert_int_equal(crest_snapshot_find(snapshot, names[i], &pairs_values[8], outcome, &view),
                         CREST_OK);
        assert_int_equal(view.label_count, 1 + outcome);
        assert_string_equal(view.label_keys[0], "library");
        assert_string_equal(view.label_values[0], "dht");
        assert_int_equal(view.counter + crest_distribution_count(view.distribution), 0);
    }
    crest_snapshot_free(snapshot);
}

#define PAIRS_ALL "1", "2", "3", "4", "5", "6", "7", "8"

/* Resolved through declarations, they are what was defined: eight keys beside the registry's. */
static void test_families(void **state)
{
    (void)state;
    crest_counter_add(&pairs_counter, 2);
    crest_counter_add(pairs_counters_with(PAIRS_ALL), 3);
    crest_gauge_set(pairs_gauges_with(PAIRS_ALL), 4);
    crest_histogram_record(pairs_histograms_with(PAIRS_ALL), 5);
    crest_timer_record(pairs_timers_with(PAIRS_ALL), 6, CREST_OUTCOME_OK);
    crest_range_sampler_add(pairs_samplers_with(PAIRS_ALL), 7);
    crest_op op = crest_op_u64(1);
    crest_stages *stages = pairs_many_stages_with("1", "2", "3", "4", "5", "6", "7", "8");
    assert_int_equal(crest_stages_begin(stages, op), CREST_OK);
    assert_int_equal(crest_stages_mark(stages, op, 1), CREST_OK);
    assert_int_equal(crest_stages_end(stages, op, CREST_OUTCOME_OK), CREST_OK);
    crest_snapshot *snapshot = fixture_snapshot(&pairs_registry);
    crest_series_view view;
    assert_int_equal(crest_snapshot_find(snapshot, "pairs.counters", pairs_values, 8, &view),
                     CREST_OK);
    assert_int_equal(view.counter, 3);
    assert_int_equal(view.label_count, 9);
    assert_string_equal(view.label_keys[8], "h");
    assert_int_equal(crest_snapshot_find(snapshot, "pairs.gauges", pairs_values, 8, &view),
                     CREST_OK);
    assert_true(view.gauge == 4);
    assert_int_equal(crest_snapshot_find(snapshot, "pairs.histograms", pairs_values, 8, &view),
                     CREST_OK);
    assert_int_equal(crest_distribution_sum(view.distribution), 5);
    assert_int_equal(crest_snapshot_find(snapshot, "pairs.timers", pairs_values, 9, &view),
                     CREST_OK);
    assert_int_equal(crest_distribution_sum(view.distribution), 6);
    assert_int_equal(crest_snapshot_find(snapshot, "pairs.samplers", pairs_values, 8, &view),
                     CREST_OK);
    assert_int_equal(view.current, 7);
    /* one label more than a family may have */
    const char *const marked[] = {"1", "2", "3", "4", "5", "6", "7", "8", "y"};
    assert_int_equal(crest_snapshot_find(snapshot, "pairs.many-stages.stage", marked, 9, &view),
                     CREST_OK);
    assert_int_equal(crest_distribution_count(view.distribution), 1);
    crest_snapshot_free(snapshot);
    /* all of them have a = 1: the histograms of the stages, two stages each, are series too */
    assert_int_equal(crest_retire(&pairs_registry, "a", "1"), 6 + 4);
    assert_int_equal(crest_retire(&pairs_registry, "library", "dht"), 0);
    assert_int_equal(crest_counter_release(pairs_counters_with(PAIRS_ALL)), CREST_OK);
    stages = pairs_many_stages_with("1", "2", "3", "4", "5", "6", "7", "8");
    assert_int_equal(crest_stages_release(stages), CREST_OK);
    assert_int_equal(crest_stages_begin(stages, op), CREST_OK);
    assert_int_equal(crest_stages_mark(stages, op, 0), CREST_OK);
    assert_int_equal(crest_stages_end(stages, op, CREST_OUTCOME_ERROR), CREST_OK);
}

/* Its three metrics are in the registry of the declaration. */
static void test_mutex(void **state)
{
    (void)state;
    assert_int_equal(crest_mutex_lock(&pairs_mutex), 0);
    crest_snapshot *snapshot = fixture_snapshot(&pairs_registry);
    crest_series_view view;
    assert_int_equal(crest_snapshot_find(snapshot, "pairs.mutex.lock.permit", NULL, 0, &view),
                     CREST_OK);
    assert_int_equal(view.current, 1);
    crest_snapshot_free(snapshot);
    assert_int_equal(crest_mutex_unlock(&pairs_mutex), 0);
}

/* Eight keys, of which none may be the one that stages bring along. */
static void test_own_label(void **state)
{
    (void)state;
    const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "stage"};
    crest_metric_options options = {.name = "own", .stages = {"x"}};
    crest_status status;
    crest_stages_family_new(&pairs_registry, &options, keys, 8, &status);
    assert_int_equal(status, CREST_INVALID_LABEL);
    crest_stages_family_new(&pairs_registry, &options, keys, 7, &status);
    assert_int_equal(status, CREST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_at_once),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_mutex),
        cmocka_unit_test(test_own_label),
    };
    return cmocka_run_group_tests_name("declared", tests, NULL, NULL);
}
