/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of collectors share: a tree of files that stands for /proc and /sys, collectors
 * that read it into a registry of their own, and what a snapshot then has. It tests nothing itself.
 *
 *     system_tree tree;
 *     system_tree_make(&tree);
 *     system_tree_write(&tree, "proc/loadavg", "0.50 0.25 0.10 1/100 4242\n");
 *     system_under_test test;
 *     system_test_start(&test, &tree, "load");
 *     assert_true(system_gauge(&test, "host.load.average", "1m") == 0.5);
 *     system_test_stop(&test);
 *     system_tree_remove(&tree);
 */
#ifndef CREST_TESTS_SYSTEM_FIXTURE_H
#define CREST_TESTS_SYSTEM_FIXTURE_H

#include "support/core_fixture.h"

#include <crest/system.h>
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>

typedef struct system_tree {
    char path[64];
    char proc[80], sys[80];
} system_tree;

__attribute__((unused)) static void system_tree_path(const system_tree *tree, const char *name,
                                                     char path[400])
{
    fixture_holds(snprintf(path, 400, "%s/%s", tree->path, name) < 400);
}

/* Makes the directories above the file, too. */
__attribute__((unused)) static void system_tree_folders(const system_tree *tree, const char *name)
{
    char path[400];
    system_tree_path(tree, name, path);
    for (char *slash = path + strlen(tree->path) + 1; (slash = strchr(slash, '/')) != NULL;
         *slash++ = '/') {
        *slash = '\0';
        if (mkdir(path, 0755) != 0)
            fixture_equal(errno, EEXIST);
    }
}

/* Makes an empty tree, with proc/ and sys/ in it. */
__attribute__((unused)) static void system_tree_make(system_tree *tree)
{
    const char *folder = getenv("TMPDIR");
    snprintf(tree->path, sizeof tree->path, "%.40s/crest-tree-XXXXXX", folder ? folder : "/tmp");
    assert_non_null(mkdtemp(tree->path));
    snprintf(tree->proc, sizeof tree->proc, "%s/proc", tree->path);
    snprintf(tree->sys, sizeof tree->sys, "%s/sys", tree->path);
    system_tree_folders(tree, "proc/self/x");
    system_tree_folders(tree, "sys/x");
}

static int system_tree_remove_one(const char *path, const struct stat *stat, int kind,
                                  struct FTW *walk)
{
    (void)stat, (void)kind, (void)walk;
    return remove(path);
}

__attribute__((unused)) static void system_tree_remove(const system_tree *tree)
{
    assert_int_equal(nftw(tree->path, system_tree_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* Writes a file, by its path below the tree; an existing file is replaced. */
__attribute__((unused)) static void
system_tree_write_bytes(const system_tree *tree, const char *name, const char *bytes, size_t length)
{
    char path[400];
    system_tree_folders(tree, name);
    system_tree_path(tree, name, path);
    FILE *file = fopen(path, "w");
    fixture_holds(file != NULL);
    fixture_equal(fwrite(bytes, 1, length, file), length);
    fixture_equal(fclose(file), 0);
}

__attribute__((unused)) static void system_tree_write(const system_tree *tree, const char *name,
                                                      const char *text)
{
    system_tree_write_bytes(tree, name, text, strlen(text));
}

/* Makes a directory where a file should be: it can be opened, but not read, not by root either. */
__attribute__((unused)) static void system_tree_folder(const system_tree *tree, const char *name)
{
    char path[400];
    system_tree_folders(tree, name);
    system_tree_path(tree, name, path);
    assert_int_equal(mkdir(path, 0755), 0);
}

__attribute__((unused)) static void system_tree_unlink(const system_tree *tree, const char *name)
{
    char path[400];
    system_tree_path(tree, name, path);
    assert_int_equal(remove(path), 0);
}

/* ---- collectors ---- */

typedef struct system_under_test {
    crest_registry *registry;
    crest_system *system;
    crest_system_options options;
} system_under_test;

/* Starts again with test->options, which the test may set before. */
__attribute__((unused)) static void system_test_again(system_under_test *test)
{
    crest_error error;
    test->system = crest_system_start(&test->options, &error);
    if (test->system == NULL)
        fail_msg("%s", error.message);
}

/* Starts the collectors of these groups, in a registry of their own. They read the tree (NULL: this
 * machine). Every snapshot reads everything: the intervals are as short as they can be. */
__attribute__((unused)) static void system_test_start(system_under_test *test,
                                                      const system_tree *tree, const char *groups)
{
    memset(test, 0, sizeof *test);
    test->registry = fixture_registry(NULL);
    test->options.registry = test->registry;
    test->options.groups = groups;
    test->options.proc = tree != NULL ? tree->proc : NULL;
    test->options.sys = tree != NULL ? tree->sys : NULL;
    test->options.interval_ms = test->options.slow_interval_ms = CREST_SYSTEM_INTERVAL_MS_MIN;
    system_test_again(test);
}

__attribute__((unused)) static void system_test_stop(system_under_test *test)
{
    assert_int_equal(crest_system_stop(test->system), CREST_OK);
    crest_registry_free(test->registry);
}

/* Takes a snapshot, and waits until no collection runs: on a busy machine a collection goes on when
 * the snapshot has given up waiting for it. */
__attribute__((unused)) static crest_snapshot *system_snapshot(const system_under_test *test)
{
    crest_system_state states[CREST_SYSTEM_COLLECTORS_MAX];
    crest_snapshot *snapshot = fixture_snapshot(test->registry);
    for (unsigned tries = 0;; tries++) {
        size_t count = crest_system_list(test->system, states, LENGTH(states)), running = 0;
        for (size_t i = 0; i < count; i++)
            running += states[i].running != 0;
        if (running == 0)
            return snapshot;
        assert_true(tries < 60000);
        usleep(1000);
    }
}

/*
 * A snapshot from after a collection by every collector that began no earlier than this call. The
 * collection is looked for before the snapshot is taken. For a snapshot does not wait for long, and
 * a collection may end between the snapshot and the look.
 */
__attribute__((unused)) static crest_snapshot *system_look(const system_under_test *test)
{
    crest_system_state states[CREST_SYSTEM_COLLECTORS_MAX];
    uint64_t begun[CREST_SYSTEM_COLLECTORS_MAX] = {0};
    size_t count = crest_system_list(test->system, states, LENGTH(states));
    for (size_t i = 0; i < count; i++)
        begun[i] = states[i].collections + (states[i].running != 0);
    for (unsigned tries = 0; tries < 2000; tries++) {
        usleep(1000 * CREST_SYSTEM_INTERVAL_MS_MIN);
        size_t fresh = 0;
        crest_system_list(test->system, states, LENGTH(states));
        for (size_t i = 0; i < count; i++)
            fresh += states[i].collections > begun[i];
        crest_snapshot *snapshot = system_snapshot(test);
        if (fresh == count)
            return snapshot;
        crest_snapshot_free(snapshot);
    }
    fail_msg("the collectors do not run");
    return NULL;
}

/* Whether a fresh snapshot has the series; up to two label values, NULL for none. */
__attribute__((unused)) static int system_find(const system_under_test *test, const char *name,
                                               const char *one, const char *two,
                                               crest_series_view *view)
{
    const char *values[] = {one, two};
    crest_snapshot *snapshot = system_look(test);
    crest_status status =
        crest_snapshot_find(snapshot, name, values, (one != NULL) + (two != NULL), view);
    crest_snapshot_free(snapshot);
    return status == CREST_OK;
}

__attribute__((unused)) static int system_has(const system_under_test *test, const char *name,
                                              const char *value)
{
    crest_series_view view;
    return system_find(test, name, value, NULL, &view);
}

__attribute__((unused)) static double system_gauge(const system_under_test *test, const char *name,
                                                   const char *value)
{
    crest_series_view view;
    if (!system_find(test, name, value, NULL, &view))
        fail_msg("there is no %s{%s}", name, value ? value : "");
    assert_int_equal(view.kind, CREST_KIND_GAUGE);
    return view.gauge;
}

__attribute__((unused)) static uint64_t system_counter(const system_under_test *test,
                                                       const char *name, const char *value)
{
    crest_series_view view;
    if (!system_find(test, name, value, NULL, &view))
        fail_msg("there is no %s{%s}", name, value ? value : "");
    assert_int_equal(view.kind, CREST_KIND_COUNTER);
    return view.counter;
}

/* Failures counted for this collector and cause, 0 when there is no such series. */
__attribute__((unused)) static uint64_t system_failures(const system_under_test *test,
                                                        const char *collector, const char *cause)
{
    const char *values[] = {collector, cause};
    crest_series_view view;
    crest_snapshot *snapshot = system_snapshot(test);
    crest_status status = crest_snapshot_find(snapshot, "crest.collect-failures", values, 2, &view);
    crest_snapshot_free(snapshot);
    return status == CREST_OK ? view.counter : 0;
}

#endif
