/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectors `memory` and `paging`: what the machine's memory and swap are used for, of
 * /proc/meminfo, and what moved between them and the disks, of /proc/vmstat.
 *
 * Used memory is what is not available: Linux's own estimate of what could be had without swapping,
 * so caches count as free. Where there is no such estimate there is no such figure.
 */
#include "system/collect_fault.h"
#include "system/parse/host_text.h"

#include <unistd.h>

/* ---- memory ---- */

enum { MEMORY_USED = CREST_MEMORY_KEYS, MEMORY_SWAP_USED, MEMORY_USAGE, MEMORY_SWAP_USAGE };

#define MEMORY_FIGURE(which, canonical, text)                                                      \
    {                                                                                              \
        .kind = which, .options = {.name = canonical, .description = text, .unit = CREST_BYTES},   \
    }
#define MEMORY_GAUGE(key, canonical, text) [key] = MEMORY_FIGURE(CREST_KIND_GAUGE, canonical, text)
#define MEMORY_PERCENT(canonical, text)                                                            \
    {                                                                                              \
        .kind = CREST_KIND_HISTOGRAM,                                                              \
        .options = {.name = canonical,                                                             \
                    .description = text,                                                           \
                    .buckets = &crest_percent_buckets,                                             \
                    .range = CREST_RANGE_PERCENTAGE},                                              \
    }

static const crest_figure memory_figures[] = {
    MEMORY_GAUGE(CREST_MEMORY_TOTAL, "host.memory.total", "Memory of the machine."),
    MEMORY_GAUGE(CREST_MEMORY_FREE, "host.memory.free", "Memory used for nothing at all."),
    MEMORY_GAUGE(CREST_MEMORY_AVAILABLE, "host.memory.available",
                 "Memory that can be had without swapping, by the kernel's estimate."),
    MEMORY_GAUGE(CREST_MEMORY_BUFFERS, "host.memory.buffers", "Cached blocks of devices."),
    MEMORY_GAUGE(CREST_MEMORY_CACHED, "host.memory.cached",
                 "Cached pages of files, shared memory included."),
    MEMORY_GAUGE(CREST_MEMORY_SWAP_TOTAL, "host.swap.total", "Swap space."),
    MEMORY_GAUGE(CREST_MEMORY_SWAP_FREE, "host.swap.free", "Swap space not in use."),
    MEMORY_GAUGE(CREST_MEMORY_DIRTY, "host.memory.dirty",
                 "Changed in memory, and not on disk yet."),
    MEMORY_GAUGE(CREST_MEMORY_WRITEBACK, "host.memory.writeback", "Being written to disk."),
    MEMORY_GAUGE(CREST_MEMORY_ANONYMOUS, "host.memory.anonymous",
                 "Memory of processes that is no file's."),
    MEMORY_GAUGE(CREST_MEMORY_MAPPED, "host.memory.mapped", "Files mapped by processes."),
    MEMORY_GAUGE(CREST_MEMORY_SHARED, "host.memory.shared", "Shared memory and tmpfs."),
    MEMORY_GAUGE(CREST_MEMORY_SLAB, "host.memory.slab", "The kernel's own objects."),
    MEMORY_GAUGE(CREST_MEMORY_RECLAIMABLE, "host.memory.slab-reclaimable",
                 "Of these, what can be given up."),
    MEMORY_GAUGE(CREST_MEMORY_COMMITTED, "host.memory.committed",
                 "Memory that processes were promised."),
    MEMORY_GAUGE(CREST_MEMORY_COMMIT_LIMIT, "host.memory.commit-limit",
                 "What may be promised under strict accounting."),
    [MEMORY_USED] = MEMORY_FIGURE(CREST_KIND_RANGE_SAMPLER, "host.memory.used",
                                  "Memory that is not available."),
    [MEMORY_SWAP_USED] =
        MEMORY_FIGURE(CREST_KIND_RANGE_SAMPLER, "host.swap.used", "Swap space in use."),
    [MEMORY_USAGE] = MEMORY_PERCENT("host.memory.usage", "Used memory in percent of the total."),
    [MEMORY_SWAP_USAGE] = MEMORY_PERCENT("host.swap.usage", "Used swap in percent of the total."),
};

/* Gives the used part of a total; nothing if a number is not known, or they contradict each
 * other. */
static void memory_used(crest_collect *collect, const uint64_t *values, uint64_t found,
                        unsigned total, unsigned left, unsigned used, unsigned usage)
{
    if (!crest_table_has(found, total) || !crest_table_has(found, left) ||
        values[left] > values[total] || values[total] > (uint64_t)INT64_MAX)
        return;
    uint64_t taken = values[total] - values[left];
    crest_figure_sample(collect->own, used, (int64_t)taken);
    if (values[total] == 0)
        return;
    if (collect->consume)
        crest_figure_record(collect->own, usage, crest_figure_percent(taken, values[total]));
    else
        crest_figure_keep(collect->own, usage);
}

static void memory_collect(crest_collect *collect)
{
    crest_text text;
    crest_fault fault = {0};
    uint64_t values[CREST_MEMORY_KEYS];
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "meminfo", 0, &text))
        return;
    uint64_t found = crest_meminfo_parse(text, values, &fault);
    crest_collect_blame(collect, "/proc/meminfo", &fault);
    for (unsigned key = 0; key < CREST_MEMORY_KEYS; key++)
        if (crest_table_has(found, key))
            crest_figure_gauge(collect->own, key, (double)values[key]);
    memory_used(collect, values, found, CREST_MEMORY_TOTAL, CREST_MEMORY_AVAILABLE, MEMORY_USED,
                MEMORY_USAGE);
    memory_used(collect, values, found, CREST_MEMORY_SWAP_TOTAL, CREST_MEMORY_SWAP_FREE,
                MEMORY_SWAP_USED, MEMORY_SWAP_USAGE);
}

const crest_collector_kind crest_memory_collector = {
    .name = "memory",
    .group = "memory",
    .collect = memory_collect,
    .figures = memory_figures,
    .figure_count = CREST_FIGURES(memory_figures),
};

/* ---- paging ---- */

#define MEMORY_KIB 1024u

enum {
    PAGING_IN,
    PAGING_OUT,
    PAGING_SWAPPED_IN,
    PAGING_SWAPPED_OUT,
    PAGING_MINOR,
    PAGING_MAJOR,
    PAGING_OOM_KILLS
};

#define PAGING_FIGURE(canonical, text, unit_, key, value, scale_)                                  \
    {                                                                                              \
        .kind = CREST_KIND_COUNTER,                                                                \
        .options = {.name = canonical, .description = text, .unit = unit_}, .label = {key, value}, \
        .scale = scale_, .width = CREST_WIDTH_WORD,                                                \
    }
#define PAGING_PAGED "Data read from, and written to, block devices."
#define PAGING_SWAPPED "Memory read back from swap, and written to it."
#define PAGING_FAULTS "Page faults of the machine; a major one waited for a disk."

static const crest_figure paging_figures[] = {
    PAGING_FIGURE("host.paging.data", PAGING_PAGED, CREST_BYTES, "direction", "in", MEMORY_KIB),
    PAGING_FIGURE("host.paging.data", PAGING_PAGED, CREST_BYTES, "direction", "out", MEMORY_KIB),
    PAGING_FIGURE("host.swapping.data", PAGING_SWAPPED, CREST_BYTES, "direction", "in", 1),
    PAGING_FIGURE("host.swapping.data", PAGING_SWAPPED, CREST_BYTES, "direction", "out", 1),
    PAGING_FIGURE("host.page-faults", PAGING_FAULTS, CREST_NONE, "kind", "minor", 1),
    PAGING_FIGURE("host.page-faults", PAGING_FAULTS, CREST_NONE, "kind", "major", 1),
    PAGING_FIGURE("host.oom-kills", "Processes killed for want of memory.", CREST_NONE, NULL, NULL,
                  1),
};

static void paging_collect(crest_collect *collect)
{
    static const unsigned figures[CREST_PAGING_KEYS] = {
        [CREST_PAGING_PAGED_IN] = PAGING_IN,
        [CREST_PAGING_PAGED_OUT] = PAGING_OUT,
        [CREST_PAGING_SWAPPED_IN] = PAGING_SWAPPED_IN,
        [CREST_PAGING_SWAPPED_OUT] = PAGING_SWAPPED_OUT,
        [CREST_PAGING_FAULTS_MAJOR] = PAGING_MAJOR,
        [CREST_PAGING_OOM_KILLS] = PAGING_OOM_KILLS,
    };
    crest_text text;
    crest_fault fault = {0};
    uint64_t values[CREST_PAGING_KEYS];
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "vmstat", 0, &text))
        return;
    uint64_t found = crest_vmstat_parse(text, values, &fault);
    crest_collect_blame(collect, "/proc/vmstat", &fault);
    long page = sysconf(_SC_PAGESIZE);
    for (unsigned key = 0; key < CREST_PAGING_KEYS; key++) {
        int swapped = key == CREST_PAGING_SWAPPED_IN || key == CREST_PAGING_SWAPPED_OUT;
        if (key == CREST_PAGING_FAULTS || !crest_table_has(found, key) || (swapped && page <= 0))
            continue;
        crest_collect_total(collect, collect->own, figures[key], "/proc/vmstat", values[key],
                            swapped ? (uint64_t)page : 1);
    }
    if (crest_table_has(found, CREST_PAGING_FAULTS) &&
        crest_table_has(found, CREST_PAGING_FAULTS_MAJOR))
        crest_figure_total(collect->own, PAGING_MINOR,
                           crest_minor_faults(values[CREST_PAGING_FAULTS],
                                              values[CREST_PAGING_FAULTS_MAJOR], collect->state));
}

const crest_collector_kind crest_paging_collector = {
    .name = "paging",
    .group = "paging",
    .collect = paging_collect,
    .state_bytes = sizeof(uint64_t),
    .figures = paging_figures,
    .figure_count = CREST_FIGURES(paging_figures),
};
