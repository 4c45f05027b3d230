/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of StatsD servers. See statsd_url.h.
 *
 * Source of the variables and of their order: DataDog/datadog-go statsd/options and README,
 * "DogStatsD client configuration by environment".
 */
#define _GNU_SOURCE
#include "statsd/statsd_url.h"
#include "common/shown_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATSD_HOST_DEFAULT "127.0.0.1"
#define STATSD_PORT_MAX 65535u
#define STATSD_SHOWN_BYTES 200u

const char *crest_statsd_environment(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static crest_status statsd_url_refuse(const char *text, const char *origin, const char *problem,
                                      crest_error *error)
{
    char shown[STATSD_SHOWN_BYTES];
    crest_push_text_show(text, strlen(text), shown, sizeof shown);
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "The address of the StatsD server \"%s\" (%s) cannot be used: %s. It is "
                           "something like udp://127.0.0.1:8125, tcp://[::1]:8125 or "
                           "unix:///run/statsd.socket",
                           shown, origin, problem);
}

static const char *statsd_port_problem(const char *port, char to[6])
{
    size_t length = strlen(port);
    unsigned number = 0;
    if (length == 0 || length > 5 || strspn(port, "0123456789") != length)
        return "the port is not a number from 1 to 65535";
    for (size_t i = 0; i < length; i++)
        number = number * 10 + (unsigned)(port[i] - '0');
    if (number == 0 || number > STATSD_PORT_MAX)
        return "the port is not a number from 1 to 65535";
    memcpy(to, port, length + 1);
    return NULL;
}

static int statsd_host_is_valid(const char *host)
{
    for (const char *c = host; *c != '\0'; c++)
        if (*c <= ' ' || *c >= 0x7f || strchr("/?#@[]\"\\", *c) != NULL)
            return 0;
    return 1;
}

/* HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT; a slash at the end is let be. */
static const char *statsd_authority_problem(const char *text, crest_statsd_url *url)
{
    char copy[CREST_STATSD_URL_BYTES_MAX];
    size_t length = strlen(text);
    memcpy(copy, text, length + 1);
    if (length > 0 && copy[length - 1] == '/')
        copy[--length] = '\0';
    char *host = copy, *port = strrchr(copy, ':');
    if (copy[0] == '[') {
        char *close = strchr(copy, ']');
        if (close == NULL || close == copy + 1)
            return "the IPv6 address in brackets is not complete";
        if (close[1] != '\0' && close[1] != ':')
            return "only a port may follow the IPv6 address";
        port = close[1] == ':' ? close + 1 : NULL;
        *close = '\0';
        host = copy + 1;
        if (strchr(host, ':') == NULL)
            return "what is in the brackets is no IPv6 address";
    } else if (port != strchr(copy, ':')) {
        return "an IPv6 address belongs in brackets";
    }
    if (port != NULL)
        *port++ = '\0';
    if (host[0] == '\0')
        return "there is no host in it";
    if (strlen(host) >= sizeof url->host || !statsd_host_is_valid(host))
        return "the host is not the name of one, or there is more than a host and a port";
    memcpy(url->host, host, strlen(host) + 1);
    return statsd_port_problem(port != NULL ? port : CREST_STATSD_PORT_DEFAULT, url->port);
}

static const char *statsd_path_problem(const char *path, crest_statsd_url *url)
{
    if (path[0] != '/')
        return "the path of the socket must be absolute, with three slashes in all";
    if (strlen(path) >= sizeof url->path)
        return "the path of the socket has more than 107 bytes, which is all that a socket's "
               "address holds";
    memcpy(url->path, path, strlen(path) + 1);
    return NULL;
}

crest_status crest_statsd_url_parse(const char *text, const char *origin, crest_statsd_url *url,
                                    crest_error *error)
{
    static const struct {
        const char *scheme;
        crest_statsd_transport transport;
    } schemes[] = {{"udp://", CREST_STATSD_UDP},
                   {"tcp://", CREST_STATSD_TCP},
                   {"unixgram://", CREST_STATSD_UNIX},
                   {"unix://", CREST_STATSD_UNIX}};
    memset(url, 0, sizeof *url);
    if (strlen(text) >= CREST_STATSD_URL_BYTES_MAX)
        return statsd_url_refuse(text, origin, "it is too long", error);
    if (!crest_push_text_valid(text))
        return statsd_url_refuse(text, origin, "it is not valid UTF-8", error);
    const char *problem = "it does not begin with udp://, tcp:// or unix://";
    for (unsigned i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i].scheme);
        if (strncmp(text, schemes[i].scheme, length) != 0)
            continue;
        url->transport = schemes[i].transport;
        problem = url->transport == CREST_STATSD_UNIX
                      ? statsd_path_problem(text + length, url)
                      : statsd_authority_problem(text + length, url);
        break;
    }
    if (problem != NULL)
        return statsd_url_refuse(text, origin, problem, error);
    crest_push_text_show(text, strlen(text), url->shown, sizeof url->shown);
    return CREST_OK;
}

/* DD_AGENT_HOST: a name or an address; Datadog's own clients take IPv6 without brackets. */
static crest_status statsd_url_agent(const char *host, crest_statsd_url *url, crest_error *error)
{
    char text[CREST_STATSD_URL_BYTES_MAX];
    const char *port = crest_statsd_environment("DD_DOGSTATSD_PORT");
    int brackets = strchr(host, ':') != NULL && host[0] != '[';
    if (strstr(host, "://") != NULL)
        return crest_statsd_url_parse(host, "DD_AGENT_HOST", url, error);
    if ((size_t)snprintf(text, sizeof text, "udp://%s%s%s:%s", brackets ? "[" : "", host,
                         brackets ? "]" : "",
                         port != NULL ? port : CREST_STATSD_PORT_DEFAULT) >= sizeof text)
        return statsd_url_refuse(host, "DD_AGENT_HOST", "it is too long", error);
    return crest_statsd_url_parse(text, "DD_AGENT_HOST and DD_DOGSTATSD_PORT", url, error);
}

crest_status crest_statsd_url_default(int datadog, crest_statsd_url *url, crest_error *error)
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
