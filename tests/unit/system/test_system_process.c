/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process collector: each figure from a tree of files that stands for /proc, what is left out
 * when a file is missing, empty, cut or says nonsense, and the figures of this very process against
 * what the kernel says of it before and after.
 *
 * crest-test: waits
 */
#define _GNU_SOURCE
#include "system/collector.h"
#include "support/system_fixture.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Fields 1 to 44 of proc(5); the name has all that a name may have. */
#define STAT(threads, start, vsize, rss)                                                           \
    "4242 (a) b) S 1 4242 4242 0 -1 4194560 10 20 30 40 5 6 7 8 20 0 " threads " 0 " start         \
    " " vsize " " rss " 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 3 0 0\n"

static const char limits[] =
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max cpu time              unlimited            unlimited            seconds   \n"
    "Max open files            1024                 4096                 files     \n"
    "Max address space         unlimited            unlimited            bytes     \n";

static const char io[] = "rchar: 1000\nwchar: 2000\nsyscr: 30\nsyscw: 40\nread_bytes: 4096\n"
                         "write_bytes: 8192\ncancelled_write_bytes: 4096\n";

static void process_tree(system_tree *tree)
{
    system_tree_make(tree);
    system_tree_write(tree, "proc/self/stat", STAT("7", "150", "1048576", "3"));
    system_tree_write(tree, "proc/self/limits", limits);
    system_tree_write(tree, "proc/self/io", io);
    system_tree_write(tree, "proc/stat", "cpu  1 2 3\nintr 1 2\nbtime 1700000000\nprocesses 9\n");
    for (unsigned i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "proc/self/fd/%u", i);
        system_tree_write(tree, name, "");
    }
}

static void test_values(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    process_tree(&tree);
    system_test_start(&test, &tree, "process");
    double page = (double)sysconf(_SC_PAGESIZE), hz = (double)sysconf(_SC_CLK_TCK);
    assert_true(system_gauge(&test, "process.threads", NULL) == 7);
    assert_true(system_gauge(&test, "process.virtual-memory", NULL) == 1048576);
    assert_true(system_gauge(&test, "process.resident-memory", NULL) == 3 * page);
    assert_true(system_gauge(&test, "process.start-time", NULL) == 1700000000 + 150 / hz);
    assert_true(system_gauge(&test, "process.open-fds", NULL) == 5);
    assert_true(system_gauge(&test, "process.max-fds", NULL) == 1024);
    assert_false(system_has(&test, "process.virtual-memory-max", NULL)); /* unlimited */
    assert_int_equal(system_counter(&test, "process.io-data", "read"), 1000);
    assert_int_equal(system_counter(&test, "process.io-data", "write"), 2000);
    assert_int_equal(system_counter(&test, "process.io-calls", "read"), 30);
    assert_int_equal(system_counter(&test, "process.io-calls", "write"), 40);
    assert_int_equal(system_counter(&test, "process.disk-data", "read"), 4096);
    assert_int_equal(system_counter(&test, "process.disk-data", "write"), 8192);
    crest_series_view view;
    assert_true(system_find(&test, "process.memory-resident", NULL, NULL, &view));
    assert_int_equal(view.current, 3 * (int64_t)page);
    assert_true(system_find(&test, "process.file-descriptors", NULL, NULL, &view));
    assert_int_equal(view.current, 5);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

static uint64_t process_cpu_ns(void)
{
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    return 1000 * (1000000 * (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec));
}

/* The figures of this process lie between what the kernel says before and after. */
static void test_this_process(void **state)
{
    (void)state;
    system_under_test test;
    struct rusage before, after;
    system_test_start(&test, NULL, "process");
    for (unsigned i = 0; i < 20; i++) {
        uint64_t cpu_before = process_cpu_ns();
        assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
        crest_snapshot *snapshot = system_look(&test);
        assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
        uint64_t cpu_after = process_cpu_ns();
        uint64_t cpu = fixture_series(snapshot, "process.cpu", NULL).counter;
        assert_in_range(cpu, cpu_before, cpu_after);
        assert_int_equal(cpu, fixture_series(snapshot, "process.cpu.user", NULL).counter +
                                  fixture_series(snapshot, "process.cpu.system", NULL).counter);
        assert_in_range(fixture_series(snapshot, "process.page-faults", "minor").counter,
                        before.ru_minflt, after.ru_minflt);
        assert_in_range(fixture_series(snapshot, "process.context-switches", "voluntary").counter,
                        before.ru_nvcsw, after.ru_nvcsw);
        crest_snapshot_free(snapshot);
    }
    system_test_stop(&test);
}

/* ---- what cannot be read ---- */

/* One file after the other is missing, empty, cut, nonsense, a directory: only what comes from it
 * is left out, and it is back when the file is. */
static void test_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text; /* NULL: missing; "/": a directory */
        const char *cause, *gone, *stays;
    } cases[] = {
        {"proc/self/stat", NULL, "missing", "process.threads", "process.max-fds"},
        {"proc/self/stat", "/", "unreadable", "process.threads", "process.max-fds"},
        {"proc/self/stat", "", "garbage", "process.threads", "process.max-fds"},
        {"proc/self/stat", "4242 (a) b", "garbage", "process.threads", "process.max-fds"},
        {"proc/self/stat", "4242 (ab", "garbage", "process.threads", "process.max-fds"},
        {"proc/self/stat", STAT("-7", "150", "1048576", "3"), "garbage", "process.threads",
         "process.resident-memory"},
        {"proc/self/stat", STAT("7", "150", "18446744073709551616", "3"), "garbage",
         "process.virtual-memory", "process.threads"},
        {"proc/self/stat", STAT("7", "150", "1", "18446744073709551615"), "garbage",
         "process.resident-memory", "process.threads"},
        {"proc/self/stat", STAT("0x7", "150", "1", "3"), "garbage", "process.threads",
         "process.resident-memory"},
        {"proc/self/limits", NULL, "missing", "process.max-fds", "process.threads"},
        {"proc/self/limits", "", "garbage", "process.max-fds", "process.threads"},
        {"proc/self/limits", "Max open files            lots  4096  files\n", "garbage",
         "process.max-fds", "process.threads"},
        {"proc/self/limits", "Max open files            unlimited            4096   files\n",
         "garbage", "process.max-fds", "process.threads"},
        {"proc/self/fd", NULL, "missing", "process.open-fds", "process.threads"},
        {"proc/self/fd", "a file", "missing", "process.open-fds", "process.threads"},
    };
    system_tree tree;
    system_under_test test;
    process_tree(&tree);
    system_test_start(&test, &tree, "process");
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char path[400], aside[408];
        system_tree_path(&tree, cases[i].file, path);
        snprintf(aside, sizeof aside, "%s.was", path);
        crest_snapshot_free(system_look(&test));
        assert_int_equal(rename(path, aside), 0);
        if (cases[i].text != NULL && strcmp(cases[i].text, "/") == 0)
            system_tree_folder(&tree, cases[i].file);
        else if (cases[i].text != NULL)
            system_tree_write(&tree, cases[i].file, cases[i].text);
        uint64_t before = system_failures(&test, "process", cases[i].cause);
        if (system_has(&test, cases[i].gone, NULL))
            fail_msg("%s is there although %s is %s", cases[i].gone, cases[i].file,
                     cases[i].text ? cases[i].text : "missing");
        assert_true(system_has(&test, cases[i].stays, NULL));
        assert_true(system_failures(&test, "process", cases[i].cause) > before);
        if (cases[i].text != NULL)
            system_tree_unlink(&tree, cases[i].file);
        assert_int_equal(rename(aside, path), 0);
        assert_true(system_has(&test, cases[i].gone, NULL));
    }
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* Counters of a file whose lines are partly bad, and that go down. */
static void test_bad_counts(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    process_tree(&tree);
    system_test_start(&test, &tree, "process");
    assert_int_equal(system_counter(&test, "process.io-data", "read"), 1000);
    system_tree_write(&tree, "proc/self/io",
                      "rchar: 1100\nwchar: -1\nsyscr: 99999999999999999999\n"
                      "syscw: 4 0x\nread_bytes:\n");
    assert_int_equal(system_counter(&test, "process.io-data", "read"), 1100);
    assert_false(system_has(&test, "process.io-data", "write"));
    assert_false(system_has(&test, "process.io-calls", "read"));
    assert_false(system_has(&test, "process.disk-data", "read"));
    assert_false(system_has(&test, "process.disk-data", "write")); /* no such line at all */
    system_tree_write(&tree, "proc/self/io", io);
    assert_int_equal(system_counter(&test, "process.io-data", "write"), 2000); /* as before */
    assert_int_equal(system_counter(&test, "process.io-data", "read"), 2100);  /* began again */
    /* one that is far too long is not read at all */
    char *long_text = malloc(CREST_COLLECT_FILE_BYTES_MAX + 1);
    assert_non_null(long_text);
    memset(long_text, '\n', CREST_COLLECT_FILE_BYTES_MAX + 1);
    memcpy(long_text, io, sizeof io - 1);
    system_tree_write_bytes(&tree, "proc/self/io", long_text, CREST_COLLECT_FILE_BYTES_MAX + 1);
    assert_false(system_has(&test, "process.io-data", "read"));
    assert_true(system_failures(&test, "process", "truncated") >= 1);
    system_tree_write_bytes(&tree, "proc/self/io", long_text, CREST_COLLECT_FILE_BYTES_MAX);
    assert_int_equal(system_counter(&test, "process.io-data", "read"), 2100);
    free(long_text);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* What may not be read, by somebody who is not root. */
static int process_denied(const system_tree *tree)
{
    system_under_test test;
    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0))
        return 77;
    system_test_start(&test, tree, "process");
    if (system_has(&test, "process.io-data", "read") || !system_has(&test, "process.threads", NULL))
        return 2;
    /* counted once, however often it is tried, and once more when it could be read in between */
    uint64_t denied = system_failures(&test, "process", "denied");
    if (denied == 0)
        return 3;
    for (int i = 0; i < 3; i++)
        if (system_failures(&test, "process", "denied") != denied)
            return 5;
    char path[400];
    system_tree_path(tree, "proc/self/io", path);
    if (chmod(path, 0644) != 0 || !system_has(&test, "process.io-data", "read"))
        return 6;
    if (chmod(path, 0) != 0 || system_has(&test, "process.io-data", "read") ||
        system_failures(&test, "process", "denied") != denied + 1)
        return 7;
    return crest_system_stop(test.system) == CREST_OK ? 0 : 4;
}

static void test_denied(void **state)
{
    (void)state;
    fixture_skip_child_with_threads();
    system_tree tree;
    char path[400];
    process_tree(&tree);
    system_tree_path(&tree, "proc/self/io", path);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(tree.path, 0755), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(path, 65534, 65534), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(process_denied(&tree));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) != 77)
        assert_int_equal(WEXITSTATUS(status), 0);
    system_tree_remove(&tree);
}

/* What is not known when the collector is started comes when it is. */
static void test_late_start_time(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    process_tree(&tree);
    system_tree_write(&tree, "proc/stat", "cpu 1 2 3\nbtime x\n");
    system_test_start(&test, &tree, "process");
    assert_false(system_has(&test, "process.start-time", NULL));
    system_tree_write(&tree, "proc/stat", "btime 5000");
    assert_true(system_gauge(&test, "process.start-time", NULL) ==
                5000 + 150.0 / (double)sysconf(_SC_CLK_TCK));
    system_tree_write(&tree, "proc/stat", "btime 6000"); /* it began once */
    assert_true(system_gauge(&test, "process.start-time", NULL) < 5100);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* ---- threads ---- */

static void process_thread_write(const system_tree *tree, unsigned id, const char *schedule,
                                 unsigned blocked)
{
    char name[64], text[400];
    snprintf(name, sizeof name, "proc/self/task/%u/schedstat", id);
    system_tree_write(tree, name, schedule);
    snprintf(name, sizeof name, "proc/self/task/%u/stat", id);
    snprintf(
        text, sizeof text,
        "%u (x y) S 1 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 5 6 7 8 0 0 0 0 0 0 0 0 0 0 0 0 17 1 "
        "0 0 %u 0 0\n",
        id, blocked);
    system_tree_write(tree, name, text);
}

static void process_thread_remove(const system_tree *tree, unsigned id)
{
    char name[64];
    snprintf(name, sizeof name, "proc/self/task/%u/schedstat", id);
    system_tree_unlink(tree, name);
    snprintf(name, sizeof name, "proc/self/task/%u/stat", id);
    system_tree_unlink(tree, name);
    snprintf(name, sizeof name, "proc/self/task/%u", id);
    system_tree_unlink(tree, name);
}

static void test_threads(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    uint64_t tick = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
    process_tree(&tree);
    process_thread_write(&tree, 100, "50 1000 3\n", 7);
    process_thread_write(&tree, 101, "60 2000 4\n", 0);
    system_test_start(&test, &tree, "process");
    assert_int_equal(system_counter(&test, "process.scheduler-wait", NULL), 3000);
    assert_int_equal(system_counter(&test, "process.block-io-wait", NULL), 7 * tick);
    process_thread_write(&tree, 100, "51 1500 4\n", 9);
    process_thread_write(&tree, 102, "5 10 1\n", 1);
    assert_int_equal(system_counter(&test, "process.scheduler-wait", NULL), 3510);
    assert_int_equal(system_counter(&test, "process.block-io-wait", NULL), 10 * tick);
    process_thread_remove(&tree, 101); /* what it waited stays in the total */
    assert_int_equal(system_counter(&test, "process.scheduler-wait", NULL), 3510);
    process_thread_write(&tree, 102, "4 20 1\n", 0); /* ran less: another one by that number */
    assert_int_equal(system_counter(&test, "process.scheduler-wait", NULL), 3530);
    process_thread_write(&tree, 100, "what\n", 9);
    assert_int_equal(system_counter(&test, "process.scheduler-wait", NULL), 3530);
    assert_true(system_failures(&test, "process-threads", "garbage") >= 1);
    system_tree_write(&tree, "proc/sys/kernel/task_delayacct", "0\n");
    assert_false(system_has(&test, "process.block-io-wait", NULL));
    system_tree_write(&tree, "proc/sys/kernel/task_delayacct", "1\n");
    assert_true(system_has(&test, "process.block-io-wait", NULL));
    process_thread_remove(&tree, 100);
    process_thread_remove(&tree, 102);
    assert_false(system_has(&test, "process.scheduler-wait", NULL));
    assert_true(system_failures(&test, "process-threads", "missing") >= 1);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* A thread that cannot be read for once, as when descriptors have run out, is the same one later:
 * what it had waited does not count again. */
static void test_threads_unread(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    uint64_t tick = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
    process_tree(&tree);
    process_thread_write(&tree, 100, "50 1000 3\n", 7);
    process_thread_write(&tree, 101, "60 2000 4\n", 2);
    system_test_start(&test, &tree, "process");
    assert_int_equal(system_counter(&test, "process.scheduler-wait", NULL), 3000);
    assert_int_equal(system_counter(&test, "process.block-io-wait", NULL), 9 * tick);
    process_thread_write(&tree, 100, "what\n", 7);
    assert_int_equal(system_counter(&test, "process.scheduler-wait", NULL), 3000);
    process_thread_write(&tree, 100, "51 1100 4\n", 8);
    assert_int_equal(system_counter(&test, "process.scheduler-wait", NULL), 3100);
    assert_int_equal(system_counter(&test, "process.block-io-wait", NULL), 10 * tick);
    system_tree_write(&tree, "proc/self/task/100/stat", "what\n");
    assert_int_equal(system_counter(&test, "process.block-io-wait", NULL), 10 * tick);
    process_thread_write(&tree, 100, "52 1100 5\n", 9);
    assert_int_equal(system_counter(&test, "process.block-io-wait", NULL), 11 * tick);
    /* none of them: nothing is shown, and nothing forgotten */
    process_thread_write(&tree, 100, "what\n", 9);
    process_thread_write(&tree, 101, "what\n", 2);
    assert_false(system_has(&test, "process.scheduler-wait", NULL));
    process_thread_write(&tree, 100, "53 1200 6\n", 9);
    process_thread_write(&tree, 101, "60 2000 4\n", 2);
    assert_int_equal(system_counter(&test, "process.scheduler-wait", NULL), 3200);
    assert_int_equal(system_counter(&test, "process.block-io-wait", NULL), 11 * tick);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* ---- memory ---- */

static void test_memory(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    process_tree(&tree);
    system_test_start(&test, &tree, "process:malloc");
    assert_false(system_has(&test, "process.proportional-memory", NULL));
    system_tree_write(&tree, "proc/self/smaps_rollup",
                      "55 - 7f ---p 00000000 00:00 0      [rollup]\nRss:  9 kB\nPss:     123 kB\n"
                      "Pss_Dirty: 5 kB\nSwap:     4 kB\nSwapPss: 1 kB\n");
    assert_true(system_gauge(&test, "process.proportional-memory", NULL) == 123 * 1024);
    assert_true(system_gauge(&test, "process.swapped-memory", NULL) == 4096);
    system_tree_write(&tree, "proc/self/smaps_rollup", "Pss:     123 MB\nSwap: 4 kB\n");
    assert_false(system_has(&test, "process.proportional-memory", NULL));
    assert_true(system_gauge(&test, "process.swapped-memory", NULL) == 4096);
#if defined(__GLIBC__) && !FIXTURE_SANITIZED
    double used = system_gauge(&test, "malloc.used-memory", NULL);
    char *block = malloc(10000000); /* mapped by itself */
    assert_non_null(block);
    memset(block, 1, 10000000);
    assert_true(system_gauge(&test, "malloc.used-memory", NULL) >= used + 9000000);
    assert_true(system_gauge(&test, "malloc.mapped-memory", NULL) >= 10000000);
    assert_true(system_gauge(&test, "process.heap", NULL) >= 10000000);
    free(block);
    assert_true(system_gauge(&test, "malloc.used-memory", NULL) < used + 9000000);
#endif
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* ---- consumption ---- */

/* A second of one processor, all busy, is its share of those there are. */
static void test_usage(void **state)
{
    (void)state;
    system_under_test test;
    cpu_set_t may, one;
    assert_int_equal(sched_getaffinity(0, sizeof may, &may), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &may) && CPU_COUNT(&one) == 0)
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0); /* the poller's thread inherits */
    system_test_start(&test, NULL, "process");
    crest_snapshot_free(system_look(&test));
    uint64_t begin = process_cpu_ns();
    while (process_cpu_ns() < begin + 300000000)
        continue;
    crest_series_view view;
    crest_snapshot *snapshot = system_look(&test);
    view = fixture_series(snapshot, "process.cpu.usage", "combined");
    assert_true(crest_distribution_max(view.distribution) <= 100);
    assert_true(crest_distribution_max(view.distribution) >= 1);
    crest_snapshot_free(snapshot);
    system_test_stop(&test);
    assert_int_equal(sched_setaffinity(0, sizeof may, &may), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),    cmocka_unit_test(test_this_process),
        cmocka_unit_test(test_bad_files), cmocka_unit_test(test_bad_counts),
        cmocka_unit_test(test_denied),    cmocka_unit_test(test_late_start_time),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_usage),     cmocka_unit_test(test_threads_unread),
    };
    fixture_watchdog(170);
    return cmocka_run_group_tests_name("system_process", tests, NULL, NULL);
}
