/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectors `load` and `pressure`: how long the machine's queue is, of /proc/loadavg, and how
 * long its work had to wait, of /proc/pressure. The averages of pressure are not exported: windows
 * and PromQL make them of the totals. Kernels without pressure have no such metric.
 */
#include "system/collect_fault.h"
#include "system/parse/host_text.h"

#include <stdio.h>

#define LOAD_US_NS 1000u

/* ---- load ---- */

#define LOAD_FIGURE(period)                                                                        \
    {                                                                                              \
        .kind = CREST_KIND_GAUGE,                                                                  \
        .options = {.name = "host.load.average",                                                   \
                    .description = "Threads that run, could run or wait for a disk; a damped "     \
                                   "average."},                                                    \
        .label = {"period", period},                                                               \
    }

static const crest_figure load_figures[] = {LOAD_FIGURE("1m"), LOAD_FIGURE("5m"),
                                            LOAD_FIGURE("15m")};

static void load_collect(crest_collect *collect)
{
    crest_text text;
    double averages[3];
    crest_fault fault = {0};
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "loadavg", 0, &text))
        return;
    if (crest_loadavg_parse(text, averages, &fault))
        for (unsigned i = 0; i < 3; i++)
            crest_figure_gauge(collect->own, i, averages[i]);
    crest_collect_blame(collect, "/proc/loadavg", &fault);
}

const crest_collector_kind crest_load_collector = {
    .name = "load",
    .group = "load",
    .collect = load_collect,
    .figures = load_figures,
    .figure_count = CREST_FIGURES(load_figures),
};

/* ---- pressure ---- */

#define LOAD_PRESSURE_FIGURE(kind_)                                                                \
    {                                                                                              \
        .kind = CREST_KIND_COUNTER,                                                                \
        .options = {.name = "host.pressure",                                                       \
                    .description = "Time in which some, or all, of the work of the machine "       \
                                   "waited for this resource.",                                    \
                    .unit = CREST_NANOSECONDS},                                                    \
        .label = {"kind", kind_}, .scale = LOAD_US_NS,                                             \
    }

static const crest_figure load_pressure_figures[CREST_PRESSURE_KINDS] = {
    LOAD_PRESSURE_FIGURE("some"), LOAD_PRESSURE_FIGURE("full")};

static void load_pressure_collect(crest_collect *collect)
{
    static const char *const resources[] = {"cpu", "io", "memory"};
    for (unsigned i = 0; i < sizeof resources / sizeof *resources; i++) {
        char path[32], what[48];
        crest_text text;
        crest_fault fault = {0};
        uint64_t totals[CREST_PRESSURE_KINDS];
        snprintf(path, sizeof path, "pressure/%s", resources[i]);
        if (!crest_collect_read(collect, CREST_ROOT_PROC, path, CREST_READ_OPTIONAL, &text))
            continue;
        uint64_t found = crest_pressure_parse(text, totals, &fault);
        snprintf(what, sizeof what, "/proc/%s", path);
        crest_collect_blame(collect, what, &fault);
        crest_place *place = found ? crest_collect_device(collect, resources[i]) : NULL;
        for (unsigned kind = 0; kind < CREST_PRESSURE_KINDS && place != NULL; kind++)
            if (crest_table_has(found, kind))
                crest_figure_total(place, kind, totals[kind]);
    }
}

const crest_collector_kind crest_pressure_collector = {
    .name = "pressure",
    .group = "pressure",
    .collect = load_pressure_collect,
    .device_key = "resource",
    .device_figures = load_pressure_figures,
    .device_figure_count = CREST_FIGURES(load_pressure_figures),
};
