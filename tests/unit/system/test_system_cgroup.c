/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectors of control groups and of file systems over trees as they are found: a service on a
 * host, a container with a namespace of its own, a pod, version 1 beside version 2, and version 1
 * alone.
 */
#define _GNU_SOURCE
#include "support/host_fixture.h"

#define US_NS UINT64_C(1000)
#define SLICE "sys/fs/cgroup/system.slice/"
#define SERVICE SLICE "rnode.service/"

static void group_file(const system_tree *tree, const char *folder, const char *file,
                       const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s%s", folder, file);
    system_tree_write(tree, path, text);
}

/* What systemd makes of a service: the root has no limits, the slice and the service may. */
static void service_make(system_tree *tree)
{
    system_tree_make(tree);
    system_tree_write(tree, "proc/self/mountinfo", HOST_MOUNTINFO);
    system_tree_write(tree, "proc/self/cgroup", "0::/system.slice/rnode.service\n");
    group_file(tree, "sys/fs/cgroup/", "cpu.stat", "usage_usec 99\n");
    group_file(tree, SLICE, "memory.max", "max\n");
    group_file(tree, SLICE, "memory.current", "900\n");
    group_file(tree, SLICE, "cpu.max", "150000 100000\n");
    group_file(tree, SLICE, "pids.max", "77\n");
    group_file(tree, SERVICE, "memory.max", "1000\n");
    group_file(tree, SERVICE, "memory.high", "max\n");
    group_file(tree, SERVICE, "memory.current", "300\n");
    group_file(tree, SERVICE, "memory.swap.max", "0\n");
    group_file(tree, SERVICE, "memory.swap.current", "0\n");
    group_file(tree, SERVICE, "memory.stat",
               "anon 100\nfile 120\nkernel 40\nkernel_stack 10\npagetables 5\nsock 3\nslab 20\n"
               "inactive_file 60\npgfault 50\npgmajfault 8\n");
    group_file(tree, SERVICE, "memory.events", "low 0\nhigh 4\nmax 3\noom 2\noom_kill 1\n");
    group_file(tree, SERVICE, "cpu.max", "max 100000\n");
    group_file(tree, SERVICE, "cpu.stat",
               "usage_usec 1200\nuser_usec 700\nsystem_usec 500\nnr_periods 30\nnr_throttled 20\n"
               "throttled_usec 10\n");
    group_file(tree, SERVICE, "pids.max", "max\n");
    group_file(tree, SERVICE, "pids.current", "12\n");
    group_file(tree, SERVICE, "io.stat",
               "8:0 rbytes=10 wbytes=20 rios=3 wios=4 dbytes=0 dios=0\n8:16 \n"
               "7:0 rbytes=1 wbytes=1 rios=1 wios=1\n259:3 rbytes=5 wbytes=6 rios=7 wios=8\n");
    group_file(tree, SERVICE, "cpu.pressure", "some avg10=0.00 total=5\nfull avg10=0.00 total=2\n");
    group_file(tree, SERVICE, "memory.pressure", "some avg10=0.00 total=7\n");
    char link[400], path[500];
    system_tree_folders(tree, "sys/dev/block/x");
    system_tree_path(tree, "sys/dev/block", link);
    snprintf(path, sizeof path, "%s/8:0", link);
    assert_int_equal(symlink("../../devices/pci0000:00/ata1/block/sda", path), 0);
    snprintf(path, sizeof path, "%s/7:0", link);
    assert_int_equal(symlink("../../devices/virtual/block/loop0", path), 0);
}

static void a_service_on_a_host(void **state)
{
    (void)state;
    static const struct {
        const char *name, *one, *two;
        uint64_t value;
    } counters[] = {
        {"cgroup.cpu", NULL, NULL, 1200 * US_NS},
        {"cgroup.cpu.user", NULL, NULL, 700 * US_NS},
        {"cgroup.cpu.system", NULL, NULL, 500 * US_NS},
        {"cgroup.cpu.periods", NULL, NULL, 30},
        {"cgroup.cpu.throttled-periods", NULL, NULL, 20},
        {"cgroup.cpu.throttled", NULL, NULL, 10 * US_NS},
        {"cgroup.memory.events", "high", NULL, 4},
        {"cgroup.memory.events", "max", NULL, 3},
        {"cgroup.memory.events", "oom", NULL, 2},
        {"cgroup.memory.events", "oom-kill", NULL, 1},
        {"cgroup.page-faults", "minor", NULL, 42},
        {"cgroup.page-faults", "major", NULL, 8},
        {"cgroup.storage.device.data.read", "sda", NULL, 10},
        {"cgroup.storage.device.data.write", "sda", NULL, 20},
        {"cgroup.storage.device.ops.read", "sda", NULL, 3},
        {"cgroup.storage.device.ops.write", "sda", NULL, 4},
        {"cgroup.storage.device.data.write", "259:3", NULL, 6}, /* no link */
        {"cgroup.pressure", "cpu", "some", 5 * US_NS},
        {"cgroup.pressure", "cpu", "full", 2 * US_NS},
        {"cgroup.pressure", "memory", "some", 7 * US_NS},
    };
    static const struct {
        const char *name, *one;
        double value;
    } gauges[] = {
        {"cgroup.memory.limit", NULL, 1000},      {"cgroup.memory.part", "anonymous", 100},
        {"cgroup.memory.part", "file", 120},      {"cgroup.memory.part", "slab", 20},
        {"cgroup.memory.part", "sockets", 3},     {"cgroup.memory.part", "kernel-stacks", 10},
        {"cgroup.memory.part", "page-tables", 5}, {"cgroup.memory.inactive-file", NULL, 60},
        {"cgroup.swap.limit", NULL, 0},           {"cgroup.pids.limit", NULL, 77},
        {"cgroup.cpu.limit", NULL, 1.5},
    };
    system_tree tree;
    system_under_test test;
    service_make(&tree);
    system_test_start(&test, &tree, "cgroup");
    crest_snapshot *seen = system_look(&test);
    for (size_t i = 0; i < LENGTH(counters); i++)
        if (host_count(seen, counters[i].name, counters[i].one, counters[i].two) !=
            counters[i].value)
            fail_msg("%s{%s}", counters[i].name, counters[i].one ? counters[i].one : "");
    for (size_t i = 0; i < LENGTH(gauges); i++)
        if (host_gauge(seen, gauges[i].name, gauges[i].one) != gauges[i].value)
            fail_msg("%s{%s}", gauges[i].name, gauges[i].one ? gauges[i].one : "");
    assert_int_equal(host_level(seen, "cgroup.memory.used", NULL), 300);
    assert_int_equal(host_level(seen, "cgroup.swap.used", NULL), 0);
    assert_int_equal(host_level(seen, "cgroup.pids.used", NULL), 12);
    assert_true(host_absent(seen, "cgroup.memory.high", NULL, NULL)); /* nobody sets one */
    assert_true(host_absent(seen, "cgroup.storage.device.data.read", "loop0", NULL));
    assert_true(host_absent(seen, "cgroup.pressure", "io", "some"));
    crest_snapshot_free(seen);
    crest_testing_reading usage = FIXTURE_READING(test.registry, "cgroup.memory.usage");
    assert_true(usage.count >= 1 && usage.minimum == 30 && usage.maximum == 30);
    assert_int_equal(system_failures(&test, "cgroup", "missing"), 0);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

static void the_least_limit_counts_and_limits_change(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    service_make(&tree);
    group_file(&tree, SLICE, "memory.max", "950\n"); /* nearer: 900 of it are in use */
    group_file(&tree, SLICE, "memory.high", "800\n");
    system_test_start(&test, &tree, "cgroup");
    crest_snapshot *seen = system_look(&test);
    assert_true(host_gauge(seen, "cgroup.memory.limit", NULL) == 950);
    assert_true(host_gauge(seen, "cgroup.memory.high", NULL) == 800);
    crest_snapshot_free(seen);
    crest_testing_reading usage = FIXTURE_READING(test.registry, "cgroup.memory.usage");
    assert_int_equal(usage.maximum, 95);
    group_file(&tree, SLICE, "memory.max", "max\n");
    group_file(&tree, SERVICE, "memory.max", "max\n");
    group_file(&tree, SLICE, "cpu.max", "max 100000\n");
    seen = system_look(&test);
    assert_true(host_absent(seen, "cgroup.memory.limit", NULL, NULL));
    assert_true(host_absent(seen, "cgroup.cpu.limit", NULL, NULL));
    assert_int_equal(host_level(seen, "cgroup.memory.used", NULL), 300);
    crest_snapshot_free(seen);
    group_file(&tree, SERVICE, "memory.max", "much\n");
    crest_snapshot_free(system_look(&test));
    assert_true(system_failures(&test, "cgroup", "garbage") > 0);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

static void processor_time_of_what_may_be_used(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    service_make(&tree);
    system_test_start(&test, &tree, "cgroup");
    crest_snapshot_free(system_look(&test));
    group_file(&tree, SERVICE, "cpu.stat", "usage_usec 999999999\n"); /* more than can be */
    crest_snapshot_free(system_look(&test));
    crest_testing_reading usage = FIXTURE_READING(test.registry, "cgroup.cpu.usage");
    assert_true(usage.count >= 1 && usage.maximum == 100);
    uint64_t count = usage.count;
    group_file(&tree, SERVICE, "cpu.stat", "usage_usec 5\n"); /* began again: no share is known */
    crest_snapshot_free(system_look(&test));
    usage = FIXTURE_READING(test.registry, "cgroup.cpu.usage");
    assert_true(usage.count >= count && usage.sum == 100);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* What was used while nobody set a limit, or nobody could read it, was not used in one interval. */
static void processor_time_of_a_gap_is_no_intervals(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    service_make(&tree);
    system_test_start(&test, &tree, "cgroup");
    crest_snapshot_free(system_look(&test));
    group_file(&tree, SLICE, "cpu.max", "max 100000\n");
    crest_snapshot_free(system_look(&test));
    group_file(&tree, SERVICE, "cpu.stat", "usage_usec 999999999\n");
    crest_snapshot_free(system_look(&test));
    group_file(&tree, SLICE, "cpu.max", "150000 100000\n");
    crest_snapshot_free(system_look(&test));
    system_tree_unlink(&tree, SERVICE "cpu.stat");
    crest_snapshot_free(system_look(&test));
    group_file(&tree, SERVICE, "cpu.stat", "usage_usec 1999999999\n");
    crest_snapshot_free(system_look(&test));
    crest_snapshot_free(system_look(&test));
    crest_testing_reading usage = FIXTURE_READING(test.registry, "cgroup.cpu.usage");
    assert_true(usage.count >= 1 && usage.maximum == 0);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* Other places where the own group is found, each with 300 bytes in use of 1000. */
static void other_layouts(void **state)
{
    (void)state;
    static const char hybrid[] =
        "31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs ro\n"
        "32 31 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
    static const struct {
        const char *what, *cgroup, *mounts, *folder;
        int memory, pressure;
    } cases[] = {
        {"a container of Docker", "0::/\n",
         "612 611 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "sys/fs/cgroup/", 1, 1},
        {"a container in the host's namespace", "0::/system.slice/docker-0a1b.scope\n",
         "612 611 0:26 /system.slice/docker-0a1b.scope /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
         "sys/fs/cgroup/", 1, 1},
        {"a pod as the host sees it",
         "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/"
         "cri-containerd-2.scope\n",
         HOST_MOUNTINFO,
         "sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/"
         "cri-containerd-2.scope/",
         1, 1},
        {"version 1 has the controllers", "4:memory:/x\n0::/\n", hybrid, "sys/fs/cgroup/unified/",
         0, 1},
        {"version 1", "4:memory:/x\n", hybrid, "sys/fs/cgroup/memory/x/", 0, 0},
        {"no such folder", "0::/gone\n", HOST_MOUNTINFO, "sys/fs/cgroup/other/", 0, 0},
        {"out of sight", "0::/../x\n", HOST_MOUNTINFO, "sys/fs/cgroup/x/", 0, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        system_tree tree;
        system_under_test test;
        system_tree_make(&tree);
        system_tree_write(&tree, "proc/self/cgroup", cases[i].cgroup);
        system_tree_write(&tree, "proc/self/mountinfo", cases[i].mounts);
        if (cases[i].memory || strstr(cases[i].folder, "unified") == NULL) {
            group_file(&tree, cases[i].folder, "memory.max", "1000\n");
            group_file(&tree, cases[i].folder, "memory.current", "300\n");
        }
        group_file(&tree, cases[i].folder, "cpu.pressure", "some total=5\n");
        system_test_start(&test, &tree, "cgroup");
        crest_snapshot *seen = system_look(&test);
        if (host_absent(seen, "cgroup.memory.limit", NULL, NULL) == cases[i].memory ||
            host_absent(seen, "cgroup.pressure", "cpu", "some") == cases[i].pressure)
            fail_msg("%s", cases[i].what);
        crest_snapshot_free(seen);
        crest_system_state states[3];
        assert_int_equal(crest_system_list(test.system, states, 3), 3);
        assert_int_equal(states[0].failures + states[1].failures + states[2].failures, 0);
        system_test_stop(&test);
        system_tree_remove(&tree);
    }
}

static void a_process_that_is_moved(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    service_make(&tree);
    group_file(&tree, "sys/fs/cgroup/other/", "memory.current", "5\n");
    group_file(&tree, "sys/fs/cgroup/other/", "cpu.stat", "usage_usec 5000000\n");
    group_file(&tree, "sys/fs/cgroup/other/", "io.stat", "8:0 rbytes=7 wbytes=50\n");
    group_file(&tree, "sys/fs/cgroup/other/", "memory.pressure", "some total=70\n");
    system_test_start(&test, &tree, "cgroup");
    crest_snapshot *seen = system_look(&test);
    assert_int_equal(host_level(seen, "cgroup.memory.used", NULL), 300);
    crest_snapshot_free(seen);
    system_tree_write(&tree, "proc/self/cgroup", "0::/other\n");
    seen = system_look(&test);
    assert_int_equal(host_level(seen, "cgroup.memory.used", NULL), 5);
    assert_true(host_absent(seen, "cgroup.memory.limit", NULL, NULL));
    crest_snapshot_free(seen);
    /* what the other group had done before is nothing that was done since */
    group_file(&tree, "sys/fs/cgroup/other/", "cpu.stat", "usage_usec 5000001\n");
    group_file(&tree, "sys/fs/cgroup/other/", "io.stat", "8:0 rbytes=9 wbytes=51\n");
    group_file(&tree, "sys/fs/cgroup/other/", "memory.pressure", "some total=72\n");
    seen = system_look(&test);
    assert_int_equal(host_count(seen, "cgroup.cpu", NULL, NULL), 1201 * US_NS);
    assert_int_equal(host_count(seen, "cgroup.storage.device.data.read", "sda", NULL), 12);
    assert_int_equal(host_count(seen, "cgroup.storage.device.data.write", "sda", NULL), 21);
    assert_int_equal(host_count(seen, "cgroup.pressure", "memory", "some"), 9 * US_NS);
    crest_snapshot_free(seen);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* ---- file systems: where they are mounted is made up, that they are folders is not ---- */

static void file_systems(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    char text[3000], point[400], blank[400], file[400];
    system_tree_make(&tree);
    system_tree_write(&tree, "mnt/a file", "x");
    system_tree_folders(&tree, "mnt/with blank/x");
    system_tree_path(&tree, "mnt", point);
    system_tree_path(&tree, "mnt/with blank", blank);
    system_tree_path(&tree, "mnt/a file", file);
    snprintf(text, sizeof text,
             "27 1 0:40 / / rw - overlay overlay rw\n" /* the root of a container */
             "28 1 254:0 / %s rw - ext4 /dev/vda rw\n"
             "29 1 254:0 / %s rw - ext4 /dev/vda rw\n" /* over the other */
             "30 1 254:0 / %s/with\\040blank rw - xfs /dev/vda rw\n"
             "31 1 254:0 / %s/a\\040file rw - ext4 /dev/vda rw\n"
             "32 1 254:0 / %s/not-there rw - ext4 /dev/vda rw\n"
             "33 1 0:3 / /proc rw - proc proc rw\n"
             "34 1 0:3 / %s/sys rw - overlay overlay rw\n"
             "35 1 0:3 / %s/proc rw - ext4 /dev/vda rw\n"
             "36 1 0:4 / %s/proc rw - tmpfs tmpfs rw\n" /* covers it */
             "garbage\n",
             point, point, point, point, point, tree.path, tree.path, tree.path);
    system_tree_write(&tree, "proc/self/mountinfo", text);
    system_test_start(&test, &tree, "filesystems");
    crest_snapshot *seen = system_look(&test);
    double total = host_gauge(seen, "host.storage.mount.space.total", "/");
    double available = host_gauge(seen, "host.storage.mount.space.available", "/");
    double used = host_gauge(seen, "host.storage.mount.space.used", "/");
    double left = host_gauge(seen, "host.storage.mount.space.free", "/");
    assert_true(total == used + left && left >= available);
    assert_true(fabs(host_gauge(seen, "host.storage.mount.space.usage", "/") -
                     used / (used + available)) < 1e-6);
    assert_true(host_gauge(seen, "host.storage.mount.space.total", point) > 0);
    assert_true(host_gauge(seen, "host.storage.mount.space.total", blank) > 0);
    assert_true(host_absent(seen, "host.storage.mount.space.total", file, NULL));
    assert_true(host_absent(seen, "host.storage.mount.space.total", "/proc", NULL));
    assert_true(host_absent(seen, "host.storage.mount.space.total", tree.sys, NULL));
    assert_true(host_absent(seen, "host.storage.mount.space.total", tree.proc, NULL));
    crest_snapshot_free(seen);
    assert_true(system_failures(&test, "filesystems", "garbage") > 0);
    assert_true(system_failures(&test, "filesystems", "missing") > 0); /* not-there */
    /* unmounted: gone */
    system_tree_write(&tree, "proc/self/mountinfo", "27 1 0:40 / / rw - overlay overlay rw\n");
    crest_snapshot_free(system_look(&test));
    seen = system_look(&test);
    assert_false(host_absent(seen, "host.storage.mount.space.total", "/", NULL));
    assert_true(host_absent(seen, "host.storage.mount.space.total", point, NULL));
    crest_snapshot_free(seen);
    system_test_stop(&test);
    test.options.mounts_exclude = "/ xfs";
    test.registry = test.options.registry = fixture_registry(NULL);
    system_tree_write(&tree, "proc/self/mountinfo", text);
    system_test_again(&test);
    seen = system_look(&test);
    assert_true(host_absent(seen, "host.storage.mount.space.total", "/", NULL));
    assert_true(host_absent(seen, "host.storage.mount.space.total", blank, NULL));
    assert_false(host_absent(seen, "host.storage.mount.space.total", tree.sys, NULL));
    crest_snapshot_free(seen);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

int main(void)
{
    fixture_watchdog(170);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_on_a_host),
        cmocka_unit_test(the_least_limit_counts_and_limits_change),
        cmocka_unit_test(processor_time_of_what_may_be_used),
        cmocka_unit_test(processor_time_of_a_gap_is_no_intervals),
        cmocka_unit_test(other_layouts),
        cmocka_unit_test(a_process_that_is_moved),
        cmocka_unit_test(file_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
