/* SPDX-License-Identifier: Apache-2.0 */
/* See node_turns.h. */
#include "node_turns.h"

#include <crest/crest.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "node_consensus.h"
#include "node_events.h"
#include "node_hold.h"
#include "node_net.h"
#include "node_pool.h"
#include "node_spread.h"
#include "node_store.h"

/* Peers that are not up after this long are not waited for any more before proposing. */
#define TURNS_GRACE_NS (10 * NODE_NS_PER_S)
/* How often it looks whether they are. */
#define TURNS_LOOK_NS (20 * NODE_NS_PER_MS)
/* A vote's delay varies by up to this much from block to block. */
#define TURNS_JITTER_MS 16
#define TURNS_VOTES_MAX 256u
#define TURNS_OP_BYTES 40

/* ---- what this part measures: building blocks, the chain's height, and how long it took until
 * there was any ---- */

#include "node_metrics_casper.h"

static report_timer turns_create_total, turns_propose_total, turns_join_total[CREST_OUTCOME_COUNT];
static uint64_t turns_builds, turns_pending;

/* ---- state ---- */

static const node_options *turns_options;
static bool turns_quiet;          /* atomic */
static unsigned turns_tip_height; /* atomic */
static report_clock turns_clock; /* of all, and of joining */
static uint64_t turns_slot;
static bool turns_ready, turns_joined;
static crest_timing turns_join;
static turns_work turns_made, turns_began; /* with --blocks; the second: the clocks at the start */
static bool turns_all_made;                /* atomic, after turns_made */

static struct {
    uint64_t due_ns;
    uint8_t hash[NODE_HASH_BYTES];
} turns_vote[TURNS_VOTES_MAX];
static unsigned turns_votes;

void turns_open(const node_options *options)
{
    turns_options = options;
    report_clock_start(&turns_clock);
    turns_join = crest_timer_start(&node_join_time, crest_op_text(node_name()));
    report_clock_started(&turns_clock);
}

static void turns_end_join(crest_outcome outcome)
{
    if (turns_joined)
        return;
    turns_joined = true;
    report_clock_end(&turns_clock);
    crest_timing_end(&turns_join, crest_op_text(node_name()), outcome);
    report_timer_add_clock(&turns_join_total[outcome], &turns_clock);
}

void turns_close(void)
{
    turns_end_join(CREST_OUTCOME_CANCELLED);
}

void turns_stop_proposing(void)
{
    __atomic_store_n(&turns_quiet, true, __ATOMIC_RELAXED);
}

unsigned turns_height(void)
{
    return __atomic_load_n(&turns_tip_height, __ATOMIC_RELAXED);
}

/* ---- votes ---- */

void turns_plan_vote(const chain_block *b)
{
    if (turns_votes == TURNS_VOTES_MAX || turns_options->nodes == 1)
        return;
    uint64_t ms = (uint64_t)turns_options->slowest_validator_ms * (turns_options->index + 1) /
                      turns_options->nodes +
                  b->hash[turns_options->index] % TURNS_JITTER_MS;
    memcpy(turns_vote[turns_votes].hash, b->hash, NODE_HASH_BYTES);
    turns_vote[turns_votes++].due_ns = node_now_ns() + ms * NODE_NS_PER_MS;
}

static void turns_cast_vote(const uint8_t *hash)
{
    chain_block *b = chain_find(hash);
    if (b == NULL || !b->on_chain || b->voted)
        return; /* abandoned meanwhile: this node does not support it */
    b->voted = true;
    consensus_vote(b, turns_options->index);
    wire_out out = {0};
    wire_put_bytes(&out, hash, NODE_HASH_BYTES);
    wire_put_u16(&out, (uint16_t)turns_options->index);
    net_broadcast(WIRE_VOTE, out.bytes, out.length);
    wire_out_free(&out);
}

/* Casts what is due; returns when the next one is. */
static uint64_t turns_due_votes(uint64_t now_ns)
{
    uint64_t next_ns = UINT64_MAX;
    for (unsigned i = 0; i < turns_votes;) {
        if (turns_vote[i].due_ns <= now_ns) {
            turns_cast_vote(turns_vote[i].hash);
            turns_vote[i] = turns_vote[--turns_votes];
            continue;
        }
        if (turns_vote[i].due_ns < next_ns)
            next_ns = turns_vote[i].due_ns;
        i++;
    }
    return next_ns;
}

/* ---- proposing ---- */

void turns_tip_changed(void)
{
    unsigned height = chain_tip()->head.height;
    crest_gauge_set(&block_height, height);
    __atomic_store_n(&turns_tip_height, height, __ATOMIC_RELAXED);
    turns_end_join(CREST_OUTCOME_OK);
}

static void turns_propose(uint64_t slot)
{
    char name[TURNS_OP_BYTES];
    snprintf(name, sizeof name, "block-of-slot-%llu", (unsigned long long)slot);
    crest_op propose = crest_op_text(name);
    report_clock whole;
    report_clock_start(&whole);
    crest_timer_begin(&propose_time, propose);
    report_clock_started(&whole);
    crest_histogram_record(&deploys_pending, pool_waiting());
    turns_builds++;
    turns_pending += pool_waiting();
    CREST_EMIT(block_building, slot, pool_waiting());

    /* the block has no hash before it is built: the timing is bound to it then */
    report_clock clock;
    report_clock_start(&clock);
    crest_timing timing = crest_timer_start(&create_block_time, crest_op_none());
    report_clock_started(&clock);
    chain_block *b = chain_build(slot, (uint16_t)turns_options->index);
    crest_op op = crest_op_bytes(b->hash, NODE_HASH_BYTES);
    crest_timing_bind(&timing, op);
    report_clock_end(&clock);
    crest_timing_stop(&timing, op);
    clock = report_timer_add_clock(&turns_create_total, &clock);
    report_timed("rchain.casper.casper.create-block-time", b->hash, &clock, "ok");
    CREST_EMIT(block_built, crest_bytes(b->hash, NODE_HASH_BYTES), slot, b->head.height);
    hold_in_block(slot);

    consensus_proposal();
    consensus_begin(b);
    b->voted = true;
    chain_add_built(b);
    turns_tip_changed();
    store_put(b->hash, b->bytes, b->size);
    spread_hand_out(b);
    consensus_handed_out(b);
    report_clock_end(&whole);
    crest_timer_end(&propose_time, propose, CREST_OUTCOME_OK);
    report_timer_add_clock(&turns_propose_total, &whole);
    CREST_EMIT(block_proposed, crest_bytes(b->hash, NODE_HASH_BYTES), slot, b->head.count);
    report_event("proposed", "\"height\":%u,\"slot\":%llu,\"deploys\":%u", b->head.height,
                 (unsigned long long)slot, b->head.count);
}

static bool turns_my_turn(uint64_t slot)
{
    unsigned nodes = turns_options->nodes, index = turns_options->index;
    if (slot % nodes == index)
        return true;
    return turns_options->fork_every > 0 && slot % turns_options->fork_every == 0 &&
           (slot + 1) % nodes == index;
}

/* ---- as fast as it goes ---- */

static void turns_read_clocks(turns_work *work)
{
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    work->cpu_ns = (uint64_t)cpu.tv_sec * NODE_NS_PER_S + (uint64_t)cpu.tv_nsec;
    work->ns = node_now_ns();
}

/* With --blocks: proposes as soon as there are enough deploys. */
static uint64_t turns_due_block(uint64_t now_ns)
{
    uint64_t look_ns = now_ns + TURNS_LOOK_NS;
    if (turns_made.blocks == turns_options->blocks)
        return look_ns;
    if (turns_began.ns == 0 && pool_waiting() > 0)
        turns_read_clocks(&turns_began);
    if (pool_waiting() < turns_options->deploys_per_block)
        return look_ns;
    turns_propose(++turns_slot);
    if (++turns_made.blocks < turns_options->blocks)
        return now_ns;
    turns_read_clocks(&turns_made);
    turns_made.ns -= turns_began.ns;
    turns_made.cpu_ns -= turns_began.cpu_ns;
    __atomic_store_n(&turns_all_made, true, __ATOMIC_RELEASE); /* turns_done acquires */
    return look_ns;
}

bool turns_done(turns_work *work)
{
    bool done = __atomic_load_n(&turns_all_made, __ATOMIC_ACQUIRE);
    if (done)
        *work = turns_made;
    return done;
}

/* Proposes when a slot of this node has begun; returns when the next slot begins. */
static uint64_t turns_due_slot(uint64_t now_ns)
{
    uint64_t wall_ms = node_wall_ms(), interval = turns_options->block_interval_ms;
    uint64_t slot = wall_ms / interval;
    if (!turns_ready &&
        (net_peers() == turns_options->nodes - 1 ||
         now_ns > turns_clock.start_ns + TURNS_GRACE_NS)) {
        turns_ready = true;
        turns_slot = slot; /* begin with the next whole one */
        report_event("ready", "\"peers\":%u", net_peers());
    }
    if (turns_ready && slot > turns_slot) {
        turns_slot = slot;
        if (turns_my_turn(slot) && !__atomic_load_n(&turns_quiet, __ATOMIC_RELAXED))
            turns_propose(slot);
    }
    return now_ns + ((slot + 1) * interval - wall_ms) * NODE_NS_PER_MS;
}

uint64_t turns_due(uint64_t now_ns)
{
    if (turns_options->blocks > 0)
        return turns_due_block(now_ns);
    uint64_t slot_ns = turns_due_slot(now_ns), vote_ns = turns_due_votes(now_ns);
    uint64_t next_ns = slot_ns < vote_ns ? slot_ns : vote_ns;
    return turns_ready || next_ns < now_ns + TURNS_LOOK_NS ? next_ns : now_ns + TURNS_LOOK_NS;
}

void turns_report(report *r)
{
    report_timer_print(r, &turns_create_total, true, "rchain_casper_casper_create_block_time",
                       "outcome=\"ok\"");
    report_timer_print(r, &turns_propose_total, true, "rchain_casper_casper_propose_time",
                       "outcome=\"ok\"");
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++)
        report_timer_print(r, &turns_join_total[i], i <= CREST_OUTCOME_ERROR,
                           "rchain_casper_node_join_time", "outcome=\"%s\"",
                           crest_outcome_text((crest_outcome)i));
    report_count(r, turns_tip_height, "rchain_casper_add_block_block_height");
    report_count(r, turns_builds, "rchain_casper_deploys_pending_count");
    report_count(r, turns_pending, "rchain_casper_deploys_pending_sum");
}
