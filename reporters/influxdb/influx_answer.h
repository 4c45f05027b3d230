/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What InfluxDB's answer to a /write means, in words an operator can act on. Pure.
 *
 *     204                              written
 *     400 "partial write: … dropped=N" the rest of the body was written, so it is not sent again
 *     429, 500 and above               the server has a problem, and the next try may succeed
 *     anything else                    the body was refused
 *
 * Source of the texts: influxdata/influxdb 1.6 services/httpd/handler.go and tsdb/shard.go; tried
 * with 1.6.7.
 */
#ifndef CREST_REPORTERS_INFLUX_ANSWER_H
#define CREST_REPORTERS_INFLUX_ANSWER_H

#include "http/http_transport.h"

/* Bytes of the server's own words that are kept. */
#define CREST_INFLUX_ANSWER_WORDS_BYTES 320u

typedef struct crest_influx_answer {
    int partial;      /* some points of the body were refused, the others are written */
    uint64_t dropped; /* how many, as the server says; at least 1 where it does not */
    char words[CREST_INFLUX_ANSWER_WORDS_BYTES]; /* why, fit to show */
} crest_influx_answer;

/* CREST_OK for what is written, in part too; CREST_UNREACHABLE; CREST_REFUSED. `shown` is the URL
 * as messages show it, `database` what was written to. */
crest_status crest_influx_answer_check(const crest_http_answer *answer, const char *shown,
                                       const char *database, crest_influx_answer *meant,
                                       crest_error *error);

#endif
