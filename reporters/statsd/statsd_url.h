/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a StatsD server is: addresses as URLs, and Datadog's environment variables. No network.
 */
#ifndef CREST_REPORTERS_STATSD_URL_H
#define CREST_REPORTERS_STATSD_URL_H

#include "common/packet_url.h"

#include <crest/statsd.h>

#define CREST_STATSD_PORT_DEFAULT "8125"

/* Takes a URL apart; `origin` says in messages where it came from. CREST_INVALID_ARGUMENT. */
crest_status crest_statsd_url_parse(const char *text, const char *origin, crest_packet_url *url,
                                    crest_error *error);

/* The URL to use when none is given: of Datadog's variables if `datadog`, else the default. */
crest_status crest_statsd_url_default(int datadog, crest_packet_url *url, crest_error *error);

/* A variable of the environment, but not in a set-user-ID program; NULL if it is not set or "". */
const char *crest_statsd_environment(const char *name);

#endif
