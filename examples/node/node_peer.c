/* SPDX-License-Identifier: Apache-2.0 */
/* See node_peer.h. */
#include "node_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* ---- what this part measures: dials, pings and sends by neighbour, whose clock is estimated from
 * the pings; how long this node was alone; messages that no correct node sends ---- */

#include "node_metrics_comm.h"

static uint64_t peer_malformed_total; /* atomic */
static report_timer peer_discovery_total[CREST_OUTCOME_COUNT];

/* ---- how long this node is alone ---- */

static crest_timing peer_discovery;
static report_clock peer_discovery_clock;
static bool peer_discovered;

void peer_discovery_begin(void)
{
    report_clock_start(&peer_discovery_clock);
    peer_discovery = crest_timer_start(&discovery_time, crest_op_text(node_name()));
    report_clock_started(&peer_discovery_clock);
}

void peer_discovery_end(crest_outcome outcome)
{
    if (peer_discovered)
        return;
    peer_discovered = true;
    report_clock_end(&peer_discovery_clock);
    crest_timing_end(&peer_discovery, crest_op_text(node_name()), outcome);
    report_timer_add_clock(&peer_discovery_total[outcome], &peer_discovery_clock);
}

void peer_discovery_report(report *r)
{
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++)
        report_timer_print(r, &peer_discovery_total[i], i <= CREST_OUTCOME_ERROR,
                           "rchain_comm_discovery_discovery_time", "outcome=\"%s\"",
                           crest_outcome_text((crest_outcome)i));
}

/* ---- one neighbour ---- */

void peer_malformed(const char *from)
{
    crest_counter_inc(&packets_malformed);
    __atomic_fetch_add(&peer_malformed_total, 1, __ATOMIC_RELAXED);
    node_say("%s sent a message that no correct node sends; its connection is closed", from);
}

uint64_t peer_malformed_count(void)
{
    return __atomic_load_n(&peer_malformed_total, __ATOMIC_RELAXED);
}

static void peer_set_state(neighbour *p, peer_state state)
{
    if ((p->state == PEER_READY) != (state == PEER_READY))
        crest_gauge_add(&peers_connected, state == PEER_READY ? 1 : -1);
    __atomic_store_n(&p->state, state, __ATOMIC_RELAXED);
}

bool peer_is_ready(const neighbour *p)
{
    return __atomic_load_n(&p->state, __ATOMIC_RELAXED) == PEER_READY;
}

void peer_open(neighbour *p, unsigned index, uint16_t port, unsigned own_index, unsigned nodes)
{
    crest_error error;
    memset(p, 0, sizeof *p);
    p->index = index;
    p->port = port;
    p->own_index = own_index;
    p->nodes = nodes;
    snprintf(p->name, sizeof p->name, "node-%u", index);
    conn_init(&p->link);
    p->connect_time = connect_time_with(p->name);
    p->ping_time = ping_time_with(p->name);
    p->pings_sent = pings_sent_with(p->name);
    p->meter.send_time = send_time_with(p->name);
    p->clock = crest_peer_clock_new(NULL, p->name, NULL, &error);
    if (p->clock == NULL)
        node_say("no estimate is kept of the clock of %s: %s", p->name, error.message);
}

/* ---- pings: each timing is bound to its own nonce ---- */

static void peer_end_ping(neighbour *p, peer_ping *ping, crest_outcome outcome)
{
    report_clock_end(&ping->clock);
    crest_timing_end(&ping->timing, ping->op, outcome);
    report_timer_add_clock(&p->pings[outcome], &ping->clock);
    ping->used = false;
}

static void peer_send_ping(neighbour *p)
{
    for (unsigned i = 0; i < PEER_PINGS_MAX; i++) {
        peer_ping *ping = &p->ping[i];
        if (ping->used)
            continue;
        wire_out out = {0};
        uint64_t nonce = ++p->nonces;
        ping->used = true;
        ping->op = crest_op_u64(nonce);
        report_clock_start(&ping->clock);
        ping->timing = crest_timer_start(p->ping_time, ping->op);
        report_clock_started(&ping->clock);
        ping->sent_ns = crest_wall_now();
        wire_put_u64(&out, nonce);
        wire_put_u64(&out, ping->sent_ns);
        if (conn_send(&p->link, WIRE_PING, out.bytes, out.length)) {
            crest_counter_inc(p->pings_sent);
            p->pings_total++;
        } else {
            ping->used = false; /* never sent: nothing to time */
        }
        wire_out_free(&out);
        return;
    }
}

/* The four times of the exchange tell how far the peer's clock is from this node's. Impossible
 * exchanges are refused, and counted by peer_clock_exchanges_refused_total. */
static bool peer_pong(neighbour *p, const wire_pong *pong)
{
    uint64_t now_ns = crest_wall_now();
    crest_op op = crest_op_u64(pong->nonce);
    for (unsigned i = 0; i < PEER_PINGS_MAX; i++) {
        peer_ping *ping = &p->ping[i];
        if (!ping->used || !crest_op_equal(&ping->op, &op))
            continue;
        peer_end_ping(p, ping, CREST_OUTCOME_OK);
        if (pong->sent_ns != ping->sent_ns)
            return false;
        if (p->clock != NULL)
            crest_peer_clock_add(p->clock, ping->sent_ns, pong->come_ns, pong->answered_ns, now_ns,
                                 NULL);
        return true;
    }
    /* a pong to a ping that was given up is late; to a ping that was never sent it is made up */
    return pong->nonce <= p->nonces;
}

/* ---- dialling ---- */

static void peer_end_dial(neighbour *p, crest_outcome outcome)
{
    report_clock_end(&p->dial_clock);
    crest_timing_end(&p->dial, p->dial_op, outcome);
    report_timer_add_clock(&p->connects[outcome], &p->dial_clock);
}

static void peer_fail(neighbour *p, crest_outcome outcome)
{
    if (p->state == PEER_DIALING || p->state == PEER_GREETING)
        peer_end_dial(p, outcome);
    for (unsigned i = 0; i < PEER_PINGS_MAX; i++)
        if (p->ping[i].used)
            peer_end_ping(p, &p->ping[i], outcome);
    crest_probe_stop(p->watch); /* reads a last time, while there is a socket */
    p->watch = NULL;
    conn_close(&p->link, outcome);
    peer_set_state(p, PEER_WAITING);
    p->due_ns = node_now_ns() + PEER_RETRY_NS;
}

static void peer_greet(neighbour *p)
{
    wire_out out = {0};
    wire_put_u32(&out, WIRE_MAGIC);
    wire_put_u16(&out, (uint16_t)p->own_index);
    wire_put_u16(&out, (uint16_t)p->nodes);
    conn_measure(&p->link, &p->meter);
    conn_send(&p->link, WIRE_HELLO, out.bytes, out.length);
    wire_out_free(&out);
    peer_set_state(p, PEER_GREETING);
}

static void peer_dial(neighbour *p)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(p->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    p->dial_op = crest_op_u64x2(p->index, p->dials++);
    report_clock_start(&p->dial_clock);
    p->dial = crest_timer_start(p->connect_time, p->dial_op);
    report_clock_started(&p->dial_clock);
    peer_set_state(p, PEER_DIALING);
    p->due_ns = p->dial_clock.start_ns + PEER_PATIENCE_NS;
    if (fd < 0) {
        node_say("cannot open a socket for %s: %s; the node tries again", p->name, strerror(errno));
        peer_fail(p, CREST_OUTCOME_ERROR);
        return;
    }
    conn_use(&p->link, fd);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        peer_greet(p);
    else if (errno != EINPROGRESS)
        peer_fail(p, CREST_OUTCOME_ERROR); /* most often: it is not up yet */
}

void peer_tick(neighbour *p, uint64_t now_ns)
{
    for (unsigned i = 0; i < PEER_PINGS_MAX; i++)
        if (p->ping[i].used && now_ns > p->ping[i].clock.start_ns + PEER_PATIENCE_NS)
            peer_end_ping(p, &p->ping[i], CREST_OUTCOME_TIMEOUT);
    if (p->state == PEER_READY && now_ns >= p->ping_due_ns) {
        p->ping_due_ns = now_ns + PEER_PING_EVERY_NS;
        peer_send_ping(p);
    }
    if (p->state == PEER_WAITING && now_ns >= p->due_ns)
        peer_dial(p);
    else if (p->state != PEER_READY && p->state != PEER_WAITING && now_ns >= p->due_ns)
        peer_fail(p, CREST_OUTCOME_TIMEOUT);
}

/* ---- what comes back on the link: the answer to the handshake, and pongs ---- */

/* The kernel measures the round trip of every segment anyway: beside pings, which wait for the
 * other node's thread, that distinguishes a slow network from a busy node. */
static void peer_watch(neighbour *p)
{
    crest_error error;
    p->watch = crest_probe_socket(p->name, p->link.fd, NULL, &error);
    if (p->watch == NULL)
        node_say("the connection to %s is not watched: %s", p->name, error.message);
}

static bool peer_hello(neighbour *p, wire_in *in)
{
    uint32_t magic = wire_get_u32(in);
    unsigned index = wire_get_u16(in), nodes = wire_get_u16(in);
    if (!wire_done(in) || magic != WIRE_MAGIC || index != p->index || nodes != p->nodes ||
        p->state != PEER_GREETING)
        return false;
    peer_end_dial(p, CREST_OUTCOME_OK);
    peer_set_state(p, PEER_READY);
    peer_discovery_end(CREST_OUTCOME_OK);
    peer_watch(p);
    p->ping_due_ns = 0;
    return true;
}

static bool peer_frame(void *context, wire_type type, const uint8_t *payload, size_t size)
{
    neighbour *p = context;
    wire_in in = wire_read(payload, size);
    if (type == WIRE_HELLO)
        return peer_hello(p, &in);
    if (type != WIRE_PONG)
        return false;
    wire_pong pong;
    return wire_get_pong(&in, &pong) && peer_pong(p, &pong);
}

short peer_events(neighbour *p)
{
    if (p->link.fd < 0)
        return 0;
    if (p->state == PEER_DIALING)
        return POLLOUT;
    return (short)(POLLIN | (conn_waiting(&p->link) ? POLLOUT : 0));
}

void peer_handle(neighbour *p, short events)
{
    if (p->link.fd < 0)
        return;
    if (p->state == PEER_DIALING && events != 0) {
        int error = 0;
        socklen_t length = sizeof error;
        getsockopt(p->link.fd, SOL_SOCKET, SO_ERROR, &error, &length);
        if (error != 0) {
            peer_fail(p, CREST_OUTCOME_ERROR);
            return;
        }
        peer_greet(p);
    }
    conn_state state = CONN_OPEN;
    if (events & (POLLIN | POLLHUP | POLLERR))
        state = conn_read(&p->link, peer_frame, p);
    if (state == CONN_OPEN && p->state != PEER_DIALING)
        state = conn_write(&p->link);
    if (state == CONN_MALFORMED)
        peer_malformed(p->name);
    if (state != CONN_OPEN)
        peer_fail(p, CREST_OUTCOME_ERROR);
}

void peer_close(neighbour *p)
{
    peer_fail(p, CREST_OUTCOME_CANCELLED);
    conn_fini(&p->link);
}

void peer_free(neighbour *p)
{
    crest_peer_clock_free(p->clock);
    p->clock = NULL;
}

void peer_report(report *r, const neighbour *p)
{
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        const char *outcome = crest_outcome_text((crest_outcome)i);
        bool always = i <= CREST_OUTCOME_ERROR;
        report_timer_print(r, &p->connects[i], always, "rchain_comm_rp_connect_connect_time",
                           "outcome=\"%s\",peer=\"%s\"", outcome, p->name);
        report_timer_print(r, &p->pings[i], always, "rchain_comm_discovery_kademlia_grpc_ping_time",
                           "outcome=\"%s\",peer=\"%s\"", outcome, p->name);
        report_timer_print(r, &p->meter.sent[i], always, "rchain_comm_rp_transport_send_time",
                           "outcome=\"%s\",peer=\"%s\"", outcome, p->name);
    }
    report_count(r, p->pings_total,
                 "rchain_comm_discovery_kademlia_grpc_pings_sent_total{peer=\"%s\"}", p->name);
}
