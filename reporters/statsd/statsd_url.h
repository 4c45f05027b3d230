/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a StatsD server is: addresses as URLs, and Datadog's environment variables. No network.
 */
#ifndef CREST_REPORTERS_STATSD_URL_H
#define CREST_REPORTERS_STATSD_URL_H

#include <crest/statsd.h>

#define CREST_STATSD_PORT_DEFAULT "8125"
/* Bytes of a host name, and of a socket's path: what sockaddr_un holds, NULs included. */
#define CREST_STATSD_HOST_BYTES 256u
#define CREST_STATSD_PATH_BYTES 108u

typedef enum crest_statsd_transport {
    CREST_STATSD_UDP,
    CREST_STATSD_TCP,
    CREST_STATSD_UNIX
} crest_statsd_transport;

typedef struct crest_statsd_url {
    crest_statsd_transport transport;
    char host[CREST_STATSD_HOST_BYTES]; /* without brackets */
    char port[6];
    char path[CREST_STATSD_PATH_BYTES];
    char shown[CREST_STATSD_URL_BYTES_MAX]; /* as messages and labels call it */
} crest_statsd_url;

/* Takes a URL apart; `origin` says in messages where it came from. CREST_INVALID_ARGUMENT. */
crest_status crest_statsd_url_parse(const char *text, const char *origin, crest_statsd_url *url,
                                    crest_error *error);

/* The URL to use when none is given: of Datadog's variables if `datadog`, else the default. */
crest_status crest_statsd_url_default(int datadog, crest_statsd_url *url, crest_error *error);

/* A variable of the environment, but not in a set-user-ID program; NULL if it is not set or "". */
const char *crest_statsd_environment(const char *name);

#endif
