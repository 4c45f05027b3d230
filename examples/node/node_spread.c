/* SPDX-License-Identifier: Apache-2.0 */
/* See node_spread.h. */
#include "node_spread.h"

#include <crest/crest.h>
#include <string.h>

#include "node_net.h"

/* ---- what this part measures: the way of blocks from one machine to others ---- */

#include "node_metrics_casper.h"

/* the truth: one clock for all, since the nodes of this network run on one machine */
static report_timer spread_propagated, spread_covered[CREST_OUTCOME_COUNT];
static uint64_t spread_refused;

_Static_assert(sizeof(crest_stamp) == WIRE_STAMP_BYTES, "the envelope has room for the stamp");
/* With up to a hundred nodes, 99 % of them are all, so the truth is when the last one had it. */
_Static_assert(NODE_COUNT_MAX <= 100, "99 % of the nodes are all nodes");

/* ---- a receiver ---- */

/* A stamp, or a time, that gives no propagation time. */
static void spread_refuse(void)
{
    crest_counter_inc(&stamps_refused);
    spread_refused++;
}

static void spread_measure(const inbox_message *m, const wire_envelope *envelope,
                           const uint8_t *hash)
{
    crest_stamp_view view;
    crest_propagation found;
    crest_op op = crest_op_bytes(hash, NODE_HASH_BYTES);
    const crest_peer_clock *clock = net_clock((unsigned)m->from);
    if (clock == NULL ||
        crest_stamp_read(envelope->stamp, WIRE_STAMP_BYTES, &view, NULL) != CREST_OK ||
        crest_stamp_record_at(&block_propagation_time, m->come_ns, &view, clock, CREST_OUTCOME_OK,
                              &op, &found) != CREST_OK) {
        spread_refuse();
        return;
    }
    report_clock took = {envelope->truth_ns, m->arrived_ns,
                         found.error_ns + m->apart_ns + envelope->apart_ns};
    report_timer_add(&spread_propagated, took.end_ns - took.start_ns, took.apart_ns);
    report_timed("rchain.casper.block-propagation-time", hash, &took, "ok");
}

void spread_come(const inbox_message *m, const wire_envelope *envelope, const uint8_t *bytes,
                 size_t size, const uint8_t hash[NODE_HASH_BYTES])
{
    wire_in in = wire_read(bytes, size);
    wire_block head;
    wire_out out = {0};
    wire_have have = {hash, m->come_ns, m->arrived_ns, m->apart_ns};
    if (envelope != NULL)
        spread_measure(m, envelope, hash);
    if (!wire_get_block(&in, &head))
        return; /* of no block that is waited for */
    wire_put_have(&out, &have);
    net_send(head.proposer, WIRE_HAVE, out.bytes, out.length);
    wire_out_free(&out);
}

/* ---- the proposer: tells Crest when each node had the block, by this node's clock ---- */

static crest_coverage *spread_coverage;
static unsigned spread_nodes, spread_index;

/* A block on its way, for the truth. */
typedef struct spread_watch {
    uint8_t hash[NODE_HASH_BYTES];
    uint64_t sent_ns;       /* wall clock */
    uint64_t truth_ns;      /* node_now_ns */
    uint64_t nodes;         /* a bit for each that has it */
    uint64_t last_truth_ns; /* when the last of them had it, node_now_ns */
    uint64_t apart_ns;      /* how far sent_ns may be from truth_ns */
    uint64_t error_ns;      /* how far Crest's time of the last may be off */
} spread_watch;

static spread_watch spread_watched[SPREAD_WATCHED_MAX]; /* the oldest first */
static unsigned spread_count;

void spread_open(const node_options *options)
{
    crest_error error;
    crest_coverage_options wanted = {.nodes = options->nodes,
                                     .fraction = SPREAD_COVERAGE_PERCENT / 100.0,
                                     .deadline_ms = SPREAD_PATIENCE_NS / NODE_NS_PER_MS,
                                     .in_flight = SPREAD_WATCHED_MAX};
    spread_nodes = options->nodes;
    spread_index = options->index;
    spread_coverage = crest_coverage_new(&block_coverage_time, &wanted, &error);
    if (spread_coverage == NULL)
        node_say("how blocks get around is not measured: %s", error.message);
}

static void spread_end(unsigned which, crest_outcome outcome, uint64_t truth_ns, uint64_t within_ns)
{
    const spread_watch *w = &spread_watched[which];
    report_clock took = {w->truth_ns, w->truth_ns + truth_ns, within_ns};
    report_timer_add(&spread_covered[outcome], truth_ns, within_ns);
    report_timed("rchain.casper.block-coverage-time", w->hash, &took, crest_outcome_text(outcome));
    spread_count--;
    memmove(&spread_watched[which], &spread_watched[which + 1],
            (spread_count - which) * sizeof spread_watched[0]);
}

static void spread_watch_own(const uint8_t *hash, uint64_t sent_ns, const wire_envelope *envelope)
{
    crest_op op = crest_op_bytes(hash, NODE_HASH_BYTES);
    if (spread_nodes == 1 || spread_coverage == NULL || spread_count == SPREAD_WATCHED_MAX ||
        crest_coverage_begin(spread_coverage, op, sent_ns) != CREST_OK)
        return; /* no other node is to have it, or too many are on their way */
    crest_coverage_add(spread_coverage, &op, spread_index, sent_ns);
    spread_watch *w = &spread_watched[spread_count++];
    *w = (spread_watch){.sent_ns = sent_ns,
                        .truth_ns = envelope->truth_ns,
                        .apart_ns = envelope->apart_ns,
                        .nodes = UINT64_C(1) << spread_index};
    memcpy(w->hash, hash, NODE_HASH_BYTES);
}

void spread_hand_out(const chain_block *own)
{
    crest_stamp stamp;
    wire_out out = {0};
    wire_envelope envelope = {.stamp = stamp.bytes, .truth_ns = node_now_ns()};
    uint64_t sent_ns = crest_wall_now();
    envelope.apart_ns = node_now_ns() - envelope.truth_ns;
    crest_stamp_make_at(crest_op_bytes(own->hash, NODE_HASH_BYTES), sent_ns, crest_wall_error(),
                        &stamp, NULL);
    spread_watch_own(own->hash, sent_ns, &envelope);
    wire_put_envelope(&out, &envelope);
    wire_put_bytes(&out, own->bytes, own->size);
    net_broadcast(WIRE_BLOCK, out.bytes, out.length);
    wire_out_free(&out);
}

/* When a peer had a block, by this node's clock, and how far that may be off; false when its times
 * give none. */
static bool spread_correct(const spread_watch *w, unsigned from, const wire_have *have,
                           uint64_t *wall_ns, uint64_t *error_ns)
{
    crest_peer_clock_state clock;
    if (net_clock(from) == NULL || crest_peer_clock_read(net_clock(from), &clock) != CREST_OK ||
        have->come_ns < CREST_WALL_NS_MIN || have->come_ns > CREST_WALL_NS_MAX)
        return false;
    *wall_ns = have->come_ns - (uint64_t)clock.offset_ns;
    *error_ns = clock.error_ns;
    return *wall_ns + clock.error_ns >= w->sent_ns; /* not before it was sent */
}

void spread_have(unsigned from, const wire_have *have)
{
    unsigned which = 0;
    while (which < spread_count &&
           memcmp(spread_watched[which].hash, have->hash, NODE_HASH_BYTES) != 0)
        which++;
    if (which == spread_count)
        return; /* that block is not waited for, or not any more */
    spread_watch *w = &spread_watched[which];
    crest_op op = crest_op_bytes(have->hash, NODE_HASH_BYTES);
    uint64_t wall_ns, error_ns, bit = UINT64_C(1) << from;
    if (w->nodes & bit)
        return;
    if (!spread_correct(w, from, have, &wall_ns, &error_ns)) {
        spread_refuse();
        return;
    }
    if (crest_coverage_add(spread_coverage, &op, from, wall_ns) != CREST_OK)
        return;
    w->nodes |= bit;
    error_ns += have->apart_ns;
    if (error_ns > w->error_ns)
        w->error_ns = error_ns;
    if (have->truth_ns > w->last_truth_ns)
        w->last_truth_ns = have->truth_ns;
    if ((unsigned)__builtin_popcountll(w->nodes) < spread_nodes)
        return;
    spread_end(which, CREST_OUTCOME_OK, w->last_truth_ns - w->truth_ns, w->apart_ns + w->error_ns);
}

void spread_due(uint64_t now_ns)
{
    while (spread_count > 0 && now_ns > spread_watched[0].truth_ns + SPREAD_PATIENCE_NS)
        spread_end(0, CREST_OUTCOME_TIMEOUT, SPREAD_PATIENCE_NS, 0);
}

void spread_close(void)
{
    uint64_t before_ns = node_now_ns();
    crest_coverage_free(spread_coverage);
    uint64_t after_ns = node_now_ns();
    spread_coverage = NULL;
    while (spread_count > 0)
        spread_end(0, CREST_OUTCOME_CANCELLED, after_ns - spread_watched[0].truth_ns,
                   spread_watched[0].apart_ns + after_ns - before_ns);
}

void spread_report(report *r)
{
    static const report_timer none;
    report_timer_print(r, &spread_propagated, true, "rchain_casper_block_propagation_time",
                       "outcome=\"ok\"");
    report_timer_print(r, &none, true, "rchain_casper_block_propagation_time", "outcome=\"error\"");
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++)
        report_timer_print(r, &spread_covered[i], i <= CREST_OUTCOME_ERROR,
                           "rchain_casper_block_coverage_time", "outcome=\"%s\"",
                           crest_outcome_text((crest_outcome)i));
    report_count(r, spread_refused, "rchain_casper_stamps_refused_total");
}
