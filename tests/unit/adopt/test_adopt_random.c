/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random runs of a node that keeps a state file, differentially: threads resolve and record, and
 * each run ends at a random operation, killed or stopped. A reference in shared memory goes through
 * all runs; what a run resolves has to equal it, and what it does not resolve is carried on to the
 * next. Operations and the reference are under one lock, so every total is exact.
 *
 *     test_adopt_random [RUNS [SEED]]      60 by default
 * crest-test: timeout=240 sanitizers=address
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "support/random_numbers.h"
#include "support/state_dir.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define THREADS 3u
#define FAMILIES 2u
#define LABELS 6u
#define OPERATIONS 200u /* of a run, at most */
#define COMPARED_EACH 25u
#define RESOLVED_PERCENT 60u
#define STOP_MS 20000u

enum kind { COUNTER, HISTOGRAM, TIMER, KINDS };

static const char *const kind_names[KINDS] = {"r.counter", "r.size", "r.time"};

typedef struct total {
    uint64_t count, sum, least, most;
} total;

/* Of each series and outcome; only timers have a second one. Shared with the runs. */
typedef struct reference {
    total all[KINDS][FAMILIES][LABELS][2];
    uint64_t operations, compared;
} reference;

static reference *shared;
static void *handles[KINDS][FAMILIES][LABELS]; /* what this run has resolved */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t numbers, seed;
static unsigned operations_left, runs = 60;
static int is_killed;

#define WRONG(...)                                                                                 \
    do {                                                                                           \
        fprintf(stderr, "seed %llu: ", (unsigned long long)seed);                                  \
        fprintf(stderr, __VA_ARGS__);                                                              \
        _exit(1);                                                                                  \
    } while (0)

static uint64_t below(uint64_t bound)
{
    return random_next(&numbers) % bound;
}

/* ---- a run, under the lock ---- */

static void resolve(enum kind kind, unsigned family, unsigned label)
{
    static const char *const keys[] = {"peer"};
    char name[32], text[32];
    const char *values[] = {text};
    snprintf(name, sizeof name, "%s-%u", kind_names[kind], family);
    snprintf(text, sizeof text, "peer-%u", label);
    crest_metric_options options = {.name = name};
    void **handle = &handles[kind][family][label];
    if (kind == COUNTER) {
        crest_counter_family made = crest_counter_family_new(NULL, &options, keys, 1, NULL);
        *handle = crest_counter_family_get(&made, values, 1);
    } else if (kind == HISTOGRAM) {
        crest_histogram_family made = crest_histogram_family_new(NULL, &options, keys, 1, NULL);
        *handle = crest_histogram_family_get(&made, values, 1);
    } else {
        crest_timer_family made = crest_timer_family_new(NULL, &options, keys, 1, NULL);
        *handle = crest_timer_family_get(&made, values, 1);
    }
}

static void record(enum kind kind, unsigned family, unsigned label)
{
    uint64_t value = below(5) == 0 ? below(UINT64_C(1) << below(40)) : below(100000) + 1;
    unsigned outcome = kind == TIMER && value % 3 == 0;
    total *into = &shared->all[kind][family][label][outcome];
    void *handle = handles[kind][family][label];
    if (kind == COUNTER)
        crest_counter_add(handle, (int64_t)value);
    else if (kind == HISTOGRAM)
        crest_histogram_record(handle, (int64_t)value);
    else
        crest_timer_record(handle, (int64_t)value,
                           outcome ? CREST_OUTCOME_ERROR : CREST_OUTCOME_OK);
    into->least = into->count == 0 || value < into->least ? value : into->least;
    into->most = value > into->most ? value : into->most;
    into->sum += value;
    into->count++;
}

static void compare_one(const crest_snapshot *snapshot, enum kind kind, unsigned family,
                        unsigned label, unsigned outcome)
{
    char name[32], text[32];
    const char *values[] = {text, outcome ? "error" : "ok"};
    const total *wanted = &shared->all[kind][family][label][outcome];
    crest_series_view view;
    total read = {0};
    snprintf(name, sizeof name, "%s-%u", kind_names[kind], family);
    snprintf(text, sizeof text, "peer-%u", label);
    if (crest_snapshot_find(snapshot, name, values, kind == TIMER ? 2 : 1, &view) != CREST_OK) {
        if (wanted->count != 0)
            WRONG("%s of %s, outcome %u is not there\n", name, text, outcome);
        return;
    }
    if (kind == COUNTER)
        read = (total){wanted->count, view.counter, wanted->least, wanted->most};
    else
        read = (total){
            crest_distribution_count(view.distribution), crest_distribution_sum(view.distribution),
            crest_distribution_min(view.distribution), crest_distribution_max(view.distribution)};
    if (memcmp(&read, wanted, sizeof read) != 0)
        WRONG("%s of %s, outcome %u: %llu, %llu, %llu, %llu read; %llu, %llu, %llu, %llu wanted\n",
              name, text, outcome, (unsigned long long)read.count, (unsigned long long)read.sum,
              (unsigned long long)read.least, (unsigned long long)read.most,
              (unsigned long long)wanted->count, (unsigned long long)wanted->sum,
              (unsigned long long)wanted->least, (unsigned long long)wanted->most);
    shared->compared++;
}

/* Everything that this run has resolved. */
static void compare(void)
{
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    if (snapshot == NULL)
        WRONG("no snapshot\n");
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (unsigned family = 0; family < FAMILIES; family++)
            for (unsigned label = 0; label < LABELS; label++)
                for (unsigned outcome = 0; outcome < (kind == TIMER ? 2u : 1u); outcome++)
                    if (handles[kind][family][label] != NULL)
                        compare_one(snapshot, kind, family, label, outcome);
    crest_snapshot_free(snapshot);
}

/* An operation; each run leaves some series alone. Non-zero while there are more. */
static int operate(unsigned left_alone)
{
    enum kind kind = (enum kind)below(KINDS);
    unsigned family = (unsigned)below(FAMILIES), label = (unsigned)below(LABELS);
    pthread_mutex_lock(&lock);
    int more = operations_left > 0;
    if (more && (kind + family + label) % 3 != left_alone) {
        if (handles[kind][family][label] == NULL)
            resolve(kind, family, label);
        if (below(100) < RESOLVED_PERCENT)
            record(kind, family, label);
        if (operations_left % COMPARED_EACH == 0)
            compare();
        shared->operations++;
    }
    operations_left -= more;
    if (operations_left == 0 && more) {
        compare();
        if (is_killed)
            kill(getpid(), SIGKILL);
    }
    pthread_mutex_unlock(&lock);
    return more;
}

static void *work(void *left_alone)
{
    while (operate((unsigned)(uintptr_t)left_alone))
        continue;
    return NULL;
}

static void run(void)
{
    crest_error error;
    pthread_t threads[THREADS];
    if (crest_start(state_dir_options(",state.name=node,state.adopt=always"), &error) != CREST_OK)
        WRONG("%s\n", error.message);
    operations_left = 1 + (unsigned)below(OPERATIONS);
    is_killed = below(3) != 0;
    uintptr_t left_alone = below(3);
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)left_alone) != 0)
            WRONG("no thread\n");
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (crest_stop(STOP_MS, &error) != CREST_OK)
        WRONG("%s\n", error.message);
    _exit(0);
}

static void test_random_runs(void **state)
{
    (void)state;
    unsigned killed = 0;
    for (unsigned i = 0; i < runs; i++) {
        fflush(NULL);
        (void)random_next(&numbers); /* the child has a copy: another one for each */
        pid_t child = fork();
        if (child == 0)
            run();
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        if (WIFEXITED(status) ? WEXITSTATUS(status) != 0 : WTERMSIG(status) != SIGKILL)
            fail_msg("run %u ended with status %d; seed %llu", i, status, (unsigned long long)seed);
    }
    printf("%u runs, %u of them killed; %llu operations, %llu totals compared\n", runs, killed,
           (unsigned long long)shared->operations, (unsigned long long)shared->compared);
    assert_true(shared->compared > runs);
}

int main(int count, char **arguments)
{
    seed = (uint64_t)time(NULL);
    if (count > 1)
        runs = (unsigned)strtoul(arguments[1], NULL, 10);
    if (count > 2)
        seed = strtoull(arguments[2], NULL, 10);
    numbers = seed;
    state_dir_skip_tsan();
    state_dir_make();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
