/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector `disks`: what went to and from block devices, of /proc/diskstats. Whole devices
 * only: a partition whose disk is listed would be counted twice, so it is left out. Left out too:
 * devices that the options exclude. Devices that were never used have no figures yet.
 *
 * The kernel prints times in milliseconds of 32 bits, which wrap after 50 days of them.
 */
#include "base/sync.h"
#include "names/globs.h"
#include "system/collect_fault.h"
#include "system/parse/device_text.h"

#include <string.h>

#define DISKS_MS_NS 1000000u
/* Most requests at work; kernels have let the figure fall below zero, which prints as nearly
 * 2^32. */
#define DISKS_IN_FLIGHT_MAX (1u << 30)

enum {
    DISKS_READS,
    DISKS_WRITES,
    DISKS_DATA_READ,
    DISKS_DATA_WRITTEN,
    DISKS_READ_TIME,
    DISKS_WRITE_TIME,
    DISKS_BUSY_TIME,
    DISKS_WAITED_TIME,
    DISKS_TOTALS,
    DISKS_IN_FLIGHT = DISKS_TOTALS,
    DISKS_UTILISATION
};

#define DISKS_FIGURE(canonical, text, unit_, scale_, width_)                                       \
    {                                                                                              \
        .kind = CREST_KIND_COUNTER,                                                                \
        .options = {.name = canonical, .description = text, .unit = unit_}, .scale = scale_,       \
        .width = width_,                                                                           \
    }

static const crest_figure disks_figures[] = {
    [DISKS_READS] = DISKS_FIGURE("host.storage.device.ops.read", "Reads completed.", CREST_NONE, 1,
                                 CREST_WIDTH_WORD),
    [DISKS_WRITES] = DISKS_FIGURE("host.storage.device.ops.write", "Writes completed.", CREST_NONE,
                                  1, CREST_WIDTH_WORD),
    [DISKS_DATA_READ] =
        DISKS_FIGURE("host.storage.device.data.read", "What finished reads brought.", CREST_BYTES,
                     CREST_DISK_SECTOR_BYTES, CREST_WIDTH_WORD),
    [DISKS_DATA_WRITTEN] =
        DISKS_FIGURE("host.storage.device.data.write", "What finished writes took.", CREST_BYTES,
                     CREST_DISK_SECTOR_BYTES, CREST_WIDTH_WORD),
    [DISKS_READ_TIME] =
        DISKS_FIGURE("host.storage.device.time.read", "Time that reads took, added up.",
                     CREST_NANOSECONDS, DISKS_MS_NS, CREST_WIDTH_32),
    [DISKS_WRITE_TIME] =
        DISKS_FIGURE("host.storage.device.time.write", "Time that writes took, added up.",
                     CREST_NANOSECONDS, DISKS_MS_NS, CREST_WIDTH_32),
    [DISKS_BUSY_TIME] =
        DISKS_FIGURE("host.storage.device.time.busy", "Time in which it had something to do.",
                     CREST_NANOSECONDS, DISKS_MS_NS, CREST_WIDTH_32),
    [DISKS_WAITED_TIME] =
        DISKS_FIGURE("host.storage.device.time.waited", "Time of all requests, waiting included.",
                     CREST_NANOSECONDS, DISKS_MS_NS, CREST_WIDTH_32),
    [DISKS_IN_FLIGHT] = {.kind = CREST_KIND_RANGE_SAMPLER,
                         .options = {.name = "host.storage.device.in-flight",
                                     .description = "Requests that it works at."}},
    [DISKS_UTILISATION] = {.kind = CREST_KIND_HISTOGRAM,
                           .options = {.name = "host.storage.device.utilisation",
                                       .description = "Time in which it had something to do, in "
                                                      "percent of an interval.",
                                       .buckets = &crest_percent_buckets,
                                       .range = CREST_RANGE_PERCENTAGE}},
};

typedef struct disks_state {
    int known;
    uint32_t busy_ms; /* at the last reading of consumption */
} disks_state;

/* Records the share of the interval in which the device was busy. */
static void disks_consume(crest_collect *collect, crest_place *place, uint64_t busy_ms)
{
    disks_state *state = crest_place_state(place);
    uint32_t now_ms = (uint32_t)busy_ms, grown_ms = now_ms - state->busy_ms;
    int counts = state->known && collect->elapsed_ns != 0;
    *state = (disks_state){1, now_ms};
    uint64_t grown_ns = grown_ms * CREST_NS_PER_MS;
    /* twice the possible time: the source began again */
    if (counts && grown_ns <= 2 * collect->elapsed_ns)
        crest_figure_record(place, DISKS_UTILISATION,
                            crest_figure_percent(grown_ns, collect->elapsed_ns));
}

static void disks_give(crest_collect *collect, crest_place *place, const crest_disk_row *row)
{
    static const unsigned char fields[DISKS_TOTALS] = {
        [DISKS_READS] = CREST_DISK_READS,
        [DISKS_WRITES] = CREST_DISK_WRITES,
        [DISKS_DATA_READ] = CREST_DISK_SECTORS_READ,
        [DISKS_DATA_WRITTEN] = CREST_DISK_SECTORS_WRITTEN,
        [DISKS_READ_TIME] = CREST_DISK_READ_MS,
        [DISKS_WRITE_TIME] = CREST_DISK_WRITE_MS,
        [DISKS_BUSY_TIME] = CREST_DISK_BUSY_MS,
        [DISKS_WAITED_TIME] = CREST_DISK_WAITED_MS,
    };
    for (unsigned figure = 0; figure < DISKS_TOTALS; figure++)
        crest_figure_total(place, figure, row->values[fields[figure]]);
    if (row->values[CREST_DISK_IN_FLIGHT] <= DISKS_IN_FLIGHT_MAX)
        crest_figure_sample(place, DISKS_IN_FLIGHT, (int64_t)row->values[CREST_DISK_IN_FLIGHT]);
    crest_figure_keep(place, DISKS_UTILISATION);
    if (collect->consume)
        disks_consume(collect, place, row->values[CREST_DISK_BUSY_MS]);
}

static int disks_used(const crest_disk_row *row)
{
    return row->values[CREST_DISK_READS] != 0 || row->values[CREST_DISK_WRITES] != 0 ||
           row->values[CREST_DISK_IN_FLIGHT] != 0;
}

static void disks_collect(crest_collect *collect)
{
    crest_text text;
    crest_disk_row row;
    crest_fault fault = {0};
    char disk[CREST_DEVICE_NAME_BYTES] = ""; /* the last device that was no partition */
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "diskstats", 0, &text))
        return;
    while (crest_diskstats_next(&text, &row, &fault)) {
        if (crest_disk_is_partition(row.name, disk))
            continue;
        memcpy(disk, row.name, sizeof disk);
        if (!disks_used(&row) || crest_globs_match(collect->settings->devices_exclude, row.name))
            continue;
        crest_place *place = crest_collect_device(collect, row.name);
        if (place != NULL)
            disks_give(collect, place, &row);
    }
    crest_collect_blame(collect, "/proc/diskstats", &fault);
}

const crest_collector_kind crest_disks_collector = {
    .name = "disks",
    .group = "disks",
    .collect = disks_collect,
    .device_key = "device",
    .device_figures = disks_figures,
    .device_figure_count = CREST_FIGURES(disks_figures),
    .device_bytes = sizeof(disks_state),
};
