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
#include "support/page_samples.h"
#include "support/random_numbers.h"

#include <stdio.h>

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
    golden(*state, &sample_values, &options, "protobuf_values");
}

static void test_distributions(void **state)
{
    golden(*state, sample_distributions(), NULL, "protobuf_native");
}

static void test_only_native(void **state)
{
    golden(*state, sample_distributions(),
           &(crest_page_options){
               .native = CREST_PAGE_NATIVE_ONLY, .native_factor = 1.02, .native_buckets = 100},
           "protobuf_only");
}

static void test_classic(void **state)
{
    golden(*state, sample_distributions(),
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
