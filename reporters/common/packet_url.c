/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of servers that take packets. See packet_url.h.
 */
#include "common/packet_url.h"
#include "common/shown_text.h"

#include <string.h>

#define PACKET_URL_PORT_MAX 65535u
#define PACKET_URL_SHOWN_BYTES 200u

crest_status crest_packet_url_refuse(const char *text, const char *origin,
                                     const crest_packet_server *server, const char *problem,
                                     crest_error *error)
{
    char shown[PACKET_URL_SHOWN_BYTES];
    crest_push_text_show(text, strlen(text), shown, sizeof shown);
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "The address of the %s \"%s\" (%s) cannot be used: %s. It is something "
                           "like %s",
                           server->name, shown, origin, problem, server->examples);
}

static const char *packet_url_port_problem(const char *port, char to[6])
{
    size_t length = strlen(port);
    unsigned number = 0;
    if (length == 0 || length > 5 || strspn(port, "0123456789") != length)
        return "the port is not a number from 1 to 65535";
    for (size_t i = 0; i < length; i++)
        number = number * 10 + (unsigned)(port[i] - '0');
    if (number == 0 || number > PACKET_URL_PORT_MAX)
        return "the port is not a number from 1 to 65535";
    memcpy(to, port, length + 1);
    return NULL;
}

static int packet_url_host_is_valid(const char *host)
{
    for (const char *c = host; *c != '\0'; c++)
        if (*c <= ' ' || *c >= 0x7f || strchr("/?#@[]\"\\", *c) != NULL)
            return 0;
    return 1;
}

/* HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT; a slash at the end is let be. */
static const char *packet_url_authority_problem(const char *text, const crest_packet_server *server,
                                                crest_packet_url *url)
{
    char copy[CREST_PACKET_URL_BYTES_MAX];
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
    if (strlen(host) >= sizeof url->host || !packet_url_host_is_valid(host))
        return "the host is not the name of one, or there is more than a host and a port";
    memcpy(url->host, host, strlen(host) + 1);
    return packet_url_port_problem(port != NULL ? port : server->port, url->port);
}

static const char *packet_url_path_problem(const char *path, crest_packet_url *url)
{
    if (path[0] != '/')
        return "the path of the socket must be absolute, with three slashes in all";
    if (strlen(path) >= sizeof url->path)
        return "the path of the socket has more than 107 bytes, which is all that a socket's "
               "address holds";
    memcpy(url->path, path, strlen(path) + 1);
    return NULL;
}

crest_status crest_packet_url_parse(const char *text, const char *origin,
                                    const crest_packet_server *server, crest_packet_url *url,
                                    crest_error *error)
{
    static const struct {
        const char *scheme;
        crest_packet_transport transport;
    } schemes[] = {{"udp://", CREST_PACKET_UDP},
                   {"tcp://", CREST_PACKET_TCP},
                   {"unixgram://", CREST_PACKET_UNIX},
                   {"unix://", CREST_PACKET_UNIX}};
    memset(url, 0, sizeof *url);
    url->server = server;
    if (strlen(text) >= CREST_PACKET_URL_BYTES_MAX)
        return crest_packet_url_refuse(text, origin, server, "it is too long", error);
    if (!crest_push_text_valid(text))
        return crest_packet_url_refuse(text, origin, server, "it is not valid UTF-8", error);
    const char *problem = server->schemes_problem;
    for (unsigned i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i].scheme);
        if ((server->transports & 1u << schemes[i].transport) == 0 ||
            strncmp(text, schemes[i].scheme, length) != 0)
            continue;
        url->transport = schemes[i].transport;
        problem = url->transport == CREST_PACKET_UNIX
                      ? packet_url_path_problem(text + length, url)
                      : packet_url_authority_problem(text + length, server, url);
        break;
    }
    if (problem != NULL)
        return crest_packet_url_refuse(text, origin, server, problem, error);
    crest_push_text_show(text, strlen(text), url->shown, sizeof url->shown);
    return CREST_OK;
}
