/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes, and the way of a page from its pipe to the connection. See scrape_routes.h.
 *
 * What becomes of a request for the page:
 *
 *   1. A thread starts to make the page; the connection is suspended.
 *   2. The pipe is full or the page is whole: the connection is resumed.
 *   3. A whole page goes out with its Content-Length; a failure still becomes a 503.
 *   4. A longer page is streamed in chunks; the connection is suspended whenever the pipe is empty.
 */
#include "scrape/scrape_routes.h"
#include "scrape/scrape_connections.h"
#include "scrape/scrape_headers.h"
#include "scrape/scrape_self_metrics.h"
#include "scrape/scrape_spans.h"
#include "scrape/scrape_target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRAPE_ROUTES_NS_PER_MS UINT64_C(1000000)
/* Time for an answer at hand, and for the rest of an answer when its deadline has passed. */
#define SCRAPE_ROUTES_ANSWER_MS 10000u
#define SCRAPE_ROUTES_GRACE_MS 1000u
/* The piece in which an answer is read; libmicrohttpd takes less if its buffer is smaller. */
#define SCRAPE_ROUTES_PIECE_BYTES 32768u
#define SCRAPE_ROUTES_TEXT_BYTES 512u

typedef struct scrape_routes_request {
    crest_scrape_server *server;
    struct MHD_Connection *connection;
    crest_scrape_page *page; /* NULL: none is being made */
    const char *content_type;
    uint64_t began_ns;
    unsigned code; /* of an answer to /metrics; 0: of another */
    int is_page;
    const char *path; /* borrowed from libmicrohttpd; NULL: the target has none */
    uint64_t bytes;
} scrape_routes_request;

/* ---- plain answers ---- */

static enum MHD_Result scrape_routes_send(scrape_routes_request *request, unsigned code,
                                          struct MHD_Response *response, const char *type)
{
    if (response == NULL)
        return MHD_NO;
    (void)MHD_add_response_header(response, "Content-Type", type);
    (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (request->server->settings->other != NULL && request->server->settings->other->policy)
        (void)MHD_add_response_header(response, "Content-Security-Policy",
                                      request->server->settings->other->policy);
    if (request->is_page)
        request->code = code;
    enum MHD_Result queued = MHD_queue_response(request->connection, code, response);
    MHD_destroy_response(response);
    return queued;
}

static struct MHD_Response *scrape_routes_text(const char *text)
{
    return MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                           MHD_RESPMEM_MUST_COPY);
}

/* Answers with a line of text, and one further header if `name` is not NULL. */
static enum MHD_Result scrape_routes_say(scrape_routes_request *request, unsigned code,
                                         const char *text, const char *name, const char *value)
{
    struct MHD_Response *response = scrape_routes_text(text);
    if (response != NULL && name != NULL)
        (void)MHD_add_response_header(response, name, value);
    return scrape_routes_send(request, code, response, "text/plain; charset=utf-8");
}

static enum MHD_Result scrape_routes_index(scrape_routes_request *request)
{
    static const char page[] =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Crest</title>"
        "</head><body>\n<h1>Crest</h1>\n<ul>\n"
        "<li><a href=\"metrics\">metrics</a>, for Prometheus</li>\n"
        "<li><a href=\"spans\">spans</a>, the last kept ones, for crest op</li>\n"
        "<li><a href=\"-/healthy\">-/healthy</a></li>\n</ul>\n</body></html>\n";
    return scrape_routes_send(request, MHD_HTTP_OK, scrape_routes_text(page),
                              "text/html; charset=utf-8");
}

/* The last kept spans, for clients on this machine: attributes may be anything of the host's. */
static enum MHD_Result scrape_routes_spans(scrape_routes_request *request)
{
    if (!crest_scrape_spans_near(request->connection))
        return scrape_routes_say(request, MHD_HTTP_FORBIDDEN,
                                 "Spans are shown on the machine itself only, at localhost, "
                                 "127.0.0.1 or [::1]; send them elsewhere with otlp=, zipkin= or "
                                 "spans-json=\n",
                                 NULL, NULL);
    size_t length;
    char *lines = crest_scrape_spans_copy(&length);
    if (lines == NULL)
        return scrape_routes_say(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                                 "There is no memory for a copy of the spans\n", NULL, NULL);
    return scrape_routes_send(request, MHD_HTTP_OK,
                              MHD_create_response_from_buffer(length, lines, MHD_RESPMEM_MUST_FREE),
                              "application/x-ndjson");
}

/* ---- the page, from the pipe to the client ---- */

static void scrape_routes_pause(scrape_routes_request *request)
{
    request->page->paused = 1;
    MHD_suspend_connection(request->connection);
}

/* When the answer must be out. Once a page's deadline has passed, its rest must follow soon. */
static uint64_t scrape_routes_until(const scrape_routes_request *request)
{
    uint64_t now_ns = crest_scrape_now_ns(), deadline_ns = request->page->pipe.deadline_ns;
    return (now_ns > deadline_ns ? now_ns : deadline_ns) +
           SCRAPE_ROUTES_GRACE_MS * SCRAPE_ROUTES_NS_PER_MS;
}

/* An MHD_ContentReaderCallback. */
static ssize_t scrape_routes_read(void *cls, uint64_t position, char *bytes, size_t size)
{
    scrape_routes_request *request = cls;
    (void)position;
    /* the bytes before these are on their way: libmicrohttpd only then asks for more */
    crest_scrape_connections_reads(request->connection, scrape_routes_until(request));
    ssize_t length = crest_scrape_pipe_read(&request->page->pipe, bytes, size);
    if (length > 0) {
        request->bytes += (uint64_t)length;
        return length;
    }
    if (length == 0) {
        scrape_routes_pause(request);
        return 0;
    }
    if (length == CREST_SCRAPE_PIPE_END)
        return MHD_CONTENT_READER_END_OF_STREAM;
    request->code = CREST_SCRAPE_BROKEN_OFF;
    crest_scrape_connections_reset(request->connection);
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

static enum MHD_Result scrape_routes_send_page(scrape_routes_request *request, uint64_t size,
                                               int gzip)
{
    struct MHD_Response *response = MHD_create_response_from_callback(
        size, SCRAPE_ROUTES_PIECE_BYTES, scrape_routes_read, request, NULL);
    if (response == NULL)
        return MHD_NO;
    if (!request->page || !request->page->settings->other)
        (void)MHD_add_response_header(response, "Vary", "Accept, Accept-Encoding");
    if (gzip && (!request->page || !request->page->packed))
        (void)MHD_add_response_header(response, "Content-Encoding", "gzip");
    return scrape_routes_send(request, MHD_HTTP_OK, response, request->content_type);
}

/* Answers for a page that broke before anything was sent. */
static enum MHD_Result scrape_routes_fail(scrape_routes_request *request, crest_status status)
{
    char text[SCRAPE_ROUTES_TEXT_BYTES];
    const char *why = request->page->error.message;
    if (status == CREST_TIMED_OUT)
        why = "The page could not be made in the time that the scrape has. Scrape less often with "
              "a longer timeout, or leave series out with prometheus.exclude";
    else if (why[0] == '\0')
        why = crest_status_text(status);
    snprintf(text, sizeof text, "%.480s\n", why);
    return scrape_routes_say(request, MHD_HTTP_SERVICE_UNAVAILABLE, text, "Retry-After", "1");
}

/* Goes on after the connection was resumed; nothing has been sent yet. */
static enum MHD_Result scrape_routes_resumed(scrape_routes_request *request)
{
    crest_scrape_pipe *pipe = &request->page->pipe;
    size_t used;
    crest_status status;
    crest_scrape_connections_reads(request->connection, scrape_routes_until(request));
    int whole = crest_scrape_pipe_whole(pipe, &used, &status);
    if (status == CREST_OK && !whole && crest_scrape_now_ns() >= pipe->deadline_ns)
        status = CREST_TIMED_OUT;
    if (status != CREST_OK)
        return scrape_routes_fail(request, status);
    return scrape_routes_send_page(request, whole ? used : MHD_SIZE_UNKNOWN, pipe->gzip);
}

/* ---- asking for the page ---- */

/* Headers of one name, joined as if they were one; a longer text is cut. */
typedef struct scrape_routes_header {
    const char *name;
    size_t used;
    char value[CREST_ACCEPT_BYTES_MAX];
} scrape_routes_header;

static enum MHD_Result scrape_routes_join(void *cls, enum MHD_ValueKind kind, const char *key,
                                          const char *value)
{
    scrape_routes_header *header = cls;
    (void)kind;
    size_t length = value != NULL ? strlen(value) : 0;
    if (strcasecmp(key, header->name) != 0 || header->used + length + 3 > sizeof header->value)
        return MHD_YES;
    if (header->used > 0)
        header->value[header->used++] = ',';
    if (length > 0)
        memcpy(header->value + header->used, value, length);
    header->used += length;
    header->value[header->used] = '\0';
    return MHD_YES;
}

/* Its text; NULL when there is none. */
static const char *scrape_routes_header_of(scrape_routes_request *request,
                                           scrape_routes_header *header, const char *name)
{
    header->name = name;
    header->used = 0;
    header->value[0] = '\0';
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, scrape_routes_join, header);
    return header->used > 0 ? header->value : NULL;
}

/* The requested names, as one text; first counted, then copied. */
typedef struct scrape_routes_names {
    unsigned count;
    size_t bytes;
    char *texts; /* NULL: counting */
    int invalid; /* a name has a NUL in it */
} scrape_routes_names;

static enum MHD_Result scrape_routes_name(void *cls, enum MHD_ValueKind kind, const char *key,
                                          size_t key_bytes, const char *value, size_t bytes)
{
    scrape_routes_names *names = cls;
    (void)kind;
    if (key_bytes != 6 || memcmp(key, "name[]", 6) != 0)
        return MHD_YES;
    if (bytes > 0 && (value == NULL || memchr(value, '\0', bytes) != NULL)) {
        names->invalid = 1;
        return MHD_NO;
    }
    if (names->texts != NULL) {
        memcpy(names->texts + names->bytes, value != NULL ? value : "", bytes);
        names->texts[names->bytes + bytes] = '\0';
    }
    names->bytes += bytes + 1;
    names->count++;
    return MHD_YES;
}

/* Fills the page's names; 0, or the status to answer with, and *why. */
static unsigned scrape_routes_names_of(scrape_routes_request *request, crest_scrape_page *page,
                                       const char **why)
{
    scrape_routes_names names = {0};
    MHD_get_connection_values_n(request->connection, MHD_GET_ARGUMENT_KIND, scrape_routes_name,
                                &names);
    *why = "A name[] has a zero byte in it; names are letters, digits and underscores\n";
    if (names.invalid)
        return MHD_HTTP_BAD_REQUEST;
    if (names.count == 0)
        return 0;
    *why = "There is no memory to read the names\n";
    names.texts = page->name_texts = malloc(names.bytes);
    if (names.texts == NULL)
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    page->name_count = names.count;
    names.count = 0;
    names.bytes = 0;
    MHD_get_connection_values_n(request->connection, MHD_GET_ARGUMENT_KIND, scrape_routes_name,
                                &names);
    return 0;
}

static enum MHD_Result scrape_routes_busy(scrape_routes_request *request)
{
    return scrape_routes_say(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                             "As many pages are being made as may be at once "
                             "(prometheus.concurrency), or there is no memory or thread for "
                             "another. Try again in a second\n",
                             "Retry-After", "1");
}

/* Lets a page be made: waits for its first bytes. */
static enum MHD_Result scrape_routes_await(scrape_routes_request *request, crest_scrape_page *page)
{
    /* Until there is something to send, the page has its own deadline. */
    crest_scrape_connections_answering(request->connection, UINT64_MAX);
    request->page = page;
    page->connection = request->connection;
    scrape_routes_pause(request);
    crest_scrape_pipe_await(&page->pipe);
    return MHD_YES;
}

static enum MHD_Result scrape_routes_make(scrape_routes_request *request, crest_format format,
                                          int gzip)
{
    crest_scrape_server *server = request->server;
    const char *seconds = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
                                                      "X-Prometheus-Scrape-Timeout-Seconds");
    uint64_t set_ms = server->settings->timeout_ms;
    uint64_t timeout_ms = crest_scrape_timeout_ms(
        seconds, set_ms,
        set_ms > CREST_PROMETHEUS_ASKED_MS_MAX ? set_ms : CREST_PROMETHEUS_ASKED_MS_MAX);
    uint64_t deadline_ns = request->began_ns + timeout_ms * SCRAPE_ROUTES_NS_PER_MS;
    if (server->making >= server->settings->concurrency)
        return scrape_routes_busy(request);
    crest_scrape_page *page = crest_scrape_page_new(server->settings, server->registry, format,
                                                    gzip, deadline_ns, server->wake);
    if (page == NULL)
        return scrape_routes_busy(request);
    const char *why;
    unsigned refused = scrape_routes_names_of(request, page, &why);
    if (refused != 0 || crest_scrape_server_make(server, page) != 0) {
        crest_scrape_page_free(page);
        return refused != 0 ? scrape_routes_say(request, refused, why, NULL, NULL)
                            : scrape_routes_busy(request);
    }
    return scrape_routes_await(request, page);
}

/* Answers a HEAD without a page: the client wants the headers only, and never gets a length. */
static enum MHD_Result scrape_routes_metrics(scrape_routes_request *request, int head)
{
    scrape_routes_header header;
    crest_format format = crest_format_negotiate(
        scrape_routes_header_of(request, &header, "Accept"), &request->content_type);
    const char *codings = scrape_routes_header_of(request, &header, "Accept-Encoding");
    int gzip = request->server->settings->gzip && crest_scrape_wants_gzip(codings);
    if (!gzip && crest_scrape_refuses_identity(codings))
        return scrape_routes_say(request, MHD_HTTP_NOT_ACCEPTABLE,
                                 "The page can be had as it is, or with gzip unless that is "
                                 "switched off (prometheus.gzip)\n",
                                 NULL, NULL);
    return head ? scrape_routes_send_page(request, MHD_SIZE_UNKNOWN, gzip)
                : scrape_routes_make(request, format, gzip);
}

/* ---- requests ---- */

static int scrape_routes_has_body(struct MHD_Connection *connection)
{
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding") != NULL ||
           (length != NULL && length[strspn(length, "0 ")] != '\0');
}

/* Refuses a request that is no GET or HEAD, or has a body. */
static enum MHD_Result scrape_routes_refuse(scrape_routes_request *request, int allowed)
{
    const crest_scrape_other *other = request->server->settings->other;
    if (other != NULL && other->posted != NULL && request->path != NULL &&
        strcmp(request->path, other->posted) == 0)
        return scrape_routes_say(request, MHD_HTTP_OK, other->posted_answer, NULL, NULL);
    if (allowed)
        return scrape_routes_say(request, MHD_HTTP_CONTENT_TOO_LARGE,
                                 "A request with a body is not answered here\n", NULL, NULL);
    return scrape_routes_say(request, MHD_HTTP_METHOD_NOT_ALLOWED,
                             "Only GET and HEAD are answered here\n", "Allow", "GET, HEAD");
}

/* A page of crest_scrape_other. */
static enum MHD_Result scrape_routes_other(scrape_routes_request *request, const char *path,
                                           int head)
{
    crest_scrape_server *server = request->server;
    const crest_scrape_other *other = server->settings->other;
    const char *why = "";
    uint64_t deadline_ns =
        request->began_ns + server->settings->timeout_ms * SCRAPE_ROUTES_NS_PER_MS;
    crest_scrape_page *page =
        server->making < server->settings->concurrency && !head
            ? crest_scrape_page_new(server->settings, server->registry,
                                    CREST_FORMAT_PROMETHEUS_TEXT, 0, deadline_ns, server->wake)
            : NULL;
    if (page == NULL)
        return head ? scrape_routes_refuse(request, 0) : scrape_routes_busy(request);
    unsigned refused = other->ask(page, path, request->connection, &why);
    if (refused == 0) {
        page->pipe.gzip = page->packed;
        page->pipe.deadline_ns += page->lasts_ns;
        request->content_type = page->type;
        if (crest_scrape_server_make(server, page) == 0)
            return scrape_routes_await(request, page);
        other->forget(page);
    }
    crest_scrape_page_free(page);
    if (refused == 0)
        return scrape_routes_busy(request);
    return scrape_routes_say(request, refused, why,
                             refused == MHD_HTTP_TOO_MANY_REQUESTS ? "Retry-After" : NULL, "10");
}

static enum MHD_Result scrape_routes_route(scrape_routes_request *request, int head)
{
    const char *path = request->path != NULL ? request->path : "";
    if (request->is_page)
        return scrape_routes_metrics(request, head);
    if (strcmp(path, "/-/healthy") == 0)
        return scrape_routes_say(request, MHD_HTTP_OK, "Healthy\n", NULL, NULL);
    if (request->server->settings->other != NULL)
        return scrape_routes_other(request, path, head);
    if (strcmp(path, "/") == 0)
        return scrape_routes_index(request);
    if (strcmp(path, "/spans") == 0)
        return scrape_routes_spans(request);
    return scrape_routes_say(request, MHD_HTTP_NOT_FOUND,
                             "There is nothing here; the metrics are at /metrics\n", NULL, NULL);
}

/* Counts Hosts, and keeps one. */
typedef struct scrape_routes_hosts {
    unsigned count;
    const char *host;
} scrape_routes_hosts;

static enum MHD_Result scrape_routes_host(void *cls, enum MHD_ValueKind kind, const char *key,
                                          const char *value)
{
    scrape_routes_hosts *hosts = cls;
    (void)kind;
    if (strcasecmp(key, "Host") == 0) {
        hosts->count++;
        hosts->host = value != NULL ? value : "";
    }
    return MHD_YES;
}

/* Why a request with this target and its Hosts is refused: the status, and *why. 0: it is not.
 * Source: RFC 9112, 3.2; the target's authority takes precedence over the Host. */
static unsigned scrape_routes_misdirected(const crest_scrape_server *server,
                                          struct MHD_Connection *connection, const char *version,
                                          crest_scrape_authority target, const char **why)
{
    scrape_routes_hosts hosts = {0, NULL};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, scrape_routes_host, &hosts);
    *why = "A request has one Host, and in HTTP/1.1 it has to have it\n";
    if (hosts.count > 1 || (hosts.count == 0 && strcmp(version, MHD_HTTP_VERSION_1_1) == 0))
        return MHD_HTTP_BAD_REQUEST;
    crest_scrape_authority host = target;
    if (host.text == NULL)
        host = (crest_scrape_authority){hosts.host != NULL ? hosts.host : "",
                                        hosts.host != NULL ? strlen(hosts.host) : 0};
    *why = "This Host is none: it is a name or an address, and perhaps a port\n";
    if (!crest_scrape_authority_valid(host))
        return MHD_HTTP_BAD_REQUEST;
    *why = server->settings->other != NULL ? server->settings->other->foreign
                                           : CREST_SCRAPE_FOREIGN "prometheus.hosts=NAME\n";
    return !server->listener.loopback || crest_scrape_authority_is_loopback(host) ||
                   crest_scrape_authority_is_listed(host, server->settings->hosts)
               ? 0
               : MHD_HTTP_FORBIDDEN;
}

/* The first call, when the headers have come. An answer given here is the last of its connection,
 * so that a body need not be read. Everything else waits for the next call. */
static enum MHD_Result scrape_routes_begin(crest_scrape_server *server,
                                           struct MHD_Connection *connection, const char *url,
                                           const char *version, int allowed, void **state)
{
    scrape_routes_request *request =
        crest_scrape_connections_refused(connection) ? NULL : calloc(1, sizeof *request);
    if (request == NULL)
        return MHD_NO;
    *state = request;
    request->server = server;
    request->connection = connection;
    request->began_ns = crest_scrape_now_ns();
    crest_scrape_authority target;
    request->path = crest_scrape_target_path(url, &target);
    request->is_page = request->path != NULL && strcmp(request->path, "/metrics") == 0 &&
                       server->settings->other == NULL;
    crest_scrape_connections_answering(connection, request->began_ns + SCRAPE_ROUTES_ANSWER_MS *
                                                                           SCRAPE_ROUTES_NS_PER_MS);
    const char *why;
    unsigned refused = scrape_routes_misdirected(server, connection, version, target, &why);
    if (refused != 0)
        return scrape_routes_say(request, refused, why, NULL, NULL);
    return allowed && !scrape_routes_has_body(connection) ? MHD_YES
                                                          : scrape_routes_refuse(request, allowed);
}

/* Always NULL. */
static void *scrape_routes_uri(void *cls, const char *uri, struct MHD_Connection *connection)
{
    static const char answer[] = "HTTP/1.1 414 URI Too Long\r\nConnection: close\r\n"
                                 "Content-Type: text/plain\r\nContent-Length: 38\r\n"
                                 "X-Content-Type-Options: nosniff\r\n\r\n"
                                 "The path and the query are too long.\r\n";
    static const char zero[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"
                               "Content-Type: text/plain\r\nContent-Length: 33\r\n"
                               "X-Content-Type-Options: nosniff\r\n\r\n"
                               "The path has a zero byte in it.\r\n";
    (void)cls;
    unsigned arguments = 1;
    for (const char *at = strchr(uri, '&'); at != NULL; at = strchr(at + 1, '&'))
        arguments++;
    if (arguments > CREST_PAGE_NAMES_MAX ||
        strnlen(uri, CREST_PROMETHEUS_URL_BYTES_MAX + 1) > CREST_PROMETHEUS_URL_BYTES_MAX)
        crest_scrape_connections_refuse(connection, answer, sizeof answer - 1);
    else if (crest_scrape_target_has_nul(uri))
        crest_scrape_connections_refuse(connection, zero, sizeof zero - 1);
    return NULL;
}

static enum MHD_Result scrape_routes_handle(void *cls, struct MHD_Connection *connection,
                                            const char *url, const char *method,
                                            const char *version, const char *upload_data,
                                            size_t *upload_data_size, void **state)
{
    scrape_routes_request *request = *state;
    (void)upload_data;
    (void)upload_data_size; /* always 0: a client that announced a body was refused */
    int head = strcmp(method, "HEAD") == 0;
    if (request == NULL)
        return scrape_routes_begin(cls, connection, url, version,
                                   head || strcmp(method, "GET") == 0, state);
    return request->page != NULL ? scrape_routes_resumed(request)
                                 : scrape_routes_route(request, head);
}

static void scrape_routes_completed(void *cls, struct MHD_Connection *connection, void **state,
                                    enum MHD_RequestTerminationCode how)
{
    scrape_routes_request *request = *state;
    (void)cls;
    if (request == NULL)
        return;
    *state = NULL;
    crest_scrape_connections_answered(connection);
    if (request->is_page) {
        unsigned code =
            how == MHD_REQUEST_TERMINATED_COMPLETED_OK ? request->code : CREST_SCRAPE_BROKEN_OFF;
        uint64_t took_ns = crest_scrape_now_ns() - request->began_ns;
        crest_scrape_figures_scrape(code, request->page != NULL ? took_ns : 0, request->bytes);
    }
    if (request->page != NULL)
        crest_scrape_server_drop(request->page);
    free(request);
}

const crest_scrape_handlers crest_scrape_routes = {
    .uri = scrape_routes_uri,
    .handle = scrape_routes_handle,
    .completed = scrape_routes_completed,
};
