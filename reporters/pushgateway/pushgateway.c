/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Pushgateway reporter: from a snapshot to one PUT. See <crest/pushgateway.h>.
 *
 * The page is the encoder's (crest_snapshot_write), the bytes on the wire are http_transport.c's,
 * options as text are push_options.c's; this file has the Pushgateway's part: the group, and what
 * must not be pushed into one.
 */
#define _GNU_SOURCE
#include <crest/pushgateway.h>

#include "common/shown_text.h"
#include "http/http_body.h"
#include "http/http_login.h"
#include "http/http_transport.h"
#include "http/http_url.h"
#include "pushgateway/push_answer.h"
#include "pushgateway/push_claim.h"
#include "pushgateway/push_url.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUSHGATEWAY_NAME "pushgateway"
_Static_assert(CREST_PUSHGATEWAY_SECRET_BYTES_MAX == CREST_HTTP_SECRET_BYTES_MAX &&
                   CREST_PUSHGATEWAY_URL_BYTES_MAX == CREST_HTTP_URL_BYTES_MAX,
               "what the header says of secrets and URLs");
/* Of a group's address in a message; the rest of the message is what matters. */
#define PUSHGATEWAY_SHOWN_BYTES 200u

/* service, version and instance, and as many of the resource's labels as a page takes. */
#define PUSHGATEWAY_TARGETS_MAX 64u

typedef struct pushgateway {
    crest_reporter reporter; /* first: what the caller holds */
    pid_t process;           /* that made it */
    char *url;               /* user and password included */
    char *url_shown;         /* without */
    char *job, *instance;    /* NULL: the resource's */
    char *ca_file;           /* NULL: the system's authorities */
    char *proxy;             /* user and password included; NULL: none */
    char *proxy_shown;       /* without */
    crest_page_label *labels;
    unsigned label_count;
    int gzip, windows, delete_on_stop, post;
    crest_format format;
    crest_http *http;
    crest_http_login login;
    crest_push_claim *claim; /* of the group of the last push */
    /* held during a push and a delete (trylock only): two at once could arrive in the wrong order
     * */
    pthread_mutex_t one_at_a_time;
    crest_http_body body;
    char pushed_to[CREST_PUSHGATEWAY_URL_BYTES_MAX]; /* the group of the last push; "": none yet */
    char pushed_shown[CREST_PUSHGATEWAY_URL_BYTES_MAX];
    int sent; /* a page, to that group: it may be there */
} pushgateway;

/* ---- a push ---- */

static const char *pushgateway_job(const pushgateway *gateway, const crest_resource *resource)
{
    if (gateway->job != NULL)
        return gateway->job;
    const char *service = resource != NULL ? resource->service : NULL;
    return service != NULL && service[0] != '\0' ? service : CREST_PUSH_URL_JOB_DEFAULT;
}

static const char *pushgateway_instance(const pushgateway *gateway, const crest_resource *resource)
{
    if (gateway->instance != NULL)
        return gateway->instance;
    return resource != NULL ? resource->instance : NULL;
}

/* Claims the group that this push goes to. */
static crest_status pushgateway_claim(pushgateway *gateway, const char *job, const char *instance,
                                      crest_error *error)
{
    char bare[CREST_PUSHGATEWAY_URL_BYTES_MAX], group[CREST_PUSHGATEWAY_URL_BYTES_MAX];
    crest_http_url_bare(gateway->url, bare, sizeof bare);
    crest_status status = crest_push_url_group(bare, job, instance, gateway->labels,
                                               gateway->label_count, group, sizeof group, error);
    const crest_push_claim *before = gateway->claim;
    if (status == CREST_OK)
        status = crest_push_claim_take(&gateway->claim, group, gateway->pushed_shown, error);
    if (gateway->claim != before)
        gateway->sent = 0;
    return status;
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
    if (status == CREST_OK)
        status = pushgateway_claim(gateway, job, instance, error);
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

/* What crest_target_info says. */
typedef struct pushgateway_target {
    crest_page_label labels[PUSHGATEWAY_TARGETS_MAX];
    unsigned count;
} pushgateway_target;

/* An empty value is left out. A label that the group has too gets the group's value, as the gateway
 * would set it. */
static void pushgateway_target_add(pushgateway_target *target, const pushgateway *gateway,
                                   const char *job, const char *instance, const char *key,
                                   const char *value)
{
    const char *grouped = pushgateway_grouping_value(gateway, key, job, instance);
    if (grouped != NULL)
        value = grouped;
    for (unsigned i = 0; i < target->count; i++)
        if (strcmp(target->labels[i].key, key) == 0)
            return;
    if (value != NULL && value[0] != '\0' && target->count < PUSHGATEWAY_TARGETS_MAX)
        target->labels[target->count++] = (crest_page_label){key, value};
}

static void pushgateway_target_fill(pushgateway_target *target, const pushgateway *gateway,
                                    const crest_resource *resource, const char *job,
                                    const char *instance)
{
    target->count = 0;
    if (resource != NULL) {
        pushgateway_target_add(target, gateway, job, instance, "service", resource->service);
        pushgateway_target_add(target, gateway, job, instance, "version", resource->version);
    }
    pushgateway_target_add(target, gateway, job, instance, "instance", instance);
    for (unsigned i = 0; resource != NULL && i < resource->label_count; i++)
        pushgateway_target_add(target, gateway, job, instance, resource->labels[i].key,
                               resource->labels[i].value);
}

static crest_status pushgateway_encode(pushgateway *gateway, const crest_report *report,
                                       const char *job, const char *instance, crest_error *error)
{
    pushgateway_target target;
    pushgateway_target_fill(&target, gateway, report->resource, job, instance);
    crest_page_options options = {
        .windows = report->final      ? CREST_PAGE_WINDOWS_NONE
                   : gateway->windows ? CREST_PAGE_WINDOWS_ALL
                                      : CREST_PAGE_WINDOWS_RANGES,
        .target = target.labels,
        .target_count = target.count,
    };
    crest_http_body *body = &gateway->body;
    crest_status status = crest_http_body_begin(body, gateway->gzip);
    if (status == CREST_OK)
        status = crest_snapshot_write(report->snapshot, gateway->format, &options,
                                      crest_http_body_write, body, error);
    if (status == CREST_OK)
        status = crest_http_body_end(body);
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

/* The page, or with a DELETE nothing; between reading the secrets and wiping them. */
static crest_status pushgateway_exchange(pushgateway *gateway, crest_http_request *request,
                                         crest_http_answer *answer, crest_error *error)
{
    if (strcmp(request->method, "DELETE") != 0) {
        request->content_type = crest_format_content_type(gateway->format);
        request->content_encoding = gateway->gzip ? "gzip" : NULL;
        request->body = gateway->body.bytes;
        request->length = gateway->body.length;
    }
    crest_status status = crest_http_login_read(&gateway->login, error);
    if (status == CREST_OK) {
        gateway->sent = 1;
        crest_http_login_into(&gateway->login, request);
        status = crest_http_send(gateway->http, request, answer, error);
    }
    crest_http_login_wipe(&gateway->login);
    return status;
}

static crest_status pushgateway_send(pushgateway *gateway, const char *method, const char *job,
                                     const char *instance, uint64_t deadline_ns, crest_error *error)
{
    char shown[PUSHGATEWAY_SHOWN_BYTES];
    crest_push_text_show(gateway->pushed_shown, strlen(gateway->pushed_shown), shown, sizeof shown);
    crest_http_request request = {
        .kind = PUSHGATEWAY_NAME,
        .method = method,
        .url = gateway->pushed_to,
        .shown = shown,
        .ca_file = gateway->ca_file,
        .proxy = gateway->proxy,
        .proxy_shown = gateway->proxy_shown,
        .deadline_ns = deadline_ns,
    };
    crest_http_answer answer;
    crest_status status = pushgateway_exchange(gateway, &request, &answer, error);
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
        status = pushgateway_send(gateway, gateway->post ? "POST" : "PUT", job, instance,
                                  report->deadline_ns, error);
    return status;
}

/* ---- the reporter ---- */

/* Begins a push or a delete, in the process that made the reporter and when no other is running. */
static crest_status pushgateway_enter(pushgateway *gateway, crest_error *error)
{
    if (gateway->process != getpid())
        return crest_error_set(
            error, CREST_REFUSED,
            "Not pushed to %.*s: this reporter and its connection are those of "
            "the process %ld, of which this one is a fork. Make one here, with a "
            "group of its own, for example pushgateway.instance=${HOST}-${PID}",
            (int)PUSHGATEWAY_SHOWN_BYTES, gateway->url_shown, (long)gateway->process);
    if (pthread_mutex_trylock(&gateway->one_at_a_time) != 0)
        return crest_error_set(error, CREST_ALREADY,
                               "Not pushed to %.*s: this reporter is busy with another push or "
                               "delete",
                               (int)PUSHGATEWAY_SHOWN_BYTES, gateway->url_shown);
    crest_http_renew(gateway->http);
    return CREST_OK;
}

/* Claims the group as soon as it is known, before the first push, because a fork may come between.
 * If another process has the group, each push says which. */
static crest_status pushgateway_start(crest_reporter *self, crest_registry *attached,
                                      crest_error *error)
{
    pushgateway *gateway = self->state;
    crest_error ignored;
    (void)attached, (void)error;
    if (gateway->job == NULL || gateway->instance == NULL ||
        pushgateway_enter(gateway, &ignored) != CREST_OK)
        return CREST_OK;
    (void)pushgateway_locate(gateway, gateway->job, gateway->instance, &ignored);
    pthread_mutex_unlock(&gateway->one_at_a_time);
    return CREST_OK;
}

static crest_status pushgateway_report(crest_reporter *self, const crest_report *report,
                                       crest_error *error)
{
    pushgateway *gateway = self->state;
    crest_status status = pushgateway_enter(gateway, error);
    if (status != CREST_OK)
        return status;
    status = pushgateway_push(gateway, report, error);
    pthread_mutex_unlock(&gateway->one_at_a_time);
    return status;
}

/* A group that this process has sent nothing to is not deleted: it may be another process's. A
 * group whose push failed is deleted, because the gateway may have stored it and only its answer
 * was lost. */
static crest_status pushgateway_stop(crest_reporter *self, uint64_t deadline_ns, crest_error *error)
{
    pushgateway *gateway = self->state;
    crest_status status = pushgateway_enter(gateway, error);
    if (status != CREST_OK)
        return status;
    if (gateway->delete_on_stop && gateway->sent && gateway->pushed_to[0] != '\0')
        status = pushgateway_send(gateway, "DELETE", "", "", deadline_ns, error);
    crest_push_claim_release(&gateway->claim);
    pthread_mutex_unlock(&gateway->one_at_a_time);
    return status;
}

/* Called on another thread. A push that has not reached its request yet ends when it does. */
static void pushgateway_cancel(crest_reporter *self)
{
    pushgateway *gateway = self->state;
    crest_http_cancel(gateway->http);
}

static void pushgateway_free(crest_reporter *self)
{
    pushgateway *gateway = self->state;
    for (unsigned i = 0; gateway->labels != NULL && i < gateway->label_count; i++) {
        free((char *)(uintptr_t)gateway->labels[i].key);
        free((char *)(uintptr_t)gateway->labels[i].value);
    }
    free(gateway->labels);
    crest_http_secret_free(gateway->url);
    free(gateway->url_shown);
    crest_http_secret_free(gateway->proxy);
    free(gateway->proxy_shown);
    free(gateway->job);
    free(gateway->instance);
    free(gateway->ca_file);
    crest_http_free(gateway->http);
    crest_http_body_fini(&gateway->body);
    crest_http_login_fini(&gateway->login);
    crest_push_claim_release(&gateway->claim);
    pthread_mutex_destroy(&gateway->one_at_a_time);
    explicit_bzero(gateway->pushed_to, sizeof gateway->pushed_to);
    free(gateway);
}

/* ---- making one ---- */

static crest_status pushgateway_check(const crest_pushgateway_options *options, crest_error *error)
{
    crest_status status = crest_push_url_check(options->url, error);
    if (status != CREST_OK)
        return status;
    if (options->proxy != NULL)
        status = crest_http_url_proxy_check(options->proxy, PUSHGATEWAY_NAME, error);
    if (status != CREST_OK)
        return status;
    if (options->ca_file != NULL && access(options->ca_file, R_OK) != 0)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The file of certificate authorities %s cannot be read: %s",
                               options->ca_file, strerror(errno));
    /* With placeholders for values that are not known before the push. */
    char url[CREST_PUSHGATEWAY_URL_BYTES_MAX];
    return crest_push_url_group(options->url,
                                options->job ? options->job : CREST_PUSH_URL_JOB_DEFAULT,
                                options->instance ? options->instance : "-", options->labels,
                                options->label_count, url, sizeof url, error);
}

static int pushgateway_copy_text(char **copy, const char *text)
{
    return text == NULL || (*copy = strdup(text)) != NULL ? 0 : -1;
}

/* The same of a URL, and as it is shown. */
static int pushgateway_copy_url(char **copy, char **shown, const char *url)
{
    if (url == NULL)
        return 0;
    size_t size = strlen(url) + sizeof CREST_HTTP_URL_HIDDEN + 1;
    if (pushgateway_copy_text(copy, url) != 0 || (*shown = malloc(size)) == NULL)
        return -1;
    crest_http_url_show(url, *shown, size);
    return 0;
}

/* 0, or -1 without memory; the texts copied by then belong to the gateway. */
static int pushgateway_copy(pushgateway *gateway, const crest_pushgateway_options *options)
{
    if (pushgateway_copy_url(&gateway->url, &gateway->url_shown, options->url) != 0 ||
        pushgateway_copy_url(&gateway->proxy, &gateway->proxy_shown, options->proxy) != 0 ||
        pushgateway_copy_text(&gateway->job, options->job) != 0 ||
        pushgateway_copy_text(&gateway->instance, options->instance) != 0 ||
        pushgateway_copy_text(&gateway->ca_file, options->ca_file) != 0)
        return -1;
    gateway->labels = calloc(options->label_count + 1, sizeof *gateway->labels);
    if (gateway->labels == NULL)
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
        .start = pushgateway_start,
        .cancel = pushgateway_cancel,
        .waits = 1,
    };
    gateway->process = getpid();
    gateway->post = options->post != 0;
    gateway->gzip = !options->no_gzip;
    gateway->format =
        options->protobuf ? CREST_FORMAT_PROMETHEUS_PROTOBUF : CREST_FORMAT_PROMETHEUS_TEXT;
    gateway->windows = !options->no_windows;
    gateway->delete_on_stop = options->delete_on_stop != 0;
    gateway->body.limit = CREST_HTTP_BODY_BYTES_MAX;
    const crest_http_login_options login = CREST_HTTP_LOGIN_OF(PUSHGATEWAY_NAME, options);
    if (pushgateway_copy(gateway, options) != 0)
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a Pushgateway reporter");
    else if (crest_http_login_init(&gateway->login, &login, error) == CREST_OK &&
             (gateway->http = crest_http_new(error)) != NULL)
        return &gateway->reporter;
    pushgateway_free(&gateway->reporter);
    return NULL;
}
