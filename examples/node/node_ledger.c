/* SPDX-License-Identifier: Apache-2.0 */
/* See node_ledger.h. */
#include "node_ledger.h"

#include <crest/crest.h>

#include "node_hash.h"

/* ---- what this part measures: one counter for each half of a comm event, by kind of run ---- */

#define RSPACE_METRICS_DEFINE
#include "node_metrics_rspace.h"

static uint64_t ledger_produced[LEDGER_RUN_COUNT], ledger_consumed[LEDGER_RUN_COUNT];

/* ---- the channels: an amount waits on its receiver's channel until the receiver takes it ---- */

static void ledger_produce(ledger *channel, uint16_t account, int64_t amount, ledger_run run)
{
    channel->balance[account] += amount;
    crest_counter_inc(run == LEDGER_PLAY ? &comm_produce : &replay_produce);
    ledger_produced[run]++;
}

static int64_t ledger_consume(ledger *channel, uint16_t account, ledger_run run)
{
    int64_t amount = channel->balance[account];
    channel->balance[account] = 0;
    crest_counter_inc(run == LEDGER_PLAY ? &comm_consume : &replay_consume);
    ledger_consumed[run]++;
    return amount;
}

void ledger_open(ledger *accounts)
{
    for (unsigned i = 0; i < LEDGER_ACCOUNTS; i++)
        accounts->balance[i] = LEDGER_OPENING_BALANCE;
}

void ledger_digest(const ledger *accounts, uint8_t digest[NODE_HASH_BYTES])
{
    wire_out out = {0};
    for (unsigned i = 0; i < LEDGER_ACCOUNTS; i++)
        wire_put_u64(&out, (uint64_t)accounts->balance[i]);
    node_hash(out.bytes, out.length, digest);
    wire_out_free(&out);
}

bool ledger_apply(ledger *accounts, const wire_deploy *deploy, ledger_run run,
                  ledger_outcome *outcome)
{
    static ledger channel; /* empty between transfers */
    if (!wire_deploy_seal_holds(deploy))
        return false;
    for (uint32_t i = 0; i < deploy->count; i++) {
        wire_transfer t = wire_deploy_transfer(deploy, i);
        if (t.from >= LEDGER_ACCOUNTS || t.to >= LEDGER_ACCOUNTS)
            return false;
    }
    for (uint32_t i = 0; i < deploy->count; i++) {
        wire_transfer t = wire_deploy_transfer(deploy, i);
        if (accounts->balance[t.from] < (int64_t)t.amount) {
            outcome->rejected++;
            continue;
        }
        accounts->balance[t.from] -= t.amount;
        ledger_produce(&channel, t.to, t.amount, run);
        accounts->balance[t.to] += ledger_consume(&channel, t.to, run);
        outcome->applied++;
    }
    return true;
}

void ledger_report(report *r)
{
    report_count(r, ledger_produced[LEDGER_PLAY], "rchain_rspace_comm_produce_total");
    report_count(r, ledger_consumed[LEDGER_PLAY], "rchain_rspace_comm_consume_total");
    report_count(r, ledger_produced[LEDGER_REPLAY], "rchain_rspace_replay_comm_produce_total");
    report_count(r, ledger_consumed[LEDGER_REPLAY], "rchain_rspace_replay_comm_consume_total");
}
