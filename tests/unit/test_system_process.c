/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process collector: each figure from a tree of files that stands for /proc, what is left out
 * when a file is missing, empty, cut or says nonsense, and the figures of this very process against
 * what the kernel says of it before and after.
 */
#define _GNU_SOURCE
#include "system_fixture.h"

#include <fcntl.h>
#include <sys/resource.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_this_process),
    };
    fixture_watchdog(120);
    return cmocka_run_group_tests_name("system_process", tests, NULL, NULL);
}
