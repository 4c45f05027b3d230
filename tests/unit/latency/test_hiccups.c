/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hiccup meter: the arithmetic of back-filling, exactly; starting and stopping it by hand and
 * by an option; and a process that is stopped for a while.
 */
#define _GNU_SOURCE
#include "support/core_fixture.h"
#include "latency/local/hiccup_fill.h"
#include "base/misuse.h"

#include <crest/crest.h>
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define MS UINT64_C(1000000)

/* ---- back-filling ---- */

static void test_fill(void **state)
{
    (void)state;
    static const struct {
        uint64_t excess_ns, resolution_ns;
        uint64_t values[6]; /* up to the first 0 after the first */
    } cases[] = {
        {0, MS, {0}},
        {1, MS, {1}},
        {MS - 1, MS, {MS - 1}},
        {MS, MS, {MS}},
        {2 * MS - 1, MS, {2 * MS - 1}},
        {2 * MS, MS, {2 * MS, MS}},
        {5 * MS + 7, MS, {5 * MS + 7, 4 * MS + 7, 3 * MS + 7, 2 * MS + 7, MS + 7}},
        {350000, 100000, {350000, 250000, 150000}},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_hiccup_fill fill =
            crest_hiccup_fill_begin(cases[i].excess_ns, cases[i].resolution_ns);
        uint64_t value_ns, times, seen = 0;
        while (crest_hiccup_fill_next(&fill, &value_ns, &times)) {
            assert_int_equal(times, 1);
            assert_int_equal(value_ns, cases[i].values[seen++]);
        }
        assert_true(seen >= 1 && cases[i].values[seen] == 0);
        assert_int_equal(crest_hiccup_fill_next(&fill, &value_ns, &times), 0);
    }
}

/* Count, sum and maximum of any hiccup, however it is cut into steps. */
static void test_fill_totals(void **state)
{
    (void)state;
    static const uint64_t lengths_ns[] = {
        50 * MS,    300 * MS + 12345, 10001 * MS,   10002 * MS + 1, 20003 * MS,
        60000 * MS, 3600000 * MS,     3600001 * MS, UINT64_MAX,
    };
    static const uint64_t resolutions_ns[] = {100000, 250000, MS, 7 * MS, 1000 * MS};
    for (size_t i = 0; i < LENGTH(lengths_ns) * LENGTH(resolutions_ns); i++) {
        uint64_t length_ns = lengths_ns[i / LENGTH(resolutions_ns)];
        uint64_t step_ns = resolutions_ns[i % LENGTH(resolutions_ns)];
        crest_hiccup_fill fill = crest_hiccup_fill_begin(length_ns, step_ns);
        if (length_ns > CREST_HICCUPS_LONGEST_NS)
            length_ns = CREST_HICCUPS_LONGEST_NS;
        uint64_t n = length_ns >= step_ns ? length_ns / step_ns : 1;
        uint64_t value_ns, times, steps = 0, count = 0, sum = 0, highest = 0, last = UINT64_MAX;
        for (; crest_hiccup_fill_next(&fill, &value_ns, &times); last = value_ns) {
            assert_true(value_ns < last);
            highest = value_ns > highest ? value_ns : highest;
            count += times;
            sum += value_ns * times;
            steps++;
        }
        assert_int_equal(highest, length_ns);
        assert_int_equal(count, n);
        assert_int_equal(sum, n * length_ns - step_ns * (n * (n - 1) / 2));
        assert_true(steps <= CREST_HICCUPS_STEPS_MAX + 1);
        assert_true(n > CREST_HICCUPS_STEPS_MAX + 1 || steps == n);
    }
}

/* ---- starting and stopping ---- */

static unsigned hiccup_threads(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        if (fgets(name, sizeof name, file) != NULL)
            count += strcmp(name, "crest-hiccups\n") == 0;
        fclose(file);
    }
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

/* A new one has yet to take its name. */
static unsigned hiccup_threads_are(unsigned expected)
{
    for (unsigned tries = 0; tries < 2000 && hiccup_threads() != expected; tries++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return hiccup_threads();
}

static uint64_t hiccups_counted(crest_registry *registry)
{
    return FIXTURE_READING(registry, "process.hiccups", "outcome", "ok").count;
}

/* Until so many were recorded. */
static void hiccups_wait(crest_registry *registry, uint64_t count)
{
    for (unsigned tries = 0; hiccups_counted(registry) < count; tries++) {
        assert_true(tries < 20000);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

static void test_start_stop(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_hiccups_options options = {.registry = registry, .resolution_us = 200};
    crest_error error;
    assert_int_equal(crest_hiccups_stop(), CREST_NOT_RUNNING);
    for (unsigned round = 0; round < 3; round++) {
        uint64_t before = round > 0 ? hiccups_counted(registry) : 0;
        assert_int_equal(crest_hiccups_start(&options, &error), CREST_OK);
        assert_int_equal(crest_hiccups_start(NULL, &error), CREST_ALREADY);
        hiccups_wait(registry, before + 10);
        assert_int_equal(hiccup_threads(), 1);
        assert_int_equal(crest_hiccups_stop(), CREST_OK);
        assert_int_equal(crest_hiccups_stop(), CREST_NOT_RUNNING);
        uint64_t after = hiccups_counted(registry);
        nanosleep(&(struct timespec){0, 3000000}, NULL);
        assert_int_equal(hiccups_counted(registry), after);
    }
    /* the first is the least so far: what waking costs without a hiccup is none */
    assert_int_equal(FIXTURE_READING(registry, "process.hiccups", "outcome", "ok").minimum, 0);
    crest_registry_free(registry);
}

/* It is woken for the stop, whatever the resolution; and bad ones are refused. */
static void test_resolutions(void **state)
{
    (void)state;
    crest_registry *registry = fixture_registry(NULL);
    crest_error error;
    crest_hiccups_options options = {.registry = registry, .resolution_us = 1000000};
    uint64_t start_ns = crest_now();
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(crest_hiccups_start(&options, &error), CREST_OK);
        assert_int_equal(crest_hiccups_stop(), CREST_OK);
    }
    assert_true(crest_now() - start_ns < 15000 * MS);
    static const uint32_t bad[] = {1, 99, 1000001, UINT32_MAX};
    uint64_t misuse = crest_misuse_value(CREST_MISUSE_PROBE);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        options.resolution_us = bad[i];
        assert_int_equal(crest_hiccups_start(&options, &error), CREST_INVALID_ARGUMENT);
        assert_non_null(strstr(error.message, "between 100 µs and 1000000 µs"));
    }
    assert_int_equal(crest_misuse_value(CREST_MISUSE_PROBE), misuse + LENGTH(bad));
    crest_registry *other = fixture_registry(NULL);
    fixture_counter(other, "process.hiccups");
    options = (crest_hiccups_options){.registry = other};
    assert_int_equal(crest_hiccups_start(&options, &error), CREST_TYPE_CLASH);
    assert_non_null(strstr(error.message, "process.hiccups"));
    crest_registry_free(other);
    crest_registry_free(registry);
}

static void test_option(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        crest_status status;
        unsigned threads;
    } cases[] = {
        {"hiccups=on", CREST_OK, 1},
        {"hiccups=off", CREST_OK, 0},
        {"hiccups=on,hiccups.resolution=100us", CREST_OK, 1},
        {"hiccups=on,hiccups.resolution=1s", CREST_OK, 1},
        {"hiccups=on,hiccups.resolution=5ms", CREST_OK, 1},
        {"hiccups.resolution=5ms", CREST_OK, 0},
        {"", CREST_OK, 0},
        {"hiccups=on,hiccups.resolution=99us", CREST_INVALID_OPTIONS, 0},
        {"hiccups=on,hiccups.resolution=2s", CREST_INVALID_OPTIONS, 0},
        {"hiccups=on,hiccups.resolution=0", CREST_INVALID_OPTIONS, 0},
        {"hiccups=on,hiccups.resolution=0.1ms", CREST_INVALID_OPTIONS, 0},
        {"hiccups=on,hiccups.resolution=us", CREST_INVALID_OPTIONS, 0},
        {"hiccups=perhaps", CREST_INVALID_OPTIONS, 0},
    };
    crest_error error;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char options[128];
        snprintf(options, sizeof options, "windows=off,%s", cases[i].options);
        assert_int_equal(crest_start(options, &error), cases[i].status);
        assert_int_equal(hiccup_threads_are(cases[i].threads), cases[i].threads);
        if (cases[i].status != CREST_OK)
            assert_non_null(strstr(error.message, "hiccups"));
        else
            assert_int_equal(crest_stop(0, &error), CREST_OK);
        assert_int_equal(crest_hiccups_stop(), CREST_NOT_RUNNING);
    }
    /* one that the host started itself stays its own */
    assert_int_equal(crest_hiccups_start(NULL, &error), CREST_OK);
    assert_int_equal(crest_start("windows=off,hiccups=on", &error), CREST_OK);
    assert_int_equal(crest_stop(0, &error), CREST_OK);
    assert_int_equal(crest_hiccups_stop(), CREST_OK);
}

/* ---- a process that is stopped ---- */

/* What is recorded of 100 ms and more. */
static uint64_t hiccups_long(crest_registry *registry)
{
    crest_snapshot *snapshot = fixture_snapshot(registry);
    crest_series_view view = fixture_series(snapshot, "process.hiccups", "ok");
    uint64_t count = 0;
    crest_bucket bucket;
    for (size_t cursor = 0; crest_distribution_next(view.distribution, &cursor, &bucket);)
        if (bucket.lowest >= 100 * MS)
            count += bucket.count;
    crest_snapshot_free(snapshot);
    return count;
}

/* How long it is stopped: longer than is asked for by what a busy machine may make of the least
 * lateness, which is no hiccup. */
#define STOPPED_NS (400 * MS)
#define STOPPED_LEAST_NS (299 * MS)

/* In a child, so that nothing of the test runner is stopped: 0, or the number of what is wrong. */
static int stopped_child(int from, int to)
{
    crest_registry *registry = crest_registry_new(NULL);
    crest_hiccups_options options = {.registry = registry};
    char byte = 'r';
    if (crest_hiccups_stop() != CREST_NOT_RUNNING)
        return 1; /* the parent's is not the child's */
    uint64_t start_ns = crest_now();
    if (crest_hiccups_start(&options, NULL) != CREST_OK)
        return 2;
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    hiccups_wait(registry, 10);
    uint64_t before = hiccups_counted(registry);
    if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
        return 3;
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    hiccups_wait(registry, before + STOPPED_LEAST_NS / MS);
    crest_hiccups_stop();
    uint64_t elapsed_ns = crest_now() - start_ns;
    crest_testing_reading all;
    if (crest_testing_read(registry, NULL, &all, NULL, "process.hiccups", "outcome", "ok", NULL) !=
        CREST_OK)
        return 4;
    uint64_t n = all.maximum / MS, least = n * all.maximum - MS * (n * (n - 1) / 2);
    fprintf(stderr, "longest %.1f ms, %llu records in %.1f ms, sum %.1f ms of at least %.1f\n",
            (double)all.maximum / 1e6, (unsigned long long)all.count, (double)elapsed_ns / 1e6,
            (double)all.sum / 1e6, (double)least / 1e6);
    if (all.maximum < STOPPED_LEAST_NS)
        return 5;
    /* of one hiccup there are as many as the arithmetic says; of several, more */
    uint64_t is_long = hiccups_long(registry);
    if (is_long + 3 < (all.maximum - 100 * MS) / MS)
        return 6;
    if (all.sum < least)
        return 7;
    /* back-filled, each millisecond is recorded at most once */
    if (all.count > elapsed_ns / MS + 1 || all.count < n)
        return 8;
    return 0;
}

static void test_stopped(void **state)
{
    (void)state;
    int to_child[2], to_parent[2], status;
    char byte;
    crest_error error;
    fixture_skip_child_with_threads();
    assert_int_equal(crest_hiccups_start(NULL, &error), CREST_OK);
    assert_int_equal(pipe(to_child) | pipe(to_parent), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(stopped_child(to_child[0], to_parent[1]));
    assert_int_equal(read(to_parent[0], &byte, 1), 1);
    assert_int_equal(kill(child, SIGSTOP), 0);
    /* each of its threads stops when it comes to run next */
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    nanosleep(&(struct timespec){0, STOPPED_NS}, NULL);
    assert_int_equal(kill(child, SIGCONT), 0);
    assert_int_equal(write(to_child[1], "g", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    for (unsigned i = 0; i < 2; i++) {
        close(to_child[i]);
        close(to_parent[i]);
    }
    assert_int_equal(crest_hiccups_stop(), CREST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill),       cmocka_unit_test(test_fill_totals),
        cmocka_unit_test(test_start_stop), cmocka_unit_test(test_resolutions),
        cmocka_unit_test(test_option),     cmocka_unit_test(test_stopped),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("hiccups", tests, NULL, NULL);
}
