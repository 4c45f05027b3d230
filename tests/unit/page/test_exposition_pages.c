/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text encoder: what holds for any page. Whatever is recorded under whatever labels can be read
 * back; pages of many pieces are whole; and what is refused says why.
 */
#include "base/alloc.h"
#include "support/page_fixture.h"
#include "support/random_numbers.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>

static const char *const peer_keys[] = {"peer", "kind"};

/* Reads one label value, escaped, after its opening quote; returns what follows the closing one. */
static const char *unescape(const char *at, char *value)
{
    for (; *at != '"'; at++) {
        assert_true(*at != '\0' && *at != '\n');
        if (*at == '\\') {
            at++;
            assert_non_null(strchr("\\\"n", *at));
            *value++ = *at == 'n' ? '\n' : *at;
        } else {
            *value++ = *at;
        }
    }
    *value = '\0';
    return at + 1;
}

static uint64_t any_next(uint64_t *seed)
{
    *seed = random_step(*seed);
    return *seed >> 33;
}

/* Any bytes, those that can go wrong more often than others. */
static void any_text(uint64_t *seed, char *text, size_t length)
{
    static const char awkward[] = "\"\\\n{},= #\xff\xc3\xe2\x82\xac\xf0\x9f\x8c\x8a";
    for (size_t i = 0; i < length; i++) {
        uint64_t random = any_next(seed);
        text[i] =
            random % 2 ? awkward[random / 2 % (sizeof awkward - 1)] : (char)(1 + random / 2 % 255);
    }
    text[length] = '\0';
}

/* What comes out, read as the format says, is what went in, made valid: for values around every
 * length at which the encoder changes its way, too. */
static void test_any_label_values(void **state)
{
    sink *into = *state;
    uint64_t seed = 4711;
    static char values[2][4096], wanted[3 * 4096 + 1], read[3 * 4096 + 1], help[4096];
    for (int i = 0; i < 3000; i++) {
        any_text(&seed, values[0], i < 2600 ? (size_t)i : any_next(&seed) % 4095);
        any_text(&seed, values[1], any_next(&seed) % 20);
        any_text(&seed, help, any_next(&seed) % 300);
        const crest_series_view series = {.name = "x",
                                          .exported = "x",
                                          .description = help,
                                          .kind = CREST_KIND_GAUGE,
                                          .label_count = 2,
                                          .label_keys = peer_keys,
                                          .label_values = VALUES(values[0], values[1]),
                                          .gauge = 0.5};
        const char *at = page_of(into, &series, 1, NULL);
        assert_true(crest_utf8_is_valid(at));
        assert_memory_equal(at, "# HELP x ", 9);
        at = strchr(at, '\n') + 1;
        assert_memory_equal(at, "# TYPE x gauge\nx{", 17);
        at += 17;
        for (int label = 0; label < 2; label++) {
            size_t key = strlen(peer_keys[label]);
            assert_memory_equal(at, peer_keys[label], key);
            assert_memory_equal(at + key, "=\"", 2);
            at = unescape(at + key + 2, read);
            crest_utf8_copy(values[label], wanted, sizeof wanted, NULL);
            assert_string_equal(read, wanted);
            assert_int_equal(*at++, label == 0 ? ',' : '}');
        }
        assert_string_equal(at, " 0.5\n");
    }
}

/* Whatever was recorded and whatever the bounds: ascending, and each what counting says. */
static void test_any_buckets(void **state)
{
    sink *into = *state;
    uint64_t seed = 42;
    for (int i = 0; i < 500; i++) {
        crest_bucket buckets[40];
        double bounds[CREST_BUCKETS_MAX];
        size_t bucket_count = any_next(&seed) % 40, bound_count = 1 + any_next(&seed) % 64;
        uint64_t at = any_next(&seed) % 3, total = 0;
        for (size_t b = 0; b < bucket_count; b++) {
            uint64_t width = any_next(&seed) % 10;
            buckets[b] = (crest_bucket){at, at + width, any_next(&seed) % 5};
            at += width + 1 + any_next(&seed) % 10;
            total += buckets[b].count;
        }
        double bound = (double)(any_next(&seed) % 4) / 2;
        for (size_t b = 0; b < bound_count; b++, bound += (double)(1 + any_next(&seed) % 20) / 2)
            bounds[b] = bound;
        const crest_buckets exported = {bounds, (unsigned)bound_count};
        const crest_distribution distribution = {1, buckets, bucket_count};
        const crest_series_view series = {.name = "x",
                                          .exported = "x",
                                          .description = "",
                                          .kind = CREST_KIND_HISTOGRAM,
                                          .buckets = &exported,
                                          .distribution = &distribution};
        const char *line = strstr(page_of(into, &series, 1, NULL), "x_bucket");
        for (size_t b = 0; b <= bound_count; b++) {
            assert_non_null(line);
            assert_memory_equal(line, "x_bucket{le=\"", 13);
            char *end;
            double le = strtod(line + 13, &end);
            assert_true(b == bound_count ? isinf(le) : le == bounds[b]);
            assert_memory_equal(end, "\"} ", 3);
            uint64_t wanted = 0;
            for (size_t k = 0; k < bucket_count; k++)
                if ((double)buckets[k].lowest <= le)
                    wanted += buckets[k].count;
            assert_int_equal(strtoull(end + 3, &end, 10), wanted);
            line = end + 1;
        }
        char rest[64];
        snprintf(rest, sizeof rest, "x_sum 1\nx_count %llu\n", (unsigned long long)total);
        assert_string_equal(line, rest);
    }
}

/* A page of several pieces: as many lines as series, in order, and not one piece of it lost. */
#define MANY 20000

typedef struct many {
    crest_series_view series[MANY];
    const char *values[MANY][2];
    char text[MANY][16];
} many;

static many *many_new(void)
{
    many *made = calloc(1, sizeof *made);
    for (size_t i = 0; i < MANY; i++) {
        snprintf(made->text[i], sizeof made->text[i], "node-%05zu", i);
        made->values[i][0] = made->text[i];
        made->values[i][1] = "block";
        made->series[i] = (crest_series_view){.name = "comm.messages",
                                              .exported = "comm_messages",
                                              .description = "Messages.",
                                              .kind = CREST_KIND_COUNTER,
                                              .label_count = 2,
                                              .label_keys = peer_keys,
                                              .label_values = made->values[i],
                                              .counter = i * i};
    }
    return made;
}

static void test_big_page(void **state)
{
    sink *into = *state;
    many *made = many_new();
    const char *at = page_of(into, made->series, MANY, NULL);
    static const char header[] = "# HELP comm_messages_total Messages. [comm.messages]\n"
                                 "# TYPE comm_messages_total counter\n";
    assert_memory_equal(at, header, sizeof header - 1);
    at += sizeof header - 1;
    for (size_t i = 0; i < MANY; i++) {
        char line[128];
        int length =
            snprintf(line, sizeof line,
                     "comm_messages_total{peer=\"node-%05zu\",kind=\"block\"} %zu\n", i, i * i);
        assert_memory_equal(at, line, (size_t)length);
        at += length;
    }
    assert_int_equal(*at, '\0');
    assert_in_range(into->length, 10 * CREST_PAGE_PIECE_BYTES, PAGE_BYTES_MAX);
    assert_in_range(into->pieces, into->length / CREST_PAGE_PIECE_BYTES,
                    into->length / CREST_PAGE_PIECE_BYTES + 2);
    free(made);
}

/* Refused at each of its pieces, the page stops there; what went out before is its beginning. */
static void test_write_refuses(void **state)
{
    sink *into = *state;
    many *made = many_new();
    const crest_snapshot snapshot = {made->series, MANY, 0, 0, 0};
    page_of(into, made->series, MANY, NULL);
    char *whole = strdup(into->bytes);
    unsigned pieces = into->pieces;
    assert_in_range(pieces, 10, 100);
    for (unsigned refused = 1; refused <= pieces; refused++) {
        crest_error error = {CREST_OK, ""};
        into->length = into->pieces = 0;
        into->refuse_at = refused;
        assert_int_equal(crest_exposition_write(&fake, &snapshot, CREST_FORMAT_PROMETHEUS_TEXT,
                                                NULL, sink_write, into, &error),
                         CREST_IO);
        assert_int_equal(error.status, CREST_IO);
        assert_int_equal(into->pieces, refused);
        assert_memory_equal(into->bytes, whole, into->length);
        char told[64];
        snprintf(told, sizeof told, "after %zu bytes the write function returned -5", into->length);
        assert_non_null(strstr(error.message, told));
    }
    into->length = into->pieces = 0;
    assert_int_equal(crest_exposition_write(&fake, &snapshot, CREST_FORMAT_PROMETHEUS_TEXT, NULL,
                                            sink_write, into, NULL),
                     CREST_IO);
    free(whole);
    free(made);
}

static void refused(sink *into, const crest_snapshot *snapshot, const crest_page_options *options,
                    crest_status status, const char *message)
{
    crest_error error = {CREST_OK, ""};
    into->length = into->pieces = 0;
    assert_int_equal(crest_exposition_write(&fake, snapshot, CREST_FORMAT_PROMETHEUS_TEXT, options,
                                            sink_write, into, &error),
                     status);
    assert_int_equal(error.status, status);
    assert_string_equal(error.message, message);
    assert_int_equal(into->pieces, 0);
    assert_int_equal(crest_exposition_write(&fake, snapshot, CREST_FORMAT_PROMETHEUS_TEXT, options,
                                            sink_write, into, NULL),
                     status);
}

static void test_bad_arguments(void **state)
{
    const crest_snapshot empty = {NULL, 0, 0, 0, 0};
    refused(*state, NULL, NULL, CREST_INVALID_ARGUMENT,
            "The page was not written: there is no snapshot.");
    crest_error error;
    assert_int_equal(crest_exposition_write(&fake, &empty, CREST_FORMAT_PROMETHEUS_TEXT, NULL, NULL,
                                            NULL, &error),
                     CREST_INVALID_ARGUMENT);
    assert_string_equal(error.message,
                        "The page was not written: there is no function to write it with.");

    const crest_page_label bad_key[] = {{"service", "x"}, {"a-b", "y"}};
    refused(*state, &empty, &(crest_page_options){.target = bad_key, .target_count = 2},
            CREST_INVALID_ARGUMENT,
            "The page was not written: label 2 of the target is not valid: a label key has '-' at "
            "byte 2; only letters, digits and _ are valid.");
    const crest_page_label no_key[] = {{NULL, "x"}};
    refused(*state, &empty, &(crest_page_options){.target = no_key, .target_count = 1},
            CREST_INVALID_ARGUMENT,
            "The page was not written: label 1 of the target is not valid: a label key is empty.");
    const crest_page_label twice[] = {{"service", "x"}, {"service", "y"}};
    refused(*state, &empty, &(crest_page_options){.target = twice, .target_count = 2},
            CREST_INVALID_ARGUMENT,
            "The page was not written: the target has label service twice.");
    refused(*state, &empty,
            &(crest_page_options){.target = twice, .target_count = CREST_TARGET_LABELS_MAX + 1},
            CREST_INVALID_ARGUMENT,
            "The page was not written: the target has 65 labels; 64 is the limit.");
}

static void test_bad_names(void **state)
{
    const crest_snapshot empty = {NULL, 0, 0, 0, 0};
    const char *const none[] = {"x"};
    refused(*state, &empty, &(crest_page_options){.names = NULL, .name_count = 2},
            CREST_INVALID_ARGUMENT,
            "The page was not written: it is to have only 2 names, and there are none.");
    refused(*state, &empty,
            &(crest_page_options){.names = none, .name_count = CREST_PAGE_NAMES_MAX + 1},
            CREST_INVALID_ARGUMENT,
            "The page was not written: it is to have only 1001 names; 1000 is the limit.");
}

static void test_no_memory(void **state)
{
    const crest_snapshot empty = {NULL, 0, 0, 0, 0};
    crest_error error = {CREST_OK, ""};
    crest_alloc_fail_after(1);
    crest_status status = crest_exposition_write(&fake, &empty, CREST_FORMAT_PROMETHEUS_TEXT, NULL,
                                                 sink_write, *state, &error);
    crest_alloc_fail_after(0);
    assert_int_equal(status, CREST_NO_MEMORY);
    assert_non_null(strstr(error.message, "no memory for a buffer of 65536 bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SINK_TEST(test_any_label_values), SINK_TEST(test_any_buckets),   SINK_TEST(test_big_page),
        SINK_TEST(test_write_refuses),    SINK_TEST(test_bad_arguments), SINK_TEST(test_bad_names),
        SINK_TEST(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
