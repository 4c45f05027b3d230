/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <crest/state.h>: a child records and is killed; what is read of its file is the page that it
 * wrote itself. The file cut at every byte, and changed anywhere, is a sentence or a page.
 *
 * ThreadSanitizer's own thread keeps a state file from being opened after load.
 * crest-test: sanitizers=address
 */
#include "state/state_format.h"
#include "support/core_fixture.h"

#include <crest/prometheus.h>
#include <crest/run.h>
#include <crest/state.h>

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

CREST_COUNTER(remains_counter, "remains.counter", "A counter.");
CREST_COUNTER_FAMILY(remains_family, "remains.family", "A \"family\".", peer);
CREST_GAUGE(remains_gauge, "remains.gauge", "A gauge.", .unit = CREST_BYTES);
CREST_RANGE_SAMPLER(remains_range, "remains.range", "A range sampler.");
CREST_HISTOGRAM(remains_histogram, "remains.histogram", "A histogram.", .unit = CREST_BYTES);
static const crest_range remains_sums_range = {1, 1000, 0}, remains_small_range = {2, 100, 3};
CREST_HISTOGRAM(remains_sums, "remains.sums", "Sums alone.", .range = &remains_sums_range);
CREST_HISTOGRAM(remains_small, "remains.small", "One block.", .range = &remains_small_range);
CREST_TIMER(remains_timer, "remains.timer", "A timer.");

static char remains_dir[] = "/dev/shm/crest-remains-XXXXXX";
static char remains_file[128], remains_page[128];

/* The child: records, writes its page, and kills itself. */
static void remains_die(void)
{
    char options[200];
    snprintf(options, sizeof options, "state=%s,state.name=node", remains_dir);
    if (crest_start(options, NULL) != CREST_OK)
        _exit(3);
    crest_counter_add(&remains_counter, 7);
    crest_counter_add(remains_family_with("a\"b\\c\n"), 3);
    crest_counter_add(remains_family_with("zz"), 4);
    crest_gauge_set(&remains_gauge, 1.5e9);
    crest_range_sampler_add(&remains_range, 5);
    for (int i = 0; i < 1000; i++) {
        crest_histogram_record(&remains_histogram, i * i);
        crest_histogram_record(&remains_sums, i);
        crest_histogram_record(&remains_small, i);
        crest_timer_record(&remains_timer, i * INT64_C(1000000),
                           i % 3 ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
    }
    crest_timer_begin(&remains_timer, crest_op_text("an id"));
    FILE *page = fopen(remains_page, "w");
    if (page == NULL || crest_prometheus_write(NULL, page) != 0 || fclose(page) != 0)
        _exit(4);
    kill(getpid(), SIGKILL);
}

static int remains_setup(void **state)
{
    (void)state;
    int status;
    if (mkdtemp(remains_dir) == NULL)
        return -1;
    snprintf(remains_file, sizeof remains_file, "%s/node.crest", remains_dir);
    snprintf(remains_page, sizeof remains_page, "%s/page", remains_dir);
    pid_t child = fork();
    if (child == 0) {
        remains_die();
        _exit(5);
    }
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) {
        fprintf(stderr, "the child ended with status %d\n", status);
        return -1;
    }
    return 0;
}

static int remains_teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", remains_dir);
    return system(command);
}

typedef struct remains_text {
    char *text;
    size_t length;
} remains_text;

static int remains_collect(void *context, const void *bytes, size_t length)
{
    remains_text *into = context;
    into->text = realloc(into->text, into->length + length + 1);
    memcpy(into->text + into->length, bytes, length);
    into->length += length;
    into->text[into->length] = '\0';
    return 0;
}

static remains_text remains_slurp(const char *path)
{
    remains_text all = {NULL, 0};
    char piece[65536];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;)
        remains_collect(&all, piece, got);
    fclose(file);
    return all;
}

static void test_page(void **state)
{
    (void)state;
    crest_error error;
    crest_remains *remains;
    crest_remains_about about;
    crest_series_view view;
    crest_remains_op op;
    remains_text found = {NULL, 0}, wanted = remains_slurp(remains_page);
    if (crest_remains_read(remains_file, &remains, &error) != CREST_OK)
        fail_msg("%s", error.message);
    crest_remains_tell(remains, &about);
    assert_false(about.alive || about.adopted || about.farewell_wall_ns != 0);
    assert_true(about.series > 8 && about.in_flight == 1 && about.damaged == 0);
    assert_int_equal(
        crest_remains_write(remains, CREST_FORMAT_PROMETHEUS_TEXT, remains_collect, &found, &error),
        CREST_OK);
    assert_string_equal(found.text, wanted.text);
    assert_int_equal(crest_remains_series(remains, about.series, &view), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_remains_in_flight(remains, 0, &op), CREST_OK);
    assert_string_equal(op.timer, "remains.timer");
    crest_op wanted_op = crest_op_text("an id");
    assert_true(crest_op_equal(&op.op, &wanted_op));
    assert_int_equal(crest_remains_in_flight(remains, 1, &op), CREST_INVALID_ARGUMENT);
    uint64_t counted = 0;
    for (size_t i = 0; crest_remains_series(remains, i, &view) == CREST_OK; i++)
        if (strcmp(view.name, "remains.family") == 0)
            counted += view.counter;
    assert_int_equal(counted, 7);
    crest_remains_free(remains);
    free(found.text);
    free(wanted.text);
}

/* Reads a file of these bytes; a sentence, or a page that can be written. Returns which. */
static int remains_try(const char *path, const char *bytes, size_t length)
{
    crest_error error = {0};
    crest_remains *remains;
    remains_text found = {NULL, 0};
    FILE *file = fopen(path, "w");
    assert_true(fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
    crest_status status = crest_remains_read(path, &remains, &error);
    assert_true((status == CREST_OK) == (remains != NULL) &&
                (status == CREST_OK) == (error.message[0] == '\0'));
    if (remains == NULL)
        return 0;
    crest_series_view view;
    for (size_t i = 0; crest_remains_series(remains, i, &view) == CREST_OK; i++)
        if (view.kind == CREST_KIND_HISTOGRAM || view.kind == CREST_KIND_TIMER)
            assert_true((view.buckets != NULL) == (view.distribution != NULL));
    for (int format = 0; format <= CREST_FORMAT_PROMETHEUS_PROTOBUF; format++)
        assert_int_equal(
            crest_remains_write(remains, (crest_format)format, remains_collect, &found, &error),
            CREST_OK);
    free(found.text);
    crest_remains_free(remains);
    return 1;
}

/* Changed, a bit at a time, in strides of a prime. */
static void test_changed(void **state)
{
    (void)state;
    char path[160];
    remains_text all = remains_slurp(remains_file);
    snprintf(path, sizeof path, "%s/changed", remains_dir);
    unsigned read = 0, tried = 0;
    for (size_t at = 0; at < all.length; at += at < 1024 ? 11 : 20011, tried++) {
        char kept = all.text[at];
        all.text[at] ^= (char)(1 << at % 8);
        read += (unsigned)remains_try(path, all.text, all.length);
        all.text[at] = kept;
    }
    assert_in_range(read, 1, tried - 1);
    free(all.text);
}

/* Adds bytes of one of the file's extents as an extent of their own. */
static void remains_keep(remains_text *small, const crest_state_extent *from, const char *bytes,
                         uint64_t at, uint64_t length)
{
    remains_collect(small, bytes + at, length);
    crest_state_header *header = (crest_state_header *)(void *)small->text;
    crest_state_extent *extents = (crest_state_extent *)(void *)(small->text + CREST_STATE_PAGE);
    extents[header->extents++] = (crest_state_extent){.address = from->address + at,
                                                      .offset = small->length - length,
                                                      .bytes = length,
                                                      .used = from->used,
                                                      .kind = from->kind};
}

static int remains_has_bytes(const char *page)
{
    static const char zeros[CREST_STATE_PAGE];
    return memcmp(page, zeros, sizeof zeros) != 0;
}

/* Adds what is not zero, with a page of zeros behind it, for what lies in both. */
static void remains_keep_cells(remains_text *small, const crest_state_extent *from,
                               const char *bytes)
{
    for (uint64_t at = 0, begun = 0; at <= from->bytes; at += CREST_STATE_PAGE) {
        int kept =
            at < from->bytes && (remains_has_bytes(bytes + at) ||
                                 (at > 0 && remains_has_bytes(bytes + at - CREST_STATE_PAGE)));
        if (!kept && begun < at)
            remains_keep(small, from, bytes, begun, at - begun);
        if (!kept)
            begun = at + CREST_STATE_PAGE;
    }
}

/* The file without the pages of its cells that are zero. */
static remains_text remains_make_small(void)
{
    remains_text all = remains_slurp(remains_file), small = {NULL, 0};
    remains_collect(&small, all.text, CREST_STATE_HEADER_BYTES);
    const crest_state_extent *extents =
        (const crest_state_extent *)(void *)(all.text + CREST_STATE_PAGE);
    uint32_t count = ((crest_state_header *)(void *)small.text)->extents;
    ((crest_state_header *)(void *)small.text)->extents = 0;
    for (uint32_t i = 0; i < count; i++) {
        const crest_state_extent *each = &extents[i];
        if (each->kind == CREST_STATE_CELLS)
            remains_keep_cells(&small, each, all.text + each->offset);
        else
            remains_keep(&small, each, all.text + each->offset, 0,
                         (each->used + CREST_STATE_PAGE - 1) & ~(CREST_STATE_PAGE - UINT64_C(1)));
    }
    free(all.text);
    return small;
}

/* Cut at each byte, from its end on: a sentence, or no more series than in what was longer. */
static void test_cut(void **state)
{
    (void)state;
    char path[160];
    remains_text small = remains_make_small(), wanted = remains_slurp(remains_page), found = {0};
    snprintf(path, sizeof path, "%s/small", remains_dir);
    FILE *file = fopen(path, "w");
    assert_true(fwrite(small.text, 1, small.length, file) == small.length && fclose(file) == 0);
    crest_error error;
    crest_remains *remains;
    crest_remains_about about;
    assert_int_equal(crest_remains_read(path, &remains, &error), CREST_OK);
    crest_remains_write(remains, CREST_FORMAT_PROMETHEUS_TEXT, remains_collect, &found, &error);
    assert_string_equal(found.text, wanted.text);
    crest_remains_free(remains);
    size_t series = SIZE_MAX, read = 0;
    mallopt(M_MMAP_THRESHOLD, 1 << 24); /* or each reading would map its memory anew */
    for (size_t cut = small.length; cut-- > 0;) {
        error = (crest_error){0};
        assert_int_equal(truncate(path, (off_t)cut), 0);
        crest_status status = crest_remains_read(path, &remains, &error);
        assert_int_equal(status, cut < CREST_STATE_HEADER_BYTES ? CREST_IO : CREST_OK);
        assert_true((status == CREST_OK) == (error.message[0] == '\0'));
        if (status != CREST_OK)
            continue;
        crest_remains_tell(remains, &about);
        assert_true(about.series <= series && about.damaged != 0);
        series = about.series;
        read++;
        crest_remains_free(remains);
    }
    assert_int_equal(series, 0);
    assert_int_equal(read, small.length - CREST_STATE_HEADER_BYTES);
    printf("cut at each of %zu bytes\n", small.length);
    free(small.text);
    free(wanted.text);
    free(found.text);
}

/* Tries the file with each of these numbers in place of the word at `at`; `record` is the one whose
 * check is made right again, or NULL. */
static void remains_lie(const char *path, remains_text *file, size_t at, crest_state_record *record)
{
    static const uint32_t lies[] = {0,   1,   8,    62,         63,         64,
                                    512, 513, 1024, 0x02000000, 0x7fffffff, UINT32_MAX};
    uint32_t kept, *word = (uint32_t *)(void *)(file->text + at);
    kept = *word;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        *word = lies[i];
        if (record != NULL)
            record->check =
                crest_state_check(record->type, record + 1, record->bytes - sizeof *record);
        remains_try(path, file->text, file->length);
    }
    *word = kept;
    if (record != NULL)
        record->check = crest_state_check(record->type, record + 1, record->bytes - sizeof *record);
}

/* All words of a record, those behind its check with the check made right. */
static void remains_lie_record(const char *path, remains_text *file, crest_state_record *record)
{
    size_t at = (size_t)((char *)record - file->text), most = sizeof(crest_state_metric) + 16;
    for (size_t word = 0; word < record->bytes && word < most; word += sizeof(uint32_t))
        remains_lie(path, file, at + word, word < sizeof *record ? NULL : record);
}

static int remains_is_histogram(const crest_state_record *record)
{
    const crest_state_metric *metric = (const crest_state_metric *)(const void *)record;
    return record->type == CREST_STATE_METRIC &&
           strcmp((const char *)(metric + 1) + metric->bound_count * sizeof(double),
                  "remains.histogram") == 0;
}

/* The first record of each type, and that of a histogram with series; counts them. */
static void remains_lie_records(const char *path, remains_text *file,
                                const crest_state_extent *extent, unsigned *seen)
{
    if (extent->kind != CREST_STATE_DIRECTORY)
        return;
    for (uint64_t at = 0; at < extent->used;) {
        crest_state_record *record =
            (crest_state_record *)(void *)(file->text + extent->offset + at);
        unsigned type = remains_is_histogram(record) ? 0 : record->type;
        if (seen[type]++ == 0)
            remains_lie_record(path, file, record);
        at += record->bytes;
    }
}

/* Each number that a reader takes from the file is another one. */
static void test_hostile(void **state)
{
    (void)state;
    char path[160];
    unsigned seen[CREST_STATE_IN_FLIGHT + 1] = {0};
    remains_text file = remains_make_small();
    snprintf(path, sizeof path, "%s/hostile", remains_dir);
    const crest_state_header *header = (const crest_state_header *)(void *)file.text;
    const crest_state_extent *extents =
        (const crest_state_extent *)(void *)(file.text + CREST_STATE_PAGE);
    for (size_t at = 0; at < offsetof(crest_state_header, name); at += sizeof(uint32_t))
        remains_lie(path, &file, at, NULL);
    for (unsigned i = 0; i < header->extents; i++) {
        for (size_t at = 0; at < sizeof *extents; at += sizeof(uint32_t))
            remains_lie(path, &file, CREST_STATE_PAGE + i * sizeof *extents + at, NULL);
        remains_lie_records(path, &file, &extents[i], seen);
    }
    for (unsigned type = CREST_STATE_METRIC; type <= CREST_STATE_IN_FLIGHT; type++)
        assert_int_not_equal(seen[type], 0);
    assert_int_not_equal(seen[0], 0);
    assert_int_equal(remains_try(path, file.text, file.length), 1);
    free(file.text);
}

static void remains_refused(const char *path, const char *sentence)
{
    crest_error error = {0};
    crest_remains *remains;
    assert_int_equal(crest_remains_read(path, &remains, &error), CREST_IO);
    assert_null(remains);
    if (strstr(error.message, sentence) == NULL)
        fail_msg("\"%s\" says nothing of \"%s\"", error.message, sentence);
}

static void test_foreign(void **state)
{
    (void)state;
    char path[160];
    remains_refused("/nowhere/x.crest", "/nowhere/x.crest cannot be read: No such file");
    remains_refused(remains_dir, "is no file with a node's state, but a directory");
    remains_refused("/dev/null", "but something else");
    snprintf(path, sizeof path, "%s/fifo", remains_dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    remains_refused(path, "but a FIFO");
    snprintf(path, sizeof path, "%s/link", remains_dir);
    assert_int_equal(symlink(remains_file, path), 0);
    remains_refused(path, "it is a symbolic link, which is not followed");
    remains_refused(remains_page, "it is no state file");
}

int main(void)
{
    if (access("/dev/shm", W_OK) != 0) {
        printf("skipped: there is no /dev/shm\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),    cmocka_unit_test(test_cut),
        cmocka_unit_test(test_changed), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_foreign),
    };
    return cmocka_run_group_tests(tests, remains_setup, remains_teardown);
}
