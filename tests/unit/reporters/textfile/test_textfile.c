/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The textfile reporter: what the filter makes of a page, byte for byte; a file that is only ever
 * whole, whatever fails; and the options.
 */
#define _GNU_SOURCE
#include "kinds.h"
#include "common/write_signals.h"
#include "common/atomic_file.h"
#include "support/textfile_fixture.h"
#include "textfile/textfile_page.h"

#include <crest/crest.h>
#include <crest/textfile.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include <cmocka.h>

/* Nobody waits longer for a tick, or for another thread, on a machine that works. */
#define PATIENCE_MS 60000

CREST_COUNTER_FAMILY(written, "test.textfile-written", "Written.", kind);
CREST_RANGE_SAMPLER(queue, "test.textfile-queue", "Queue.");
CREST_COUNTER(foreign, "process.test-textfile", "Left out.");

/* ---- the filter ---- */

typedef struct gathered {
    char text[4096];
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

static const char page_in[] = "# HELP a_total A {b} c. [a]\n"
                              "# TYPE a_total counter\n"
                              "a_total 1\n"
                              "a_total{kind=\"x y{\\\"\\n\"} 2\n"
                              "# HELP process_x_total X.\n"
                              "# TYPE process_x_total counter\n"
                              "process_x_total{kind=\"y\"} 3\n"
                              "process_x_total 4\n"
                              "# HELP processes \n"
                              "# TYPE processes gauge\n"
                              "processes 5\n"
                              "\n"
                              "# a comment\n";
static const char page_out[] = "# HELP a_total A {b} c. [a]\n"
                               "# TYPE a_total counter\n"
                               "a_total{node=\"1\"} 1\n"
                               "a_total{node=\"1\",kind=\"x y{\\\"\\n\"} 2\n"
                               "# process_x_total left out: node_exporter has its own\n"
                               "# HELP processes \n"
                               "# TYPE processes gauge\n"
                               "processes{node=\"1\"} 5\n"
                               "\n"
                               "# a comment\n";

static void test_filter(void **state)
{
    (void)state;
    gathered text;
    crest_textfile_page page;
    unsigned pieces = 0;
    /* however the page is cut into pieces */
    for (size_t step = 1; step <= sizeof page_in; step++) {
        memset(&text, 0, sizeof text);
        crest_textfile_page_init(&page, "node=\"1\"", gather, &text);
        for (size_t at = 0; at < strlen(page_in); at += step) {
            size_t left = strlen(page_in) - at;
            assert_int_equal(
                crest_textfile_page_write(&page, page_in + at, left < step ? left : step), 0);
        }
        assert_string_equal(text.text, page_out);
        pieces = text.pieces;
    }
    for (unsigned refuse_at = 1; refuse_at <= pieces; refuse_at++) {
        memset(&text, 0, sizeof text);
        text.refuse_at = refuse_at;
        crest_textfile_page_init(&page, "node=\"1\"", gather, &text);
        assert_int_equal(crest_textfile_page_write(&page, page_in, strlen(page_in)), 42);
        assert_int_equal(text.pieces, refuse_at);
    }
    /* a line whose begin is longer than any name goes on as it is */
    char line[2 * CREST_TEXTFILE_PAGE_HEAD_BYTES];
    memset(line, 'a', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    memset(&text, 0, sizeof text);
    crest_textfile_page_init(&page, "node=\"1\"", gather, &text);
    assert_int_equal(crest_textfile_page_write(&page, line, sizeof line), 0);
    assert_int_equal(text.length, sizeof line);
    assert_memory_equal(text.text, line, sizeof line);
}

static void test_label_text(void **state)
{
    (void)state;
    char text[64] = "";
    size_t length = crest_textfile_page_label("key", "a\"b\\c\nd \xc3\xa9", NULL);
    assert_int_equal(crest_textfile_page_label("key", "a\"b\\c\nd \xc3\xa9", text), length);
    assert_string_equal(text, "key=\"a\\\"b\\\\c\\nd \xc3\xa9\"");
    assert_int_equal(strlen(text), length);
}

/* ---- a folder of one's own ---- */

static void test_page(void **state)
{
    place *here = *state;
    crest_counter_add(written_with("a\"b"), 3);
    crest_counter_add(&foreign, 1);
    crest_range_sampler_add(&queue, 2);
    mode_t mask = umask(0777);
    crest_reporter *reporter = make(&(crest_textfile_options){.path = here->path});
    assert_string_equal(reporter->name, "textfile");
    assert_int_equal(access(here->path, F_OK), -1);
    assert_report(reporter);
    umask(mask);
    struct stat about;
    assert_int_equal(stat(here->path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0644);
    char *text = contents(here->path);
    assert_non_null(strstr(text, "\ntest_textfile_written_total{kind=\"a\\\"b\"} "));
    assert_non_null(
        strstr(text, "crest_target_info{service=\"rnode\",version=\"0.13\",zone=\"a\"} 1\n"));
    assert_non_null(
        strstr(text, "# process_test_textfile_total left out: node_exporter has its own\n"));
    assert_null(strstr(text, "\nprocess_test"));
    assert_null(strstr(text, "instance="));
    char name[256];
    assert_int_equal(place_count(here, name), 1);
    crest_reporter_free(reporter);
    assert_int_equal(access(here->path, F_OK), 0);
}

static void test_labels(void **state)
{
    place *here = *state;
    const crest_page_label labels[] = {{"node", "n\"1"}, {"service", "other"}};
    crest_reporter *reporter =
        make(&(crest_textfile_options){.path = here->path, .labels = labels, .label_count = 2});
    crest_counter_inc(written_with("c"));
    assert_report(reporter);
    char *text = contents(here->path);
    assert_non_null(strstr(
        text, "\ntest_textfile_written_total{node=\"n\\\"1\",service=\"other\",kind=\"c\"} "));
    assert_non_null(strstr(text, "crest_target_info{node=\"n\\\"1\",service=\"other\",version="));
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1)
        assert_true(line[0] == '#' || strstr(line, "node=\"n\\\"1\"") < strchr(line, '\n'));
    crest_reporter_free(reporter);

    const crest_page_label clash = {"kind", "x"};
    reporter =
        make(&(crest_textfile_options){.path = here->path, .labels = &clash, .label_count = 1});
    crest_error error;
    assert_int_equal(report(reporter, &error), CREST_INVALID_LABEL);
    assert_non_null(strstr(error.message, "the metric test.textfile-written has a label \"kind\""));
    crest_reporter_free(reporter);
}

static void test_windows_and_the_last(void **state)
{
    place *here = *state;
    crest_error error;
    assert_int_equal(crest_ticker_attach(NULL), CREST_OK);
    crest_counter_inc(written_with("w"));
    for (int tries = 0; crest_counter_rate(written_with("w"), CREST_WINDOW_S).covered_s == 0 ||
                        crest_range_sampler_window(&queue, CREST_WINDOW_S).covered_s == 0;
         tries++) {
        assert_true(tries < PATIENCE_MS / 10);
        usleep(10000);
    }
    crest_reporter *some = make(&(crest_textfile_options){.path = here->path});
    assert_report(some);
    assert_non_null(strstr(contents(here->path), "\ntest_textfile_queue_max1m "));
    assert_null(strstr(contents(here->path), "\ntest_textfile_written_rate1m{"));
    crest_reporter *all = make(&(crest_textfile_options){.path = here->path, .windows = 1});
    assert_report(all);
    assert_non_null(strstr(contents(here->path), "\ntest_textfile_written_rate1m{kind=\"w\"} "));
    if (crest_report_once(NULL, all, 5000, &error) != CREST_OK)
        fail_msg("%s", error.message);
    assert_null(strstr(contents(here->path), "\ntest_textfile_written_rate1m"));
    assert_null(strstr(contents(here->path), "\ntest_textfile_queue_max1m"));
    assert_int_equal(crest_ticker_detach(NULL), CREST_OK);
    crest_reporter_free(some);
    crest_reporter_free(all);
}

static void test_remove_on_stop(void **state)
{
    place *here = *state;
    crest_error error;
    crest_reporter *reporter =
        make(&(crest_textfile_options){.path = here->path, .remove_on_stop = 1, .sync = 1});
    /* what was never written is somebody else's */
    int other = open(here->path, O_CREAT | O_WRONLY, 0600);
    close(other);
    assert_int_equal(reporter->stop(reporter, 0, &error), CREST_OK);
    assert_int_equal(access(here->path, F_OK), 0);
    assert_int_equal(crest_report_once(NULL, reporter, 5000, &error), CREST_OK);
    assert_int_equal(access(here->path, F_OK), -1);
    /* gone already */
    assert_report(reporter);
    assert_int_equal(unlink(here->path), 0);
    assert_int_equal(reporter->stop(reporter, 0, &error), CREST_OK);
    crest_reporter_free(reporter);
}

/* ---- what fails ---- */

static void assert_kept(const place *here, const char *before)
{
    char name[256];
    assert_string_equal(contents(here->path), before);
    assert_int_equal(place_count(here, name), 1);
}

static void test_limit_on_files(void **state)
{
    place *here = *state;
    crest_error error;
    crest_reporter *reporter = make(&(crest_textfile_options){.path = here->path});
    assert_report(reporter);
    char *before = strdup(contents(here->path));
    struct rlimit limit, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){100, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    /* SIGXFSZ would end this program */
    crest_status status = report(reporter, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(status, CREST_IO);
    assert_non_null(strstr(error.message, "writing the temporary file: File too large"));
    assert_non_null(strstr(error.message, "ulimit -f"));
    assert_non_null(strstr(error.message, "The page before stays there"));
    assert_kept(here, before);
    sigset_t pending;
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGXFSZ));
    crest_counter_inc(written_with("after"));
    assert_report(reporter);
    assert_non_null(strstr(contents(here->path), "kind=\"after\"} 1\n"));
    free(before);
    crest_reporter_free(reporter);
}

static void test_closed_folder(void **state)
{
    place *here = *state;
    crest_error error;
    crest_reporter *reporter = make(&(crest_textfile_options){.path = here->path});
    assert_int_equal(rmdir(here->folder), 0);
    assert_int_equal(report(reporter, &error), CREST_IO);
    assert_non_null(strstr(error.message, "opening its directory: No such file or directory. "
                                          "Make the directory again. No page was written yet"));
    assert_int_equal(mkdir(here->folder, 0700), 0);
    assert_report(reporter);
    if (geteuid() != 0) {
        assert_int_equal(chmod(here->folder, 0500), 0);
        assert_int_equal(report(reporter, &error), CREST_IO);
        assert_non_null(strstr(error.message, "Permission denied"));
        assert_int_equal(chmod(here->folder, 0700), 0);
    }
    /* a directory in its place */
    assert_int_equal(unlink(here->path), 0);
    assert_int_equal(mkdir(here->path, 0700), 0);
    assert_int_equal(report(reporter, &error), CREST_IO);
    assert_non_null(strstr(error.message, "There is a directory of this name"));
    char name[256];
    assert_int_equal(place_count(here, name), 1);
    crest_reporter_free(reporter);
}

static void test_deadline(void **state)
{
    place *here = *state;
    crest_error error = {0};
    const crest_resource resource = {"", "", "host", NULL, 0};
    crest_reporter *reporter = make(&(crest_textfile_options){.path = here->path});
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_report late = {
        .snapshot = snapshot, .resource = &resource, .deadline_ns = crest_now() - 1};
    assert_int_equal(reporter->report(reporter, &late, &error), CREST_TIMED_OUT);
    char name[256];
    assert_int_equal(place_count(here, name), 0);
    crest_snapshot_free(snapshot);
    crest_reporter_free(reporter);
}

/* Links and leftovers that somebody else has laid out. */
static void test_links_and_leftovers(void **state)
{
    place *here = *state;
    char target[160], stale[160], fresh[160], other[160], another[160];
    snprintf(target, sizeof target, "%s/target", here->folder);
    snprintf(stale, sizeof stale, "%s/.node.prom.0123456789abcdef.tmp", here->folder);
    snprintf(fresh, sizeof fresh, "%s/.node.prom.fedcba9876543210.tmp", here->folder);
    snprintf(other, sizeof other, "%s/.node.prom.x123456789abcdef.tmp", here->folder);
    snprintf(another, sizeof another, "%s/.node.prom.0123456789abcdef.bak", here->folder);
    const char *const made[] = {target, stale, fresh, other, another};
    const struct utimbuf old = {1000000000, 1000000000};
    for (size_t i = 0; i < LENGTH(made); i++) {
        int file = open(made[i], O_CREAT | O_WRONLY, 0600);
        assert_int_equal(write(file, "x", 1), 1);
        close(file);
        if (i != 2)
            assert_int_equal(utime(made[i], &old), 0);
    }
    assert_int_equal(symlink(target, here->path), 0);
    crest_reporter *reporter = make(&(crest_textfile_options){.path = here->path});
    assert_int_equal(access(stale, F_OK), -1);
    assert_int_equal(access(fresh, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    assert_int_equal(access(another, F_OK), 0);
    assert_report(reporter);
    struct stat about;
    assert_int_equal(lstat(here->path, &about), 0);
    assert_true(S_ISREG(about.st_mode));
    assert_string_equal(contents(target), "x");
    crest_reporter_free(reporter);
}

/* ---- a reader while it is written ---- */

typedef struct reader {
    const char *path;
    int stop;      /* atomic */
    unsigned read; /* the same */
    unsigned torn;
} reader;

/* A whole page has the same number at its begin and its end. */
static void *read_on(void *context)
{
    reader *me = context;
    char *text = malloc(1 << 18);
    while (!__atomic_load_n(&me->stop, __ATOMIC_RELAXED)) {
        int file = open(me->path, O_RDONLY);
        if (file < 0)
            continue;
        ssize_t length = read(file, text, (1 << 18) - 1);
        close(file);
        text[length > 0 ? length : 0] = '\0';
        unsigned begin, end;
        char *last = strrchr(text, '#');
        __atomic_fetch_add(&me->read, 1, __ATOMIC_RELAXED);
        me->torn += last == NULL || sscanf(text, "# %u\n", &begin) != 1 ||
                    sscanf(last, "# %u\n", &end) != 1 || last == text || begin != end;
    }
    free(text);
    return NULL;
}

static void test_never_half_a_page(void **state)
{
    place *here = *state;
    enum { PAGES = 400, LINES = 3000 };
    reader readers[2] = {{.path = here->path}, {.path = here->path}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_on, &readers[i]), 0);
    crest_replaced_file *file = crest_replaced_file_new(here->path);
    unsigned failed = 0;
    for (unsigned page = 0; page < PAGES; page++) {
        char line[32];
        /* every fourth one breaks off on the way */
        uint64_t deadline_ns = crest_now() + UINT64_C(10000000000);
        assert_int_equal(crest_replaced_file_begin(file, deadline_ns), 0);
        int length = snprintf(line, sizeof line, "# %u\n", page);
        for (unsigned i = 0; i <= LINES; i++) {
            if (page % 4 == 3 && i == LINES / 2)
                file->deadline_ns = 1;
            const char *text = i == 0 || i == LINES ? line : "a_total{kind=\"x\"} 12345\n";
            crest_replaced_file_write(file, text,
                                      i == 0 || i == LINES ? (size_t)length : strlen(text));
        }
        failed += crest_replaced_file_commit(file, 0644, 0) != 0;
    }
    for (int i = 0; i < 2; i++) {
        /* one that a busy machine has not let begin yet reads the last page */
        for (int ms = 0; ms < PATIENCE_MS && !__atomic_load_n(&readers[i].read, __ATOMIC_RELAXED);
             ms++)
            usleep(1000);
        __atomic_store_n(&readers[i].stop, 1, __ATOMIC_RELAXED);
        pthread_join(threads[i], NULL);
        assert_true(readers[i].read > 0);
        assert_int_equal(readers[i].torn, 0);
    }
    assert_int_equal(failed, PAGES / 4);
    char name[256];
    assert_int_equal(place_count(here, name), 1);
    crest_replaced_file_free(file);
}

/* ---- making one ---- */

static void assert_refused(const crest_textfile_options *options, crest_status status,
                           const char *says)
{
    crest_error error = {0};
    assert_null(crest_textfile_new(options, &error));
    assert_int_equal(error.status, status);
    if (strstr(error.message, says) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", error.message, says);
}

static void test_refused(void **state)
{
    place *here = *state;
    char path[400], name[250];
    static const char *const paths[] = {NULL, "", "x.txt", "/tmp/.prom", "/tmp/"};
    for (size_t i = 0; i < LENGTH(paths); i++)
        assert_refused(&(crest_textfile_options){.path = paths[i]}, CREST_INVALID_ARGUMENT, "");
    assert_refused(&(crest_textfile_options){.path = "/dev/null/x.prom"}, CREST_IO,
                   "Not a directory");
    assert_refused(NULL, CREST_INVALID_ARGUMENT, "needs a path");
    assert_refused(&(crest_textfile_options){.path = "x.txt"}, CREST_INVALID_ARGUMENT,
                   "must have a name that ends in .prom");
    assert_refused(&(crest_textfile_options){.path = "/no/such/x.prom"}, CREST_IO,
                   "the directory /no/such/: No such file or directory");
    memset(name, 'n', sizeof name);
    memcpy(name + sizeof name - 6, ".prom", 6);
    snprintf(path, sizeof path, "%s/%s", here->folder, name);
    assert_refused(&(crest_textfile_options){.path = path}, CREST_INVALID_ARGUMENT, "233");
    assert_int_equal(mkdir(here->path, 0700), 0);
    assert_refused(&(crest_textfile_options){.path = here->path}, CREST_INVALID_ARGUMENT,
                   "is a directory");
    assert_int_equal(rmdir(here->path), 0);
    static const crest_page_label labels[] = {
        {"job", "x"},  {"instance", "x"}, {"le", "x"},  {"outcome", "x"}, {"9a", "x"},
        {"__a", "x"},  {"a-b", "x"},      {"", "x"},    {NULL, "x"},      {"a", NULL},
        {"a", "\xff"}, {"\xff", "x"},     {"a b", "x"},
    };
    for (size_t i = 0; i < LENGTH(labels); i++)
        assert_refused(
            &(crest_textfile_options){.path = here->path, .labels = &labels[i], .label_count = 1},
            CREST_INVALID_LABEL, "cannot be on every line");
    const crest_page_label twice[] = {{"a", "x"}, {"a", "y"}};
    assert_refused(&(crest_textfile_options){.path = here->path, .labels = twice, .label_count = 2},
                   CREST_INVALID_LABEL, "\"a\"");
    assert_refused(
        &(crest_textfile_options){.path = here->path, .labels = twice, .label_count = 17},
        CREST_LIMIT, "17");
}

static void test_relative(void **state)
{
    place *here = *state;
    char *before = getcwd(NULL, 0);
    assert_int_equal(chdir(here->folder), 0);
    crest_reporter *reporter = make(&(crest_textfile_options){.path = "node.prom"});
    assert_int_equal(chdir(before), 0);
    assert_report(reporter);
    assert_int_equal(access(here->path, F_OK), 0);
    crest_reporter_free(reporter);
    free(before);
}

static void test_started(void **state)
{
    place *here = *state;
    char options[400];
    crest_error error;
    snprintf(options, sizeof options,
             "interval=1h,textfile=%s,textfile.label.node=a b,textfile.windows=on,textfile.sync=on",
             here->path);
    crest_counter_inc(written_with("started"));
    if (crest_start(options, &error) != CREST_OK)
        fail_msg("%s", error.message);
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
    assert_non_null(strstr(contents(here->path), "{node=\"a b\",kind=\"started\"} 1\n"));
    static const char *const wrong[] = {"textfile=x.txt", "textfile=/tmp/x.prom,textfile.sync=2",
                                        "textfile=/tmp/x.prom,textfile.label.job=x",
                                        "textfile=/tmp/x.prom,textfile.mode=x"};
    for (size_t i = 0; i < LENGTH(wrong); i++)
        assert_int_not_equal(crest_start(wrong[i], &error), CREST_OK);
}

static void test_quiet_signals(void **state)
{
    (void)state;
    int ends[2];
    crest_quiet_signals quiet;
    sigset_t before, after, pending;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    crest_quiet_signals_begin(&quiet);
    assert_int_equal(write(ends[1], "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    crest_quiet_signals_end(&quiet);
    assert_int_equal(errno, EPIPE);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    sigpending(&pending);
    for (int signal = 1; signal < SIGRTMIN; signal++) {
        assert_int_equal(sigismember(&before, signal), sigismember(&after, signal));
        assert_int_equal(sigismember(&pending, signal), 0);
    }
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_label_text),
        PLACE_TEST(test_page),
        PLACE_TEST(test_labels),
        PLACE_TEST(test_windows_and_the_last),
        PLACE_TEST(test_remove_on_stop),
        PLACE_TEST(test_limit_on_files),
        PLACE_TEST(test_closed_folder),
        PLACE_TEST(test_deadline),
        PLACE_TEST(test_links_and_leftovers),
        PLACE_TEST(test_never_half_a_page),
        PLACE_TEST(test_refused),
        PLACE_TEST(test_relative),
        PLACE_TEST(test_started),
        cmocka_unit_test(test_quiet_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
