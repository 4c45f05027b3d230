/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector `cgroup`: what the process's control group may use, and what it uses: memory, swap,
 * processors, processes. So a container sees its own ceiling where host figures show the machine's.
 * Version 2 only. What has no limit has no figure of it.
 *
 * Limits are read at the slow interval, and again when the process was moved to another group.
 */
#include "system/cgroup/cgroup_limits.h"
#include "system/collect_fault.h"
#include "system/parse/host_text.h"

#define CGROUP_US_NS 1000u
#define CGROUP_PERCENT 100.0

enum {
    CGROUP_MEMORY_USED,
    CGROUP_MEMORY_LIMIT,
    CGROUP_MEMORY_HIGH,
    CGROUP_MEMORY_USAGE,
    CGROUP_MEMORY_PART,
    CGROUP_MEMORY_INACTIVE = CGROUP_MEMORY_PART + CREST_CGROUP_MEMORY_PARTS,
    CGROUP_FAULTS_MINOR,
    CGROUP_FAULTS_MAJOR,
    CGROUP_EVENT,
    CGROUP_SWAP_USED = CGROUP_EVENT + CREST_CGROUP_EVENTS,
    CGROUP_SWAP_LIMIT,
    CGROUP_CPU,
    CGROUP_CPU_LIMIT = CGROUP_CPU + CREST_CGROUP_CPU_KEYS,
    CGROUP_CPU_USAGE,
    CGROUP_PIDS_USED,
    CGROUP_PIDS_LIMIT
};

#define CGROUP_FIGURE(which, canonical, text, unit_)                                               \
    {                                                                                              \
        .kind = which, .options = {.name = canonical, .description = text, .unit = unit_},         \
    }
#define CGROUP_LABELLED(which, canonical, text, unit_, key, value)                                 \
    {                                                                                              \
        .kind = which, .options = {.name = canonical, .description = text, .unit = unit_},         \
        .label = {key, value},                                                                     \
    }
#define CGROUP_PART(value)                                                                         \
    CGROUP_LABELLED(CREST_KIND_GAUGE, "cgroup.memory.part", "What its memory is used for.",        \
                    CREST_BYTES, "kind", value)
#define CGROUP_EVENT_FIGURE(value)                                                                 \
    CGROUP_LABELLED(CREST_KIND_COUNTER, "cgroup.memory.events",                                    \
                    "How often memory met a limit, and processes killed for it.", CREST_NONE,      \
                    "kind", value)
#define CGROUP_FAULTS(value)                                                                       \
    CGROUP_LABELLED(CREST_KIND_COUNTER, "cgroup.page-faults",                                      \
                    "Page faults of the group; a major one waited for a disk.", CREST_NONE,        \
                    "kind", value)
#define CGROUP_CPU_TIME(canonical, text)                                                           \
    {                                                                                              \
        .kind = CREST_KIND_COUNTER,                                                                \
        .options = {.name = canonical, .description = text, .unit = CREST_NANOSECONDS},            \
        .scale = CGROUP_US_NS,                                                                     \
    }
#define CGROUP_USAGE(canonical, text)                                                              \
    {                                                                                              \
        .kind = CREST_KIND_HISTOGRAM,                                                              \
        .options = {.name = canonical,                                                             \
                    .description = text,                                                           \
                    .buckets = &crest_percent_buckets,                                             \
                    .range = CREST_RANGE_PERCENTAGE},                                              \
    }

static const crest_figure cgroup_figures[] = {
    [CGROUP_MEMORY_USED] =
        CGROUP_FIGURE(CREST_KIND_RANGE_SAMPLER, "cgroup.memory.used",
                      "Memory of the control group, its page cache included.", CREST_BYTES),
    [CGROUP_MEMORY_LIMIT] = CGROUP_FIGURE(CREST_KIND_GAUGE, "cgroup.memory.limit",
                                          "Memory beyond which processes are killed: the least "
                                          "limit of the group and those around it.",
                                          CREST_BYTES),
    [CGROUP_MEMORY_HIGH] =
        CGROUP_FIGURE(CREST_KIND_GAUGE, "cgroup.memory.high",
                      "Memory beyond which processes are slowed down; likewise.", CREST_BYTES),
    [CGROUP_MEMORY_USAGE] =
        CGROUP_USAGE("cgroup.memory.usage",
                     "Used memory in percent of the limit, in the group nearest to its own."),
    [CGROUP_MEMORY_PART + CREST_CGROUP_MEMORY_ANONYMOUS] = CGROUP_PART("anonymous"),
    [CGROUP_MEMORY_PART + CREST_CGROUP_MEMORY_FILE] = CGROUP_PART("file"),
    [CGROUP_MEMORY_PART + CREST_CGROUP_MEMORY_SLAB] = CGROUP_PART("slab"),
    [CGROUP_MEMORY_PART + CREST_CGROUP_MEMORY_SOCKETS] = CGROUP_PART("sockets"),
    [CGROUP_MEMORY_PART + CREST_CGROUP_MEMORY_STACKS] = CGROUP_PART("kernel-stacks"),
    [CGROUP_MEMORY_PART + CREST_CGROUP_MEMORY_PAGE_TABLES] = CGROUP_PART("page-tables"),
    [CGROUP_MEMORY_INACTIVE] =
        CGROUP_FIGURE(CREST_KIND_GAUGE, "cgroup.memory.inactive-file",
                      "Cached files that can be given up first.", CREST_BYTES),
    [CGROUP_FAULTS_MINOR] = CGROUP_FAULTS("minor"),
    [CGROUP_FAULTS_MAJOR] = CGROUP_FAULTS("major"),
    [CGROUP_EVENT + CREST_CGROUP_EVENT_HIGH] = CGROUP_EVENT_FIGURE("high"),
    [CGROUP_EVENT + CREST_CGROUP_EVENT_MAX] = CGROUP_EVENT_FIGURE("max"),
    [CGROUP_EVENT + CREST_CGROUP_EVENT_OOM] = CGROUP_EVENT_FIGURE("oom"),
    [CGROUP_EVENT + CREST_CGROUP_EVENT_OOM_KILL] = CGROUP_EVENT_FIGURE("oom-kill"),
    [CGROUP_SWAP_USED] = CGROUP_FIGURE(CREST_KIND_RANGE_SAMPLER, "cgroup.swap.used",
                                       "Swap of the control group.", CREST_BYTES),
    [CGROUP_SWAP_LIMIT] =
        CGROUP_FIGURE(CREST_KIND_GAUGE, "cgroup.swap.limit",
                      "Swap that it may use: the least limit, as of memory.", CREST_BYTES),
    [CGROUP_CPU + CREST_CGROUP_CPU_USAGE] =
        CGROUP_CPU_TIME("cgroup.cpu", "Processor time of the control group."),
    [CGROUP_CPU + CREST_CGROUP_CPU_USER] = CGROUP_CPU_TIME("cgroup.cpu.user", "Of this, user's."),
    [CGROUP_CPU + CREST_CGROUP_CPU_SYSTEM] =
        CGROUP_CPU_TIME("cgroup.cpu.system", "Of this, the kernel's."),
    [CGROUP_CPU + CREST_CGROUP_CPU_PERIODS] =
        CGROUP_FIGURE(CREST_KIND_COUNTER, "cgroup.cpu.periods",
                      "Periods in which it ran under a limit of its own.", CREST_NONE),
    [CGROUP_CPU + CREST_CGROUP_CPU_THROTTLED_PERIODS] =
        CGROUP_FIGURE(CREST_KIND_COUNTER, "cgroup.cpu.throttled-periods",
                      "Of these, those in which it used up what it may.", CREST_NONE),
    [CGROUP_CPU + CREST_CGROUP_CPU_THROTTLED] = CGROUP_CPU_TIME(
        "cgroup.cpu.throttled", "Time in which its processors had to wait for the next period."),
    [CGROUP_CPU_LIMIT] = CGROUP_FIGURE(CREST_KIND_GAUGE, "cgroup.cpu.limit",
                                       "Processors that it may use all the time: the least limit, "
                                       "as of memory.",
                                       CREST_NONE),
    [CGROUP_CPU_USAGE] = CGROUP_USAGE(
        "cgroup.cpu.usage", "Processor time in percent of what it may use in an interval."),
    [CGROUP_PIDS_USED] = CGROUP_FIGURE(CREST_KIND_RANGE_SAMPLER, "cgroup.pids.used",
                                       "Threads of the control group.", CREST_NONE),
    [CGROUP_PIDS_LIMIT] =
        CGROUP_FIGURE(CREST_KIND_GAUGE, "cgroup.pids.limit",
                      "Threads that it may have: the least limit, as of memory.", CREST_NONE),
};

typedef struct cgroup_state {
    crest_cgroup_own own;
    crest_cgroup_limits limits;
    int known;
    uint64_t limits_ns; /* when they were read */
    uint64_t minor;     /* page faults, at their highest */
    int cpu_known;
    uint64_t cpu_us; /* at the last reading of consumption */
} cgroup_state;

/* ---- processors ---- */

static void cgroup_cpu_consume(crest_collect *collect, uint64_t cpu_us, int known)
{
    cgroup_state *state = collect->state;
    uint64_t before_us = state->cpu_us;
    int counts = known && collect->elapsed_ns != 0 && cpu_us >= before_us;
    state->cpu_known = 1;
    state->cpu_us = cpu_us;
    if (!counts)
        return;
    double may_ns = state->limits.cpus * (double)collect->elapsed_ns;
    double did_ns = (double)(cpu_us - before_us) * CGROUP_US_NS;
    double percent = CGROUP_PERCENT * did_ns / may_ns + 0.5;
    crest_figure_record(collect->own, CGROUP_CPU_USAGE,
                        percent < CGROUP_PERCENT ? (int64_t)percent : (int64_t)CGROUP_PERCENT);
}

static void cgroup_cpu(crest_collect *collect)
{
    cgroup_state *state = collect->state;
    crest_text text;
    crest_fault fault = {0};
    uint64_t values[CREST_CGROUP_CPU_KEYS];
    int known = state->cpu_known;
    if (collect->consume) /* unless it is read to the end, the next collection has no interval */
        state->cpu_known = 0;
    if (!crest_cgroup_own_read(collect, &state->own, 0, "cpu.stat", &text))
        return;
    uint64_t found = crest_cgroup_cpu_stat(text, values, &fault);
    crest_collect_blame(collect, "cpu.stat", &fault);
    for (unsigned key = 0; key < CREST_CGROUP_CPU_KEYS; key++)
        if (crest_table_has(found, key))
            crest_figure_total(collect->own, CGROUP_CPU + key, values[key]);
    if (state->limits.cpus == 0 || !crest_table_has(found, CREST_CGROUP_CPU_USAGE))
        return;
    crest_figure_gauge(collect->own, CGROUP_CPU_LIMIT, state->limits.cpus);
    crest_figure_keep(collect->own, CGROUP_CPU_USAGE);
    if (collect->consume)
        cgroup_cpu_consume(collect, values[CREST_CGROUP_CPU_USAGE], known);
}

/* ---- memory ---- */

static void cgroup_limit(crest_collect *collect, unsigned figure, uint64_t limit)
{
    if (limit != CREST_CGROUP_NO_LIMIT)
        crest_figure_gauge(collect->own, figure, (double)limit);
}

/* Gives a file of one number as a range sampler; 0 when the file is missing. */
static int cgroup_level(crest_collect *collect, const char *file, unsigned figure, uint64_t *value)
{
    const cgroup_state *state = collect->state;
    if (!crest_cgroup_own_value(collect, &state->own, 0, file, value))
        return 0;
    crest_collect_level(collect, collect->own, figure, file, *value);
    return *value <= (uint64_t)INT64_MAX;
}

static void cgroup_memory_stat(crest_collect *collect)
{
    cgroup_state *state = collect->state;
    crest_text text;
    crest_fault fault = {0};
    uint64_t values[CREST_CGROUP_MEMORY_KEYS];
    if (!crest_cgroup_own_read(collect, &state->own, 0, "memory.stat", &text))
        return;
    uint64_t found = crest_cgroup_memory_stat(text, values, &fault);
    crest_collect_blame(collect, "memory.stat", &fault);
    for (unsigned key = 0; key <= CREST_CGROUP_MEMORY_INACTIVE_FILE; key++)
        if (crest_table_has(found, key))
            crest_figure_gauge(collect->own, CGROUP_MEMORY_PART + key, (double)values[key]);
    if (!crest_table_has(found, CREST_CGROUP_MEMORY_FAULTS) ||
        !crest_table_has(found, CREST_CGROUP_MEMORY_FAULTS_MAJOR))
        return;
    crest_figure_total(collect->own, CGROUP_FAULTS_MAJOR, values[CREST_CGROUP_MEMORY_FAULTS_MAJOR]);
    crest_figure_total(collect->own, CGROUP_FAULTS_MINOR,
                       crest_minor_faults(values[CREST_CGROUP_MEMORY_FAULTS],
                                          values[CREST_CGROUP_MEMORY_FAULTS_MAJOR], &state->minor));
}

static void cgroup_memory(crest_collect *collect)
{
    cgroup_state *state = collect->state;
    crest_text text;
    crest_fault fault = {0};
    uint64_t used, events[CREST_CGROUP_EVENTS];
    if (cgroup_level(collect, "memory.current", CGROUP_MEMORY_USED, &used)) {
        cgroup_limit(collect, CGROUP_MEMORY_LIMIT, state->limits.memory);
        cgroup_limit(collect, CGROUP_MEMORY_HIGH, state->limits.memory_high);
        crest_figure_keep(collect->own, CGROUP_MEMORY_USAGE);
        int64_t percent = -1;
        if (collect->consume)
            percent = crest_cgroup_limits_memory(collect, &state->own, &state->limits, used);
        if (percent >= 0)
            crest_figure_record(collect->own, CGROUP_MEMORY_USAGE, percent);
        cgroup_memory_stat(collect);
    }
    if (crest_cgroup_own_read(collect, &state->own, 0, "memory.events", &text)) {
        uint64_t found = crest_cgroup_memory_events(text, events, &fault);
        crest_collect_blame(collect, "memory.events", &fault);
        for (unsigned event = 0; event < CREST_CGROUP_EVENTS; event++)
            if (crest_table_has(found, event))
                crest_figure_total(collect->own, CGROUP_EVENT + event, events[event]);
    }
    if (cgroup_level(collect, "memory.swap.current", CGROUP_SWAP_USED, &used))
        cgroup_limit(collect, CGROUP_SWAP_LIMIT, state->limits.swap);
}

/* ---- all of it ---- */

static void cgroup_collect(crest_collect *collect)
{
    cgroup_state *state = collect->state;
    uint64_t used;
    if (!crest_cgroup_own_find(collect, &state->own)) {
        state->cpu_known = 0;
        return;
    }
    if (state->own.moved || !state->known ||
        collect->now_ns - state->limits_ns >= collect->settings->slow_interval_ns) {
        crest_cgroup_limits_read(collect, &state->own, &state->limits);
        state->limits_ns = collect->now_ns;
        state->known = 1;
    }
    if (state->own.moved) {
        state->cpu_known = 0;
        state->minor = 0;
    }
    cgroup_cpu(collect);
    cgroup_memory(collect);
    if (cgroup_level(collect, "pids.current", CGROUP_PIDS_USED, &used))
        cgroup_limit(collect, CGROUP_PIDS_LIMIT, state->limits.pids);
}

const crest_collector_kind crest_cgroup_collector = {
    .name = "cgroup",
    .group = "cgroup",
    .collect = cgroup_collect,
    .state_bytes = sizeof(cgroup_state),
    .figures = cgroup_figures,
    .figure_count = CREST_FIGURES(cgroup_figures),
};
