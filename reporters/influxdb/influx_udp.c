/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines in UDP packets. See influx_sink.h.
 */
#include "common/host_lookup.h"
#include "common/line_packet.h"
#include "common/packet_socket.h"
#include "influxdb/influx_sink.h"

#include <crest/family.h>
#include <stdlib.h>
#include <string.h>

CREST_COUNTER_FAMILY(influx_udp_dropped, "crest.influxdb-dropped-packets",
                     "Packets that the InfluxDB reporter could not send.", cause);

static const crest_packet_server influx_udp_server = {
    .name = "InfluxDB server",
    .port = "8089",
    .transports = 1u << CREST_PACKET_UDP,
    .schemes_problem = "it does not begin with http://, https:// or udp://",
    .examples = "http://127.0.0.1:8086/mydb or udp://127.0.0.1:8089",
    .slower = "or are there more series than influxdb.rate allows?",
    .smaller = "choose smaller packets with influxdb.packet",
};

typedef struct influx_udp {
    crest_influx_sink sink; /* first: what the caller holds */
    crest_packet_url url;
    crest_packet_socket *to;
    crest_line_packet packet;
    uint64_t packet_lines;
    uint64_t deadline_ns;
} influx_udp;

static crest_status influx_udp_failed(influx_udp *udp, crest_status status)
{
    crest_counter_inc(influx_udp_dropped_with(crest_packet_cause_names[udp->to->cause]));
    return status;
}

static crest_status influx_udp_begin(crest_influx_sink *sink, uint64_t deadline_ns,
                                     crest_error *error)
{
    influx_udp *udp = (influx_udp *)sink;
    sink->lines = sink->bytes = sink->refused = 0;
    udp->deadline_ns = deadline_ns;
    udp->packet.used = 0;
    udp->packet_lines = 0;
    crest_packet_socket_rearm(udp->to);
    crest_status status = crest_packet_socket_open(udp->to, deadline_ns, error);
    return status == CREST_OK ? CREST_OK : influx_udp_failed(udp, status);
}

static crest_status influx_udp_flush(influx_udp *udp, crest_error *error)
{
    crest_line_packet *packet = &udp->packet;
    if (packet->used == 0)
        return CREST_OK;
    crest_status status =
        crest_packet_socket_send(udp->to, packet->bytes, packet->used, udp->deadline_ns, error);
    if (status != CREST_OK)
        return influx_udp_failed(udp, status);
    udp->sink.lines += udp->packet_lines;
    udp->sink.bytes += packet->used;
    packet->used = 0;
    udp->packet_lines = 0;
    return CREST_OK;
}

/* Packets end their lines as the line itself does. */
static crest_status influx_udp_add(crest_influx_sink *sink, const char *line, size_t length,
                                   crest_error *error)
{
    influx_udp *udp = (influx_udp *)sink;
    crest_status status = CREST_OK;
    if (!crest_line_packet_holds(&udp->packet, length - 1))
        return CREST_LIMIT;
    if (!crest_line_packet_fits(&udp->packet, length - 1))
        status = influx_udp_flush(udp, error);
    if (status != CREST_OK)
        return status;
    crest_line_packet_add(&udp->packet, line, length - 1);
    udp->packet_lines++;
    return CREST_OK;
}

static crest_status influx_udp_end(crest_influx_sink *sink, crest_error *error)
{
    influx_udp *udp = (influx_udp *)sink;
    crest_status status = influx_udp_flush(udp, error);
    if (status != CREST_OK)
        return status;
    status = crest_packet_socket_settle(udp->to, udp->deadline_ns, error);
    return status == CREST_OK ? CREST_OK : influx_udp_failed(udp, status);
}

static void influx_udp_cancel(crest_influx_sink *sink)
{
    crest_packet_socket_cancel(((influx_udp *)sink)->to);
}

static void influx_udp_free(crest_influx_sink *sink)
{
    influx_udp *udp = (influx_udp *)sink;
    crest_packet_socket_free(udp->to);
    free(udp->packet.bytes);
    free(udp);
}

crest_status crest_influx_udp_start(const crest_influx_sink *sink, crest_error *error)
{
    const influx_udp *udp = (const influx_udp *)sink;
    if (crest_host_is_address(udp->url.host))
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           "The InfluxDB server's host %s is a name, and with threads=off there is "
                           "no thread to look it up: write its address, as udp://127.0.0.1:8089",
                           udp->url.host);
}

static crest_status influx_udp_check(const crest_influxdb_options *options, crest_error *error)
{
    unsigned bytes = options->packet_bytes;
    if (options->database != NULL || options->retention != NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "influxdb.database and influxdb.retention are HTTP's: over UDP the "
                               "server's own configuration says where lines go");
    if (options->user != NULL || options->password_file != NULL || options->password_env != NULL ||
        options->bearer_file != NULL || options->bearer_env != NULL || options->proxy != NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "Users, tokens and proxies are HTTP's; UDP has none of them");
    if (bytes != 0 &&
        (bytes < CREST_INFLUXDB_PACKET_BYTES_MIN || bytes > CREST_INFLUXDB_PACKET_BYTES_MAX))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "InfluxDB packets of %u bytes cannot be; from %u to %u can", bytes,
                               CREST_INFLUXDB_PACKET_BYTES_MIN, CREST_INFLUXDB_PACKET_BYTES_MAX);
    return CREST_OK;
}

crest_influx_sink *crest_influx_udp_new(const crest_influxdb_options *options, crest_error *error)
{
    unsigned rate = options->rate != 0 ? options->rate : CREST_INFLUXDB_RATE_DEFAULT;
    influx_udp *udp = calloc(1, sizeof *udp);
    if (udp == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory for an InfluxDB reporter");
        return NULL;
    }
    udp->sink = (crest_influx_sink){.begin = influx_udp_begin,
                                    .add = influx_udp_add,
                                    .end = influx_udp_end,
                                    .cancel = influx_udp_cancel,
                                    .free = influx_udp_free,
                                    .shown = udp->url.shown};
    udp->packet.size =
        options->packet_bytes != 0 ? options->packet_bytes : CREST_INFLUXDB_PACKET_BYTES_DEFAULT;
    crest_status status = influx_udp_check(options, error);
    if (status == CREST_OK)
        status = crest_packet_url_parse(options->url, "the option influxdb", &influx_udp_server,
                                        &udp->url, error);
    if (status == CREST_OK && (udp->packet.bytes = malloc(udp->packet.size)) == NULL)
        status = crest_error_set(error, CREST_NO_MEMORY, "No memory for an InfluxDB reporter");
    if (status == CREST_OK &&
        (udp->to = crest_packet_socket_new(&udp->url, rate <= CREST_INFLUXDB_RATE_MAX ? rate : 0,
                                           error)) != NULL)
        return &udp->sink;
    influx_udp_free(&udp->sink);
    return NULL;
}
