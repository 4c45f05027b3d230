/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport of reporters that send packets (StatsD, InfluxDB): hands each to an address before
 * a deadline, and accounts for the bytes that have arrived. Knows bytes, not lines.
 *
 *     crest_packet_socket *to = crest_packet_socket_new(&url, 1000, &error);
 *     if (crest_packet_socket_open(to, deadline_ns, &error) == CREST_OK &&
 *         crest_packet_socket_send(to, bytes, length, deadline_ns, &error) == CREST_OK)
 *         crest_packet_socket_settle(to, deadline_ns, &error);
 *     ... to->confirmed of to->offered bytes have arrived ...
 *     crest_packet_socket_free(to);
 *
 * When bytes count as arrived (confirmed):
 *
 *     Unix datagrams   once sent
 *     UDP              once the next packet is sent; the last packet, when no ICMP answer "port
 *                      closed" has come within CREST_PACKET_DOUBT_MS. An answer that comes later
 *                      fails the next packet, which is then not sent either.
 *     TCP              once the server's host has acknowledged them
 *
 * After a failure, bytes that are not confirmed have not arrived and will not. Except: a TCP
 * connection that is only late stays, unsettled, until it is resumed or breaks.
 */
#ifndef CREST_REPORTERS_PACKET_SOCKET_H
#define CREST_REPORTERS_PACKET_SOCKET_H

#include "common/packet_url.h"

/* How long the end of a report over UDP waits for an ICMP answer that the port is closed. */
#define CREST_PACKET_DOUBT_MS 5u
/* An address is looked up again after so long. */
#define CREST_PACKET_RESOLVE_S 60u
/* Packets that may be sent at once before the pace holds them back. */
#define CREST_PACKET_BURST 16u

/* Why a packet did not go out; the words are the `cause` of crest.X-dropped-packets. */
typedef enum crest_packet_cause {
    CREST_PACKET_REFUSED,     /* no server listens */
    CREST_PACKET_UNREACHABLE, /* no address, no path, no route */
    CREST_PACKET_TIMED_OUT,   /* the deadline: a full socket, the pace, a slow name server */
    CREST_PACKET_BROKEN,      /* anything else */
    CREST_PACKET_CAUSES
} crest_packet_cause;
extern const char *const crest_packet_cause_names[CREST_PACKET_CAUSES];

typedef struct crest_packet_socket {
    uint64_t offered, confirmed; /* bytes since it was made, less what failures have taken back */
    crest_packet_cause cause;    /* of the last failure */
    struct packet_connection *inside;
} crest_packet_socket;

/* `rate` packets a second over UDP, 0: no pace. CREST_NO_MEMORY, CREST_SYSTEM. */
crest_packet_socket *crest_packet_socket_new(const crest_packet_url *url, unsigned rate,
                                             crest_error *error);
void crest_packet_socket_free(crest_packet_socket *to);

/* Ensures a connection, to an address that is not older than
 * CREST_PACKET_RESOLVE_S. All three: CREST_UNREACHABLE, CREST_TIMED_OUT, CREST_IO, CREST_NO_MEMORY,
 * CREST_SYSTEM, with *error filled; the connection is then closed, unless it is unsettled. */
crest_status crest_packet_socket_open(crest_packet_socket *to, uint64_t deadline_ns,
                                      crest_error *error);

/* Hands out a packet, not faster than the pace. A datagram is sent again over a new connection when
 * the old one's receiver has gone, once. */
crest_status crest_packet_socket_send(crest_packet_socket *to, const void *bytes, size_t length,
                                      uint64_t deadline_ns, crest_error *error);

/* Waits until all that was offered is confirmed. */
crest_status crest_packet_socket_settle(crest_packet_socket *to, uint64_t deadline_ns,
                                        crest_error *error);

/* Whether a late TCP connection has something that may still arrive. The bytes of the packet that
 * was being sent then have to stay where they are, and nothing else may be sent before _resume. */
int crest_packet_socket_unsettled(const crest_packet_socket *to);

/* Continues it: as _send and _settle, which may leave it unsettled again. */
crest_status crest_packet_socket_resume(crest_packet_socket *to, uint64_t deadline_ns,
                                        crest_error *error);

/* Makes a call that waits end with CREST_TIMED_OUT, and those after it until _rearm. Any thread;
 * does not block. */
void crest_packet_socket_cancel(crest_packet_socket *to);
void crest_packet_socket_rearm(crest_packet_socket *to);

#endif
