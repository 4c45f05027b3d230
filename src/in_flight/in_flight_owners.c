/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owners of operations in flight, so that all operations of an owner can be ended at once.
 *
 * Beside each block of entries lies a block of owners, made when the first operation with an owner
 * falls into it. An owner's place also keeps the entry's state word at its begin, with the
 * generation. So an end, or a begin without an owner, does nothing here: a stale place differs from
 * the entry's present state word.
 *
 * Price: to find an owner's operations all places are searched, 8 bytes each, 64 in a row. A list
 * for each owner would be faster there, but each end would have to unlink its operation.
 */
#define _GNU_SOURCE
#include "in_flight/in_flight_owners.h"
#include "base/forked.h"
#include "base/lock.h"
#include "in_flight/in_flight_entries.h"

#include <string.h>

/* Written under the lock of the block's stripe; `hash` is read without it. */
typedef struct owners_block {
    uint64_t hash[CREST_IN_FLIGHT_BLOCK]; /* of the owner; 0: none, or ended */
    uint64_t state[CREST_IN_FLIGHT_BLOCK];
    crest_op owner[CREST_IN_FLIGHT_BLOCK];
} owners_block;

static owners_block *owners_blocks[CREST_IN_FLIGHT_BLOCKS];

/* The child takes new blocks of entries: no operation there has an owner. */
static void owners_forked(void)
{
    memset(owners_blocks, 0, sizeof owners_blocks);
}
CREST_FORKED(IN_FLIGHT_OWNERS, owners_forked)

static uint64_t owners_hash(const crest_op *owner)
{
    return crest_in_flight_hash_op(crest_hash_seed(), owner) | 1;
}

static owners_block *owners_of(uint64_t block)
{
    /* acquire: partner of the release store in crest_in_flight_can_own */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&owners_blocks[block]));
}

int crest_in_flight_can_own(const crest_in_flight_entry *entry)
{
    unsigned block = entry->place / CREST_IN_FLIGHT_BLOCK;
    if (CREST_LIKELY(owners_of(block) != NULL))
        return 1;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    owners_block *owners = crest_arena_take(CREST_ARENA_CELLS, sizeof *owners, CREST_LINE_BYTES);
    crest_lock_drop(&saved);
    /* partner: the acquire load in owners_of */
    crest_atomic_store_ptr_release(CREST_PTR(&owners_blocks[block]), owners);
    return owners != NULL;
}

void crest_in_flight_own(const crest_in_flight_entry *entry, const crest_op *owner)
{
    unsigned block = entry->place / CREST_IN_FLIGHT_BLOCK, i = entry->place % CREST_IN_FLIGHT_BLOCK;
    owners_block *owners = owners_of(block);
    if (owners == NULL || entry != crest_in_flight_blocks[block] + i)
        return; /* in a child whose fork interrupted this begin */
    owners->owner[i] = *owner;
    owners->state[i] = crest_atomic_load(&entry->state);
    crest_atomic_store(&owners->hash[i], owners_hash(owner));
}

/* What is ended, and how. */
typedef struct owners_end {
    const crest_op *owner;
    uint64_t hash;
    uint64_t now_ns;
    crest_outcome outcome;
} owners_end;

/* Ends the operation in this place if it is the owner's and in flight. 0 if not, or if it is
 * overdue and so has timed out. */
static int owners_end_at(crest_in_flight_table *table, uint64_t block, unsigned i,
                         const owners_end *end)
{
    owners_block *owners = owners_of(block);
    crest_in_flight_entry *entry =
        crest_atomic_load_ptr_acquire(CREST_PTR(&crest_in_flight_blocks[block]));
    if (owners == NULL || entry == NULL)
        return 0; /* in a child whose fork interrupted this */
    entry += i;
    /* all operations of a block are its stripe's */
    crest_in_flight_stripe *stripe =
        crest_in_flight_stripe_of(table, crest_atomic_load(&entry->hash));
    crest_keyed *keyed = NULL;
    uint64_t begun_ns = 0;
    crest_op op;
    int ended = 0, expired = 0;
    crest_in_flight_lock(stripe);
    if (crest_atomic_load(&owners->hash[i]) == end->hash &&
        memcmp(&owners->owner[i], end->owner, sizeof *end->owner) == 0) {
        begun_ns = crest_atomic_load_acquire(&entry->begun_ns);
        keyed = entry->keyed;
        uint64_t state = crest_atomic_load_acquire(&entry->state);
        memcpy(&op, entry->op, sizeof op);
        if (keyed != NULL && state == owners->state[i]) {
            if (crest_in_flight_is_overdue(entry->overdue_ns, end->now_ns))
                expired = crest_in_flight_settle(entry, state, CREST_IN_FLIGHT_EXPIRED);
            else
                ended = crest_in_flight_finish(entry, state);
        }
        if (ended) {
            crest_in_flight_entry **at = crest_in_flight_at(stripe, entry->hash, entry);
            crest_in_flight_unchain(stripe, at, entry, keyed->share);
        }
        crest_atomic_store(&owners->hash[i], 0);
    }
    crest_in_flight_unlock(stripe);
    if (expired)
        crest_in_flight_record_timeout(keyed, &op);
    if (ended)
        crest_timer_record_op(keyed->timer, crest_in_flight_duration(begun_ns, end->now_ns),
                              end->outcome, &op);
    return ended;
}

size_t crest_in_flight_end_owned(const crest_op *owner, crest_outcome outcome)
{
    owners_end end = {owner, owners_hash(owner), crest_now(), outcome};
    crest_in_flight_table *table = crest_in_flight_table_seen();
    size_t ended = 0;
    /* acquire: partner of the release store in crest_in_flight_grow */
    uint64_t blocks = table != NULL ? crest_atomic_load_acquire(&table->blocks) : 0;
    for (uint64_t block = 0; block < blocks; block++) {
        const owners_block *owners = owners_of(block);
        for (unsigned i = 0; owners != NULL && i < CREST_IN_FLIGHT_BLOCK; i++)
            if (CREST_UNLIKELY(crest_atomic_load(&owners->hash[i]) == end.hash))
                ended += (size_t)owners_end_at(table, block, i, &end);
    }
    return ended;
}
