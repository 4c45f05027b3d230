/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with more than one copy of the library, or what looks like it. Its first argument says
 * what is to be so:
 *
 *   joined PLUGIN      the plugin brings a copy, but its names lead to the host's: one registry
 *   apart PLUGIN       the plugin's copy is its own: two registries, and each counts its own
 *   deep PLUGIN        the same by RTLD_DEEPBIND
 *   namespace PLUGIN   the same by dlmopen, C library and all
 *   files LIBRARY...   the library under several names, each of them a copy
 *
 * Every copy has been started when the program ends, and flushes.
 */
#define _GNU_SOURCE
#include <crest/crest.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

CREST_COUNTER(host_events, "host.events", "Of the host's copy.");
CREST_HISTOGRAM(host_sizes, "host.size", "Of the host's copy.");

#define THREADS 3
#define TIMES 2000

#define WANT(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void (*plugin_record)(int times, int with_host);
static uint64_t (*plugin_count)(void);

static void *copies_run(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        crest_counter_inc(&host_events);
        crest_histogram_record(&host_sizes, i);
    }
    if (plugin_record != NULL)
        plugin_record(TIMES, 0);
    return unused;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        WANT(pthread_create(&threads[i], NULL, copies_run, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Of the host's copy: what its pages show. */
static uint64_t host_sees(const char *name)
{
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    crest_series_view view;
    WANT(snapshot != NULL);
    uint64_t seen = crest_snapshot_find(snapshot, name, NULL, 0, &view) != CREST_OK ? UINT64_MAX
                    : view.distribution != NULL ? crest_distribution_count(view.distribution)
                                                : view.counter;
    crest_snapshot_free(snapshot);
    return seen;
}

static void with_plugin(const char *how, const char *path)
{
    int joined = strcmp(how, "joined") == 0, apart = strcmp(how, "namespace") == 0;
    int flags = RTLD_NOW | RTLD_LOCAL | (strcmp(how, "deep") == 0 ? RTLD_DEEPBIND : 0);
    for (uint64_t round = 1; round <= 3; round++) {
        void *plugin = apart ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, flags);
        if (plugin == NULL)
            fprintf(stderr, "%s\n", dlerror());
        WANT(plugin != NULL);
        plugin_record = (void (*)(int, int))(uintptr_t)dlsym(plugin, "plugin_record");
        plugin_count = (uint64_t(*)(void))(uintptr_t)dlsym(plugin, "plugin_count");
        WANT(plugin_record != NULL && plugin_count != NULL);
        run_threads();
        /* each namespace is a new one, with a copy that begins at zero */
        uint64_t counted = (apart ? 1 : round) * THREADS * TIMES;
        WANT(plugin_count() == counted);
        WANT(host_sees("plugin.events") == (joined ? counted : UINT64_MAX));
        WANT(dlclose(plugin) == 0);
        plugin_record = NULL;
        run_threads(); /* these end with both copies' destructors */
        WANT(host_sees("host.events") == round * 2 * THREADS * TIMES);
        WANT(host_sees("host.size") == round * 2 * THREADS * TIMES);
    }
}

static void with_files(int count, char **paths)
{
    crest_counter *counters[64];
    crest_metric_options options = {.name = "host.events"};
    WANT(count <= 64);
    for (int i = 0; i < count; i++) {
        void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            fprintf(stderr, "%s\n", dlerror());
        WANT(library != NULL);
        crest_counter *(*get)(crest_registry *, const crest_metric_options *, crest_status *) =
            (crest_counter * (*)(crest_registry *, const crest_metric_options *, crest_status *))(
                uintptr_t)dlsym(library, "crest_counter_get");
        void (*add)(crest_counter *, int64_t) =
            (void (*)(crest_counter *, int64_t))(uintptr_t)dlsym(library, "crest_counter_add");
        uint64_t (*value)(const crest_counter *) =
            (uint64_t(*)(const crest_counter *))(uintptr_t)dlsym(library, "crest_counter_value");
        crest_status (*start)(const char *, crest_error *) =
            (crest_status(*)(const char *, crest_error *))(uintptr_t)dlsym(library, "crest_start");
        WANT(get != NULL && add != NULL && value != NULL && start != NULL);
        WANT(get != crest_counter_get);
        counters[i] = get(NULL, &options, NULL);
        for (int j = 0; j < i; j++)
            WANT(counters[i] != counters[j]);
        add(counters[i], 100 + i);
        WANT(value(counters[i]) == 100 + (uint64_t)i);
        WANT(start(NULL, NULL) == CREST_OK);
        WANT(dlclose(library) == 0);
        pid_t child = fork();
        if (child == 0) {
            WANT(value(counters[i]) == 0 && crest_counter_value(&host_events) == 0);
            add(counters[i], 1);
            WANT(value(counters[i]) == 1);
            _exit(0);
        }
        int status;
        WANT(waitpid(child, &status, 0) == child && status == 0);
        WANT(value(counters[i]) == 100 + (uint64_t)i);
        run_threads();
        WANT(host_sees("host.events") == (uint64_t)(i + 1) * THREADS * TIMES);
    }
}

int main(int count, char **arguments)
{
    WANT(count > 2);
    alarm(300);
    WANT(crest_start(NULL, NULL) == CREST_OK);
    if (strcmp(arguments[1], "files") == 0)
        with_files(count - 2, arguments + 2);
    else
        with_plugin(arguments[1], arguments[2]);
    puts("ok");
    return 0; /* and flush */
}
