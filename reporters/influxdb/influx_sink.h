/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where lines go: over HTTP in bodies, or over UDP in packets. Between begin and end of a report,
 * lines are added; a failure of add or end is the report's.
 *
 *     crest_influx_sink *sink = crest_influx_http_new(options, &url, &error);
 *     if (sink->begin(sink, deadline_ns, &error) == CREST_OK &&
 *         sink->add(sink, line, length, &error) == CREST_OK)
 *         sink->end(sink, &error);
 *     sink->free(sink);
 */
#ifndef CREST_REPORTERS_INFLUX_SINK_H
#define CREST_REPORTERS_INFLUX_SINK_H

#include "influxdb/influx_url.h"

typedef struct crest_influx_sink {
    crest_status (*begin)(struct crest_influx_sink *sink, uint64_t deadline_ns, crest_error *error);
    /* CREST_LIMIT: the line fits into no packet, and was left out */
    crest_status (*add)(struct crest_influx_sink *sink, const char *line, size_t length,
                        crest_error *error);
    crest_status (*end)(struct crest_influx_sink *sink, crest_error *error);
    void (*cancel)(struct crest_influx_sink *sink); /* from any thread */
    void (*free)(struct crest_influx_sink *sink);
    /* of the report under way, reset by begin */
    uint64_t lines, bytes; /* that have arrived */
    uint64_t refused;      /* lines that the server left out, though it took the rest */
    char words[320];       /* why */
    const char *shown;     /* the address as messages and labels have it */
} crest_influx_sink;

/* NULL with *error filled. Options are copied. */
crest_influx_sink *crest_influx_http_new(const crest_influxdb_options *options, crest_error *error);
crest_influx_sink *crest_influx_udp_new(const crest_influxdb_options *options, crest_error *error);

/* CREST_OK unless the address is a name, which no thread can look up with threads=off. */
crest_status crest_influx_udp_start(const crest_influx_sink *sink, crest_error *error);

#endif
