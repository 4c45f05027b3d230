/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's life at speed, for test_soak.py: in each cycle threads, series, registries, reporters,
 * polls and probes come and go, clocks step, and every count is compared.
 *
 *     soak_program SECONDS FOLDER PUSHGATEWAY STATSD [LEAK]
 *
 * Prints a line each second: cycles, bytes of heap and of arena in use, resident KiB, descriptors,
 * threads, records. LEAK, one of heap, descriptor, thread, arena, leaves one a cycle behind, for
 * the test of the test. Ends with `OK`, or with what was wrong.
 */
#define _GNU_SOURCE
#include <crest/console.h>
#include <crest/crest.h>
#include <crest/json_lines.h>
#include <crest/prometheus.h>
#include <crest/pushgateway.h>
#include <crest/run.h>
#include <crest/statsd.h>
#include <crest/testing.h>
#include <crest/textfile.h>

#include "base/arena.h"
#include "base/lock.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define RECORDS 500
#define PEERS 20
#define DEADLINE_MS 3000u
/* What a series leaves is used again a minute later: shorter runs could only see it grow.
 * test_differential has series that come and go at the speed of a clock that is told. */
#define CHURN_S 120

CREST_COUNTER(events, "soak.events", "Events.");
CREST_HISTOGRAM(sizes, "soak.size", "Sizes.", .unit = CREST_BYTES);
CREST_TIMER(block, "soak.block", "Keyed.");
CREST_COUNTER_FAMILY(sent, "soak.sent", "By peer.", peer);
CREST_HISTOGRAM_FAMILY(rtt, "soak.rtt", "By peer.", peer);

static uint64_t cycles, records;
static const char *folder, *push_url, *statsd_url, *leak = "";

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("cycle %llu, %s:%d: not so: %s\n", (unsigned long long)cycles, __FILE__,        \
                   __LINE__, #condition);                                                          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- what comes and goes ---- */

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

/* Each cycle another reporter; to servers that may be dead or broken, so that it may fail. */
static void reporters_come_and_go(void)
{
    crest_error error = {0};
    char path[300];
    crest_textfile_options textfile = {.path = path};
    crest_json_lines_options json = {.path = "/dev/null"};
    crest_statsd_options statsd = {.url = statsd_url, .rate = CREST_STATSD_RATE_MAX};
    crest_pushgateway_options push = {.url = push_url, .delete_on_stop = cycles % 3 == 0};
    crest_prometheus_options prometheus = {.listen = "127.0.0.1:0"};
    snprintf(path, sizeof path, "%s/soak.prom", folder);
    crest_reporter *reporter = cycles % 5 == 0   ? crest_textfile_new(&textfile, &error)
                               : cycles % 5 == 1 ? crest_json_lines_new(&json, &error)
                               : cycles % 5 == 2 ? crest_statsd_new(&statsd, &error)
                               : cycles % 5 == 3 ? crest_pushgateway_new(&push, &error)
                                                 : crest_prometheus_new(&prometheus, &error);
    crest_schedule schedule = {
        .interval_ms = CREST_INTERVAL_MS_MAX, .jitter = -1, .timeout_ms = 300};
    MUST(reporter != NULL);
    MUST(crest_reporter_attach(NULL, reporter, &schedule, &error) == CREST_OK);
    if (cycles % 5 != 4 && crest_report_now(reporter, DEADLINE_MS, &error) != CREST_OK)
        MUST(strchr(error.message, ' ') != NULL);
    (void)crest_reporter_detach(reporter, DEADLINE_MS, &error);
    crest_reporter_free(reporter);
}

static void clocks_step(void)
{
    static const int64_t hour_ns = INT64_C(3600000000000);
    if (cycles % 7 == 0)
        crest_testing_clock_shift_wall(cycles % 2 ? hour_ns : -hour_ns, 0);
    if (cycles % 7 == 3)
        crest_testing_clock_shift_wall(0, 0);
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

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    double until = seconds() + atof(argv[1]), next = 0;
    int churns = atof(argv[1]) >= CHURN_S;
    folder = argv[2], push_url = argv[3], statsd_url = argv[4];
    leak = argc > 5 ? argv[5] : "";
    mallopt(M_ARENA_MAX, 1); /* so that mallinfo2 sees all of the heap */
    MUST(crest_ticker_attach(NULL) == CREST_OK);
    for (; seconds() < until; cycles++) {
        threads_come_and_go();
        if (churns) {
            series_come_and_go();
            registries_come_and_go();
        }
        probes_come_and_go();
        reporters_come_and_go();
        clocks_step();
        leak_one();
        counts_are_equal();
        if (seconds() >= next && cycles % 10 == 9) { /* at the same place of what repeats */
            show();
            next = seconds() + (churns ? 1 : 0);
        }
    }
    puts("OK");
    return 0;
}
