/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adoption.h: totals of killed runs go on exactly once, whatever step of a start a kill falls into;
 * chains, two starts at a time, mismatches, differences. Each run is a child: the test forks before
 * it records anything, so a child is like a new process.
 * crest-test: sanitizers=address
 */
#define _GNU_SOURCE
#include "adopt/adoption.h"
#include "base/lock.h"
#include "instruments/resolve.h"
#include "registry/inherited.h"
#include "state/state_file.h"
#include "state/state_view.h"
#include "support/core_fixture.h"
#include "support/state_dir.h"

#include <signal.h>
#include <sys/wait.h>

CREST_COUNTER(blocks, "test.blocks", "Blocks.");
CREST_COUNTER_FAMILY(peers, "test.peers", "Peers.", peer);
CREST_HISTOGRAM(sizes, "test.sizes", "Sizes.", .unit = CREST_BYTES);
CREST_TIMER(times, "test.times", "Times.");
CREST_HISTOGRAM(plain, "test.plain", "Without buckets.", .range = CREST_RANGE_NONE);
CREST_GAUGE(height, "test.height", "Height.");

/* The library's own, which another handle finds by its name. */
CREST_GAUGE(adopted_not, "crest.adopted-not", "", .unit = CREST_NONE);

/* ---- runs ---- */

static int kill_at;

static void step(int number)
{
    if (number == kill_at)
        kill(getpid(), SIGKILL);
}

static void start(const char *more)
{
    crest_error error;
    char options[128];
    snprintf(options, sizeof options, ",state.name=node%s", more);
    if (crest_start(state_dir_options(options), &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        _exit(3);
    }
}

/* What one run records: all of it a known number of times. */
static void record(void)
{
    crest_counter_add(&blocks, 10);
    crest_counter_add(peers_with("a"), 3);
    for (int i = 1; i <= 100; i++)
        crest_histogram_record(&sizes, i * 1000);
    crest_histogram_record(&sizes, 7);
    crest_histogram_record(&plain, 40);
    crest_histogram_record(&plain, 2);
    crest_timer_record(&times, 5000000, CREST_OUTCOME_OK);
    crest_timer_record(&times, 5000000, CREST_OUTCOME_ERROR);
    crest_gauge_set(&height, 4);
}

/* Runs it in a child; returns how the child ended, as waitpid has it. */
static int run_of(void (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void killed(void (*body)(void))
{
    int status = run_of(body);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void whole(void (*body)(void))
{
    int status = run_of(body);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("a run ended with %#x", (unsigned)status);
}

/* ---- what a run finds ---- */

static int wrong;

static void expect(uint64_t value, uint64_t expected, const char *what)
{
    if (value == expected)
        return;
    fprintf(stderr, "%s: %llu, not %llu\n", what, (unsigned long long)value,
            (unsigned long long)expected);
    wrong = 1;
}

/* A distribution's count, sum, extremes, read from a snapshot; zeros where there is none. */
typedef struct read_out {
    uint64_t count, sum, min, max;
} read_out;

static read_out read_of(const char *name, const char *outcome)
{
    read_out out = {0};
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view view;
        crest_snapshot_series(snapshot, i, &view);
        if (strcmp(view.name, name) != 0 ||
            (outcome != NULL && strcmp(view.label_values[view.label_count - 1], outcome) != 0))
            continue;
        out = (read_out){
            crest_distribution_count(view.distribution), crest_distribution_sum(view.distribution),
            crest_distribution_min(view.distribution), crest_distribution_max(view.distribution)};
    }
    crest_snapshot_free(snapshot);
    return out;
}

/* Makes a declared metric without a record. */
static void made(crest_handle *handle, crest_kind kind)
{
    crest_lock_saved saved;
    crest_status status;
    crest_lock_take(&saved);
    crest_handle_resolve(handle, kind, &status);
    crest_lock_drop(&saved);
}

/* The totals are those of so many runs' records. */
static void expect_runs(uint64_t runs)
{
    expect(crest_counter_value(&blocks), 10 * runs, "blocks");
    expect(crest_counter_value(peers_with("a")), 3 * runs, "peers");
    made(&sizes.handle, CREST_KIND_HISTOGRAM);
    made(&times.outcome[0].handle, CREST_KIND_TIMER);
    made(&plain.handle, CREST_KIND_HISTOGRAM);
    read_out all = read_of("test.sizes", NULL);
    expect(all.count, 101 * runs, "count");
    expect(all.sum, 5050007 * runs, "sum");
    expect(all.min, runs ? 7 : 0, "min");
    expect(all.max, runs ? 100000 : 0, "max");
    expect(read_of("test.times", "error").count, runs, "errors");
    expect(read_of("test.plain", NULL).count, 2 * runs, "count without buckets");
    expect(read_of("test.plain", NULL).sum, 42 * runs, "sum without buckets");
    expect(read_of("test.plain", NULL).max, runs ? 40 : 0, "maximum without buckets");
}

static uint64_t runs_before;
static const char *run_options = "";

static void run_killed(void)
{
    start(run_options);
    expect_runs(runs_before);
    record();
    expect_runs(runs_before + 1);
    if (wrong)
        _exit(1);
    kill(getpid(), SIGKILL);
}

static void run_stopped(void)
{
    start(run_options);
    expect_runs(runs_before);
    record();
    if (wrong || crest_stop(0, NULL) != CREST_OK)
        _exit(1);
}

static void run_looks(void)
{
    start(run_options);
    expect_runs(runs_before);
    _exit(wrong);
}

/* Is killed at a step of its start. */
static void run_dies_starting(void)
{
    crest_adopt_test = step;
    crest_counter_add(&blocks, 10);
    crest_counter_add(peers_with("a"), 3);
    record();
    start(run_options);
    _exit(4);
}

/* ---- tests ---- */

static void test_chain(void **state)
{
    (void)state;
    for (runs_before = 0; runs_before < 5; runs_before++)
        killed(run_killed);
    assert_true(state_dir_has("node.crest.previous.3"));
    assert_false(state_dir_has("node.crest.previous.4"));
    whole(run_looks);
}

/* A start that is killed at a step, after records before it; then another start finds all. */
static void test_every_step(void **state)
{
    (void)state;
    for (kill_at = 1; kill_at <= CREST_ADOPT_STEPS; kill_at++) {
        state_dir_empty();
        runs_before = 0;
        killed(run_killed);
        for (int again = 0; again < 3; again++) {
            fflush(NULL);
            pid_t child = fork();
            if (child == 0) {
                crest_adopt_test = step;
                start("");
                _exit(4);
            }
            int status = -1;
            assert_int_equal(waitpid(child, &status, 0), child);
            /* later ones may find nothing that would lead them to the step */
            assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 4);
        }
        runs_before = 1;
        killed(run_killed);
        runs_before = 2;
        whole(run_looks);
    }
}

/* What is recorded before crest_start counts too, when that start is killed. */
static void test_early_records(void **state)
{
    (void)state;
    for (kill_at = 1; kill_at <= CREST_ADOPT_STEPS; kill_at += 2) {
        state_dir_empty();
        runs_before = 0;
        killed(run_killed);
        killed(run_dies_starting);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            start("");
            expect(crest_counter_value(&blocks), 10 + 20, "blocks");
            expect(crest_counter_value(peers_with("a")), 3 + 6, "peers");
            _exit(wrong);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

static void test_farewell(void **state)
{
    (void)state;
    state_dir_empty();
    runs_before = 0;
    whole(run_stopped);
    whole(run_looks);
    state_dir_empty();
    whole(run_stopped);
    run_options = ",state.adopt=always";
    runs_before = 1;
    whole(run_looks);
    run_options = ",state.adopt=off";
    state_dir_empty();
    runs_before = 0;
    killed(run_killed);
    whole(run_looks);
    assert_true(state_dir_has("node.crest.previous"));
    run_options = "";
}

/* The page of the run that was killed, as the start has left it beside its file. */
static void run_reports(void)
{
    start(",state.adopt=report");
    expect_runs(0);
    record();
    if (wrong)
        _exit(1);
    kill(getpid(), SIGKILL);
}

static void expect_page(const char *name, const char *line)
{
    char path[512], page[65536];
    snprintf(path, sizeof path, "%s/%s", state_dir, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    if (strstr(page, line) == NULL)
        fail_msg("%s has no '%s':\n%s", name, line, page);
}

static void test_report(void **state)
{
    (void)state;
    state_dir_empty();
    runs_before = 0;
    killed(run_killed);
    killed(run_reports);
    expect_page("node.last.prom", "# The last figures of pid ");
    expect_page("node.last.prom", "\ntest_blocks_total 10\n");
    expect_page("node.last.prom", "\ntest_sizes_bytes_count 101\n");
    expect_page("node.last.prom", "\ntest_height 4\n");
    assert_true(state_dir_has("node.crest.previous"));
    /* what it recorded itself goes on as ever, and the first run's is done with */
    runs_before = 1;
    killed(run_killed);
    /* once more from there, with 2 runs: each page is the newest's */
    killed(run_reports);
    expect_page("node.last.prom", "\ntest_blocks_total 20\n");
    assert_false(state_dir_has("node.last.prom.new"));
}

/* A start that is killed while it reports leaves nothing behind that counts, and no figures out. */
static void run_dies_reporting(void)
{
    crest_adopt_test = step;
    start(",state.adopt=report");
    _exit(4);
}

static void test_report_steps(void **state)
{
    (void)state;
    static const int steps[] = {1, 2, 3, 7};
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        kill_at = steps[i];
        state_dir_empty();
        runs_before = 0;
        killed(run_killed);
        killed(run_dies_reporting);
        killed(run_reports);
        /* before the last step the first run's file waits still, behind the killed start's */
        expect_page(kill_at == 7 ? "node.last.prom" : "node.last.2.prom",
                    kill_at == 7 ? "# The last" : "\ntest_blocks_total 10\n");
        runs_before = 1;
        whole(run_looks);
    }
}

/* What the log had of the previous run. */
static char told[512];

static void keep_told(crest_log_level level, const char *message, void *context)
{
    (void)context;
    if (strstr(message, "previous run") != NULL)
        snprintf(told, sizeof told, "%d %s", (int)level, message);
}

static void run_in_mid_block(void)
{
    start("");
    record();
    crest_timer_begin(&times, crest_op_text("block-17"));
    kill(getpid(), SIGKILL);
}

static void run_is_told(void)
{
    char expected[64];
    unsigned long long pid = 0;
    crest_log_to(keep_told, NULL);
    start("");
    snprintf(expected, sizeof expected, "%d crest: the previous run (pid %%llu) ended",
             (int)CREST_LOG_WARNING);
    if (sscanf(told, expected, &pid) != 1 || pid == 0 || pid == (unsigned long long)getpid() ||
        strstr(told, "ended without a farewell; its last heartbeat was ") == NULL ||
        strstr(told, "; 1 operation in flight, the oldest test.times block-17 for ") == NULL) {
        fprintf(stderr, "told: %s\n", told);
        _exit(4);
    }
}

/* A start says how the run before ended, and what it was doing. */
static void test_told(void **state)
{
    (void)state;
    state_dir_empty();
    killed(run_in_mid_block);
    whole(run_is_told);
}

/* Series that a run never makes again stay in the chain. */
static void run_without_peers(void)
{
    start("");
    if (crest_inherited_waiting() == 0)
        _exit(2);
    kill(getpid(), SIGKILL);
}

static void test_waiting(void **state)
{
    (void)state;
    state_dir_empty();
    runs_before = 0;
    killed(run_killed);
    killed(run_without_peers);
    killed(run_without_peers);
    runs_before = 1;
    whole(run_looks);
}

/* A name that is another kind of metric now is left out, counted, and lives on as itself. */
static void run_other_kind(void)
{
    crest_status status;
    crest_counter *other = crest_counter_get(
        NULL, &(crest_metric_options){.name = "test.changed", .description = "x"}, &status);
    crest_counter_add(other, 5);
    start("");
    kill(getpid(), SIGKILL);
}

static void run_finds_other(void)
{
    crest_status status;
    crest_histogram *other = crest_histogram_get(
        NULL, &(crest_metric_options){.name = "test.changed", .description = "x"}, &status);
    start("");
    expect((uint64_t)crest_gauge_value(&adopted_not), 1, "series left out");
    crest_histogram_record(other, 1);
    expect(read_of("test.changed", NULL).count, 1, "count");
    _exit(wrong);
}

static void test_other_kind(void **state)
{
    (void)state;
    state_dir_empty();
    killed(run_other_kind);
    whole(run_finds_other);
}

/* Differences begin behind what reporters of the run before had delivered: here it had none, and
 * they begin with the total. */
static void run_differences(void)
{
    start("");
    crest_counter *counter = peers_with("a");
    crest_counter_add(counter, 2);
    crest_histogram_record(&sizes, 5);
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_report report = {.snapshot = snapshot};
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view now, then;
        assert_int_equal(crest_snapshot_series(snapshot, i, &now), CREST_OK);
        int known = crest_report_previous(&report, i, &then) == CREST_OK;
        if (strcmp(now.name, "test.peers") == 0)
            expect(known ? now.counter - then.counter : now.counter, 5, "difference of peers");
        if (strcmp(now.name, "test.sizes") == 0)
            expect(crest_distribution_count(now.distribution) -
                       (known ? crest_distribution_count(then.distribution) : 0),
                   102, "difference of sizes");
    }
    crest_snapshot_free(snapshot);
    _exit(wrong);
}

static void test_differences(void **state)
{
    (void)state;
    state_dir_empty();
    runs_before = 0;
    killed(run_killed);
    whole(run_differences);
}

/* While the first of the name runs, a second one is NAME.2, and goes on from no other NAME.2. */
static void test_twin(void **state)
{
    (void)state;
    int ready[2];
    char byte;
    state_dir_empty();
    assert_int_equal(pipe(ready), 0);
    fflush(NULL);
    pid_t first = fork();
    if (first == 0) {
        start("");
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    runs_before = 0;
    killed(run_killed);
    assert_true(state_dir_has("node.2.crest"));
    killed(run_killed);
    assert_int_equal(kill(first, SIGKILL), 0);
    assert_int_equal(waitpid(first, NULL, 0), first);
    close(ready[0]);
    close(ready[1]);
}

/* Two starts at a time: one adopts, the other has a file of another name. */
static void test_race(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        state_dir_empty();
        runs_before = 0;
        killed(run_killed);
        pid_t child[2];
        int out[2], value[2] = {-1, -1};
        assert_int_equal(pipe(out), 0);
        for (int i = 0; i < 2; i++)
            if ((child[i] = fork()) == 0) {
                char byte = 0;
                start("");
                byte = (char)crest_counter_value(&blocks);
                if (write(out[1], &byte, 1) != 1)
                    _exit(5);
                usleep(200000); /* both run at a time */
                _exit(0);
            }
        for (int i = 0; i < 2; i++) {
            char byte;
            assert_int_equal(read(out[0], &byte, 1), 1);
            value[i] = byte;
        }
        for (int i = 0; i < 2; i++)
            waitpid(child[i], NULL, 0);
        assert_int_equal(value[0] + value[1], 10);
        assert_true(value[0] == 0 || value[1] == 0);
        close(out[0]);
        close(out[1]);
    }
}

/* Files that are none are passed over with a count, and do not end a start. */
static void run_finds_foreign(void)
{
    start("");
    expect(crest_counter_value(&blocks), 10, "blocks");
    _exit(wrong);
}

static void test_foreign(void **state)
{
    (void)state;
    state_dir_empty();
    runs_before = 0;
    killed(run_killed);
    FILE *file = fopen(state_dir_path("node.crest.left.7"), "w");
    fputs("this is no state file", file);
    fclose(file);
    assert_int_equal(symlink("/etc/passwd", state_dir_path("node.crest.left.8")), 0);
    assert_int_equal(mkfifo(state_dir_path("node.crest.left.9"), 0600), 0);
    whole(run_finds_foreign);
}

int main(void)
{
    state_dir_skip_tsan();
    state_dir_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),         cmocka_unit_test(test_every_step),
        cmocka_unit_test(test_early_records), cmocka_unit_test(test_farewell),
        cmocka_unit_test(test_report),        cmocka_unit_test(test_twin),
        cmocka_unit_test(test_report_steps),  cmocka_unit_test(test_told),
        cmocka_unit_test(test_waiting),       cmocka_unit_test(test_other_kind),
        cmocka_unit_test(test_differences),   cmocka_unit_test(test_race),
        cmocka_unit_test(test_foreign)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
