/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `.range` of histograms and timers, however they are made: what is refused, what each range
 * clamps and keeps, and what it costs.
 */
#include "base/arena.h"
#include "base/misuse.h"
#include "cells/cells.h"
#include "metrics/metric_inside.h"
#include "support/core_fixture.h"
#include "support/random_numbers.h"

#define HOUR UINT64_C(3600000000000)

CREST_HISTOGRAM(ranges_percent, "ranges.percent", "Declared.", .range = CREST_RANGE_PERCENTAGE);
CREST_TIMER(ranges_timer, "ranges.timer", "Declared.", .range = CREST_RANGE_FINE);
CREST_HISTOGRAM_FAMILY_OPTIONS(ranges_family, "ranges.family", "Declared.",
                               (.range = CREST_RANGE_NONE), kind);

static crest_histogram *ranges_histogram(crest_registry *registry, const char *name,
                                         const crest_range *range)
{
    crest_metric_options options = {.name = name, .range = range};
    crest_status status;
    crest_histogram *made = crest_histogram_get(registry, &options, &status);
    assert_int_equal(status, CREST_OK);
    return made;
}

static void test_refused(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    static const crest_range bad = {5, 9, 2};
    crest_status status;
    uint64_t refused = crest_misuse_value(CREST_MISUSE_ARGUMENT);
    crest_metric_options options = {.name = "bad", .range = &bad};
    crest_histogram *histogram = crest_histogram_get(registry, &options, &status);
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    crest_timer_get(registry, &options, &status);
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    static const char *const keys[] = {"key"};
    crest_histogram_family_new(registry, &options, keys, 1, &status);
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_ARGUMENT), refused + 3);
    crest_histogram_record(histogram, 1); /* into nothing */
    assert_int_equal(crest_misuse_value(CREST_MISUSE_ARGUMENT), refused + 4);
    /* buckets that nothing could be counted into */
    crest_metric_options both = {
        .name = "both", .range = CREST_RANGE_NONE, .buckets = CREST_BUCKETS_FAST};
    crest_histogram_get(registry, &both, &status);
    assert_int_equal(status, CREST_INVALID_ARGUMENT);
    /* the name is free for a range that is one */
    options.range = CREST_RANGE_LOOSE;
    crest_histogram_get(registry, &options, &status);
    assert_int_equal(status, CREST_OK);
    /* what has no range ignores it, as it does buckets */
    options.range = &bad;
    options.name = "counter";
    crest_counter_get(registry, &options, &status);
    assert_int_equal(status, CREST_OK);
    crest_registry_free(registry);
}

/* A metric that is got again keeps the range it has. */
static void test_first_wins(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *first = ranges_histogram(registry, "h", CREST_RANGE_PERCENTAGE);
    assert_ptr_equal(ranges_histogram(registry, "h", CREST_RANGE_FINE), first);
    uint64_t clamped = crest_misuse_value(CREST_MISUSE_CLAMPED);
    crest_histogram_record(first, 200);
    assert_int_equal(crest_misuse_value(CREST_MISUSE_CLAMPED), clamped + 1);
    crest_registry_free(registry);
}

static void test_declared(void **state)
{
    (void)state;
    uint64_t clamped = crest_misuse_value(CREST_MISUSE_CLAMPED);
    for (int touched = 0; touched < 2; touched++) {
        crest_histogram_record(&ranges_percent, 100);
        crest_histogram_record(&ranges_percent, 128);
        crest_timer_record(&ranges_timer, 12345678, CREST_OUTCOME_OK);
        crest_histogram_record(ranges_family_with("a"), INT64_MAX);
        crest_histogram_record(ranges_family_with("a"), 17);
    }
    assert_int_equal(crest_misuse_value(CREST_MISUSE_CLAMPED), clamped + 2);
    crest_snapshot *snapshot = fixture_snapshot(NULL);
    const crest_distribution *d = fixture_series(snapshot, "ranges.percent", NULL).distribution;
    assert_int_equal(crest_distribution_max(d), 127);
    assert_int_equal(crest_distribution_quantile(d, 0.5), 100);
    d = fixture_series(snapshot, "ranges.timer", "ok").distribution;
    crest_bucket bucket;
    size_t cursor = 0;
    assert_true(crest_distribution_next(d, &cursor, &bucket));
    assert_true(bucket.lowest <= 12345678 && bucket.highest >= 12345678);
    assert_true((bucket.highest - bucket.lowest + 1) * 1000 <= bucket.lowest);
    d = fixture_series(snapshot, "ranges.family", "a").distribution;
    assert_int_equal(crest_distribution_count(d), 4);
    assert_int_equal(crest_distribution_min(d), 17);
    assert_int_equal(crest_distribution_max(d), INT64_MAX);
    crest_series_view view = fixture_series(snapshot, "ranges.family", "a");
    assert_int_equal(view.buckets->count, 0);
    crest_snapshot_free(snapshot);
}

/* Of the page of a metric that keeps no values, one bucket is left. */
static int ranges_gather(void *context, const void *bytes, size_t length)
{
    strncat(context, bytes, length);
    return 0;
}

static void test_page_of_none(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = ranges_histogram(registry, "none", CREST_RANGE_NONE);
    crest_histogram_record_n(histogram, 1000, 3);
    crest_histogram_record(histogram, 0);
    static char page[65536];
    assert_int_equal(
        crest_page_write(registry, CREST_FORMAT_PROMETHEUS_TEXT, ranges_gather, page, NULL),
        CREST_OK);
    assert_non_null(strstr(page, "# TYPE none histogram\n"
                                 "none_bucket{le=\"+Inf\"} 4\n"
                                 "none_sum 3000\n"
                                 "none_count 4\n"));
    crest_registry_free(registry);
}

/* Several large values at once: what the sum cannot tell is refused, on every path. */
static void test_large_times(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = ranges_histogram(registry, "large", CREST_RANGE_NONE);
    uint64_t limit = crest_misuse_value(CREST_MISUSE_LIMIT);
    for (int touched = 0; touched < 2; touched++) {
        crest_histogram_record(histogram, INT64_C(1) << 60);
        crest_histogram_record_n(histogram, INT64_C(1) << 60, 1 << 4);
        crest_histogram_record_n(histogram, INT64_C(1) << 44, 1 << 20);
    }
    assert_int_equal(crest_misuse_value(CREST_MISUSE_LIMIT), limit + 4);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_distribution *d = fixture_series(snapshot, "large", NULL).distribution;
    assert_int_equal(crest_distribution_count(d), 2);
    assert_int_equal(crest_distribution_sum(d), UINT64_C(1) << 61);
    crest_snapshot_free(snapshot);
    crest_registry_free(registry);
}

static double ranges_uniform(uint64_t *random)
{
    return ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
}

/* What has been used, and not what this thread has in reserve. */
static uint64_t ranges_arena_bytes(void)
{
    const crest_reserve *reserve = crest_cells_reserve();
    return crest_arena_used(CREST_ARENA_CELLS) - (reserve->end - reserve->next);
}

/* A million latencies, log-normal: what the thread's counts take of the arena. */
static void test_memory(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_histogram *histogram = fixture_histogram(registry, "latency");
    crest_counter_inc(fixture_counter(registry, "c")); /* the thread has its chunk */
    uint64_t before = ranges_arena_bytes(), random = 88172645463325252u;
    for (int i = 0; i < 1000000; i++) {
        double radius = sqrt(-2 * log(ranges_uniform(&random)));
        double normal = radius * cos(6.283185307179586 * ranges_uniform(&random));
        crest_histogram_record(histogram, (int64_t)(100e3 * exp(1.6 * normal)));
    }
    uint64_t used = ranges_arena_bytes() - before;
    if (used > 24 * 1024)
        fail_msg("%llu bytes", (unsigned long long)used);
    crest_snapshot *snapshot = fixture_snapshot(registry);
    const crest_distribution *d = fixture_series(snapshot, "latency", NULL).distribution;
    assert_int_equal(crest_distribution_count(d), 1000000);
    assert_in_range(crest_distribution_quantile(d, 0.5), 99000, 101000);
    crest_snapshot_free(snapshot);
    crest_histogram *none = ranges_histogram(registry, "none", CREST_RANGE_NONE);
    before = ranges_arena_bytes();
    for (int power = 0; power < 63; power++)
        crest_histogram_record(none, INT64_C(1) << power);
    assert_in_range(ranges_arena_bytes() - before, 1, 1024);
    crest_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_first_wins),
        cmocka_unit_test(test_declared),    cmocka_unit_test(test_page_of_none),
        cmocka_unit_test(test_large_times), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
