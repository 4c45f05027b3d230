/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of team comm. Connections between nodes, pings, and the queue of messages that have
 * arrived.
 *
 * Generated from comm.metrics.yaml by crest catalogue: change that file and generate this one
 * again.
 *
 * Sources that record include it. One of them defines what it declares:
 *
 *     #define COMM_METRICS_DEFINE
 *     #include "node_metrics_comm.h"
 */
/* clang-format off */
#ifndef NODE_METRICS_COMM_H
#define NODE_METRICS_COMM_H

#include <crest/crest.h>

/*
 * rchain.comm.discovery.discovery-time, timer: From the start until the first neighbour has
 * answered the handshake.
 */
CREST_TIMER_DECLARE(discovery_time);

/* rchain.comm.rp.connect.peers, gauge: Peers connected now. */
CREST_GAUGE_DECLARE(peers_connected);

/*
 * rchain.comm.rp.connect.connect-time, timer, by peer (at most 15): From dialling a peer to the
 * end of the handshake.
 */
CREST_TIMER_FAMILY_DECLARE(connect_time, peer);

/*
 * rchain.comm.discovery.kademlia.grpc.ping-time, timer, by peer (at most 15): Round trip of a
 * ping.
 */
CREST_TIMER_FAMILY_DECLARE(ping_time, peer);

/*
 * rchain.comm.discovery.kademlia.grpc.pings-sent, counter, by peer (at most 15): Pings sent to
 * the peer.
 */
CREST_COUNTER_FAMILY_DECLARE(pings_sent, peer);

/*
 * rchain.comm.rp.transport.send-time, timer, by peer (at most 15): From handing a message to the
 * connection until the kernel has its last byte.
 */
CREST_TIMER_FAMILY_DECLARE(send_time, peer);

/*
 * rchain.comm.rp.transport.packets.malformed, counter: Messages that no correct peer sends; each
 * closes its connection.
 */
CREST_COUNTER_DECLARE(packets_malformed);

/* rchain.comm.discovery.kademlia.handle.ping, counter: Pings answered for others. */
CREST_COUNTER_DECLARE(handle_ping);

/*
 * rchain.comm.rp.transport.sends-dropped, counter: Messages not sent: no connection to the peer,
 * or its outbound queue was full.
 */
CREST_COUNTER_DECLARE(sends_dropped);

/* rchain.comm.rp.transport.data-received, counter of bytes: Bytes read from peers. */
CREST_COUNTER_DECLARE(data_received);

/* rchain.comm.rp.transport.data-sent, counter of bytes: Bytes written to peers. */
CREST_COUNTER_DECLARE(data_sent);

/* rchain.comm.rp.transport.packets.received, counter: Messages for the worker that arrived. */
CREST_COUNTER_DECLARE(packets_received);

/*
 * rchain.comm.rp.transport.packets.enqueued, counter: Messages for the worker that were put into
 * the inbound queue.
 */
CREST_COUNTER_DECLARE(packets_enqueued);

/*
 * rchain.comm.rp.transport.packets.dropped, counter: Messages for the worker that were dropped
 * because the inbound queue was full.
 */
CREST_COUNTER_DECLARE(packets_dropped);

/*
 * rchain.comm.rp.transport.inbound-queue, histogram: Depth of the inbound queue after each
 * enqueue.
 */
CREST_HISTOGRAM_DECLARE(inbound_queue);

/* rchain.comm.rp.transport.inbound-queue-waiting, range-sampler: Messages in the inbound queue. */
CREST_RANGE_SAMPLER_DECLARE(inbound_waiting);

/*
 * rchain.comm.rp.transport.inbound-queue-sampled, gauge: Depth of the inbound queue as a thread
 * finds it once a second.
 */
CREST_GAUGE_DECLARE(inbound_queue_sampled);

/*
 * rchain.comm.rp.transport.dispatched.packets, counter, by kind (deploy, block, vote, have,
 * request, answer, note): Messages handled by the worker.
 */
CREST_COUNTER_FAMILY_DECLARE(dispatched, kind);
typedef enum {
    DISPATCHED_KIND_DEPLOY = 0,
    DISPATCHED_KIND_BLOCK = 1,
    DISPATCHED_KIND_VOTE = 2,
    DISPATCHED_KIND_HAVE = 3,
    DISPATCHED_KIND_REQUEST = 4,
    DISPATCHED_KIND_ANSWER = 5,
    DISPATCHED_KIND_NOTE = 6,
    DISPATCHED_KIND_COUNT = 7
} dispatched_kind;
#ifdef CREST_DISABLE
CREST_INLINE crest_counter *dispatched_of(dispatched_kind kind_value_)
{
    (void)kind_value_;
    return dispatched_with("");
}
#else
extern crest_counter *dispatched_crest_all[7];
crest_counter *dispatched_crest_one(unsigned kind_);
CREST_INLINE crest_counter *dispatched_of(dispatched_kind kind_value_)
{
    crest_counter *series_ = NULL;
    unsigned kind_ = kind_value_;
    if (kind_ < 7u)
        series_ = dispatched_crest_all[kind_];
    if (series_ != NULL)
        return series_;
    return dispatched_crest_one(kind_);
}
#endif

#endif

#ifdef COMM_METRICS_DEFINE
#undef COMM_METRICS_DEFINE

CREST_TIMER_DEFINE(
    discovery_time, "rchain.comm.discovery.discovery-time",
    "From the start until the first neighbour has answered the handshake.",
    .buckets = CREST_BUCKETS_DEFAULT);
CREST_GAUGE_DEFINE(peers_connected, "rchain.comm.rp.connect.peers", "Peers connected now.");
CREST_TIMER_FAMILY_DEFINE(
    connect_time, "rchain.comm.rp.connect.connect-time",
    "From dialling a peer to the end of the handshake.", (.buckets = CREST_BUCKETS_FAST), peer);
CREST_TIMER_FAMILY_DEFINE(
    ping_time, "rchain.comm.discovery.kademlia.grpc.ping-time", "Round trip of a ping.",
    (.buckets = CREST_BUCKETS_FAST), peer);
CREST_COUNTER_FAMILY_DEFINE(
    pings_sent, "rchain.comm.discovery.kademlia.grpc.pings-sent", "Pings sent to the peer.", (),
    peer);
CREST_TIMER_FAMILY_DEFINE(
    send_time, "rchain.comm.rp.transport.send-time",
    "From handing a message to the connection until the kernel has its last byte.",
    (.buckets = CREST_BUCKETS_FAST), peer);
CREST_COUNTER_DEFINE(
    packets_malformed, "rchain.comm.rp.transport.packets.malformed",
    "Messages that no correct peer sends; each closes its connection.");
CREST_COUNTER_DEFINE(
    handle_ping, "rchain.comm.discovery.kademlia.handle.ping", "Pings answered for others.");
CREST_COUNTER_DEFINE(
    sends_dropped, "rchain.comm.rp.transport.sends-dropped",
    "Messages not sent: no connection to the peer, or its outbound queue was full.");
CREST_COUNTER_DEFINE(
    data_received, "rchain.comm.rp.transport.data-received", "Bytes read from peers.",
    .unit = CREST_BYTES);
CREST_COUNTER_DEFINE(
    data_sent, "rchain.comm.rp.transport.data-sent", "Bytes written to peers.",
    .unit = CREST_BYTES);
CREST_COUNTER_DEFINE(
    packets_received, "rchain.comm.rp.transport.packets.received",
    "Messages for the worker that arrived.");
CREST_COUNTER_DEFINE(
    packets_enqueued, "rchain.comm.rp.transport.packets.enqueued",
    "Messages for the worker that were put into the inbound queue.");
CREST_COUNTER_DEFINE(
    packets_dropped, "rchain.comm.rp.transport.packets.dropped",
    "Messages for the worker that were dropped because the inbound queue was full.");
CREST_HISTOGRAM_DEFINE(
    inbound_queue, "rchain.comm.rp.transport.inbound-queue",
    "Depth of the inbound queue after each enqueue.");
CREST_RANGE_SAMPLER_DEFINE(
    inbound_waiting, "rchain.comm.rp.transport.inbound-queue-waiting",
    "Messages in the inbound queue.");
CREST_GAUGE_DEFINE(
    inbound_queue_sampled, "rchain.comm.rp.transport.inbound-queue-sampled",
    "Depth of the inbound queue as a thread finds it once a second.");
CREST_COUNTER_FAMILY_DEFINE(
    dispatched, "rchain.comm.rp.transport.dispatched.packets", "Messages handled by the worker.",
    (), kind);
#ifndef CREST_DISABLE
crest_counter *dispatched_crest_all[7];
crest_counter *dispatched_crest_one(unsigned kind_)
{
    static const char *const kind_texts_[] =
        {"deploy", "block", "vote", "have", "request", "answer", "note"};
    return dispatched_with(kind_ < 7u ? kind_texts_[kind_] : "");
}
__attribute__((constructor)) static void dispatched_crest_fill(void)
{
    for (unsigned kind_ = 0; kind_ < 7u; kind_++)
        dispatched_crest_all[kind_] =
            dispatched_crest_one(kind_);
}
#endif

#endif
