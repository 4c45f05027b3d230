/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder of protobuf pages: pages compared byte for byte with tests/golden/NAME.pb, which
 * test_native_histograms.py has protoc read; families longer than a piece; numbers that a double
 * does not hold; and labels of any bytes. To rewrite the golden files after a wanted change, and
 * then look at the diff of what `protoc --decode` shows:
 *
 *     CREST_UPDATE_GOLDEN=1 build/release/tests/unit/page/test_page_protobuf
 */
#include "base/alloc.h"
#include "base/number.h"
#include "page/protobuf_fields.h"
#include "support/page_fixture.h"
#include "support/random_numbers.h"

#include <math.h>
#include <stdio.h>

static const char *const peer_keys[] = {"peer", "kind"};
static const char *const outcome_keys[] = {"peer", "outcome"};

static void protobuf_page_of(sink *into, const crest_snapshot *snapshot,
                             const crest_page_options *options)
{
    crest_error error;
    into->length = into->pieces = 0;
    assert_int_equal(crest_exposition_write(&fake, snapshot, CREST_FORMAT_PROMETHEUS_PROTOBUF,
                                            options, sink_write, into, &error),
                     CREST_OK);
}

static void golden(sink *into, const crest_snapshot *snapshot, const crest_page_options *options,
                   const char *name)
{
    char path[128];
    static char wanted[1 << 20];
    protobuf_page_of(into, snapshot, options);
    snprintf(path, sizeof path, "tests/golden/%s.pb", name);
    int update = getenv("CREST_UPDATE_GOLDEN") != NULL;
    FILE *file = fopen(path, update ? "wb" : "rb");
    if (file == NULL)
        fail_msg("%s cannot be opened; run this in the root of the tree", path);
    if (update) {
        assert_int_equal(fwrite(into->bytes, 1, into->length, file), into->length);
        assert_int_equal(fclose(file), 0);
        print_message("skipped: %s was rewritten, not compared\n", path);
        skip();
    }
    size_t length = fread(wanted, 1, sizeof wanted, file);
    fclose(file);
    assert_int_equal(into->length, length);
    assert_memory_equal(into->bytes, wanted, length);
}

/* ---- golden pages ---- */

static void test_values(void **state)
{
    static const crest_page_label target[] = {
        {"service", "node"}, {"version", "1.2 \"beta\""}, {"empty", NULL}};
    const crest_page_options options = {.target = target, .target_count = LENGTH(target)};
    const crest_series_view series[] = {
        {.name = "casper.blocks-created",
         .exported = "casper_blocks_created",
         .description = "Blocks this node proposed.",
         .kind = CREST_KIND_COUNTER,
         .counter = 0},
        {.name = "comm.messages",
         .exported = "comm_messages",
         .description = "Messages \xff sent.\nTwo \"lines\" \\.",
         .kind = CREST_KIND_COUNTER,
         .label_count = 2,
         .label_keys = peer_keys,
         .label_values = VALUES("node-1", "caf\xc3\xa9 \"\\\n"),
         .counter = UINT64_C(9007199254740993)},
        {.name = "comm.messages",
         .exported = "comm_messages",
         .kind = CREST_KIND_COUNTER,
         .label_count = 2,
         .label_keys = peer_keys,
         .label_values = VALUES("\xe2\x82", ""),
         .counter = UINT64_MAX},
        {.name = "comm.peers",
         .exported = "comm_peers",
         .description = "",
         .kind = CREST_KIND_GAUGE,
         .gauge = -0.0},
        {.name = "comm.ratio",
         .exported = "comm_ratio",
         .description = "Not a number.",
         .kind = CREST_KIND_GAUGE,
         .gauge = NAN},
        {.name = "disk.time",
         .exported = "disk_time",
         .description = "In seconds.",
         .kind = CREST_KIND_COUNTER,
         .unit = CREST_MICROSECONDS,
         .counter = UINT64_C(9007199254740993)},
        {.name = "process.cpu",
         .exported = "process_cpu",
         .description = "What every client of Prometheus has.",
         .kind = CREST_KIND_COUNTER,
         .unit = CREST_NANOSECONDS,
         .counter = 1500000000},
        {.name = "queue.depth",
         .exported = "queue_depth",
         .description = "Goes below zero.",
         .kind = CREST_KIND_RANGE_SAMPLER,
         .current = -3,
         .window = {.covered_s = 60, .minimum = -5, .average = 0.5, .maximum = 7}},
    };
    golden(*state, &(crest_snapshot){series, LENGTH(series), 0, 1600000000, 0}, &options,
           "protobuf_values");
}

static const crest_bucket time_buckets[] = {{0, 0, 2},
                                            {4990000, 5010000, 1},
                                            {10000000, 10080000, 2},
                                            {10100000, 10180000, 3},
                                            {13000000, 13080000, 4},
                                            {UINT64_C(11000000000), 11080000000u, 1}};
static const crest_bucket size_buckets[] = {{512, 515, 4}, {516, 519, 5}};
static const crest_bucket huge_buckets[] = {{1, 1, UINT64_MAX - 1}, {2, 2, 1}};
static const crest_bucket long_buckets[] = {{1, 1, UINT64_C(9007199254740993)},
                                            {1000, 1003, INT64_MAX - UINT64_C(9007199254740993)}};
static const crest_distribution times = {UINT64_C(9007199254740993), time_buckets,
                                         LENGTH(time_buckets)};
static const crest_distribution sizes = {4700, size_buckets, LENGTH(size_buckets)};
static const crest_distribution huge = {UINT64_MAX, huge_buckets, LENGTH(huge_buckets)};
static const crest_distribution most = {UINT64_MAX, long_buckets, LENGTH(long_buckets)};
static const crest_distribution none;

static void distributions(sink *into, const crest_page_options *options, const char *name)
{
    static const double bounds[] = {0, 1, 515.5, 516, 1e6};
    const crest_buckets own = {bounds, LENGTH(bounds)};
    const crest_window slow = {.covered_s = 60,
                               .per_second = 2.5,
                               .events = 150,
                               .maximum = 11080000000.0,
                               .slowest = crest_op_u64x2(1, 2)};
    const crest_window quick = {
        .covered_s = 60, .events = 1, .maximum = 4990000, .slowest = crest_op_u64x2(3, 4)};
    const crest_series_view series[] = {
        {.name = "a.depth",
         .exported = "a_depth",
         .description = "Nothing recorded.",
         .kind = CREST_KIND_HISTOGRAM,
         .buckets = &own,
         .distribution = &none},
        {.name = "a.missing",
         .exported = "a_missing",
         .description = "No distribution, so that nothing native is known.",
         .kind = CREST_KIND_HISTOGRAM,
         .unit = CREST_RATIO},
        {.name = "b.huge",
         .exported = "b_huge",
         .description = "More than differences can say.",
         .kind = CREST_KIND_HISTOGRAM,
         .buckets = &own,
         .distribution = &huge},
        {.name = "b.most",
         .exported = "b_most",
         .description = "As much as they can.",
         .kind = CREST_KIND_HISTOGRAM,
         .buckets = &own,
         .distribution = &most},
        {.name = "casper.block-size",
         .exported = "casper_block_size",
         .description = "Bytes of blocks.",
         .kind = CREST_KIND_HISTOGRAM,
         .unit = CREST_BYTES,
         .buckets = &own,
         .distribution = &sizes},
        {.name = "comm.ping",
         .exported = "comm_ping",
         .description = "Round trips.",
         .kind = CREST_KIND_TIMER,
         .label_count = 2,
         .label_keys = outcome_keys,
         .label_values = VALUES("node-1", "ok"),
         .buckets = &crest_buckets_default,
         .window = slow,
         .distribution = &times},
        {.name = "comm.ping",
         .exported = "comm_ping",
         .kind = CREST_KIND_TIMER,
         .label_count = 2,
         .label_keys = outcome_keys,
         .label_values = VALUES("node-2", "ok"),
         .buckets = &crest_buckets_default,
         .window = quick,
         .distribution = &times},
    };
    golden(into, &(crest_snapshot){series, LENGTH(series), 0, 1600000000, 0}, options, name);
}

static void test_distributions(void **state)
{
    distributions(*state, NULL, "protobuf_native");
}

static void test_only_native(void **state)
{
    distributions(*state,
                  &(crest_page_options){.native = CREST_PAGE_NATIVE_ONLY,
                                        .native_factor = 1.02,
                                        .native_buckets = 100},
                  "protobuf_only");
}

static void test_classic(void **state)
{
    distributions(*state,
                  &(crest_page_options){.native = CREST_PAGE_NATIVE_OFF,
                                        .no_exemplars = 1,
                                        .windows = CREST_PAGE_WINDOWS_ALL},
                  "protobuf_classic");
}

/* ---- what holds for any page ---- */

static uint64_t varint_read(const char **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = (unsigned char)*(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

/* The next field of a message that is text or a message; NULL at its end. Others are passed. */
static const char *field_next(const char **at, const char *end, unsigned *field, size_t *length)
{
    while (*at < end) {
        uint64_t tag = varint_read(at);
        *field = (unsigned)(tag >> 3);
        switch (tag & 7) {
        case CREST_WIRE_VARINT: varint_read(at); break;
        case CREST_WIRE_FIXED64: *at += 8; break;
        case CREST_WIRE_LENGTH: {
            *length = varint_read(at);
            const char *found = *at;
            *at += *length;
            assert_true(*at <= end);
            return found;
        }
        default: fail_msg("a field of type %u", (unsigned)(tag & 7));
        }
    }
    assert_ptr_equal(*at, end);
    return NULL;
}

/* Counters of 1, 10, ... rows: one message each, every row in it, in its place. */
static void test_long_families(void **state)
{
    sink *into = *state;
    static const char *const keys[] = {"row"};
    static crest_series_view series[20000];
    static char texts[20000][8];
    static const char *values[20000];
    for (size_t rows = 1; rows <= 20000; rows = rows * 3 + 1) {
        for (size_t i = 0; i < rows; i++) {
            snprintf(texts[i], sizeof texts[i], "%zu", i);
            values[i] = texts[i];
            series[i] = (crest_series_view){.name = "x",
                                            .exported = "x",
                                            .description = "Rows.",
                                            .kind = CREST_KIND_COUNTER,
                                            .label_count = 1,
                                            .label_keys = keys,
                                            .label_values = &values[i],
                                            .counter = i};
        }
        protobuf_page_of(into, &(crest_snapshot){series, rows, 0, 0, 0}, NULL);
        const char *at = into->bytes, *end = at + into->length;
        uint64_t whole = varint_read(&at);
        assert_int_equal(whole, end - at);
        size_t found = 0, length;
        unsigned field;
        for (const char *metric; (metric = field_next(&at, end, &field, &length)) != NULL;) {
            if (field != 4)
                continue;
            char text[8];
            memcpy(text, metric + length - 11 - strlen(texts[found]), strlen(texts[found]));
            text[strlen(texts[found])] = '\0';
            assert_string_equal(text, texts[found]);
            double value;
            memcpy(&value, metric + length - sizeof value, sizeof value);
            assert_true(value == (double)found);
            found++;
        }
        assert_int_equal(found, rows);
    }
}

/* What comes out is what went in, made valid, however long. */
static void test_any_label_values(void **state)
{
    sink *into = *state;
    static char value[30000], wanted[3 * 30000 + 1];
    uint64_t seed = 99;
    for (unsigned i = 0; i < 1500; i++) {
        size_t bytes = i < 1400 ? 1 + i : 1 + (seed >> 40) % (sizeof value - 2);
        for (size_t k = 0; k < bytes; k++) {
            seed = random_step(seed);
            value[k] = (char)(1 + (seed >> 33) % 255);
        }
        value[bytes] = '\0';
        size_t length = crest_utf8_copy(value, wanted, sizeof wanted, NULL);
        const crest_series_view series = {.name = "x",
                                          .exported = "x",
                                          .kind = CREST_KIND_GAUGE,
                                          .label_count = 2,
                                          .label_keys = peer_keys,
                                          .label_values = VALUES("", value),
                                          .gauge = 0.5};
        protobuf_page_of(into, &(crest_snapshot){&series, 1, 0, 0, 0}, NULL);
        const char *at = into->bytes, *end = at + into->length, *metric, *found;
        size_t inner;
        unsigned field;
        uint64_t whole = varint_read(&at);
        assert_int_equal(whole, end - at);
        do
            metric = field_next(&at, end, &field, &inner);
        while (field != 4);
        const char *pair = field_next(&metric, metric + inner, &field, &inner);
        end = pair + inner;
        assert_int_equal(field, 1);
        found = field_next(&pair, end, &field, &inner);
        assert_int_equal(inner, 4);
        assert_memory_equal(found, "kind", 4);
        found = field_next(&pair, end, &field, &inner);
        assert_int_equal(inner, length);
        assert_memory_equal(found, wanted, length);
    }
}

/* Rounded once: as a reader of the text page has it. */
static void test_scaled(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (unsigned i = 0; i < 200000; i++) {
        seed = random_step(seed);
        uint64_t value = i % 4 == 0   ? seed
                         : i % 4 == 1 ? seed >> 11
                         : i % 4 == 2 ? UINT64_MAX - i
                                      : (UINT64_C(1) << 53) + i;
        for (unsigned decimals = 0; decimals <= 9; decimals += 3) {
            char text[CREST_NUMBER_BYTES_MAX];
            crest_number_scaled(text, value, decimals);
            double wanted = strtod(text, NULL), found = crest_protobuf_scaled(value, decimals);
            if (found != wanted)
                fail_msg("%s is %.17g, not %.17g", text, found, wanted);
        }
    }
}

static void test_refused(void **state)
{
    sink *into = *state;
    static crest_series_view series[5000];
    for (size_t i = 0; i < LENGTH(series); i++)
        series[i] = (crest_series_view){.name = i < 100 ? "x" : "y",
                                        .exported = i < 100 ? "x" : "y",
                                        .kind = CREST_KIND_HISTOGRAM,
                                        .distribution = &times};
    const crest_snapshot snapshot = {series, LENGTH(series), 0, 0, 0};
    for (unsigned piece = 1; piece < 4; piece++) {
        crest_error error;
        into->length = into->pieces = 0;
        into->refuse_at = piece;
        assert_int_equal(crest_exposition_write(&fake, &snapshot, CREST_FORMAT_PROMETHEUS_PROTOBUF,
                                                NULL, sink_write, into, &error),
                         CREST_IO);
        assert_int_equal(into->pieces, piece);
    }
    into->refuse_at = 0;
    const crest_page_options bad[] = {{.native_factor = 1},
                                      {.native_factor = -2},
                                      {.native_factor = NAN},
                                      {.native_buckets = 9},
                                      {.native_buckets = 501}};
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_int_equal(crest_exposition_write(&fake, &snapshot, CREST_FORMAT_PROMETHEUS_PROTOBUF,
                                                &bad[i], sink_write, into, NULL),
                         CREST_INVALID_ARGUMENT);
}

/* Each allocation in turn is refused. */
static void test_no_memory(void **state)
{
    sink *into = *state;
    const crest_series_view series = {.name = "x", .exported = "x", .kind = CREST_KIND_GAUGE};
    const crest_snapshot snapshot = {&series, 1, 0, 0, 0};
    for (unsigned refused = 0; refused < 2; refused++) {
        crest_error error;
        crest_alloc_fail_after(1 + refused);
        crest_status status = crest_exposition_write(
            &fake, &snapshot, CREST_FORMAT_PROMETHEUS_PROTOBUF, NULL, sink_write, into, &error);
        crest_alloc_fail_after(0);
        assert_int_equal(status, CREST_NO_MEMORY);
        assert_int_equal(into->length, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SINK_TEST(test_values),        SINK_TEST(test_distributions),
        SINK_TEST(test_only_native),   SINK_TEST(test_classic),
        SINK_TEST(test_long_families), SINK_TEST(test_any_label_values),
        cmocka_unit_test(test_scaled), SINK_TEST(test_refused),
        SINK_TEST(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
