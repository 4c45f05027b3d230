/* SPDX-License-Identifier: Apache-2.0 */
/* See node_consensus.h. */
#include "node_consensus.h"

#include <crest/crest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONSENSUS_LEVELS 3
static const char *const consensus_level_name[CONSENSUS_LEVELS] = {"0", "1/3", "1"};

/* ---- what this part measures: how long a block takes to each level of support, right and wrong
 * (see consensus_proposal), and what became of the blocks this node proposed ---- */

#define CASPER_METRICS_DEFINE
#include "node_events.h"
#include "node_metrics_casper.h"

static crest_timer *consensus_timer[CONSENSUS_LEVELS];

/* the truth: plain variables, by level and outcome */
static report_timer consensus_total[CONSENSUS_LEVELS][CREST_OUTCOME_COUNT];
static report_timer consensus_naive_total;
static uint64_t consensus_proposed, consensus_orphans, consensus_final, consensus_deploys,
    consensus_applied, consensus_rejected, consensus_bytes;

/* ---- one block's timings travel with the block ---- */

struct watch {
    struct watch *next, **place;
    uint8_t hash[NODE_HASH_BYTES];
    crest_op op;
    crest_timing level[CONSENSUS_LEVELS];
    bool open[CONSENSUS_LEVELS];
    report_clock clock;
};

static struct watch *consensus_watches;
static unsigned consensus_open_count; /* read by other threads: atomic */
static unsigned consensus_peers;
static uint64_t consensus_naive_start_ns;

static struct {
    uint8_t hash[NODE_HASH_BYTES];
    unsigned voter;
} consensus_early_vote[CONSENSUS_EARLY_MAX];
static unsigned consensus_early_next;

void consensus_open(unsigned nodes)
{
    consensus_peers = nodes - 1;
    for (unsigned i = 0; i < CONSENSUS_LEVELS; i++)
        consensus_timer[i] = consensus_time_with(consensus_level_name[i]);
    for (unsigned i = 0; i < CONSENSUS_EARLY_MAX; i++)
        consensus_early_vote[i].voter = NODE_COUNT_MAX;
}

static void consensus_end_level(struct watch *w, unsigned level, crest_outcome outcome)
{
    if (!w->open[level])
        return;
    w->open[level] = false;
    report_clock_end(&w->clock);
    crest_timing_end(&w->level[level], w->op, outcome);
    report_clock took = report_timer_add_clock(&consensus_total[level][outcome], &w->clock);
    char timer[64];
    snprintf(timer, sizeof timer, "rchain.casper.consensus-time support=%s",
             consensus_level_name[level]);
    report_timed(timer, w->hash, &took, crest_outcome_text(outcome));
}

static void consensus_unwatch(chain_block *b, crest_outcome outcome)
{
    struct watch *w = b->watch;
    if (w == NULL)
        return;
    for (unsigned i = 0; i < CONSENSUS_LEVELS; i++)
        consensus_end_level(w, i, outcome);
    b->watch = NULL;
    *w->place = w->next;
    if (w->next != NULL)
        w->next->place = w->place;
    free(w);
    __atomic_fetch_sub(&consensus_open_count, 1, __ATOMIC_RELAXED);
}

/*
 * The naive way, as it is often written: the time of the proposal is "the" start time, and the next
 * block of this node that is decided is measured from there. With blocks in flight side by side the
 * start belongs to another block. consensus_begin is the right way.
 */
void consensus_proposal(void)
{
    consensus_naive_start_ns = node_now_ns();
}

static void consensus_naive_end(void)
{
    uint64_t ns = node_now_ns() - consensus_naive_start_ns;
    crest_timer_record(&unbound_consensus_time, (int64_t)ns, CREST_OUTCOME_OK);
    report_timer_add(&consensus_naive_total, ns, 0);
}

void consensus_begin(chain_block *own)
{
    struct watch *w = node_alloc_zero(1, sizeof *w);
    memcpy(w->hash, own->hash, NODE_HASH_BYTES);
    w->op = crest_op_bytes(own->hash, NODE_HASH_BYTES);
    report_clock_start(&w->clock);
    for (unsigned i = 0; i < CONSENSUS_LEVELS; i++) {
        w->level[i] = crest_timer_start(consensus_timer[i], w->op);
        w->open[i] = true;
    }
    report_clock_started(&w->clock);
    w->next = consensus_watches;
    if (w->next != NULL)
        w->next->place = &w->next;
    w->place = &consensus_watches;
    consensus_watches = w;
    own->watch = w;
    __atomic_fetch_add(&consensus_open_count, 1, __ATOMIC_RELAXED);

    crest_counter_inc(&blocks_proposed);
    consensus_proposed++;
    crest_histogram_record(&block_bytes, (int64_t)own->size);
    consensus_bytes += own->size;
}

static void consensus_finalise_own(chain_block *own)
{
    crest_counter_inc(&blocks_finalised);
    consensus_final++;
    crest_counter_add(&deploys_finalised, own->head.count);
    consensus_deploys += own->head.count;
    crest_counter_add(&transfers_applied, own->outcome.applied);
    consensus_applied += own->outcome.applied;
    crest_counter_add(&transfers_rejected, own->outcome.rejected);
    consensus_rejected += own->outcome.rejected;
    consensus_naive_end();
    consensus_unwatch(own, CREST_OUTCOME_OK);
}

/* Compares the votes with the levels. An orphaned block has no watch any more. */
static void consensus_weigh(chain_block *b)
{
    unsigned votes = (unsigned)__builtin_popcountll(b->votes);
    if (b->watch != NULL && votes * 3 >= consensus_peers)
        consensus_end_level(b->watch, 1, CREST_OUTCOME_OK);
    if (votes < consensus_peers || b->finalised)
        return;
    b->finalised = true;
    if (b->watch != NULL) {
        report_clock clock = b->watch->clock;
        report_clock_end(&clock);
        consensus_finalise_own(b);
        uint64_t now_ns = node_now_ns();
        CREST_EMIT(block_finalised, crest_bytes(b->hash, NODE_HASH_BYTES), b->head.height,
                   (double)(now_ns - clock.start_ns) / (double)NODE_NS_PER_S);
        report_event("finalised", "\"height\":%u,\"took_ms\":%.6f,\"within_ms\":%.6f",
                     b->head.height, (double)(now_ns - clock.start_ns) / NODE_NS_PER_MS,
                     (double)(clock.apart_ns + now_ns - clock.end_ns) / NODE_NS_PER_MS);
    }
}

void consensus_handed_out(chain_block *own)
{
    if (own->watch == NULL)
        return; /* orphaned already */
    consensus_end_level(own->watch, 0, CREST_OUTCOME_OK);
    consensus_weigh(own);
}

void consensus_vote(chain_block *b, unsigned voter)
{
    if (voter == b->head.proposer)
        return; /* proposing is not supporting */
    b->votes |= UINT64_C(1) << voter;
    consensus_weigh(b);
}

void consensus_vote_early(const uint8_t hash[NODE_HASH_BYTES], unsigned voter)
{
    unsigned at = consensus_early_next++ % CONSENSUS_EARLY_MAX;
    memcpy(consensus_early_vote[at].hash, hash, NODE_HASH_BYTES);
    consensus_early_vote[at].voter = voter;
}

void consensus_early(chain_block *b)
{
    for (unsigned i = 0; i < CONSENSUS_EARLY_MAX; i++)
        if (consensus_early_vote[i].voter < NODE_COUNT_MAX &&
            memcmp(consensus_early_vote[i].hash, b->hash, NODE_HASH_BYTES) == 0) {
            consensus_vote(b, consensus_early_vote[i].voter);
            consensus_early_vote[i].voter = NODE_COUNT_MAX;
        }
}

void consensus_orphaned(chain_block *b)
{
    if (b->watch == NULL)
        return; /* another node's, or decided before */
    crest_counter_inc(&blocks_orphaned);
    consensus_orphans++;
    consensus_naive_end();
    consensus_unwatch(b, CREST_OUTCOME_ERROR);
    CREST_EMIT(block_orphaned, crest_bytes(b->hash, NODE_HASH_BYTES), b->head.slot);
    report_event("orphaned", "\"height\":%u,\"slot\":%llu", b->head.height,
                 (unsigned long long)b->head.slot);
}

void consensus_forgotten(chain_block *b)
{
    consensus_unwatch(b, CREST_OUTCOME_TIMEOUT);
}

unsigned consensus_unsettled(void)
{
    return __atomic_load_n(&consensus_open_count, __ATOMIC_RELAXED);
}

void consensus_close(void)
{
    while (consensus_watches != NULL) {
        struct watch *w = consensus_watches;
        for (unsigned i = 0; i < CONSENSUS_LEVELS; i++)
            consensus_end_level(w, i, CREST_OUTCOME_CANCELLED);
        consensus_watches = w->next;
        free(w);
    }
}

uint64_t consensus_finalised(void)
{
    return consensus_final;
}

void consensus_report(report *r)
{
    for (unsigned level = 0; level < CONSENSUS_LEVELS; level++)
        for (unsigned outcome = 0; outcome < CREST_OUTCOME_COUNT; outcome++)
            report_timer_print(r, &consensus_total[level][outcome], outcome <= CREST_OUTCOME_ERROR,
                               "rchain_casper_consensus_time", "outcome=\"%s\",support=\"%s\"",
                               crest_outcome_text((crest_outcome)outcome),
                               consensus_level_name[level]);
    report_timer_print(r, &consensus_naive_total, true, "rchain_casper_unbound_consensus_time",
                       "outcome=\"ok\"");
    report_count(r, consensus_proposed, "rchain_casper_blocks_proposed_total");
    report_count(r, consensus_orphans, "rchain_casper_blocks_orphaned_total");
    report_count(r, consensus_final, "rchain_casper_blocks_finalised_total");
    report_count(r, consensus_deploys, "rchain_casper_deploys_finalised_total");
    report_count(r, consensus_applied, "rchain_casper_transfers_applied_total");
    report_count(r, consensus_rejected, "rchain_casper_transfers_rejected_total");
    report_count(r, consensus_proposed, "rchain_casper_block_size_bytes_count");
    report_count(r, consensus_bytes, "rchain_casper_block_size_bytes_sum");
}
