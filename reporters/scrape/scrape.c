/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scrape endpoint as a reporter: its options, and when it serves. See <crest/prometheus.h>.
 *
 * The endpoint serves by itself: it makes no reports, and has a start and a stop only. The server
 * is scrape_server.c.
 */
#include <crest/clock.h>
#include <crest/prometheus.h>

#include "kinds.h"
#include "scrape/scrape_routes.h"
#include "scrape/scrape_spans.h"
#include "scrape/scrape_native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SCRAPE_NAME "prometheus"
#define SCRAPE_NS_PER_MS UINT64_C(1000000)
/* service, version, instance */
#define SCRAPE_TARGETS 3u

typedef struct scrape {
    crest_reporter reporter; /* first: the caller holds a pointer to it */
    crest_scrape_settings settings;
    pthread_mutex_t lock;        /* guards server */
    crest_scrape_server *server; /* NULL: not serving */
} scrape;

/* ---- serving ---- */

static crest_status scrape_start(crest_reporter *self, crest_registry *registry, crest_error *error)
{
    scrape *endpoint = self->state;
    char shown[CREST_SCRAPE_SHOWN_BYTES] = "";
    pthread_mutex_lock(&endpoint->lock);
    crest_status status = CREST_OK;
    if (endpoint->server != NULL && crest_scrape_server_port(endpoint->server) == 0)
        endpoint->server = NULL; /* the server belongs to the parent */
    if (endpoint->server != NULL)
        status = crest_error_set(error, CREST_ALREADY,
                                 "This scrape endpoint is serving already, or has not ended yet");
    else
        endpoint->server = crest_scrape_server_start(&endpoint->settings, &crest_scrape_routes,
                                                     registry, &status, error);
    if (status == CREST_OK) {
        strcpy(shown, endpoint->server->listener.shown);
        crest_scrape_spans_begin();
    }
    pthread_mutex_unlock(&endpoint->lock);
    if (status == CREST_OK)
        crest_log_write(CREST_LOG_INFO, "crest: metrics are at http://%s/metrics", shown);
    return status;
}

static crest_status scrape_end(scrape *endpoint, uint64_t left_ns, crest_error *error)
{
    pthread_mutex_lock(&endpoint->lock);
    crest_status status = CREST_OK;
    int served = endpoint->server != NULL;
    if (served)
        status = crest_scrape_server_stop(endpoint->server, crest_scrape_now_ns() + left_ns, error);
    if (served && status == CREST_OK)
        crest_scrape_spans_end();
    if (status == CREST_OK)
        endpoint->server = NULL;
    pthread_mutex_unlock(&endpoint->lock);
    return status;
}

static crest_status scrape_stop(crest_reporter *self, uint64_t deadline_ns, crest_error *error)
{
    uint64_t now_ns = crest_now();
    return scrape_end(self->state, deadline_ns > now_ns ? deadline_ns - now_ns : 0, error);
}

/* Without the lock: the host's polls may ask for the port. The server cannot be freed meanwhile. */
static uint64_t scrape_turn(crest_reporter *self)
{
    scrape *endpoint = self->state;
    pthread_mutex_lock(&endpoint->lock);
    crest_scrape_server *server = endpoint->server;
    pthread_mutex_unlock(&endpoint->lock);
    return server != NULL ? crest_scrape_server_turn(server) : UINT64_MAX;
}

unsigned crest_prometheus_port(const crest_reporter *reporter)
{
    if (reporter == NULL || reporter->start != scrape_start)
        return 0;
    scrape *endpoint = reporter->state;
    pthread_mutex_lock(&endpoint->lock);
    unsigned port = endpoint->server != NULL ? crest_scrape_server_port(endpoint->server) : 0;
    pthread_mutex_unlock(&endpoint->lock);
    return port;
}

/* ---- making one ---- */

static void scrape_free(crest_reporter *self)
{
    scrape *endpoint = self->state;
    /* A server that a stop left behind ends once the snapshot that it is busy with has been
     * taken. */
    while (scrape_end(endpoint, CREST_PROMETHEUS_TIMEOUT_MS_MAX * SCRAPE_NS_PER_MS, NULL) !=
           CREST_OK)
        continue;
    crest_scrape_settings *settings = &endpoint->settings;
    for (unsigned i = 0; settings->target != NULL && i < settings->page.target_count; i++) {
        free((char *)(uintptr_t)settings->target[i].key);
        free((char *)(uintptr_t)settings->target[i].value);
    }
    free(settings->target);
    free(settings->listen);
    free(settings->include);
    free(settings->exclude);
    free(settings->hosts);
    pthread_mutex_destroy(&endpoint->lock);
    free(endpoint);
}

static int scrape_add_target(crest_scrape_settings *settings, const char *key, const char *value)
{
    if (value == NULL || value[0] == '\0')
        return 0;
    crest_page_label *label = &settings->target[settings->page.target_count++];
    label->key = strdup(key);
    label->value = strdup(value);
    return label->key != NULL && label->value != NULL ? 0 : -1;
}

/* Copies what crest_target_info says, without empty values. 0, or -1 without memory. */
static int scrape_copy_target(crest_scrape_settings *settings, const crest_resource *resource)
{
    if (resource == NULL)
        return 0;
    settings->target = calloc(SCRAPE_TARGETS + resource->label_count, sizeof *settings->target);
    if (settings->target == NULL)
        return -1;
    settings->page.target = settings->target;
    int failed = scrape_add_target(settings, "service", resource->service) ||
                 scrape_add_target(settings, "version", resource->version) ||
                 scrape_add_target(settings, "instance", resource->instance);
    for (unsigned i = 0; i < resource->label_count && !failed; i++)
        failed = scrape_add_target(settings, resource->labels[i].key, resource->labels[i].value);
    return failed ? -1 : 0;
}

static int scrape_copy_text(char **copy, const char *text)
{
    if (text != NULL && text[0] != '\0')
        *copy = strdup(text);
    return text != NULL && text[0] != '\0' && *copy == NULL ? -1 : 0;
}

static int scrape_copy(crest_scrape_settings *settings, const crest_prometheus_options *options)
{
    settings->concurrency =
        options->concurrency != 0 ? options->concurrency : CREST_PROMETHEUS_CONCURRENCY_DEFAULT;
    settings->connections =
        options->connections != 0 ? options->connections : CREST_PROMETHEUS_CONNECTIONS_DEFAULT;
    settings->timeout_ms =
        options->timeout_ms != 0 ? options->timeout_ms : CREST_PROMETHEUS_TIMEOUT_MS_DEFAULT;
    settings->gzip = !options->no_gzip;
    settings->page.windows = options->windows;
    settings->page.created = options->created;
    settings->page.no_exemplars = options->no_exemplars;
    crest_scrape_native_copy(&settings->page, options);
    return scrape_copy_text(&settings->listen, options->listen) ||
                   scrape_copy_text(&settings->include, options->include) ||
                   scrape_copy_text(&settings->exclude, options->exclude) ||
                   scrape_copy_text(&settings->hosts, options->hosts) ||
                   scrape_copy_target(settings, options->resource)
               ? -1
               : 0;
}

static crest_status scrape_check(const crest_prometheus_options *options, crest_error *error)
{
    if (options->concurrency > CREST_PROMETHEUS_CONCURRENCY_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "%u pages at once are too many for a scrape endpoint; %u is the "
                               "limit",
                               options->concurrency, CREST_PROMETHEUS_CONCURRENCY_MAX);
    if (options->connections > CREST_PROMETHEUS_CONNECTIONS_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "%u connections at once are too many for a scrape endpoint; %u is "
                               "the limit",
                               options->connections, CREST_PROMETHEUS_CONNECTIONS_MAX);
    if (options->timeout_ms > CREST_PROMETHEUS_TIMEOUT_MS_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "A timeout of %llu ms is too long for a scrape; %u is the limit",
                               (unsigned long long)options->timeout_ms,
                               CREST_PROMETHEUS_TIMEOUT_MS_MAX);
    if (options->windows < CREST_PAGE_WINDOWS_NONE || options->windows > CREST_PAGE_WINDOWS_ALL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The windows of a scrape endpoint are %d, which is no "
                               "CREST_PAGE_WINDOWS_",
                               options->windows);
    crest_status status = crest_scrape_native_check(options, error);
    return status == CREST_OK ? crest_scrape_address_check(options->listen, error) : status;
}

crest_reporter *crest_prometheus_new(const crest_prometheus_options *options, crest_error *error)
{
    crest_prometheus_options made = {0};
    if (options != NULL)
        made = *options;
    if (made.listen == NULL)
        made.listen = CREST_PROMETHEUS_LISTEN_DEFAULT;
    if (scrape_check(&made, error) != CREST_OK)
        return NULL;
    scrape *endpoint = calloc(1, sizeof *endpoint);
    if (endpoint == NULL || pthread_mutex_init(&endpoint->lock, NULL) != 0) {
        free(endpoint);
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a scrape endpoint");
        return NULL;
    }
    endpoint->reporter = (crest_reporter){
        .name = SCRAPE_NAME,
        .start = scrape_start,
        .stop = scrape_stop,
        .free = scrape_free,
        .turn = scrape_turn,
        .state = endpoint,
    };
    if (scrape_copy(&endpoint->settings, &made) == 0)
        return &endpoint->reporter;
    scrape_free(&endpoint->reporter);
    crest_error_set(error, CREST_NO_MEMORY, "No memory for a scrape endpoint");
    return NULL;
}

/* ---- from options ---- */

static crest_status scrape_read_number(const crest_options *options, const char *key,
                                       unsigned highest, unsigned *value, crest_error *error)
{
    const char *text = crest_option(options, key);
    if (text == NULL)
        return CREST_OK;
    size_t digits = strspn(text, "0123456789");
    unsigned long number = digits > 0 && digits < 10 ? strtoul(text, NULL, 10) : 0;
    if (number == 0 || number > highest || text[digits] != '\0')
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "%s=%.60s is not a number from 1 to %u", key, text, highest);
    *value = (unsigned)number;
    return CREST_OK;
}

static crest_status scrape_read_windows(const crest_options *options, int *windows,
                                        crest_error *error)
{
    const char *text = crest_option(options, "prometheus.windows");
    if (text == NULL || strcmp(text, "ranges") == 0)
        *windows = CREST_PAGE_WINDOWS_RANGES;
    else if (strcmp(text, "off") == 0)
        *windows = CREST_PAGE_WINDOWS_NONE;
    else if (strcmp(text, "all") == 0)
        *windows = CREST_PAGE_WINDOWS_ALL;
    else
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "prometheus.windows=%.60s is not off, ranges or all", text);
    return CREST_OK;
}

static crest_reporter *scrape_create(const char *value, const crest_options *options,
                                     const crest_resource *resource, crest_error *error)
{
    crest_prometheus_options made = {
        .listen = strcmp(value, "on") == 0 ? NULL : value,
        .include = crest_option(options, "prometheus.include"),
        .exclude = crest_option(options, "prometheus.exclude"),
        .hosts = crest_option(options, "prometheus.hosts"),
        .resource = resource,
    };
    int gzip = 1, exemplars = 1;
    if (scrape_read_number(options, "prometheus.concurrency", CREST_PROMETHEUS_CONCURRENCY_MAX,
                           &made.concurrency, error) != CREST_OK ||
        scrape_read_number(options, "prometheus.connections", CREST_PROMETHEUS_CONNECTIONS_MAX,
                           &made.connections, error) != CREST_OK ||
        crest_option_duration_ms(options, "prometheus.timeout", &made.timeout_ms, error) !=
            CREST_OK ||
        scrape_read_windows(options, &made.windows, error) != CREST_OK ||
        crest_scrape_native_read(options, &made, error) != CREST_OK ||
        crest_option_switch(options, "prometheus.created", &made.created, error) != CREST_OK ||
        crest_option_switch(options, "prometheus.exemplars", &exemplars, error) != CREST_OK ||
        crest_option_switch(options, "prometheus.gzip", &gzip, error) != CREST_OK)
        return NULL;
    made.no_exemplars = !exemplars;
    made.no_gzip = !gzip;
    return crest_prometheus_new(&made, error);
}

/* Beside these, every kind has timeout, include and exclude. */
static const char *const scrape_keys[] = {
    "prometheus.concurrency",
    "prometheus.connections",
    "prometheus.windows",
    "prometheus.created",
    "prometheus.exemplars",
    "prometheus.gzip",
    "prometheus.hosts",
    CREST_SCRAPE_NATIVE,
    CREST_SCRAPE_NATIVE_FACTOR,
    CREST_SCRAPE_NATIVE_BUCKETS,
    NULL,
};

const crest_reporter_kind crest_prometheus_kind = {
    .name = SCRAPE_NAME,
    .keys = scrape_keys,
    .create = scrape_create,
};
