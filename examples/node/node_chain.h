/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain: blocks in memory, which of them is the tip, and which are orphaned. The tip is the
 * highest valid block, and of two equally high ones that with the smaller hash, so that all nodes
 * choose alike in any order of arrival. Used by the worker only.
 *
 * Blocks more than CHAIN_DEPTH below the tip are forgotten here; they are still in the store.
 */
#ifndef NODE_CHAIN_H
#define NODE_CHAIN_H

#include "node_ledger.h"

#define CHAIN_DEPTH 64u
/* Blocks that wait for a parent that has not come yet. */
#define CHAIN_WAITING_MAX 4096u
/* What a proposer puts into a block at most. */
#define CHAIN_BLOCK_DEPLOYS_MAX 1000u
#define CHAIN_BLOCK_BYTES_MAX (WIRE_FRAME_BYTES_MAX / 2)

struct watch;

typedef struct chain_block {
    uint8_t hash[NODE_HASH_BYTES];
    wire_block head;
    struct chain_block *parent; /* NULL: genesis, or forgotten */
    uint8_t *bytes;             /* its encoding, deploys included */
    size_t size;
    ledger after; /* balances after it */
    ledger_outcome outcome;
    uint64_t votes;      /* a bit for each node whose vote was seen */
    bool on_chain;       /* an ancestor of the tip, or the tip */
    bool orphaned;       /* was told to be, once */
    bool voted;          /* by this node */
    bool finalised;      /* every peer of its proposer has voted */
    struct watch *watch; /* this node's own block while its consensus is timed */
    struct chain_block *bucket_next;
} chain_block;

typedef enum chain_answer {
    CHAIN_ADDED, /* *added is the block; it may or may not be on the chain */
    CHAIN_KNOWN,
    CHAIN_WAITS, /* its parent is missing */
    CHAIN_INVALID,
} chain_answer;

/* Called when a block leaves the main chain or never gets there, and when it is forgotten. */
typedef struct chain_hooks {
    void (*orphaned)(chain_block *b);
    void (*forgotten)(chain_block *b);
} chain_hooks;

void chain_open(const chain_hooks *hooks);
void chain_close(void);

chain_block *chain_tip(void);
chain_block *chain_find(const uint8_t hash[NODE_HASH_BYTES]);
/* In the chain, or waiting for its parent. */
bool chain_has(const uint8_t hash[NODE_HASH_BYTES]);

/* Makes a block from the pool on the highest block of an earlier slot: executed and hashed, not
 * added yet. */
chain_block *chain_build(uint64_t slot, uint16_t proposer);
void chain_free(chain_block *b);

/* Adds a block this node built. */
void chain_add_built(chain_block *b);

/* Validates an encoded block, re-executing it, and adds it. `why` gets a text for CHAIN_INVALID;
 * CHAIN_WAITS fills in the hash that is missing. */
chain_answer chain_add(const uint8_t *bytes, size_t size, chain_block **added,
                       uint8_t missing[NODE_HASH_BYTES], const char **why);

/* A block that was waiting for this one, for the caller to free, or NULL. */
uint8_t *chain_next_waiting(const uint8_t parent[NODE_HASH_BYTES], size_t *size);

#endif
