/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of StatsD servers. See statsd_url.h.
 *
 * Source of the variables and of their order: DataDog/datadog-go statsd/options and README,
 * "DogStatsD client configuration by environment".
 */
#define _GNU_SOURCE
#include "statsd/statsd_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATSD_HOST_DEFAULT "127.0.0.1"

_Static_assert(CREST_PACKET_URL_BYTES_MAX == CREST_STATSD_URL_BYTES_MAX,
               "what <crest/statsd.h> promises");

static const crest_packet_server statsd_server = {
    .name = "StatsD server",
    .port = CREST_STATSD_PORT_DEFAULT,
    .transports = 1u << CREST_PACKET_UDP | 1u << CREST_PACKET_TCP | 1u << CREST_PACKET_UNIX,
    .schemes_problem = "it does not begin with udp://, tcp:// or unix://",
    .examples = "udp://127.0.0.1:8125, tcp://[::1]:8125 or unix:///run/statsd.socket",
    .slower = "or are there more series than statsd.rate allows?",
    .smaller = "choose smaller packets with statsd.packet",
};

const char *crest_statsd_environment(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

crest_status crest_statsd_url_parse(const char *text, const char *origin, crest_packet_url *url,
                                    crest_error *error)
{
    return crest_packet_url_parse(text, origin, &statsd_server, url, error);
}

/* DD_AGENT_HOST: a name or an address; Datadog's own clients take IPv6 without brackets. */
static crest_status statsd_url_agent(const char *host, crest_packet_url *url, crest_error *error)
{
    char text[CREST_STATSD_URL_BYTES_MAX];
    const char *port = crest_statsd_environment("DD_DOGSTATSD_PORT");
    int brackets = strchr(host, ':') != NULL && host[0] != '[';
    if (strstr(host, "://") != NULL)
        return crest_statsd_url_parse(host, "DD_AGENT_HOST", url, error);
    if ((size_t)snprintf(text, sizeof text, "udp://%s%s%s:%s", brackets ? "[" : "", host,
                         brackets ? "]" : "",
                         port != NULL ? port : CREST_STATSD_PORT_DEFAULT) >= sizeof text)
        return crest_packet_url_refuse(host, "DD_AGENT_HOST", &statsd_server, "it is too long",
                                       error);
    return crest_statsd_url_parse(text, "DD_AGENT_HOST and DD_DOGSTATSD_PORT", url, error);
}

crest_status crest_statsd_url_default(int datadog, crest_packet_url *url, crest_error *error)
{
    const char *text = datadog ? crest_statsd_environment("DD_DOGSTATSD_URL") : NULL;
    if (text != NULL)
        return crest_statsd_url_parse(text, "DD_DOGSTATSD_URL", url, error);
    const char *host = datadog ? crest_statsd_environment("DD_AGENT_HOST") : NULL;
    if (host != NULL || (datadog && crest_statsd_environment("DD_DOGSTATSD_PORT") != NULL))
        return statsd_url_agent(host != NULL ? host : STATSD_HOST_DEFAULT, url, error);
    return crest_statsd_url_parse("udp://" STATSD_HOST_DEFAULT ":" CREST_STATSD_PORT_DEFAULT,
                                  "the default", url, error);
}
