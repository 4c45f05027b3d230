/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: accounts with balances, and what a transfer does to them. Every transfer that is
 * applied is one produce (the amount is put on the receiver's channel) and one consume (the
 * receiver takes it from there): a comm event. Deterministic: the same deploys on the same balances
 * give the same balances everywhere.
 */
#ifndef NODE_LEDGER_H
#define NODE_LEDGER_H

#include "node_report.h"
#include "node_wire.h"

#define LEDGER_ACCOUNTS 256
#define LEDGER_OPENING_BALANCE 1000
/* Largest amount the load asks for: large enough that accounts run dry now and then. */
#define LEDGER_AMOUNT_MAX 200

typedef struct ledger {
    int64_t balance[LEDGER_ACCOUNTS];
} ledger;

/* Executed for a block being proposed, or again to validate a peer's: counted apart. */
typedef enum ledger_run { LEDGER_PLAY, LEDGER_REPLAY, LEDGER_RUN_COUNT } ledger_run;

typedef struct ledger_outcome {
    uint32_t applied, rejected; /* rejected: insufficient funds */
} ledger_outcome;

void ledger_open(ledger *accounts);
void ledger_digest(const ledger *accounts, uint8_t digest[NODE_HASH_BYTES]);

/* Applies a deploy after checking its seal; false, and nothing applied, when the seal is broken or
 * an account does not exist. One thread (the worker). */
bool ledger_apply(ledger *accounts, const wire_deploy *deploy, ledger_run run,
                  ledger_outcome *outcome);

void ledger_report(report *r);

#endif
