/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking for collectors: groups and what is no group, one set a registry, starting again, by
 * options of crest_start, what is told to the log, and what they cost.
 */
#define _GNU_SOURCE
#include "support/system_fixture.h"

#include <fcntl.h>
#include <sys/wait.h>

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in: %s", part, text);
}

static void test_bad_options(void **state)
{
    (void)state;
    char long_path[CREST_SYSTEM_PATH_BYTES_MAX + 2];
    char long_globs[CREST_SYSTEM_GLOBS_BYTES_MAX + 2];
    memset(long_path, '/', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    memset(long_globs, '*', sizeof long_globs - 1);
    long_globs[sizeof long_globs - 1] = '\0';
    const struct {
        crest_system_options options;
        const char *said;
    } cases[] = {
        {{.groups = "cpus"}, "\"cpus\""},
        {{.groups = "process mallok"},
         "\"mallok\"; there are on (all), or some of: process malloc"},
        {{.groups = "on process"}, "\"on\""},
        {{.groups = "process:on"}, "\"on\""},
        {{.groups = "procces"}, "\"procces\""},
        {{.groups = ""}, "no collectors are named"},
        {{.groups = " : "}, "no collectors are named"},
        {{.proc = "proc"}, "absolute path"},
        {{.sys = ""}, "absolute path"},
        {{.proc = long_path}, "longer than 400 bytes"},
        {{.mounts_exclude = long_globs}, "longer than 4000 bytes"},
        {{.interfaces_exclude = long_globs}, "longer than 4000 bytes"},
        {{.devices_exclude = long_globs}, "longer than 4000 bytes"},
        {{.interval_ms = 9}, "not between 10 ms and 86400 s"},
        {{.slow_interval_ms = 86400001}, "not between 10 ms and 86400 s"},
    };
    crest_registry *registry = fixture_registry(NULL);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_error error;
        crest_system_options options = cases[i].options;
        options.registry = registry;
        assert_null(crest_system_start(&options, &error));
        assert_int_equal(error.status, CREST_INVALID_OPTIONS);
        assert_has(error.message, cases[i].said);
        assert_null(crest_system_start(&options, NULL));
        assert_int_equal(crest_system_check(&options, &error), CREST_INVALID_OPTIONS);
    }
    assert_int_equal(crest_system_check(NULL, NULL), CREST_OK);
    crest_registry_free(registry);
}

/* Collectors that run. */
static size_t system_count(const crest_system *system)
{
    return crest_system_list(system, NULL, 0);
}

static void test_groups(void **state)
{
    (void)state;
    crest_system_state states[CREST_SYSTEM_COLLECTORS_MAX];
    system_tree tree;
    system_under_test test;
    system_tree_make(&tree);
    system_test_start(&test, &tree, " malloc ");
    assert_int_equal(crest_system_list(test.system, states, LENGTH(states)), 1);
    assert_string_equal(states[0].name, "malloc");
    assert_string_equal(states[0].group, "malloc");
    system_test_stop(&test);
    system_test_start(&test, &tree, "process:malloc\tprocess");
    size_t count = crest_system_list(test.system, states, LENGTH(states));
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(states[i].group, i < 3 ? "process" : "malloc");
    memset(states, 0, sizeof states);
    assert_int_equal(crest_system_list(test.system, states, 2), count);
    assert_non_null(states[1].name);
    assert_null(states[2].name);
    system_test_stop(&test);
    system_test_start(&test, &tree, "on");
    count = system_count(test.system);
    assert_true(count >= 4);
    system_test_stop(&test);
    system_test_start(&test, &tree, NULL);
    assert_int_equal(system_count(test.system), count);
    system_test_stop(&test);
    assert_int_equal(system_count(test.system), 0);
    assert_int_equal(system_count(NULL), 0);
    system_tree_remove(&tree);
}

static void test_one_a_registry(void **state)
{
    (void)state;
    system_under_test test, other;
    crest_error error;
    system_test_start(&test, NULL, "malloc");
    assert_null(crest_system_start(&test.options, &error));
    assert_int_equal(error.status, CREST_ALREADY);
    assert_has(error.message, "running");
    system_test_start(&other, NULL, "malloc"); /* another registry may */
    system_test_stop(&other);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(crest_system_stop(test.system), CREST_OK);
        assert_int_equal(crest_system_stop(test.system), CREST_NOT_FOUND);
        system_test_again(&test);
#if !defined(__SANITIZE_ADDRESS__)
        assert_true(system_has(&test, "malloc.used-memory", NULL));
#endif
    }
    assert_int_equal(crest_system_stop(NULL), CREST_OK);
    /* a registry that is freed first takes its polls with it, and stopping is still right */
    crest_registry_free(test.registry);
    assert_int_equal(crest_system_stop(test.system), CREST_OK);
}

/* ---- by options ---- */

static void test_by_options(void **state)
{
    (void)state;
    static const struct {
        const char *options, *said;
    } bad[] = {
        {"system=cpus", "system=cpus in the string given to crest_start: there are no collectors "
                        "\"cpus\""},
        {"system=", "no collectors are named"},
        {"system=on,system.interval=1ms", "system.interval=1ms"},
        {"system=on,system.slow-interval=x", "system.slow-interval"},
        {"system=on,system.proc=here", "absolute path"},
        {"system=off,system.proc=here", "absolute path"},
        {"system.mounts=x", "system.mounts"},
    };
    crest_error error;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_int_equal(crest_start(bad[i].options, &error), CREST_INVALID_OPTIONS);
        assert_has(error.message, bad[i].said);
        assert_int_equal(crest_stop(0, NULL), CREST_NOT_RUNNING);
    }
    system_tree tree;
    char options[400];
    system_tree_make(&tree);
    system_tree_write(&tree, "proc/self/io", "rchar: 77\n");
    for (unsigned i = 0; i < 3; i++) {
        snprintf(options, sizeof options, "windows=off,system=process:malloc,system.proc=%s/",
                 tree.proc);
        assert_int_equal(crest_start(options, &error), CREST_OK);
        assert_int_equal(FIXTURE_READING(NULL, "process.io-data", "direction", "read").counter, 77);
        assert_null(crest_system_start(NULL, &error));
        assert_int_equal(error.status, CREST_ALREADY);
        assert_int_equal(crest_stop(0, &error), CREST_OK);
        crest_snapshot *snapshot = fixture_snapshot(NULL);
        const char *read = "read";
        crest_series_view view;
        assert_int_equal(crest_snapshot_find(snapshot, "process.io-data", &read, 1, &view),
                         CREST_NOT_FOUND);
        crest_snapshot_free(snapshot);
    }
    /* a start that fails later leaves none behind */
    snprintf(options, sizeof options, "system=on,pushgateway=nonsense://x");
    assert_int_not_equal(crest_start(options, &error), CREST_OK);
    crest_system_options own = {.groups = "malloc"};
    crest_system *system = crest_system_start(&own, &error);
    assert_non_null(system);
    /* the program's own stay, whatever the options say */
    assert_int_equal(crest_start("windows=off,system=on", &error), CREST_OK);
    assert_int_equal(crest_stop(0, &error), CREST_OK);
    assert_int_equal(system_count(system), 1);
    assert_int_equal(crest_system_stop(system), CREST_OK);
    assert_int_equal(crest_start("windows=off,system=off", &error), CREST_OK);
    assert_null(crest_system_start(&(crest_system_options){.groups = "x"}, NULL));
    assert_int_equal(crest_stop(0, &error), CREST_OK);
    system_tree_remove(&tree);
}

/* ---- what is told ---- */

static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;
static char told_messages[4096];
static unsigned told_count;

static void system_told(crest_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    if (strstr(message, "the collector ") == NULL)
        return;
    pthread_mutex_lock(&told_lock);
    told_count++;
    size_t used = strlen(told_messages);
    snprintf(told_messages + used, sizeof told_messages - used, "%s\n", message);
    pthread_mutex_unlock(&told_lock);
}

static void test_told_once(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    system_tree_make(&tree);
    system_tree_write(&tree, "proc/self/io", "rchar: abc\n");
    system_tree_folder(&tree, "proc/self/limits");
    system_test_start(&test, &tree, "process");
    crest_snapshot_free(system_look(&test)); /* nobody listens yet */
    crest_log_to(system_told, NULL);
    for (unsigned i = 0; i < 10; i++)
        crest_snapshot_free(system_look(&test));
    crest_log_to(NULL, NULL);
    char path[500];
    snprintf(path, sizeof path, "the collector process: %s/self/stat: No such file", tree.proc);
    assert_has(told_messages, path);
    assert_has(told_messages, "self/limits: Is a directory");
    assert_has(told_messages, "/proc/self/io: not what was expected there: \"rchar: abc\"");
    assert_has(told_messages,
               "crest_collect_failures_total{collector=\"process\",cause=\"garbage\"}");
    /* process: missing, unreadable, garbage; of threads and memory: missing */
    assert_int_equal(told_count, 5);
    crest_system_state states[CREST_SYSTEM_COLLECTORS_MAX];
    crest_system_list(test.system, states, LENGTH(states));
    assert_true(states[0].failures >= 10);
    assert_string_not_equal(states[0].why, "");
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* ---- what they cost ---- */

/* Processor time that a collector has taken. */
static uint64_t system_cost_ns(const crest_snapshot *snapshot, const char *collector)
{
    return fixture_series(snapshot, "crest.collect-cpu", collector).counter;
}

/* Processor time of one collection of everything: the best of many, since a machine that is busy
 * makes each dearer. Figures of one machine are in docs/performance.md. */
static void test_cost(void **state)
{
    (void)state;
    system_under_test test;
    crest_system_state before[CREST_SYSTEM_COLLECTORS_MAX], after[CREST_SYSTEM_COLLECTORS_MAX];
    double least_us = INFINITY;
    system_test_start(&test, NULL, "on");
    crest_snapshot *last = system_look(&test);
    size_t count = crest_system_list(test.system, before, LENGTH(before));
    for (unsigned i = 0; i < 20; i++) {
        crest_snapshot *next = system_look(&test);
        double cost_us = 0;
        crest_system_list(test.system, after, LENGTH(after));
        for (size_t j = 0; j < count; j++)
            cost_us += (double)(system_cost_ns(next, after[j].name) -
                                system_cost_ns(last, after[j].name)) /
                       (double)(after[j].collections - before[j].collections) / 1000;
        least_us = cost_us < least_us ? cost_us : least_us;
        memcpy(before, after, sizeof before);
        crest_snapshot_free(last);
        last = next;
    }
    crest_snapshot_free(last);
    printf("    all %zu collectors once: %.0f us of processor time\n", count, least_us);
    assert_true(least_us > 0);
    assert_true(least_us < (FIXTURE_SANITIZED ? 200000 : 5000));
    system_test_stop(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_options),    cmocka_unit_test(test_groups),
        cmocka_unit_test(test_one_a_registry), cmocka_unit_test(test_by_options),
        cmocka_unit_test(test_told_once),      cmocka_unit_test(test_cost),
    };
    fixture_watchdog(300);
    return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}
