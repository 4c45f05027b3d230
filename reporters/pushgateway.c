/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Pushgateway reporter: from a snapshot to one PUT. See <crest/pushgateway.h>.
 *
 * The page is the encoder's (crest_snapshot_write), the bytes on the wire are http_transport.c's;
 * here is what belongs to a Pushgateway: the group, what must not be pushed into one, and the
 * options.
 */
#include <crest/pushgateway.h>

#include "http_transport.h"
#include "kinds.h"
#include "push_answer.h"
#include "push_body.h"
#include "push_text.h"
#include "push_url.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUSHGATEWAY_NAME "pushgateway"
#define PUSHGATEWAY_LABEL_PREFIX "pushgateway.label."
#define PUSHGATEWAY_JOB_DEFAULT "crest"
/* Of a group's address in a message; the rest of the message is what matters. */
#define PUSHGATEWAY_SHOWN_BYTES 200u

enum { PUSHGATEWAY_SERVICE, PUSHGATEWAY_VERSION, PUSHGATEWAY_INSTANCE, PUSHGATEWAY_TARGETS };

typedef struct pushgateway {
    crest_reporter reporter; /* first: what the caller holds */
    char *url;               /* user and password included */
    char *url_shown;         /* without */
    char *job, *instance;    /* NULL: the resource's */
    char *ca_file;           /* NULL: the system's authorities */
    crest_page_label *labels;
    unsigned label_count;
    int gzip, windows, delete_on_stop;
    crest_http *http;
    /* held during a push and a delete, never waited for: two at once would overtake each other */
    pthread_mutex_t one_at_a_time;
    crest_push_body body;
    char pushed_to[CREST_PUSHGATEWAY_URL_BYTES_MAX]; /* the group of the last push; "": none yet */
    char pushed_shown[CREST_PUSHGATEWAY_URL_BYTES_MAX];
} pushgateway;

/* ---- a push ---- */

static const char *pushgateway_job(const pushgateway *gateway, const crest_resource *resource)
{
    if (gateway->job != NULL)
        return gateway->job;
    const char *service = resource != NULL ? resource->service : NULL;
    return service != NULL && service[0] != '\0' ? service : PUSHGATEWAY_JOB_DEFAULT;
}

static const char *pushgateway_instance(const pushgateway *gateway, const crest_resource *resource)
{
    if (gateway->instance != NULL)
        return gateway->instance;
    return resource != NULL ? resource->instance : NULL;
}

/* Notes where this push goes, for itself and for a later delete. */
static crest_status pushgateway_locate(pushgateway *gateway, const char *job, const char *instance,
                                       crest_error *error)
{
    crest_status status =
        crest_push_url_group(gateway->url, job, instance, gateway->labels, gateway->label_count,
                             gateway->pushed_to, sizeof gateway->pushed_to, error);
    if (status == CREST_OK)
        status = crest_push_url_group(gateway->url_shown, job, instance, gateway->labels,
                                      gateway->label_count, gateway->pushed_shown,
                                      sizeof gateway->pushed_shown, error);
    if (status != CREST_OK)
        gateway->pushed_to[0] = '\0';
    return status;
}

static const char *pushgateway_grouping_value(const pushgateway *gateway, const char *key,
                                              const char *job, const char *instance)
{
    if (strcmp(key, "job") == 0)
        return job;
    if (strcmp(key, "instance") == 0)
        return instance;
    for (unsigned i = 0; i < gateway->label_count; i++)
        if (strcmp(gateway->labels[i].key, key) == 0)
            return gateway->labels[i].value;
    return NULL;
}

/* The gateway would silently put the group's value in place of the metric's own, and two series
 * that differ only there would become one and be refused. */
static crest_status pushgateway_check_clashes(const pushgateway *gateway,
                                              const crest_snapshot *snapshot, const char *job,
                                              const char *instance, crest_error *error)
{
    const char *const *checked = NULL;
    size_t size = crest_snapshot_size(snapshot);
    for (size_t i = 0; i < size; i++) {
        crest_series_view series;
        if (crest_snapshot_series(snapshot, i, &series) != CREST_OK)
            break;
        /* Series of one metric are adjacent and share their keys. */
        if (series.label_count == 0 || series.label_keys == checked)
            continue;
        checked = series.label_keys;
        for (unsigned k = 0; k < series.label_count; k++)
            if (pushgateway_grouping_value(gateway, series.label_keys[k], job, instance) != NULL)
                return crest_error_set(
                    error, CREST_INVALID_LABEL,
                    "Not pushed to %.*s: the metric %s has a label \"%s\" of its own, and \"%s\" "
                    "is "
                    "also a grouping label, whose value the Pushgateway would put in its place. "
                    "Rename the grouping label or the metric's",
                    (int)PUSHGATEWAY_SHOWN_BYTES, gateway->url_shown, series.name,
                    series.label_keys[k], series.label_keys[k]);
    }
    return CREST_OK;
}

/* What crest_target_info says, empty ones left out; where the group says it too, as the group does,
 * because that is what the gateway would make of it. */
static unsigned pushgateway_target(const pushgateway *gateway, const crest_resource *resource,
                                   const char *job, const char *instance,
                                   crest_page_label target[PUSHGATEWAY_TARGETS])
{
    const crest_page_label all[PUSHGATEWAY_TARGETS] = {
        [PUSHGATEWAY_SERVICE] = {"service", resource ? resource->service : NULL},
        [PUSHGATEWAY_VERSION] = {"version", resource ? resource->version : NULL},
        [PUSHGATEWAY_INSTANCE] = {"instance", instance},
    };
    unsigned count = 0;
    for (unsigned i = 0; i < PUSHGATEWAY_TARGETS; i++) {
        const char *grouped = pushgateway_grouping_value(gateway, all[i].key, job, instance);
        const char *value = grouped != NULL ? grouped : all[i].value;
        if (value != NULL && value[0] != '\0')
            target[count++] = (crest_page_label){all[i].key, value};
    }
    return count;
}

static crest_status pushgateway_encode(pushgateway *gateway, const crest_report *report,
                                       const char *job, const char *instance, crest_error *error)
{
    crest_page_label target[PUSHGATEWAY_TARGETS];
    crest_page_options options = {
        .windows = report->final      ? CREST_PAGE_WINDOWS_NONE
                   : gateway->windows ? CREST_PAGE_WINDOWS_ALL
                                      : CREST_PAGE_WINDOWS_RANGES,
        .target = target,
        .target_count = pushgateway_target(gateway, report->resource, job, instance, target),
    };
    crest_push_body *body = &gateway->body;
    crest_status status = crest_push_body_begin(body, gateway->gzip);
    if (status == CREST_OK)
        status = crest_snapshot_write(report->snapshot, CREST_FORMAT_PROMETHEUS_TEXT, &options,
                                      crest_push_body_write, body, error);
    if (status == CREST_OK)
        status = crest_push_body_end(body);
    if (body->status == CREST_LIMIT)
        return crest_error_set(error, CREST_LIMIT,
                               "Not pushed to %.*s: the page of %zu series is larger than %zu "
                               "bytes%s. Use fewer label values",
                               (int)PUSHGATEWAY_SHOWN_BYTES, gateway->url_shown,
                               crest_snapshot_size(report->snapshot), body->limit,
                               gateway->gzip ? " when compressed" : "; gzip would help");
    if (body->status == CREST_NO_MEMORY)
        return crest_error_set(error, CREST_NO_MEMORY,
                               "Not pushed to %.*s: no memory for the page of %zu series",
                               (int)PUSHGATEWAY_SHOWN_BYTES, gateway->url_shown,
                               crest_snapshot_size(report->snapshot));
    return status;
}

static crest_status pushgateway_send(pushgateway *gateway, const char *method, const char *job,
                                     const char *instance, uint64_t deadline_ns, int last,
                                     crest_error *error)
{
    char shown[PUSHGATEWAY_SHOWN_BYTES];
    crest_push_text_show(gateway->pushed_shown, strlen(gateway->pushed_shown), shown, sizeof shown);
    crest_http_request request = {
        .method = method,
        .url = gateway->pushed_to,
        .shown = shown,
        .ca_file = gateway->ca_file,
        .deadline_ns = deadline_ns,
        .last = last,
    };
    if (strcmp(method, "PUT") == 0) {
        request.content_type = crest_format_content_type(CREST_FORMAT_PROMETHEUS_TEXT);
        request.content_encoding = gateway->gzip ? "gzip" : NULL;
        request.body = gateway->body.bytes;
        request.length = gateway->body.length;
    }
    crest_http_answer answer;
    crest_status status = crest_http_send(gateway->http, &request, &answer, error);
    if (status != CREST_OK)
        return status;
    const crest_push_question question = {
        .method = method,
        .url = gateway->url_shown,
        .group = shown,
        .job = job,
        .instance = instance,
    };
    return crest_push_answer_check(&question, &answer, error);
}

static crest_status pushgateway_push(pushgateway *gateway, const crest_report *report,
                                     crest_error *error)
{
    const char *job = pushgateway_job(gateway, report->resource);
    const char *instance = pushgateway_instance(gateway, report->resource);
    crest_status status = pushgateway_locate(gateway, job, instance, error);
    if (status == CREST_OK)
        status = pushgateway_check_clashes(gateway, report->snapshot, job, instance, error);
    if (status == CREST_OK)
        status = pushgateway_encode(gateway, report, job, instance, error);
    if (status == CREST_OK)
        status = pushgateway_send(gateway, "PUT", job, instance, report->deadline_ns, report->final,
                                  error);
    return status;
}

/* ---- the reporter ---- */

static crest_status pushgateway_busy(const pushgateway *gateway, crest_error *error)
{
    return crest_error_set(error, CREST_ALREADY,
                           "Not pushed to %.*s: this reporter is busy with another push or delete",
                           (int)PUSHGATEWAY_SHOWN_BYTES, gateway->url_shown);
}

static crest_status pushgateway_report(crest_reporter *self, const crest_report *report,
                                       crest_error *error)
{
    pushgateway *gateway = self->state;
    if (pthread_mutex_trylock(&gateway->one_at_a_time) != 0)
        return pushgateway_busy(gateway, error);
    crest_status status = pushgateway_push(gateway, report, error);
    pthread_mutex_unlock(&gateway->one_at_a_time);
    return status;
}

/* A group that was never pushed to is not deleted: it may be somebody else's. One whose push failed
 * is, because the gateway may have stored it and only its answer been lost. */
static crest_status pushgateway_stop(crest_reporter *self, uint64_t deadline_ns, crest_error *error)
{
    pushgateway *gateway = self->state;
    if (pthread_mutex_trylock(&gateway->one_at_a_time) != 0)
        return pushgateway_busy(gateway, error);
    crest_status status = CREST_OK;
    if (gateway->delete_on_stop && gateway->pushed_to[0] != '\0')
        status = pushgateway_send(gateway, "DELETE", "", "", deadline_ns, 1, error);
    pthread_mutex_unlock(&gateway->one_at_a_time);
    return status;
}

static void pushgateway_free(crest_reporter *self)
{
    pushgateway *gateway = self->state;
    for (unsigned i = 0; gateway->labels != NULL && i < gateway->label_count; i++) {
        free((char *)(uintptr_t)gateway->labels[i].key);
        free((char *)(uintptr_t)gateway->labels[i].value);
    }
    free(gateway->labels);
    free(gateway->url);
    free(gateway->url_shown);
    free(gateway->job);
    free(gateway->instance);
    free(gateway->ca_file);
    crest_http_free(gateway->http);
    crest_push_body_fini(&gateway->body);
    pthread_mutex_destroy(&gateway->one_at_a_time);
    free(gateway);
}

/* ---- making one ---- */

static crest_status pushgateway_check(const crest_pushgateway_options *options, crest_error *error)
{
    crest_status status = crest_push_url_check(options->url, error);
    if (status != CREST_OK)
        return status;
    if (options->ca_file != NULL && access(options->ca_file, R_OK) != 0)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The file of certificate authorities %s cannot be read: %s",
                               options->ca_file, strerror(errno));
    /* With something in place of what is not known before the push. */
    char url[CREST_PUSHGATEWAY_URL_BYTES_MAX];
    return crest_push_url_group(options->url, options->job ? options->job : PUSHGATEWAY_JOB_DEFAULT,
                                options->instance ? options->instance : "-", options->labels,
                                options->label_count, url, sizeof url, error);
}

/* 0, or -1 when there is no memory; what was copied by then is in the gateway. */
static int pushgateway_copy(pushgateway *gateway, const crest_pushgateway_options *options)
{
    size_t size = strlen(options->url) + sizeof CREST_PUSH_URL_HIDDEN + 1;
    gateway->url = strdup(options->url);
    gateway->url_shown = malloc(size);
    gateway->labels = calloc(options->label_count + 1, sizeof *gateway->labels);
    if (gateway->url == NULL || gateway->url_shown == NULL || gateway->labels == NULL)
        return -1;
    crest_push_url_show(options->url, gateway->url_shown, size);
    if (options->job != NULL && (gateway->job = strdup(options->job)) == NULL)
        return -1;
    if (options->instance != NULL && (gateway->instance = strdup(options->instance)) == NULL)
        return -1;
    if (options->ca_file != NULL && (gateway->ca_file = strdup(options->ca_file)) == NULL)
        return -1;
    gateway->label_count = options->label_count;
    for (unsigned i = 0; i < options->label_count; i++) {
        crest_page_label *copy = &gateway->labels[i];
        copy->key = strdup(options->labels[i].key);
        copy->value = strdup(options->labels[i].value);
        if (copy->key == NULL || copy->value == NULL)
            return -1;
    }
    return 0;
}

crest_reporter *crest_pushgateway_new(const crest_pushgateway_options *options, crest_error *error)
{
    if (options == NULL) {
        crest_error_set(error, CREST_INVALID_ARGUMENT,
                        "crest_pushgateway_new: options is NULL; at least the URL is needed");
        return NULL;
    }
    if (pushgateway_check(options, error) != CREST_OK)
        return NULL;
    pushgateway *gateway = calloc(1, sizeof *gateway);
    if (gateway == NULL || pthread_mutex_init(&gateway->one_at_a_time, NULL) != 0) {
        free(gateway);
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a Pushgateway reporter");
        return NULL;
    }
    gateway->reporter = (crest_reporter){
        .name = PUSHGATEWAY_NAME,
        .report = pushgateway_report,
        .stop = pushgateway_stop,
        .free = pushgateway_free,
        .state = gateway,
    };
    gateway->gzip = !options->no_gzip;
    gateway->windows = !options->no_windows;
    gateway->delete_on_stop = options->delete_on_stop != 0;
    gateway->body.limit = CREST_PUSH_BODY_BYTES_MAX;
    if (pushgateway_copy(gateway, options) != 0)
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a Pushgateway reporter");
    else if ((gateway->http = crest_http_new(error)) != NULL)
        return &gateway->reporter;
    pushgateway_free(&gateway->reporter);
    return NULL;
}

/* ---- from options ---- */

static crest_status pushgateway_read_labels(const crest_options *options, crest_page_label *labels,
                                            unsigned *count, crest_error *error)
{
    size_t cursor = 0;
    const char *key, *value;
    *count = 0;
    while (crest_option_next(options, PUSHGATEWAY_LABEL_PREFIX, &cursor, &key, &value)) {
        if (*count == CREST_PUSHGATEWAY_LABELS_MAX)
            return crest_error_set(
                error, CREST_LIMIT,
                "There are more than %u options %sKEY; there may be at most that "
                "many",
                CREST_PUSHGATEWAY_LABELS_MAX, PUSHGATEWAY_LABEL_PREFIX);
        labels[*count].key = key + strlen(PUSHGATEWAY_LABEL_PREFIX);
        labels[(*count)++].value = value;
    }
    return CREST_OK;
}

static crest_reporter *pushgateway_create(const char *value, const crest_options *options,
                                          const crest_resource *resource, crest_error *error)
{
    (void)resource; /* comes with each report */
    crest_page_label labels[CREST_PUSHGATEWAY_LABELS_MAX];
    crest_pushgateway_options made = {
        .url = value,
        .job = crest_option(options, "pushgateway.job"),
        .instance = crest_option(options, "pushgateway.instance"),
        .ca_file = crest_option(options, "pushgateway.ca-file"),
        .labels = labels,
    };
    int gzip = 1, windows = 1;
    if (crest_option_switch(options, "pushgateway.gzip", &gzip, error) != CREST_OK ||
        crest_option_switch(options, "pushgateway.windows", &windows, error) != CREST_OK ||
        crest_option_switch(options, "pushgateway.delete-on-stop", &made.delete_on_stop, error) !=
            CREST_OK ||
        pushgateway_read_labels(options, labels, &made.label_count, error) != CREST_OK)
        return NULL;
    made.no_gzip = !gzip;
    made.no_windows = !windows;
    return crest_pushgateway_new(&made, error);
}

/* interval and timeout are the schedule's: crest_start reads those of every kind itself. */
static const char *const pushgateway_keys[] = {
    "pushgateway.job",
    "pushgateway.instance",
    "pushgateway.interval",
    "pushgateway.timeout",
    "pushgateway.gzip",
    "pushgateway.windows",
    "pushgateway.ca-file",
    PUSHGATEWAY_LABEL_PREFIX,
    "pushgateway.delete-on-stop",
    NULL,
};

const crest_reporter_kind crest_pushgateway_kind = {
    .name = PUSHGATEWAY_NAME,
    .keys = pushgateway_keys,
    .create = pushgateway_create,
};
