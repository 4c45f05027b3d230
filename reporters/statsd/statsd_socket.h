/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport of the StatsD reporter: sends packets to an address, each before a deadline, and
 * accounts for the bytes that have arrived. Knows bytes, not lines.
 *
 *     crest_statsd_socket *to = crest_statsd_socket_new(&url, 1000, &error);
 *     if (crest_statsd_socket_open(to, deadline_ns, &error) == CREST_OK &&
 *         crest_statsd_socket_send(to, bytes, length, deadline_ns, &error) == CREST_OK)
 *         crest_statsd_socket_settle(to, deadline_ns, &error);
 *     ... to->confirmed of to->offered bytes have arrived ...
 *     crest_statsd_socket_free(to);
 *
 * When bytes count as arrived (confirmed):
 *
 *     Unix datagrams   once sent
 *     UDP              once the next packet is sent; the last packet, when no ICMP answer "port
 *                      closed" has come within CREST_STATSD_DOUBT_MS. An answer that comes later
 *                      fails the next packet, which is then not sent either.
 *     TCP              once the server's host has acknowledged them
 *
 * After a failure, bytes that are not confirmed have not arrived and will not. Except: a TCP
 * connection that is only late stays, unsettled, until it is resumed or breaks.
 */
#ifndef CREST_REPORTERS_STATSD_SOCKET_H
#define CREST_REPORTERS_STATSD_SOCKET_H

#include "statsd/statsd_url.h"

/* How long the end of a report over UDP waits for an ICMP answer that the port is closed. */
#define CREST_STATSD_DOUBT_MS 5u
/* An address is looked up again after so long. */
#define CREST_STATSD_RESOLVE_S 60u
/* Packets that may be sent at once before the pace holds them back. */
#define CREST_STATSD_BURST 16u

/* Why a packet did not go out; the words are the `cause` of crest.statsd-dropped-packets. */
typedef enum crest_statsd_cause {
    CREST_STATSD_REFUSED,     /* no server listens */
    CREST_STATSD_UNREACHABLE, /* no address, no path, no route */
    CREST_STATSD_TIMED_OUT,   /* the deadline: a full socket, the pace, a slow name server */
    CREST_STATSD_BROKEN,      /* anything else */
    CREST_STATSD_CAUSES
} crest_statsd_cause;
extern const char *const crest_statsd_cause_names[CREST_STATSD_CAUSES];

typedef struct crest_statsd_socket {
    uint64_t offered, confirmed; /* bytes since it was made, less what failures have taken back */
    crest_statsd_cause cause;    /* of the last failure */
    struct statsd_connection *inside;
} crest_statsd_socket;

/* `rate` packets a second over UDP, 0: no pace. CREST_NO_MEMORY, CREST_SYSTEM. */
crest_statsd_socket *crest_statsd_socket_new(const crest_statsd_url *url, unsigned rate,
                                             crest_error *error);
void crest_statsd_socket_free(crest_statsd_socket *to);

/* Ensures a connection, to an address that is not older than
 * CREST_STATSD_RESOLVE_S. All three: CREST_UNREACHABLE, CREST_TIMED_OUT, CREST_IO, CREST_NO_MEMORY,
 * CREST_SYSTEM, with *error filled; the connection is then closed, unless it is unsettled. */
crest_status crest_statsd_socket_open(crest_statsd_socket *to, uint64_t deadline_ns,
                                      crest_error *error);

/* Hands out a packet, not faster than the pace. A datagram is sent again over a new connection when
 * the old one's receiver has gone, once. */
crest_status crest_statsd_socket_send(crest_statsd_socket *to, const void *bytes, size_t length,
                                      uint64_t deadline_ns, crest_error *error);

/* Waits until all that was offered is confirmed. */
crest_status crest_statsd_socket_settle(crest_statsd_socket *to, uint64_t deadline_ns,
                                        crest_error *error);

/* Whether a late TCP connection has something that may still arrive. The bytes of the packet that
 * was being sent then have to stay where they are, and nothing else may be sent before _resume. */
int crest_statsd_socket_unsettled(const crest_statsd_socket *to);

/* Continues it: as _send and _settle, which may leave it unsettled again. */
crest_status crest_statsd_socket_resume(crest_statsd_socket *to, uint64_t deadline_ns,
                                        crest_error *error);

/* Makes a call that waits end with CREST_TIMED_OUT, and those after it until _rearm. Any thread;
 * does not block. */
void crest_statsd_socket_cancel(crest_statsd_socket *to);
void crest_statsd_socket_rearm(crest_statsd_socket *to);

#endif
