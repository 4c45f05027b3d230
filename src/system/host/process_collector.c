/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process consumes: processor time, memory, descriptors, faults, switches, bytes. It
 * gives the nine process_ metrics that every client of Prometheus has; beside them, counters of
 * everything that the kernel counts, and distributions of what was consumed. process_memory.c walks
 * memory, process_threads.c threads.
 *
 * Processor time, faults, switches and block operations come from one getrusage, which knows the
 * whole process and its ended threads; the rest from PROC/self. The metrics are in
 * system.metrics.yaml.
 */
#define _GNU_SOURCE
#include "system/collectors.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    PROCESS_CPU,
    PROCESS_CPU_USER,
    PROCESS_CPU_SYSTEM,
    PROCESS_USAGE_USER,
    PROCESS_USAGE_SYSTEM,
    PROCESS_USAGE_COMBINED,
    PROCESS_FAULTS_MINOR,
    PROCESS_FAULTS_MAJOR,
    PROCESS_SWITCHES_VOLUNTARY,
    PROCESS_SWITCHES_INVOLUNTARY,
    PROCESS_BLOCKS_READ,
    PROCESS_BLOCKS_WRITE,
    PROCESS_START_TIME,
    PROCESS_THREADS,
    PROCESS_VIRTUAL,
    PROCESS_RESIDENT,
    PROCESS_RESIDENT_READINGS,
    PROCESS_RESIDENT_RANGE,
    PROCESS_DESCRIPTORS,
    PROCESS_DESCRIPTORS_RANGE,
    PROCESS_DESCRIPTORS_MAX,
    PROCESS_VIRTUAL_MAX,
    PROCESS_DISK_READ,
    PROCESS_DISK_WRITE,
    PROCESS_IO_READ,
    PROCESS_IO_WRITE,
    PROCESS_CALLS_READ,
    PROCESS_CALLS_WRITE
};

#define PROCESS_USAGE(mode)                                                                        \
    {                                                                                              \
        .kind = CREST_KIND_HISTOGRAM,                                                              \
        .options = {.name = "process.cpu.usage",                                                   \
                    .description = "Processor time used in an interval, in percent of what the "   \
                                   "processors that the process may run on had.",                  \
                    .range = CREST_RANGE_PERCENTAGE,                                               \
                    .buckets = &process_percent_buckets},                                          \
        .label = {                                                                                 \
            "mode",                                                                                \
            mode                                                                                   \
        }                                                                                          \
    }
#define PROCESS_COUNTER(name_, description_, unit_, key, value)                                    \
    {                                                                                              \
        .kind = CREST_KIND_COUNTER,                                                                \
        .options = {.name = name_, .description = description_, .unit = unit_}, .label = {         \
            key,                                                                                   \
            value                                                                                  \
        }                                                                                          \
    }
#define PROCESS_TIME(name_, description_)                                                          \
    {                                                                                              \
        .kind = CREST_KIND_COUNTER,                                                                \
        .options = {.name = name_, .description = description_, .unit = CREST_NANOSECONDS},        \
        .scale = 1000                                                                              \
    }
#define PROCESS_GAUGE(name_, description_, unit_)                                                  \
    {                                                                                              \
        .kind = CREST_KIND_GAUGE, .options = {                                                     \
            .name = name_,                                                                         \
            .description = description_,                                                           \
            .unit = unit_                                                                          \
        }                                                                                          \
    }

#define PROCESS_FAULTS "Page faults, without (minor) and with (major) a read from storage."
#define PROCESS_SWITCHES "Times a thread gave its processor up, or lost it."
#define PROCESS_BLOCKS "Blocks of 512 bytes that storage was asked for, or given."
#define PROCESS_DISK "Bytes that were fetched from storage, or will be written to it."
#define PROCESS_IO "Bytes that system calls read or wrote, whatever from or to."
#define PROCESS_CALLS "System calls that read or wrote."

static const double process_percents[] = {1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95};
static const crest_buckets process_percent_buckets = {
    process_percents, sizeof process_percents / sizeof *process_percents};
/* 1 MiB to 256 GiB */
static const double process_memories[] = {0x1p20, 0x1p22, 0x1p24, 0x1p26, 0x1p28,
                                          0x1p30, 0x1p32, 0x1p34, 0x1p36, 0x1p38};
static const crest_buckets process_memory_buckets = {
    process_memories, sizeof process_memories / sizeof *process_memories};

/* Metrics that every client of Prometheus has, with the HELP that all clients have:
 * page_families.c. */
static const crest_figure process_figures[] = {
    [PROCESS_CPU] = PROCESS_TIME("process.cpu", "Total user and system CPU time spent in seconds."),
    [PROCESS_CPU_USER] = PROCESS_TIME("process.cpu.user", "Processor time outside the kernel."),
    [PROCESS_CPU_SYSTEM] = PROCESS_TIME("process.cpu.system", "Processor time in the kernel."),
    [PROCESS_USAGE_USER] = PROCESS_USAGE("user"),
    [PROCESS_USAGE_SYSTEM] = PROCESS_USAGE("system"),
    [PROCESS_USAGE_COMBINED] = PROCESS_USAGE("combined"),
    [PROCESS_FAULTS_MINOR] =
        PROCESS_COUNTER("process.page-faults", PROCESS_FAULTS, CREST_NONE, "kind", "minor"),
    [PROCESS_FAULTS_MAJOR] =
        PROCESS_COUNTER("process.page-faults", PROCESS_FAULTS, CREST_NONE, "kind", "major"),
    [PROCESS_SWITCHES_VOLUNTARY] = PROCESS_COUNTER("process.context-switches", PROCESS_SWITCHES,
                                                   CREST_NONE, "kind", "voluntary"),
    [PROCESS_SWITCHES_INVOLUNTARY] = PROCESS_COUNTER("process.context-switches", PROCESS_SWITCHES,
                                                     CREST_NONE, "kind", "involuntary"),
    [PROCESS_BLOCKS_READ] = PROCESS_COUNTER("process.block-operations", PROCESS_BLOCKS, CREST_NONE,
                                            "direction", "read"),
    [PROCESS_BLOCKS_WRITE] = PROCESS_COUNTER("process.block-operations", PROCESS_BLOCKS, CREST_NONE,
                                             "direction", "write"),
    [PROCESS_START_TIME] =
        PROCESS_GAUGE("process.start-time",
                      "Start time of the process since unix epoch in seconds.", CREST_SECONDS),
    [PROCESS_THREADS] = PROCESS_GAUGE("process.threads", "Threads of the process.", CREST_NONE),
    [PROCESS_VIRTUAL] =
        PROCESS_GAUGE("process.virtual-memory", "Virtual memory size in bytes.", CREST_BYTES),
    [PROCESS_RESIDENT] =
        PROCESS_GAUGE("process.resident-memory", "Resident memory size in bytes.", CREST_BYTES),
    [PROCESS_RESIDENT_READINGS] = {.kind = CREST_KIND_HISTOGRAM,
                                   .options = {.name = "process.resident-memory-readings",
                                               .description = "Memory that was in RAM, read once "
                                                              "an interval.",
                                               .unit = CREST_BYTES,
                                               .buckets = &process_memory_buckets}},
    [PROCESS_RESIDENT_RANGE] = {.kind = CREST_KIND_RANGE_SAMPLER,
                                .options = {.name = "process.memory-resident",
                                            .description = "Memory in RAM, with the extremes of "
                                                           "what snapshots saw.",
                                            .unit = CREST_BYTES}},
    [PROCESS_DESCRIPTORS] =
        PROCESS_GAUGE("process.open-fds", "Number of open file descriptors.", CREST_NONE),
    [PROCESS_DESCRIPTORS_RANGE] = {.kind = CREST_KIND_RANGE_SAMPLER,
                                   .options = {.name = "process.file-descriptors",
                                               .description = "Open file descriptors, with the "
                                                              "extremes of what snapshots saw."}},
    [PROCESS_DESCRIPTORS_MAX] =
        PROCESS_GAUGE("process.max-fds", "Maximum number of open file descriptors.", CREST_NONE),
    [PROCESS_VIRTUAL_MAX] =
        PROCESS_GAUGE("process.virtual-memory-max",
                      "Maximum amount of virtual memory available in bytes.", CREST_BYTES),
    [PROCESS_DISK_READ] =
        PROCESS_COUNTER("process.disk-data", PROCESS_DISK, CREST_BYTES, "direction", "read"),
    [PROCESS_DISK_WRITE] =
        PROCESS_COUNTER("process.disk-data", PROCESS_DISK, CREST_BYTES, "direction", "write"),
    [PROCESS_IO_READ] =
        PROCESS_COUNTER("process.io-data", PROCESS_IO, CREST_BYTES, "direction", "read"),
    [PROCESS_IO_WRITE] =
        PROCESS_COUNTER("process.io-data", PROCESS_IO, CREST_BYTES, "direction", "write"),
    [PROCESS_CALLS_READ] =
        PROCESS_COUNTER("process.io-calls", PROCESS_CALLS, CREST_NONE, "direction", "read"),
    [PROCESS_CALLS_WRITE] =
        PROCESS_COUNTER("process.io-calls", PROCESS_CALLS, CREST_NONE, "direction", "write"),
};

typedef struct process_state {
    uint64_t user_us, system_us; /* at the last reading of consumption */
    double start_time;           /* 0: not known yet */
} process_state;

/* ---- processor time, faults, switches ---- */

static uint64_t process_us(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
}

/* Records shares of the time that all processors had on which it may run. */
static void process_usage(crest_collect *collect, uint64_t user_us, uint64_t system_us)
{
    process_state *state = collect->state;
    cpu_set_t may;
    int processors = sched_getaffinity(0, sizeof may, &may) == 0 ? CPU_COUNT(&may) : 0;
    if (processors <= 0)
        processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t whole_us = collect->elapsed_ns / 1000 * (uint64_t)(processors > 0 ? processors : 1);
    if (whole_us != 0) {
        uint64_t user = user_us - state->user_us, system = system_us - state->system_us;
        crest_figure_record(collect->own, PROCESS_USAGE_USER, crest_figure_percent(user, whole_us));
        crest_figure_record(collect->own, PROCESS_USAGE_SYSTEM,
                            crest_figure_percent(system, whole_us));
        crest_figure_record(collect->own, PROCESS_USAGE_COMBINED,
                            crest_figure_percent(user + system, whole_us));
    }
    state->user_us = user_us;
    state->system_us = system_us;
}

static void process_rusage(crest_collect *collect)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0) {
        crest_collect_fail_errno(collect, "getrusage", errno);
        return;
    }
    uint64_t user_us = process_us(used.ru_utime), system_us = process_us(used.ru_stime);
    crest_figure_total(collect->own, PROCESS_CPU_USER, user_us);
    crest_figure_total(collect->own, PROCESS_CPU_SYSTEM, system_us);
    crest_figure_total(collect->own, PROCESS_CPU, user_us + system_us);
    crest_figure_total(collect->own, PROCESS_FAULTS_MINOR, (uint64_t)used.ru_minflt);
    crest_figure_total(collect->own, PROCESS_FAULTS_MAJOR, (uint64_t)used.ru_majflt);
    crest_figure_total(collect->own, PROCESS_SWITCHES_VOLUNTARY, (uint64_t)used.ru_nvcsw);
    crest_figure_total(collect->own, PROCESS_SWITCHES_INVOLUNTARY, (uint64_t)used.ru_nivcsw);
    crest_figure_total(collect->own, PROCESS_BLOCKS_READ, (uint64_t)used.ru_inblock);
    crest_figure_total(collect->own, PROCESS_BLOCKS_WRITE, (uint64_t)used.ru_oublock);
    if (collect->consume)
        process_usage(collect, user_us, system_us);
    for (unsigned i = PROCESS_USAGE_USER; i <= PROCESS_USAGE_COMBINED; i++)
        crest_figure_keep(collect->own, i);
}

/* ---- stat ---- */

/* Indices of words of /proc/self/stat after the program's name, which may hold anything; the first
 * is field 3 of proc(5). */
#define PROCESS_STAT_THREADS (20u - 3u)
#define PROCESS_STAT_START (22u - 3u)
#define PROCESS_STAT_VIRTUAL (23u - 3u)
#define PROCESS_STAT_RESIDENT (24u - 3u)
#define PROCESS_STAT_WORDS (PROCESS_STAT_RESIDENT + 1)

/* Splits the text; 0 when it is malformed. */
static int process_stat_split(crest_text text, crest_text words[PROCESS_STAT_WORDS])
{
    const char *close = text.end;
    while (close != text.at && close[-1] != ')')
        close--;
    if (close == text.at)
        return 0;
    text.at = close;
    for (unsigned i = 0; i < PROCESS_STAT_WORDS; i++)
        if (!crest_text_word(&text, &words[i]))
            return 0;
    return 1;
}

static int process_stat_number(crest_collect *collect, crest_text word, const char *what,
                               uint64_t *value)
{
    crest_text at = word;
    if (crest_text_u64(&at, value))
        return 1;
    crest_collect_garbage(collect, what, word);
    return 0;
}

/* When the machine was started, since 1970; read until it is known. */
static void process_start(crest_collect *collect, uint64_t ticks)
{
    process_state *state = collect->state;
    crest_text text, rest;
    uint64_t booted;
    long per_second = sysconf(_SC_CLK_TCK);
    if (per_second <= 0 || !crest_collect_read(collect, CREST_ROOT_PROC, "stat", 0, &text))
        return;
    if (crest_text_field(text, "btime ", &rest) && crest_text_u64(&rest, &booted))
        state->start_time = (double)booted + (double)ticks / (double)per_second;
    else
        crest_collect_garbage(collect, "stat: btime", text);
}

static void process_memory_resident(crest_collect *collect, uint64_t pages)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(pages, (uint64_t)sysconf(_SC_PAGESIZE), &bytes) ||
        bytes > (uint64_t)INT64_MAX) {
        crest_collect_fail(collect, CREST_CAUSE_GARBAGE, "self/stat: rss",
                           "more than there can be");
        return;
    }
    crest_figure_gauge(collect->own, PROCESS_RESIDENT, (double)bytes);
    crest_figure_sample(collect->own, PROCESS_RESIDENT_RANGE, (int64_t)bytes);
    if (collect->consume)
        crest_figure_record(collect->own, PROCESS_RESIDENT_READINGS, (int64_t)bytes);
    crest_figure_keep(collect->own, PROCESS_RESIDENT_READINGS);
}

static void process_stat(crest_collect *collect)
{
    crest_text text, words[PROCESS_STAT_WORDS];
    uint64_t threads, start, virtual, resident;
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "self/stat", 0, &text))
        return;
    if (!process_stat_split(text, words)) {
        crest_collect_garbage(collect, "self/stat", text);
        return;
    }
    if (process_stat_number(collect, words[PROCESS_STAT_THREADS], "self/stat: threads", &threads))
        crest_figure_gauge(collect->own, PROCESS_THREADS, (double)threads);
    if (process_stat_number(collect, words[PROCESS_STAT_VIRTUAL], "self/stat: vsize", &virtual))
        crest_figure_gauge(collect->own, PROCESS_VIRTUAL, (double)virtual);
    if (process_stat_number(collect, words[PROCESS_STAT_RESIDENT], "self/stat: rss", &resident))
        process_memory_resident(collect, resident);
    const process_state *state = collect->state;
    if (state->start_time == 0 &&
        process_stat_number(collect, words[PROCESS_STAT_START], "self/stat: starttime", &start))
        process_start(collect, start); /* reads another file: the words are then gone */
    if (state->start_time != 0)
        crest_figure_gauge(collect->own, PROCESS_START_TIME, state->start_time);
}

/* ---- descriptors and limits ---- */

static void process_descriptors_give(crest_collect *collect, int64_t count)
{
    crest_figure_gauge(collect->own, PROCESS_DESCRIPTORS, (double)count);
    crest_figure_sample(collect->own, PROCESS_DESCRIPTORS_RANGE, count);
}

/* How many entries the directory has, less the descriptor that reads it. */
static void process_descriptors_count(crest_collect *collect, const char *path)
{
    DIR *folder = crest_collect_folder(path);
    int64_t count = 0;
    if (folder == NULL) {
        crest_collect_fail_errno(collect, path, errno);
        return;
    }
    struct stat shown, own;
    int is_own = fstat(dirfd(folder), &shown) == 0 && stat("/proc/self/fd", &own) == 0 &&
                 shown.st_dev == own.st_dev;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    process_descriptors_give(collect, count - is_own);
}

/* Linux 6.2 and later has the count as the size of the directory; older kernels have 0. */
static void process_descriptors(crest_collect *collect)
{
    char path[CREST_COLLECT_DEVICE_BYTES * 3];
    struct statfs system;
    struct stat shown;
    if (!crest_collect_path(collect, CREST_ROOT_PROC, "self/fd", path, sizeof path))
        return;
    if (statfs(path, &system) == 0 && system.f_type == PROC_SUPER_MAGIC &&
        stat(path, &shown) == 0 && shown.st_size > 0)
        process_descriptors_give(collect, shown.st_size);
    else
        process_descriptors_count(collect, path);
}

/* Gives a soft limit; an unlimited one has no figure. */
static void process_limit(crest_collect *collect, crest_text text, const char *key, unsigned figure)
{
    crest_text rest, word;
    uint64_t value;
    if (!crest_text_field(text, key, &rest) || !crest_text_word(&rest, &word)) {
        crest_collect_fail(collect, CREST_CAUSE_GARBAGE, "self/limits", key);
        return;
    }
    if (crest_text_is(word, "unlimited"))
        return;
    if (process_stat_number(collect, word, "self/limits", &value))
        crest_figure_gauge(collect->own, figure, (double)value);
}

static void process_limits(crest_collect *collect)
{
    crest_text text;
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "self/limits", 0, &text))
        return;
    process_limit(collect, text, "Max open files", PROCESS_DESCRIPTORS_MAX);
    process_limit(collect, text, "Max address space", PROCESS_VIRTUAL_MAX);
}

/* ---- input and output ---- */

static void process_io(crest_collect *collect)
{
    static const struct {
        const char *key;
        unsigned figure;
    } all[] = {{"rchar:", PROCESS_IO_READ},        {"wchar:", PROCESS_IO_WRITE},
               {"syscr:", PROCESS_CALLS_READ},     {"syscw:", PROCESS_CALLS_WRITE},
               {"read_bytes:", PROCESS_DISK_READ}, {"write_bytes:", PROCESS_DISK_WRITE}};
    crest_text text, rest;
    uint64_t value;
    if (!crest_collect_read(collect, CREST_ROOT_PROC, "self/io", 0, &text))
        return;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (crest_text_field(text, all[i].key, &rest) && crest_text_u64(&rest, &value))
            crest_figure_total(collect->own, all[i].figure, value);
        else
            crest_collect_garbage(collect, "self/io", text);
    }
}

static void process_collect(crest_collect *collect)
{
    process_rusage(collect);
    process_stat(collect);
    process_descriptors(collect);
    process_limits(collect);
    process_io(collect);
}

const crest_collector_kind crest_process_collector = {
    .name = "process",
    .group = "process",
    .collect = process_collect,
    .state_bytes = sizeof(process_state),
    .figures = process_figures,
    .figure_count = CREST_FIGURES(process_figures),
};
