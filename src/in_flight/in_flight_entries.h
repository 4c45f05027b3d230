/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of the table of operations in flight: their fields, their states, and the stripes
 * that they lie in. Inline is what a begin and an end need.
 *
 * A stripe's lock guards its chains and free entries. It is held for a look-up and a few stores,
 * never while something is recorded. The state word is lock-free: a sweep reads entries and expires
 * them without any lock, so that it delays no begin and no end. The word also holds the entry's
 * generation (no ABA): a compare-and-swap that succeeds is of the very operation whose fields were
 * read before.
 *
 *     begin   under the lock   (free)  -> begun    generation + 1, after all fields
 *     end     under the lock   begun   -> ended    and back to the free ones; or as a sweep, but
 *                                                  by a store without a deadline
 *     sweep   without it       begun   -> expired  stays in its chain: a tombstone
 *     begin   under the lock   expired -> begun    generation + 1
 *     sweep   under the lock   expired -> ended    an old tombstone goes back to the free ones
 *     cancel  under the lock   begun, expired -> ended    of a closed series, which begins nothing
 *
 * Invariant: one thread settles each operation (ends or expires it), and only that thread records
 * it.
 *
 * A fork zeroes all of this memory in the child, which then takes another table. A call that a
 * forking handler interrupted goes on there with zeros in the old table. So code loads a pointer
 * once where it may be zero, and loads times before the state that makes them valid. Model:
 * tests/model/in_flight.pml has all interleavings.
 */
#ifndef CREST_IN_FLIGHT_ENTRIES_H
#define CREST_IN_FLIGHT_ENTRIES_H

#include "base/arena.h"
#include "base/atomic.h"
#include "base/hash.h"
#include "instruments/keyed_series.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CREST_IN_FLIGHT_BUCKETS 256u
#define CREST_IN_FLIGHT_BLOCKS (CREST_IN_FLIGHT_MAX / CREST_IN_FLIGHT_BLOCK)
#define CREST_IN_FLIGHT_STRIPE_MAX (CREST_IN_FLIGHT_MAX / CREST_IN_FLIGHT_STRIPES)
_Static_assert(CREST_IN_FLIGHT_STRIPE_MAX % CREST_IN_FLIGHT_BLOCK == 0,
               "a stripe has whole blocks");
_Static_assert(CREST_IN_FLIGHT_STRIPE_MAX <= UINT16_MAX, "what a metric holds of a stripe fits");
#define IN_FLIGHT_NS UINT64_C(1000000000)

/* The low bits of a state word; the others are the generation. */
enum { CREST_IN_FLIGHT_ENDED, CREST_IN_FLIGHT_BEGUN, CREST_IN_FLIGHT_EXPIRED };
#define CREST_IN_FLIGHT_STATE UINT64_C(3)
#define CREST_IN_FLIGHT_GENERATION UINT64_C(4)

#define CREST_IN_FLIGHT_OP_WORDS (sizeof(crest_op) / sizeof(uint64_t))
_Static_assert(sizeof(crest_op) % sizeof(uint64_t) == 0, "an op is whole words");

/* Every word but `state` is written under the stripe's lock. Words that a sweep reads without the
 * lock are written with release and read with acquire, see walks_read. */
typedef struct crest_in_flight_entry {
    uint64_t state;
    uint64_t hash;
    uint64_t begun_ns;
    uint64_t overdue_ns; /* 0: never */
    crest_keyed *keyed;
    uint64_t op[CREST_IN_FLIGHT_OP_WORDS];
    uint64_t last; /* the stage marked last, from 1; 0: none */
    /* read under the lock only */
    uint64_t marked_ns;
    uint32_t marks; /* a bit a stage */
    uint32_t place; /* index among all blocks' entries; fixed */
    struct crest_in_flight_entry *next;
} crest_in_flight_entry;

typedef struct crest_in_flight_stripe {
    uint32_t lock;
    uint32_t used;                         /* entries in chains */
    uint16_t held[CREST_IN_FLIGHT_SHARES]; /* the same, by share */
    crest_in_flight_entry *free;
    crest_in_flight_entry *chain[CREST_IN_FLIGHT_BUCKETS];
} __attribute__((aligned(CREST_LINE_BYTES))) crest_in_flight_stripe;

typedef struct crest_in_flight_table {
    uint64_t blocks;  /* in use in in_flight_blocks */
    uint64_t room_ns; /* when room was last searched */
    crest_in_flight_stripe stripe[CREST_IN_FLIGHT_STRIPES];
} crest_in_flight_table;

/* The table; NULL before the first begin. */
extern crest_in_flight_table *crest_in_flight_root;

/* The blocks of entries, as many as the table says; NULL in a forked child until it takes new ones.
 */
extern crest_in_flight_entry *crest_in_flight_blocks[CREST_IN_FLIGHT_BLOCKS];

/* ---- a stripe's lock: free, held, held with waiters (U. Drepper, "Futexes Are Tricky") ---- */

static inline void crest_in_flight_lock(crest_in_flight_stripe *stripe)
{
    /* acquire: partner of the exchange in crest_in_flight_unlock */
    if (CREST_LIKELY(crest_atomic_cas32_acquire(&stripe->lock, 0, 1)))
        return;
    while (crest_atomic_exchange32(&stripe->lock, 2) != 0)
        syscall(SYS_futex, &stripe->lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static inline void crest_in_flight_unlock(crest_in_flight_stripe *stripe)
{
    if (CREST_UNLIKELY(crest_atomic_exchange32_release(&stripe->lock, 0) == 2))
        syscall(SYS_futex, &stripe->lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- places ---- */

/* Both factors depend on the seed, through `hash`, as in crest_hash_more. */
static inline uint64_t crest_in_flight_hash_op(uint64_t hash, const crest_op *op)
{
    uint64_t other = hash << 32 | hash >> 32;
    hash = crest_hash_fold(op->word[0] ^ hash, op->word[1] ^ other);
    /* integers have zeros there; their kind tells them apart without mixing */
    if ((op->word[2] | op->word[3]) != 0)
        hash = crest_hash_fold(op->word[2] ^ hash, op->word[3] ^ other);
    return crest_hash_mix(hash, (uint64_t)op->length << 32 | op->kind);
}

static inline crest_in_flight_stripe *crest_in_flight_stripe_of(crest_in_flight_table *table,
                                                                uint64_t hash)
{
    crest_in_flight_stripe *stripe = &table->stripe[(hash >> 32) % CREST_IN_FLIGHT_STRIPES];
    CREST_PLAIN_ADDRESS_(stripe); /* computed once, not for each word */
    return stripe;
}

static inline crest_in_flight_entry **crest_in_flight_chain_of(crest_in_flight_stripe *stripe,
                                                               uint64_t hash)
{
    return &stripe->chain[hash % CREST_IN_FLIGHT_BUCKETS];
}

static inline crest_in_flight_table *crest_in_flight_table_seen(void)
{
    /* acquire: partner of the release store in crest_in_flight_table_made */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&crest_in_flight_root));
}

/* ---- states ---- */

static inline int crest_in_flight_is(uint64_t state, unsigned what)
{
    return (state & CREST_IN_FLIGHT_STATE) == what;
}

static inline int crest_in_flight_is_overdue(uint64_t overdue_ns, uint64_t now_ns)
{
    return overdue_ns != 0 && now_ns >= overdue_ns;
}

/*
 * Settles an operation: non-zero in exactly one of the threads that try. Release and acquire:
 * partners of the store in in_flight_start and of the loads in walks_read. So fields read before
 * belong to this operation, and fields of the next one are written after.
 */
static inline int crest_in_flight_settle(crest_in_flight_entry *entry, uint64_t begun, unsigned to)
{
    return crest_atomic_cas(&entry->state, begun, (begun & ~CREST_IN_FLIGHT_STATE) | to);
}

/*
 * Under the lock: ends a begun operation; 0 when a sweep was faster. Sweeps never settle an
 * operation without a deadline, so a store will do there, which saves every end a locked
 * instruction. Release: as in crest_in_flight_settle.
 */
static inline int crest_in_flight_finish(crest_in_flight_entry *entry, uint64_t begun)
{
    if (entry->overdue_ns != 0)
        return crest_in_flight_settle(entry, begun, CREST_IN_FLIGHT_ENDED);
    crest_atomic_store_release(&entry->state,
                               (begun & ~CREST_IN_FLIGHT_STATE) | CREST_IN_FLIGHT_ENDED);
    return 1;
}

/* 0 for an operation that began after this call read the clock: another thread had ended it and
 *   begun it anew. */
static inline int64_t crest_in_flight_duration(uint64_t begun_ns, uint64_t now_ns)
{
    return now_ns > begun_ns ? (int64_t)(now_ns - begun_ns) : 0;
}

/* Under the lock: the link of its chain that leads to the entry. */
static inline crest_in_flight_entry **crest_in_flight_at(crest_in_flight_stripe *stripe,
                                                         uint64_t hash,
                                                         const crest_in_flight_entry *entry)
{
    crest_in_flight_entry **at = crest_in_flight_chain_of(stripe, hash), *there;
    while ((there = *at) != NULL && there != entry)
        at = &there->next;
    return at;
}

/* Under the lock: takes the entry out of its chain, at this link. */
static inline void crest_in_flight_unchain(crest_in_flight_stripe *stripe,
                                           crest_in_flight_entry **at, crest_in_flight_entry *entry,
                                           uint32_t share)
{
    *at = entry->next;
    entry->next = stripe->free;
    stripe->free = entry;
    stripe->used--;
    stripe->held[share]--;
}

/* Under the lock: another block of free entries for the stripe; nothing without memory. */
void crest_in_flight_grow(crest_in_flight_table *table, crest_in_flight_stripe *stripe);

/* The table, made if need be; NULL without memory. */
crest_in_flight_table *crest_in_flight_table_made(void);

/* Under the lock: writes into the state file which blocks there are. */
void crest_in_flight_describe(void);

/* Records the timeout of an expired operation: called by the thread that settled it. */
void crest_in_flight_record_timeout(const crest_keyed *keyed, const crest_op *op);

#endif
