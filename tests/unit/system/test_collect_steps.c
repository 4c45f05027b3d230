/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collections made one by one, at times and over sources of the test's choosing: what the kernel
 * says this process used, another control group, devices that come and go, absurd counts.
 */
#define _GNU_SOURCE
#include "system/collectors.h"
#include "support/system_fixture.h"
#include "system/system_inside.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#define SECOND UINT64_C(1000000000)

/* ---- what the kernel says, in the place of the C library's ---- */

static struct rusage told_usage;
static int told_processors;

int getrusage(__rusage_who_t who, struct rusage *usage)
{
    (void)who;
    *usage = told_usage;
    return 0;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    memset(set, 0, size);
    for (int i = 0; i < told_processors; i++)
        CPU_SET(i, set);
    return 0;
}

/* As of a kernel that does not say how many descriptors there are. */
int statfs(const char *path, struct statfs *system)
{
    (void)path;
    memset(system, 0, sizeof *system);
    return 0;
}

/* ---- a collector without a thread ---- */

typedef struct steps {
    system_tree tree;
    struct crest_system system;
    crest_collector collector;
} steps;

static void steps_begin(steps *s, const crest_collector_kind *kind)
{
    memset(s, 0, sizeof *s);
    system_tree_make(&s->tree);
    s->system.registry = fixture_registry(NULL);
    s->system.settings.proc = s->tree.proc;
    s->system.settings.sys = s->tree.sys;
    s->system.settings.interval_ns = 10 * SECOND;
    s->system.settings.slow_interval_ns = 3600 * SECOND;
    s->collector.kind = kind;
    s->collector.system = &s->system;
    s->collector.collect.kind = kind;
    s->collector.collect.settings = &s->system.settings;
    s->collector.collect.state = calloc(1, kind->state_bytes + 1);
    s->collector.collect.now_ns = 1000 * SECOND;
    assert_true(crest_figures_begin(&s->collector));
}

static void steps_end(steps *s)
{
    crest_figures_withdraw(&s->collector);
    crest_figures_free(&s->collector);
    free(s->collector.collect.state);
    free(s->collector.buffer);
    crest_registry_free(s->system.registry);
    system_tree_remove(&s->tree);
}

/* The first has no interval behind it. */
static void steps_collect(steps *s, unsigned seconds)
{
    crest_collect *collect = &s->collector.collect;
    s->collector.round++;
    s->collector.given = 0;
    collect->consume = 1;
    collect->elapsed_ns = s->collector.round == 1 ? 0 : seconds * SECOND;
    collect->now_ns += seconds * SECOND;
    s->collector.kind->collect(collect);
    crest_figures_end(&s->collector);
}

static void assert_records(const steps *s, const char *name, const char *key, const char *value,
                           uint64_t count, uint64_t sum)
{
    crest_testing_reading reading;
    crest_error error;
    if (crest_testing_read(s->system.registry, NULL, &reading, &error, name, key, value, NULL) !=
        CREST_OK)
        fail_msg("%s", error.message);
    if (reading.count != count || reading.sum != sum)
        fail_msg("%s{%s}: %llu records of %llu", name, value ? value : "",
                 (unsigned long long)reading.count, (unsigned long long)reading.sum);
}

/* ---- the process ---- */

static void told_used(unsigned user_s, unsigned system_s)
{
    told_usage.ru_utime = (struct timeval){user_s, 500000};
    told_usage.ru_stime = (struct timeval){system_s, 250000};
}

/* Percent of what the processors had that it may run on, since the last time. */
static void test_process_usage(void **state)
{
    (void)state;
    steps s;
    steps_begin(&s, &crest_process_collector);
    told_processors = 4;
    told_used(1000, 500);
    steps_collect(&s, 10);
    told_used(1010, 504);
    told_usage.ru_minflt = 1000;
    told_usage.ru_majflt = 7;
    told_usage.ru_nvcsw = 20;
    told_usage.ru_nivcsw = 3;
    told_usage.ru_inblock = 5;
    told_usage.ru_oublock = 6;
    steps_collect(&s, 10);
    assert_records(&s, "process.cpu.usage", "mode", "user", 1, 25);
    assert_records(&s, "process.cpu.usage", "mode", "system", 1, 10);
    assert_records(&s, "process.cpu.usage", "mode", "combined", 1, 35);
    steps_collect(&s, 10); /* nothing was used */
    assert_records(&s, "process.cpu.usage", "mode", "combined", 2, 35);
    told_used(1090, 604);
    steps_collect(&s, 20); /* more than there is */
    assert_records(&s, "process.cpu.usage", "mode", "combined", 3, 135);
    static const struct {
        const char *name, *key, *value;
        uint64_t counter;
    } counters[] = {
        {"process.cpu.user", NULL, NULL, 1090500000000},
        {"process.cpu.system", NULL, NULL, 604250000000},
        {"process.cpu", NULL, NULL, 1694750000000},
        {"process.page-faults", "kind", "minor", 1000},
        {"process.page-faults", "kind", "major", 7},
        {"process.context-switches", "kind", "voluntary", 20},
        {"process.context-switches", "kind", "involuntary", 3},
        {"process.block-operations", "direction", "read", 5},
        {"process.block-operations", "direction", "write", 6},
    };
    for (size_t i = 0; i < LENGTH(counters); i++) {
        crest_testing_reading reading = FIXTURE_READING(s.system.registry, counters[i].name,
                                                        counters[i].key, counters[i].value);
        if (reading.counter != counters[i].counter)
            fail_msg("%s{%s}: %llu", counters[i].name, counters[i].value ? counters[i].value : "",
                     (unsigned long long)reading.counter);
    }
    steps_end(&s);
}

/* Without the one that counts them. */
static void test_process_descriptors(void **state)
{
    (void)state;
    steps s;
    steps_begin(&s, &crest_process_collector);
    s.system.settings.proc = "/proc";
    unsigned open_now = 0;
    for (int fd = 0; fd < 1024; fd++)
        open_now += fcntl(fd, F_GETFD) != -1;
    steps_collect(&s, 10);
    assert_true(FIXTURE_READING(s.system.registry, "process.open-fds").gauge == open_now);
    steps_end(&s);
}

/* That there is no limit is no failure. */
static void test_process_unlimited(void **state)
{
    (void)state;
    steps s;
    steps_begin(&s, &crest_process_collector);
    system_tree_write(&s.tree, "proc/self/stat",
                      "1 (a) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 7 0 9 4096 1 0\n");
    system_tree_write(&s.tree, "proc/stat", "btime 1700000000\n");
    system_tree_write(&s.tree, "proc/self/io",
                      "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\n"
                      "read_bytes: 5\nwrite_bytes: 6\n");
    system_tree_write(&s.tree, "proc/self/fd/0", "");
    system_tree_write(
        &s.tree, "proc/self/limits",
        "Max open files            unlimited            unlimited            files\n"
        "Max address space         4096                 unlimited            bytes\n");
    steps_collect(&s, 10);
    if (s.collector.failed != 0)
        fail_msg("%s", s.collector.failure);
    assert_true(FIXTURE_READING(s.system.registry, "process.virtual-memory-max").gauge == 4096);
    steps_end(&s);
}

/* ---- control groups ---- */

static void group_make(const steps *s, const char *name, const char *memory, const char *cpu_max,
                       const char *cpu_stat)
{
    const char *const files[][2] = {{"memory.current", "100\n"},
                                    {"memory.max", memory},
                                    {"cpu.max", cpu_max},
                                    {"cpu.stat", cpu_stat}};
    for (size_t i = 0; i < LENGTH(files); i++) {
        char path[128];
        snprintf(path, sizeof path, "sys/fs/cgroup/%s/%s", name, files[i][0]);
        system_tree_write(&s->tree, path, files[i][1]);
    }
}

/* Limits are read seldom, but of another group at once; and its processor time is not that of the
 * one before. */
static void test_another_group(void **state)
{
    (void)state;
    steps s;
    steps_begin(&s, &crest_cgroup_collector);
    system_tree_write(&s.tree, "proc/self/mountinfo",
                      "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    system_tree_write(&s.tree, "proc/self/cgroup", "0::/one\n");
    group_make(&s, "one", "1000\n", "40000 20000\n", "usage_usec 1000000\n");
    group_make(&s, "two", "500\n", "5000 20000\n", "usage_usec 9000000\n");
    steps_collect(&s, 10);
    assert_true(FIXTURE_READING(s.system.registry, "cgroup.memory.limit").gauge == 1000);
    assert_true(FIXTURE_READING(s.system.registry, "cgroup.cpu.limit").gauge == 2);
    group_make(&s, "one", "2000\n", "40000 20000\n", "usage_usec 5000000\n");
    steps_collect(&s, 10);
    assert_true(FIXTURE_READING(s.system.registry, "cgroup.memory.limit").gauge == 1000);
    assert_records(&s, "cgroup.cpu.usage", NULL, NULL, 1, 20); /* 4 s of 20 */
    system_tree_write(&s.tree, "proc/self/cgroup", "0::/two\n");
    steps_collect(&s, 10);
    assert_true(FIXTURE_READING(s.system.registry, "cgroup.memory.limit").gauge == 500);
    assert_true(FIXTURE_READING(s.system.registry, "cgroup.cpu.limit").gauge == 0.25);
    assert_records(&s, "cgroup.cpu.usage", NULL, NULL, 1, 20);
    group_make(&s, "two", "500\n", "5000 20000\n", "usage_usec 9500000\n");
    steps_collect(&s, 10);
    assert_records(&s, "cgroup.cpu.usage", NULL, NULL, 2, 40); /* 0.5 s of 2.5 */
    steps_end(&s);
}

/* ---- the framework ---- */

enum { OWN_TOTAL, OWN_SCALED };
static const crest_figure own_figures[] = {
    [OWN_TOTAL] = {.kind = CREST_KIND_COUNTER, .options = {.name = "own.total"}},
    [OWN_SCALED] = {.kind = CREST_KIND_COUNTER, .options = {.name = "own.scaled"}, .scale = 512},
};
static const crest_figure device_figures[] = {
    {.kind = CREST_KIND_COUNTER, .options = {.name = "device.total"}}};

static uint64_t own_total, own_scaled, device_total;
static const char *device_name;
static unsigned device_state;

static void own_collect(crest_collect *collect)
{
    crest_figure_total(collect->own, OWN_TOTAL, own_total);
    crest_figure_total(collect->own, OWN_SCALED, own_scaled);
    crest_place *place = device_name != NULL ? crest_collect_device(collect, device_name) : NULL;
    if (place == NULL)
        return;
    device_state = ++*(unsigned *)crest_place_state(place);
    crest_figure_total(place, 0, device_total);
}

static const crest_collector_kind own_kind = {
    .name = "own",
    .group = "own",
    .collect = own_collect,
    .figures = own_figures,
    .figure_count = CREST_FIGURES(own_figures),
    .device_key = "device",
    .device_figures = device_figures,
    .device_figure_count = CREST_FIGURES(device_figures),
    .device_bytes = sizeof(unsigned),
};

/* A count that cannot be is told as garbage, and what comes after it goes on from before it. */
static void test_absurd_counts(void **state)
{
    (void)state;
    steps s;
    steps_begin(&s, &own_kind);
    own_total = own_scaled = 100;
    steps_collect(&s, 10);
    own_total = UINT64_MAX;
    own_scaled = UINT64_C(1) << 55;
    steps_collect(&s, 10);
    assert_int_equal(s.collector.failed, 2);
    own_total = own_scaled = 105;
    steps_collect(&s, 10);
    assert_int_equal(s.collector.failed, 2);
    assert_int_equal(FIXTURE_READING(s.system.registry, "own.total").counter, 105);
    assert_int_equal(FIXTURE_READING(s.system.registry, "own.scaled").counter, 512 * 105);
    steps_end(&s);
}

/* What a collector keeps of a device goes with it. */
static void test_device_state(void **state)
{
    (void)state;
    steps s;
    steps_begin(&s, &own_kind);
    device_name = "a";
    for (unsigned i = 1; i <= 3; i++) {
        steps_collect(&s, 10);
        assert_int_equal(device_state, i);
    }
    device_name = NULL;
    steps_collect(&s, 10);
    device_name = "a";
    steps_collect(&s, 10);
    assert_int_equal(device_state, 1);
    device_name = NULL;
    steps_end(&s);
}

/* The longest name that fits, and one more. */
static void test_device_names(void **state)
{
    (void)state;
    steps s;
    char name[CREST_COLLECT_DEVICE_BYTES + 1];
    steps_begin(&s, &own_kind);
    for (size_t length = CREST_COLLECT_DEVICE_BYTES - 1; length < sizeof name; length++) {
        memset(name, 'd', length);
        name[length] = '\0';
        crest_place *place = crest_collect_device(&s.collector.collect, name);
        assert_true((place != NULL) == (length < CREST_COLLECT_DEVICE_BYTES));
        if (place != NULL)
            assert_string_equal(place->device, name);
    }
    assert_null(crest_collect_device(&s.collector.collect, ""));
    assert_int_equal(s.collector.failed, 2);
    steps_end(&s);
}

static void test_percent(void **state)
{
    (void)state;
    assert_int_equal(crest_figure_percent(0, 0), 0);
    assert_int_equal(crest_figure_percent(5, 0), 0);
    assert_int_equal(crest_figure_percent(1, 3), 33);
    assert_int_equal(crest_figure_percent(2, 3), 67);
    assert_int_equal(crest_figure_percent(3, 3), 100);
    assert_int_equal(crest_figure_percent(4, 3), 100);
    assert_int_equal(crest_figure_percent(UINT64_MAX, 1), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process_usage),     cmocka_unit_test(test_process_descriptors),
        cmocka_unit_test(test_process_unlimited), cmocka_unit_test(test_another_group),
        cmocka_unit_test(test_absurd_counts),     cmocka_unit_test(test_device_state),
        cmocka_unit_test(test_device_names),      cmocka_unit_test(test_percent),
    };
    return cmocka_run_group_tests_name("collect steps", tests, NULL, NULL);
}
