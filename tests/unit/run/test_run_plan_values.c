/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What options mean, read off the plan that crest_start makes of them; and whose environment is
 * listened to.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "base/host_name.h"
#include "run/options.h"
#include "reporting/report_schedule.h"
#include "run/run_plan.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

static const char *own_path;

static crest_status told_report(crest_reporter *self, const crest_report *report,
                                crest_error *error)
{
    (void)self;
    (void)report;
    (void)error;
    return CREST_OK;
}

static crest_reporter *told_create(const char *value, const crest_options *options,
                                   const crest_resource *resource, crest_error *error)
{
    static crest_reporter reporters[4];
    static unsigned count;
    (void)value;
    (void)options;
    (void)resource;
    (void)error;
    crest_reporter *mine = &reporters[count++ % LENGTH(reporters)];
    *mine = (crest_reporter){.name = "told", .report = told_report};
    return mine;
}

static const crest_reporter_kind told = {.name = "told", .create = told_create};

static int values_setup(void **state)
{
    (void)state;
    crest_reporter_kind_add(&told);
    return unsetenv("CREST_OPTS");
}

static crest_run_plan *plan_of(const char *text)
{
    crest_run_plan *plan;
    crest_error error;
    if (crest_run_plan_make(text, &plan, &error) != CREST_OK)
        fail_msg("%s: %s", text, error.message);
    return plan;
}

static void assert_refused(const char *text)
{
    crest_run_plan *plan;
    crest_error error;
    if (crest_run_plan_make(text, &plan, &error) != CREST_INVALID_OPTIONS)
        fail_msg("%s is accepted", text);
    assert_null(plan);
}

/* The longest that a report is moved from its point, in thousandths of the interval. */
static unsigned moved_at_most(const crest_schedule *schedule)
{
    crest_pace pace;
    crest_pace_time now = {1, 1};
    uint64_t most_ns = 0;
    crest_pace_init(&pace, schedule, now, 42);
    for (int i = 0; i < 1000; i++) {
        now.now_ns = now.wall_ns = pace.due_ns;
        crest_pace_next(&pace, now);
        most_ns = pace.moved_ns > most_ns ? pace.moved_ns : most_ns;
    }
    return (unsigned)(1000 * most_ns / pace.interval_ns);
}

static void test_jitter(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        unsigned least, most; /* thousandths */
    } cases[] = {
        {"told=a", 95, 100},
        {"told=a,jitter=0", 0, 0},
        {"told=a,told.jitter=0", 0, 0},
        {"told=a,jitter=0,told.jitter=0.5", 450, 500},
        {"told=a,jitter=0.5,told.jitter=0", 0, 0},
        {"told=a,jitter=1", 950, 1000},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_run_plan *plan = plan_of(cases[i].options);
        assert_int_equal(plan->reporter_count, 1);
        unsigned moved = moved_at_most(&plan->reporters[0].schedule);
        if (moved < cases[i].least || moved > cases[i].most)
            fail_msg("%s: moved by %u thousandths", cases[i].options, moved);
        crest_run_plan_free(plan);
    }
}

static void test_schedule(void **state)
{
    (void)state;
    crest_run_plan *plan = plan_of("interval=20s,told=a,told@b=b,told.timeout=1500ms,"
                                   "told@b.interval=5s,told@b.timeout=3s,told.include=x,"
                                   "told.exclude=y,told@b.align=on");
    assert_int_equal(plan->reporter_count, 2);
    const crest_schedule *a = &plan->reporters[0].schedule, *b = &plan->reporters[1].schedule;
    assert_int_equal(a->interval_ms, 20000);
    assert_int_equal(a->timeout_ms, 1500);
    assert_string_equal(a->include, "x");
    assert_string_equal(a->exclude, "y");
    assert_false(a->align);
    assert_int_equal(b->interval_ms, 5000);
    assert_int_equal(b->timeout_ms, 3000);
    assert_null(b->include);
    assert_true(b->align);
    crest_run_plan_free(plan);
}

static void test_windows(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned series;
    } numbers[] = {{"windows.series=1", 1}, {"windows.series=4000000", 4000000}};
    for (size_t i = 0; i < LENGTH(numbers); i++) {
        crest_run_plan *plan = plan_of(numbers[i].text);
        assert_int_equal(plan->window_options.series, numbers[i].series);
        crest_run_plan_free(plan);
    }
    /* also numbers that have 64 bits or 32 of a good one */
    assert_refused("windows.series=0");
    assert_refused("windows.series=4000001");
    assert_refused("windows.series=4294967297");
    assert_refused("windows.series=18446744073709551617");
    assert_refused("windows.series=-1");
    assert_refused("windows=5m");
    assert_refused("windows=1m:1m");
    assert_refused("windows=1m:");
}

static void test_hiccups(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned us;
    } cases[] = {{"hiccups.resolution=100us", 100},
                 {"hiccups.resolution=250us", 250},
                 {"hiccups.resolution=1ms", 1000},
                 {"hiccups.resolution=20ms", 20000},
                 {"hiccups.resolution=1s", 1000000}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_run_plan *plan = plan_of(cases[i].text);
        assert_int_equal(plan->hiccups_options.resolution_us, cases[i].us);
        crest_run_plan_free(plan);
    }
    assert_refused("hiccups.resolution=99us");
    assert_refused("hiccups.resolution=2s");
    assert_refused("hiccups.resolution=1001ms");
    assert_refused("hiccups.resolution=0");
}

/* No two nodes are the same instance, whatever was left empty. */
static void test_instance(void **state)
{
    (void)state;
    char host[CREST_HOST_BYTES];
    crest_host_name(host);
    static const char *const texts[] = {"", "instance=", "instance=\"\""};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        crest_run_plan *plan = plan_of(texts[i]);
        assert_string_equal(plan->resource.instance, host);
        crest_run_plan_free(plan);
    }
    crest_run_plan *plan = plan_of("instance=node-7,service=s");
    assert_string_equal(plan->resource.instance, "node-7");
    assert_string_equal(plan->resource.service, "s");
    assert_string_equal(plan->resource.version, "");
    crest_run_plan_free(plan);
}

/* ---- a program with more rights than its user ---- */

/* What this program does in the place of such a one: is the environment listened to? */
static int listens_to_environment(void)
{
    crest_options *options;
    if (crest_options_read(NULL, &options, NULL) != CREST_OK)
        return 3;
    int listens = crest_option(options, "service") != NULL;
    crest_options_free(options);
    return listens ? 1 : 2;
}

static int run_as_nobody(const char *path)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        setenv("CREST_OPTS", "service=from-outside", 1);
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(9);
        execl(path, path, "listens", (char *)NULL);
        _exit(9);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
}

static void test_more_rights(void **state)
{
    (void)state;
    char folder[] = "/tmp/crest-rights-XXXXXX", command[PATH_MAX * 2], path[64];
    struct statvfs place;
    if (FIXTURE_SANITIZED || geteuid() != 0 || statvfs("/tmp", &place) != 0 ||
        (place.f_flag & ST_NOSUID)) {
        print_message("only root can make a program with more rights, where /tmp lets it, and not "
                      "under a sanitizer\n");
        skip();
    }
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0755), 0);
    snprintf(path, sizeof path, "%s/program", folder);
    snprintf(command, sizeof command, "cp '%s' '%s'", own_path, path);
    assert_int_equal(system(command), 0);
    assert_int_equal(chmod(path, 0755), 0);
    int plain = run_as_nobody(path);
    assert_int_equal(chmod(path, 04755), 0);
    int more = run_as_nobody(path);
    unlink(path);
    rmdir(folder);
    assert_int_equal(plain, 1);
    assert_int_equal(more, 2);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "listens") == 0)
        return listens_to_environment();
    own_path = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_jitter, values_setup),
        cmocka_unit_test_setup(test_schedule, values_setup),
        cmocka_unit_test_setup(test_windows, values_setup),
        cmocka_unit_test_setup(test_hiccups, values_setup),
        cmocka_unit_test_setup(test_instance, values_setup),
        cmocka_unit_test_setup(test_more_rights, values_setup),
    };
    return cmocka_run_group_tests_name("run plan values", tests, NULL, NULL);
}
