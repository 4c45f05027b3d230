/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel writes below /proc and /sys: whatever bytes are there, no parser reads beyond
 * them, each says only what it found, and what it shows of a fault is part of the text.
 *
 * Input: the file, as all of the parsers read it.
 */
#include "fuzz_input.h"

#include "system/parse/cgroup_text.h"
#include "system/parse/device_text.h"
#include "system/parse/host_text.h"

/* Of exactly its size, so that reading on is found. */
static crest_text whole;

static void inside(const crest_fault *fault)
{
    if (fault->why == NULL)
        return;
    FUZZ_WANTS(fault->shown.at >= whole.at && fault->shown.end <= whole.end);
    FUZZ_WANTS(fault->shown.at <= fault->shown.end);
}

static void within(uint64_t found, unsigned count)
{
    FUZZ_WANTS(found >> count == 0);
}

static void host(void)
{
    crest_fault faults[6] = {{0}};
    crest_stat_figures stat;
    crest_stat_parse(whole, &stat, &faults[0]);
    FUZZ_WANTS(stat.modes == 0 || (stat.modes >= 4 && stat.modes <= CREST_CPU_MODES));
    within(stat.found, CREST_STAT_KEYS);
    double averages[3];
    FUZZ_WANTS(!crest_loadavg_parse(whole, averages, &faults[1]) ||
               (averages[0] >= 0 && averages[1] >= 0 && averages[2] >= 0));
    uint64_t memory[CREST_MEMORY_KEYS], paging[CREST_PAGING_KEYS], totals[CREST_PRESSURE_KINDS];
    uint64_t found = crest_meminfo_parse(whole, memory, &faults[2]);
    within(found, CREST_MEMORY_KEYS);
    for (unsigned key = 0; key < CREST_MEMORY_KEYS; key++)
        FUZZ_WANTS(!crest_table_has(found, key) || memory[key] % 1024 == 0);
    within(crest_vmstat_parse(whole, paging, &faults[3]), CREST_PAGING_KEYS);
    within(crest_pressure_parse(whole, totals, &faults[4]), CREST_PRESSURE_KINDS);
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        inside(&faults[i]);
}

static void devices(void)
{
    crest_fault faults[5] = {{0}};
    crest_text rest = whole;
    crest_disk_row disk, last = {.name = ""};
    while (crest_diskstats_next(&rest, &disk, &faults[0])) {
        FUZZ_WANTS(strlen(disk.name) < sizeof disk.name && disk.name[0] != '\0');
        FUZZ_WANTS(!crest_disk_is_partition(disk.name, disk.name));
        (void)crest_disk_is_partition(disk.name, last.name);
        last = disk;
    }
    rest = whole;
    crest_interface_row interface;
    while (crest_net_dev_next(&rest, &interface, &faults[1]))
        FUZZ_WANTS(strlen(interface.name) < sizeof interface.name && interface.name[0] != '\0');
    uint64_t tcp[CREST_TCP_KEYS], more[CREST_TCP_MORE_KEYS], sockets[CREST_SOCKETS_KEYS];
    within(crest_snmp_parse(whole, tcp, &faults[2]), CREST_TCP_KEYS);
    within(crest_netstat_parse(whole, more, &faults[3]), CREST_TCP_MORE_KEYS);
    within(crest_sockstat_parse(whole, sockets, &faults[4]), CREST_SOCKETS_KEYS);
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        inside(&faults[i]);
}

static void groups(void)
{
    crest_fault faults[8] = {{0}};
    crest_text rest = whole;
    crest_mount_row mount;
    while (crest_mountinfo_next(&rest, &mount, &faults[0])) {
        FUZZ_WANTS(strlen(mount.point) < sizeof mount.point && mount.point[0] != '\0');
        FUZZ_WANTS(strlen(mount.root) < sizeof mount.root);
        FUZZ_WANTS(strlen(mount.type) < sizeof mount.type && mount.type[0] != '\0');
    }
    char path[64];
    crest_cgroup_place place;
    if (crest_cgroup_path(whole, path, sizeof path, &faults[1])) {
        FUZZ_WANTS(path[0] == '/' && strlen(path) < sizeof path);
        if (crest_cgroup_find(whole, path, &place, &faults[2]))
            FUZZ_WANTS(place.path[0] == '\0' || place.path[0] == '/');
    }
    uint64_t value, period, values[CREST_CGROUP_MEMORY_KEYS];
    (void)crest_cgroup_value(whole, &value, &faults[3]);
    FUZZ_WANTS(!crest_cgroup_cpu_max(whole, &value, &period, &faults[4]) || period > 0);
    within(crest_cgroup_memory_stat(whole, values, &faults[5]), CREST_CGROUP_MEMORY_KEYS);
    within(crest_cgroup_cpu_stat(whole, values, &faults[6]), CREST_CGROUP_CPU_KEYS);
    rest = whole;
    crest_cgroup_io_row row;
    while (crest_cgroup_io_next(&rest, &row, &faults[7]))
        FUZZ_WANTS(row.found != 0 && row.found >> CREST_CGROUP_IO_KEYS == 0);
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        inside(&faults[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size + (size == 0));
    FUZZ_WANTS(bytes != NULL);
    if (size != 0)
        memcpy(bytes, data, size);
    whole = crest_text_of(bytes, size);
    host();
    devices();
    groups();
    free(bytes);
    return 0;
}
