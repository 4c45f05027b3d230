/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page written as it is read, and one of a snapshot: the same, whatever the registry has.
 */
#include "page_lines_apart.h"

CREST_REGISTRY(paths_registry, .prefix = "paths");
#undef CREST_REGISTRY_HERE
#define CREST_REGISTRY_HERE &paths_registry
CREST_COUNTER_FAMILY(paths_sent, "sent", "Sent.", peer);
CREST_GAUGE_FAMILY(paths_level, "level", "Level.", peer);
CREST_HISTOGRAM_FAMILY(paths_size, "size", "Sizes.", peer);
CREST_TIMER_FAMILY(paths_wait, "wait-time", "Waits.", peer);
CREST_RANGE_SAMPLER_FAMILY(paths_queue, "queue", "Queues.", peer);
CREST_TIMER(paths_one, "one-time", "One timer, of several outcomes.");
CREST_COUNTER(paths_last, "zeroes", "The last metric.");

enum { PATHS_PEERS = 200 };

static int paths_setup(void **state)
{
    (void)state;
    crest_testing_clock_set(1000000000);
    assert_int_equal(crest_testing_tick(&paths_registry), CREST_OK);
    for (int i = 0; i < PATHS_PEERS; i++) {
        char peer[64];
        snprintf(peer, sizeof peer, i % 7 == 3 ? "peer \"%d\\\n\xff" : "peer-%d", i);
        crest_counter_add(paths_sent_with(peer), i);
        crest_gauge_set(paths_level_with(peer), i);
        crest_histogram_record(paths_size_with(peer), i);
        crest_timer_record(paths_wait_with(peer), i, (crest_outcome)(i % CREST_OUTCOME_COUNT));
        crest_range_sampler_add(paths_queue_with(peer), i);
    }
    crest_timer_record(&paths_one, 5, CREST_OUTCOME_TIMEOUT);
    crest_testing_clock_advance(1000000000);
    assert_int_equal(crest_testing_tick(&paths_registry), CREST_OK);
    return 0;
}

static void paths_compare(crest_format format)
{
    page_gathered read = {.length = 0}, taken = {.length = 0};
    crest_error error;
    assert_int_equal(crest_page_write(&paths_registry, format, page_gather, &read, &error),
                     CREST_OK);
    crest_snapshot *snapshot = fixture_snapshot(&paths_registry);
    assert_int_equal(crest_snapshot_write(snapshot, format, NULL, page_gather, &taken, &error),
                     CREST_OK);
    crest_snapshot_free(snapshot);
    assert_true(page_assert_lines_apart(taken.text) > PATHS_PEERS * 40);
    page_assert_lines_apart(read.text);
    assert_string_equal(read.text, taken.text);
    free(read.text);
    free(taken.text);
}

static void test_both_paths(void **state)
{
    (void)state;
    paths_compare(CREST_FORMAT_PROMETHEUS_TEXT);
    paths_compare(CREST_FORMAT_OPENMETRICS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_paths)};
    return cmocka_run_group_tests_name("both ways to a page", tests, paths_setup, NULL);
}
