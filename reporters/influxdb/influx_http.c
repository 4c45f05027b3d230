/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines in bodies of POST /write. See influx_sink.h.
 */
#define _GNU_SOURCE
#include "common/shown_text.h"
#include "http/http_body.h"
#include "http/http_login.h"
#include "http/http_url.h"
#include "influxdb/influx_answer.h"
#include "influxdb/influx_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INFLUX_HTTP_NAME "influxdb"

typedef struct influx_http {
    crest_influx_sink sink; /* first: what the caller holds */
    pid_t process;          /* that made it */
    crest_influx_url url;
    char *ca_file, *proxy, *proxy_shown; /* NULL: none */
    int gzip;
    crest_http *http;
    crest_http_login login;
    crest_http_body body;
    uint64_t body_lines;
    uint64_t deadline_ns;
} influx_http;

/* ---- a report ---- */

static crest_status influx_http_begin_body(influx_http *http, crest_error *error)
{
    http->body_lines = 0;
    if (crest_http_body_begin(&http->body, http->gzip) == CREST_OK)
        return CREST_OK;
    return crest_error_set(error, CREST_NO_MEMORY, "POST %s: no memory for the body",
                           http->url.shown);
}

static crest_status influx_http_begin(crest_influx_sink *sink, uint64_t deadline_ns,
                                      crest_error *error)
{
    influx_http *http = (influx_http *)sink;
    sink->lines = sink->bytes = sink->refused = 0;
    http->deadline_ns = deadline_ns;
    if (http->process != getpid())
        return crest_error_set(error, CREST_REFUSED,
                               "POST %s: not sent, this reporter and its connection are those of "
                               "the process %ld, of which this one is a fork. Make one here",
                               http->url.shown, (long)http->process);
    crest_http_renew(http->http);
    return influx_http_begin_body(http, error);
}

/* Reads the secrets, sends the body, wipes the secrets. */
static crest_status influx_http_exchange(influx_http *http, crest_http_answer *answer,
                                         crest_error *error)
{
    crest_http_request request = {
        .kind = INFLUX_HTTP_NAME,
        .method = "POST",
        .url = http->url.write,
        .shown = http->url.shown,
        .ca_file = http->ca_file,
        .proxy = http->proxy,
        .proxy_shown = http->proxy_shown,
        .content_type = "text/plain; charset=utf-8",
        .content_encoding = http->gzip ? "gzip" : NULL,
        .body = http->body.bytes,
        .length = http->body.length,
        .deadline_ns = http->deadline_ns,
    };
    crest_status status = crest_http_login_read(&http->login, error);
    if (status == CREST_OK) {
        crest_http_login_into(&http->login, &request);
        status = crest_http_send(http->http, &request, answer, error);
    }
    crest_http_login_wipe(&http->login);
    return status;
}

/* Sends the body, unless it is empty. */
static crest_status influx_http_send(influx_http *http, crest_error *error)
{
    crest_influx_sink *sink = &http->sink;
    if (http->body_lines == 0)
        return CREST_OK;
    crest_status status = crest_http_body_end(&http->body);
    if (status != CREST_OK)
        return crest_error_set(error, status,
                               "POST %s: the body has more than %u bytes, or there "
                               "is no memory for it",
                               sink->shown, CREST_HTTP_BODY_BYTES_MAX);
    crest_http_answer answer;
    crest_influx_answer meant;
    status = influx_http_exchange(http, &answer, error);
    if (status == CREST_OK)
        status = crest_influx_answer_check(&answer, sink->shown, http->url.database, &meant, error);
    if (status != CREST_OK)
        return status;
    if (meant.partial) {
        if (meant.dropped > http->body_lines)
            meant.dropped = http->body_lines;
        sink->refused += meant.dropped;
        memcpy(sink->words, meant.words, sizeof sink->words);
        http->body_lines -= meant.dropped;
    }
    sink->lines += http->body_lines;
    sink->bytes += http->body.length;
    return CREST_OK;
}

static crest_status influx_http_add(crest_influx_sink *sink, const char *line, size_t length,
                                    crest_error *error)
{
    influx_http *http = (influx_http *)sink;
    crest_status status = CREST_OK;
    if (http->body_lines > 0 && http->body.plain_bytes + length > CREST_INFLUXDB_BODY_BYTES) {
        status = influx_http_send(http, error);
        if (status == CREST_OK)
            status = influx_http_begin_body(http, error);
    }
    if (status != CREST_OK)
        return status;
    http->body_lines++;
    if (crest_http_body_write(&http->body, line, length) == 0)
        return CREST_OK;
    status = http->body.status == CREST_LIMIT ? CREST_IO : http->body.status;
    return crest_error_set(error, status, "POST %s: no memory for the body", sink->shown);
}

static crest_status influx_http_end(crest_influx_sink *sink, crest_error *error)
{
    return influx_http_send((influx_http *)sink, error);
}

static void influx_http_cancel(crest_influx_sink *sink)
{
    crest_http_cancel(((influx_http *)sink)->http);
}

static void influx_http_free(crest_influx_sink *sink)
{
    influx_http *http = (influx_http *)sink;
    crest_http_free(http->http);
    crest_http_body_fini(&http->body);
    crest_http_login_fini(&http->login);
    crest_http_secret_free(http->proxy);
    free(http->proxy_shown);
    free(http->ca_file);
    explicit_bzero(&http->url, sizeof http->url);
    free(http);
}

/* ---- making one ---- */

static crest_status influx_http_check(const crest_influxdb_options *options, crest_influx_url *url,
                                      crest_error *error)
{
    crest_status status = crest_influx_url_make(options, url, error);
    if (status == CREST_OK && options->proxy != NULL)
        status = crest_http_url_proxy_check(options->proxy, INFLUX_HTTP_NAME, error);
    if (status == CREST_OK && options->ca_file != NULL && access(options->ca_file, R_OK) != 0)
        status = crest_error_set(error, CREST_INVALID_ARGUMENT,
                                 "The file of certificate authorities %s cannot be read: %s",
                                 options->ca_file, strerror(errno));
    return status;
}

/* 0, or -1 without memory. */
static int influx_http_copy(influx_http *http, const crest_influxdb_options *options)
{
    if (options->ca_file != NULL && (http->ca_file = strdup(options->ca_file)) == NULL)
        return -1;
    if (options->proxy == NULL)
        return 0;
    size_t size = strlen(options->proxy) + sizeof CREST_HTTP_URL_HIDDEN + 1;
    http->proxy = strdup(options->proxy);
    http->proxy_shown = malloc(size);
    if (http->proxy == NULL || http->proxy_shown == NULL)
        return -1;
    crest_http_url_show(options->proxy, http->proxy_shown, size);
    return 0;
}

crest_influx_sink *crest_influx_http_new(const crest_influxdb_options *options, crest_error *error)
{
    influx_http *http = calloc(1, sizeof *http);
    if (http == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory for an InfluxDB reporter");
        return NULL;
    }
    http->sink = (crest_influx_sink){.begin = influx_http_begin,
                                     .add = influx_http_add,
                                     .end = influx_http_end,
                                     .cancel = influx_http_cancel,
                                     .free = influx_http_free,
                                     .shown = http->url.shown};
    http->process = getpid();
    http->gzip = !options->no_gzip;
    http->body.limit = CREST_HTTP_BODY_BYTES_MAX;
    const crest_http_login_options login = CREST_HTTP_LOGIN_OF(INFLUX_HTTP_NAME, options);
    crest_status status = influx_http_check(options, &http->url, error);
    if (status == CREST_OK && influx_http_copy(http, options) != 0)
        status = crest_error_set(error, CREST_NO_MEMORY, "No memory for an InfluxDB reporter");
    if (status == CREST_OK && crest_http_login_init(&http->login, &login, error) == CREST_OK &&
        (http->http = crest_http_new(error)) != NULL)
        return &http->sink;
    influx_http_free(&http->sink);
    return NULL;
}
