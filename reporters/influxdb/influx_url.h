/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address of a /write: from a server's URL, a database and a retention policy. Pure; no
 * network, no allocation.
 *
 *     http://user:word@host:8086/prefix/rnode
 *         -> http://user:word@host:8086/prefix/write?db=rnode&precision=ms
 */
#ifndef CREST_REPORTERS_INFLUX_URL_H
#define CREST_REPORTERS_INFLUX_URL_H

#include <crest/influxdb.h>

/* Bytes of the address: the URL's, and of both names three for each byte. */
#define CREST_INFLUX_WRITE_URL_BYTES                                                               \
    (CREST_INFLUXDB_URL_BYTES_MAX + 6u * CREST_INFLUXDB_NAME_BYTES_MAX + 64u)

typedef struct crest_influx_url {
    char write[CREST_INFLUX_WRITE_URL_BYTES]; /* user and password included */
    char shown[CREST_INFLUX_WRITE_URL_BYTES]; /* without */
    char database[CREST_INFLUXDB_NAME_BYTES_MAX + 1];
} crest_influx_url;

/* Non-zero for udp://. */
int crest_influx_url_is_udp(const char *url);

/* The word of /write for a precision that is not the default. */
const char *crest_influx_precision_word(crest_influxdb_precision precision);

/* CREST_INVALID_ARGUMENT or CREST_LIMIT with a message that never shows a password. */
crest_status crest_influx_url_make(const crest_influxdb_options *options, crest_influx_url *made,
                                   crest_error *error);

#endif
