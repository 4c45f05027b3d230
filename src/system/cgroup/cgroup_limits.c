/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least of the limits of a group and of those around it. See cgroup_limits.h.
 */
#include "system/cgroup/cgroup_limits.h"
#include "system/collect_fault.h"

static void cgroup_limits_least(crest_collect *collect, const crest_cgroup_own *own, unsigned level,
                                const char *file, uint64_t *least)
{
    uint64_t limit;
    if (crest_cgroup_own_value(collect, own, level, file, &limit) && limit < *least)
        *least = limit;
}

static void cgroup_limits_cpus(crest_collect *collect, const crest_cgroup_own *own, unsigned level,
                               double *least)
{
    crest_text text;
    crest_fault fault = {0};
    uint64_t quota_us, period_us;
    if (!crest_cgroup_own_read(collect, own, level, "cpu.max", &text))
        return;
    if (crest_cgroup_cpu_max(text, &quota_us, &period_us, &fault) &&
        quota_us != CREST_CGROUP_NO_LIMIT) {
        double cpus = (double)quota_us / (double)period_us;
        if (*least == 0 || cpus < *least)
            *least = cpus;
    }
    crest_collect_blame(collect, "cpu.max", &fault);
}

void crest_cgroup_limits_read(crest_collect *collect, const crest_cgroup_own *own,
                              crest_cgroup_limits *limits)
{
    *limits = (crest_cgroup_limits){
        .memory = CREST_CGROUP_NO_LIMIT,
        .memory_high = CREST_CGROUP_NO_LIMIT,
        .swap = CREST_CGROUP_NO_LIMIT,
        .pids = CREST_CGROUP_NO_LIMIT,
    };
    for (unsigned level = 0; level < own->levels; level++) {
        limits->memory_levels[level] = CREST_CGROUP_NO_LIMIT;
        cgroup_limits_least(collect, own, level, "memory.max", &limits->memory_levels[level]);
        if (limits->memory_levels[level] < limits->memory)
            limits->memory = limits->memory_levels[level];
        cgroup_limits_least(collect, own, level, "memory.high", &limits->memory_high);
        cgroup_limits_least(collect, own, level, "memory.swap.max", &limits->swap);
        cgroup_limits_least(collect, own, level, "pids.max", &limits->pids);
        cgroup_limits_cpus(collect, own, level, &limits->cpus);
    }
}

int64_t crest_cgroup_limits_memory(crest_collect *collect, const crest_cgroup_own *own,
                                   const crest_cgroup_limits *limits, uint64_t used)
{
    int64_t nearest = -1;
    for (unsigned level = 0; level < own->levels; level++) {
        uint64_t limit = limits->memory_levels[level], here = used;
        if (limit == CREST_CGROUP_NO_LIMIT)
            continue;
        if (level > 0 && !crest_cgroup_own_value(collect, own, level, "memory.current", &here))
            continue;
        int64_t percent = limit == 0 ? 100 : crest_figure_percent(here, limit);
        nearest = percent > nearest ? percent : nearest;
    }
    return nearest;
}
