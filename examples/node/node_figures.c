/* SPDX-License-Identifier: Apache-2.0 */
/* See node_figures.h. */
#include "node_figures.h"

#include <crest/crest.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "node_inbox.h"

#define FIGURES_EVERY_S 1

/* ---- what this part measures; the names of the first group are those every Prometheus client uses
 * ---- */

CREST_COUNTER(process_cpu, "process.cpu", "User and system CPU time.", .unit = CREST_NANOSECONDS);
CREST_GAUGE(process_open_fds, "process.open-fds", "Open file descriptors.");
CREST_GAUGE(process_max_fds, "process.max-fds", "Soft limit of open file descriptors.");
CREST_GAUGE(process_virtual, "process.virtual-memory", "Address space.", .unit = CREST_BYTES);
CREST_GAUGE(process_resident, "process.resident-memory", "Resident memory.", .unit = CREST_BYTES);
CREST_GAUGE(process_start, "process.start-time", "When the process started, Unix time.",
            .unit = CREST_SECONDS);
CREST_GAUGE(process_threads, "process.threads", "Threads.");

CREST_HISTOGRAM(process_resident_readings, "process.resident-memory-readings",
                "Each reading of the resident memory.", .unit = CREST_BYTES);
CREST_COUNTER_FAMILY(process_faults, "process.page-faults",
                     "Page faults; a major one read the disk.", kind);
CREST_COUNTER_FAMILY(process_switches, "process.context-switches",
                     "Context switches of all threads.", kind);
CREST_COUNTER_FAMILY_OPTIONS(process_disk, "process.disk-data",
                             "Bytes that really came from or went to storage.",
                             (.unit = CREST_BYTES), direction);

CREST_GAUGE(system_memory, "system.memory-total", "Memory of the machine.", .unit = CREST_BYTES);
CREST_GAUGE(system_available, "system.memory-available", "Memory available without swapping.",
            .unit = CREST_BYTES);
CREST_GAUGE(system_swap, "system.swap-used", "Swap in use.", .unit = CREST_BYTES);
CREST_COUNTER_FAMILY(system_swapped, "system.pages-swapped",
                     "Pages swapped by the machine since the node started.", direction);
CREST_COUNTER_FAMILY(system_faults, "system.page-faults",
                     "Page faults of the machine since the node started.", kind);

/* A total that the kernel keeps, and the counter that follows it. */
typedef struct figures_total {
    crest_counter *counter;
    const char *series;
    uint64_t seen, counted;
    bool since_start; /* of the process: its first reading counts in full */
    bool started;
} figures_total;

enum figures_index {
    FIGURES_CPU,
    FIGURES_MINOR,
    FIGURES_MAJOR,
    FIGURES_VOLUNTARY,
    FIGURES_INVOLUNTARY,
    FIGURES_READ,
    FIGURES_WRITE,
    FIGURES_SWAP_IN,
    FIGURES_SWAP_OUT,
    FIGURES_SYSTEM_MINOR,
    FIGURES_SYSTEM_MAJOR,
    FIGURES_COUNT
};

static figures_total figures_totals[FIGURES_COUNT] = {
    [FIGURES_CPU] = {.series = "process_cpu_seconds_total", .since_start = true},
    [FIGURES_MINOR] = {.series = "process_page_faults_total{kind=\"minor\"}", .since_start = true},
    [FIGURES_MAJOR] = {.series = "process_page_faults_total{kind=\"major\"}", .since_start = true},
    [FIGURES_VOLUNTARY] = {.series = "process_context_switches_total{kind=\"voluntary\"}",
                           .since_start = true},
    [FIGURES_INVOLUNTARY] = {.series = "process_context_switches_total{kind=\"involuntary\"}",
                             .since_start = true},
    [FIGURES_READ] = {.series = "process_disk_data_bytes_total{direction=\"read\"}",
                      .since_start = true},
    [FIGURES_WRITE] = {.series = "process_disk_data_bytes_total{direction=\"write\"}",
                       .since_start = true},
    [FIGURES_SWAP_IN] = {.series = "system_pages_swapped_total{direction=\"in\"}"},
    [FIGURES_SWAP_OUT] = {.series = "system_pages_swapped_total{direction=\"out\"}"},
    [FIGURES_SYSTEM_MINOR] = {.series = "system_page_faults_total{kind=\"minor\"}"},
    [FIGURES_SYSTEM_MAJOR] = {.series = "system_page_faults_total{kind=\"major\"}"},
};

static pthread_t figures_thread;
static pthread_mutex_t figures_lock = PTHREAD_MUTEX_INITIALIZER; /* guards figures_stopping */
static pthread_cond_t figures_stop;
static bool figures_stopping;
static uint64_t figures_readings, figures_resident_sum;

static void figures_follow(enum figures_index which, uint64_t total)
{
    figures_total *t = &figures_totals[which];
    if (!t->started && !t->since_start)
        t->seen = total;
    t->started = true;
    if (total < t->seen)
        return; /* the kernel's own totals do step back at times; wait until they have caught up */
    crest_counter_add(t->counter, (int64_t)(total - t->seen));
    t->counted += total - t->seen;
    t->seen = total;
}

/* Reads a small file as text; false when it cannot be. */
static bool figures_file(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t length = fread(text, 1, size - 1, file);
    fclose(file);
    text[length] = '\0';
    return length > 0;
}

/* The number after "key" at the start of a line; false when there is none. */
static bool figures_value(const char *text, const char *key, uint64_t *value)
{
    size_t length = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0) {
            *value = strtoull(line + length, NULL, 10);
            return true;
        }
    }
    return false;
}

static void figures_open_fds(void)
{
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (directory == NULL)
        return;
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    crest_gauge_set(&process_open_fds,
                    count > 3 ? count - 3 : 0); /* ".", "..", and the directory's own */
}

static void figures_process(void)
{
    char text[4096];
    struct rusage use;
    struct rlimit limit;
    uint64_t value;
    getrusage(RUSAGE_SELF, &use);
    figures_follow(FIGURES_CPU,
                   ((uint64_t)use.ru_utime.tv_sec + (uint64_t)use.ru_stime.tv_sec) * NODE_NS_PER_S +
                       ((uint64_t)use.ru_utime.tv_usec + (uint64_t)use.ru_stime.tv_usec) * 1000);
    figures_follow(FIGURES_MINOR, (uint64_t)use.ru_minflt);
    figures_follow(FIGURES_MAJOR, (uint64_t)use.ru_majflt);
    figures_follow(FIGURES_VOLUNTARY, (uint64_t)use.ru_nvcsw);
    figures_follow(FIGURES_INVOLUNTARY, (uint64_t)use.ru_nivcsw);
    figures_open_fds();
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        crest_gauge_set(&process_max_fds, (double)limit.rlim_cur);
    if (figures_file("/proc/self/status", text, sizeof text)) {
        if (figures_value(text, "VmSize:", &value))
            crest_gauge_set(&process_virtual, (double)value * 1024);
        if (figures_value(text, "Threads:", &value))
            crest_gauge_set(&process_threads, (double)value);
        if (figures_value(text, "VmRSS:", &value)) {
            crest_gauge_set(&process_resident, (double)value * 1024);
            crest_histogram_record(&process_resident_readings, (int64_t)(value * 1024));
            figures_readings++;
            figures_resident_sum += value * 1024;
        }
    }
    if (figures_file("/proc/self/io", text, sizeof text)) {
        if (figures_value(text, "read_bytes:", &value))
            figures_follow(FIGURES_READ, value);
        if (figures_value(text, "write_bytes:", &value))
            figures_follow(FIGURES_WRITE, value);
    }
}

static void figures_system(void)
{
    char text[16384];
    uint64_t value, free_swap, faults;
    if (figures_file("/proc/meminfo", text, sizeof text)) {
        if (figures_value(text, "MemTotal:", &value))
            crest_gauge_set(&system_memory, (double)value * 1024);
        if (figures_value(text, "MemAvailable:", &value))
            crest_gauge_set(&system_available, (double)value * 1024);
        if (figures_value(text, "SwapTotal:", &value) &&
            figures_value(text, "SwapFree:", &free_swap))
            crest_gauge_set(&system_swap, (double)(value - free_swap) * 1024);
    }
    if (!figures_file("/proc/vmstat", text, sizeof text))
        return;
    if (figures_value(text, "pswpin ", &value))
        figures_follow(FIGURES_SWAP_IN, value);
    if (figures_value(text, "pswpout ", &value))
        figures_follow(FIGURES_SWAP_OUT, value);
    if (figures_value(text, "pgmajfault ", &value)) {
        figures_follow(FIGURES_SYSTEM_MAJOR, value);
        if (figures_value(text, "pgfault ", &faults))
            figures_follow(FIGURES_SYSTEM_MINOR, faults - value);
    }
}

/* Start of the process: boot time plus field 22 of stat, in clock ticks (proc(5)). */
static void figures_start_time(void)
{
    char text[16384];
    uint64_t boot_s;
    if (!figures_file("/proc/stat", text, sizeof text) || !figures_value(text, "btime ", &boot_s) ||
        !figures_file("/proc/self/stat", text, sizeof text))
        return;
    const char *at = strrchr(text, ')'); /* the name before it may contain anything */
    for (unsigned field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at != NULL)
        crest_gauge_set(&process_start,
                        (double)boot_s + strtod(at, NULL) / (double)sysconf(_SC_CLK_TCK));
}

static void *figures_run(void *unused)
{
    (void)unused;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&figures_lock);
    while (!figures_stopping) {
        pthread_mutex_unlock(&figures_lock);
        figures_process();
        figures_system();
        inbox_sample();
        until.tv_sec += FIGURES_EVERY_S;
        pthread_mutex_lock(&figures_lock);
        while (!figures_stopping &&
               pthread_cond_timedwait(&figures_stop, &figures_lock, &until) == 0)
            continue;
    }
    pthread_mutex_unlock(&figures_lock);
    return NULL;
}

bool figures_open(void)
{
    crest_counter *const counter[FIGURES_COUNT] = {&process_cpu,
                                                   process_faults_with("minor"),
                                                   process_faults_with("major"),
                                                   process_switches_with("voluntary"),
                                                   process_switches_with("involuntary"),
                                                   process_disk_with("read"),
                                                   process_disk_with("write"),
                                                   system_swapped_with("in"),
                                                   system_swapped_with("out"),
                                                   system_faults_with("minor"),
                                                   system_faults_with("major")};
    pthread_condattr_t attributes;
    for (unsigned i = 0; i < FIGURES_COUNT; i++)
        figures_totals[i].counter = counter[i];
    figures_start_time();
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&figures_stop, &attributes);
    pthread_condattr_destroy(&attributes);
    int rc = pthread_create(&figures_thread, NULL, figures_run, NULL);
    if (rc != 0)
        node_say("cannot start the figures' thread: %s; allow the node more threads", strerror(rc));
    return rc == 0;
}

void figures_close(void)
{
    pthread_mutex_lock(&figures_lock);
    figures_stopping = true;
    pthread_cond_signal(&figures_stop);
    pthread_mutex_unlock(&figures_lock);
    pthread_join(figures_thread, NULL);
    figures_process();
    figures_system();
}

void figures_report(report *r)
{
    report_seconds(r, figures_totals[FIGURES_CPU].counted, "%s",
                   figures_totals[FIGURES_CPU].series);
    for (unsigned i = FIGURES_MINOR; i < FIGURES_COUNT; i++)
        report_count(r, figures_totals[i].counted, "%s", figures_totals[i].series);
    report_count(r, figures_readings, "process_resident_memory_readings_bytes_count");
    report_count(r, figures_resident_sum, "process_resident_memory_readings_bytes_sum");
}
