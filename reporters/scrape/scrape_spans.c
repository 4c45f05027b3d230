/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring of kept spans behind /spans. See scrape_spans.h.
 *
 *     tracing thread    take: writes each span's line; lines that are in the way go, oldest first
 *     server's thread   copies all lines
 *
 * Under the lock, `start` is where the oldest line begins, and `used` bytes from there on, around
 * the end, are whole lines. A child of a fork has the lock in any state, and begins anew.
 */
#include "scrape/scrape_spans.h"
#include "scrape/scrape_target.h"
#include "json/span_line.h"

#include <crest/span.h>

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

/* A line that is longer is left out: of 16 it would push out all others. */
#define SPANS_LINE_MAX (CREST_SCRAPE_SPANS_BYTES / 16)

static crest_status spans_take(crest_span_exporter *self, const crest_span_batch *batch,
                               crest_error *error);

static pthread_mutex_t spans_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the rest */
static crest_span_exporter spans_exporter = {.name = "spans-page", .take = spans_take, .prompt = 1};
static char *spans_bytes;
static size_t spans_start, spans_used;
static unsigned spans_users;
static pid_t spans_process;

typedef struct spans_line {
    size_t length;
    char bytes[SPANS_LINE_MAX];
} spans_line;

/* A crest_write_fn; stops where the line is too long. */
static int spans_write(void *context, const void *bytes, size_t length)
{
    spans_line *line = context;
    if (length > sizeof line->bytes - line->length)
        return -1;
    memcpy(line->bytes + line->length, bytes, length);
    line->length += length;
    return 0;
}

/* Takes the oldest line out. */
static void spans_drop(void)
{
    while (spans_used != 0) {
        char last = spans_bytes[spans_start];
        spans_start = (spans_start + 1) % CREST_SCRAPE_SPANS_BYTES;
        spans_used--;
        if (last == '\n')
            return;
    }
}

static void spans_put(const spans_line *line)
{
    while (line->length > CREST_SCRAPE_SPANS_BYTES - spans_used)
        spans_drop();
    size_t at = (spans_start + spans_used) % CREST_SCRAPE_SPANS_BYTES;
    size_t first = CREST_SCRAPE_SPANS_BYTES - at;
    if (first > line->length)
        first = line->length;
    memcpy(spans_bytes + at, line->bytes, first);
    memcpy(spans_bytes, line->bytes + first, line->length - first);
    spans_used += line->length;
}

static crest_status spans_take(crest_span_exporter *self, const crest_span_batch *batch,
                               crest_error *error)
{
    spans_line *line = batch->count != 0 ? malloc(sizeof *line) : NULL;
    (void)self;
    if (batch->count == 0)
        return CREST_OK;
    pthread_mutex_lock(&spans_lock);
    if (spans_bytes == NULL)
        spans_bytes = malloc(CREST_SCRAPE_SPANS_BYTES);
    int memory = spans_bytes != NULL && line != NULL;
    for (size_t i = 0; memory && i < batch->count; i++) {
        line->length = 0;
        if (crest_span_line_write(&batch->spans[i], batch->resource, spans_write, line) == 0)
            spans_put(line);
    }
    pthread_mutex_unlock(&spans_lock);
    free(line);
    return memory ? CREST_OK
                  : crest_error_set(error, CREST_NO_MEMORY, "No memory for /spans: %u bytes",
                                    CREST_SCRAPE_SPANS_BYTES);
}

void crest_scrape_spans_begin(void)
{
    if (spans_process != getpid()) { /* the first start, or one in a child, which has no spans */
        pthread_mutex_init(&spans_lock, NULL);
        spans_users = 0;
        spans_bytes = NULL;
        spans_start = spans_used = 0;
        spans_process = getpid();
    }
    pthread_mutex_lock(&spans_lock);
    int first = spans_users++ == 0;
    pthread_mutex_unlock(&spans_lock);
    if (first && crest_span_exporter_add(&spans_exporter) != CREST_OK)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: /spans stays empty: this process has %u "
                        "exporters of spans already",
                        CREST_SPAN_EXPORTERS_MAX);
}

void crest_scrape_spans_end(void)
{
    if (spans_process != getpid())
        return;
    pthread_mutex_lock(&spans_lock);
    int last = spans_users != 0 && --spans_users == 0;
    pthread_mutex_unlock(&spans_lock);
    if (!last)
        return;
    /* not under the lock: it waits for a take that is under way */
    (void)crest_span_exporter_remove(&spans_exporter);
    pthread_mutex_lock(&spans_lock);
    free(spans_bytes);
    spans_bytes = NULL;
    spans_start = spans_used = 0;
    pthread_mutex_unlock(&spans_lock);
}

char *crest_scrape_spans_copy(size_t *length)
{
    pthread_mutex_lock(&spans_lock);
    char *copy = malloc(spans_used + 1);
    size_t first = CREST_SCRAPE_SPANS_BYTES - spans_start;
    if (first > spans_used)
        first = spans_used;
    *length = spans_used;
    if (copy != NULL && spans_used != 0) {
        memcpy(copy, spans_bytes + spans_start, first);
        memcpy(copy + first, spans_bytes, spans_used - first);
    }
    pthread_mutex_unlock(&spans_lock);
    return copy;
}

static int spans_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
    return address->sa_family == AF_INET6 &&
           (IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) ||
            (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) && six->sin6_addr.s6_addr[12] == 127));
}

int crest_scrape_spans_near(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *client =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    return client != NULL && client->client_addr != NULL && host != NULL &&
           spans_is_loopback(client->client_addr) &&
           crest_scrape_authority_is_loopback((crest_scrape_authority){host, strlen(host)});
}
