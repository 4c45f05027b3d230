/* SPDX-License-Identifier: Apache-2.0 */
/* See node_worker.h. */
#include "node_worker.h"

#include <crest/crest.h>
#include <crest/profile.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "node_consensus.h"
#include "node_events.h"
#include "node_hash.h"
#include "node_inbox.h"
#include "node_net.h"
#include "node_pool.h"
#include "node_spread.h"
#include "node_store.h"
#include "node_turns.h"

/* A note's digest is taken this often: a small message that is dear to handle, so that a burst
 * queues. */
#define WORKER_NOTE_ROUNDS 2

/* ---- what this part measures: messages handled, deploys taken, blocks validated ---- */

#include "node_metrics_casper.h"
#include "node_metrics_comm.h"

static report_timer worker_add_total[2]; /* ok, error */
static uint64_t worker_invalid, worker_received, worker_refused;
static uint64_t worker_dispatched[WIRE_TYPE_COUNT];
static crest_counter *worker_dispatch_counter[WIRE_TYPE_COUNT];
static const char *const worker_kind[WIRE_TYPE_COUNT] = {
    [WIRE_DEPLOY] = "deploy", [WIRE_BLOCK] = "block",     [WIRE_VOTE] = "vote",
    [WIRE_HAVE] = "have",     [WIRE_REQUEST] = "request", [WIRE_ANSWER] = "answer",
    [WIRE_NOTE] = "note"};

/* ---- state ---- */

static pthread_t worker_thread;
static bool worker_ending; /* atomic */
static uint64_t worker_burst_ns;

/* ---- what peers and the load say ---- */

static void worker_deploy(const inbox_message *m)
{
    wire_in in = wire_read(m->bytes, m->size);
    wire_deploy deploy;
    if (!wire_get_deploy(&in, &deploy) || !wire_done(&in) || !wire_deploy_seal_holds(&deploy)) {
        if (m->from != INBOX_SELF)
            net_reject((unsigned)m->from);
        return;
    }
    pool_answer answer = pool_add(&deploy);
    if (m->from != INBOX_SELF)
        return;
    if (answer == POOL_ADDED) {
        crest_counter_inc(&deploys_received);
        worker_received++;
        net_broadcast(WIRE_DEPLOY, m->bytes, m->size);
    } else {
        crest_counter_inc(&deploys_refused);
        worker_refused++;
    }
}

/* One block, from a peer or the store. Returns what chain_add says. */
static chain_answer worker_one_block(const uint8_t *bytes, size_t size, bool stored,
                                     uint8_t *missing)
{
    uint8_t hash[NODE_HASH_BYTES];
    const char *why;
    chain_block *b = NULL;
    node_hash(bytes, size, hash);
    crest_op op = crest_op_bytes(hash, sizeof hash);
    CREST_EMIT(block_received, crest_bytes(hash, sizeof hash), size, stored);
    report_clock clock;
    report_clock_start(&clock);
    crest_timing timing = crest_timer_start(&add_block_time, op);
    report_clock_started(&clock);
    chain_answer answer;
    {
        CREST_PROFILE_WORK(&add_block_time, op);
        answer = chain_add(bytes, size, &b, missing, &why);
        if (answer == CHAIN_ADDED && !stored)
            store_put(hash, bytes, size);
    }
    if (answer == CHAIN_ADDED || answer == CHAIN_INVALID) {
        bool good = answer == CHAIN_ADDED;
        report_clock_end(&clock);
        crest_timing_end(&timing, op, good ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
        clock = report_timer_add_clock(&worker_add_total[!good], &clock);
        report_timed("rchain.casper.casper.add-block-time", hash, &clock, good ? "ok" : "error");
    }
    if (answer == CHAIN_INVALID) {
        char text[NODE_HEX_BYTES];
        crest_counter_inc(&blocks_invalid);
        worker_invalid++;
        CREST_EMIT(block_rejected, crest_bytes(hash, sizeof hash), why);
        node_say("block %.12s is invalid: %s; it is left out", node_hex(hash, text), why);
    }
    if (answer == CHAIN_ADDED) {
        CREST_EMIT(block_added, crest_bytes(hash, sizeof hash), b->head.height, b->head.count);
        turns_tip_changed();
        if (!stored)
            turns_plan_vote(b);
        consensus_early(b);
    }
    return answer;
}

/* Then the blocks that waited for it as their parent, and in turn those that waited for them. */
static void worker_blocks_waiting(const uint8_t *bytes, size_t size)
{
    uint8_t missing[NODE_HASH_BYTES];
    uint8_t(*parent)[NODE_HASH_BYTES] = node_alloc(sizeof *parent);
    size_t count = 1;
    node_hash(bytes, size, parent[0]);
    while (count > 0) {
        size_t next_size;
        uint8_t *next = chain_next_waiting(parent[count - 1], &next_size);
        if (next == NULL) {
            count--;
            continue;
        }
        if (worker_one_block(next, next_size, false, missing) == CHAIN_ADDED) {
            parent = node_realloc(parent, ++count * sizeof *parent);
            node_hash(next, next_size, parent[count - 1]);
        }
        free(next);
    }
    free(parent);
}

/* envelope: what it came in, NULL for a requested block. */
static void worker_block(const inbox_message *m, const wire_envelope *envelope,
                         const uint8_t *bytes, size_t bytes_size)
{
    uint8_t hash[NODE_HASH_BYTES], missing[NODE_HASH_BYTES];
    size_t size;
    node_hash(bytes, bytes_size, hash);
    if (chain_has(hash))
        return;
    spread_come(m, envelope, bytes, bytes_size, hash);
    consensus_proposal();
    uint8_t *own = store_get(hash, &size);
    chain_answer answer = worker_one_block(bytes, bytes_size, own != NULL, missing);
    free(own);
    if (answer == CHAIN_ADDED)
        worker_blocks_waiting(bytes, bytes_size);

    /* A parent is missing: the node has been away. What the store has, it need not ask for. */
    while (answer == CHAIN_WAITS) {
        uint8_t *parent = store_get(missing, &size);
        if (parent == NULL) {
            if (m->from != INBOX_SELF)
                net_send((unsigned)m->from, WIRE_REQUEST, missing, sizeof missing);
            return;
        }
        answer = worker_one_block(parent, size, true, missing);
        if (answer == CHAIN_ADDED)
            worker_blocks_waiting(parent, size);
        free(parent);
    }
}

static bool worker_block_message(const inbox_message *m)
{
    wire_in in = wire_read(m->bytes, m->size);
    wire_envelope envelope;
    if (!wire_get_envelope(&in, &envelope))
        return false;
    worker_block(m, &envelope, in.at, (size_t)(in.end - in.at));
    return true;
}

static bool worker_have(const inbox_message *m)
{
    wire_in in = wire_read(m->bytes, m->size);
    wire_have have;
    if (!wire_get_have(&in, &have))
        return false;
    spread_have((unsigned)m->from, &have);
    return true;
}

static bool worker_vote_message(const inbox_message *m)
{
    wire_in in = wire_read(m->bytes, m->size);
    const uint8_t *hash = wire_get_bytes(&in, NODE_HASH_BYTES);
    unsigned voter = wire_get_u16(&in);
    if (!wire_done(&in) || (int)voter != m->from)
        return false;
    chain_block *b = chain_find(hash);
    if (b != NULL)
        consensus_vote(b, voter);
    else
        consensus_vote_early(hash, voter);
    return true;
}

static bool worker_request(const inbox_message *m)
{
    if (m->size != NODE_HASH_BYTES)
        return false;
    const chain_block *b = chain_find(m->bytes);
    if (b != NULL && b->bytes != NULL) {
        net_send((unsigned)m->from, WIRE_ANSWER, b->bytes, b->size);
        return true;
    }
    size_t size;
    uint8_t *bytes = store_get(m->bytes, &size);
    if (bytes != NULL)
        net_send((unsigned)m->from, WIRE_ANSWER, bytes, size);
    free(bytes);
    return true;
}

static bool worker_note(const inbox_message *m)
{
    uint8_t digest[NODE_HASH_BYTES];
    wire_in in = wire_read(m->bytes, m->size);
    uint32_t which = wire_get_u32(&in), count = wire_get_u32(&in);
    if (in.bad || m->size != WIRE_NOTE_BYTES || which >= count)
        return false;
    for (unsigned i = 0; i < WORKER_NOTE_ROUNDS; i++)
        node_hash(m->bytes, m->size, digest);
    if (which == 0)
        worker_burst_ns = m->arrived_ns;
    if (which + 1 == count)
        report_event("burst", "\"notes\":%u,\"arrived_within_ms\":%.3f,\"deepest\":%llu", count,
                     (double)(m->arrived_ns - worker_burst_ns) / NODE_NS_PER_MS,
                     (unsigned long long)inbox_deepest());
    return true;
}

static void worker_handle(const inbox_message *m)
{
    bool good = true;
    crest_counter_inc(worker_dispatch_counter[m->type]);
    worker_dispatched[m->type]++;
    switch (m->type) {
    case WIRE_DEPLOY: worker_deploy(m); break;
    case WIRE_BLOCK: good = worker_block_message(m); break;
    case WIRE_ANSWER: worker_block(m, NULL, m->bytes, m->size); break;
    case WIRE_VOTE: good = worker_vote_message(m); break;
    case WIRE_HAVE: good = worker_have(m); break;
    case WIRE_REQUEST: good = worker_request(m); break;
    default: good = worker_note(m); break;
    }
    if (!good && m->from != INBOX_SELF)
        net_reject((unsigned)m->from);
}

/* ---- the loop ---- */

static void *worker_run(void *unused)
{
    (void)unused;
    for (;;) {
        uint64_t now_ns = node_now_ns();
        bool ending = __atomic_load_n(&worker_ending, __ATOMIC_RELAXED);
        uint64_t wake_ns = ending ? now_ns : turns_due(now_ns);
        store_retry(false);
        spread_due(now_ns);
        if (wake_ns > now_ns + STORE_RETRY_NS)
            wake_ns = now_ns + STORE_RETRY_NS;
        inbox_message *m = inbox_pop(wake_ns);
        if (m != NULL)
            worker_handle(m);
        else if (ending)
            return NULL;
        free(m);
    }
}

bool worker_open(const node_options *options)
{
    static const chain_hooks hooks = {consensus_orphaned, consensus_forgotten};
    turns_open(options);
    spread_open(options);
    for (unsigned i = 0; i < WIRE_TYPE_COUNT; i++)
        if (worker_kind[i] != NULL)
            worker_dispatch_counter[i] = dispatched_with(worker_kind[i]);
    consensus_open(options->nodes);
    chain_open(&hooks);
    if (!store_open(options->data, options->map_bytes))
        return false;
    int rc = pthread_create(&worker_thread, NULL, worker_run, NULL);
    if (rc != 0)
        node_say("cannot start the worker's thread: %s; allow the node more threads", strerror(rc));
    return rc == 0;
}

void worker_close(void)
{
    __atomic_store_n(&worker_ending, true, __ATOMIC_RELAXED);
    inbox_wake();
    pthread_join(worker_thread, NULL);
    consensus_close();
    spread_close();
    turns_close();
    store_close();
    chain_close();
    pool_close();
}

void worker_report(report *r)
{
    report_timer_print(r, &worker_add_total[0], true, "rchain_casper_casper_add_block_time",
                       "outcome=\"ok\"");
    report_timer_print(r, &worker_add_total[1], true, "rchain_casper_casper_add_block_time",
                       "outcome=\"error\"");
    report_count(r, worker_invalid, "rchain_casper_blocks_invalid_total");
    report_count(r, worker_received, "rchain_block_api_deploys_received_total");
    report_count(r, worker_refused, "rchain_block_api_deploys_refused_total");
    for (unsigned i = 0; i < WIRE_TYPE_COUNT; i++)
        if (worker_kind[i] != NULL)
            report_count(r, worker_dispatched[i],
                         "rchain_comm_rp_transport_dispatched_packets_total{kind=\"%s\"}",
                         worker_kind[i]);
    ledger_report(r);
    turns_report(r);
    consensus_report(r);
    spread_report(r);
    store_report(r);
}
