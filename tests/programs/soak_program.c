/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's life at speed, for test_soak.py: in each cycle a plugin, threads, series, registries,
 * reporters, polls and probes come and go, clocks step, and every count is compared.
 *
 *     soak_program SECONDS PACE_MS FOLDER PUSHGATEWAY STATSD PLUGIN [LEAK]
 *
 * PACE_MS: what it rests after a cycle. PLUGIN: plugin_module.c without its host's metrics. Prints
 * a line each second: cycles, bytes of heap and of arena in use, resident KiB, descriptors,
 * threads, records. LEAK, one of heap, descriptor, thread, arena, leaves one a cycle behind, for
 * the test of the test. Ends with a push that has to succeed, and `OK`, or with what was wrong.
 */
#define _GNU_SOURCE
#include <crest/console.h>
#include <crest/crest.h>
#include <crest/hlog.h>
#include <crest/influxdb.h>
#include <crest/json_lines.h>
#include <crest/otlp_http.h>
#include <crest/prometheus.h>
#include <crest/pushgateway.h>
#include <crest/run.h>
#include <crest/statsd.h>
#include <crest/testing.h>
#include <crest/textfile.h>

#include "base/arena.h"
#include "base/lock.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define RECORDS 500
#define PEERS 20
#define DEADLINE_MS 3000u
#define LAST_PUSH_S 60
#define PLUGIN_RECORDS 20
/* What a series leaves is used again a minute later: shorter runs could only see it grow.
 * test_differential has series that come and go at the speed of a clock that is told. */
#define CHURN_S 120
/* Cycles of such a run at least, in four times its seconds at most: on a busy machine it has the
 * time to fill what fills once. */
#define CYCLES_LEAST 2500u
#define HOUR_NS INT64_C(3600000000000)

CREST_COUNTER(events, "soak.events", "Events.");
CREST_HISTOGRAM(sizes, "soak.size", "Sizes.", .unit = CREST_BYTES);
CREST_TIMER(block, "soak.block", "Keyed.");
CREST_COUNTER_FAMILY(sent, "soak.sent", "By peer.", peer);
CREST_HISTOGRAM_FAMILY(rtt, "soak.rtt", "By peer.", peer);

static uint64_t cycles, records;
static const char *folder, *push_url, *statsd_url, *plugin_path, *leak = "";
static int64_t wall_ahead_ns; /* of the kernel's clock; several threads read it */

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("cycle %llu, %s:%d: not so: %s\n", (unsigned long long)cycles, __FILE__,        \
                   __LINE__, #condition);                                                          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- clocks that step ---- */

/* Libraries call this instead of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME)
        now->tv_sec += __atomic_load_n(&wall_ahead_ns, __ATOMIC_RELAXED) / 1000000000;
    return status;
}

/* The wall clock by itself, as an operator's or NTP's; and as that of another machine, by the test
 * kit. crest_now() an hour on, where it stands still for two cycles, and back. */
static void clocks_step(void)
{
    static const int64_t ahead_h[] = {0, 3, -2, 0, 24 * 400, 0, -1};
    __atomic_store_n(&wall_ahead_ns, ahead_h[cycles % 7] * HOUR_NS, __ATOMIC_RELAXED);
    if (cycles % 7 == 0)
        crest_testing_clock_shift_wall(cycles % 2 ? HOUR_NS : -HOUR_NS, 0);
    if (cycles % 7 == 3)
        crest_testing_clock_shift_wall(0, 0);
    if (cycles % 7 == 4)
        crest_testing_clock_advance(HOUR_NS);
    if (cycles % 7 == 6)
        crest_testing_clock_real();
}

/* ---- what comes and goes ---- */

static void (*plugin_record)(int times, int with_host); /* while the plugin is there */
static uint64_t plugin_records;

static void *record(void *context)
{
    unsigned thread = (unsigned)(uintptr_t)context;
    for (unsigned i = 0; i < RECORDS; i++) {
        crest_op op = crest_op_u64(cycles * 100000 + thread * 10000 + i);
        crest_counter_inc(&events);
        crest_histogram_record(&sizes, 100 + i);
        if (i % 50 == 0) {
            MUST(crest_timer_begin(&block, op) == CREST_OK);
            MUST(crest_timer_end(&block, op, CREST_OUTCOME_OK) == CREST_OK);
        }
    }
    plugin_record(PLUGIN_RECORDS, 0);
    return NULL;
}

static void threads_come_and_go(void)
{
    pthread_t ids[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        MUST(pthread_create(&ids[i], NULL, record, (void *)i) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    records += THREADS * RECORDS;
    plugin_records += THREADS * PLUGIN_RECORDS;
}

/* Threads record in the plugin, too. What it declares goes on when it comes again. */
static void plugins_come_and_go(void)
{
    void *plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL)
        printf("%s\n", dlerror());
    MUST(plugin != NULL);
    plugin_record = (void (*)(int, int))(uintptr_t)dlsym(plugin, "plugin_record");
    uint64_t (*counted)(void) = (uint64_t(*)(void))(uintptr_t)dlsym(plugin, "plugin_count");
    MUST(plugin_record != NULL && counted != NULL && counted() == plugin_records);
    threads_come_and_go();
    MUST(counted() == plugin_records);
    plugin_record = NULL;
    MUST(dlclose(plugin) == 0);
    MUST(dlopen(plugin_path, RTLD_NOW | RTLD_NOLOAD) == NULL);
}

static void series_come_and_go(void)
{
    char peer[32];
    snprintf(peer, sizeof peer, "peer-%u", (unsigned)(cycles % PEERS));
    crest_counter *counter = sent_with(peer);
    crest_counter_add(counter, 3);
    crest_histogram_record(rtt_with(peer), 1000);
    if (cycles % 2)
        MUST(crest_counter_release(counter) == CREST_OK);
    else
        crest_retire(NULL, "peer", peer);
}

static double queue_length(void *context)
{
    (void)context;
    return 7;
}

static void registries_come_and_go(void)
{
    crest_registry *registry = crest_registry_new(NULL);
    MUST(registry != NULL);
    crest_metric_options options = {.name = "soak.own"}, gauge = {.name = "soak.queue"};
    crest_counter_add(crest_counter_get(registry, &options, NULL), 5);
    crest_poll_options when = {.name = "soak"};
    crest_poll *poll =
        crest_gauge_poll(crest_gauge_get(registry, &gauge, NULL), queue_length, NULL, &when, NULL);
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    crest_series_view view;
    MUST(crest_snapshot_find(snapshot, "soak.own", NULL, 0, &view) == CREST_OK);
    MUST(view.counter == 5);
    crest_snapshot_free(snapshot);
    MUST(crest_poll_stop(poll) == CREST_OK);
    crest_registry_free(registry);
}

static int send_nothing(void *context, uint64_t id)
{
    (void)context, (void)id;
    return 0;
}

static void probes_come_and_go(void)
{
    crest_probe *probe = crest_probe_ping("peer", send_nothing, NULL, NULL, NULL);
    MUST(probe != NULL && crest_probe_ping_now(probe) == CREST_OK);
    MUST(crest_probe_stop(probe) == CREST_OK);
}

enum { TEXTFILE, JSON, STATSD, PUSH, PROMETHEUS, INFLUXDB, OTLP, HLOG, REPORTERS };

static crest_reporter *reporter_new(unsigned kind, crest_error *error)
{
    static char path[300], database[300];
    crest_textfile_options textfile = {.path = path};
    crest_hlog_options hlog = {.path = path};
    crest_json_lines_options json = {.path = "/dev/null"};
    crest_statsd_options statsd = {.url = statsd_url, .rate = CREST_STATSD_RATE_MAX};
    crest_pushgateway_options push = {.url = push_url, .delete_on_stop = cycles % 3 == 0};
    crest_prometheus_options prometheus = {.listen = "127.0.0.1:0"};
    crest_influxdb_options influxdb = {.url = database};
    crest_otlp_temporality told = cycles % 2 ? CREST_OTLP_DELTA : CREST_OTLP_CUMULATIVE;
    crest_otlp_http_options otlp = {.url = push_url, .temporality = told};
    snprintf(path, sizeof path, "%s/soak.%s", folder, kind == HLOG ? "hlog" : "prom");
    snprintf(database, sizeof database, "%s/soak", push_url);
    if (kind == HLOG)
        unlink(path); /* or it would grow, as logs do */
    return kind == TEXTFILE     ? crest_textfile_new(&textfile, error)
           : kind == JSON       ? crest_json_lines_new(&json, error)
           : kind == STATSD     ? crest_statsd_new(&statsd, error)
           : kind == PUSH       ? crest_pushgateway_new(&push, error)
           : kind == PROMETHEUS ? crest_prometheus_new(&prometheus, error)
           : kind == INFLUXDB   ? crest_influxdb_new(&influxdb, error)
           : kind == OTLP       ? crest_otlp_http_new(&otlp, error)
                                : crest_hlog_new(&hlog, error);
}

/* Whether it could report; to servers that may be dead or broken. */
static int reporter_comes_and_goes(unsigned kind)
{
    crest_error error = {0};
    crest_reporter *reporter = reporter_new(kind, &error);
    crest_schedule schedule = {
        .interval_ms = CREST_INTERVAL_MS_MAX, .jitter = -1, .timeout_ms = 300};
    MUST(reporter != NULL);
    MUST(crest_reporter_attach(NULL, reporter, &schedule, &error) == CREST_OK);
    crest_status status =
        kind == PROMETHEUS ? CREST_OK : crest_report_now(reporter, DEADLINE_MS, &error);
    if (status != CREST_OK)
        MUST(strchr(error.message, ' ') != NULL);
    while (crest_reporter_detach(reporter, DEADLINE_MS, &error) == CREST_TIMED_OUT)
        continue; /* its thread is busy still, or the last report timed out */
    crest_reporter_free(reporter);
    return status == CREST_OK;
}

static void *waits_for_ever(void *context)
{
    pause();
    return context;
}

static void leak_one(void)
{
    pthread_t thread;
    pthread_attr_t small;
    crest_lock_saved saved;
    if (strcmp(leak, "heap") == 0) {
        void *volatile lost = malloc(24);
        lost = NULL;
        (void)lost;
    } else if (strcmp(leak, "descriptor") == 0) {
        MUST(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
    } else if (strcmp(leak, "arena") == 0) {
        crest_lock_take(&saved);
        MUST(crest_arena_take(CREST_ARENA_META, 64, 64) != NULL);
        crest_lock_drop(&saved);
    } else if (strcmp(leak, "thread") == 0) {
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 1 << 17);
        MUST(pthread_create(&thread, &small, waits_for_ever, NULL) == 0);
    }
}

/* ---- what must hold ---- */

static void counts_are_equal(void)
{
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_series_view view;
    MUST(snapshot != NULL);
    MUST(crest_snapshot_find(snapshot, "soak.events", NULL, 0, &view) == CREST_OK);
    MUST(view.counter == records);
    MUST(crest_snapshot_find(snapshot, "soak.size", NULL, 0, &view) == CREST_OK);
    MUST(crest_distribution_count(view.distribution) == records);
    MUST(crest_distribution_sum(view.distribution) ==
         records / RECORDS * (100ull * RECORDS + (uint64_t)RECORDS * (RECORDS - 1) / 2));
    MUST(crest_timer_in_flight(&block).count == 0);
    crest_snapshot_free(snapshot);
}

static unsigned entries(const char *path)
{
    unsigned count = 0;
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    if (directory != NULL)
        closedir(directory);
    return count;
}

static void show(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    MUST(file != NULL && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    printf("%llu %zu %llu %ld %u %u %llu\n", (unsigned long long)cycles, mallinfo2().uordblks,
           (unsigned long long)(crest_arena_used(CREST_ARENA_META) +
                                crest_arena_used(CREST_ARENA_CELLS)),
           pages * 4, entries("/proc/self/fd"), entries("/proc/self/task"),
           (unsigned long long)records);
    fflush(stdout);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void cycle(int churns)
{
    plugins_come_and_go();
    if (churns) {
        series_come_and_go();
        registries_come_and_go();
    }
    probes_come_and_go();
    (void)reporter_comes_and_goes(cycles % REPORTERS);
    clocks_step();
    leak_one();
    counts_are_equal();
}

/* The test has made the server good, and compares what it was told. */
static void last_push(void)
{
    double until = seconds() + LAST_PUSH_S;
    cycles = 1; /* the group is not to be deleted */
    while (!reporter_comes_and_goes(PUSH))
        MUST(seconds() < until);
}

int main(int argc, char **argv)
{
    if (argc < 7)
        return 2;
    double length = atof(argv[1]), began = seconds(), next = 0;
    long pace_ms = atol(argv[2]);
    int churns = length >= CHURN_S;
    unsigned repeats = churns ? 40 : 8; /* samples are from one place of what repeats */
    folder = argv[3], push_url = argv[4], statsd_url = argv[5], plugin_path = argv[6];
    leak = argc > 7 ? argv[7] : "";
    mallopt(M_ARENA_MAX, 1); /* so that mallinfo2 sees all of the heap */
    MUST(crest_ticker_attach(NULL) == CREST_OK);
    while (seconds() < began + length ||
           (churns && cycles < CYCLES_LEAST && seconds() < began + 4 * length)) {
        cycle(churns);
        if (seconds() >= next && cycles % repeats == repeats - 1) {
            show();
            next = seconds() + (churns ? 1 : 0);
        }
        cycles++;
        nanosleep(&(struct timespec){pace_ms / 1000, pace_ms % 1000 * 1000000}, NULL);
    }
    show();
    last_push();
    puts("OK");
    return 0;
}
