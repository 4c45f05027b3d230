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
/* How far all propagations, all coverages, may be from the truth, by what Crest says itself. */
static uint64_t spread_propagated_error_ns, spread_covered_error_ns;

_Static_assert(sizeof(crest_stamp) == WIRE_STAMP_BYTES, "the envelope has room for the stamp");
/* With up to a hundred nodes, 99 % of them are all: the last one to come is the one that counts,
 * in whatever order they say so. With more, who came before would have to be sorted. */
_Static_assert(NODE_COUNT_MAX <= 100, "99 % of the nodes are all nodes");

/* ---- a receiver ---- */

/* A stamp, or a time, that nothing can be told from. */
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
    report_timer_add(&spread_propagated, m->arrived_ns - envelope->truth_ns);
    spread_propagated_error_ns += found.error_ns;
}

void spread_come(const inbox_message *m, const wire_envelope *envelope, const uint8_t *bytes,
                 size_t size, const uint8_t hash[NODE_HASH_BYTES])
{
    wire_in in = wire_read(bytes, size);
    wire_block head;
    wire_out out = {0};
    wire_have have = {hash, m->come_ns, m->arrived_ns};
    if (envelope != NULL)
        spread_measure(m, envelope, hash);
    if (!wire_get_block(&in, &head))
        return; /* nobody's */
    wire_put_have(&out, &have);
    net_send(head.proposer, WIRE_HAVE, out.bytes, out.length);
    wire_out_free(&out);
}

/* ---- the proposer ---- */

/* A block on its way. */
typedef struct spread_watch {
    uint8_t hash[NODE_HASH_BYTES];
    uint64_t sent_ns;       /* wall clock */
    uint64_t truth_ns;      /* node_now_ns */
    uint64_t nodes;         /* a bit for each that has it */
    int64_t last_ns;        /* when the last of them had it, since sent_ns, its clock corrected */
    uint64_t error_ns;      /* how far that may be off */
    uint64_t last_truth_ns; /* the same without an estimate, node_now_ns */
} spread_watch;

static unsigned spread_nodes, spread_index;
static spread_watch spread_watched[SPREAD_WATCHED_MAX]; /* the oldest first */
static unsigned spread_count;

void spread_open(const node_options *options)
{
    spread_nodes = options->nodes;
    spread_index = options->index;
}

static void spread_end(unsigned which, crest_outcome outcome, int64_t ns, uint64_t truth_ns)
{
    crest_timer_record(&block_coverage_time, ns, outcome);
    report_timer_add(&spread_covered[outcome], truth_ns);
    spread_count--;
    memmove(&spread_watched[which], &spread_watched[which + 1],
            (spread_count - which) * sizeof spread_watched[0]);
}

/* It never got there, as far as is known. */
static void spread_give_up(unsigned which, crest_outcome outcome)
{
    uint64_t passed_ns = node_now_ns() - spread_watched[which].truth_ns;
    spread_end(which, outcome, (int64_t)passed_ns, passed_ns);
}

void spread_hand_out(const chain_block *own)
{
    crest_stamp stamp;
    wire_out out = {0};
    wire_envelope envelope = {stamp.bytes, node_now_ns()};
    uint64_t sent_ns = crest_wall_now();
    crest_stamp_make_at(crest_op_bytes(own->hash, NODE_HASH_BYTES), sent_ns, crest_wall_error(),
                        &stamp, NULL);
    wire_put_envelope(&out, &envelope);
    wire_put_bytes(&out, own->bytes, own->size);
    net_broadcast(WIRE_BLOCK, out.bytes, out.length);
    wire_out_free(&out);
    if (spread_nodes == 1)
        return; /* nobody else is to have it */
    if (spread_count == SPREAD_WATCHED_MAX)
        spread_give_up(0, CREST_OUTCOME_CANCELLED);
    spread_watch *w = &spread_watched[spread_count++];
    *w = (spread_watch){
        .sent_ns = sent_ns, .truth_ns = envelope.truth_ns, .nodes = UINT64_C(1) << spread_index};
    memcpy(w->hash, own->hash, NODE_HASH_BYTES);
}

/* Corrects what a peer says; false when nothing can be told from it. */
static bool spread_correct(const spread_watch *w, unsigned from, const wire_have *have, int64_t *ns,
                           uint64_t *error_ns)
{
    crest_peer_clock_state clock;
    if (net_clock(from) == NULL || crest_peer_clock_read(net_clock(from), &clock) != CREST_OK ||
        have->come_ns < CREST_WALL_NS_MIN || have->come_ns > CREST_WALL_NS_MAX)
        return false;
    *ns = (int64_t)(have->come_ns - w->sent_ns) - clock.offset_ns;
    *error_ns = clock.error_ns;
    if (*ns < 0 && (uint64_t) - *ns > clock.error_ns)
        return false; /* before it was sent */
    return *ns <= (int64_t)SPREAD_PATIENCE_NS;
}

void spread_have(unsigned from, const wire_have *have)
{
    unsigned which = 0;
    while (which < spread_count &&
           memcmp(spread_watched[which].hash, have->hash, NODE_HASH_BYTES) != 0)
        which++;
    if (which == spread_count)
        return; /* given up, or covered without it */
    spread_watch *w = &spread_watched[which];
    uint64_t bit = UINT64_C(1) << from;
    int64_t ns;
    uint64_t error_ns;
    if (w->nodes & bit)
        return;
    w->nodes |= bit;
    if (!spread_correct(w, from, have, &ns, &error_ns)) {
        spread_refuse();
        spread_give_up(which, CREST_OUTCOME_ERROR);
        return;
    }
    if (ns > w->last_ns)
        w->last_ns = ns;
    if (error_ns > w->error_ns)
        w->error_ns = error_ns;
    if (have->truth_ns > w->last_truth_ns)
        w->last_truth_ns = have->truth_ns;
    unsigned enough = (SPREAD_COVERAGE_PERCENT * spread_nodes + 99) / 100;
    if ((unsigned)__builtin_popcountll(w->nodes) < enough)
        return;
    spread_covered_error_ns += w->error_ns;
    spread_end(which, CREST_OUTCOME_OK, w->last_ns, w->last_truth_ns - w->truth_ns);
}

void spread_due(uint64_t now_ns)
{
    while (spread_count > 0 && now_ns > spread_watched[0].truth_ns + SPREAD_PATIENCE_NS)
        spread_give_up(0, CREST_OUTCOME_TIMEOUT);
}

void spread_close(void)
{
    while (spread_count > 0)
        spread_give_up(0, CREST_OUTCOME_CANCELLED);
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

void spread_report_within(report *r)
{
    report_seconds(r, spread_propagated_error_ns,
                   "rchain_casper_block_propagation_time_seconds_sum{outcome=\"ok\"}");
    report_seconds(r, spread_covered_error_ns,
                   "rchain_casper_block_coverage_time_seconds_sum{outcome=\"ok\"}");
}
