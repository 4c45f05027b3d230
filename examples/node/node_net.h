/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network: one thread with one poll loop. It listens, dials every peer (node_peer.c), answers
 * pings, and puts all else that peers say into the inbound queue.
 *
 * Every node dials every other, so there are two connections between two nodes: each speaks on the
 * one it dialled and is only answered there (handshake, pongs).
 */
#ifndef NODE_NET_H
#define NODE_NET_H

#include <crest/peer_clock.h>

#include "node_options.h"
#include "node_report.h"
#include "node_wire.h"

/* Connections from outside at any time, those without a handshake included. */
#define NET_GUESTS_MAX (2 * NODE_COUNT_MAX)
/* Notes that one BURST may ask for. */
#define NET_BURST_MAX 20000u

/* Listens and starts the thread; false after a message that says why. */
bool net_open(const node_options *options);
/* Ends the thread and all connections; the totals stay for net_report, and the clocks. */
void net_close(void);
/* Frees the estimates of peers' clocks: after the last use, and after their figures were reported.
 * */
void net_free(void);

/* Queues a message for a peer; when it cannot, it only counts that. Any thread. */
void net_send(unsigned index, wire_type type, const void *payload, size_t size);
void net_broadcast(wire_type type, const void *payload, size_t size);

/* A message of this peer, already in the queue, turned out to be one that no correct node sends:
 * its connection is closed. Any thread. */
void net_reject(unsigned index);

/* The estimate of this peer's wall clock; NULL without one. Until net_free. Any thread. */
const crest_peer_clock *net_clock(unsigned index);

/* Peers connected now. Any thread. */
unsigned net_peers(void);

/* Asks the first connected peer to send this many notes at once; false when there is none. */
bool net_ask_burst(unsigned notes);

void net_report(report *r);

#endif
