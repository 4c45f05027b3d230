/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that records known totals from several threads and sends them to StatsD. Its driver
 * gives a command a line on standard input, and reads one line of answer for each.
 *
 *     statsd_program URL|default [KEY=VALUE...]   a reporter; the keys are those of reader()
 *
 *     record THREADS TIMES    totals that test_statsd.py computes too (Totals there)
 *     events N                N more of the counter alone
 *     series N                N counters more, one each: a report of many packets
 *
 * and what support/told_program.h has.
 */
#include "support/told_program.h"

#include <crest/statsd.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

CREST_COUNTER(events, "etsy.events-done", "Events.");
CREST_COUNTER_FAMILY(kinds, "etsy.kinds-seen", "Events by kind.", kind);
CREST_COUNTER_FAMILY(many, "etsy.many", "As many as are asked for.", number);
CREST_COUNTER(busy, "etsy.busy-time", "0.3 s an event.", .unit = CREST_NANOSECONDS);
CREST_GAUGE(level, "etsy.level", "Below zero.");
CREST_GAUGE(balance, "etsy.balance", "Added to by all threads.");
CREST_GAUGE(nowhere, "etsy.nowhere", "Infinite.");
CREST_HISTOGRAM(sizes, "etsy.message-size", "Sizes.", .unit = CREST_BYTES);
CREST_TIMER(work, "etsy.work-time", "Work.");
CREST_RANGE_SAMPLER(waiting, "etsy.waiting", "Waiting.");

static const char *const kind_values[] = {"plain", "a|b:c@d", "slash/space x", "10.0.0.7",
                                          "caf\xc3\xa9"};

static int times;

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

static uint64_t timeout_ms = TOLD_DEADLINE_MS;

static void reader(crest_statsd_options *options, const char *key, const char *value)
{
    if (strcmp(key, "dialect") == 0)
        options->dialect = strcmp(value, "datadog") == 0 ? CREST_STATSD_DATADOG : CREST_STATSD_ETSY;
    else if (strcmp(key, "prefix") == 0)
        options->prefix = value;
    else if (strcmp(key, "packet") == 0)
        options->packet_bytes = (unsigned)atoi(value);
    else if (strcmp(key, "rate") == 0)
        options->rate = (unsigned)atoi(value);
    else if (strcmp(key, "samples") == 0)
        options->samples = (unsigned)atoi(value);
    else if (strcmp(key, "no_rates") == 0)
        options->no_rates = 1;
    else if (strcmp(key, "windows") == 0)
        options->windows = 1;
    else if (strcmp(key, "unpacked") == 0)
        options->unpacked = 1;
    else if (strcmp(key, "whole_seconds") == 0)
        options->whole_seconds = atoi(value);
    else if (strcmp(key, "timeout_ms") == 0)
        timeout_ms = strtoull(value, NULL, 10);
    else
        abort();
}

static void add_series(int count)
{
    for (int i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        crest_counter_inc(many_with(number));
    }
}

static int obey(const char *line)
{
    int count;
    if (sscanf(line, "record %d %d", &count, &times) == 2)
        record(count);
    else if (sscanf(line, "events %d", &count) == 1)
        crest_counter_add(&events, count);
    else if (sscanf(line, "series %d", &count) == 1)
        add_series(count);
    else
        return 0;
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: see the top of tests/programs/statsd_program.c\n");
        return 2;
    }
    crest_error error = {0};
    crest_statsd_options options = {.url = strcmp(argv[1], "default") ? argv[1] : NULL};
    for (int i = 2; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals == NULL)
            abort();
        *equals = '\0';
        reader(&options, argv[i], equals + 1);
    }
    crest_reporter *reporter = crest_statsd_new(&options, &error);
    told_attach(reporter, error.status, timeout_ms, &error);
    return told_run(reporter, obey);
}
