/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A neighbour as this node reaches it: the connection this node dials and keeps dialling, the
 * handshake, the pings. Everything this node tells a neighbour goes through here; what the
 * neighbour tells comes in through the connection it dials (node_net.c). Belongs to the net thread,
 * but for peer_is_ready and conn_send on the link.
 */
#ifndef NODE_PEER_H
#define NODE_PEER_H

#include "node_conn.h"

#define PEER_RETRY_NS (100 * NODE_NS_PER_MS)
#define PEER_PING_EVERY_NS (250 * NODE_NS_PER_MS)
/* A ping or a handshake that takes longer has failed. */
#define PEER_PATIENCE_NS (5 * NODE_NS_PER_S)
/* Pings in flight; beyond, none is sent until one ends. */
#define PEER_PINGS_MAX 32

typedef enum peer_state { PEER_WAITING, PEER_DIALING, PEER_GREETING, PEER_READY } peer_state;

typedef struct peer_ping {
    bool used;
    crest_op op; /* the ping's nonce */
    crest_timing timing;
    report_clock clock;
    uint64_t sent_ns; /* the same moment by the wall clock, as it stands in the ping */
} peer_ping;

typedef struct neighbour {
    unsigned index;
    char name[16];
    uint16_t port;
    unsigned own_index, nodes;
    peer_state state; /* atomic */
    conn link;
    uint64_t due_ns, ping_due_ns;

    crest_timer *connect_time, *ping_time;
    crest_counter *pings_sent;
    crest_probe *watch;      /* what the kernel knows of the link, while it is ready */
    crest_peer_clock *clock; /* how far its wall clock is from this node's, by pings */
    conn_meter meter;
    crest_op dial_op;
    crest_timing dial;
    report_clock dial_clock;
    uint64_t dials, nonces;
    peer_ping ping[PEER_PINGS_MAX];

    report_timer connects[CREST_OUTCOME_COUNT], pings[CREST_OUTCOME_COUNT];
    uint64_t pings_total;
} neighbour;

void peer_open(neighbour *p, unsigned index, uint16_t port, unsigned own_index, unsigned nodes);
/* Dials, pings and gives up when each is due. */
void peer_tick(neighbour *p, uint64_t now_ns);
/* What poll should wait for; 0 with the link closed. */
short peer_events(neighbour *p);
/* What poll said. */
void peer_handle(neighbour *p, short events);
/* Any thread. */
bool peer_is_ready(const neighbour *p);
/* Closes; everything in flight ends as cancelled. */
void peer_close(neighbour *p);
/* After peer_close, and after the last use of its clock. */
void peer_free(neighbour *p);
void peer_report(report *r, const neighbour *p);

/* From the start until the first neighbour has answered; net_close gives it up. */
void peer_discovery_begin(void);
void peer_discovery_end(crest_outcome outcome);
void peer_discovery_report(report *r);

/* Messages that no correct peer sends, on any connection: counted and logged. */
void peer_malformed(const char *from);
uint64_t peer_malformed_count(void);

#endif
