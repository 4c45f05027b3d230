/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/hlog.h>: compressed bytes both ways and hostile ones, lines of logs and wrong ones, and
 * the reporter, whose intervals add up to what was recorded.
 */
#include "support/core_fixture.h"

#include "hlog/hlog_base64.h"
#include "hlog/hlog_tag.h"

#include <crest/hlog.h>
#include <crest/run.h>

#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* ---- base64 ---- */

static void test_base64(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *letters;
    } pairs[] = {{"", ""},         {"f", "Zg=="},         {"fo", "Zm8="},
                 {"foo", "Zm9v"},  {"foob", "Zm9vYg=="},  {"fooba", "Zm9vYmE="},
                 {"foobar", "Zm9vYmFy"}, {"\xff\xfe\xfb\xf0", "//778A=="}};
    static const char *const wrong[] = {"Zg=",  "Z",    "Zg=a",
                                        "Z===", "====", "Zm9v\xff"
                                                        "aaa",
                                        "Zm-v"};
    char letters[16];
    for (size_t i = 0; i < LENGTH(pairs); i++) {
        size_t length = strlen(pairs[i].bytes), in = strlen(pairs[i].letters);
        crest_hlog_base64_encode((const unsigned char *)pairs[i].bytes, length, letters);
        assert_int_equal(CREST_HLOG_BASE64_LETTERS(length), in);
        assert_memory_equal(letters, pairs[i].letters, in);
        assert_int_equal(crest_hlog_base64_decode(letters, in, (unsigned char *)letters), length);
        assert_memory_equal(letters, pairs[i].bytes, length);
    }
    for (size_t i = 0; i < LENGTH(wrong); i++)
        assert_true(crest_hlog_base64_decode(wrong[i], strlen(wrong[i]),
                                             (unsigned char *)letters) == (size_t)-1);
}

/* ---- compressed bytes ---- */

static crest_distribution *hlog_sample(void)
{
    crest_distribution *d = crest_distribution_new(NULL);
    for (int64_t value = 1; value < INT64_C(1) << 41; value += value / 3 + 1)
        assert_int_equal(crest_distribution_record(d, value, (uint64_t)(value % 5 + 1)), CREST_OK);
    return d;
}

static unsigned char *hlog_packed(const crest_distribution *d, size_t *length)
{
    assert_int_equal(crest_distribution_encode_compressed(d, NULL, 0, length), CREST_LIMIT);
    unsigned char *bytes = malloc(*length);
    assert_int_equal(crest_distribution_encode_compressed(d, bytes, *length, length), CREST_OK);
    return bytes;
}

static void hlog_same(const crest_distribution *a, const crest_distribution *b)
{
    crest_bucket x, y;
    size_t at = 0, beside = 0;
    while (crest_distribution_next(a, &at, &x)) {
        assert_true(crest_distribution_next(b, &beside, &y));
        assert_true(x.lowest == y.lowest && x.highest == y.highest && x.count == y.count);
    }
    assert_false(crest_distribution_next(b, &beside, &y));
}

static void hlog_refused(const void *bytes, size_t length, const char *sentence)
{
    crest_error error = {0};
    assert_null(crest_distribution_decode_compressed(bytes, length, &error));
    assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
    if (strstr(error.message, sentence) == NULL)
        fail_msg("\"%s\" says nothing of \"%s\"", error.message, sentence);
}

static void test_compressed(void **state)
{
    (void)state;
    crest_distribution *d = hlog_sample();
    size_t length, plain_length;
    unsigned char *bytes = hlog_packed(d, &length), plain[4096];
    crest_distribution *same = crest_distribution_decode_compressed(bytes, length, NULL);
    assert_non_null(same);
    hlog_same(same, d);
    crest_distribution_free(same);
    /* and what is not compressed */
    assert_int_equal(crest_distribution_encode(d, plain, sizeof plain, &plain_length), CREST_OK);
    assert_true(length < plain_length);
    same = crest_distribution_decode_compressed(plain, plain_length, NULL);
    hlog_same(same, d);
    crest_distribution_free(same);
    assert_int_equal(crest_distribution_encode_compressed(NULL, NULL, 0, &length),
                     CREST_INVALID_ARGUMENT);
    free(bytes);
    crest_distribution_free(d);
}

static void test_cut_and_flipped(void **state)
{
    (void)state;
    crest_distribution *d = hlog_sample();
    size_t length;
    unsigned char *bytes = hlog_packed(d, &length);
    for (size_t cut = 0; cut < length; cut++) {
        hlog_refused(bytes, cut, "");
        if (cut >= 8) { /* as if it were whole */
            unsigned char head[4] = {bytes[4], bytes[5], bytes[6], bytes[7]};
            bytes[6] = (unsigned char)((cut - 8) >> 8);
            bytes[7] = (unsigned char)(cut - 8);
            /* zlib's last four bytes are a checksum of what is whole by then */
            crest_distribution_free(crest_distribution_decode_compressed(bytes, cut, NULL));
            memcpy(bytes + 4, head, 4);
        }
    }
    for (size_t at = 0; at < length; at++)
        for (unsigned flip = 1; flip < 256; flip += flip) {
            crest_error error = {0};
            bytes[at] ^= (unsigned char)flip;
            crest_distribution *other =
                crest_distribution_decode_compressed(bytes, length, &error);
            assert_true((other != NULL) != (error.message[0] != '\0'));
            crest_distribution_free(other);
            bytes[at] ^= (unsigned char)flip;
        }
    free(bytes);
    crest_distribution_free(d);
}

/* Compressed bytes whose inside is `counts` zeros behind a head that says so many. */
static unsigned char *hlog_bomb(uint32_t says, size_t counts, unsigned char digits, size_t *length)
{
    static const unsigned char head[40] = {0x1c, 0x84, 0x93, 0x13, [23] = 1, [27] = 1, [32] = 0x3f,
                                           [33] = 0xf0};
    unsigned char *plain = calloc(1, 40 + counts);
    memcpy(plain, head, 40);
    for (int i = 0; i < 4; i++)
        plain[4 + i] = (unsigned char)(says >> (24 - 8 * i));
    plain[15] = digits;
    uLongf packed = compressBound(40 + counts);
    unsigned char *bytes = calloc(1, 8 + packed);
    assert_int_equal(compress2(bytes + 8, &packed, plain, 40 + counts, 9), Z_OK);
    memcpy(bytes, "\x1c\x84\x93\x14", 4);
    for (int i = 0; i < 4; i++)
        bytes[4 + i] = (unsigned char)(packed >> (24 - 8 * i));
    *length = 8 + packed;
    free(plain);
    return bytes;
}

static void test_bombs(void **state)
{
    (void)state;
    static const struct {
        uint32_t says;
        size_t counts;
        unsigned char digits;
        const char *sentence;
    } bombs[] = {
        {73729, 1 << 20, 2, "its counts are to take 73729 bytes, more than 2 digits can need"},
        {UINT32_MAX, 1 << 20, 5, "its counts are to take -1 bytes, more than 5 digits"},
        {1, 1, 200, "more than 200 digits"},
        {73728, 10 << 20, 2, "its counts are to take 73728 bytes, and it goes on"},
        {73728, 100, 2, "its counts are to take 73728 bytes, and it ends before"},
        {73728, 73728, 2, "counts of more than the"},
    };
    for (size_t i = 0; i < LENGTH(bombs); i++) {
        size_t length;
        unsigned char *bytes =
            hlog_bomb(bombs[i].says, bombs[i].counts, bombs[i].digits, &length);
        hlog_refused(bytes, length, bombs[i].sentence);
        free(bytes);
    }
    hlog_refused("\x1c\x84\x93\x14\0\0\0\x05hello", 13, "zlib says \"incorrect header check\"");
    hlog_refused("\x1c\x84\x93\x14\0\0\0\x00", 8, "zlib says \"they end too soon\"");
    hlog_refused("\x1c\x84\x93\x14\xff\xff\xff\xff....", 12, "it has 12 bytes, which is not");
}

/* ---- lines ---- */

static crest_status hlog_parse(crest_hlog_log *log, const char *line,
                               crest_hlog_interval *interval, crest_error *error)
{
    return crest_hlog_parse(log, line, strlen(line), interval, error);
}

/* A line of HdrHistogram's own README. */
#define HLOG_LETTERS                                                                               \
    "HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekI"    \
    "LGZkKmcCAEf2CsI="

static void test_lines(void **state)
{
    (void)state;
    crest_hlog_log log = {0, 0, 0};
    crest_hlog_interval interval;
    crest_error error;
    static const char *const nothing[] = {
        "", "#", "# a comment", "#[StartTime: 1441812279.474 (seconds since epoch), Wed]",
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\"", "\r"};
    for (size_t i = 0; i < LENGTH(nothing); i++) {
        assert_int_equal(hlog_parse(&log, nothing[i], &interval, &error), CREST_OK);
        assert_null(interval.distribution);
    }
    assert_true(log.started_s == 1441812279.474);
    assert_int_equal(
        hlog_parse(&log, "Tag=A,0.127,1.007,2.769," HLOG_LETTERS "\r", &interval, &error),
        CREST_OK);
    assert_true(interval.tag_length == 1 && interval.tag[0] == 'A');
    assert_true(interval.start_s == 1441812279.474 + 0.127 && interval.length_s == 1.007);
    assert_true(interval.max == 2.769);
    assert_true(crest_distribution_count(interval.distribution) > 0);
    crest_distribution_free(interval.distribution);
    /* times since 1970, blanks, no tag */
    crest_hlog_log other = {.started_s = 1441812279.474};
    assert_int_equal(hlog_parse(&other, "1441812280.5, 1 , 2, " HLOG_LETTERS, &interval, &error),
                     CREST_OK);
    assert_true(interval.tag_length == 0 && interval.start_s == 1441812280.5);
    crest_distribution_free(interval.distribution);
    crest_hlog_log based = {0, 0, 0};
    hlog_parse(&based, "#[BaseTime: 100.000 (seconds since epoch)]", &interval, &error);
    assert_int_equal(hlog_parse(&based, "7,1,2," HLOG_LETTERS, &interval, &error), CREST_OK);
    assert_true(interval.start_s == 107);
    crest_distribution_free(interval.distribution);
}

static void test_wrong_lines(void **state)
{
    (void)state;
    static const struct {
        const char *line, *sentence;
    } wrong[] = {
        {"hello", "no number and comma at \"hello\""},
        {"Tag=A", "no comma after its tag, at \"Tag=A\""},
        {"Tag=A,1,2", "no number and comma at"},
        {"1,2,x," HLOG_LETTERS, "no number and comma at \"x,HIST"},
        {"1,2,3,", "0 bytes are too few"},
        {"1,2,3,HIST?", "its last field is no base64"},
        {"1,2,3,AAAA", "3 bytes are too few"},
        {"1,2,3,HISTFAAAAEV42pNpmSzM", "it has 15 bytes, which is not what it says"},
        {"1,2,3,\xff\xff\xff\xff", "no base64"},
        {"-,2,3," HLOG_LETTERS, "no number and comma"},
    };
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        crest_hlog_log log = {0, 0, 0};
        crest_hlog_interval interval;
        crest_error error = {0};
        assert_int_equal(hlog_parse(&log, wrong[i].line, &interval, &error),
                         CREST_INVALID_ARGUMENT);
        assert_null(interval.distribution);
        if (strstr(error.message, wrong[i].sentence) == NULL)
            fail_msg("\"%s\" says nothing of \"%s\"", error.message, wrong[i].sentence);
    }
}

/* ---- the reporter ---- */

CREST_HISTOGRAM_FAMILY(hlog_sizes, "hlog.sizes", "Sizes.", peer);
CREST_TIMER(hlog_time, "hlog.time", "Time.");
CREST_HISTOGRAM(hlog_none, "hlog.none", "No buckets.", .range = CREST_RANGE_NONE);

/* The text of a file, NUL-terminated, which the caller frees. */
static char *hlog_text(const char *path)
{
    char *text = calloc(1, 65536);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, 65535, file) < 65535);
    fclose(file);
    return text;
}

/* Of all lines of a tag: how many, and the sum of their records. */
static unsigned hlog_lines_of(char *text, const char *tag, uint64_t *records)
{
    crest_hlog_log log = {0, 0, 0};
    unsigned lines = 0;
    *records = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        crest_hlog_interval interval;
        crest_error error;
        if (crest_hlog_parse(&log, line, (size_t)(end - line), &interval, &error) != CREST_OK)
            fail_msg("%s", error.message);
        if (interval.tag_length == strlen(tag) &&
            memcmp(interval.tag, tag, interval.tag_length) == 0) {
            lines++;
            *records += crest_distribution_count(interval.distribution);
            assert_true(interval.start_s > 1.6e9 && interval.length_s >= 0);
            assert_true(interval.start_s >= log.started_s);
        }
        crest_distribution_free(interval.distribution);
    }
    return lines;
}

static void test_reporter(void **state)
{
    (void)state;
    char path[] = "/tmp/crest-hlog-XXXXXX";
    crest_error error;
    uint64_t records;
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_null(crest_hlog_new(NULL, &error));
    assert_int_equal(error.status, CREST_INVALID_ARGUMENT);
    assert_null(crest_hlog_new(&(crest_hlog_options){.path = "/nowhere/x"}, &error));
    assert_int_equal(error.status, CREST_IO);
    crest_hlog_options options = {.path = path};
    crest_reporter *log = crest_hlog_new(&options, &error);
    const crest_schedule rarely = {.interval_ms = 3600000};
    assert_int_equal(crest_reporter_attach(NULL, log, &rarely, &error), CREST_OK);
    for (int i = 1; i <= 10; i++)
        crest_histogram_record(hlog_sizes_with("a,b c"), i);
    crest_histogram_record(&hlog_none, 5);
    assert_int_equal(crest_report_now(log, 0, &error), CREST_OK);
    crest_histogram_record(hlog_sizes_with("a,b c"), 11);
    crest_timer_record(&hlog_time, 5000000, CREST_OUTCOME_OK);
    assert_int_equal(crest_report_now(log, 0, &error), CREST_OK);
    assert_int_equal(crest_reporter_detach(log, 0, &error), CREST_OK);
    crest_reporter_free(log);
    char *text = hlog_text(path);
    assert_int_equal(hlog_lines_of(text, "hlog.sizes;peer=a%2Cb%20c", &records), 2);
    assert_int_equal(records, 11);
    assert_int_equal(hlog_lines_of(text, "hlog.time;outcome=ok", &records), 1);
    assert_int_equal(records, 1);
    assert_null(strstr(text, "hlog.none"));
    assert_non_null(strstr(text, ",5.0")); /* 5 ms, to the bucket */
    assert_ptr_equal(strstr(strstr(text, "#[StartTime") + 1, "#[StartTime"), NULL);
    free(text);
    close(file);
    unlink(path);
}

/* Options are tried without a trace on the disk, and a reporter makes its file with its first
 * report; what speaks against it is found all the same. */
static void test_tried(void **state)
{
    (void)state;
    char folder[] = "/tmp/crest-hlog-XXXXXX", options[200], path[100];
    static const char *const kinds[] = {"hlog", "json", "spans-json"};
    crest_error error;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        snprintf(options, sizeof options, "%s=%s", kinds[i], path);
        assert_int_equal(crest_options_check(options, &error), CREST_OK);
        assert_int_equal(access(path, F_OK), -1);
        snprintf(options, sizeof options, "%s=%s/", kinds[i], path);
        assert_int_equal(crest_options_check(options, &error), CREST_IO);
        assert_non_null(strstr(error.message, "Is a directory"));
        snprintf(options, sizeof options, "%s=%s/file", kinds[i], path);
        assert_int_equal(crest_options_check(options, &error), CREST_IO);
        assert_non_null(strstr(error.message, "No such file or directory"));
    }
    crest_reporter *log = crest_hlog_new(&(crest_hlog_options){.path = path}, &error);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(crest_report_once(NULL, log, 0, &error), CREST_OK);
    crest_reporter_free(log);
    assert_int_equal(unlink(path), 0);
    if (geteuid() != 0) {
        assert_int_equal(chmod(folder, 0500), 0);
        assert_null(crest_hlog_new(&(crest_hlog_options){.path = path}, &error));
        assert_non_null(strstr(error.message, "Permission denied"));
    }
    assert_int_equal(rmdir(folder), 0);
}

/* A report that does not fit takes itself back, and its records come with the next one. */
static void test_full(void **state)
{
    (void)state;
    crest_error error;
    crest_reporter *log = crest_hlog_new(&(crest_hlog_options){.path = "/dev/full"}, &error);
    assert_non_null(log);
    crest_histogram_record(hlog_sizes_with("full"), 1);
    assert_int_equal(crest_report_once(NULL, log, 0, &error), CREST_IO);
    assert_non_null(strstr(error.message, "/dev/full: No space left on device"));
    crest_reporter_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64),          cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_cut_and_flipped), cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_lines),           cmocka_unit_test(test_wrong_lines),
        cmocka_unit_test(test_reporter),        cmocka_unit_test(test_tried),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
