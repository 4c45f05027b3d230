/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectors `cgroup-io` and `cgroup-pressure`: what the process's control group reads from and
 * writes to each disk, and how long its work had to wait for each resource. Version 2 only.
 *
 * A disk is named as in /sys/dev/block, or by its numbers ("8:0") where that cannot be seen.
 */
#include "system/cgroup/cgroup_own.h"
#include "system/collect_fault.h"
#include "system/parse/device_text.h"
#include "names/globs.h"
#include "system/parse/host_text.h"

#include <crest/system.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CGROUP_PRESSURE_US_NS 1000u
/* Bytes of a link's target in /sys/dev/block. */
#define CGROUP_LINK_BYTES 512u

/* ---- disks ---- */

#define CGROUP_IO_FIGURE(canonical, text, unit_)                                                   \
    {                                                                                              \
        .kind = CREST_KIND_COUNTER,                                                                \
        .options = {.name = canonical, .description = text, .unit = unit_},                        \
    }

static const crest_figure cgroup_io_figures[CREST_CGROUP_IO_KEYS] = {
    [CREST_CGROUP_IO_READ_BYTES] = CGROUP_IO_FIGURE(
        "cgroup.storage.device.data.read", "Data that the control group read.", CREST_BYTES),
    [CREST_CGROUP_IO_WRITTEN_BYTES] = CGROUP_IO_FIGURE(
        "cgroup.storage.device.data.write", "Data that the control group wrote.", CREST_BYTES),
    [CREST_CGROUP_IO_READS] = CGROUP_IO_FIGURE("cgroup.storage.device.ops.read",
                                               "Reads of the control group.", CREST_NONE),
    [CREST_CGROUP_IO_WRITES] = CGROUP_IO_FIGURE("cgroup.storage.device.ops.write",
                                                "Writes of the control group.", CREST_NONE),
};

/* Takes the name from the link's target, "../../devices/…/block/sda": its last part. */
static void cgroup_io_name(crest_collect *collect, const crest_cgroup_io_row *row,
                           char name[CREST_DEVICE_NAME_BYTES])
{
    char numbers[48], link[CREST_SYSTEM_PATH_BYTES_MAX + 64], target[CGROUP_LINK_BYTES];
    snprintf(numbers, sizeof numbers, "dev/block/%u:%u", (unsigned)row->major,
             (unsigned)row->minor);
    ssize_t length = -1;
    if (crest_collect_path(collect, CREST_ROOT_SYS, numbers, link, sizeof link))
        length = readlink(link, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(target, '/');
    snprintf(name, CREST_DEVICE_NAME_BYTES, "%s",
             slash != NULL ? slash + 1 : strrchr(numbers, '/') + 1);
}

static void cgroup_io_collect(crest_collect *collect)
{
    crest_cgroup_own *own = collect->state;
    char name[CREST_DEVICE_NAME_BYTES];
    crest_text text;
    crest_cgroup_io_row row;
    crest_fault fault = {0};
    if (!crest_cgroup_own_find(collect, own) ||
        !crest_cgroup_own_read(collect, own, 0, "io.stat", &text))
        return;
    while (crest_cgroup_io_next(&text, &row, &fault)) {
        cgroup_io_name(collect, &row, name);
        if (crest_globs_match(collect->settings->devices_exclude, name))
            continue;
        crest_place *place = crest_collect_device(collect, name);
        for (unsigned key = 0; key < CREST_CGROUP_IO_KEYS && place != NULL; key++)
            if (crest_table_has(row.found, key))
                crest_figure_total(place, key, row.values[key]);
    }
    crest_collect_blame(collect, "io.stat", &fault);
}

const crest_collector_kind crest_cgroup_io_collector = {
    .name = "cgroup-io",
    .group = "cgroup",
    .collect = cgroup_io_collect,
    .state_bytes = sizeof(crest_cgroup_own),
    .device_key = "device",
    .device_figures = cgroup_io_figures,
    .device_figure_count = CREST_FIGURES(cgroup_io_figures),
};

/* ---- pressure ---- */

#define CGROUP_PRESSURE_FIGURE(kind_)                                                              \
    {                                                                                              \
        .kind = CREST_KIND_COUNTER,                                                                \
        .options = {.name = "cgroup.pressure",                                                     \
                    .description = "Time in which some, or all, of the work of the control "       \
                                   "group waited for this resource.",                              \
                    .unit = CREST_NANOSECONDS},                                                    \
        .label = {"kind", kind_}, .scale = CGROUP_PRESSURE_US_NS,                                  \
    }

static const crest_figure cgroup_pressure_figures[CREST_PRESSURE_KINDS] = {
    CGROUP_PRESSURE_FIGURE("some"), CGROUP_PRESSURE_FIGURE("full")};

static void cgroup_pressure_collect(crest_collect *collect)
{
    static const char *const resources[] = {"cpu", "io", "memory"};
    crest_cgroup_own *own = collect->state;
    if (!crest_cgroup_own_find(collect, own))
        return;
    for (unsigned i = 0; i < sizeof resources / sizeof *resources; i++) {
        char file[24];
        crest_text text;
        crest_fault fault = {0};
        uint64_t totals[CREST_PRESSURE_KINDS];
        snprintf(file, sizeof file, "%s.pressure", resources[i]);
        if (!crest_cgroup_own_read(collect, own, 0, file, &text))
            continue;
        uint64_t found = crest_pressure_parse(text, totals, &fault);
        crest_collect_blame(collect, file, &fault);
        crest_place *place = found ? crest_collect_device(collect, resources[i]) : NULL;
        for (unsigned kind = 0; kind < CREST_PRESSURE_KINDS && place != NULL; kind++)
            if (crest_table_has(found, kind))
                crest_figure_total(place, kind, totals[kind]);
    }
}

const crest_collector_kind crest_cgroup_pressure_collector = {
    .name = "cgroup-pressure",
    .group = "cgroup",
    .collect = cgroup_pressure_collect,
    .state_bytes = sizeof(crest_cgroup_own),
    .device_key = "resource",
    .device_figures = cgroup_pressure_figures,
    .device_figure_count = CREST_FIGURES(cgroup_pressure_figures),
};
