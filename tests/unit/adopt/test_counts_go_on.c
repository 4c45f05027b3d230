/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences of histograms and timers over kills: count, sum and each bucket that a receiver gets
 * from all runs of a node add up to what the node recorded. The receiver is a book in shared
 * memory; each run is a child. What may come twice is of the report whose arrival its run did not
 * live to write down to the end.
 *
 * crest-test: timeout=240 sanitizers=address
 */
#define _GNU_SOURCE
#include "adopt/adoption.h"
#include "base/lock.h"
#include "cells/delivered_cells.h"
#include "distributions/distribution_inside.h"
#include "snapshot/snapshot_inside.h"
#include "state/state_file.h"
#include "support/core_fixture.h"
#include "support/state_dir.h"

#include <crest/state.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define KILLS 30u
#define RUN_US 6000u
/* Cells of the default range, of all its blocks, end below this. */
#define BUCKETS 8192u

CREST_HISTOGRAM(sizes, "test.sizes", "Sizes.", .unit = CREST_BYTES);
CREST_TIMER_FAMILY(waits, "test.waits", "Waits.", peer);

/* Records of one series: how many, their sum, and by bucket. */
typedef struct records {
    uint64_t count, sum, bucket[BUCKETS];
} records;

/* What the receiver has, of test.sizes and of all test.waits. */
typedef struct book {
    records sizes, waits;
    records base, last; /* of sizes: where this run's first difference began; the newest one */
    records whole;      /* of sizes: all that the node had at the newest report */
    uint64_t reports;   /* of this run */
} book;
static book *shared;
static int refuses, reads_only;

/* ---- the reporter, and runs ---- */

static unsigned bucket_of(const crest_distribution *from, uint64_t value)
{
    unsigned block = crest_layout_block(&from->layout, value);
    uint64_t cell = value >> crest_layout_shift(&from->layout, block);
    return (unsigned)(block * crest_layout_end_cell(&from->layout) + cell);
}

static void add_to(records *to, const crest_distribution *more)
{
    crest_bucket bucket;
    for (size_t cursor = 0; crest_distribution_next(more, &cursor, &bucket);) {
        unsigned at = bucket_of(more, bucket.lowest);
        if (at >= BUCKETS)
            _exit(6);
        to->bucket[at] += bucket.count;
    }
    to->count += crest_distribution_count(more);
    to->sum += crest_distribution_sum(more);
}

static void set_to(records *to, const crest_distribution *from)
{
    memset(to, 0, sizeof *to);
    add_to(to, from);
}

static void keep_one(const crest_report *report, size_t i, const crest_series_view *now)
{
    crest_series_view then;
    (void)crest_report_previous(report, i, &then);
    crest_distribution *grown = crest_distribution_copy(now->distribution);
    int is_sizes = strcmp(now->name, "test.sizes") == 0;
    if (crest_distribution_subtract(grown, then.distribution) != CREST_OK)
        _exit(7);
    if (is_sizes && shared->reports++ == 0)
        set_to(&shared->base, then.distribution);
    if (is_sizes)
        set_to(&shared->whole, now->distribution);
    if (is_sizes && !reads_only)
        set_to(&shared->last, grown);
    if (!reads_only)
        add_to(is_sizes ? &shared->sizes : &shared->waits, grown);
    crest_distribution_free(grown);
}

static crest_status keep(crest_reporter *self, const crest_report *report, crest_error *error)
{
    (void)error;
    for (size_t i = 0; i < crest_snapshot_size(report->snapshot) && !refuses; i++) {
        crest_series_view now;
        crest_snapshot_series(report->snapshot, i, &now);
        if (strcmp(now.name, "test.sizes") != 0 && strcmp(now.name, "test.waits") != 0)
            continue;
        keep_one(report, i, &now);
        if (!self->deltas) /* delivers the distribution only */
            crest_report_delivered_counts(report, i, now.distribution);
    }
    return refuses || reads_only ? CREST_REFUSED : CREST_OK;
}

static crest_reporter reporter = {.name = "book", .report = keep, .deltas = 1};

static void start(void)
{
    crest_error error;
    crest_schedule schedule = {.interval_ms = 3600000, .jitter = -1};
    shared->reports = 0;
    if (crest_start(state_dir_options(",state.name=node"), &error) != CREST_OK ||
        crest_reporter_attach(NULL, &reporter, &schedule, &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        _exit(3);
    }
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

static void killed(void (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("a run ended with %#x", (unsigned)status);
}

static void begin(void)
{
    state_dir_empty();
    memset(shared, 0, sizeof *shared);
}

static void assert_records(const records *found, uint64_t count, uint64_t sum)
{
    assert_int_equal(found->count, count);
    assert_int_equal(found->sum, sum);
}

/* ---- tests ---- */

/* More values than a beginning has, in several blocks, and a series with one. */
static void run_first(void)
{
    start();
    for (int64_t value = 1; value <= 100000; value *= 10)
        crest_histogram_record(&sizes, value);
    crest_timer_record(waits_with("a"), 3, CREST_OUTCOME_OK);
    report();
    crest_histogram_record(&sizes, 1000000);
    crest_histogram_record(&sizes, 10);
    crest_timer_record(waits_with("a"), 4, CREST_OUTCOME_OK);
    die();
}
#define FIRST 111111u
#define REST 1000010u

static void run_reports(void)
{
    start();
    crest_histogram_record(&sizes, 7);
    report();
    die();
}

static void run_reports_waits(void)
{
    start();
    crest_timer_record(waits_with("a"), 5, CREST_OUTCOME_OK);
    report();
    die();
}

static void test_go_on(void **state)
{
    (void)state;
    begin();
    killed(run_first);
    assert_records(&shared->sizes, 6, FIRST);
    killed(run_reports);
    assert_records(&shared->base, 6, FIRST);
    assert_records(&shared->sizes, 9, FIRST + REST + 7);
    assert_records(&shared->waits, 1, 3); /* not made by that run: they wait */
    killed(run_reports_waits);
    assert_records(&shared->base, 9, FIRST + REST + 7);
    assert_records(&shared->sizes, 9, FIRST + REST + 7);
    assert_records(&shared->waits, 3, 3 + 4 + 5);
    assert_memory_equal(&shared->sizes, &shared->whole, sizeof shared->sizes);
}

/* A report that failed has delivered nothing; nor has a run without one. */
static void run_refused(void)
{
    refuses = 1;
    start();
    crest_histogram_record(&sizes, 1);
    report();
    die();
}

static void test_failures(void **state)
{
    (void)state;
    begin();
    killed(run_refused);
    killed(run_first);
    assert_records(&shared->base, 0, 0);
    assert_records(&shared->sizes, 7, FIRST + 1);
    killed(run_refused);
    killed(run_reports);
    assert_records(&shared->base, 7, FIRST + 1);
    assert_records(&shared->sizes, 11, FIRST + 1 + REST + 1 + 7);
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
    crest_histogram_record(&sizes, 2);
    die();
}

/* Kills of starts, at each step, leave the records and what was delivered of them together. */
static void test_every_step(void **state)
{
    (void)state;
    for (kill_at = 1; kill_at <= CREST_ADOPT_STEPS; kill_at++) {
        begin();
        killed(run_first);
        killed(run_dies_starting);
        killed(run_dies_starting);
        killed(run_dies);
        killed(run_reports);
        assert_records(&shared->base, 6, FIRST);
        assert_records(&shared->sizes, 10, FIRST + REST + 2 + 7);
        assert_memory_equal(&shared->sizes, &shared->whole, sizeof shared->sizes);
    }
}

/* Two runs that were killed before a third could start, both of which delivered. */
static void test_chain(void **state)
{
    (void)state;
    begin();
    killed(run_first);
    kill_at = 3;
    killed(run_dies_starting);
    killed(run_reports);
    killed(run_reports);
    assert_records(&shared->sizes, 10, FIRST + REST + 7 + 7);
    assert_memory_equal(&shared->sizes, &shared->whole, sizeof shared->sizes);
}

/* A reporter with an account of its own says so itself; what is of another range, or of a counter,
 * or told without a report, is ignored. */
static void run_tells(void)
{
    crest_distribution *other =
        crest_distribution_new(&(crest_range){.highest = 1000, .digits = 1});
    reporter.deltas = 0;
    start();
    crest_histogram_record(&sizes, 3000);
    report();
    crest_histogram_record(&sizes, 4000);
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_report one = {.snapshot = snapshot};
    crest_distribution_record(other, 5, 1000);
    for (size_t i = 0; i <= crest_snapshot_size(snapshot); i++)
        crest_report_delivered_counts(&one, i, other);
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++)
        crest_report_delivered_counts(&one, i, NULL);
    crest_report_delivered_counts(NULL, 0, other);
    die();
}

static void test_tells(void **state)
{
    (void)state;
    begin();
    killed(run_tells);
    killed(run_reports);
    assert_records(&shared->base, 1, 3000);
    assert_records(&shared->last, 2, 4000 + 7);
}

/* The next series of a slot begins at zero; and a file that had no room says that all was told. */
static void run_ends_words(void)
{
    crest_lock_saved saved;
    start();
    crest_histogram_record(&sizes, 3000);
    report();
    crest_histogram_record(&sizes, 4000);
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_lock_take(&saved);
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++)
        crest_delivered_end(snapshot->directory->series[i]->slot,
                            snapshot->directory->series[i]->metric->layout);
    crest_lock_drop(&saved);
    if (kill_at)
        crest_state_header_own()->refused_records = 1;
    die();
}

static void test_ends(void **state)
{
    (void)state;
    for (kill_at = 0; kill_at < 2; kill_at++) {
        begin();
        killed(run_ends_words);
        killed(run_reports);
        assert_records(&shared->base, kill_at ? 2 : 0, kill_at ? 7000 : 0);
    }
}

/* A damaged file may say that more was delivered than there is: it is at most what there is, bucket
 * by bucket, and with all of it delivered the sum is that of all. */
static void run_damages(void)
{
    crest_lock_saved saved;
    start();
    crest_histogram_record(&sizes, 3000);
    crest_histogram_record(&sizes, 5);
    report();
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_lock_take(&saved);
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        const crest_series *series = snapshot->directory->series[i];
        crest_shard *told = (crest_shard *)(uintptr_t)crest_delivered_counts(series->slot, 0);
        if (strcmp(series->metric->name, "test.sizes") != 0 || told == NULL)
            continue;
        uint64_t *cells = (uint64_t *)(uintptr_t)crest_shard_cells(told, series->metric->layout, 0);
        cells[5] += 1000; /* where one was */
        cells[6] += 1000; /* where none was */
        told->sum = 1;
    }
    crest_lock_drop(&saved);
    die();
}

static void test_damaged(void **state)
{
    (void)state;
    begin();
    killed(run_damages);
    killed(run_reports);
    assert_records(&shared->base, 2, 3005);
    assert_records(&shared->last, 1, 7);
}

/* Records and reports until it is killed. */
static void run_until_killed(void)
{
    start();
    for (int64_t i = 0;; i++) {
        crest_histogram_record(&sizes, i * i);
        if (i % 16 == 15)
            report();
    }
}

static void run_looks(void)
{
    reads_only = 1;
    start();
    crest_timer_record(waits_with("b"), 1, CREST_OUTCOME_OK);
    report();
    die();
}

/* What the receiver has beyond where the next run begins is of its newest report, in each bucket
 * none or all; that comes twice, and is added to `twice`. */
static void settle(records *had, records *twice)
{
    const records *base = &shared->base, *last = &shared->last;
    for (unsigned i = 0; i < BUCKETS; i++) {
        uint64_t more = had->bucket[i] - twice->bucket[i] - base->bucket[i];
        if (more != 0 && more != last->bucket[i])
            fail_msg("bucket %u: %llu, of which %llu were in the last report", i,
                     (unsigned long long)more, (unsigned long long)last->bucket[i]);
        twice->bucket[i] += more;
        twice->count += more;
    }
    uint64_t more = had->sum - twice->sum - base->sum;
    if (more != 0 && more != last->sum)
        fail_msg("%llu of the sum", (unsigned long long)more);
    twice->sum += more;
}

static void test_random_kills(void **state)
{
    (void)state;
    unsigned seed = (unsigned)time(NULL), reports = 0;
    static records twice, had;
    printf("seed %u\n", seed);
    begin();
    for (unsigned i = 0; i < KILLS; i++) {
        uint64_t count = twice.count;
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
        had = shared->sizes;
        killed(run_looks);
        settle(&had, &twice);
        reports += twice.count != count;
        shared->reports = 0;
    }
    killed(run_reports);
    printf("%u kills, %llu values, %u reports came twice, of %llu\n", KILLS,
           (unsigned long long)shared->whole.count, reports, (unsigned long long)twice.count);
    /* the book's count is not asked: a kill may come while the book is written, too */
    assert_int_equal(shared->sizes.sum, shared->whole.sum + twice.sum);
    for (unsigned i = 0; i < BUCKETS; i++)
        assert_int_equal(shared->sizes.bucket[i], shared->whole.bucket[i] + twice.bucket[i]);
}

int main(void)
{
    state_dir_skip_tsan();
    state_dir_make();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_go_on),      cmocka_unit_test(test_failures),
        cmocka_unit_test(test_every_step), cmocka_unit_test(test_chain),
        cmocka_unit_test(test_tells),      cmocka_unit_test(test_ends),
        cmocka_unit_test(test_damaged),    cmocka_unit_test(test_random_kills)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
