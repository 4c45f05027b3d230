/* SPDX-License-Identifier: Apache-2.0 */
/* See node_net.h. */
#define _GNU_SOURCE /* accept4 */

#include "node_net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "node_hold.h"
#include "node_inbox.h"
#include "node_peer.h"

/* How often the loop looks at the clock for dials, pings and patience. */
#define NET_TICK_MS 20
#define NET_STRANGER (-1)

/* ---- what this part measures: pings answered; the rest is in node_peer.c and node_conn.c ---- */

#define COMM_METRICS_DEFINE
#include "node_metrics_comm.h"

static uint64_t net_answered;

/* A connection that a peer dialled. */
typedef struct net_guest {
    conn line;
    int peer; /* NET_STRANGER until the handshake */
    uint64_t since_ns;
} net_guest;

static const node_options *net_options;
static neighbour net_peer[NODE_COUNT_MAX];
static net_guest net_guests[NET_GUESTS_MAX];
static uint8_t net_rejected[NODE_COUNT_MAX]; /* atomic flags */
static int net_listener = -1, net_wake_fd = -1;
static pthread_t net_thread;
static bool net_stopping; /* atomic */

static bool net_is_peer(unsigned index)
{
    return index < net_options->nodes && index != net_options->index;
}

static void net_wake(void)
{
    uint64_t one = 1;
    if (write(net_wake_fd, &one, sizeof one) < 0)
        return; /* full: it is awake already */
}

void net_send(unsigned index, wire_type type, const void *payload, size_t size)
{
    if (!net_is_peer(index))
        return;
    if (!peer_is_ready(&net_peer[index]))
        conn_count_dropped();
    else if (conn_send(&net_peer[index].link, type, payload, size))
        net_wake();
}

void net_broadcast(wire_type type, const void *payload, size_t size)
{
    for (unsigned i = 0; i < net_options->nodes; i++)
        net_send(i, type, payload, size);
}

void net_reject(unsigned index)
{
    __atomic_store_n(&net_rejected[index], 1, __ATOMIC_RELAXED);
    net_wake();
}

const crest_peer_clock *net_clock(unsigned index)
{
    return net_is_peer(index) ? net_peer[index].clock : NULL;
}

unsigned net_peers(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < net_options->nodes; i++)
        count += net_is_peer(i) && peer_is_ready(&net_peer[i]);
    return count;
}

bool net_ask_burst(unsigned notes)
{
    for (unsigned i = 0; i < net_options->nodes; i++) {
        if (!net_is_peer(i) || !peer_is_ready(&net_peer[i]))
            continue;
        wire_out out = {0};
        wire_put_u32(&out, notes);
        net_send(i, WIRE_BURST, out.bytes, out.length);
        wire_out_free(&out);
        return true;
    }
    return false;
}

/* ---- what guests say ---- */

static void net_drop_guest(net_guest *guest, crest_outcome outcome)
{
    conn_close(&guest->line, outcome);
    guest->peer = NET_STRANGER;
}

static bool net_hello(net_guest *guest, wire_in *in)
{
    uint32_t magic = wire_get_u32(in);
    unsigned index = wire_get_u16(in), nodes = wire_get_u16(in);
    if (!wire_done(in) || magic != WIRE_MAGIC || nodes != net_options->nodes ||
        !net_is_peer(index) || guest->peer != NET_STRANGER)
        return false;
    for (unsigned i = 0; i < NET_GUESTS_MAX; i++)
        if (net_guests[i].line.fd >= 0 && net_guests[i].peer == (int)index)
            net_drop_guest(&net_guests[i],
                           CREST_OUTCOME_ERROR); /* it dialled again: the old one is dead */
    guest->peer = (int)index;
    conn_measure(&guest->line, &net_peer[index].meter);
    wire_out out = {0};
    wire_put_u32(&out, WIRE_MAGIC);
    wire_put_u16(&out, (uint16_t)net_options->index);
    wire_put_u16(&out, (uint16_t)net_options->nodes);
    conn_send(&guest->line, WIRE_HELLO, out.bytes, out.length);
    wire_out_free(&out);
    return true;
}

static bool net_answer_ping(net_guest *guest, wire_in *in)
{
    wire_pong pong = {.come_ns = crest_wall_now()};
    pong.nonce = wire_get_u64(in);
    pong.sent_ns = wire_get_u64(in);
    if (!wire_done(in))
        return false;
    wire_out out = {0};
    pong.answered_ns = crest_wall_now();
    wire_put_pong(&out, &pong);
    if (conn_send(&guest->line, WIRE_PONG, out.bytes, out.length)) {
        crest_counter_inc(&handle_ping);
        net_answered++;
    }
    wire_out_free(&out);
    return true;
}

static bool net_burst(const net_guest *guest, wire_in *in)
{
    uint8_t note[WIRE_NOTE_BYTES] = {0};
    uint32_t count = wire_get_u32(in);
    if (!wire_done(in) || count > NET_BURST_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned byte = 0; byte < 4; byte++) {
            note[byte] = (uint8_t)(i >> (8 * byte));
            note[4 + byte] = (uint8_t)(count >> (8 * byte));
        }
        if (peer_is_ready(&net_peer[guest->peer]))
            conn_send(&net_peer[guest->peer].link, WIRE_NOTE, note, sizeof note);
        else
            conn_count_dropped();
    }
    return true;
}

static bool net_frame(void *context, wire_type type, const uint8_t *payload, size_t size)
{
    net_guest *guest = context;
    wire_in in = wire_read(payload, size);
    if (type == WIRE_HELLO)
        return net_hello(guest, &in);
    if (guest->peer == NET_STRANGER)
        return false; /* no handshake yet */
    switch (type) {
    case WIRE_PING: return net_answer_ping(guest, &in);
    case WIRE_BURST: return net_burst(guest, &in);
    case WIRE_DEPLOY:
    case WIRE_BLOCK:
    case WIRE_VOTE:
    case WIRE_HAVE:
    case WIRE_REQUEST:
    case WIRE_ANSWER:
    case WIRE_NOTE: inbox_push(guest->peer, type, payload, size); return true;
    default: return false;
    }
}

/* ---- the loop ---- */

static void net_accept(uint64_t now_ns)
{
    int one = 1, fd = accept4(net_listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    for (unsigned i = 0; i < NET_GUESTS_MAX; i++) {
        net_guest *guest = &net_guests[i];
        if (guest->line.fd >= 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        guest->peer = NET_STRANGER;
        guest->since_ns = now_ns;
        conn_use(&guest->line, fd);
        return;
    }
    node_say("refused a connection: %u are open already", NET_GUESTS_MAX);
    close(fd);
}

static void net_handle_guest(net_guest *guest, short events)
{
    conn_state state = CONN_OPEN;
    if (events & (POLLIN | POLLHUP | POLLERR))
        state = conn_read(&guest->line, net_frame, guest);
    if (state == CONN_OPEN)
        state = conn_write(&guest->line);
    if (state == CONN_MALFORMED)
        peer_malformed(guest->peer == NET_STRANGER ? "a stranger" : net_peer[guest->peer].name);
    if (state != CONN_OPEN)
        net_drop_guest(guest, CREST_OUTCOME_ERROR);
}

static void net_guest_tick(net_guest *guest, uint64_t now_ns)
{
    if (guest->line.fd < 0)
        return;
    if (guest->peer == NET_STRANGER && now_ns > guest->since_ns + PEER_PATIENCE_NS) {
        net_drop_guest(guest, CREST_OUTCOME_TIMEOUT);
    } else if (guest->peer != NET_STRANGER &&
               __atomic_exchange_n(&net_rejected[guest->peer], 0, __ATOMIC_RELAXED)) {
        peer_malformed(net_peer[guest->peer].name);
        net_drop_guest(guest, CREST_OUTCOME_ERROR);
    }
}

/* Slots of the poll array: the waker, the listener, a link for each node, the guests. */
enum { NET_POLL_WAKE, NET_POLL_LISTEN, NET_POLL_LINKS };
#define NET_POLL_GUESTS (NET_POLL_LINKS + NODE_COUNT_MAX)
#define NET_POLL_COUNT (NET_POLL_GUESTS + NET_GUESTS_MAX)

static void net_wait(struct pollfd *slot)
{
    for (unsigned i = 0; i < NET_POLL_COUNT; i++)
        slot[i] = (struct pollfd){-1, 0, 0};
    slot[NET_POLL_WAKE] = (struct pollfd){net_wake_fd, POLLIN, 0};
    slot[NET_POLL_LISTEN] = (struct pollfd){net_listener, POLLIN, 0};
    for (unsigned i = 0; i < net_options->nodes; i++)
        if (net_is_peer(i))
            slot[NET_POLL_LINKS + i] =
                (struct pollfd){net_peer[i].link.fd, peer_events(&net_peer[i]), 0};
    for (unsigned i = 0; i < NET_GUESTS_MAX; i++) {
        conn *line = &net_guests[i].line;
        short events = (short)(POLLIN | (conn_waiting(line) ? POLLOUT : 0));
        slot[NET_POLL_GUESTS + i] = (struct pollfd){line->fd, events, 0};
    }
    poll(slot, NET_POLL_COUNT, NET_TICK_MS);
}

static void net_turn(void)
{
    struct pollfd slot[NET_POLL_COUNT];
    uint64_t drained;
    net_wait(slot);
    uint64_t now_ns = node_now_ns();
    if (slot[NET_POLL_WAKE].revents != 0 && read(net_wake_fd, &drained, sizeof drained) < 0)
        drained = 0; /* another thread's wake was quicker */
    for (unsigned i = 0; i < net_options->nodes; i++)
        if (net_is_peer(i)) {
            peer_handle(&net_peer[i], slot[NET_POLL_LINKS + i].revents);
            peer_tick(&net_peer[i], now_ns);
        }
    for (unsigned i = 0; i < NET_GUESTS_MAX; i++) {
        if (net_guests[i].line.fd >= 0 && net_guests[i].line.fd == slot[NET_POLL_GUESTS + i].fd)
            net_handle_guest(&net_guests[i], slot[NET_POLL_GUESTS + i].revents);
        net_guest_tick(&net_guests[i], now_ns);
    }
    if (slot[NET_POLL_LISTEN].revents != 0)
        net_accept(now_ns);
}

static void *net_run(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&net_stopping, __ATOMIC_RELAXED)) {
        hold_here();
        net_turn();
    }
    return NULL;
}

/* ---- open and close ---- */

static bool net_listen(void)
{
    uint16_t port = net_options->port[net_options->index];
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    net_listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (net_listener >= 0)
        setsockopt(net_listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (net_listener < 0 || bind(net_listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(net_listener, NET_GUESTS_MAX) != 0) {
        node_say(
            "cannot listen on 127.0.0.1:%u: %s; choose free ports with --ports, the same list for "
            "every node",
            port, strerror(errno));
        return false;
    }
    net_wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return net_wake_fd >= 0;
}

bool net_open(const node_options *options)
{
    net_options = options;
    peer_discovery_begin();
    for (unsigned i = 0; i < NET_GUESTS_MAX; i++) {
        conn_init(&net_guests[i].line);
        net_guests[i].peer = NET_STRANGER;
    }
    for (unsigned i = 0; i < options->nodes; i++)
        if (net_is_peer(i))
            peer_open(&net_peer[i], i, options->port[i], options->index, options->nodes);
    if (!net_listen())
        return false;
    hold_expect();
    int rc = pthread_create(&net_thread, NULL, net_run, NULL);
    if (rc != 0)
        node_say("cannot start the network's thread: %s; allow the node more threads",
                 strerror(rc));
    return rc == 0;
}

void net_close(void)
{
    __atomic_store_n(&net_stopping, true, __ATOMIC_RELAXED);
    net_wake();
    pthread_join(net_thread, NULL);
    peer_discovery_end(CREST_OUTCOME_CANCELLED);
    for (unsigned i = 0; i < net_options->nodes; i++)
        if (net_is_peer(i))
            peer_close(&net_peer[i]);
    for (unsigned i = 0; i < NET_GUESTS_MAX; i++) {
        net_drop_guest(&net_guests[i], CREST_OUTCOME_CANCELLED);
        conn_fini(&net_guests[i].line);
    }
    close(net_listener);
    close(net_wake_fd);
}

void net_free(void)
{
    for (unsigned i = 0; i < net_options->nodes; i++)
        if (net_is_peer(i))
            peer_free(&net_peer[i]);
}

void net_report(report *r)
{
    report_count(r, net_answered, "rchain_comm_discovery_kademlia_handle_ping_total");
    report_count(r, peer_malformed_count(), "rchain_comm_rp_transport_packets_malformed_total");
    peer_discovery_report(r);
    conn_report(r);
    for (unsigned i = 0; i < net_options->nodes; i++)
        if (net_is_peer(i))
            peer_report(r, &net_peer[i]);
}
