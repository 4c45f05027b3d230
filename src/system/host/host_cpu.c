/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector `cpu`: the processors of the machine, of /proc/stat. Without single processors, and
 * without one process' shares, which are process_collector.c's.
 *
 * Microseconds and not nanoseconds, because a thousand processors fill 64 bits of those in half a
 * year. A mode is never guest time besides: Linux counts that in user and nice already.
 *
 * Time that has been counted is never counted again. Linux lets idle and iowait step back a little:
 * iowait is charged to the processor on which a task blocked, idle is read from a clock that is
 * corrected. They step back by much when a processor goes offline. A step back of up to CPU_STEP_S
 * seconds waits until the source has caught up. A larger one goes on from the new figure, adds
 * nothing, and is counted in crest_collect_resets_total.
 */
#include "system/collect_fault.h"
#include "system/parse/host_text.h"

#include <string.h>
#include <unistd.h>

#define CPU_STEP_S 3u
#define CPU_US_PER_S UINT64_C(1000000)
/* More ticks than any machine has seen, and few enough to fit microseconds. */
#define CPU_TICKS_MAX (UINT64_C(1) << 43)

enum {
    CPU_TIME,
    CPU_USAGE = CPU_TIME + CREST_CPU_MODES,
    CPU_USAGE_USER = CPU_USAGE,
    CPU_USAGE_SYSTEM,
    CPU_USAGE_WAIT,
    CPU_USAGE_IDLE,
    CPU_USAGE_STOLEN,
    CPU_USAGE_COMBINED,
    CPU_ONLINE,
    CPU_SWITCHES,
    CPU_INTERRUPTS,
    CPU_FORKS,
    CPU_RUNNING,
    CPU_BLOCKED
};
#define CPU_USAGES (CPU_ONLINE - CPU_USAGE)

#define CPU_TIME_FIGURE(mode)                                                                      \
    {                                                                                              \
        .kind = CREST_KIND_COUNTER,                                                                \
        .options = {.name = "host.cpu",                                                            \
                    .description = "Time of all processors by what they did; guests' is in user "  \
                                   "and nice.",                                                    \
                    .unit = CREST_MICROSECONDS},                                                   \
        .label = {"mode", mode},                                                                   \
    }
#define CPU_USAGE_FIGURE(mode)                                                                     \
    {                                                                                              \
        .kind = CREST_KIND_HISTOGRAM,                                                              \
        .options = {.name = "host.cpu.usage",                                                      \
                    .description = "Share of all processors' time in percent, an interval each.",  \
                    .buckets = &crest_percent_buckets,                                             \
                    .range = CREST_RANGE_PERCENTAGE},                                              \
        .label = {"mode", mode},                                                                   \
    }
#define CPU_FIGURE(which, canonical, text)                                                         \
    {                                                                                              \
        .kind = which, .options = {.name = canonical, .description = text},                        \
    }

static const crest_figure cpu_figures[] = {
    CPU_TIME_FIGURE("user"),
    CPU_TIME_FIGURE("nice"),
    CPU_TIME_FIGURE("system"),
    CPU_TIME_FIGURE("idle"),
    CPU_TIME_FIGURE("iowait"),
    CPU_TIME_FIGURE("irq"),
    CPU_TIME_FIGURE("softirq"),
    CPU_TIME_FIGURE("steal"),
    CPU_USAGE_FIGURE("user"),
    CPU_USAGE_FIGURE("system"),
    CPU_USAGE_FIGURE("wait"),
    CPU_USAGE_FIGURE("idle"),
    CPU_USAGE_FIGURE("stolen"),
    CPU_USAGE_FIGURE("combined"),
    CPU_FIGURE(CREST_KIND_GAUGE, "host.cpus", "Processors online."),
    CPU_FIGURE(CREST_KIND_COUNTER, "host.context-switches", "Context switches of the machine."),
    CPU_FIGURE(CREST_KIND_COUNTER, "host.interrupts", "Interrupts served."),
    CPU_FIGURE(CREST_KIND_COUNTER, "host.forks", "Processes and threads made."),
    CPU_FIGURE(CREST_KIND_RANGE_SAMPLER, "host.processes.running", "Threads that run or could."),
    CPU_FIGURE(CREST_KIND_RANGE_SAMPLER, "host.processes.blocked", "Threads that wait for a disk."),
};

typedef struct cpu_state {
    uint64_t us_per_tick;
    int known;                          /* `consumed` is of an earlier reading */
    uint64_t seen[CREST_CPU_MODES];     /* the source's ticks, at their highest */
    uint64_t given[CREST_CPU_MODES];    /* our totals of them: they never go down */
    uint64_t consumed[CREST_CPU_MODES]; /* of `given`, at the last reading of consumption */
} cpu_state;

/* A mode's ticks by our own count, which goes on where the source steps back. */
static void cpu_follow(crest_collect *collect, unsigned mode, uint64_t ticks)
{
    cpu_state *state = collect->state;
    uint64_t seen = state->seen[mode];
    if (ticks >= seen) {
        state->given[mode] += ticks - seen;
    } else if ((seen - ticks) * state->us_per_tick <= CPU_STEP_S * CPU_US_PER_S) {
        return;
    } else {
        crest_collect_reset(collect, "reset");
    }
    state->seen[mode] = ticks;
}

/* Records shares since the last reading, as Kamon has them: nice, irq and softirq belong to the
 * whole only, nice and wait to `combined`. */
static void cpu_consume(crest_collect *collect)
{
    cpu_state *state = collect->state;
    uint64_t grown[CREST_CPU_MODES], all = 0;
    for (unsigned mode = 0; mode < CREST_CPU_MODES; mode++) {
        grown[mode] = state->given[mode] - state->consumed[mode];
        all += grown[mode];
    }
    memcpy(state->consumed, state->given, sizeof state->consumed);
    /* at the first reading everything is the time since the machine was started */
    int counts = state->known && collect->elapsed_ns != 0 && all != 0;
    state->known = 1;
    const uint64_t parts[CPU_USAGES] = {
        grown[CREST_CPU_USER],
        grown[CREST_CPU_SYSTEM],
        grown[CREST_CPU_IOWAIT],
        grown[CREST_CPU_IDLE],
        grown[CREST_CPU_STEAL],
        grown[CREST_CPU_USER] + grown[CREST_CPU_NICE] + grown[CREST_CPU_SYSTEM] +
            grown[CREST_CPU_IOWAIT],
    };
    for (unsigned i = 0; i < CPU_USAGES && counts; i++)
        crest_figure_record(collect->own, CPU_USAGE + i, crest_figure_percent(parts[i], all));
}

static void cpu_time(crest_collect *collect, const crest_stat_figures *stat)
{
    cpu_state *state = collect->state;
    if (stat->modes == 0)
        return;
    if (state->us_per_tick == 0) {
        long hertz = sysconf(_SC_CLK_TCK);
        state->us_per_tick = CPU_US_PER_S / (uint64_t)(hertz > 0 ? hertz : 100);
    }
    for (unsigned mode = 0; mode < stat->modes; mode++) {
        if (stat->cpu[mode] <= CPU_TICKS_MAX)
            continue;
        crest_collect_fail(collect, CREST_CAUSE_GARBAGE, "/proc/stat",
                           "a time there is longer than it can be");
        return;
    }
    for (unsigned mode = 0; mode < stat->modes; mode++) {
        cpu_follow(collect, mode, stat->cpu[mode]);
        crest_figure_total(collect->own, CPU_TIME + mode, state->given[mode] * state->us_per_tick);
    }
    for (unsigned i = 0; i < CPU_USAGES; i++)
        crest_figure_keep(collect->own, CPU_USAGE + i);
    if (collect->consume)
        cpu_consume(collect);
}

static void cpu_collect(crest_collect *collect)
{
    crest_text text;
    crest_stat_figures stat;
    crest_fault fault = {0};
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "stat", 0, &text))
        return;
    crest_stat_parse(text, &stat, &fault);
    crest_collect_blame(collect, "/proc/stat", &fault);
    cpu_time(collect, &stat);
    if (stat.cpus != 0)
        crest_figure_gauge(collect->own, CPU_ONLINE, stat.cpus);
    for (unsigned key = CREST_STAT_SWITCHES; key <= CREST_STAT_FORKS; key++)
        if (crest_table_has(stat.found, key))
            crest_figure_total(collect->own, CPU_SWITCHES + key, stat.values[key]);
    for (unsigned key = CREST_STAT_RUNNING; key <= CREST_STAT_BLOCKED; key++)
        if (crest_table_has(stat.found, key))
            crest_collect_level(collect, collect->own, CPU_SWITCHES + key, "/proc/stat",
                                stat.values[key]);
}

const crest_collector_kind crest_cpu_collector = {
    .name = "cpu",
    .group = "cpu",
    .collect = cpu_collect,
    .state_bytes = sizeof(cpu_state),
    .figures = cpu_figures,
    .figure_count = CREST_FIGURES(cpu_figures),
};
