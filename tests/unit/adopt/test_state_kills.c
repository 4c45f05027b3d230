/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kills at random microseconds under four writers. Each run is a child that goes on from the runs
 * before it. A writer acknowledges each record after it, in shared memory of the test's own; a kill
 * may fall between the two, or into a record. So of each writer at most one record more is in the
 * file than it has acknowledged, and which one is known: its next. Every fourth kill may fall into
 * a start, and so into an adoption.
 *
 *     test_state_kills [KILLS [SEED]]      40 by default
 *
 * Held against that, after each kill: the counter; count, sum, least and greatest value of a
 * histogram; and what the next run finds is, to the unit, what the dead file was read as.
 * crest-test: timeout=240 sanitizers=address
 */
#define _GNU_SOURCE
#include "state/state_file.h"
#include "support/core_fixture.h"
#include "support/state_dir.h"

#include <crest/state.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define WRITERS 4u
#define MIDDLE UINT64_C(4000000000)
#define RUN_US 20000u  /* that a run lives, at most, after its start */
#define EARLY_US 4000u /* likewise after its fork, where the kill may fall into the start */

/* What can be read of a process, or of its file. */
typedef struct totals {
    uint64_t counter, count, sum, least, most;
} totals;

/* Shared with the children; a writer's words are on a line of their own. */
typedef struct told {
    struct {
        _Alignas(64) uint64_t counted; /* acknowledged by this run */
        uint64_t valued;
    } writer[WRITERS];
    totals found; /* by the run at its start */
    uint32_t started;
} told;

/* What the next reading may be. Without records `least` is UINT64_MAX, and `most` 0. */
typedef struct expected {
    totals low, high;
} expected;

static told *shared;
static expected expect;
static uint64_t valued_before[WRITERS]; /* acknowledged by earlier runs */
static uint64_t counter_records, histogram_records;
static unsigned kills = 40, into_starts;
static unsigned seed;

/* A writer's record number `index`, from 0, over all runs: farther and farther from the middle, so
 * that each record is a new least or a new greatest value. */
static uint64_t value_of(uint64_t index)
{
    return index % 2 ? MIDDLE + index : MIDDLE - index;
}

/* ---- the run that is killed ---- */

typedef struct writer {
    unsigned number;
    crest_counter *counter;
    crest_histogram *histogram;
} writer;

static void *write_records(void *argument)
{
    const writer *me = argument;
    uint64_t from = valued_before[me->number];
    for (uint64_t i = 0;; i++) {
        crest_counter_inc(me->counter);
        __atomic_store_n(&shared->writer[me->number].counted, i + 1, __ATOMIC_RELEASE);
        crest_histogram_record(me->histogram, (int64_t)value_of(from + i));
        __atomic_store_n(&shared->writer[me->number].valued, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void note_view(totals *into, const crest_series_view *view)
{
    if (strcmp(view->name, "test.records") == 0)
        into->counter = view->counter;
    if (strcmp(view->name, "test.values") != 0)
        return;
    into->count = crest_distribution_count(view->distribution);
    into->sum = crest_distribution_sum(view->distribution);
    into->least = into->count ? crest_distribution_min(view->distribution) : UINT64_MAX;
    into->most = crest_distribution_max(view->distribution);
}

static void run(void)
{
    static writer writers[WRITERS];
    crest_error error;
    crest_metric_options records = {.name = "test.records"}, values = {.name = "test.values"};
    if (crest_start(state_dir_options(",state.name=node"), &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        _exit(3);
    }
    crest_counter *counter = crest_counter_get(NULL, &records, NULL);
    crest_histogram *histogram = crest_histogram_get(NULL, &values, NULL);
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    shared->found = (totals){.least = UINT64_MAX};
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view view;
        crest_snapshot_series(snapshot, i, &view);
        note_view(&shared->found, &view);
    }
    crest_snapshot_free(snapshot);
    __atomic_store_n(&shared->started, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < WRITERS; i++) {
        pthread_t thread;
        writers[i] = (writer){i, counter, histogram};
        if (pthread_create(&thread, NULL, write_records, &writers[i]) != 0)
            _exit(4);
    }
    pause();
}

/* Whether it had started. */
static int kill_one(int early)
{
    fflush(NULL);
    memset(shared, 0, sizeof *shared);
    pid_t child = fork();
    if (child == 0) {
        run();
        _exit(5);
    }
    int status = 0;
    while (!early && !__atomic_load_n(&shared->started, __ATOMIC_ACQUIRE) &&
           waitpid(child, &status, WNOHANG) == 0)
        usleep(100);
    usleep((unsigned)rand_r(&seed) % (early ? EARLY_US : RUN_US));
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return shared->started != 0;
}

/* ---- what may be read then ---- */

static void hold(const char *what, uint64_t low, uint64_t read, uint64_t high)
{
    if (read < low || read > high)
        fail_msg("%s: %llu read, acknowledged are %llu to %llu; seed %u", what,
                 (unsigned long long)read, (unsigned long long)low, (unsigned long long)high, seed);
}

static void hold_totals(const totals *read)
{
    hold("counter", expect.low.counter, read->counter, expect.high.counter);
    hold("count", expect.low.count, read->count, expect.high.count);
    hold("sum", expect.low.sum, read->sum, expect.high.sum);
    hold("least", expect.low.least, read->least, expect.high.least);
    hold("most", expect.low.most, read->most, expect.high.most);
}

static void widen(uint64_t *least, uint64_t *most, uint64_t value)
{
    *least = value < *least ? value : *least;
    *most = value > *most ? value : *most;
}

/* Adds what the killed run acknowledged, and each writer's next record as one that may be there. */
static void acknowledge(void)
{
    for (unsigned i = 0; i < WRITERS; i++) {
        uint64_t from = valued_before[i], to = from + shared->writer[i].valued, sum = 0;
        for (uint64_t index = from; index < to; index++)
            sum += value_of(index);
        expect.low.counter += shared->writer[i].counted;
        expect.high.counter += shared->writer[i].counted + 1;
        expect.low.count += to - from;
        expect.high.count += to - from + 1;
        expect.low.sum += sum;
        expect.high.sum += sum + value_of(to);
        for (uint64_t index = to - from > 2 ? to - 2 : from; index < to; index++) {
            widen(&expect.low.least, &expect.high.most, value_of(index));
            widen(&expect.high.least, &expect.low.most, value_of(index));
        }
        widen(&expect.low.least, &expect.high.most, value_of(to));
        counter_records += shared->writer[i].counted;
        histogram_records += to - from;
        valued_before[i] = to;
    }
}

static totals read_file(void)
{
    crest_error error;
    crest_remains *remains;
    crest_series_view view;
    totals read = {.least = UINT64_MAX};
    if (crest_remains_read(state_dir_path("node.crest"), &remains, &error) != CREST_OK)
        fail_msg("%s; seed %u", error.message, seed);
    for (size_t i = 0; crest_remains_series(remains, i, &view) == CREST_OK; i++)
        note_view(&read, &view);
    crest_remains_free(remains);
    return read;
}

/* From an exact reading on only what the next run records is open. */
static void settle(const totals *read)
{
    expect.low = expect.high = *read;
}

static void test_kills(void **state)
{
    (void)state;
    printf("seed %u\n", seed);
    settle(&(totals){.least = UINT64_MAX});
    for (unsigned i = 0; i < kills; i++) {
        int early = i % 4 == 3;
        if (!kill_one(early)) {
            into_starts++;
            continue; /* nothing was recorded, and which file has the totals is open */
        }
        hold_totals(&shared->found);
        settle(&shared->found);
        acknowledge();
        totals read = read_file();
        hold_totals(&read);
        settle(&read);
    }
    printf("%u kills, %u of them into a start; %llu and %llu records\n", kills, into_starts,
           (unsigned long long)counter_records, (unsigned long long)histogram_records);
    assert_true(counter_records > kills && histogram_records > kills);
}

int main(int count, char **arguments)
{
    seed = (unsigned)time(NULL);
    if (count > 1)
        kills = (unsigned)strtoul(arguments[1], NULL, 10);
    if (count > 2)
        seed = (unsigned)strtoul(arguments[2], NULL, 10);
    state_dir_skip_tsan();
    state_dir_make();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kills)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
