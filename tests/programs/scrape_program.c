/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node for scraping. Its driver gives a command a line on standard input, and reads one line of
 * answer for each.
 *
 *     scrape_program OPTIONS      crest_start(OPTIONS); its answer names the address it serves on
 *
 *     record THREADS TIMES    totals that test_scrape.py computes too (Totals there), by every
 *                             instrument
 *     many SERIES             that many counters more, each 1: a long page
 *     spin / still            a thread that records without a pause; and no longer; answers how
 *                             often it did
 *     memory                  resident bytes, and their peak
 *     descriptors N           the limit of open files; and how many are open
 *     fork / reap             a child that sleeps; ends it
 *     stop MS                 crest_stop within so many ms; answers how long it took
 *     exit STATUS             returns from main without any of that
 */
#include <crest/crest.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_MAX 64
#define SERIES_A_FAMILY 1900
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

CREST_COUNTER(events, "scrape.events-done",
              "Events, caf\xc3\xa9 \xe2\x98\x83 \\ \"quoted\"\nline.");
CREST_COUNTER(received, "scrape.data-received", "Bytes.", .unit = CREST_BYTES);
CREST_COUNTER_FAMILY(kinds, "scrape.kinds-seen", "Events by kind.", kind);
CREST_GAUGE(level, "scrape.level", "Below zero.");
CREST_GAUGE(balance, "scrape.balance", "Added to by all threads.");
CREST_RANGE_SAMPLER(depth, "scrape.queue-depth", "Goes up and down.");
CREST_HISTOGRAM(sizes, "scrape.message-size", "Sizes.", .unit = CREST_BYTES);
CREST_TIMER(work, "scrape.work-time", "Work.");
CREST_STAGES(steps, "scrape.step-time", "Steps.", .stages = {"half", "whole"});
CREST_COUNTER(spins, "scrape.spins-done", "Counted without a pause.");

static const char *const kind_values[] = {"plain", "a\"b\\c\nd", "slash/space x", "..",
                                          "caf\xc3\xa9 \xe2\x98\x83"};
/* No value is near a bucket's bound, so that the expected buckets are plain to compute. */
static const int64_t size_values[] = {1, 100, 700, 3000, 50000, 1000000, 20000000};
static const int64_t work_values_ns[] = {1000000, 7000000, 300000000, 4000000000, 20000000000};

static int times;
static char address[256];

static void keep_address(crest_log_level severity, const char *message, void *context)
{
    (void)severity;
    (void)context;
    const char *at = strstr(message, "http://");
    if (strstr(message, "metrics are at") != NULL && at != NULL)
        snprintf(address, sizeof address, "%s", at);
    fprintf(stderr, "%s\n", message);
}

static void *record_totals(void *context)
{
    int thread = (int)(intptr_t)context;
    for (int i = 0; i < times; i++) {
        crest_counter_inc(&events);
        crest_counter_add(&received, 1000);
        crest_counter_add(kinds_with(kind_values[(size_t)(thread + i) % COUNT(kind_values)]), 2);
        crest_gauge_add(&balance, i % 2 ? 0.5 : -0.75);
        crest_range_sampler_add(&depth, i % 2 ? 3 : -1);
        crest_histogram_record(&sizes, size_values[(size_t)i % COUNT(size_values)]);
        crest_op op = crest_op_u64x2((uint64_t)thread, (uint64_t)i);
        crest_timer_record_op(&work, work_values_ns[(size_t)i % COUNT(work_values_ns)],
                              i % 10 ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR, &op);
        crest_stages_begin(&steps, op);
        crest_stages_mark(&steps, op, 0);
        crest_stages_end(&steps, op, CREST_OUTCOME_OK);
    }
    return NULL;
}

static void record(int threads)
{
    pthread_t ids[THREADS_MAX];
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, record_totals, (void *)(intptr_t)i) != 0)
            abort();
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    crest_gauge_set(&level, -7.25);
}

static void make_many(int series)
{
    static int made;
    for (crest_counter_family family = {0}; series > 0; series--, made++) {
        char name[64], value[64];
        const char *const key = "number", *const values[] = {value};
        if (made % SERIES_A_FAMILY == 0 || family.family.metric == NULL) {
            snprintf(name, sizeof name, "scrape.many-%d", made / SERIES_A_FAMILY);
            family = crest_counter_family_new(
                NULL, &(crest_metric_options){.name = name, .description = "One of many."}, &key, 1,
                NULL);
        }
        snprintf(value, sizeof value, "series-%d", made);
        crest_counter_inc(crest_counter_family_get(&family, values, 1));
    }
}

static int spinning;
static pthread_t spinner;

static void *spin(void *context)
{
    uint64_t done = 0;
    while (__atomic_load_n(&spinning, __ATOMIC_RELAXED)) {
        crest_counter_inc(&spins);
        done++;
    }
    *(uint64_t *)context = done;
    return NULL;
}

static void say_memory(void)
{
    char line[256];
    unsigned long now_kib = 0, peak_kib = 0;
    FILE *about = fopen("/proc/self/status", "r");
    while (about != NULL && fgets(line, sizeof line, about) != NULL) {
        (void)sscanf(line, "VmRSS: %lu", &now_kib);
        (void)sscanf(line, "VmHWM: %lu", &peak_kib);
    }
    if (about != NULL)
        fclose(about);
    printf("OK %lu %lu\n", now_kib * 1024, peak_kib * 1024);
}

/* 0 when no descriptor is left to count with. */
static unsigned open_descriptors(void)
{
    unsigned count = 0;
    DIR *all = opendir("/proc/self/fd");
    if (all == NULL)
        return 0;
    while (readdir(all) != NULL)
        count++;
    closedir(all);
    return count - 3; /* ., .. and the folder's own descriptor */
}

static void answer(crest_status status, const crest_error *error, const char *rest)
{
#define STATUS_NAME(name, text) #name,
    static const char *const names[] = {CREST_STATUS_TABLE(STATUS_NAME)};
    printf("%s %s\n", names[status], status == CREST_OK ? rest : error->message);
}

static void stop(unsigned ms)
{
    crest_error error = {0};
    char took[32];
    uint64_t began_ns = crest_now();
    crest_status status = crest_stop(ms, &error);
    snprintf(took, sizeof took, "%llu", (unsigned long long)(crest_now() - began_ns) / 1000000);
    answer(status, &error, took);
}

static int obey(const char *line)
{
    static uint64_t spun;
    static pid_t child;
    int threads, number;
    if (sscanf(line, "record %d %d", &threads, &times) == 2) {
        record(threads);
        printf("OK\n");
    } else if (sscanf(line, "many %d", &number) == 1) {
        make_many(number);
        printf("OK\n");
    } else if (strcmp(line, "spin") == 0) {
        __atomic_store_n(&spinning, 1, __ATOMIC_RELAXED);
        if (pthread_create(&spinner, NULL, spin, &spun) != 0)
            abort();
        printf("OK\n");
    } else if (strcmp(line, "still") == 0) {
        __atomic_store_n(&spinning, 0, __ATOMIC_RELAXED);
        pthread_join(spinner, NULL);
        printf("OK %llu\n", (unsigned long long)spun);
    } else if (strcmp(line, "memory") == 0) {
        say_memory();
    } else if (sscanf(line, "descriptors %d", &number) == 1) {
        struct rlimit limit = {(rlim_t)number, (rlim_t)number};
        getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = (rlim_t)number;
        printf("%s %u\n", setrlimit(RLIMIT_NOFILE, &limit) == 0 ? "OK" : "SYSTEM",
               open_descriptors());
    } else if (strcmp(line, "fork") == 0) {
        child = fork();
        if (child == 0) {
            pause();
            _exit(0);
        }
        printf("OK %d\n", (int)child);
    } else if (strcmp(line, "reap") == 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        printf("OK\n");
    } else if (sscanf(line, "stop %d", &number) == 1) {
        stop((unsigned)number);
    } else if (sscanf(line, "exit %d", &number) == 1) {
        return number;
    } else {
        printf("INVALID_ARGUMENT no such command: %s\n", line);
    }
    return -1;
}

int main(int argc, char **argv)
{
    crest_error error = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: see the top of tests/programs/scrape_program.c\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    crest_log_to(keep_address, NULL);
    crest_status started = crest_start(argv[1], &error);
    answer(started, &error, address);
    int status = -1;
    char line[256];
    while (status < 0 && fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        status = obey(line);
    }
    return status < 0 ? 0 : status;
}
