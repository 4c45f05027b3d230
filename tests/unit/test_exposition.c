/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text encoder: pages compared byte for byte with tests/golden. To rewrite those files after a
 * wanted change, and then look at the diff:
 *
 *     CREST_UPDATE_GOLDEN=1 build/release/tests/unit/test_exposition
 */
#include "page_fixture.h"

#include <math.h>
#include <stdio.h>

/* Compares with tests/golden/<name>; rewrites it instead when asked to. */
static void golden(sink *into, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "tests/golden/%s", name);
    if (getenv("CREST_UPDATE_GOLDEN") != NULL) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(into->bytes, 1, into->length, file), into->length);
        assert_int_equal(fclose(file), 0);
        print_message("skipped: %s was rewritten, not compared\n", path);
        skip();
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s cannot be opened; run this in the root of the tree", path);
    static char wanted[1 << 20];
    size_t length = fread(wanted, 1, sizeof wanted - 1, file);
    fclose(file);
    wanted[length] = '\0';
    assert_string_equal(into->bytes, wanted);
}

/* ---- golden pages ---- */

static const char *const peer_keys[] = {"peer", "kind"};
static const char *const outcome_keys[] = {"peer", "outcome"};

static void test_counters_and_gauges(void **state)
{
    const crest_series_view series[] = {
        {.name = "casper.blocks-created",
         .exported = "casper_blocks_created",
         .description = "Blocks this node proposed.",
         .kind = CREST_KIND_COUNTER,
         .counter = 0},
        {.name = "comm.messages",
         .exported = "comm_messages",
         .description = "Messages sent.",
         .kind = CREST_KIND_COUNTER,
         .label_count = 2,
         .label_keys = peer_keys,
         .label_values = VALUES("node-1", "block"),
         .counter = 12},
        {.name = "comm.messages",
         .exported = "comm_messages",
         .description = "Messages sent.",
         .kind = CREST_KIND_COUNTER,
         .label_count = 2,
         .label_keys = peer_keys,
         .label_values = VALUES("node-2", ""),
         .counter = UINT64_MAX},
        {.name = "comm.peers",
         .exported = "comm_peers",
         .description = "",
         .kind = CREST_KIND_GAUGE,
         .gauge = 12},
        {.name = "comm.skew",
         .exported = "comm_skew",
         .description = "Clock against the median.",
         .kind = CREST_KIND_GAUGE,
         .unit = CREST_MILLISECONDS,
         .gauge = -2.5},
        {.name = "gc.fill",
         .exported = "gc_fill",
         .description = "Fill.",
         .kind = CREST_KIND_GAUGE,
         .unit = CREST_RATIO,
         .gauge = 0.1},
        {.name = "limits.high",
         .exported = "limits_high",
         .description = "Special values.",
         .kind = CREST_KIND_GAUGE,
         .gauge = INFINITY},
        {.name = "limits.low",
         .exported = "limits_low",
         .description = "Special values.",
         .kind = CREST_KIND_GAUGE,
         .gauge = -INFINITY},
        {.name = "limits.none",
         .exported = "limits_none",
         .description = "Special values.",
         .kind = CREST_KIND_GAUGE,
         .gauge = NAN},
        {.name = "limits.third",
         .exported = "limits_third",
         .description = "Special values.",
         .kind = CREST_KIND_GAUGE,
         .gauge = 1.0 / 3},
        {.name = "net.received",
         .exported = "net_received",
         .description = "Bytes read.",
         .kind = CREST_KIND_COUNTER,
         .unit = CREST_BYTES,
         .counter = 4096},
        {.name = "process.cpu",
         .exported = "process_cpu",
         .description = "CPU time.",
         .kind = CREST_KIND_COUNTER,
         .unit = CREST_NANOSECONDS,
         .counter = 1234567890},
        {.name = "process.wait",
         .exported = "process_wait",
         .description = "Waiting.",
         .kind = CREST_KIND_COUNTER,
         .unit = CREST_MICROSECONDS,
         .counter = UINT64_C(9007199254740993)},
    };
    page_of(*state, series, LENGTH(series), NULL);
    golden(*state, "counters_and_gauges.txt");
}

/* Nanoseconds: one around 5 ms, whose lower end is below the bound; two from 10 ms on, which is a
 * bound; one above the last bound. */
static const crest_bucket time_buckets[] = {
    {4990000, 5010000, 1}, {10000000, 10080000, 2}, {UINT64_C(11000000000), 11080000000u, 1}};
static const crest_bucket size_buckets[] = {{0, 0, 3}, {512, 515, 4}, {516, 519, 5}};
static const crest_distribution times = {UINT64_C(11025000001), time_buckets, LENGTH(time_buckets)};
static const crest_distribution sizes = {4700, size_buckets, LENGTH(size_buckets)};
static const crest_distribution none;

static void test_distributions(void **state)
{
    static const double bounds[] = {0, 1, 515.5, 516, 1e6};
    const crest_buckets own = {bounds, LENGTH(bounds)};
    const crest_series_view series[] = {
        {.name = "a.depth",
         .exported = "a_depth",
         .description = "Nothing recorded.",
         .kind = CREST_KIND_HISTOGRAM,
         .buckets = &own,
         .distribution = &none},
        {.name = "a.missing",
         .exported = "a_missing",
         .description = "No distribution at all.",
         .kind = CREST_KIND_HISTOGRAM,
         .unit = CREST_RATIO},
        {.name = "casper.block-size",
         .exported = "casper_block_size",
         .description = "Serialised block.",
         .kind = CREST_KIND_HISTOGRAM,
         .unit = CREST_BYTES,
         .buckets = &own,
         .distribution = &sizes},
        {.name = "comm.ping-time",
         .exported = "comm_ping_time",
         .description = "Round trip.",
         .kind = CREST_KIND_TIMER,
         .label_count = 2,
         .label_keys = outcome_keys,
         .label_values = VALUES("node-1", "error"),
         .buckets = &crest_buckets_default,
         .distribution = &none},
        {.name = "comm.ping-time",
         .exported = "comm_ping_time",
         .description = "Round trip.",
         .kind = CREST_KIND_TIMER,
         .label_count = 2,
         .label_keys = outcome_keys,
         .label_values = VALUES("node-1", "ok"),
         .buckets = &crest_buckets_default,
         .distribution = &times},
    };
    page_of(*state, series, LENGTH(series), NULL);
    golden(*state, "distributions.txt");
}

#define NODE_WINDOW                                                                                \
    {                                                                                              \
        .covered_s = 60, .per_second = 2.5, .peak = 17, .average = 7250000,                        \
        .maximum = 11080000000.0, .events = 150                                                    \
    }
#define QUIET_WINDOW                                                                               \
    {                                                                                              \
        .covered_s = 60                                                                            \
    }

static const crest_series_view window_series[] = {
    {.name = "comm.events",
     .exported = "comm_events",
     .description = "Events.",
     .kind = CREST_KIND_COUNTER,
     .label_count = 2,
     .label_keys = peer_keys,
     .label_values = VALUES("node-1", "block"),
     .counter = 150,
     .window = NODE_WINDOW},
    {.name = "comm.events",
     .exported = "comm_events",
     .description = "Events.",
     .kind = CREST_KIND_COUNTER,
     .label_count = 2,
     .label_keys = peer_keys,
     .label_values = VALUES("node-2", "block"),
     .counter = 7,
     .window = QUIET_WINDOW},
    {.name = "comm.events",
     .exported = "comm_events",
     .description = "Events.",
     .kind = CREST_KIND_COUNTER,
     .label_count = 2,
     .label_keys = peer_keys,
     .label_values = VALUES("node-3", "block"),
     .counter = 9},
    {.name = "comm.peers",
     .exported = "comm_peers",
     .description = "Peers.",
     .kind = CREST_KIND_GAUGE,
     .gauge = 3,
     .window = NODE_WINDOW},
    {.name = "comm.ping-time",
     .exported = "comm_ping_time",
     .description = "Round trip.",
     .kind = CREST_KIND_TIMER,
     .label_count = 2,
     .label_keys = outcome_keys,
     .label_values = VALUES("node-1", "error"),
     .buckets = &crest_buckets_default,
     .distribution = &none,
     .window = QUIET_WINDOW},
    {.name = "comm.ping-time",
     .exported = "comm_ping_time",
     .description = "Round trip.",
     .kind = CREST_KIND_TIMER,
     .label_count = 2,
     .label_keys = outcome_keys,
     .label_values = VALUES("node-1", "ok"),
     .buckets = &crest_buckets_default,
     .distribution = &times,
     .window = NODE_WINDOW},
    {.name = "comm.queue",
     .exported = "comm_queue",
     .description = "",
     .kind = CREST_KIND_HISTOGRAM,
     .buckets = &crest_buckets_magnitudes,
     .distribution = &none,
     .window = QUIET_WINDOW},
    {.name = "net.received",
     .exported = "net_received",
     .description = "Bytes read.",
     .kind = CREST_KIND_COUNTER,
     .unit = CREST_BYTES,
     .counter = 4096,
     .window = {.covered_s = 12.5, .per_second = 327.68, .peak = 4096, .events = 4096}},
    {.name = "process.cpu",
     .exported = "process_cpu",
     .description = "CPU time.",
     .kind = CREST_KIND_COUNTER,
     .unit = CREST_NANOSECONDS,
     .counter = 1234567890,
     .window =
         {.covered_s = 60, .per_second = 20576131.5, .peak = 900000000, .events = 1234567890}},
};

static void test_windows(void **state)
{
    const crest_page_options options = {.windows = 1};
    page_of(*state, window_series, LENGTH(window_series), &options);
    golden(*state, "windows.txt");
}

/* Without being asked for, they are not there. */
static void test_windows_are_optional(void **state)
{
    const crest_page_options options = {.windows = 0};
    const char *page = page_of(*state, window_series, LENGTH(window_series), &options);
    assert_non_null(strstr(page, "comm_events_total"));
    assert_null(strstr(page, "1m"));
}

static const crest_series_view range_series[] = {
    {.name = "casper.pending",
     .exported = "casper_pending",
     .description = "No ticker.",
     .kind = CREST_KIND_RANGE_SAMPLER,
     .current = INT64_MIN},
    {.name = "comm.events",
     .exported = "comm_events",
     .description = "Events.",
     .kind = CREST_KIND_COUNTER,
     .counter = 150,
     .window = NODE_WINDOW},
    {.name = "comm.inbound-bytes",
     .exported = "comm_inbound_bytes",
     .description = "Bytes waiting.",
     .kind = CREST_KIND_RANGE_SAMPLER,
     .unit = CREST_BYTES,
     .label_count = 2,
     .label_keys = peer_keys,
     .label_values = VALUES("node-1", "block"),
     .current = INT64_MAX,
     .window = {.covered_s = 60, .minimum = 0, .maximum = 0x1p63, .average = 1234567.25}},
    {.name = "comm.inbound-bytes",
     .exported = "comm_inbound_bytes",
     .description = "Bytes waiting.",
     .kind = CREST_KIND_RANGE_SAMPLER,
     .unit = CREST_BYTES,
     .label_count = 2,
     .label_keys = peer_keys,
     .label_values = VALUES("node-2", "block"),
     .current = 5},
    {.name = "comm.skew",
     .exported = "comm_skew",
     .description = "",
     .kind = CREST_KIND_RANGE_SAMPLER,
     .unit = CREST_MILLISECONDS,
     .current = -7,
     .window = {.covered_s = 60, .minimum = -2500, .maximum = 3, .average = -0.5}},
};

/* What a scraper could not compute is on every page but the last. */
static void test_range_samplers(void **state)
{
    const crest_page_options last = {.windows = CREST_PAGE_WINDOWS_NONE};
    const crest_page_options all = {.windows = CREST_PAGE_WINDOWS_ALL};
    const char *page = page_of(*state, range_series, LENGTH(range_series), &last);
    assert_non_null(strstr(page, "\ncomm_skew_seconds -0.007\n"));
    assert_null(strstr(page, "1m"));
    page = page_of(*state, range_series, LENGTH(range_series), &all);
    assert_non_null(strstr(page, "\ncomm_events_rate1m 2.5\n"));
    assert_non_null(strstr(page, "\ncomm_skew_min1m_seconds -2.5\n"));
    assert_null(strstr(page, "skew_rate1m"));
    assert_null(strstr(page, "skew_peak1m"));
    page = page_of(*state, range_series, LENGTH(range_series), NULL);
    assert_null(strstr(page, "rate1m"));
    golden(*state, "range_samplers.txt");
}

static void test_escaping(void **state)
{
    const crest_series_view series[] = {
        {.name = "a.help",
         .exported = "a_help",
         .description = "A \"quoted\" C:\\new\nline, \xe2\x82\xac and \xf0\x9f\x8c\x8a, then "
                        "\xff\xc3( and \xed\xa0\x80 and a cut \xf0\x9f",
         .kind = CREST_KIND_GAUGE,
         .label_count = 2,
         .label_keys = peer_keys,
         .label_values = VALUES("C:\\new\n\"quoted\"", "\\"),
         .gauge = 1},
        {.name = "a.help",
         .exported = "a_help",
         .description = "",
         .kind = CREST_KIND_GAUGE,
         .label_count = 2,
         .label_keys = peer_keys,
         .label_values = VALUES("\xf0\x9f\x8c\x8a\xe2\x82\xac", "bad \xff\xc3( \xf0\x9f"),
         .gauge = 2},
        {.name = "a.help",
         .exported = "a_help",
         .description = "",
         .kind = CREST_KIND_GAUGE,
         .label_count = 2,
         .label_keys = peer_keys,
         .label_values = VALUES("}, le=\"1\"} 7 # EOF", "\ttab\r"),
         .gauge = 3},
    };
    page_of(*state, series, LENGTH(series), NULL);
    golden(*state, "escaping.txt");
}

static void test_target(void **state)
{
    const crest_page_label labels[] = {
        {"service", "rnode"}, {"version", "0.13 \"alpha\""}, {"instance", ""}, {"none", NULL}};
    const crest_page_options options = {.target = labels, .target_count = LENGTH(labels)};
    const crest_series_view series[] = {
        {.name = "aaa", .exported = "aaa", .description = "Before.", .kind = CREST_KIND_GAUGE},
        {.name = "crest.misuse",
         .exported = "crest_misuse",
         .description = "Before.",
         .kind = CREST_KIND_COUNTER},
        {.name = "crest.ticks",
         .exported = "crest_ticks",
         .description = "After.",
         .kind = CREST_KIND_COUNTER},
    };
    page_of(*state, series, LENGTH(series), &options);
    golden(*state, "target.txt");

    static const char alone[] =
        "# HELP crest_target_info What this process is; always 1. [crest.target-info]\n"
        "# TYPE crest_target_info gauge\n"
        "crest_target_info 1\n";
    const crest_page_options bare = {.target = labels, .target_count = 0};
    assert_string_equal(page_of(*state, series, 0, &bare), alone);
    assert_non_null(strstr(page_of(*state, series, 1, &bare), alone));
    assert_string_equal(page_of(*state, series, 0, NULL), "");
    assert_int_equal(((sink *)*state)->pieces, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SINK_TEST(test_counters_and_gauges),
        SINK_TEST(test_distributions),
        SINK_TEST(test_windows),
        SINK_TEST(test_windows_are_optional),
        SINK_TEST(test_range_samplers),
        SINK_TEST(test_escaping),
        SINK_TEST(test_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
