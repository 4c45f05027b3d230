/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's collectors over a tree of files that stands for /proc: every figure with its unit,
 * what is left out, and sources that step back, wrap, begin again, vanish, or are garbage.
 */
#define _GNU_SOURCE
#include "support/host_fixture.h"
#include "support/window_fixture.h"

#define HOST_GROUPS "cpu load memory paging disks network tcp pressure"
#define US UINT64_C(1000000) /* a second */
#define MS_NS UINT64_C(1000000)
#define KIB 1024u

static void every_figure_has_its_unit(void **state)
{
    (void)state;
    static const struct {
        const char *name, *one, *two;
        uint64_t value;
    } counters[] = {
        {"host.cpu", "user", NULL, 12 * US},
        {"host.cpu", "nice", NULL, 34 * US / 100},
        {"host.cpu", "system", NULL, 560 * US / 100},
        {"host.cpu", "idle", NULL, 789 * US},
        {"host.cpu", "iowait", NULL, 12 * US / 100},
        {"host.cpu", "irq", NULL, 3 * US / 100},
        {"host.cpu", "softirq", NULL, 4 * US / 100},
        {"host.cpu", "steal", NULL, 5 * US / 100},
        {"host.context-switches", NULL, NULL, 7770},
        {"host.interrupts", NULL, NULL, 123456},
        {"host.forks", NULL, NULL, 99},
        {"host.paging.data", "in", NULL, 100 * KIB},
        {"host.paging.data", "out", NULL, 200 * KIB},
        {"host.page-faults", "minor", NULL, 4940},
        {"host.page-faults", "major", NULL, 60},
        {"host.oom-kills", NULL, NULL, 2},
        {"host.storage.device.ops.read", "sda", NULL, 100},
        {"host.storage.device.ops.write", "sda", NULL, 40},
        {"host.storage.device.data.read", "sda", NULL, 2000 * 512},
        {"host.storage.device.data.write", "sda", NULL, 5000 * 512},
        {"host.storage.device.time.read", "sda", NULL, 30 * MS_NS},
        {"host.storage.device.time.write", "sda", NULL, 60 * MS_NS},
        {"host.storage.device.time.busy", "sda", NULL, 80 * MS_NS},
        {"host.storage.device.time.waited", "sda", NULL, 90 * MS_NS},
        {"host.network.data.read", "eth0", NULL, 100},
        {"host.network.data.write", "eth0", NULL, 900},
        {"host.network.packets.read.total", "eth0", NULL, 20},
        {"host.network.packets.read.failed", "eth0", NULL, 3},
        {"host.network.packets.read.dropped", "eth0", NULL, 4},
        {"host.network.packets.write.total", "eth0", NULL, 80},
        {"host.network.packets.write.failed", "eth0", NULL, 7},
        {"host.network.packets.write.dropped", "eth0", NULL, 6},
        {"host.network.data.read", "lo", NULL, 1},
        {"host.tcp.opens.active", NULL, NULL, 11},
        {"host.tcp.opens.passive", NULL, NULL, 12},
        {"host.tcp.opens.failed", NULL, NULL, 13},
        {"host.tcp.connections.reset", NULL, NULL, 14},
        {"host.tcp.segments.read", NULL, NULL, 16},
        {"host.tcp.segments.write", NULL, NULL, 17},
        {"host.tcp.segments.retransmitted", NULL, NULL, 18},
        {"host.tcp.segments.read.failed", NULL, NULL, 19},
        {"host.tcp.resets.sent", NULL, NULL, 20},
        {"host.tcp.listen.overflows", NULL, NULL, 21},
        {"host.tcp.listen.drops", NULL, NULL, 22},
        {"host.tcp.timeouts", NULL, NULL, 23},
        {"host.tcp.opens.retransmitted", NULL, NULL, 24},
        {"host.pressure", "cpu", "some", 11000},
        {"host.pressure", "io", "some", 22000},
        {"host.pressure", "io", "full", 33000},
    };
    system_tree tree;
    system_under_test test;
    host_tree_make(&tree);
    system_test_start(&test, &tree, HOST_GROUPS);
    crest_snapshot *seen = system_look(&test);
    for (size_t i = 0; i < LENGTH(counters); i++) {
        uint64_t value = host_count(seen, counters[i].name, counters[i].one, counters[i].two);
        if (value != counters[i].value)
            fail_msg("%s{%s}: %llu, wanted %llu", counters[i].name,
                     counters[i].one ? counters[i].one : "", (unsigned long long)value,
                     (unsigned long long)counters[i].value);
    }
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(host_count(seen, "host.swapping.data", "in", NULL), 3 * page);
    assert_int_equal(host_count(seen, "host.swapping.data", "out", NULL), 4 * page);
    assert_true(host_gauge(seen, "host.tcp.sockets.memory", NULL) == 35.0 * (double)page);
    crest_snapshot_free(seen);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

static void levels_are_gauges_and_range_samplers(void **state)
{
    (void)state;
    static const struct {
        const char *name, *one;
        double value;
    } gauges[] = {
        {"host.load.average", "1m", 0.79},
        {"host.load.average", "5m", 1.48},
        {"host.load.average", "15m", 12.05},
        {"host.cpus", NULL, 2},
        {"host.memory.total", NULL, 1000000.0 * KIB},
        {"host.memory.free", NULL, 100000.0 * KIB},
        {"host.memory.available", NULL, 400000.0 * KIB},
        {"host.memory.buffers", NULL, 3000.0 * KIB},
        {"host.memory.cached", NULL, 200000.0 * KIB},
        {"host.memory.dirty", NULL, 56.0 * KIB},
        {"host.swap.total", NULL, 50000.0 * KIB},
        {"host.swap.free", NULL, 40000.0 * KIB},
        {"host.tcp.sockets.orphaned", NULL, 32},
        {"host.tcp.sockets.time-wait", NULL, 33},
        {"host.tcp.sockets.allocated", NULL, 34},
    };
    static const struct {
        const char *name, *one;
        int64_t value;
    } levels[] = {
        {"host.processes.running", NULL, 3},           {"host.processes.blocked", NULL, 1},
        {"host.memory.used", NULL, 600000 * KIB},      {"host.swap.used", NULL, 10000 * KIB},
        {"host.tcp.connections.established", NULL, 5}, {"host.tcp.sockets.in-use", NULL, 31},
        {"host.storage.device.in-flight", "sda", 7},
    };
    system_tree tree;
    system_under_test test;
    host_tree_make(&tree);
    system_test_start(&test, &tree, HOST_GROUPS);
    crest_snapshot *seen = system_look(&test);
    for (size_t i = 0; i < LENGTH(gauges); i++)
        if (host_gauge(seen, gauges[i].name, gauges[i].one) != gauges[i].value)
            fail_msg("%s: %g", gauges[i].name, host_gauge(seen, gauges[i].name, gauges[i].one));
    for (size_t i = 0; i < LENGTH(levels); i++)
        assert_int_equal(host_level(seen, levels[i].name, levels[i].one), levels[i].value);
    crest_snapshot_free(seen);
    crest_testing_reading usage = FIXTURE_READING(test.registry, "host.memory.usage");
    assert_true(usage.count >= 1 && usage.maximum == 60 && usage.minimum == 60);
    usage = FIXTURE_READING(test.registry, "host.swap.usage");
    assert_true(usage.count >= 1 && usage.maximum == 20);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

static void what_is_left_out(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    host_tree_make(&tree);
    system_test_start(&test, &tree, HOST_GROUPS);
    crest_snapshot *seen = system_look(&test);
    static const char *const devices[] = {"loop0", "sda1", "sdb"};
    for (size_t i = 0; i < LENGTH(devices); i++)
        assert_true(host_absent(seen, "host.storage.device.ops.read", devices[i], NULL));
    assert_true(host_absent(seen, "host.network.data.read", "docker0", NULL));
    assert_true(host_absent(seen, "host.network.data.read", "veth12ab", NULL));
    /* the kernel has no such line or file here */
    assert_true(host_absent(seen, "host.pressure", "cpu", "full"));
    assert_true(host_absent(seen, "host.pressure", "memory", "some"));
    assert_true(host_absent(seen, "host.memory.slab", NULL, NULL));
    crest_snapshot_free(seen);
    crest_system_state states[CREST_SYSTEM_COLLECTORS_MAX];
    size_t count = crest_system_list(test.system, states, LENGTH(states));
    assert_int_equal(count, 8);
    for (size_t i = 0; i < count; i++)
        if (states[i].failures != 0)
            fail_msg("%s: %s", states[i].name, states[i].why);
    system_test_stop(&test);

    test.options.devices_exclude = "";
    test.options.interfaces_exclude = "e?h* lo";
    test.registry = test.options.registry = fixture_registry(NULL);
    system_test_again(&test);
    seen = system_look(&test);
    assert_int_equal(host_count(seen, "host.storage.device.ops.read", "loop0", NULL), 1);
    assert_true(host_absent(seen, "host.network.data.read", "eth0", NULL));
    assert_int_equal(host_count(seen, "host.network.data.read", "docker0", NULL), 1);
    crest_snapshot_free(seen);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* ---- processors ---- */

static void cpu_line(const system_tree *tree, uint64_t user, uint64_t idle, uint64_t iowait)
{
    char text[200];
    snprintf(text, sizeof text, "cpu %llu 0 0 %llu %llu 0 0 0 0 0\nctxt 1\n",
             (unsigned long long)user, (unsigned long long)idle, (unsigned long long)iowait);
    system_tree_write(tree, "proc/stat", text);
}

static void idle_time_that_steps_back_is_not_counted_again(void **state)
{
    (void)state;
    static const struct {
        uint64_t ticks, counted, resets; /* idle, as the source has it, and as we do */
    } steps[] = {
        {100000, 100000, 0}, {100050, 100050, 0},
        {100020, 100050, 0}, /* a little: wait for it to catch up */
        {100049, 100050, 0}, {100060, 100060, 0},
        {90000, 100060, 1}, /* much: go on from there, count nothing twice */
        {90010, 100070, 1},  {90010, 100070, 1},
    };
    system_tree tree;
    system_under_test test;
    system_tree_make(&tree);
    cpu_line(&tree, 5, steps[0].ticks, 7);
    system_test_start(&test, &tree, "cpu");
    for (size_t i = 0; i < LENGTH(steps); i++) {
        cpu_line(&tree, 5, steps[i].ticks, 7);
        crest_snapshot *seen = system_look(&test);
        assert_int_equal(host_count(seen, "host.cpu", "idle", NULL), steps[i].counted * US / 100);
        assert_int_equal(host_count(seen, "host.cpu", "user", NULL), 5 * US / 100);
        crest_snapshot_free(seen);
        seen = fixture_snapshot(test.registry);
        assert_int_equal(host_counted(seen, "crest.collect-resets", "cpu", "reset"),
                         steps[i].resets);
        crest_snapshot_free(seen);
    }
    system_test_stop(&test);
    system_tree_remove(&tree);
}

static void shares_of_an_interval_are_kamons(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    system_tree_make(&tree);
    system_tree_write(&tree, "proc/stat", "cpu 1000 1000 1000 1000 1000 1000 1000 1000 0 0\n");
    system_test_start(&test, &tree, "cpu");
    crest_snapshot_free(system_look(&test)); /* where the first interval begins */
    /* of 200 ticks: user 80, nice 20, system 40, idle 20, iowait 10, irq 6, softirq 4, steal 20 */
    system_tree_write(&tree, "proc/stat", "cpu 1080 1020 1040 1020 1010 1006 1004 1020 0 0\n");
    crest_snapshot_free(system_look(&test));
    static const struct {
        const char *mode;
        int64_t percent;
    } shares[] = {{"user", 40}, {"system", 20}, {"wait", 5},
                  {"idle", 10}, {"stolen", 10}, {"combined", 75}};
    for (size_t i = 0; i < LENGTH(shares); i++) {
        crest_testing_reading usage =
            FIXTURE_READING(test.registry, "host.cpu.usage", "mode", shares[i].mode);
        assert_int_equal(usage.count, 1); /* an interval in which nothing passed is none */
        assert_true(usage.maximum == (uint64_t)shares[i].percent);
    }
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* ---- disks ---- */

static void what_was_used_since_the_start_of_the_machine_is_no_interval(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    system_tree_make(&tree);
    system_test_start(&test, &tree, "cpu");
    crest_snapshot_free(system_look(&test));
    system_tree_write(&tree, "proc/stat", "cpu 9000 0 0 1000 0 0 0 0 0 0\n");
    crest_snapshot_free(system_look(&test));
    system_tree_write(&tree, "proc/stat", "cpu 9020 0 0 1080 0 0 0 0 0 0\n");
    crest_snapshot_free(system_look(&test));
    crest_testing_reading usage = FIXTURE_READING(test.registry, "host.cpu.usage", "mode", "user");
    assert_int_equal(usage.count, 1);
    assert_int_equal(usage.maximum, 20);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

static void disk_line(const system_tree *tree, const char *name, uint64_t reads, uint64_t read_ms)
{
    char text[200];
    snprintf(text, sizeof text, "8 0 %s %llu 0 8 %llu 1 0 8 1 4294967295 1 1\n", name,
             (unsigned long long)reads, (unsigned long long)read_ms);
    system_tree_write(tree, "proc/diskstats", text);
}

static void milliseconds_of_disks_wrap(void **state)
{
    (void)state;
    static const struct {
        uint64_t reads, read_ms, counted_reads, counted_ms, wraps, resets;
    } steps[] = {
        {100, 4294967000, 100, 4294967000, 0, 0},
        {110, 200, 110, 4294967000 + 496, 1, 0}, /* 2^32 - 4294967000 + 200 */
        {120, 100, 120, 4294967496 + 100, 1, 1}, /* a small step back is no wrap */
        {5, 110, 125, 4294967606, 1, 2},         /* reads are 64 bits: the device began again */
    };
    system_tree tree;
    system_under_test test;
    system_tree_make(&tree);
    disk_line(&tree, "sda", steps[0].reads, steps[0].read_ms);
    system_test_start(&test, &tree, "disks");
    for (size_t i = 0; i < LENGTH(steps); i++) {
        disk_line(&tree, "sda", steps[i].reads, steps[i].read_ms);
        crest_snapshot *seen = system_look(&test);
        assert_int_equal(host_count(seen, "host.storage.device.ops.read", "sda", NULL),
                         steps[i].counted_reads);
        assert_int_equal(host_count(seen, "host.storage.device.time.read", "sda", NULL),
                         steps[i].counted_ms * MS_NS);
        /* the kernel's own underflow is no number of requests */
        assert_true(host_absent(seen, "host.storage.device.in-flight", "sda", NULL));
        crest_snapshot_free(seen);
        seen = fixture_snapshot(test.registry);
        assert_int_equal(host_counted(seen, "crest.collect-resets", "disks", "wrap"),
                         steps[i].wraps);
        assert_int_equal(host_counted(seen, "crest.collect-resets", "disks", "reset"),
                         steps[i].resets);
        crest_snapshot_free(seen);
    }
    system_test_stop(&test);
    system_tree_remove(&tree);
}

static void a_device_that_comes_back_counts_nothing_twice(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    system_tree_make(&tree);
    disk_line(&tree, "sda", 100, 10);
    system_test_start(&test, &tree, "disks");
    crest_snapshot *seen = system_look(&test);
    assert_int_equal(host_count(seen, "host.storage.device.ops.read", "sda", NULL), 100);
    crest_snapshot_free(seen);
    disk_line(&tree, "sdb", 7, 1);
    seen = system_look(&test);
    assert_int_equal(host_count(seen, "host.storage.device.ops.read", "sdb", NULL), 7);
    crest_snapshot_free(seen);
    disk_line(&tree, "sda", 130, 10);
    seen = system_look(&test);
    assert_int_equal(host_count(seen, "host.storage.device.ops.read", "sda", NULL), 130);
    crest_snapshot_free(seen);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* ---- what goes wrong ---- */

static void what_cannot_be_read_is_absent_and_counted(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text, *collector, *cause, *gone, *one, *two, *stays;
    } cases[] = {
        {"proc/stat", NULL, "cpu", "missing", "host.cpu", "idle", NULL, "host.memory.total"},
        {"proc/stat", "cpu 1 2 x\nctxt 5\n", "cpu", "garbage", "host.cpu", "idle", NULL,
         "host.context-switches"},
        {"proc/stat", "cpu 1 2 3 9999999999999999999\nctxt 5\n", "cpu", "garbage", "host.cpu",
         "user", NULL, "host.context-switches"},
        {"proc/stat", "ctxt 5\nprocs_running 9999999999999999999\n", "cpu", "garbage",
         "host.processes.running", NULL, NULL, "host.context-switches"},
        {"proc/vmstat", "pswpin 9999999999999999999\noom_kill 4\n", "paging", "garbage",
         "host.swapping.data", "in", NULL, "host.oom-kills"},
        {"proc/loadavg", "much", "load", "garbage", "host.load.average", "1m", NULL,
         "host.memory.total"},
        {"proc/meminfo", "MemTotal: 9 kB\nMemFree: many kB\n", "memory", "garbage",
         "host.memory.used", NULL, NULL, "host.memory.total"},
        {"proc/vmstat", "pgpgin -1\npgpgout 5\noom_kill 4\n", "paging", "garbage",
         "host.paging.data", "in", NULL, "host.oom-kills"},
        {"proc/diskstats", "8 0 sda 1 2\n", "disks", "garbage", "host.storage.device.ops.read",
         "sda", NULL, "host.memory.total"},
        {"proc/net/dev", "eth0: 1 2 3\n", "network", "garbage", "host.network.data.read", "eth0",
         NULL, "host.memory.total"},
        {"proc/net/snmp", "Tcp: InSegs\nTcp: x\n", "tcp", "garbage", "host.tcp.segments.read", NULL,
         NULL, "host.tcp.timeouts"},
        {"proc/pressure/io", "some total=x\nfull total=9\n", "pressure", "garbage", "host.pressure",
         "io", "some", "host.memory.total"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        system_tree tree;
        system_under_test test;
        host_tree_make(&tree);
        if (cases[i].text != NULL)
            system_tree_write(&tree, cases[i].file, cases[i].text);
        else
            system_tree_unlink(&tree, cases[i].file);
        system_test_start(&test, &tree, HOST_GROUPS);
        crest_snapshot *seen = system_look(&test);
        assert_true(host_absent(seen, cases[i].gone, cases[i].one, cases[i].two));
        assert_false(host_absent(seen, cases[i].stays, NULL, NULL));
        crest_snapshot_free(seen);
        if (system_failures(&test, cases[i].collector, cases[i].cause) == 0)
            fail_msg("%s: %s was not counted", cases[i].file, cases[i].cause);
        system_tree_remove(&tree);
        system_test_stop(&test);
    }
}

static void a_source_that_goes_and_comes_back(void **state)
{
    (void)state;
    system_tree tree;
    system_under_test test;
    host_tree_make(&tree);
    system_test_start(&test, &tree, HOST_GROUPS);
    crest_snapshot *seen = system_look(&test);
    assert_int_equal(host_count(seen, "host.context-switches", NULL, NULL), 7770);
    assert_true(host_gauge(seen, "host.load.average", "1m") == 0.79);
    crest_snapshot_free(seen);
    system_tree_unlink(&tree, "proc/stat");
    system_tree_unlink(&tree, "proc/loadavg");
    seen = system_look(&test);
    assert_true(host_absent(seen, "host.context-switches", NULL, NULL));
    assert_true(host_absent(seen, "host.load.average", "1m", NULL));
    crest_snapshot_free(seen);
    system_tree_write(&tree, "proc/stat", "ctxt 7780\n");
    system_tree_write(&tree, "proc/loadavg", "0.10 0.20 0.30 1/2 3\n");
    seen = system_look(&test);
    assert_int_equal(host_count(seen, "host.context-switches", NULL, NULL), 7780);
    assert_true(host_gauge(seen, "host.load.average", "1m") == 0.10);
    crest_snapshot_free(seen);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

/* ---- windows ---- */

/* Reads everything, as a tick of the windows at this second; the last minute's growth of the
 * machine's context switches. */
static uint64_t host_switches(system_under_test *test, crest_windows *windows, unsigned second)
{
    crest_window window = {0};
    crest_clock_fake((1000 + second) * SECOND);
    crest_snapshot_free(system_look(test));
    crest_snapshot *seen = crest_snapshot_read_notes(test->registry->state);
    assert_non_null(seen);
    for (size_t i = 0; i < seen->directory->count; i++)
        if (strcmp(seen->directory->series[i]->metric->name, "host.context-switches") == 0)
            crest_windows_result(windows, seen->directory->series[i], 60, &window);
    assert_int_equal(crest_windows_tick(windows, seen), 0);
    return window.events;
}

/* A node that began a second ago has not seen what the kernel has counted for months. */
static void the_machines_past_is_no_growth(void **state)
{
    (void)state;
    static const char *const switches[] = {"7770", "7770", "7781", "7781"};
    system_tree tree;
    system_under_test test;
    char text[64];
    host_tree_make(&tree);
    system_test_start(&test, &tree, "cpu");
    crest_clock_fake(1000 * SECOND);
    crest_windows *windows = crest_windows_new();
    assert_non_null(windows);
    assert_int_equal(crest_windows_tick(windows, crest_snapshot_read_notes(test.registry->state)),
                     0);
    uint64_t grown = 0;
    for (unsigned i = 0; i < LENGTH(switches); i++) {
        snprintf(text, sizeof text, "cpu  1 0 1 1 1 1 1 1 1 1\nctxt %s\n", switches[i]);
        system_tree_write(&tree, "proc/stat", text);
        grown = host_switches(&test, windows, i + 1);
    }
    assert_int_equal(grown, 11);
    crest_windows_free(windows);
    crest_clock_fake(0);
    system_test_stop(&test);
    system_tree_remove(&tree);
}

int main(void)
{
    fixture_watchdog(170);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_has_its_unit),
        cmocka_unit_test(levels_are_gauges_and_range_samplers),
        cmocka_unit_test(what_is_left_out),
        cmocka_unit_test(idle_time_that_steps_back_is_not_counted_again),
        cmocka_unit_test(shares_of_an_interval_are_kamons),
        cmocka_unit_test(what_was_used_since_the_start_of_the_machine_is_no_interval),
        cmocka_unit_test(milliseconds_of_disks_wrap),
        cmocka_unit_test(a_device_that_comes_back_counts_nothing_twice),
        cmocka_unit_test(what_cannot_be_read_is_absent_and_counted),
        cmocka_unit_test(a_source_that_goes_and_comes_back),
        cmocka_unit_test(the_machines_past_is_no_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
