/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder of OTLP over snapshots made by hand: bodies compared byte for byte with
 * tests/golden/NAME.otlp and NAME.otlp.json, which test_otlp_bodies.py reads by protoc and compares
 * with each other; numbers at the edges; bodies that are cut; labels of any bytes. To rewrite the
 * golden files after a wanted change, and then look at the diff of the JSON:
 *
 *     CREST_UPDATE_GOLDEN=1 build/release/tests/unit/otlp/test_otlp_encoder
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/misuse.h"
#include "support/decimal_comma.h"
#include "support/otlp_fixture.h"
#include "support/random_numbers.h"
#include "wire/protobuf.h"

static const crest_page_label attributes[] = {{"service.name", "node \"1\""},
                                              {"service.instance.id", "caf\xc3\xa9\xff\n"},
                                              {"service.version", NULL},
                                              {"host.name", ""}};
static const crest_page_label target[] = {{"service", "node"}, {"version", "1.2"}};

static void golden_one(bodies *into, const crest_snapshot *snapshot, crest_otlp_options options,
                       const char *name, const char *ending)
{
    static char wanted[1 << 20];
    char path[128];
    options.attributes = attributes;
    options.attribute_count = LENGTH(attributes);
    encode_fake(into, snapshot, &options);
    assert_int_equal(into->count, 1);
    snprintf(path, sizeof path, "tests/golden/%s%s", name, ending);
    int update = getenv("CREST_UPDATE_GOLDEN") != NULL;
    FILE *file = fopen(path, update ? "wb" : "rb");
    if (file == NULL)
        fail_msg("%s cannot be opened; run this in the root of the tree", path);
    if (update) {
        assert_int_equal(fwrite(into->bytes, 1, into->length, file), into->length);
        assert_int_equal(fclose(file), 0);
        return;
    }
    size_t length = fread(wanted, 1, sizeof wanted, file);
    fclose(file);
    assert_int_equal(into->length, length);
    assert_memory_equal(into->bytes, wanted, length);
}

static void golden(bodies *into, const crest_snapshot *snapshot, crest_otlp_options options,
                   const char *name)
{
    golden_one(into, snapshot, options, name, ".otlp");
    options.encoding = CREST_OTLP_JSON;
    golden_one(into, snapshot, options, name, ".otlp.json");
    if (getenv("CREST_UPDATE_GOLDEN") != NULL) {
        print_message("skipped: %s was rewritten, not compared\n", name);
        skip();
    }
}

static void test_values(void **state)
{
    golden(*state, &sample_values,
           (crest_otlp_options){.target = target, .target_count = LENGTH(target)}, "otlp_values");
}

static void test_exponential(void **state)
{
    golden(*state, sample_distributions(), (crest_otlp_options){0}, "otlp_exponential");
}

static void test_fine(void **state)
{
    golden(*state, sample_distributions(),
           (crest_otlp_options){.factor = 1.02, .buckets = 10, .no_exemplars = 1}, "otlp_fine");
}

static void test_explicit(void **state)
{
    golden(
        *state, sample_distributions(),
        (crest_otlp_options){.histograms = CREST_OTLP_EXPLICIT, .windows = CREST_PAGE_WINDOWS_ALL},
        "otlp_explicit");
}

static void test_stale(void **state)
{
    golden(*state, &sample_values, (crest_otlp_options){.stale = 1}, "otlp_stale");
}

static void test_stale_histograms(void **state)
{
    crest_otlp_options options = {.stale = 1, .encoding = CREST_OTLP_JSON};
    encode_fake(*state, sample_distributions(), &options);
    /* every point, one millisecond behind the snapshot */
    assert_int_equal(times_in(*state, "\"timeUnixNano\":\"1700000000124456789\""), 7);
    assert_int_equal(times_in(*state, "\"flags\":1"), 7);
    assert_int_equal(times_in(*state, "\"count\""), 0);
    assert_int_equal(times_in(*state, "exemplars"), 0);
    options.histograms = CREST_OTLP_EXPLICIT;
    encode_fake(*state, sample_distributions(), &options);
    assert_int_equal(times_in(*state, "\"flags\":1"), 7);
    assert_int_equal(times_in(*state, "\"explicitBounds\":[0,1,515.5,516,1000000]"), 4);
    assert_int_equal(times_in(*state, "\"bucketCounts\":[\"0\",\"0\",\"0\",\"0\",\"0\",\"0\"]"), 4);
}

/* ---- numbers ---- */

static const char *counter_as_json(bodies *into, crest_unit unit, uint64_t value)
{
    const crest_otlp_options options = {.encoding = CREST_OTLP_JSON};
    const crest_series_view series = {
        .name = "x", .kind = CREST_KIND_COUNTER, .unit = unit, .counter = value};
    encode_fake(into, &(crest_snapshot){&series, 1, 0, 0, 0}, &options);
    static char found[64];
    const char *at = strstr(into->bytes, "\"as");
    assert_non_null(at);
    snprintf(found, sizeof found, "%.*s", (int)strcspn(at, "}"), at);
    return found;
}

static void check_numbers(bodies *into)
{
    assert_string_equal(counter_as_json(into, CREST_NONE, 0), "\"asInt\":\"0\"");
    assert_string_equal(counter_as_json(into, CREST_NONE, UINT64_C(9007199254740993)),
                        "\"asInt\":\"9007199254740993\"");
    assert_string_equal(counter_as_json(into, CREST_NONE, INT64_MAX),
                        "\"asInt\":\"9223372036854775807\"");
    assert_string_equal(counter_as_json(into, CREST_NONE, UINT64_C(1) << 63),
                        "\"asDouble\":9223372036854776000");
    assert_string_equal(counter_as_json(into, CREST_BYTES, UINT64_MAX),
                        "\"asDouble\":18446744073709552000");
    assert_string_equal(counter_as_json(into, CREST_NANOSECONDS, 1500000000), "\"asDouble\":1.5");
    assert_string_equal(counter_as_json(into, CREST_MILLISECONDS, UINT64_C(9007199254740993)),
                        "\"asDouble\":9007199254740.992");
}

static void test_numbers(void **state)
{
    check_numbers(*state);
}

/* A decimal point is one in every locale. */
static void test_locale(void **state)
{
    decimal_comma();
    check_numbers(*state);
    assert_non_null(setlocale(LC_NUMERIC, "C"));
}

/* The time a series was made is behind the snapshot's, by a clock that was set back. */
static void test_clock_before_the_start(void **state)
{
    const crest_otlp_options options = {.encoding = CREST_OTLP_JSON};
    const crest_series_view series = {.name = "x", .kind = CREST_KIND_COUNTER, .counter = 1};
    encode_fake(*state, &(crest_snapshot){&series, 1, 0, 1700000001, 0}, &options);
    assert_in(*state, "\"timeUnixNano\":\"1700000000123456789\",\"startTimeUnixNano\":"
                      "\"1700000000123456789\"");
    encode_fake(*state, &(crest_snapshot){&series, 1, 0, 1700000000, 0}, &options);
    assert_in(*state, "\"startTimeUnixNano\":\"1700000000000000000\"");
    encode_fake(*state, &(crest_snapshot){&series, 1, 0, 0, 0}, &options);
    assert_int_equal(times_in(*state, "startTimeUnixNano"), 0);
}

static void test_gauges(void **state)
{
    const crest_otlp_options options = {.encoding = CREST_OTLP_JSON};
    /* a NaN of Prometheus' own, which means that there is no value */
    uint64_t bits = UINT64_C(0x7ff0000000000002);
    crest_series_view series[] = {
        {.name = "a", .kind = CREST_KIND_GAUGE, .gauge = INFINITY},
        {.name = "b", .kind = CREST_KIND_GAUGE, .gauge = -INFINITY},
        {.name = "c", .kind = CREST_KIND_GAUGE},
        {.name = "d", .kind = CREST_KIND_GAUGE, .gauge = 0.1, .unit = CREST_MILLISECONDS},
        {.name = "e", .kind = CREST_KIND_RANGE_SAMPLER, .current = INT64_MIN},
        {.name = "f",
         .kind = CREST_KIND_RANGE_SAMPLER,
         .current = INT64_MIN,
         .unit = CREST_MICROSECONDS}};
    const crest_snapshot snapshot = {series, LENGTH(series), 0, 0, 0};
    memcpy(&series[2].gauge, &bits, sizeof bits);
    encode_fake(*state, &snapshot, &options);
    assert_in(*state, "\"asDouble\":\"Infinity\"");
    assert_in(*state, "\"asDouble\":\"-Infinity\"");
    assert_in(*state, "\"asDouble\":\"NaN\"");
    assert_in(*state, "\"asDouble\":0.0001}");
    assert_in(*state, "\"asInt\":\"-9223372036854775808\"");
    assert_in(*state, "\"asDouble\":-9223372036854.775");
    encode_fake(*state, &snapshot, &(crest_otlp_options){0});
    assert_int_equal(times_in(*state, "\x02"), 0); /* nor is it in the protobuf */
}

/* ---- bodies ---- */

/* Bodies of every size have each series once, in its place, and say so. */
static void test_cut(void **state)
{
    enum { ROWS = 3000 };
    static const char *const keys[] = {"row"};
    static crest_series_view series[ROWS];
    static char texts[ROWS][8];
    static const char *values[ROWS];
    bodies *into = *state;
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(texts[i], sizeof texts[i], "r%04zu", i);
        values[i] = texts[i];
        series[i] = (crest_series_view){.name = i < 1000   ? "a"
                                                : i < 1001 ? "b"
                                                           : "c",
                                        .kind = i < 1001 ? CREST_KIND_COUNTER : CREST_KIND_GAUGE,
                                        .description = "Rows.",
                                        .label_count = 1,
                                        .label_keys = keys,
                                        .label_values = &values[i]};
    }
    const crest_snapshot snapshot = {series, ROWS, 0, 0, 0};
    for (unsigned json = 0; json < 2; json++)
        for (size_t limit = 1024; limit < 400000; limit = limit * 3 / 2 + 7) {
            const crest_otlp_options options = {.body_bytes = limit,
                                                .encoding = (crest_otlp_encoding)json};
            encode_fake(into, &snapshot, &options);
            size_t points = 0, next = 0;
            assert_in_range(into->longest, into->count > 1 ? limit / 2 : 1, limit);
            for (unsigned i = 0; i < into->count; i++) {
                const crest_otlp_body *body = &into->body[i];
                assert_int_equal(body->first, next);
                assert_int_equal(body->points, body->end - body->first);
                for (size_t row = body->first; row < body->end; row++)
                    assert_non_null(memmem(body->bytes, body->length, texts[row], 5));
                next = body->end;
                points += body->points;
            }
            assert_int_equal(points, ROWS);
            assert_int_equal(times_in(into, "\"dataPoints\":[]"), 0);
            assert_int_equal(next, ROWS);
            assert_int_equal(times_in(into, "r1000"), 1);
        }
}

/* The next field of a message in protobuf, which is one of bytes; NULL at the message's end. */
static const char *next_field(const char **at, const char *end, unsigned *field, size_t *length)
{
    uint64_t numbers[2] = {0, 0};
    while (*at < end) {
        for (unsigned i = 0, shift = 0; i < 2; i++, shift = 0) {
            unsigned char byte;
            do {
                byte = (unsigned char)*(*at)++;
                numbers[i] |= (uint64_t)(byte & 0x7f) << shift;
                shift += 7;
            } while (byte >= 0x80);
            if (i == 0 && (numbers[0] & 7) == CREST_WIRE_FIXED64)
                break;
        }
        *field = (unsigned)(numbers[0] >> 3);
        const char *found = *at;
        if ((numbers[0] & 7) == CREST_WIRE_LENGTH) {
            *length = (size_t)numbers[1];
            *at += numbers[1];
            assert_true(*at <= end);
            return found;
        }
        *at += (numbers[0] & 7) == CREST_WIRE_FIXED64 ? 8 : 0;
        numbers[0] = numbers[1] = 0;
    }
    assert_ptr_equal(*at, end);
    return NULL;
}

/* Goes into the field of this number, and to its end. */
static void enter(const char **at, const char **end, unsigned wanted)
{
    unsigned field = 0;
    size_t length = 0;
    const char *found;
    do
        found = next_field(at, *end, &field, &length);
    while (found != NULL && field != wanted);
    assert_non_null(found);
    *at = found;
    *end = found + length;
}

/* Families of any length are whole: their names, descriptions and as many points. */
static void test_wide(void **state)
{
    enum { ROWS = 2000 };
    static crest_series_view series[ROWS];
    bodies *into = *state;
    for (unsigned i = 0; i < ROWS; i++)
        series[i] = (crest_series_view){
            .name = "a.name", .kind = CREST_KIND_COUNTER, .description = "Rows.", .counter = i};
    for (size_t rows = 1; rows <= ROWS; rows += rows < 20 ? 1 : rows / 19) {
        unsigned field;
        size_t length, points = 0;
        encode_fake(into, &(crest_snapshot){series, rows, 0, 0, 0}, &(crest_otlp_options){0});
        assert_int_equal(into->count, 1);
        const char *at = into->bytes, *end = at + into->length;
        enter(&at, &end, 1); /* resource_metrics, scope_metrics, metrics */
        enter(&at, &end, 2);
        enter(&at, &end, 2);
        const char *name = next_field(&at, end, &field, &length);
        assert_int_equal(field, 1);
        assert_int_equal(length, 6);
        assert_memory_equal(name, "a.name", length);
        const char *description = next_field(&at, end, &field, &length);
        assert_int_equal(field, 2);
        assert_int_equal(length, 5);
        assert_memory_equal(description, "Rows.", length);
        enter(&at, &end, 7);
        while (next_field(&at, end, &field, &length) != NULL)
            points += field == 1;
        assert_int_equal(points, rows);
    }
}

/* A call goes on where another was stopped. */
static void test_goes_on(void **state)
{
    bodies *into = *state;
    crest_error error;
    crest_otlp_options options = {.body_bytes = 1024, .target = target, .target_count = 2};
    encode_fake(into, sample_distributions(), &options);
    unsigned whole = into->count;
    assert_in_range(whole, 2, 10);
    bodies_clear(into)->refuse_at = 2;
    assert_int_equal(crest_otlp_encode(&crest_otlp_format_protobuf, &fake, sample_distributions(),
                                       &options, 0, bodies_take, into, &error),
                     CREST_IO);
    assert_non_null(strstr(error.message, "returned -7"));
    assert_non_null(strstr(error.message, "after 1 bodies"));
    assert_int_equal(into->count, 1);
    options.first = into->body[0].end;
    assert_in_range(options.first, 1, sample_distributions()->size - 1);
    encode_fake(into, sample_distributions(), &options);
    assert_int_equal(into->body[0].first, options.first);
    assert_int_equal(into->body[into->count - 1].end, sample_distributions()->size);
    assert_int_equal(times_in(into, "crest_target_info"), 0);
    options.first = sample_distributions()->size;
    encode_fake(into, sample_distributions(), &options);
    assert_int_equal(into->count, 0);
}

/* A point that is longer than a body goes alone. */
static void test_long_point(void **state)
{
    bodies *into = *state;
    static char value[20000];
    memset(value, 'v', sizeof value - 1);
    const crest_series_view series[] = {{.name = "a", .kind = CREST_KIND_GAUGE},
                                        {.name = "x",
                                         .kind = CREST_KIND_COUNTER,
                                         .label_count = 1,
                                         .label_keys = peer_keys,
                                         .label_values = VALUES(value)},
                                        {.name = "y", .kind = CREST_KIND_GAUGE}};
    for (unsigned json = 0; json < 2; json++) {
        encode_fake(
            into, &(crest_snapshot){series, 3, 0, 0, 0},
            &(crest_otlp_options){.body_bytes = 1024, .encoding = (crest_otlp_encoding)json});
        assert_int_equal(into->count, 3);
        assert_int_equal(into->body[1].points, 1);
        assert_in_range(into->body[1].length, sizeof value, sizeof value + 400);
    }
}

/* ---- texts ---- */

/* Whatever bytes labels have, they come out valid and whole, and what was replaced is counted. */
static void test_any_label_values(void **state)
{
    bodies *into = *state;
    static char value[30000], wanted[3 * 30000 + 1];
    uint64_t seed = 7;
    for (unsigned i = 0; i < 600; i++) {
        size_t bytes = i < 500 ? 1 + i : 1 + (seed >> 40) % (sizeof value - 2);
        for (size_t k = 0; k < bytes; k++) {
            seed = random_step(seed);
            value[k] = (char)(1 + (seed >> 33) % (i % 3 == 0 ? 127 : 255));
        }
        value[bytes] = '\0';
        unsigned what = 0;
        size_t length = crest_utf8_copy(value, wanted, sizeof wanted, &what);
        const crest_series_view series = {.name = "x",
                                          .kind = CREST_KIND_GAUGE,
                                          .label_count = 2,
                                          .label_keys = peer_keys,
                                          .label_values = VALUES("", value)};
        uint64_t counted = crest_misuse_value(CREST_MISUSE_TEXT);
        const crest_snapshot snapshot = {&series, 1, i % 2 * 2, 0, 0};
        encode_fake(into, &snapshot, &(crest_otlp_options){0});
        assert_int_equal(crest_misuse_value(CREST_MISUSE_TEXT) - counted, what != 0);
        assert_non_null(memmem(into->bytes, into->length, wanted, length));
        assert_int_equal(times_in(into, "peer"), 0); /* its value is "" */
        encode_fake(into, &snapshot, &(crest_otlp_options){.encoding = CREST_OTLP_JSON});
        assert_int_equal(crest_misuse_value(CREST_MISUSE_TEXT) - counted, 2 * (what != 0));
        assert_int_equal(times_in(into, "peer"), 0);
        assert_true(crest_utf8_is_valid(into->bytes));
        for (const char *at = into->bytes; *at != '\0'; at++)
            assert_in_range((unsigned char)*at, ' ', 255);
    }
}

/* Labels of any length are the same, whether all series have them or each row its own. */
static void test_label_lengths(void **state)
{
    bodies *into = *state;
    static char value[400], first[4096];
    for (size_t length = 0; length < sizeof value; length++) {
        value[length] = '\0';
        const crest_series_view series = {.name = "x",
                                          .kind = CREST_KIND_GAUGE,
                                          .label_count = 2,
                                          .label_keys = peer_keys,
                                          .label_values = VALUES(value, "ping")};
        encode_fake(into, &(crest_snapshot){&series, 1, 2, 0, 0}, &(crest_otlp_options){0});
        size_t bytes = into->length;
        assert_in_range(bytes, length, sizeof first);
        memcpy(first, into->bytes, bytes);
        encode_fake(into, &(crest_snapshot){&series, 1, 0, 0, 0}, &(crest_otlp_options){0});
        assert_int_equal(into->length, bytes);
        assert_memory_equal(into->bytes, first, bytes);
        value[length] = 'v';
    }
}

/* ---- what goes wrong ---- */

static void test_no_memory(void **state)
{
    bodies *into = *state;
    for (unsigned json = 0; json < 2; json++) {
        const crest_otlp_options options = {.encoding = (crest_otlp_encoding)json};
        crest_status status = CREST_NO_MEMORY;
        unsigned failures = 0;
        for (unsigned after = 1; status != CREST_OK; after++) {
            crest_error error = {CREST_OK, ""};
            crest_alloc_fail_after(after);
            status = crest_otlp_encode(json ? &crest_otlp_format_json : &crest_otlp_format_protobuf,
                                       &fake, &sample_values, &options, 0, bodies_take,
                                       bodies_clear(into), &error);
            crest_alloc_fail_after(0);
            if (status == CREST_OK)
                break;
            failures++;
            assert_int_equal(status, CREST_NO_MEMORY);
            assert_non_null(strstr(error.message, "memory"));
            assert_int_equal(into->count, 0);
        }
        assert_in_range(failures, 3, 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BODIES_TEST(test_values),
        BODIES_TEST(test_exponential),
        BODIES_TEST(test_fine),
        BODIES_TEST(test_explicit),
        BODIES_TEST(test_stale),
        BODIES_TEST(test_stale_histograms),
        BODIES_TEST(test_numbers),
        BODIES_TEST(test_locale),
        BODIES_TEST(test_clock_before_the_start),
        BODIES_TEST(test_gauges),
        BODIES_TEST(test_cut),
        BODIES_TEST(test_wide),
        BODIES_TEST(test_goes_on),
        BODIES_TEST(test_long_point),
        BODIES_TEST(test_any_label_values),
        BODIES_TEST(test_label_lengths),
        BODIES_TEST(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
