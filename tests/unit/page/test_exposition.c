/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder: pages in both formats compared byte for byte with tests/golden. To rewrite those
 * files after a wanted change, and then look at the diff:
 *
 *     CREST_UPDATE_GOLDEN=1 build/release/tests/unit/page/test_exposition
 */
#include "support/page_fixture.h"

#include <math.h>
#include <stdio.h>

/* Compares with tests/golden/<name>; rewrites it instead when asked to, and says so. */
static int golden(const sink *into, const char *name, const char *ending)
{
    char path[128];
    snprintf(path, sizeof path, "tests/golden/%s.%s", name, ending);
    if (getenv("CREST_UPDATE_GOLDEN") != NULL) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(into->bytes, 1, into->length, file), into->length);
        assert_int_equal(fclose(file), 0);
        print_message("skipped: %s was rewritten, not compared\n", path);
        return 1;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s cannot be opened; run this in the root of the tree", path);
    static char wanted[1 << 20];
    size_t length = fread(wanted, 1, sizeof wanted - 1, file);
    fclose(file);
    wanted[length] = '\0';
    assert_string_equal(into->bytes, wanted);
    return 0;
}

/* The same samples in both formats: only comments differ. */
static void same_samples(const char *text, const char *openmetrics)
{
    for (;;) {
        for (; *text == '#'; text = strchr(text, '\n') + 1)
            ;
        for (; *openmetrics == '#'; openmetrics = strchr(openmetrics, '\n') + 1)
            ;
        size_t length = strcspn(text, "\n");
        if (length != strcspn(openmetrics, "\n") || memcmp(text, openmetrics, length) != 0)
            fail_msg("%.*s is in OpenMetrics %.*s", (int)length, text,
                     (int)strcspn(openmetrics, "\n"), openmetrics);
        if (*text == '\0')
            return;
        text += length + 1;
        openmetrics += length + 1;
    }
}

/* tests/golden/<name>.txt, and <name>.om in OpenMetrics. */
static void goldens(sink *into, const crest_snapshot *snapshot, const crest_page_options *options,
                    const char *name)
{
    crest_page_options plain = options != NULL ? *options : (crest_page_options){.windows = 0};
    plain.no_exemplars = 1;
    char *text = strdup(page_in(into, snapshot, CREST_FORMAT_PROMETHEUS_TEXT, options));
    int rewritten = golden(into, name, "txt");
    same_samples(text, page_in(into, snapshot, CREST_FORMAT_OPENMETRICS, &plain));
    free(text);
    page_in(into, snapshot, CREST_FORMAT_OPENMETRICS, options);
    rewritten |= golden(into, name, "om");
    if (rewritten)
        skip();
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
    goldens(*state, &(crest_snapshot){series, LENGTH(series), 0, 0, 0}, NULL,
            "counters_and_gauges");
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
    goldens(*state, &(crest_snapshot){series, LENGTH(series), 0, 0, 0}, NULL, "distributions");
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
    goldens(*state, &(crest_snapshot){window_series, LENGTH(window_series), 0, 0, 0}, &options,
            "windows");
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
    goldens(*state, &(crest_snapshot){range_series, LENGTH(range_series), 0, 0, 0}, NULL,
            "range_samplers");
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
    goldens(*state, &(crest_snapshot){series, LENGTH(series), 0, 0, 0}, NULL, "escaping");
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
    goldens(*state, &(crest_snapshot){series, LENGTH(series), 0, 0, 0}, &options, "target");

    static const char alone[] =
        "# HELP crest_target_info What this process is; always 1. [crest.target-info]\n"
        "# TYPE crest_target_info gauge\n"
        "crest_target_info 1\n";
    const crest_page_options bare = {.target = labels, .target_count = 0};
    static const char alone_openmetrics[] =
        "# TYPE crest_target info\n"
        "# HELP crest_target What this process is; always 1. [crest.target-info]\n"
        "crest_target_info 1\n"
        "# EOF\n";
    const crest_snapshot nothing = {NULL, 0, 0, 0, 0};
    assert_string_equal(page_in(*state, &nothing, CREST_FORMAT_OPENMETRICS, &bare),
                        alone_openmetrics);
    assert_string_equal(page_in(*state, &nothing, CREST_FORMAT_OPENMETRICS, NULL), "# EOF\n");
    assert_string_equal(page_of(*state, series, 0, &bare), alone);
    assert_non_null(strstr(page_of(*state, series, 1, &bare), alone));
    assert_string_equal(page_of(*state, series, 0, NULL), "");
    assert_int_equal(((sink *)*state)->pieces, 0);
}

/* ---- what OpenMetrics has beside ---- */

static const char *const keys_of_all[] = {"dc", "peer", "outcome"};

static crest_op op_of_bytes(size_t length)
{
    static const char bytes[40] = "\x01\x02\x03";
    return crest_op_bytes(bytes, length);
}

/* Ids of every kind, slowest operations at the ends of buckets and beyond the last, without an id,
 * without one in the last minute; constant labels; times of creation. */
static void test_openmetrics_extras(void **state)
{
    static const double bounds[] = {0.005, 0.01, 10};
    const crest_buckets own = {bounds, LENGTH(bounds)};
    const crest_op ops[] = {crest_op_u64(7), crest_op_text("a \"b\" \\ \n \xff"),
                            op_of_bytes(40), crest_op_u64x2(1, 2),
                            crest_op_none(), crest_op_u64(8)};
    static const double slowest[] = {5000000, 5000001, 10000000, 10000000001.0, 7000000, 7000000};
    static const char *const outcomes[] = {"cancelled", "error", "ok", "ok", "ok", "ok"};
    const char *values[LENGTH(ops)][3];
    crest_series_view series[LENGTH(ops) + 2];
    for (size_t i = 0; i < LENGTH(ops); i++) {
        values[i][0] = "eu\"1";
        values[i][1] = i < 3 ? "a" : i < 4 ? "b" : i < 5 ? "c" : "d";
        values[i][2] = outcomes[i];
        series[i] = (crest_series_view){
            .name = "comm.ping-time",
            .exported = "comm_ping_time",
            .description = "A \"round\" trip.",
            .kind = CREST_KIND_TIMER,
            .label_count = 3,
            .label_keys = keys_of_all,
            .label_values = values[i],
            .buckets = &own,
            .distribution = i == 1 ? &none : &times,
            .window = {
                .covered_s = 60, .events = i != 5, .maximum = slowest[i], .slowest = ops[i]}};
    }
    series[LENGTH(ops)] = (crest_series_view){.name = "comm.wait",
                                              .exported = "comm_wait",
                                              .kind = CREST_KIND_COUNTER,
                                              .unit = CREST_MICROSECONDS,
                                              .label_count = 2,
                                              .label_keys = keys_of_all,
                                              .label_values = VALUES("eu\"1", "a"),
                                              .counter = 1500};
    series[LENGTH(ops) + 1] = (crest_series_view){.name = "up.untyped",
                                                  .exported = "up_untyped",
                                                  .label_count = 1,
                                                  .label_keys = keys_of_all,
                                                  .label_values = VALUES("eu\"1")};
    const crest_snapshot snapshot = {series, LENGTH(series), 1, 1700000000, 0};
    const crest_page_options options = {.created = 1};
    const char *page = page_in(*state, &snapshot, CREST_FORMAT_OPENMETRICS, &options);
    assert_non_null(strstr(page, ",le=\"0.005\"} 1 # {operation=\"7\"} 0.005\n"));
    assert_non_null(strstr(page, ",le=\"0.01\"} 0 # {operation=\"a 'b' /   \xef\xbf\xbd\"} "
                                 "0.005000001\n"));
    assert_non_null(strstr(page, ",le=\"+Inf\"} 4 # {operation=\"1:2\"} 10.000000001\n"));
    assert_null(strstr(page, "operation=\"8\""));
    assert_non_null(
        strstr(page, "comm_wait_seconds_created{dc=\"eu\\\"1\",peer=\"a\"} 1700000000\n"));
    assert_non_null(strstr(page, "# TYPE up_untyped unknown\n"));
    assert_null(strstr(page, "up_untyped_created"));
    int rewritten = golden(*state, "openmetrics", "om");
    const crest_page_options bare = {.no_exemplars = 1};
    page = page_in(*state, &snapshot, CREST_FORMAT_OPENMETRICS, &bare);
    assert_null(strstr(page, "operation="));
    assert_null(strstr(page, "_created"));
    page = page_in(*state, &snapshot, CREST_FORMAT_PROMETHEUS_TEXT, &options);
    assert_null(strstr(page, "operation="));
    assert_null(strstr(page, "_created"));
    if (rewritten)
        skip();
}

/* Results of every window that there is, where all were asked for. */
static void test_longer_windows(void **state)
{
    const crest_page_options all = {.windows = CREST_PAGE_WINDOWS_ALL};
    crest_snapshot snapshot = {window_series, LENGTH(window_series), 0, 0, 3};
    const char *page = page_in(*state, &snapshot, CREST_FORMAT_OPENMETRICS, &all);
    assert_non_null(strstr(page, "\ncomm_events_rate1m{peer=\"node-1\",kind=\"block\"} 2.5\n"));
    assert_non_null(strstr(page, "\ncomm_events_rate5m{peer=\"node-1\",kind=\"block\"} 0.25\n"));
    assert_non_null(strstr(page, "\n# TYPE process_cpu_peak15m_seconds gauge\n"
                                 "# UNIT process_cpu_peak15m_seconds seconds\n"));
    assert_non_null(strstr(page, "\n# TYPE comm_ping_time_rate15m gauge\n# HELP "));
    snapshot.series = range_series;
    snapshot.size = LENGTH(range_series);
    page = page_in(*state, &snapshot, CREST_FORMAT_PROMETHEUS_TEXT, NULL);
    assert_non_null(strstr(page, "comm_skew_max1m_seconds"));
    assert_null(strstr(page, "5m"));
}

/* ---- only some names ---- */

typedef struct narrowed {
    const char *name;
    const char *families[4]; /* in text 0.0.4, in order */
} narrowed;

static void test_names(void **state)
{
    static const narrowed cases[] = {
        {"comm_events_total", {"comm_events_total"}},
        {"comm_events", {"comm_events_total"}},
        {"comm_events_created", {"comm_events_total"}},
        {"comm_events_rate1m", {"comm_events_rate1m"}},
        {"comm_event", {NULL}},
        {"comm_events_", {NULL}},
        {"comm_events_bucket", {NULL}},
        {"comm_peers", {"comm_peers"}},
        {"comm_peers_total", {NULL}},
        {"comm_ping_time_seconds", {"comm_ping_time_seconds"}},
        {"comm_ping_time_seconds_bucket", {"comm_ping_time_seconds"}},
        {"comm_ping_time_seconds_sum", {"comm_ping_time_seconds"}},
        {"comm_ping_time_seconds_count", {"comm_ping_time_seconds"}},
        {"comm_ping_time_max1m_seconds", {"comm_ping_time_max1m_seconds"}},
        {"crest_target_info", {"crest_target_info"}},
        {"crest_target", {"crest_target_info"}},
        {"net_received_bytes_total", {"net_received_bytes_total"}},
        {"net.received", {NULL}},
        {"", {NULL}},
        {NULL, {NULL}},
    };
    const crest_page_label label = {"service", "x"};
    crest_page_options options = {
        .windows = CREST_PAGE_WINDOWS_ALL, .target = &label, .target_count = 1, .name_count = 1};
    const crest_snapshot snapshot = {window_series, LENGTH(window_series), 0, 0, 0};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        options.names = &cases[i].name;
        const char *page = page_in(*state, &snapshot, CREST_FORMAT_PROMETHEUS_TEXT, &options);
        unsigned families = 0;
        for (const char *at = page; (at = strstr(at, "# TYPE ")) != NULL; families++) {
            at += 7;
            const char *wanted = cases[i].families[families];
            if (wanted == NULL || strncmp(at, wanted, strlen(wanted)) != 0)
                fail_msg("name[]=%s gives %.*s", cases[i].name, (int)strcspn(at, " "), at);
        }
        if (cases[i].families[families] != NULL)
            fail_msg("name[]=%s lacks %s", cases[i].name, cases[i].families[families]);
        char *text = strdup(page);
        crest_page_options plain = options;
        plain.no_exemplars = 1;
        same_samples(text, page_in(*state, &snapshot, CREST_FORMAT_OPENMETRICS, &plain));
        free(text);
    }
    /* several, one of them twice; all that a family has is there */
    const char *const several[] = {"comm_peers", "no_such", "comm_events_total", "comm_peers"};
    options.names = several;
    options.name_count = LENGTH(several);
    assert_string_equal(page_in(*state, &snapshot, CREST_FORMAT_PROMETHEUS_TEXT, &options),
                        "# HELP comm_events_total Events. [comm.events]\n"
                        "# TYPE comm_events_total counter\n"
                        "comm_events_total{peer=\"node-1\",kind=\"block\"} 150\n"
                        "comm_events_total{peer=\"node-2\",kind=\"block\"} 7\n"
                        "comm_events_total{peer=\"node-3\",kind=\"block\"} 9\n"
                        "# HELP comm_peers Peers. [comm.peers]\n"
                        "# TYPE comm_peers gauge\n"
                        "comm_peers 3\n");
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
        SINK_TEST(test_openmetrics_extras),
        SINK_TEST(test_longer_windows),
        SINK_TEST(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
