/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON lines: their text byte for byte against tests/golden, deltas that add up, and a file that
 * has whole reports only. To rewrite the golden file after a wanted change, and then look at the
 * diff:
 *
 *     CREST_UPDATE_GOLDEN=1 build/release/tests/unit/reporters/json/test_json_lines
 */
#define _GNU_SOURCE
#include "json/json_line.h"
#include "common/deadline_output.h"
#include "support/decimal_comma.h"

#include <crest/crest.h>
#include <crest/json_lines.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
/* What no report takes on a machine that works, however busy it is. */
#define PATIENCE_MS 60000
#define TEXTS(...) ((const char *const[]){__VA_ARGS__})

CREST_COUNTER_FAMILY(lines, "test.json-lines", "Lines.", kind);
CREST_TIMER(work, "test.json-work", "Work.");

/* ---- a line ---- */

typedef struct gathered {
    char text[65536];
    size_t length;
    unsigned pieces, refuse_at;
} gathered;

static int gather(void *context, const void *bytes, size_t length)
{
    gathered *into = context;
    if (++into->pieces == into->refuse_at)
        return 42;
    assert_true(into->length + length < sizeof into->text);
    memcpy(into->text + into->length, bytes, length);
    into->length += length;
    into->text[into->length] = '\0';
    return 0;
}

static const crest_page_label resource_labels[] = {{"zone", "a\"b"}, {"service", "mine"}};
static const crest_resource resource = {"rnode", "", "host\x1b", resource_labels, 2};

static crest_json_report report_of(crest_json_buckets buckets)
{
    crest_json_report report = {.wall_ns = UINT64_C(1700000000123456789),
                                .number = 7,
                                .resource = &resource,
                                .delta_s = 10.25,
                                .buckets = buckets};
    return report;
}

static crest_distribution *distribution_of(unsigned count)
{
    crest_distribution *made = crest_distribution_new(NULL);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(crest_distribution_record(made, (int64_t)(i * i * 1000), 1), CREST_OK);
    return made;
}

/* Every kind, with and without what it can have. */
static void write_all(gathered *text)
{
    crest_distribution *now = distribution_of(100), *before = distribution_of(90),
                       *none = distribution_of(0);
    const crest_series_view views[] = {
        {.name = "a.counter", .kind = CREST_KIND_COUNTER, .counter = UINT64_MAX},
        {.name = "a.counter",
         .kind = CREST_KIND_COUNTER,
         .unit = CREST_BYTES,
         .label_count = 2,
         .label_keys = TEXTS("peer", "kind"),
         .label_values =
             TEXTS("\x01\b\t\n\v\f\r\x1f\"\\/\x7f\xc2\x85", "caf\xc3\xa9 \xff\xed\xa0\x80 "
                                                            "\xe2\x80\xa8 \xf0\x9f\x8e\x89"),
         .counter = 12},
        {.name = "a.gauge", .kind = CREST_KIND_GAUGE, .unit = CREST_RATIO, .gauge = 0.1},
        {.name = "a.gauge", .kind = CREST_KIND_GAUGE, .gauge = -INFINITY},
        {.name = "a.gauge", .kind = CREST_KIND_GAUGE, .gauge = NAN},
        {.name = "a.gauge", .kind = CREST_KIND_GAUGE, .gauge = 5e-324},
        {.name = "a.queue", .kind = CREST_KIND_RANGE_SAMPLER, .current = INT64_MIN},
        {.name = "a.size", .kind = CREST_KIND_HISTOGRAM, .unit = CREST_BYTES, .distribution = now},
        {.name = "a.time",
         .kind = CREST_KIND_TIMER,
         .unit = CREST_NANOSECONDS,
         .label_count = 1,
         .label_keys = TEXTS("outcome"),
         .label_values = TEXTS("ok"),
         .quantiles = (const double[]){0.5, 0.999, 0},
         .distribution = now},
        {.name = "a.time", .kind = CREST_KIND_TIMER, .distribution = none},
    };
    const crest_window window = {
        .covered_s = 60,
        .per_second = 1.5,
        .peak = 3,
        .average = 1000.25,
        .maximum = 9801000,
        .minimum = -5,
        .events = 90,
        .quantiles = {900, 9800000},
        .slowest = {{UINT64_C(0x1b9b2220676e6970), 'x', 0, 0}, 9, CREST_OP_TEXT}};
    crest_series_view previous = {.kind = CREST_KIND_COUNTER, .counter = 5, .distribution = before};
    for (size_t i = 0; i < LENGTH(views); i++) {
        crest_json_report report =
            report_of(i == 7 ? CREST_JSON_BUCKETS_NONE : CREST_JSON_BUCKETS_POWERS);
        crest_json_series series = {.view = &views[i]};
        if (i % 2 == 0)
            series.previous = &previous;
        else
            report.delta_s = -1;
        if (i != 0)
            series.windows[0] = window;
        if (i == 8)
            series.windows[2] = window;
        report.final = i == 9;
        text->text[text->length] = '\0';
        assert_int_equal(crest_json_line_write(&report, &series, gather, text), 0);
    }
    crest_distribution_free(now);
    crest_distribution_free(before);
    crest_distribution_free(none);
}

static void test_golden(void **state)
{
    (void)state;
    gathered *text = calloc(1, sizeof *text);
    write_all(text);
    static const char path[] = "tests/golden/json_lines.jsonl";
    if (getenv("CREST_UPDATE_GOLDEN") != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(text->text, 1, text->length, file), text->length);
        assert_int_equal(fclose(file), 0);
        print_message("skipped: %s was rewritten, not compared\n", path);
        skip();
    }
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be read; run this from the top of the tree", path);
    char *expected = calloc(1, sizeof text->text);
    assert_true(fread(expected, 1, sizeof text->text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text->text, expected);
    free(expected);
    free(text);
}

static void test_buckets_add_up(void **state)
{
    (void)state;
    crest_distribution *now = distribution_of(1000);
    const crest_series_view view = {.name = "x", .kind = CREST_KIND_TIMER, .distribution = now};
    const crest_json_series series = {.view = &view};
    for (int buckets = CREST_JSON_BUCKETS_POWERS; buckets <= CREST_JSON_BUCKETS_ALL; buckets++) {
        gathered *text = calloc(1, sizeof *text);
        crest_json_report report = report_of((crest_json_buckets)buckets);
        assert_int_equal(crest_json_line_write(&report, &series, gather, text), 0);
        unsigned long long low, high, count, sum = 0, last = 0;
        unsigned entries = 0;
        const char *at = strstr(text->text, "\"buckets\":[[");
        assert_non_null(at);
        for (at += 11; sscanf(at, "[%llu,%llu,%llu]", &low, &high, &count) == 3; entries++) {
            assert_true(low <= high && (entries == 0 || low > last) && count > 0);
            last = high;
            sum += count;
            at = strchr(at, ']') + 1;
            at += *at == ',';
        }
        assert_int_equal(sum, 1000);
        assert_in_range(entries, buckets == CREST_JSON_BUCKETS_ALL ? 200 : 10,
                        buckets == CREST_JSON_BUCKETS_ALL ? 2000 : 64);
        free(text);
    }
    crest_distribution_free(now);
}

/* A label without a value is one that a series of an open family has not got. */
static void test_open_family(void **state)
{
    (void)state;
    gathered *text = calloc(1, sizeof *text);
    crest_series_view view = {.name = "x",
                              .kind = CREST_KIND_COUNTER,
                              .label_count = 2,
                              .label_keys = TEXTS("peer", "kind"),
                              .label_values = TEXTS("", "a")};
    const crest_json_series series = {.view = &view};
    crest_json_report report = report_of(CREST_JSON_BUCKETS_POWERS);
    assert_int_equal(crest_json_line_write(&report, &series, gather, text), 0);
    assert_non_null(strstr(text->text, "{\"peer\":\"\",\"kind\":\"a\"}"));
    view.open = 1;
    memset(text, 0, sizeof *text);
    assert_int_equal(crest_json_line_write(&report, &series, gather, text), 0);
    assert_non_null(strstr(text->text, "\"labels\":{\"kind\":\"a\"}"));
    free(text);
}

static void test_stopped(void **state)
{
    (void)state;
    gathered *text = calloc(1, sizeof *text);
    const crest_series_view view = {.name = "a\nb", .kind = CREST_KIND_COUNTER, .counter = 1};
    const crest_json_series series = {.view = &view};
    crest_json_report report = report_of(CREST_JSON_BUCKETS_POWERS);
    assert_int_equal(crest_json_line_write(&report, &series, gather, text), 0);
    unsigned pieces = text->pieces;
    for (unsigned refuse_at = 1; refuse_at <= pieces; refuse_at++) {
        memset(text, 0, sizeof *text);
        text->refuse_at = refuse_at;
        assert_int_equal(crest_json_line_write(&report, &series, gather, text), 42);
        assert_int_equal(text->pieces, refuse_at);
    }
    free(text);
}

/* ---- the reporter ---- */

typedef struct place {
    char folder[64], path[96], renamed[96];
} place;

static int place_setup(void **state)
{
    place *here = calloc(1, sizeof *here);
    strcpy(here->folder, "/tmp/crest-json-XXXXXX");
    assert_non_null(mkdtemp(here->folder));
    snprintf(here->path, sizeof here->path, "%s/m.jsonl", here->folder);
    snprintf(here->renamed, sizeof here->renamed, "%s/m.jsonl.1", here->folder);
    *state = here;
    return 0;
}

static int place_teardown(void **state)
{
    place *here = *state;
    unlink(here->path);
    unlink(here->renamed);
    int failed = rmdir(here->folder);
    free(here);
    return failed;
}

#define PLACE_TEST(function) cmocka_unit_test_setup_teardown(function, place_setup, place_teardown)

static char *contents(const char *path)
{
    static char text[1 << 18];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static unsigned occurrences(const char *text, const char *part)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static crest_reporter *make(const char *path)
{
    crest_error error;
    crest_json_lines_options options = {.path = path};
    crest_reporter *reporter = crest_json_lines_new(&options, &error);
    if (reporter == NULL)
        fail_msg("%s", error.message);
    return reporter;
}

static crest_schedule when_told = {
    .interval_ms = CREST_INTERVAL_MS_MAX, .jitter = -1, .timeout_ms = 5000};

static void test_deltas_and_rotation(void **state)
{
    place *here = *state;
    crest_error error;
    crest_reporter *reporter = make(here->path);
    assert_int_equal(access(here->path, F_OK), -1); /* the first report makes it */
    assert_int_equal(crest_reporter_attach(NULL, reporter, &when_told, &error), CREST_OK);
    crest_counter_add(lines_with("delta"), 3);
    crest_timer_record(&work, 1000, CREST_OUTCOME_OK);
    assert_int_equal(crest_report_now(reporter, PATIENCE_MS, &error), CREST_OK);
    char *text = contents(here->path);
    assert_non_null(strstr(text,
                           "\"labels\":{\"kind\":\"delta\"},\"value\":3,\"delta\":3,\"delta_s\""
                           ":null"));
    /* logrotate */
    assert_int_equal(rename(here->path, here->renamed), 0);
    crest_counter_add(lines_with("delta"), 4);
    assert_int_equal(crest_report_now(reporter, PATIENCE_MS, &error), CREST_OK);
    text = contents(here->path);
    assert_non_null(strstr(text, "\"report\":2,"));
    assert_null(strstr(text, "\"report\":1,"));
    assert_non_null(strstr(text, "\"labels\":{\"kind\":\"delta\"},\"value\":7,\"delta\":4,"));
    assert_null(strstr(text, "\"delta_s\":null"));
    assert_int_equal(occurrences(text, "\n"), occurrences(text, "{\"crest\":1,"));
    assert_int_equal(crest_reporter_detach(reporter, PATIENCE_MS, &error), CREST_OK);
    assert_non_null(strstr(contents(here->path), "\"report\":3,\"final\":true,"));
    crest_reporter_free(reporter);
}

/* A report that fails leaves no line, and its deltas are in the next one. */
static void test_limit_on_files(void **state)
{
    place *here = *state;
    crest_error error;
    crest_reporter *reporter = make(here->path);
    assert_int_equal(crest_reporter_attach(NULL, reporter, &when_told, &error), CREST_OK);
    crest_counter_add(lines_with("limit"), 1);
    assert_int_equal(crest_report_now(reporter, PATIENCE_MS, &error), CREST_OK);
    struct stat about;
    assert_int_equal(stat(here->path, &about), 0);
    struct rlimit limit, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){(rlim_t)about.st_size + 1000, limit.rlim_max};
    crest_counter_add(lines_with("limit"), 2);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    crest_status status = crest_report_now(reporter, PATIENCE_MS, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(status, CREST_IO);
    assert_non_null(strstr(error.message, "File too large: the process's limit"));
    assert_non_null(strstr(error.message, here->path));
    off_t before = about.st_size;
    assert_int_equal(stat(here->path, &about), 0);
    assert_int_equal(about.st_size, before);
    crest_counter_add(lines_with("limit"), 4);
    assert_int_equal(crest_report_now(reporter, PATIENCE_MS, &error), CREST_OK);
    char *text = contents(here->path);
    assert_non_null(strstr(text, "{\"kind\":\"limit\"},\"value\":7,\"delta\":6,"));
    assert_int_equal(occurrences(text, "\n"), occurrences(text, "{\"crest\":1,"));
    assert_int_equal(crest_reporter_detach(reporter, PATIENCE_MS, &error), CREST_OK);
    crest_reporter_free(reporter);
}

static crest_status once(crest_reporter *reporter, uint64_t deadline_ms, crest_error *error)
{
    crest_error_set(error, CREST_OK, "%s", "");
    return crest_report_once(NULL, reporter, deadline_ms, error);
}

static void test_full_disk_and_fifo(void **state)
{
    place *here = *state;
    crest_error error;
    if (access("/dev/full", W_OK) == 0) {
        crest_reporter *reporter = make("/dev/full");
        assert_int_equal(once(reporter, PATIENCE_MS, &error), CREST_IO);
        assert_non_null(strstr(error.message, "Not written to /dev/full: No space left on device"));
        crest_reporter_free(reporter);
    }
    assert_int_equal(mkfifo(here->path, 0600), 0);
    crest_reporter *reporter = make(here->path);
    assert_int_equal(once(reporter, PATIENCE_MS, &error), CREST_IO);
    assert_non_null(strstr(error.message, "no process reads this FIFO"));
    int reader = open(here->path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    /* a reader that does not read: the deadline is kept */
    for (int i = 0; i < 40; i++) {
        char value[24];
        snprintf(value, sizeof value, "fifo %d", i);
        crest_counter_inc(lines_with(value));
    }
    uint64_t began_ns = crest_now();
    crest_status status = CREST_OK;
    for (int i = 0; i < 20 && status == CREST_OK; i++)
        status = once(reporter, 300, &error);
    assert_int_equal(status, CREST_TIMED_OUT);
    assert_in_range(crest_now() - began_ns, 0, PATIENCE_MS * UINT64_C(1000000));
    assert_non_null(strstr(error.message, "its reader is slow or hangs"));
    /* the torn line is ended before the next one */
    static char bytes[1 << 17];
    ssize_t length = read(reader, bytes, sizeof bytes);
    assert_true(length > 0 && bytes[length - 1] != '\n');
    status = once(reporter, PATIENCE_MS, &error);
    length = read(reader, bytes, sizeof bytes - 1);
    assert_true(length > 0 && bytes[0] == '\n' && bytes[1] == '{');
    close(reader);
    /* gone in the middle: an error, no signal */
    assert_int_equal(once(reporter, PATIENCE_MS, &error), CREST_IO);
    crest_reporter_free(reporter);
}

static void test_standard_output(void **state)
{
    place *here = *state;
    crest_error error;
    fflush(stdout);
    int kept = dup(1), file = open(here->path, O_WRONLY | O_CREAT, 0600);
    dup2(file, 1);
    printf("the host's own\n");
    crest_reporter *reporter = make("-");
    crest_status status = once(reporter, PATIENCE_MS, &error);
    fflush(stdout);
    dup2(kept, 1);
    close(kept);
    close(file);
    assert_int_equal(status, CREST_OK);
    assert_int_equal(strncmp(contents(here->path), "the host's own\n{\"crest\":1,", 26), 0);
    crest_reporter_free(reporter);
}

static void test_closed_pipe(void **state)
{
    (void)state;
    crest_error error;
    int ends[2], kept = dup(1);
    fflush(stdout);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    dup2(ends[1], 1);
    crest_reporter *reporter = make("-");
    crest_status status = once(reporter, PATIENCE_MS, &error);
    dup2(kept, 1);
    close(kept);
    close(ends[1]);
    assert_int_equal(status, CREST_IO);
    assert_string_equal(error.message, "json: Not written to standard output: Broken pipe");
    crest_reporter_free(reporter);
}

static void test_refused(void **state)
{
    place *here = *state;
    crest_error error;
    static const char *const paths[] = {NULL, "", "/no/such/file", "/tmp"};
    for (size_t i = 0; i < LENGTH(paths); i++) {
        crest_json_lines_options options = {.path = paths[i]};
        assert_null(crest_json_lines_new(&options, &error));
        assert_int_equal(error.status, i < 2 ? CREST_INVALID_ARGUMENT : CREST_IO);
        assert_true(error.message[0] != '\0');
    }
    assert_null(crest_json_lines_new(NULL, &error));
    crest_json_lines_options options = {.path = "-", .buckets = (crest_json_buckets)9};
    assert_null(crest_json_lines_new(&options, NULL));
    static const char *const wrong[] = {"json=/no/such/file", "json=-,json.buckets=many",
                                        "json=-,json.windows=2", "json=-,json.path=x"};
    for (size_t i = 0; i < LENGTH(wrong); i++)
        assert_int_not_equal(crest_start(wrong[i], &error), CREST_OK);
    char text[200];
    snprintf(text, sizeof text, "json=%s,json.buckets=none,json.windows=off,interval=1h",
             here->path);
    crest_timer_record(&work, 1000, CREST_OUTCOME_OK);
    assert_int_equal(crest_start(text, &error), CREST_OK);
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
    assert_null(strstr(contents(here->path), "\"buckets\""));
    assert_null(strstr(contents(here->path), "\"windows\""));
    assert_non_null(strstr(contents(here->path), "\"quantiles\""));
}

/* Longer than the buffer: whole, in order. */
static void test_long_lines(void **state)
{
    place *here = *state;
    crest_patient_output *output = calloc(1, sizeof *output);
    char *line = malloc(3 * CREST_PATIENT_OUTPUT_BYTES);
    memset(line, 'x', 3 * CREST_PATIENT_OUTPUT_BYTES);
    size_t lengths[] = {1,
                        100,
                        CREST_PATIENT_OUTPUT_BYTES,
                        CREST_PATIENT_OUTPUT_BYTES - 1,
                        3 * CREST_PATIENT_OUTPUT_BYTES,
                        5,
                        0};
    size_t total = 0;
    int file = open(here->path, O_WRONLY | O_CREAT, 0600);
    crest_patient_output_begin(output, NULL, file, crest_now() + UINT64_C(5000000000));
    for (size_t i = 0; i < LENGTH(lengths); i++) {
        assert_int_equal(crest_patient_output_write(output, line, lengths[i]), 0);
        assert_int_equal(crest_patient_output_write(output, "\n", 1), 0);
        total += lengths[i] + 1;
    }
    assert_int_equal(crest_patient_output_end(output), 0);
    assert_int_equal(output->written, total);
    struct stat about;
    assert_int_equal(fstat(file, &about), 0);
    assert_int_equal(about.st_size, total);
    close(file);
    free(line);
    free(output);
}

int main(void)
{
    decimal_comma(); /* which must not show */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),        cmocka_unit_test(test_buckets_add_up),
        cmocka_unit_test(test_open_family),   cmocka_unit_test(test_stopped),
        PLACE_TEST(test_deltas_and_rotation), PLACE_TEST(test_limit_on_files),
        PLACE_TEST(test_full_disk_and_fifo),  PLACE_TEST(test_standard_output),
        cmocka_unit_test(test_closed_pipe),   PLACE_TEST(test_refused),
        PLACE_TEST(test_long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
