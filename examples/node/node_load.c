/* SPDX-License-Identifier: Apache-2.0 */
/* See node_load.h. */
#include "node_load.h"

#include <crest/crest.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "node_hold.h"
#include "node_inbox.h"
#include "node_ledger.h"
#include "node_wire.h"

/* It sleeps until the next deploy is due, but never longer: to notice a stop. */
#define LOAD_SLEEP_NS (50 * NODE_NS_PER_MS)
/* With --blocks: so many deploys may wait in the inbox, and so long it waits for room. */
#define LOAD_AHEAD 1024u
#define LOAD_ROOM_NS (200 * UINT64_C(1000))

/* ---- what this part measures: the load that is offered, accepted or not ---- */

#include "node_metrics_casper.h"

static uint64_t load_deploys, load_transfers;

static const node_options *load_options;
static pthread_t load_thread;
static bool load_running, load_stopping; /* the latter atomic */
static uint64_t load_sequence, load_random;

/* xorshift64*, Vigna 2016: good enough to choose accounts */
static uint32_t load_draw(uint32_t below)
{
    load_random ^= load_random >> 12;
    load_random ^= load_random << 25;
    load_random ^= load_random >> 27;
    return (uint32_t)((load_random * UINT64_C(0x2545f4914f6cdd1d)) >> 32) % below;
}

static void load_offer(void)
{
    wire_transfer transfer[WIRE_TRANSFERS_MAX];
    uint32_t count = load_options->transfers_per_deploy;
    for (uint32_t i = 0; i < count; i++)
        transfer[i] =
            (wire_transfer){(uint16_t)load_draw(LEDGER_ACCOUNTS),
                            (uint16_t)load_draw(LEDGER_ACCOUNTS), 1 + load_draw(LEDGER_AMOUNT_MAX)};
    wire_out out = {0};
    wire_put_deploy(&out, (uint16_t)load_options->index, ++load_sequence, transfer, count);
    crest_counter_inc(&deploys_offered);
    load_deploys++;
    crest_counter_add(&transfers_offered, count);
    load_transfers += count;
    inbox_push(INBOX_SELF, WIRE_DEPLOY, out.bytes, out.length);
    wire_out_free(&out);
}

static void load_sleep_until(uint64_t wake_ns)
{
    struct timespec until = {(time_t)(wake_ns / NODE_NS_PER_S), (long)(wake_ns % NODE_NS_PER_S)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* What the blocks need and no more, as fast as the node takes it. */
static void *load_run_blocks(void *unused)
{
    (void)unused;
    uint64_t wanted = (uint64_t)load_options->blocks * load_options->deploys_per_block;
    while (load_deploys < wanted && !__atomic_load_n(&load_stopping, __ATOMIC_RELAXED)) {
        while (inbox_waiting() > LOAD_AHEAD && !__atomic_load_n(&load_stopping, __ATOMIC_RELAXED))
            load_sleep_until(node_now_ns() + LOAD_ROOM_NS);
        for (unsigned i = 0; i < LOAD_AHEAD && load_deploys < wanted; i++)
            load_offer();
    }
    return NULL;
}

static void *load_run(void *unused)
{
    (void)unused;
    uint64_t start_ns = node_now_ns();
    double ns_per_deploy = (double)NODE_NS_PER_S / load_options->deploys_per_second;
    while (!__atomic_load_n(&load_stopping, __ATOMIC_RELAXED)) {
        hold_here();
        /* by the schedule, not by when the last one was done */
        uint64_t due_ns = start_ns + (uint64_t)((double)(load_deploys + 1) * ns_per_deploy);
        uint64_t now_ns = node_now_ns();
        if (now_ns >= due_ns) {
            load_offer();
            continue;
        }
        uint64_t wake_ns = due_ns < now_ns + LOAD_SLEEP_NS ? due_ns : now_ns + LOAD_SLEEP_NS;
        load_sleep_until(wake_ns);
    }
    return NULL;
}

bool load_open(const node_options *options)
{
    load_options = options;
    if (options->deploys_per_second <= 0 && options->blocks == 0)
        return true;
    /* numbers go on where an earlier run of this node stopped: a deploy is known by its number */
    load_sequence = node_wall_ms() << 20;
    load_random = UINT64_C(0x9e3779b97f4a7c15) * (options->index + 1);
    if (options->blocks == 0)
        hold_expect();
    int rc =
        pthread_create(&load_thread, NULL, options->blocks > 0 ? load_run_blocks : load_run, NULL);
    if (rc != 0)
        node_say("cannot start the load's thread: %s; allow the node more threads", strerror(rc));
    load_running = rc == 0;
    return load_running;
}

void load_close(void)
{
    __atomic_store_n(&load_stopping, true, __ATOMIC_RELAXED);
    if (load_running)
        pthread_join(load_thread, NULL);
    load_running = false;
}

void load_report(report *r)
{
    report_count(r, load_deploys, "rchain_block_api_deploys_offered_total");
    report_count(r, load_transfers, "rchain_casper_transfers_offered_total");
}
