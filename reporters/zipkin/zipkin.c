/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Zipkin reporter: from batches of spans to bodies in a queue, and from there to a server. See
 * <crest/zipkin.h>.
 */
#define _GNU_SOURCE
#include <crest/zipkin.h>

#include "common/shown_text.h"
#include "common/span_json.h"
#include "http/http_login.h"
#include "http/http_url.h"
#include "http/span_post.h"
#include "zipkin/zipkin_span.h"

#include <crest/clock.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZIPKIN_NAME "zipkin"
#define ZIPKIN_NS_PER_S UINT64_C(1000000000)
/* How long a Retry-After may put a report off. */
#define ZIPKIN_RETRY_S_MAX 3600u
#define ZIPKIN_WORDS_BYTES 320u

_Static_assert(CREST_ZIPKIN_URL_BYTES_MAX == CREST_HTTP_URL_BYTES_MAX,
               "what the header says of URLs");

typedef struct zipkin_reporter {
    crest_reporter reporter; /* first: what the caller holds */
    pid_t process;           /* that made it */
    crest_span_queue queue;
    char *url;                           /* user and password included */
    char *shown;                         /* without */
    char *ca_file, *proxy, *proxy_shown; /* NULL: none */
    int gzip;
    crest_http *http;
    crest_http_login login;
    crest_http_body packed;
} zipkin_reporter;

/* ---- on the tracing thread ---- */

static crest_status zipkin_encode(void *owner, const crest_span_batch *batch,
                                  crest_span_queue *queue, crest_error *error)
{
    crest_span_text text = {.bytes = NULL};
    int stopped = 0;
    (void)owner;
    for (size_t i = 0; i < batch->count && stopped == 0; i++) {
        stopped = crest_span_text_write(&text, i == 0 ? "[" : ",", 1);
        if (stopped == 0)
            stopped = crest_zipkin_span_write(&batch->spans[i], batch->resource,
                                              crest_span_text_write, &text);
    }
    if (stopped == 0)
        stopped = crest_span_text_write(&text, "]", 1);
    crest_status status = stopped == 0
                              ? crest_span_queue_put(queue, text.bytes, text.length, batch->count)
                              : CREST_NO_MEMORY;
    free(text.bytes);
    return status == CREST_OK
               ? CREST_OK
               : crest_error_set(error, status, "No memory for %zu spans for Zipkin", batch->count);
}

/* ---- on the reporter's thread ---- */

static const char *zipkin_advice(unsigned code)
{
    switch (code) {
    case 400: return "The server's log may say more";
    case 401:
    case 403:
        return "Give what it wants by zipkin.bearer-file, or zipkin.user and "
               "zipkin.password-file";
    case 404:
    case 405: return "Is this a Zipkin server, and its path right? One is zipkin=http://HOST:9411";
    case 413: return "Something on the way limits how large a body may be";
    default: return "A Zipkin server answers 202";
    }
}

static crest_span_fate zipkin_judge(void *owner, const crest_span_body *body,
                                    const crest_http_answer *answer, uint64_t *rejected,
                                    crest_error *error)
{
    const zipkin_reporter *zipkin = owner;
    unsigned code = answer->code;
    int later = code == 429 || code == 502 || code == 503 || code == 504;
    char words[ZIPKIN_WORDS_BYTES];
    *rejected = 0;
    if (code == 202 || (code == 200 && answer->length == 0))
        return CREST_SPAN_TAKEN;
    int redirect = code >= 300 && code < 400;
    const char *said = redirect ? answer->location : answer->words;
    crest_push_text_show(said, redirect ? strlen(said) : answer->length, words, sizeof words);
    crest_error_set(error, later ? CREST_UNREACHABLE : CREST_REFUSED,
                    "POST %s: a body of %zu spans and %zu bytes was %s with code %u%s: %s. %s",
                    zipkin->shown, body->spans, body->length, later ? "put off" : "refused", code,
                    redirect ? " (a redirect, which is not followed)" : "",
                    words[0] != '\0' ? words : "(it says nothing)",
                    later ? "It is tried again" : zipkin_advice(code));
    return later         ? CREST_SPAN_LATER
           : code == 400 ? CREST_SPAN_REFUSED
           : code == 413 ? CREST_SPAN_LARGE
                         : CREST_SPAN_NEVER;
}

/* Between reading the secrets and wiping them. */
static crest_status zipkin_exchange(zipkin_reporter *zipkin, const crest_report *report,
                                    crest_error *error)
{
    crest_span_post post = {
        .queue = &zipkin->queue,
        .http = zipkin->http,
        .packed = zipkin->gzip ? &zipkin->packed : NULL,
        .judge = zipkin_judge,
        .owner = zipkin,
        .request = {.kind = ZIPKIN_NAME,
                    .method = "POST",
                    .url = zipkin->url,
                    .shown = zipkin->shown,
                    .ca_file = zipkin->ca_file,
                    .proxy = zipkin->proxy,
                    .proxy_shown = zipkin->proxy_shown,
                    .content_type = "application/json",
                    .deadline_ns = report->deadline_ns},
    };
    crest_http_login_into(&zipkin->login, &post.request);
    crest_status status = crest_span_post_all(&post, error);
    if (post.retry_after_s > ZIPKIN_RETRY_S_MAX)
        post.retry_after_s = ZIPKIN_RETRY_S_MAX;
    zipkin->reporter.retry_at_ns =
        post.retry_after_s != 0 ? crest_now() + post.retry_after_s * ZIPKIN_NS_PER_S : 0;
    return status;
}

static crest_status zipkin_report(crest_reporter *self, const crest_report *report,
                                  crest_error *error)
{
    zipkin_reporter *zipkin = self->state;
    if (zipkin->process != getpid())
        return crest_error_set(error, CREST_REFUSED,
                               "No spans are sent to %s: this reporter and its connection are "
                               "those of the process %ld, of which this one is a fork. Make one "
                               "here",
                               zipkin->shown, (long)zipkin->process);
    if (report->final)
        crest_span_queue_end(&zipkin->queue);
    if (crest_span_queue_first(&zipkin->queue) == NULL)
        return CREST_OK;
    crest_http_renew(zipkin->http);
    crest_status status = crest_http_login_read(&zipkin->login, error);
    if (status == CREST_OK)
        status = zipkin_exchange(zipkin, report, error);
    crest_http_login_wipe(&zipkin->login);
    return status;
}

static crest_status zipkin_start(crest_reporter *self, crest_registry *registry, crest_error *error)
{
    zipkin_reporter *zipkin = self->state;
    (void)registry;
    return crest_span_queue_begin(&zipkin->queue, error);
}

static crest_status zipkin_stop(crest_reporter *self, uint64_t deadline_ns, crest_error *error)
{
    zipkin_reporter *zipkin = self->state;
    (void)deadline_ns;
    (void)error;
    crest_span_queue_end(&zipkin->queue);
    return CREST_OK;
}

static void zipkin_cancel(crest_reporter *self)
{
    crest_http_cancel(((zipkin_reporter *)self->state)->http);
}

static void zipkin_free(crest_reporter *self)
{
    zipkin_reporter *zipkin = self->state;
    crest_span_queue_fini(&zipkin->queue);
    crest_http_secret_free(zipkin->url);
    free(zipkin->shown);
    free(zipkin->ca_file);
    crest_http_secret_free(zipkin->proxy);
    free(zipkin->proxy_shown);
    crest_http_free(zipkin->http);
    crest_http_login_fini(&zipkin->login);
    crest_http_body_fini(&zipkin->packed);
    free(zipkin);
}

/* ---- making one ---- */

static crest_status zipkin_check(const crest_zipkin_options *options, crest_error *error)
{
    static const crest_http_url_kind server = {"Zipkin server", "http://127.0.0.1:9411", NULL};
    crest_status status = crest_http_url_check(options->url, &server, error);
    if (status == CREST_OK &&
        strlen(options->url) + sizeof CREST_ZIPKIN_PATH >= CREST_HTTP_URL_BYTES_MAX)
        status = crest_error_set(error, CREST_LIMIT,
                                 "The Zipkin server's URL has no room for " CREST_ZIPKIN_PATH
                                 " in %u bytes",
                                 CREST_HTTP_URL_BYTES_MAX - 1);
    if (status == CREST_OK && options->proxy != NULL)
        status = crest_http_url_proxy_check(options->proxy, ZIPKIN_NAME, error);
    if (status == CREST_OK && options->ca_file != NULL && access(options->ca_file, R_OK) != 0)
        status = crest_error_set(error, CREST_INVALID_ARGUMENT,
                                 "The file of certificate authorities %s cannot be read: %s",
                                 options->ca_file, strerror(errno));
    return status;
}

/* A URL that ends with `path`, and as it is shown; 0, or -1 without memory. */
static int zipkin_copy_url(char **copy, char **shown, const char *url, const char *path)
{
    size_t length = strlen(url), path_bytes = strlen(path);
    while (length > 0 && url[length - 1] == '/' && path_bytes > 0)
        length--;
    int whole = length > path_bytes && memcmp(url + length - path_bytes, path, path_bytes) == 0;
    size_t size = length + path_bytes + sizeof CREST_HTTP_URL_HIDDEN + 1;
    *copy = calloc(1, size);
    *shown = calloc(1, size);
    if (*copy == NULL || *shown == NULL)
        return -1;
    memcpy(*copy, url, length);
    if (!whole)
        strcpy(*copy + length, path);
    crest_http_url_show(*copy, *shown, size);
    return 0;
}

static int zipkin_copy(zipkin_reporter *zipkin, const crest_zipkin_options *options)
{
    if (options->ca_file != NULL && (zipkin->ca_file = strdup(options->ca_file)) == NULL)
        return -1;
    if (options->proxy != NULL &&
        zipkin_copy_url(&zipkin->proxy, &zipkin->proxy_shown, options->proxy, "") != 0)
        return -1;
    return zipkin_copy_url(&zipkin->url, &zipkin->shown, options->url, CREST_ZIPKIN_PATH);
}

crest_reporter *crest_zipkin_new(const crest_zipkin_options *options, crest_error *error)
{
    static const crest_zipkin_options nothing = {.url = NULL};
    options = options != NULL ? options : &nothing;
    if (zipkin_check(options, error) != CREST_OK)
        return NULL;
    zipkin_reporter *zipkin = calloc(1, sizeof *zipkin);
    if (zipkin == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a Zipkin reporter");
        return NULL;
    }
    zipkin->reporter = (crest_reporter){
        .name = ZIPKIN_NAME,
        .report = zipkin_report,
        .start = zipkin_start,
        .stop = zipkin_stop,
        .free = zipkin_free,
        .cancel = zipkin_cancel,
        .state = zipkin,
        .waits = 1,
        .no_snapshot = 1,
    };
    zipkin->process = getpid();
    zipkin->gzip = !options->no_gzip;
    zipkin->packed.limit = CREST_HTTP_BODY_BYTES_MAX;
    const crest_http_login_options login = CREST_HTTP_LOGIN_OF(ZIPKIN_NAME, options);
    if (zipkin_copy(zipkin, options) != 0)
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a Zipkin reporter");
    else if (crest_http_login_init(&zipkin->login, &login, error) == CREST_OK &&
             (zipkin->http = crest_http_new(error)) != NULL &&
             crest_span_queue_init(&zipkin->queue, ZIPKIN_NAME, zipkin_encode, zipkin, error) ==
                 CREST_OK)
        return &zipkin->reporter;
    zipkin_free(&zipkin->reporter);
    return NULL;
}
