/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the plugin again and again while its own threads record, lets them record in it, unloads
 * it, and reads what is left: every total must be exact, and nothing may point into what is gone.
 * Its arguments are paths of plugins, used in turn.
 */
#define _GNU_SOURCE
#include "plugin_shared.h"

#include <crest/event_control.h>
#include <crest/event_reader.h>
#include <crest/run.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

CREST_COUNTER_DEFINE(shared_events, "shared.events", "Defined in the host.");
CREST_GAUGE_DEFINE(shared_level, "shared.level", "Defined in the host.");
CREST_HISTOGRAM_DEFINE(shared_size, "shared.size", "Defined in the host.");
CREST_TIMER_DEFINE(shared_time, "shared.used-time", "Defined in the host.");
CREST_COUNTER_FAMILY_DEFINE(shared_by_kind, "shared.by-kind", "Defined in the host.", (), kind);

#define THREADS 3
#define ROUNDS 6
#define TIMES 2000

#define WANT(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static pthread_barrier_t barrier;
static plugin_record_fn *record;
static int ended;

/* Records on its own while the plugin comes and goes, and in it while it is there. */
static void *host_run(void *recorded)
{
    while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {
        pthread_barrier_wait(&barrier); /* the plugin is being loaded */
        for (int i = 0; i < TIMES; i++)
            crest_counter_inc(&shared_events);
        pthread_barrier_wait(&barrier); /* it is there */
        record(TIMES, 1);
        pthread_barrier_wait(&barrier); /* it is being unloaded */
        for (int i = 0; i < TIMES; i++)
            crest_counter_inc(&shared_events);
        pthread_barrier_wait(&barrier);
    }
    return recorded;
}

static crest_series_view find(const crest_snapshot *snapshot, const char *name, const char *value)
{
    crest_series_view view;
    if (crest_snapshot_find(snapshot, name, &value, value != NULL, &view) != CREST_OK) {
        fprintf(stderr, "there is no series %s\n", name);
        exit(1);
    }
    return view;
}

/* What was begun in the plugin and never ended there comes to its deadline when it is gone. */
static void check_deadlines(uint64_t rounds)
{
    uint64_t count = 0;
    for (int i = 0; i < 500 && count < rounds * THREADS; i++) {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        crest_snapshot *snapshot = crest_snapshot_take(NULL);
        crest_series_view view;
        const char *value = "timeout";
        WANT(snapshot != NULL);
        if (crest_snapshot_find(snapshot, "plugin.keyed-time", &value, 1, &view) == CREST_OK)
            count = crest_distribution_count(view.distribution);
        crest_snapshot_free(snapshot);
    }
    WANT(count == rounds * THREADS);
}

static size_t written;
static int write_nowhere(void *context, const void *bytes, size_t length)
{
    (void)context, (void)bytes;
    written += length;
    return 0;
}

static char told[4096];
static void tell(crest_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    strncat(told, message, sizeof told - strlen(told) - 1);
}

/* All of it, after the plugin is gone. */
static void check_totals(uint64_t rounds)
{
    const uint64_t in_plugin = rounds * THREADS * TIMES;
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    WANT(snapshot != NULL);
    WANT(find(snapshot, "plugin.events", NULL).counter == in_plugin);
    WANT(strcmp(find(snapshot, "plugin.events", NULL).description, "Declared in the plugin.") == 0);
    WANT(find(snapshot, "plugin.by-kind", "a").counter == in_plugin);
    WANT(find(snapshot, "plugin.by-name", NULL).counter == in_plugin);
    WANT(find(snapshot, "plugin.level", NULL).gauge == (double)in_plugin);
    WANT(find(snapshot, "plugin.queue", NULL).current == (int64_t)in_plugin);
    WANT(crest_distribution_count(find(snapshot, "plugin.size", NULL).distribution) == in_plugin);
    WANT(crest_distribution_sum(find(snapshot, "plugin.size", NULL).distribution) ==
         rounds * THREADS * (TIMES / 1000) * (999 * 1000 / 2));
    WANT(crest_distribution_count(find(snapshot, "plugin.spent-time", "ok").distribution) ==
         in_plugin);
    WANT(find(snapshot, "shared.events", NULL).counter == 3 * in_plugin);
    WANT(find(snapshot, "shared.by-kind", "plugin").counter == in_plugin);
    WANT(find(snapshot, "shared.level", NULL).gauge == (double)in_plugin);
    WANT(crest_distribution_sum(find(snapshot, "shared.size", NULL).distribution) == 7 * in_plugin);
    WANT(crest_distribution_sum(find(snapshot, "shared.used-time", "ok").distribution) ==
         7 * in_plugin);
    crest_snapshot_free(snapshot);
    WANT(crest_page_write(NULL, CREST_FORMAT_PROMETHEUS_TEXT, write_nowhere, NULL, NULL) ==
         CREST_OK);
    WANT(written > 1000);
}

/* Its events after it is gone: what they are, and each that was emitted; rules meet it no more. */
static void check_events(uint64_t rounds)
{
    crest_event_reader *reader;
    crest_event_reader_totals totals;
    crest_event_view event;
    uint64_t found = 0;
    WANT(crest_events_set("plugin: debug", NULL) == CREST_OK);
    WANT(crest_events_set("", NULL) == CREST_OK);
    WANT(crest_event_reader_own(&reader, NULL) == CREST_OK);
    while (crest_event_reader_next(reader, &event)) {
        if (strcmp(event.info->name, "plugin.recorded") != 0)
            continue;
        WANT(strcmp(event.info->doc, "Declared in the plugin.") == 0);
        WANT(event.value_count == 2 && strcmp(event.info->fields[1].name, "by") == 0);
        WANT(event.values[0].as.u == TIMES);
        WANT(strcmp(event.values[1].as.text.data, "the plugin") == 0);
        found++;
    }
    WANT(found == rounds * THREADS); /* one event, however often it was loaded */
    crest_event_reader_totals_read(reader, &totals);
    WANT(totals.read + totals.lost == totals.written && totals.unreadable == 0);
    crest_event_reader_free(reader);
}

int main(int count, char **paths)
{
    pthread_t threads[THREADS];
    WANT(count > 1);
    crest_log_to(tell, NULL);
    WANT(crest_start("events=on", NULL) == CREST_OK);
    WANT(crest_ticker_attach(NULL) == CREST_OK);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        WANT(pthread_create(&threads[i], NULL, host_run, NULL) == 0);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        const char *path = paths[1 + round % (uint64_t)(count - 1)];
        pthread_barrier_wait(&barrier);
        void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (plugin == NULL)
            fprintf(stderr, "%s\n", dlerror());
        WANT(plugin != NULL);
        record = (plugin_record_fn *)(uintptr_t)dlsym(plugin, PLUGIN_RECORD);
        plugin_count_fn *counted = (plugin_count_fn *)(uintptr_t)dlsym(plugin, PLUGIN_COUNT);
        WANT(record != NULL && counted != NULL);
        WANT(counted() == (round - 1) * THREADS * TIMES); /* the series goes on */
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        WANT(dlclose(plugin) == 0);
        WANT(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL); /* it is gone indeed */
        if (round == ROUNDS)
            __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
        pthread_barrier_wait(&barrier);
        if (round == ROUNDS)
            for (int i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
        if (round == ROUNDS)
            check_totals(round), check_deadlines(round), check_events(round);
    }
    for (int i = 0; i < 300 && told[0] == '\0'; i++) /* by the ticker, from its own copy */
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    WANT(strstr(told, "plugin misnamed") != NULL);
    WANT(crest_ticker_detach(NULL) == CREST_OK);
    WANT(crest_stop(20000, NULL) == CREST_OK);
    puts("ok");
    return 0;
}
