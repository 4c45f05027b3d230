/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the host's collectors share: several figures of one snapshot, by name and label
 * values, and a tree as of a small machine. Tests nothing itself.
 *
 *     crest_snapshot *seen = system_look(&test);
 *     assert_int_equal(host_count(seen, "host.cpu", "user", NULL), 12000000000);
 *     assert_true(host_absent(seen, "host.cpu", "steal", NULL));
 *     crest_snapshot_free(seen);
 */
#ifndef CREST_TESTS_HOST_FIXTURE_H
#define CREST_TESTS_HOST_FIXTURE_H

#include "support/system_fixture.h"

static int host_find(const crest_snapshot *seen, const char *name, const char *one, const char *two,
                     crest_series_view *view)
{
    const char *values[] = {one, two};
    unsigned count = (one != NULL) + (two != NULL);
    return crest_snapshot_find(seen, name, values, count, view) == CREST_OK;
}

__attribute__((unused)) static int host_absent(const crest_snapshot *seen, const char *name,
                                               const char *one, const char *two)
{
    crest_series_view view;
    return !host_find(seen, name, one, two, &view);
}

static crest_series_view host_there(const crest_snapshot *seen, const char *name, const char *one,
                                    const char *two, crest_kind kind)
{
    crest_series_view view;
    if (!host_find(seen, name, one, two, &view))
        fail_msg("there is no %s{%s,%s}", name, one ? one : "", two ? two : "");
    assert_int_equal(view.kind, kind);
    return view;
}

__attribute__((unused)) static uint64_t host_count(const crest_snapshot *seen, const char *name,
                                                   const char *one, const char *two)
{
    return host_there(seen, name, one, two, CREST_KIND_COUNTER).counter;
}

__attribute__((unused)) static double host_gauge(const crest_snapshot *seen, const char *name,
                                                 const char *one)
{
    return host_there(seen, name, one, NULL, CREST_KIND_GAUGE).gauge;
}

__attribute__((unused)) static int64_t host_level(const crest_snapshot *seen, const char *name,
                                                  const char *one)
{
    return host_there(seen, name, one, NULL, CREST_KIND_RANGE_SAMPLER).current;
}

/* A counter's value, 0 when there is no counter yet. */
__attribute__((unused)) static uint64_t host_counted(const crest_snapshot *seen, const char *name,
                                                     const char *one, const char *two)
{
    crest_series_view view;
    return host_find(seen, name, one, two, &view) ? view.counter : 0;
}

#define HOST_MOUNTINFO                                                                             \
    "22 27 0:21 / /proc rw - proc proc rw\n"                                                       \
    "23 27 0:22 / /sys rw - sysfs sysfs rw\n"                                                      \
    "27 1 254:0 / / rw - ext4 /dev/vda rw\n"                                                       \
    "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"

__attribute__((unused)) static void host_tree_make(system_tree *tree)
{
    system_tree_make(tree);
    system_tree_write(tree, "proc/stat",
                      "cpu  1200 34 560 78900 12 3 4 5 600 7\n"
                      "cpu0 600 17 280 39450 6 1 2 3 300 3\n"
                      "cpu1 600 17 280 39450 6 2 2 2 300 4\n"
                      "intr 123456 5 0 9\nctxt 7770\nbtime 1795318749\nprocesses 99\n"
                      "procs_running 3\nprocs_blocked 1\nsoftirq 617773 0\n");
    system_tree_write(tree, "proc/loadavg", "0.79 1.48 12.05 1/95 2012\n");
    system_tree_write(tree, "proc/meminfo",
                      "MemTotal:        1000000 kB\nMemFree:          100000 kB\n"
                      "MemAvailable:     400000 kB\nBuffers:            3000 kB\n"
                      "Cached:           200000 kB\nSwapTotal:         50000 kB\n"
                      "SwapFree:          40000 kB\nDirty:                56 kB\n");
    system_tree_write(tree, "proc/vmstat",
                      "nr_free_pages 25000\npgpgin 100\npgpgout 200\npswpin 3\npswpout 4\n"
                      "pgfault 5000\npgmajfault 60\noom_kill 2\n");
    system_tree_write(tree, "proc/diskstats",
                      "   7       0 loop0 1 0 8 1 0 0 0 0 0 1 1 0 0 0 0\n"
                      "   8       0 sda 100 1 2000 30 40 2 5000 60 7 80 90 0 0 0 0 0 0\n"
                      "   8       1 sda1 99 1 1990 29 40 2 5000 60 7 80 90 0 0 0 0 0 0\n"
                      "   8      16 sdb 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    system_tree_write(tree, "proc/net/dev",
                      "Inter-|   Receive                    |  Transmit\n"
                      " face |bytes    packets errs drop fifo\n"
                      "    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
                      "  eth0: 100 20 3 4 0 0 0 0 900 80 7 6 0 0 0 0\n"
                      "docker0: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"
                      "veth12ab: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n");
    system_tree_write(tree, "proc/net/snmp",
                      "Tcp: RtoMin MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets "
                      "CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts\n"
                      "Tcp: 200 -1 11 12 13 14 5 16 17 18 19 20\n");
    system_tree_write(tree, "proc/net/netstat",
                      "TcpExt: ListenOverflows ListenDrops TCPTimeouts TCPSynRetrans\n"
                      "TcpExt: 21 22 23 24\n");
    system_tree_write(tree, "proc/net/sockstat",
                      "sockets: used 17\nTCP: inuse 31 orphan 32 tw 33 alloc 34 mem 35\n");
    system_tree_write(tree, "proc/pressure/cpu", "some avg10=1.00 total=11\n");
    system_tree_write(tree, "proc/pressure/io",
                      "some avg10=1.00 total=22\nfull avg10=1.00 total=33\n");
    system_tree_write(tree, "proc/self/mountinfo", HOST_MOUNTINFO);
    system_tree_write(tree, "proc/self/cgroup", "0::/\n");
}

#endif
