/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest_start and crest_stop: who wins, what is refused and leaves nothing behind, the last flush,
 * the flush at exit, and the child of a fork. Run with a word it is one of its own children, which
 * start Crest and exit.
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/host_name.h"
#include "base/misuse.h"
#include "run/options.h"
#include "support/core_fixture.h"
#include "support/fake_reporter.h"
#include "support/hastened_reports.h"
#include "windows/ticker.h"

#include <crest/crest.h>
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

CREST_COUNTER(things, "test.run-things", "Things that happened.");

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in: %s", part, text);
}

/* ---- a kind of reporter ---- */

/* What the next ones are, and what was made. `one` and `two` are made by the kinds of that name. */
static fake_reporter one, two;
static char created_with[256];

static crest_reporter *create_fake(fake_reporter *fake, const char *name, const char *value,
                                   const crest_options *options, const crest_resource *resource,
                                   crest_error *error)
{
    if (strcmp(value, "bad") == 0) {
        crest_error_set(error, CREST_INVALID_ARGUMENT, "a fake cannot be bad");
        return NULL;
    }
    if (strcmp(value, "silent") == 0)
        return NULL;
    int on = 0;
    char key[32];
    snprintf(key, sizeof key, "%s.switch", name);
    if (crest_option_switch(options, key, &on, error) != CREST_OK)
        return NULL;
    snprintf(created_with, sizeof created_with, "%s %d %s %s %s", value, on, resource->service,
             resource->version, resource->instance);
    return &fake->reporter;
}

static crest_reporter *create_one(const char *value, const crest_options *options,
                                  const crest_resource *resource, crest_error *error)
{
    return create_fake(&one, "one", value, options, resource, error);
}

static crest_reporter *create_two(const char *value, const crest_options *options,
                                  const crest_resource *resource, crest_error *error)
{
    return create_fake(&two, "two", value, options, resource, error);
}

static const crest_reporter_kind kind_one = {
    .name = "one",
    .keys = (const char *const[]){"one.switch", "one.label.", NULL},
    .create = create_one};
static const crest_reporter_kind kind_two = {.name = "two",
                                             .keys = (const char *const[]){"two.switch", NULL},
                                             .create = create_two,
                                             .value_is_interval = 1};

static int begin(void **state)
{
    (void)state;
    unsetenv("CREST_OPTS");
    fake_init(&one, "one");
    fake_init(&two, "two");
    one.counter = two.counter = "test.run-things";
    created_with[0] = '\0';
    return 0;
}

/* Whether a thread of this process has one of our names. */
static int thread_is_ours(const char *id)
{
    char path[64], name[16] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", id);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0; /* it has just ended */
    int ours = fgets(name, sizeof name, file) != NULL && strncmp(name, "crest-", 6) == 0;
    fclose(file);
    return ours;
}

/* Our threads; waits a while for there to be as many as expected: one that was joined may still
 * show for a moment, and a new one has yet to take its name. */
static unsigned threads_are(unsigned expected)
{
    unsigned count = 0;
    for (unsigned tries = 0; tries < 4000; tries++) {
        count = 0;
        DIR *tasks = opendir("/proc/self/task");
        assert_non_null(tasks);
        for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks))
            count += task->d_name[0] != '.' && thread_is_ours(task->d_name);
        closedir(tasks);
        if (count == expected)
            break;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    return count;
}

/* ---- starting and stopping ---- */

static void test_start_and_stop(void **state)
{
    (void)state;
    crest_error error;
    assert_int_equal(crest_stop(100, &error), CREST_NOT_RUNNING);
    assert_int_equal(crest_start(NULL, &error), CREST_OK);
    assert_string_equal(error.message, "");
    assert_int_equal(threads_are(1), 1);
    assert_true(crest_counter_rate(&things, 60).covered_s >= 0);
    assert_int_equal(crest_start(NULL, &error), CREST_OK);
    assert_int_equal(crest_start("one=x", &error), CREST_ALREADY);
    assert_contains(error.message, "was started before");
    assert_int_equal(one.reports, 0);
    assert_int_equal(crest_stop(1000, &error), CREST_OK);
    assert_int_equal(crest_stop(1000, &error), CREST_OK);
    assert_int_equal(threads_are(1), 1);
    assert_int_equal(crest_stop(1000, &error), CREST_OK);
    assert_int_equal(threads_are(0), 0);
    assert_int_equal(crest_stop(1000, NULL), CREST_NOT_RUNNING);
    assert_int_equal(crest_start("windows=off", &error), CREST_OK);
    assert_int_equal(threads_are(0), 0);
    assert_int_equal(crest_stop(1000, NULL), CREST_OK);
}

static void test_reporters(void **state)
{
    (void)state;
    crest_error error;
    crest_counter_inc(&things);
    const char *options = "service=rnode, version='0,13', one=there, one.interval=100ms, jitter=0,"
                          "two=200ms, one.label.zone=b";
    if (crest_start(options, &error) != CREST_OK)
        fail_msg("%s", error.message);
    assert_true(fake_wait(&one, &one.reports, 4));
    assert_true(fake_wait(&two, &two.reports, 2));
    crest_counter_inc(&things);
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
    assert_int_equal(one.finals + two.finals, 2);
    assert_int_equal(one.stops + two.stops, 2);
    assert_int_equal(one.frees + two.frees, 2);
    assert_int_equal(one.value, crest_counter_value(&things));
    assert_int_equal(two.value, crest_counter_value(&things));
    assert_string_equal(one.service, "rnode");
    assert_string_equal(one.version, "0,13");
    char host[CREST_HOST_BYTES];
    crest_host_name(host);
    assert_string_equal(one.instance, host);
    assert_in_range(one.began_ns[3] - one.began_ns[0], 200000000, 10000000000);
    assert_in_range(two.began_ns[1] - two.began_ns[0], 100000000, 10000000000);
    assert_int_equal(threads_are(0), 0);
}

static void test_operator_wins(void **state)
{
    (void)state;
    char path[] = "/tmp/crest-run-XXXXXX", environment[128];
    int file = mkstemp(path);
    static const char lines[] = "# operator\nversion=from file\ninstance=i-${PID}\n";
    assert_int_equal(write(file, lines, sizeof lines - 1), (ssize_t)sizeof lines - 1);
    close(file);
    snprintf(environment, sizeof environment, "one.switch=on,@%s,two=off,service=operator", path);
    setenv("CREST_OPTS", environment, 1);
    crest_error error;
    if (crest_start("service=code,version=code,one=mine,one.switch=off,two=1s", &error) != CREST_OK)
        fail_msg("%s", error.message);
    unlink(path);
    char expected[128];
    snprintf(expected, sizeof expected, "mine 1 operator from file i-%ld", (long)getpid());
    assert_string_equal(created_with, expected);
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
    assert_int_equal(one.finals, 1);
    assert_int_equal(two.reports + two.frees, 0);
}

static void test_bad_options(void **state)
{
    static const struct {
        const char *code, *from_operator, *part;
    } cases[] = {
        {"one=x,intreval=1s", NULL,
         "\"intreval\" (in the string given to crest_start). Did you mean \"interval\"?"},
        {"one=x", "oen=x", "\"oen\" (in CREST_OPTS)"},
        {"one=x,interval=10parsecs", NULL,
         "interval=10parsecs in the string given to crest_start is not a duration"},
        {"one=x", "interval=1ms", "interval=1ms in CREST_OPTS is not between 100ms and 86400s"},
        {"one=x,interval=25h", NULL, "is not between 100ms and 86400s"},
        {"one=x,one.timeout=0", NULL,
         "one.timeout=0 in the string given to crest_start is not "
         "between 1ms and 86400s"},
        {"one=x,jitter=2", NULL, "jitter=2 in the string given to crest_start is not a number"},
        {"one=x,one.jitter=x", NULL, "one.jitter=x in the string"},
        {"one=x,windows=5m", NULL, "is not a list of windows: write off, 1m, 1m:5m"},
        {"one=x,windows=1m:", NULL, "is not a list of windows"},
        {"one=x,windows=15m:1m", NULL, "is not a list of windows"},
        {"one=x,windows=1m:1m", NULL, "is not a list of windows"},
        {"one=x,windows=", NULL, "is not a list of windows"},
        {"one=x,windows.series=0", NULL, "is not a number of series from 1 to 4000000"},
        {"one=x,windows.series=4000001", NULL, "is not a number of series"},
        {"one=x,windows.series=many", NULL, "is not a number of series"},
        {"one=x,atexit=maybe", NULL, "atexit=maybe in the string given to crest_start is not a"},
        {"one=x,two=soon", NULL, "two=soon in the string given to crest_start is not a duration"},
        {"one=x,two.switch=7,two=1s", NULL, "two.switch=7 in the string given to crest_start"},
        {"two=1s", "one=bad", "one in CREST_OPTS: a fake cannot be bad"},
        {"two=1s,one=silent", NULL, "one in the string given to crest_start: no such reporter"},
        {"one=x", "nonsense", "\"nonsense\" in CREST_OPTS is not an option"},
        {"one=x,@/nonexistent", NULL,
         "/nonexistent, named in the string given to crest_start, "
         "cannot be read"},
        {"one=x,service=\xff", NULL, "not valid UTF-8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(NULL);
        if (cases[i].from_operator != NULL)
            setenv("CREST_OPTS", cases[i].from_operator, 1);
        uint64_t counted = crest_misuse_value(CREST_MISUSE_OPTIONS);
        crest_error error;
        crest_status status = crest_start(cases[i].code, &error);
        if (status != CREST_INVALID_OPTIONS)
            fail_msg("%s and %s: %s", cases[i].code, cases[i].from_operator,
                     crest_status_text(status));
        assert_int_equal(error.status, CREST_INVALID_OPTIONS);
        assert_contains(error.message, cases[i].part);
        assert_int_equal(crest_misuse_value(CREST_MISUSE_OPTIONS), counted + 1);
        /* nothing was started, and what was made was freed */
        assert_int_equal(crest_stop(100, NULL), CREST_NOT_RUNNING);
        assert_int_equal(one.reports + two.reports, 0);
        assert_int_equal(one.stops + two.stops, 0);
        assert_int_equal(one.frees + two.frees, created_with[0] != '\0');
        assert_int_equal(threads_are(0), 0);
    }
    begin(NULL);
    char text[CREST_RESOURCE_BYTES_MAX + 32] = "service=";
    memset(text + 8, 's', CREST_RESOURCE_BYTES_MAX + 1);
    crest_error error;
    assert_int_equal(crest_start(text, &error), CREST_INVALID_OPTIONS);
    assert_contains(error.message, "service in the string given to crest_start is longer than 255");
    assert_int_equal(crest_start(text, NULL), CREST_INVALID_OPTIONS);
}

static void test_no_memory(void **state)
{
    (void)state;
    crest_status status = CREST_NO_MEMORY;
    unsigned long fail = 1;
    for (; status != CREST_OK && fail < 200; fail++) {
        begin(NULL);
        crest_error error;
        crest_alloc_fail_after(fail);
        status = crest_start("service=x,one=x,two=1h", &error);
        crest_alloc_fail_after(0);
        if (status == CREST_OK)
            break;
        assert_int_equal(status, CREST_NO_MEMORY);
        assert_true(error.message[0] != '\0');
        assert_int_equal(one.reports + two.reports, 0);
        assert_int_equal(threads_are(0), 0);
    }
    assert_in_range(fail, 10, 199);
    assert_int_equal(crest_stop(5000, NULL), CREST_OK);
}

static void test_failures_at_the_end(void **state)
{
    (void)state;
    crest_error error;
    assert_int_equal(crest_start("one=x,two=1h", &error), CREST_OK);
    fake_reporter own;
    fake_init(&own, "own");
    assert_int_equal(crest_reporter_attach(NULL, &own.reporter, NULL, NULL), CREST_OK);
    fake_answer(&one, CREST_UNREACHABLE, "nobody there");
    fake_answer(&own, CREST_REFUSED, "go away");
    crest_status status = crest_stop(5000, &error);
    assert_true(status == CREST_UNREACHABLE || status == CREST_REFUSED);
    assert_int_equal(error.status, status);
    assert_contains(error.message, "2 of 3 reporters failed at the end: ");
    assert_contains(error.message, "one: nobody there");
    assert_contains(error.message, "own: go away");
    assert_int_equal(one.frees + two.frees, 2);
    /* one that was attached by hand is flushed too, but stays its owner's */
    assert_int_equal(own.finals, 1);
    assert_int_equal(own.frees, 0);
    assert_int_equal(crest_reporter_detach(&own.reporter, 100, NULL), CREST_NOT_FOUND);
}

static void test_hanging(void **state)
{
    (void)state;
    crest_error error;
    one.hang = 1;
    assert_int_equal(crest_start("one=x,two=1h", &error), CREST_OK);
    uint64_t start_ms = fake_now_ms();
    assert_int_equal(crest_stop(300, &error), CREST_TIMED_OUT);
    assert_in_range(fake_now_ms() - start_ms, 290, 5000);
    assert_string_equal(error.message, "1 of 2 reporters failed at the end: one: its last report "
                                       "did not end before the deadline");
    /* the other one was not held up, and Crest can be started again meanwhile */
    assert_int_equal(two.finals, 1);
    assert_int_equal(two.frees, 1);
    assert_int_equal(one.frees, 0);
    assert_int_equal(crest_start("two=1h", &error), CREST_OK);
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
    /* what was left behind is freed once it ends */
    fake_set(&one, &one.hang, 0);
    assert_true(fake_wait(&one, &one.frees, 1));
    assert_int_equal(threads_are(0), 0);
}

static void test_windows(void **state)
{
    (void)state;
    assert_int_equal(crest_start(NULL, NULL), CREST_OK);
    crest_counter_add(&things, 10);
    uint64_t start_ms = fake_now_ms();
    crest_rate rate = {0, 0, 0};
    while (rate.covered_s == 0 && fake_now_ms() - start_ms < FAKE_PATIENCE_MS) {
        crest_ticker_step(CREST_TICK_MS * UINT64_C(1000000));
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        rate = crest_counter_rate(&things, 60);
    }
    assert_true(rate.covered_s > 0 && rate.per_second > 0);
    assert_int_equal(crest_stop(1000, NULL), CREST_OK);
    assert_true(crest_counter_rate(&things, 60).covered_s == 0);
}

static void test_kinds(void **state)
{
    (void)state;
    const crest_reporter_kind bad[] = {
        {.name = NULL, .create = create_one},
        {.name = "", .create = create_one},
        {.name = "Upper", .create = create_one},
        {.name = "a.b", .create = create_one},
        {.name = "none"},
        {.name = "abcdefghijklmnopqrstuvwxyz0123456", .create = create_one},
        {.name = "x", .keys = (const char *const[]){"y.key", NULL}, .create = create_one},
        {.name = "x", .keys = (const char *const[]){"x", NULL}, .create = create_one},
        {.name = "x", .keys = (const char *const[]){"x.", NULL}, .create = create_one},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(crest_reporter_kind_add(&bad[i]), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_reporter_kind_add(NULL), CREST_INVALID_ARGUMENT);
    assert_int_equal(crest_reporter_kind_add(&kind_one), CREST_ALREADY);
    crest_reporter_kind again = kind_one;
    assert_int_equal(crest_reporter_kind_add(&again), CREST_ALREADY);
}

/* ---- the child of a fork ---- */

static unsigned told_count;

static void listen_to_log(crest_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    told_count += strstr(message, "forked") != NULL;
}

static int forked_child(void)
{
    crest_error error;
    unsigned reports = one.reports;
    told_count = 0;
    crest_log_to(listen_to_log, NULL);
    if (crest_stop(100, &error) != CREST_NOT_RUNNING || strstr(error.message, "forked") == NULL)
        return 1;
    if (told_count != 1 || crest_stop(100, &error) != CREST_NOT_RUNNING || told_count != 1)
        return 6;
    if (one.reports != reports || one.stops + one.frees != 0)
        return 2;
    if (crest_start("two=100ms,jitter=0", &error) != CREST_OK)
        return 3;
    if (!fake_wait(&two, &two.reports, 2))
        return 4;
    if (crest_stop(5000, &error) != CREST_OK || two.finals != 1)
        return 5;
    return 0;
}

static void test_fork(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    crest_error error;
    assert_int_equal(crest_start("one=x", &error), CREST_OK);
    assert_int_equal(crest_report_now(&one.reporter, FAKE_PATIENCE_MS, &error), CREST_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(forked_child());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(crest_stop(5000, &error), CREST_OK);
    assert_int_equal(one.finals, 1);
}

/* ---- at exit ---- */

static crest_status report_to_stdout(crest_reporter *self, const crest_report *report,
                                     crest_error *error)
{
    (void)error;
    crest_series_view view;
    crest_snapshot_find(report->snapshot, "test.run-things", NULL, 0, &view);
    printf("%s %llu %s\n", self->name, (unsigned long long)view.counter,
           report->final ? "final" : "more");
    fflush(stdout);
    return CREST_OK;
}

static crest_status report_for_ever(crest_reporter *self, const crest_report *report,
                                    crest_error *error)
{
    (void)self, (void)report, (void)error;
    printf("hanging\n");
    fflush(stdout);
    hastened_sleep_ms(CREST_ATEXIT_DEADLINE_MS / 2);
    printf("still waited for\n");
    fflush(stdout);
    while (getppid() != 0) /* for ever */
        pause();
    return CREST_OK;
}

static void log_to_stdout(crest_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    printf("%s\n", message);
    fflush(stdout);
}

/* The reporter's thread is idle when this forks, not in the sanitizer's allocator, whose locks gcc
 * 12's does not free in the child. */
static void exit_in_a_fork(int records)
{
    crest_report_now(&one.reporter, FAKE_PATIENCE_MS, NULL);
    pid_t child = fork();
    if (child == 0) {
        crest_log_to(log_to_stdout, NULL);
        if (records)
            crest_counter_inc(&things);
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
}

/* What the children of this test do; they leave by exit. */
static int child_main(const char *what)
{
    one.reporter.report = report_to_stdout;
    crest_error error;
    /* the first report comes at a random point of the interval: of a day, so that it does not */
    const char *options = "one=x,interval=24h";
    if (strcmp(what, "off") == 0)
        options = "one=x,interval=24h,atexit=off";
    if (strcmp(what, "console") == 0)
        options = "console=100ms,console.format=table,jitter=0,service=tables";
    if (strcmp(what, "hang") == 0) {
        one.reporter.report = report_for_ever;
        if (!hastened_begin())
            return 3;
    }
    if (crest_start(options, &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    crest_counter_add(&things, 41);
    crest_counter_inc(&things);
    if (strcmp(what, "stopped") == 0)
        crest_stop(1000, NULL);
    if (strncmp(what, "fork", 4) == 0)
        exit_in_a_fork(strcmp(what, "fork-records") == 0);
    if (strcmp(what, "console") == 0) {
        nanosleep(&(struct timespec){0, 250000000}, NULL);
        /* the console's is the first reporter, and the only one */
        crest_reporter_info info;
        uint64_t start_ms = fake_now_ms();
        while (crest_reporter_list(&info, 1) == 1 && info.state.reports == 0 &&
               fake_now_ms() - start_ms < FAKE_PATIENCE_MS)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    if (strcmp(what, "later") == 0) { /* made by hand, after crest_start */
        static crest_reporter later = {.name = "later", .report = report_to_stdout};
        crest_reporter_attach(NULL, &later, NULL, NULL);
    }
    exit(7);
}

/* Runs this program again with a word, and returns what it printed; it has to exit with 7. */
static void run_child(const char *what, char *text, size_t size)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        if (strncmp(what, "fork", 4) == 0) { /* the leak checker cannot work in a forked child */
            char options[512];
            const char *given = getenv("ASAN_OPTIONS");
            snprintf(options, sizeof options, "%s:detect_leaks=0", given != NULL ? given : "");
            setenv("ASAN_OPTIONS", options, 1);
        }
        execl("/proc/self/exe", "test_run", what, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while (used < size - 1 && (got = read(ends[0], text + used, size - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
        fail_msg("%s ended with status %#x: %s", what, (unsigned)status, text);
}

static void test_exit(void **state)
{
    (void)state;
    char text[65536];
    run_child("flush", text, sizeof text);
    assert_string_equal(text, "one 42 final\n");
    run_child("off", text, sizeof text);
    assert_string_equal(text, "");
    run_child("stopped", text, sizeof text);
    assert_string_equal(text, "one 42 final\n");
    run_child("later", text, sizeof text);
    assert_contains(text, "one 42 final\n");
    assert_contains(text, "later 42 final\n");
    /* a child that exits does not flush for its parent */
    run_child("fork", text, sizeof text);
    assert_string_equal(text, "one 42 more\none 42 final\n");
    run_child("fork-records", text, sizeof text);
    assert_contains(text, "one 42 more\ncrest: this process was forked while Crest ran");
    assert_contains(text, "\none 42 final\n");
    /* and a reporter that hangs does not keep the process from exiting */
    run_child("hang", text, sizeof text);
    assert_string_equal(text, "hanging\nstill waited for\n");
}

static void test_console_from_options(void **state)
{
    (void)state;
    char text[65536];
    uint64_t start_ms = fake_now_ms();
    run_child("console", text, sizeof text);
    uint64_t took_ms = fake_now_ms() - start_ms;
    assert_contains(text, "Crest  20");
    assert_contains(text, " UTC  service=\"tables\"  instance=\"");
    assert_contains(text, "\ntest.run-things  ");
    assert_contains(text, "  (the last)\n");
    unsigned tables = 0;
    for (const char *at = text; (at = strstr(at, "Crest  20")) != NULL; at++)
        tables++;
    /* one each 100 ms, and the last */
    assert_in_range(tables, 2, took_ms / 100 + 2);
}

int main(int argc, char **argv)
{
    begin(NULL);
    if (crest_reporter_kind_add(&kind_one) != CREST_OK ||
        crest_reporter_kind_add(&kind_two) != CREST_OK)
        return 1;
    if (argc > 1)
        return child_main(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_start_and_stop, begin),
        cmocka_unit_test_setup(test_reporters, begin),
        cmocka_unit_test_setup(test_operator_wins, begin),
        cmocka_unit_test_setup(test_bad_options, begin),
        cmocka_unit_test_setup(test_no_memory, begin),
        cmocka_unit_test_setup(test_failures_at_the_end, begin),
        cmocka_unit_test_setup(test_hanging, begin),
        cmocka_unit_test_setup(test_windows, begin),
        cmocka_unit_test_setup(test_kinds, begin),
        cmocka_unit_test_setup(test_fork, begin),
        cmocka_unit_test_setup(test_exit, begin),
        cmocka_unit_test_setup(test_console_from_options, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
