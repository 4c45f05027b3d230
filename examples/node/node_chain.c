/* SPDX-License-Identifier: Apache-2.0 */
/* See node_chain.h. */
#include "node_chain.h"

#include <stdlib.h>
#include <string.h>

#include "node_hash.h"
#include "node_pool.h"

#define CHAIN_BUCKETS 512u

/* A block whose parent is missing, as it came. */
typedef struct chain_waiter {
    struct chain_waiter *next;
    uint8_t hash[NODE_HASH_BYTES], parent[NODE_HASH_BYTES];
    uint8_t *bytes;
    size_t size;
} chain_waiter;

static chain_block *chain_bucket[CHAIN_BUCKETS];
static chain_block *chain_best;
static chain_hooks chain_call;
static chain_waiter *chain_waiters;
static unsigned chain_waiting;

static chain_block **chain_place(const uint8_t *hash)
{
    chain_block **place = &chain_bucket[(hash[0] | hash[1] << 8) % CHAIN_BUCKETS];
    while (*place != NULL && memcmp((*place)->hash, hash, NODE_HASH_BYTES) != 0)
        place = &(*place)->bucket_next;
    return place;
}

static void chain_link(chain_block *b)
{
    chain_block **place = chain_place(b->hash);
    b->bucket_next = *place;
    *place = b;
}

void chain_open(const chain_hooks *hooks)
{
    chain_block *genesis = node_alloc_zero(1, sizeof *genesis);
    chain_call = *hooks;
    ledger_open(&genesis->after);
    ledger_digest(&genesis->after, genesis->head.state);
    node_hash("genesis", 7, genesis->hash);
    genesis->on_chain = genesis->finalised = genesis->voted = true;
    chain_link(genesis);
    chain_best = genesis;
}

void chain_free(chain_block *b)
{
    free(b->bytes);
    free(b);
}

void chain_close(void)
{
    for (unsigned i = 0; i < CHAIN_BUCKETS; i++) {
        for (chain_block *b = chain_bucket[i], *next; b != NULL; b = next) {
            next = b->bucket_next;
            chain_free(b);
        }
        chain_bucket[i] = NULL;
    }
    while (chain_waiters != NULL) {
        chain_waiter *waiter = chain_waiters;
        chain_waiters = waiter->next;
        free(waiter->bytes);
        free(waiter);
    }
    chain_best = NULL;
}

chain_block *chain_tip(void)
{
    return chain_best;
}

chain_block *chain_find(const uint8_t hash[NODE_HASH_BYTES])
{
    return *chain_place(hash);
}

/* ---- executing ---- */

/* Runs all deploys of the block on the balances after its parent. NULL, or what is wrong. */
static const char *chain_execute(chain_block *b, const chain_block *parent, ledger_run run)
{
    wire_in in = wire_read(b->bytes, b->size);
    wire_block head;
    if (!wire_get_block(&in, &head))
        return "it is cut short";
    b->after = parent->after;
    for (uint32_t i = 0; i < head.count; i++) {
        wire_deploy deploy;
        if (!wire_get_deploy(&in, &deploy))
            return "a deploy in it is cut short";
        if (!ledger_apply(&b->after, &deploy, run, &b->outcome))
            return "a deploy in it has a broken seal or an account that does not exist";
    }
    return wire_done(&in) ? NULL : "something follows its last deploy";
}

static void chain_each_deploy(const chain_block *b, void visit(const wire_deploy *))
{
    wire_in in = wire_read(b->bytes, b->size);
    wire_block head;
    if (b->bytes == NULL || !wire_get_block(&in, &head))
        return;
    wire_deploy deploy;
    for (uint32_t i = 0; i < head.count && wire_get_deploy(&in, &deploy); i++)
        visit(&deploy);
}

chain_block *chain_build(uint64_t slot, uint16_t proposer)
{
    chain_block *b = node_alloc_zero(1, sizeof *b), *parent = chain_best;
    while (parent->head.slot >= slot && parent->parent != NULL)
        parent = parent->parent; /* another proposer of this slot was faster: a fork */
    b->head.slot = slot;
    b->head.height = parent->head.height + 1;
    b->head.proposer = proposer;
    memcpy(b->head.parent, parent->hash, NODE_HASH_BYTES);

    /* the state is known only after executing, so the head is written once to execute and once for
     * good */
    wire_out deploys = {0}, out = {0};
    b->head.count = pool_choose(&deploys, CHAIN_BLOCK_DEPLOYS_MAX, CHAIN_BLOCK_BYTES_MAX);
    wire_put_block(&out, &b->head);
    size_t head_bytes = out.length;
    wire_put_bytes(&out, deploys.bytes, deploys.length);
    b->bytes = out.bytes;
    b->size = out.length;
    const char *wrong = chain_execute(b, parent, LEDGER_PLAY);
    if (wrong != NULL)
        node_say("built a block that does not execute: %s", wrong);
    ledger_digest(&b->after, b->head.state);

    wire_out head = {0};
    wire_put_block(&head, &b->head);
    memcpy(b->bytes, head.bytes, head_bytes);
    wire_out_free(&head);
    wire_out_free(&deploys);
    node_hash(b->bytes, b->size, b->hash);
    return b;
}

/* ---- choosing the tip ---- */

static void chain_tell_orphaned(chain_block *b)
{
    if (b->orphaned)
        return;
    b->orphaned = true;
    chain_call.orphaned(b);
}

static void chain_leave(chain_block *b)
{
    b->on_chain = false;
    chain_each_deploy(b, pool_returned);
}

/* Joining goes from the oldest to the newest; the branch is at most CHAIN_DEPTH long. */
static void chain_switch(chain_block *tip)
{
    chain_block *branch[CHAIN_DEPTH + 2];
    unsigned count = 0;
    for (chain_block *b = tip; b != NULL && !b->on_chain && count < CHAIN_DEPTH + 2; b = b->parent)
        branch[count++] = b;
    chain_block *fork = count > 0 ? branch[count - 1]->parent : tip;
    for (chain_block *b = chain_best; b != NULL && b != fork; b = b->parent)
        chain_leave(b);
    chain_block *old = chain_best;
    while (count > 0) {
        chain_block *b = branch[--count];
        b->on_chain = true;
        chain_each_deploy(b, pool_included);
    }
    chain_best = tip;
    for (chain_block *b = old; b != NULL && b != fork; b = b->parent)
        chain_tell_orphaned(b);
}

static bool chain_better(const chain_block *b, const chain_block *than)
{
    if (b->head.height != than->head.height)
        return b->head.height > than->head.height;
    return memcmp(b->hash, than->hash, NODE_HASH_BYTES) < 0;
}

/* Forgets what lies deeper than CHAIN_DEPTH. */
static void chain_prune(void)
{
    if (chain_best->head.height <= CHAIN_DEPTH)
        return;
    uint32_t floor = chain_best->head.height - CHAIN_DEPTH;
    for (unsigned i = 0; i < CHAIN_BUCKETS; i++)
        for (chain_block **place = &chain_bucket[i], *b; (b = *place) != NULL;) {
            if (b->head.height <= floor)
                b->parent = NULL; /* is below the floor: freed now, or already */
            if (b->head.height >= floor) {
                place = &b->bucket_next;
                continue;
            }
            *place = b->bucket_next;
            if (b->on_chain)
                chain_each_deploy(b, pool_forget);
            chain_call.forgotten(b);
            chain_free(b);
        }
}

static void chain_settle(chain_block *b)
{
    chain_link(b);
    if (chain_better(b, chain_best))
        chain_switch(b);
    else
        chain_tell_orphaned(b);
}

void chain_add_built(chain_block *b)
{
    b->parent = chain_find(b->head.parent);
    chain_settle(b);
    chain_prune();
}

/* ---- blocks from others ---- */

static bool chain_waits(const uint8_t *hash)
{
    for (const chain_waiter *w = chain_waiters; w != NULL; w = w->next)
        if (memcmp(w->hash, hash, NODE_HASH_BYTES) == 0)
            return true;
    return false;
}

bool chain_has(const uint8_t hash[NODE_HASH_BYTES])
{
    return chain_find(hash) != NULL || chain_waits(hash);
}

static void chain_wait(const uint8_t *hash, const wire_block *head, const uint8_t *bytes,
                       size_t size)
{
    if (chain_waits(hash))
        return;
    if (chain_waiting >= CHAIN_WAITING_MAX) {
        node_say("%u blocks wait for a parent; one more is left out", chain_waiting);
        return;
    }
    chain_waiter *waiter = node_alloc_zero(1, sizeof *waiter);
    memcpy(waiter->hash, hash, NODE_HASH_BYTES);
    memcpy(waiter->parent, head->parent, NODE_HASH_BYTES);
    waiter->bytes = node_alloc(size);
    memcpy(waiter->bytes, bytes, size);
    waiter->size = size;
    waiter->next = chain_waiters;
    chain_waiters = waiter;
    chain_waiting++;
}

uint8_t *chain_next_waiting(const uint8_t parent[NODE_HASH_BYTES], size_t *size)
{
    for (chain_waiter **place = &chain_waiters, *w; (w = *place) != NULL; place = &w->next)
        if (memcmp(w->parent, parent, NODE_HASH_BYTES) == 0) {
            uint8_t *bytes = w->bytes;
            *size = w->size;
            *place = w->next;
            chain_waiting--;
            free(w);
            return bytes;
        }
    return NULL;
}

static const char *chain_validate(chain_block *b, const chain_block *parent)
{
    uint8_t state[NODE_HASH_BYTES];
    if (b->head.height != parent->head.height + 1)
        return "its height does not follow its parent's";
    if (b->head.slot <= parent->head.slot)
        return "its slot is not after its parent's";
    const char *wrong = chain_execute(b, parent, LEDGER_REPLAY);
    if (wrong != NULL)
        return wrong;
    ledger_digest(&b->after, state);
    if (memcmp(state, b->head.state, NODE_HASH_BYTES) != 0)
        return "executing it gives other balances than it says";
    return NULL;
}

chain_answer chain_add(const uint8_t *bytes, size_t size, chain_block **added,
                       uint8_t missing[NODE_HASH_BYTES], const char **why)
{
    wire_in in = wire_read(bytes, size);
    uint8_t hash[NODE_HASH_BYTES];
    wire_block head;
    *why = "it is cut short";
    if (!wire_get_block(&in, &head))
        return CHAIN_INVALID;
    node_hash(bytes, size, hash);
    if (chain_find(hash) != NULL)
        return CHAIN_KNOWN;
    if (head.height + CHAIN_DEPTH <= chain_best->head.height)
        return CHAIN_KNOWN; /* too deep to matter, and perhaps forgotten */
    chain_block *parent = chain_find(head.parent);
    if (parent == NULL) {
        memcpy(missing, head.parent, NODE_HASH_BYTES);
        chain_wait(hash, &head, bytes, size);
        return CHAIN_WAITS;
    }
    chain_block *b = node_alloc_zero(1, sizeof *b);
    memcpy(b->hash, hash, NODE_HASH_BYTES);
    b->head = head;
    b->parent = parent;
    b->bytes = node_alloc(size);
    memcpy(b->bytes, bytes, size);
    b->size = size;
    *why = chain_validate(b, parent);
    if (*why != NULL) {
        chain_free(b);
        return CHAIN_INVALID;
    }
    chain_settle(b);
    chain_prune();
    *added = b; /* above the floor of pruning, or CHAIN_KNOWN above */
    return CHAIN_ADDED;
}
