/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private struct of an InfluxDB reporter, for the two files that make it: influxdb_options.c,
 * which sets it up, and influxdb.c, which reports.
 */
#ifndef CREST_REPORTERS_INFLUXDB_REPORTER_H
#define CREST_REPORTERS_INFLUXDB_REPORTER_H

#include "influxdb/influx_line.h"
#include "influxdb/influx_sink.h"

#include <pthread.h>

typedef struct influxdb_reporter {
    crest_reporter reporter; /* first: what the caller holds */
    crest_influx_form form;
    uint64_t unit_ns; /* of timestamps */
    crest_influx_sink *sink;
    /* held during a report (trylock only); guards the fields below */
    pthread_mutex_t one_at_a_time;
    crest_influx_line *line;
    uint64_t last;    /* the latest timestamp that was sent, in units */
    uint64_t pending; /* of the first report that failed since one arrived; 0: none did */
    int told;         /* the log knows that the server refuses lines */
} influxdb_reporter;

crest_status crest_influxdb_report(crest_reporter *self, const crest_report *report,
                                   crest_error *error);

#endif
