/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report of this node costs by each way that its figures can go: its bytes, and the
 * processor's time of the thread that makes it, the snapshot included. Pages and OTLP are made as
 * their reporters make them; StatsD and InfluxDB's lines are sent, to a socket of this process:
 * StatsD sends what happened since the report before, one second ago.
 */
#include <crest/crest.h>
#include <crest/influxdb.h>
#include <crest/otlp.h>
#include <crest/statsd.h>
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "node_report.h"
#include "node_ways.h"

/* The cheapest of some is shown: another program's turn is not the report's cost. */
#define WAYS_RUNS 7
#define WAYS_PATH_BYTES 256
#define WAYS_PAUSE_MS 1000
#define WAYS_DEADLINE_MS 10000
#define WAYS_PACKET_BYTES 65536

typedef struct ways_sink {
    FILE *file; /* NULL: the bytes are only counted */
    uint64_t bytes;
} ways_sink;

/* A way that is a function of the snapshot; 0, or -1 when it could not be written. */
typedef int ways_encode(const crest_snapshot *snapshot, ways_sink *sink);

static uint64_t ways_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * NODE_NS_PER_S + (uint64_t)now.tv_nsec;
}

static int ways_take(ways_sink *sink, const void *bytes, size_t length)
{
    sink->bytes += length;
    return sink->file != NULL && fwrite(bytes, 1, length, sink->file) != length ? -1 : 0;
}

static int ways_take_piece(void *context, const void *bytes, size_t length)
{
    return ways_take(context, bytes, length);
}

static int ways_take_body(void *context, const crest_otlp_body *body)
{
    return ways_take(context, body->bytes, body->length);
}

static int ways_page(const crest_snapshot *snapshot, crest_format format, int native,
                     ways_sink *sink)
{
    crest_page_options options = {.native = native};
    return crest_snapshot_write(snapshot, format, &options, ways_take_piece, sink, NULL) ==
                   CREST_OK
               ? 0
               : -1;
}

static int ways_text(const crest_snapshot *snapshot, ways_sink *sink)
{
    return ways_page(snapshot, CREST_FORMAT_PROMETHEUS_TEXT, 0, sink);
}

static int ways_both(const crest_snapshot *snapshot, ways_sink *sink)
{
    return ways_page(snapshot, CREST_FORMAT_PROMETHEUS_PROTOBUF, CREST_PAGE_NATIVE_ON, sink);
}

static int ways_native(const crest_snapshot *snapshot, ways_sink *sink)
{
    return ways_page(snapshot, CREST_FORMAT_PROMETHEUS_PROTOBUF, CREST_PAGE_NATIVE_ONLY, sink);
}

static int ways_otlp_as(const crest_snapshot *snapshot, crest_otlp_encoding encoding,
                        crest_otlp_histograms histograms, ways_sink *sink)
{
    crest_otlp_options options = {.encoding = encoding, .histograms = histograms};
    return crest_otlp_write(snapshot, &options, ways_take_body, sink, NULL) == CREST_OK ? 0 : -1;
}

static int ways_otlp(const crest_snapshot *snapshot, ways_sink *sink)
{
    return ways_otlp_as(snapshot, CREST_OTLP_PROTOBUF, CREST_OTLP_EXPONENTIAL, sink);
}

static int ways_otlp_explicit(const crest_snapshot *snapshot, ways_sink *sink)
{
    return ways_otlp_as(snapshot, CREST_OTLP_PROTOBUF, CREST_OTLP_EXPLICIT, sink);
}

static int ways_otlp_json(const crest_snapshot *snapshot, ways_sink *sink)
{
    return ways_otlp_as(snapshot, CREST_OTLP_JSON, CREST_OTLP_EXPONENTIAL, sink);
}

static FILE *ways_open(const char *folder, const char *name)
{
    char path[WAYS_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s.way", folder, name);
    FILE *file = fopen(path, "we");
    if (file == NULL)
        node_say("cannot write '%s': %s", path, strerror(errno));
    return file;
}

static void ways_print(report *r, const char *name, uint64_t bytes, uint64_t cpu_ns)
{
    report_member(r, name, "{\"bytes\":%" PRIu64 ",\"cpu_us\":%.1f}", bytes,
                  (double)cpu_ns / 1000.0);
}

/* One way: what it costs, and its body. */
static void ways_show(report *r, const char *folder, const char *name, ways_encode *encode)
{
    ways_sink sink = {0};
    uint64_t best_ns = UINT64_MAX;
    for (int run = 0; run < WAYS_RUNS; run++) {
        uint64_t began_ns = ways_cpu_ns();
        crest_snapshot *snapshot = crest_snapshot_take(NULL);
        sink = (ways_sink){0};
        if (snapshot == NULL || encode(snapshot, &sink) != 0)
            best_ns = 0;
        crest_snapshot_free(snapshot);
        uint64_t took_ns = ways_cpu_ns() - began_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
    crest_snapshot *snapshot = crest_snapshot_take(NULL);
    sink = (ways_sink){.file = ways_open(folder, name)};
    if (snapshot != NULL && sink.file != NULL && encode(snapshot, &sink) == 0)
        ways_print(r, name, sink.bytes, best_ns);
    crest_snapshot_free(snapshot);
    if (sink.file != NULL)
        fclose(sink.file);
}

/* ---- what is sent packet by packet ---- */

/* The server: reads packets until one comes that is empty. */
typedef struct ways_server {
    int socket;
    struct sockaddr_storage address;
    socklen_t address_length;
    ways_sink sink;
} ways_server;

static void *ways_serve(void *context)
{
    ways_server *server = context;
    static char packet[WAYS_PACKET_BYTES];
    ssize_t length;
    while ((length = recv(server->socket, packet, sizeof packet, 0)) > 0)
        if (ways_take(&server->sink, packet, (size_t)length) != 0 ||
            ways_take(&server->sink, "\n", packet[length - 1] != '\n') != 0)
            node_say("a packet could not be written: %s", strerror(errno));
    return NULL;
}

/* One report, read by a thread meanwhile; what it cost the sender. 0: it failed. */
static uint64_t ways_send(crest_reporter *reporter, const crest_snapshot *previous,
                          const crest_snapshot *snapshot, ways_server *server)
{
    static const crest_resource nothing = {"", "", "", NULL, 0};
    crest_error error;
    pthread_t thread;
    crest_report what = {.snapshot = snapshot, .previous = previous, .resource = &nothing,
                         .deadline_ns = crest_now() + WAYS_DEADLINE_MS * NODE_NS_PER_MS};
    if (pthread_create(&thread, NULL, ways_serve, server) != 0)
        return 0;
    uint64_t began_ns = ways_cpu_ns();
    crest_status status = reporter->report(reporter, &what, &error);
    uint64_t took_ns = ways_cpu_ns() - began_ns;
    int end = socket(server->address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sendto(end, "", 0, 0, (const struct sockaddr *)&server->address, server->address_length);
    close(end);
    pthread_join(thread, NULL);
    if (status != CREST_OK)
        node_say("no report by %s: %s", reporter->name, error.message);
    return status == CREST_OK ? took_ns : 0;
}

/* Two reports, WAYS_PAUSE_MS apart: the first says all that happened since the node began. */
static void ways_sent(report *r, const char *folder, const char *name, crest_reporter *reporter,
                      ways_server *server)
{
    crest_snapshot *first = crest_snapshot_take(NULL), *second = NULL;
    if (reporter != NULL && first != NULL && ways_send(reporter, NULL, first, server) != 0) {
        poll(NULL, 0, WAYS_PAUSE_MS);
        server->sink = (ways_sink){.file = ways_open(folder, name)};
        uint64_t began_ns = ways_cpu_ns(), cpu_ns = 0;
        second = crest_snapshot_take(NULL);
        uint64_t taken_ns = ways_cpu_ns() - began_ns;
        if (second != NULL && server->sink.file != NULL)
            cpu_ns = ways_send(reporter, first, second, server);
        if (cpu_ns != 0)
            ways_print(r, name, server->sink.bytes, cpu_ns + taken_ns);
        if (server->sink.file != NULL)
            fclose(server->sink.file);
    }
    crest_snapshot_free(first);
    crest_snapshot_free(second);
    crest_reporter_free(reporter);
    close(server->socket);
}

static void ways_statsd(report *r, const char *folder)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char place[] = "/tmp/crest-node-XXXXXX", url[64];
    if (mkdtemp(place) == NULL) {
        node_say("no folder for a socket in /tmp: %s", strerror(errno));
        return;
    }
    snprintf(address.sun_path, sizeof address.sun_path, "%s/statsd", place);
    snprintf(url, sizeof url, "unix://%s/statsd", place);
    ways_server server = {.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
                          .address_length = sizeof address};
    memcpy(&server.address, &address, sizeof address);
    crest_statsd_options options = {.url = url};
    if (bind(server.socket, (struct sockaddr *)&address, sizeof address) == 0)
        ways_sent(r, folder, "statsd", crest_statsd_new(&options, NULL), &server);
    unlink(address.sun_path);
    rmdir(place);
}

static void ways_influxdb(report *r, const char *folder)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ways_server server = {.socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
                          .address_length = sizeof address};
    char url[64];
    if (bind(server.socket, (struct sockaddr *)&address, sizeof address) != 0 ||
        getsockname(server.socket, (struct sockaddr *)&server.address,
                    &server.address_length) != 0)
        return;
    memcpy(&address, &server.address, sizeof address);
    snprintf(url, sizeof url, "udp://127.0.0.1:%d", ntohs(address.sin_port));
    crest_influxdb_options options = {.url = url, .rate = UINT_MAX};
    ways_sent(r, folder, "influxdb", crest_influxdb_new(&options, NULL), &server);
}

void ways_measure(const char *folder)
{
    static const struct {
        const char *name;
        ways_encode *encode;
    } ways[] = {
        {"text", ways_text},           {"both", ways_both},
        {"native", ways_native},       {"otlp", ways_otlp},
        {"otlp_json", ways_otlp_json}, {"otlp_explicit", ways_otlp_explicit},
    };
    report r;
    report_begin(&r, "ways");
    report_series_begin(&r, "ways");
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        ways_show(&r, folder, ways[i].name, ways[i].encode);
    ways_statsd(&r, folder);
    ways_influxdb(&r, folder);
    report_series_end(&r);
    report_print(&r);
}
