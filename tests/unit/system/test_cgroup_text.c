/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_text.h and cgroup_text.h: mounts with blanks in their names, and where the own control
 * group is on a host, in Docker, in a pod, with version 1 beside it, and outside what can be seen.
 */
#include "system/parse/cgroup_text.h"

#include "support/proc_fixture.h"

static void mounts(void **state)
{
    (void)state;
    static const char text[] =
        "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
        "36 35 98:0 /mnt1 /mnt\\0402\\011x\\134 ro,noatime master:1 propagate_from:2 - xfs "
        "/dev/root rw\n"
        "37 35 98:0 / /no rw - \n"
        "38 35 98 / /bad rw - ext3 /dev/x rw\n"
        "x\n\n"
        "39 35 0:44 / /odd\\9\\777\\04 norw,rot - fuse.s3fs s3 rw\n";
    crest_text rest = TEXT(text);
    crest_fault fault = {0};
    crest_mount_row row;
    assert_true(crest_mountinfo_next(&rest, &row, &fault));
    assert_string_equal(row.point, "/");
    assert_string_equal(row.type, "ext4");
    assert_false(row.read_only);
    assert_true(crest_mountinfo_next(&rest, &row, &fault));
    assert_null(fault.why);
    assert_string_equal(row.point, "/mnt 2\tx\\");
    assert_string_equal(row.root, "/mnt1");
    assert_string_equal(row.type, "xfs");
    assert_int_equal(row.major, 98);
    assert_true(row.read_only);
    assert_true(crest_mountinfo_next(&rest, &row, &fault));
    assert_non_null(strstr(fault_shown(&fault), "37 35"));
    assert_string_equal(row.point, "/odd\\9\\777\\04"); /* no escapes: they stay */
    assert_string_equal(row.type, "fuse.s3fs");
    assert_false(row.read_only);
    assert_false(crest_mountinfo_next(&rest, &row, &fault));

    char line[3 * CREST_MOUNT_PATH_BYTES] = "1 1 1:1 / /";
    memset(line + strlen(line), 'p', CREST_MOUNT_PATH_BYTES);
    strcat(line, " rw - ext4 x rw\n");
    crest_fault longer = {0};
    rest = TEXT(line);
    assert_false(crest_mountinfo_next(&rest, &row, &longer));
    assert_non_null(longer.why);
    char path[16];
    assert_false(crest_mount_path(TEXT("a\\000b"), path, sizeof path));
}

static void own_group(void **state)
{
    (void)state;
    static const char unified[] = "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";
    static const char hybrid[] =
        "31 23 0:28 / /sys/fs/cgroup ro shared:9 - tmpfs tmpfs ro\n"
        "32 31 0:29 / /sys/fs/cgroup/unified rw shared:10 - cgroup2 cgroup2 rw\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw shared:15 - cgroup cgroup rw,memory\n";
    static const struct {
        const char *what, *cgroup, *mounts, *mount, *path;
    } cases[] = {
        {"a service", "0::/system.slice/rnode.service\n", unified, "/sys/fs/cgroup",
         "/system.slice/rnode.service"},
        {"the root", "0::/\n", unified, "/sys/fs/cgroup", ""},
        {"a container with a namespace of its own", "0::/\n",
         "612 611 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n", "/sys/fs/cgroup", ""},
        {"a container in the host's namespace", "0::/system.slice/docker-0a1b.scope\n",
         "612 611 0:26 /system.slice/docker-0a1b.scope /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
         "/sys/fs/cgroup", ""},
        {"the same, one level deeper", "0::/system.slice/docker-0a1b.scope/init\n",
         "612 611 0:26 /system.slice/docker-0a1b.scope /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
         "/sys/fs/cgroup", "/init"},
        {"both versions", "12:memory:/user.slice\n1:name=systemd:/x\n0::/user.slice/a\n", hybrid,
         "/sys/fs/cgroup/unified", "/user.slice/a"},
        {"version 1 only", "12:memory:/user.slice\n", hybrid, NULL, NULL},
        {"not mounted", "0::/\n", "27 1 254:0 / / rw - ext4 /dev/vda rw\n", NULL, NULL},
        {"moved out of the namespace", "0::/../other\n", unified, NULL, NULL},
        {"only others are mounted", "0::/a\n",
         "612 611 0:26 /ab /sys/fs/cgroup ro - cgroup2 cgroup rw\n", NULL, NULL},
        {"a mount of what is outside the namespace", "0::/a\n",
         "612 611 0:26 /../.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n", NULL, NULL},
        {"a name with dots", "0::/..a/b..\n", unified, "/sys/fs/cgroup", "/..a/b.."},
        {"deleted", "0::/x (deleted)\n", unified, "/sys/fs/cgroup", "/x (deleted)"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char path[CREST_MOUNT_PATH_BYTES];
        crest_cgroup_place place;
        crest_fault fault = {0};
        int found = crest_cgroup_path(TEXT(cases[i].cgroup), path, sizeof path, &fault) &&
                    crest_cgroup_find(TEXT(cases[i].mounts), path, &place, &fault);
        if (found != (cases[i].mount != NULL) || fault.why != NULL)
            fail_msg("%s: found %d, %s", cases[i].what, found, fault.why ? fault.why : "no fault");
        if (!found)
            continue;
        assert_string_equal(place.mount, cases[i].mount);
        assert_string_equal(place.path, cases[i].path);
    }
    char path[8];
    crest_fault fault = {0};
    assert_false(crest_cgroup_path(TEXT("0::/longer-than-that\n"), path, sizeof path, &fault));
    assert_non_null(fault.why);
    crest_fault relative = {0};
    assert_false(crest_cgroup_path(TEXT("0::x\n"), path, sizeof path, &relative));
    assert_non_null(relative.why);
}

static void limits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int valid;
        uint64_t value;
    } cases[] = {
        {"max\n", 1, CREST_CGROUP_NO_LIMIT},
        {"1073741824\n", 1, 1073741824},
        {"0\n", 1, 0},
        {"-1\n", 0, 0},
        {"", 0, 0},
        {"\n", 0, 0},
        {"maximum\n", 0, 0},
        {"1 2\n", 0, 0},
        {"1.5\n", 0, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        crest_fault fault = {0};
        uint64_t value = 5;
        assert_int_equal(crest_cgroup_value(TEXT(cases[i].text), &value, &fault), cases[i].valid);
        assert_int_equal(value, cases[i].valid ? cases[i].value : 5);
        assert_int_equal(fault.why == NULL, cases[i].valid);
    }
    static const struct {
        const char *text;
        int valid;
        uint64_t quota, period;
    } processors[] = {
        {"max 100000\n", 1, CREST_CGROUP_NO_LIMIT, 100000},
        {"150000 100000\n", 1, 150000, 100000},
        {"150000\n", 0, 0, 0},
        {"150000 0\n", 0, 0, 0},
        {"150000 max\n", 0, 0, 0},
        {"", 0, 0, 0},
    };
    for (size_t i = 0; i < LENGTH(processors); i++) {
        crest_fault fault = {0};
        uint64_t quota = 0, period = 0;
        assert_int_equal(crest_cgroup_cpu_max(TEXT(processors[i].text), &quota, &period, &fault),
                         processors[i].valid);
        assert_int_equal(quota, processors[i].quota);
        assert_int_equal(period, processors[i].period);
        assert_int_equal(fault.why == NULL, processors[i].valid);
    }
}

static void tables(void **state)
{
    (void)state;
    crest_fault fault = {0};
    uint64_t cpu[CREST_CGROUP_CPU_KEYS];
    assert_int_equal(crest_cgroup_cpu_stat(TEXT("usage_usec 12\nuser_usec 7\nsystem_usec 5\n"
                                                "nice_usec 0\ncore_sched.force_idle_usec 0\n"
                                                "nr_periods 3\nnr_throttled 2\nthrottled_usec 1\n"
                                                "nr_bursts 0\nburst_usec 0\n"),
                                           cpu, &fault),
                     (1u << CREST_CGROUP_CPU_KEYS) - 1);
    static const uint64_t wanted[CREST_CGROUP_CPU_KEYS] = {12, 7, 5, 3, 2, 1};
    assert_memory_equal(cpu, wanted, sizeof wanted);
    uint64_t events[CREST_CGROUP_EVENTS];
    assert_int_equal(crest_cgroup_memory_events(TEXT("low 0\nhigh 4\nmax 3\noom 2\noom_kill 1\n"
                                                     "oom_group_kill 0\n"),
                                                events, &fault),
                     (1u << CREST_CGROUP_EVENTS) - 1);
    assert_int_equal(events[CREST_CGROUP_EVENT_OOM_KILL], 1);
    assert_int_equal(events[CREST_CGROUP_EVENT_OOM], 2);
    uint64_t memory[CREST_CGROUP_MEMORY_KEYS];
    assert_int_equal(crest_cgroup_memory_stat(TEXT("anon 1\nfile 2\nkernel 9\nslab 3\n"
                                                   "inactive_file 4\npgfault x\n"),
                                              memory, &fault),
                     1u << CREST_CGROUP_MEMORY_ANONYMOUS | 1u << CREST_CGROUP_MEMORY_FILE |
                         1u << CREST_CGROUP_MEMORY_SLAB | 1u << CREST_CGROUP_MEMORY_INACTIVE_FILE);
    assert_string_equal(fault_shown(&fault), "pgfault x");
}

static void devices(void **state)
{
    (void)state;
    static const char text[] =
        "254:0 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n"
        "7:0 \n"
        "8:0 8:16 rbytes=5 wbytes=6 rios=7 wios=8\n"
        "sda rbytes=1\n"
        "8:32 rbytes=x wios=9\n";
    crest_text rest = TEXT(text);
    crest_fault fault = {0};
    crest_cgroup_io_row row;
    assert_true(crest_cgroup_io_next(&rest, &row, &fault));
    assert_int_equal(row.major, 254);
    assert_int_equal(row.minor, 0);
    static const uint64_t wanted[CREST_CGROUP_IO_KEYS] = {1459200, 314773504, 192, 353};
    assert_memory_equal(row.values, wanted, sizeof wanted);
    assert_true(crest_cgroup_io_next(&rest, &row, &fault));
    assert_int_equal(row.major, 8);
    assert_int_equal(row.minor, 16);
    assert_int_equal(row.values[CREST_CGROUP_IO_READ_BYTES], 5);
    assert_null(fault.why);
    assert_true(crest_cgroup_io_next(&rest, &row, &fault));
    assert_int_equal(row.minor, 32);
    assert_int_equal(row.found, 1u << CREST_CGROUP_IO_WRITES);
    assert_string_equal(fault_shown(&fault), "sda rbytes=1");
    assert_false(crest_cgroup_io_next(&rest, &row, &fault));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mounts), cmocka_unit_test(own_group), cmocka_unit_test(limits),
        cmocka_unit_test(tables), cmocka_unit_test(devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
