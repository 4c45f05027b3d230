/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kills at random moments under four writers. The writers acknowledge each record in shared memory
 * of the test's own, after it; a kill may fall between the two. So of each writer at most one
 * record more is in the file than it has acknowledged: for a counter, and for a histogram's count
 * and sum together. Each run is a child, and goes on from the runs before it.
 *
 *     test_state_kills [KILLS]      40 by default
 */
#define _GNU_SOURCE
#include "state/state_file.h"
#include "support/core_fixture.h"
#include "support/state_dir.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define WRITERS 4
#define VALUE 1000

CREST_COUNTER(records, "test.records", "Records.");
CREST_HISTOGRAM(values, "test.values", "Values.");

/* Shared with the children. */
typedef struct acknowledged {
    uint64_t counted[WRITERS];
    uint64_t valued[WRITERS];
    uint64_t found; /* what the newest run found at its start; and all that */
    uint64_t found_count, found_sum, found_min, found_max;
    uint32_t started;
} acknowledged;

static acknowledged *shared;
static unsigned kills = 40;

static void *write_records(void *argument)
{
    unsigned me = (unsigned)(uintptr_t)argument;
    for (;;) {
        crest_counter_inc(&records);
        __atomic_fetch_add(&shared->counted[me], 1, __ATOMIC_RELEASE);
        crest_histogram_record(&values, VALUE);
        __atomic_fetch_add(&shared->valued[me], 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Notes what goes on from the runs before. */
static void find(void)
{
    shared->found = crest_counter_value(&records);
    crest_histogram_record(&values, VALUE); /* so that there is the series */
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    for (size_t i = 0; i < crest_snapshot_size(snapshot); i++) {
        crest_series_view view;
        crest_snapshot_series(snapshot, i, &view);
        if (strcmp(view.name, "test.values") != 0)
            continue;
        shared->found_count = crest_distribution_count(view.distribution) - 1;
        shared->found_sum = crest_distribution_sum(view.distribution) - VALUE;
        shared->found_min = crest_distribution_min(view.distribution);
        shared->found_max = crest_distribution_max(view.distribution);
    }
    crest_snapshot_free(snapshot);
    shared->valued[0]++;
}

static void run(void)
{
    crest_error error;
    if (crest_start(state_dir_options(",state.name=node"), &error) != CREST_OK) {
        fprintf(stderr, "%s\n", error.message);
        _exit(3);
    }
    find();
    for (unsigned i = 0; i < WRITERS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, write_records, (void *)(uintptr_t)i) != 0)
            _exit(4);
    }
    __atomic_store_n(&shared->started, 1, __ATOMIC_RELEASE);
    pause();
}

static uint64_t all_of(const uint64_t *each)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < WRITERS; i++)
        all += each[i];
    return all;
}

static void kill_one(unsigned *seed)
{
    fflush(NULL);
    shared->started = 0;
    pid_t child = fork();
    if (child == 0) {
        run();
        _exit(5);
    }
    int status = 0;
    while (!__atomic_load_n(&shared->started, __ATOMIC_ACQUIRE) &&
           waitpid(child, &status, WNOHANG) == 0)
        usleep(100);
    usleep((unsigned)rand_r(seed) % 20000);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_kills(void **state)
{
    (void)state;
    unsigned seed = (unsigned)time(NULL);
    printf("seed %u\n", seed);
    for (unsigned i = 0; i < kills; i++) {
        uint64_t counted = all_of(shared->counted), valued = all_of(shared->valued);
        kill_one(&seed);
        /* a record more a writer for each kill before this run */
        uint64_t more = (uint64_t)WRITERS * i;
        assert_true(shared->found >= counted && shared->found <= counted + more);
        assert_true(shared->found_count >= valued && shared->found_count <= valued + more);
        /* a sum may lack the record whose count was written */
        assert_true(shared->found_sum >= valued * VALUE &&
                    shared->found_sum <= shared->found_count * VALUE);
        assert_true(shared->found_min == VALUE && shared->found_max == VALUE);
    }
    printf("%u kills, %llu and %llu records\n", kills, (unsigned long long)all_of(shared->counted),
           (unsigned long long)all_of(shared->valued));
}

int main(int count, char **arguments)
{
    if (count > 1)
        kills = (unsigned)strtoul(arguments[1], NULL, 10);
    state_dir_skip_tsan();
    state_dir_make();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kills)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
