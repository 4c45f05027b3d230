/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that records known totals from several threads and sends them to InfluxDB. Its driver
 * gives a command a line on standard input, and reads one line of answer for each.
 *
 *     influxdb_program URL [KEY=VALUE...]   a reporter; the keys are those of reader()
 *
 *     record THREADS TIMES    totals that test_influxdb.py computes too (Totals there)
 *     events N                N more of the counter alone
 *
 * and what support/told_program.h has. The log goes to standard error.
 */
#include "support/told_program.h"

#include <crest/influxdb.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS_MAX 64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

CREST_COUNTER(events, "influx.events-done", "Events.");
CREST_COUNTER(exact, "influx.exact", "2^53 + 1.");
CREST_COUNTER(most, "influx.most", "2^64 - 1.");
CREST_COUNTER_FAMILY(kinds, "influx.kinds-seen", "Events by kind.", kind);
CREST_COUNTER(busy, "influx.busy-time", "0.3 s an event.", .unit = CREST_NANOSECONDS);
CREST_GAUGE(level, "influx.level", "Below zero.");
CREST_GAUGE(balance, "influx.balance", "Added to by all threads.");
CREST_GAUGE(nowhere, "influx.nowhere", "Infinite.");
CREST_HISTOGRAM(sizes, "influx.message-size", "Sizes.", .unit = CREST_BYTES);
CREST_TIMER(work, "influx.work-time", "Work.");
CREST_RANGE_SAMPLER(waiting, "influx.waiting", "Waiting.");

/* The last four cannot be written. */
static const char *const kind_values[] = {"plain", "a,b=c d",    "q\"\\x",   "caf\xc3\xa9",
                                          "C:\\",  "two\nlines", "return\r", "x\\,y"};

static int times;
static uint64_t timeout_ms = TOLD_DEADLINE_MS;

static void take_log(crest_log_level log_level, const char *message, void *context)
{
    (void)log_level, (void)context;
    fprintf(stderr, "%s\n", message);
}

static void *record_totals(void *context)
{
    int thread = (int)(intptr_t)context;
    for (int i = 0; i < times; i++) {
        crest_counter_inc(&events);
        crest_counter_add(&busy, 300000000);
        crest_counter_add(kinds_with(kind_values[(size_t)(thread + i) % COUNT(kind_values)]), 2);
        crest_gauge_add(&balance, i % 2 ? 0.5 : -0.75);
        crest_histogram_record(&sizes, 100 + 37 * (int64_t)i);
        crest_timer_record(&work, 1000000 + 250000 * (int64_t)i,
                           i % 10 ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
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
    crest_gauge_set(&nowhere, INFINITY);
    crest_range_sampler_add(&waiting, 30);
    crest_range_sampler_add(&waiting, -25);
}

static int obey(const char *line)
{
    int count;
    if (sscanf(line, "record %d %d", &count, &times) == 2)
        record(count);
    else if (sscanf(line, "events %d", &count) == 1)
        crest_counter_add(&events, count);
    else
        return 0;
    return 1;
}

static void reader(crest_influxdb_options *options, const char *key, const char *value)
{
    if (strcmp(key, "kamon") == 0)
        options->fields = CREST_INFLUXDB_FIELDS_KAMON;
    else if (strcmp(key, "plain") == 0)
        options->no_gzip = 1;
    else if (strcmp(key, "ns") == 0)
        options->precision = CREST_INFLUXDB_PRECISION_NS;
    else if (strcmp(key, "user") == 0)
        options->user = value;
    else if (strcmp(key, "password_file") == 0)
        options->password_file = value;
    else if (strcmp(key, "timeout_ms") == 0)
        timeout_ms = strtoull(value, NULL, 10);
    else
        abort();
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: see the top of tests/programs/influxdb_program.c\n");
        return 2;
    }
    crest_log_to(take_log, NULL);
    crest_error error = {0};
    crest_influxdb_options options = {.url = argv[1]};
    for (int i = 2; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals == NULL)
            abort();
        *equals = '\0';
        reader(&options, argv[i], equals + 1);
    }
    crest_counter_add(&exact, (INT64_C(1) << 53) + 1);
    crest_counter_add(&most, INT64_MAX);
    crest_counter_add(&most, INT64_MAX);
    crest_counter_inc(&most);
    crest_reporter *reporter = crest_influxdb_new(&options, &error);
    told_attach(reporter, error.status, timeout_ms, &error);
    return told_run(reporter, obey);
}
