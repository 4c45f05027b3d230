/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences over kills: those that a receiver gets from all runs of a node add up to what the
 * node counted, to the unit. The receiver is a book in shared memory; each run is a child. What
 * may come twice is the report whose arrival its run did not live to write down, and nothing else.
 *
 * crest-test: timeout=240 sanitizers=address
 */
#define _GNU_SOURCE
#include "adopt/adoption.h"
#include "base/lock.h"
#include "cells/delivered_cells.h"
#include "snapshot/snapshot_inside.h"
#include "state/state_file.h"
#include "support/core_fixture.h"
#include "support/state_dir.h"

#include <crest/state.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define KILLS 30u
#define RUN_US 6000u

CREST_COUNTER(blocks, "test.blocks", "Blocks.");
CREST_COUNTER_FAMILY(peers, "test.peers", "Peers.", peer);

/* What the receiver has, of test.blocks and of all test.peers. */
typedef struct book {
    uint64_t blocks, peers;
    uint64_t base, last; /* of blocks: where this run's first difference began; the newest one */
    uint64_t reports;    /* of this run */
    uint64_t counted;    /* blocks, acknowledged over all runs */
} book;
static book *shared;
static int refuses, reads_only;

/* ---- the reporter, and runs ---- */

static crest_status keep(crest_reporter *self, const crest_report *report, crest_error *error)
{
    (void)error;
    for (size_t i = 0; i < crest_snapshot_size(report->snapshot) && !refuses; i++) {
        crest_series_view now, then;
        crest_snapshot_series(report->snapshot, i, &now);
        (void)crest_report_previous(report, i, &then);
        uint64_t grown = now.counter - then.counter;
        if (strcmp(now.name, "test.peers") == 0)
            shared->peers += grown;
        if (strcmp(now.name, "test.blocks") != 0)
            continue;
        if (shared->reports++ == 0)
            shared->base = then.counter;
        if (reads_only)
            return CREST_REFUSED;
        shared->last = grown;
        shared->blocks += grown;
        if (!self->deltas) /* delivers all but one */
            crest_report_delivered(report, i, now.counter - 1);
    }
    return refuses ? CREST_REFUSED : CREST_OK;
}

static crest_reporter reporter = {.name = "book", .report = keep, .deltas = 1};

static void start_with(const char *more)
{
    char options[128];
    crest_error error;
    crest_schedule schedule = {.interval_ms = 3600000, .jitter = -1};
    snprintf(options, sizeof options, ",state.name=node%s", more);
    shared->reports = 0;
    if (crest_start(state_dir_options(options), &error) != CREST_OK ||
        crest_reporter_attach(NULL, &reporter, &schedule, &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        _exit(3);
    }
}

static void start(void)
{
    start_with("");
}

static void report(void)
{
    crest_status wanted = refuses || reads_only ? CREST_REFUSED : CREST_OK;
    if (crest_report_now(&reporter, 60000, NULL) != wanted)
        _exit(4);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
}

static void run_as(void (*body)(void), int is_killed)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (is_killed ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL : status != 0)
        fail_msg("a run ended with %#x", (unsigned)status);
}

static void begin(void)
{
    state_dir_empty();
    memset(shared, 0, sizeof *shared);
}

/* ---- tests ---- */

static void run_first(void)
{
    start();
    crest_counter_add(&blocks, 10);
    crest_counter_add(peers_with("a"), 3);
    report();
    crest_counter_add(&blocks, 4);
    crest_counter_add(peers_with("a"), 2);
    die();
}

static void run_reports(void)
{
    start();
    crest_counter_add(&blocks, 1);
    report();
    die();
}

static void run_reports_peers(void)
{
    start();
    crest_counter_add(peers_with("a"), 1);
    report();
    die();
}

static void test_goes_on(void **state)
{
    (void)state;
    begin();
    run_as(run_first, 1);
    assert_int_equal(shared->blocks, 10);
    run_as(run_reports, 1);
    assert_int_equal(shared->base, 10);
    assert_int_equal(shared->blocks, 15);
    assert_int_equal(shared->peers, 3); /* not made by that run: it waits */
    run_as(run_reports_peers, 1);
    assert_int_equal(shared->base, 15);
    assert_int_equal(shared->blocks, 15);
    assert_int_equal(shared->peers, 6);
}

/* A report that failed has delivered nothing; nor has a run without one. */
static void run_refused(void)
{
    refuses = 1;
    start();
    crest_counter_add(&blocks, 7);
    report();
    die();
}

static void test_failures(void **state)
{
    (void)state;
    begin();
    run_as(run_refused, 1);
    run_as(run_first, 1);
    assert_int_equal(shared->base, 0);
    assert_int_equal(shared->blocks, 17);
    run_as(run_refused, 1);
    run_as(run_reports, 1);
    assert_int_equal(shared->base, 17);
    assert_int_equal(shared->blocks, 7 + 14 + 7 + 1);
}

static int kill_at;

static void step(int number)
{
    if (number == kill_at)
        die();
}

static void run_dies_starting(void)
{
    crest_adopt_test = step;
    start();
    die(); /* a step that this start did not come to */
}

static void run_dies(void)
{
    start();
    crest_counter_add(&blocks, 1);
    die();
}

/* Kills of starts, at each step, leave the totals and what was delivered of them together. */
static void test_every_step(void **state)
{
    (void)state;
    for (kill_at = 1; kill_at <= CREST_ADOPT_STEPS; kill_at++) {
        begin();
        run_as(run_first, 1);
        run_as(run_dies_starting, 1);
        run_as(run_dies_starting, 1);
        run_as(run_dies, 1);
        run_as(run_reports, 1);
        assert_int_equal(shared->base, 10);
        assert_int_equal(shared->blocks, 10 + 4 + 1 + 1);
    }
}

/* A reporter with an account of its own says so itself. */
static void run_partly(void)
{
    reporter.deltas = 0;
    start();
    crest_counter_add(&blocks, 10);
    report();
    crest_counter_add(&blocks, 5);
    die();
}

static void test_parts(void **state)
{
    (void)state;
    begin();
    run_as(run_partly, 1);
    run_as(run_reports, 1);
    assert_int_equal(shared->base, 9);
    assert_int_equal(shared->last, 1 + 5 + 1);
}

/* The next series of a slot begins at zero; and a file that had no room says that all was told. */
static void run_ends_words(void)
{
    crest_lock_saved saved;
    start();
    crest_counter_add(&blocks, 10);
    report();
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_lock_take(&saved);
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++)
        crest_delivered_end(snapshot->directory->series[i]->slot,
                            snapshot->directory->series[i]->metric->layout);
    crest_lock_drop(&saved);
    if (kill_at)
        crest_state_header_own()->refused_bytes = 1;
    die();
}

static void test_ends(void **state)
{
    (void)state;
    for (kill_at = 0; kill_at < 2; kill_at++) {
        begin();
        run_as(run_ends_words, 1);
        run_as(run_reports, 1);
        assert_int_equal(shared->base, kill_at ? 10 : 0);
    }
}

/* A clean stop makes a last report, so there is nothing to go on with. */
static void run_stops(void)
{
    start();
    crest_counter_add(&blocks, 10);
    if (crest_reporter_detach(&reporter, 60000, NULL) != CREST_OK || crest_stop(0, NULL))
        _exit(5);
}

static void run_goes_on_always(void)
{
    start_with(",state.adopt=always");
    crest_counter_add(&blocks, 2);
    report();
    die();
}

static void test_stop(void **state)
{
    (void)state;
    begin();
    run_as(run_stops, 0);
    run_as(run_goes_on_always, 1);
    assert_int_equal(shared->base, 10);
    assert_int_equal(shared->blocks, 12);
}

/* Before there were these words a file had another format: it is refused, with both numbers, and
 * the run that finds it begins at zero. */
static void test_old_format(void **state)
{
    (void)state;
    crest_remains *remains;
    crest_error error;
    uint32_t version = 2;
    begin();
    run_as(run_first, 1);
    int file = open(state_dir_path("node.crest"), O_WRONLY);
    assert_int_equal(pwrite(file, &version, sizeof version, offsetof(crest_state_header, version)),
                     sizeof version);
    close(file);
    assert_int_equal(crest_remains_read(state_dir_path("node.crest"), &remains, &error), CREST_IO);
    assert_non_null(strstr(error.message, "format 2, and this library reads format 3"));
    run_as(run_reports, 1);
    assert_int_equal(shared->base, 0);
    assert_int_equal(shared->last, 1);
}

/* Counts and reports until it is killed. */
static void run_until_killed(void)
{
    start();
    for (unsigned i = 0;; i++) {
        crest_counter_inc(&blocks);
        shared->counted = crest_counter_value(&blocks);
        if (i % 16 == 15)
            report();
    }
}

static void run_looks(void)
{
    reads_only = 1;
    start();
    crest_counter_add(&blocks, 0);
    report();
    shared->counted = crest_counter_value(&blocks);
    die();
}

static void test_random_kills(void **state)
{
    (void)state;
    unsigned seed = (unsigned)time(NULL), twice = 0;
    uint64_t doubled = 0;
    printf("seed %u\n", seed);
    begin();
    for (unsigned i = 0; i < KILLS; i++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            run_until_killed();
        /* of four kills, one may fall into the start */
        for (int status; i % 4 != 0 && __atomic_load_n(&shared->reports, __ATOMIC_RELAXED) == 0;)
            if (waitpid(child, &status, WNOHANG) == child)
                fail_msg("a run ended with %#x", (unsigned)status);
        usleep((unsigned)rand_r(&seed) % RUN_US);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        uint64_t had = shared->blocks - doubled, last = shared->last;
        run_as(run_looks, 1);
        assert_true(shared->base == had || shared->base + last == had);
        twice += had != shared->base;
        doubled += had - shared->base;
        shared->reports = 0;
    }
    run_as(run_reports, 1);
    printf("%u kills, %llu blocks, %u reports came twice, of %llu\n", KILLS,
           (unsigned long long)shared->counted, twice, (unsigned long long)doubled);
    assert_int_equal(shared->blocks, shared->counted + 1 + doubled);
}

int main(void)
{
    state_dir_skip_tsan();
    state_dir_make();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_on),    cmocka_unit_test(test_failures),
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_every_step),
        cmocka_unit_test(test_ends),       cmocka_unit_test(test_stop),
        cmocka_unit_test(test_old_format), cmocka_unit_test(test_random_kills)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
