/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a control group may use at most: the least limit of itself and of the groups around it that
 * can be seen. What it does use is in cgroup_usage.c.
 *
 *     crest_cgroup_limits limits;
 *     crest_cgroup_limits_read(collect, &own, &limits);
 *     if (limits.memory != CREST_CGROUP_NO_LIMIT) ...
 */
#ifndef CREST_CGROUP_LIMITS_H
#define CREST_CGROUP_LIMITS_H

#include "system/cgroup/cgroup_own.h"

/* Each CREST_CGROUP_NO_LIMIT, or 0 of processors, when no visible group has a limit. */
typedef struct crest_cgroup_limits {
    uint64_t memory, memory_high, swap, pids;
    double cpus; /* processors: 1.5 is three halves of a processor, all the time */
    uint64_t memory_levels[CREST_CGROUP_LEVELS_MAX]; /* of each group by itself */
} crest_cgroup_limits;

void crest_cgroup_limits_read(crest_collect *collect, const crest_cgroup_own *own,
                              crest_cgroup_limits *limits);

/* How near memory is to a limit, in percent: the nearest of all groups with a limit, because the
 * limit reached first ends the process. -1 when no group has one. `used`: by the own group. */
int64_t crest_cgroup_limits_memory(crest_collect *collect, const crest_cgroup_own *own,
                                   const crest_cgroup_limits *limits, uint64_t used);

#endif
