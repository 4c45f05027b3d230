/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of servers that take packets of lines, as URLs: udp://HOST:PORT, tcp://HOST:PORT,
 * unix:///PATH. Pure functions of their arguments; no network, no allocation.
 */
#ifndef CREST_REPORTERS_PACKET_URL_H
#define CREST_REPORTERS_PACKET_URL_H

#include <crest/status.h>

#define CREST_PACKET_URL_BYTES_MAX 1024u
/* Bytes of a host name, and of a socket's path: what sockaddr_un holds, NULs included. */
#define CREST_PACKET_HOST_BYTES 256u
#define CREST_PACKET_PATH_BYTES 108u

typedef enum crest_packet_transport {
    CREST_PACKET_UDP,
    CREST_PACKET_TCP,
    CREST_PACKET_UNIX
} crest_packet_transport;

/* A kind of server, and what messages say of it; constant, borrowed for ever. */
typedef struct crest_packet_server {
    const char *name;            /* "StatsD server" */
    const char *port;            /* where a URL has none */
    unsigned transports;         /* 1 << transport of each that it takes */
    const char *schemes_problem; /* "it does not begin with udp:// …" */
    const char *examples;        /* of its URLs */
    const char *slower;          /* what may be too slow: "… than statsd.rate allows" */
    const char *smaller;         /* how packets are made smaller */
} crest_packet_server;

typedef struct crest_packet_url {
    const crest_packet_server *server;
    crest_packet_transport transport;
    char host[CREST_PACKET_HOST_BYTES]; /* without brackets */
    char port[6];
    char path[CREST_PACKET_PATH_BYTES];
    char shown[CREST_PACKET_URL_BYTES_MAX]; /* as messages and labels call it */
} crest_packet_url;

/* Takes a URL apart; `origin` says in messages where it came from. CREST_INVALID_ARGUMENT. */
crest_status crest_packet_url_parse(const char *text, const char *origin,
                                    const crest_packet_server *server, crest_packet_url *url,
                                    crest_error *error);

/* CREST_INVALID_ARGUMENT, with a message that says what is wrong with the text. */
crest_status crest_packet_url_refuse(const char *text, const char *origin,
                                     const crest_packet_server *server, const char *problem,
                                     crest_error *error);

#endif
