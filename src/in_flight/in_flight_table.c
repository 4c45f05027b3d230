/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begin, mark and end of operations in flight. See in_flight_table.h; the table of states, and
 * which call changes what, is in in_flight_entries.h.
 */
#define _GNU_SOURCE
#include "in_flight/in_flight_table.h"
#include "base/hash.h"
#include "in_flight/in_flight_entries.h"
#include "in_flight/in_flight_owners.h"
#include "in_flight/in_flight_walks.h"
#include "spans/span_offer.h"
#include "spans/traced_metrics.h"

#include <string.h>

/* ---- finding ---- */

static uint64_t in_flight_hash(const crest_keyed *keyed, const crest_op *op)
{
    return crest_in_flight_hash_op(keyed->hash, op);
}

/* Under the lock: the link that leads to this operation's entry, or the NULL at its chain's end. */
static crest_in_flight_entry **in_flight_find(crest_in_flight_stripe *stripe, uint64_t hash,
                                              const crest_keyed *keyed, const crest_op *op)
{
    crest_in_flight_entry **at = crest_in_flight_chain_of(stripe, hash);
    crest_in_flight_entry *entry;
    for (; (entry = *at) != NULL; at = &entry->next)
        if (entry->hash == hash && entry->keyed == keyed && memcmp(entry->op, op, sizeof *op) == 0)
            break;
    return at;
}

/* Under the lock: makes a free entry or a tombstone this operation's. */
static inline __attribute__((always_inline)) void in_flight_start(crest_in_flight_entry *entry,
                                                                  uint64_t hash, crest_keyed *keyed,
                                                                  const crest_op *op,
                                                                  uint64_t now_ns)
{
    uint64_t kind; /* and length */
    _Static_assert(sizeof op->word + sizeof kind == sizeof *op, "an op is five words");
    memcpy(&kind, (const char *)op + sizeof op->word, sizeof kind);
    uint64_t state = crest_atomic_load_acquire(&entry->state);
    crest_atomic_store_release(&entry->hash, hash);
    crest_atomic_store_release(&entry->begun_ns, now_ns);
    crest_atomic_store_release(&entry->overdue_ns,
                               keyed->deadline_ns ? now_ns + keyed->deadline_ns : 0);
    crest_atomic_store_ptr_release(CREST_PTR(&entry->keyed), keyed);
    /* no loop here: compilers would make one */
    crest_atomic_store_release(&entry->op[0], op->word[0]);
    crest_atomic_store_release(&entry->op[1], op->word[1]);
    crest_atomic_store_release(&entry->op[2], op->word[2]);
    crest_atomic_store_release(&entry->op[3], op->word[3]);
    crest_atomic_store_release(&entry->op[4], kind);
    crest_atomic_store_release(&entry->last, 0);
    entry->marked_ns = now_ns;
    entry->marks = 0;
    crest_atomic_store_release(&entry->state,
                               ((state & ~CREST_IN_FLIGHT_STATE) + CREST_IN_FLIGHT_GENERATION) |
                                   CREST_IN_FLIGHT_BEGUN);
}

/* Under the lock: an entry for a new operation, linked into its chain; NULL and *status without
 * one. */
static inline crest_in_flight_entry *in_flight_chain(crest_in_flight_table *table,
                                                     crest_in_flight_stripe *stripe, uint64_t hash,
                                                     uint32_t share, crest_status *status)
{
    *status = CREST_LIMIT;
    if (CREST_UNLIKELY(stripe->used + stripe->held[share] >= CREST_IN_FLIGHT_STRIPE_MAX))
        return NULL;
    if (CREST_UNLIKELY(stripe->free == NULL))
        crest_in_flight_grow(table, stripe);
    crest_in_flight_entry *entry = stripe->free;
    *status = CREST_NO_MEMORY;
    if (CREST_UNLIKELY(entry == NULL))
        return NULL;
    crest_in_flight_entry **chain = crest_in_flight_chain_of(stripe, hash);
    stripe->free = entry->next;
    entry->next = *chain;
    *chain = entry;
    stripe->used++;
    stripe->held[share]++;
    *status = CREST_OK;
    return entry;
}

/* ---- begin, mark, end ---- */

/* Under the lock: whether an operation that has an entry may begin anew: it has ended or is
 * overdue. *expired says whether this call settled the overdue one. */
static crest_status in_flight_again(crest_in_flight_entry *entry, uint64_t now_ns, int *expired)
{
    uint64_t state = crest_atomic_load_acquire(&entry->state);
    if (!crest_in_flight_is(state, CREST_IN_FLIGHT_BEGUN))
        return CREST_OK;
    if (!crest_in_flight_is_overdue(entry->overdue_ns, now_ns))
        return CREST_ALREADY;
    *expired = crest_in_flight_settle(entry, state, CREST_IN_FLIGHT_EXPIRED);
    return CREST_OK;
}

/* `owner`: NULL for none; inlined so that a begin without an owner is compiled for NULL. */
static inline __attribute__((always_inline)) crest_status
in_flight_try_begin(crest_in_flight_table *table, uint64_t hash, crest_keyed *keyed,
                    const crest_op *op, const crest_op *owner, uint64_t now_ns)
{
    crest_in_flight_stripe *stripe = crest_in_flight_stripe_of(table, hash);
    crest_status status = CREST_LATE;
    int expired = 0;
    crest_in_flight_lock(stripe);
    if (CREST_LIKELY(crest_atomic_load(&keyed->closed) == 0) || !crest_in_flight_is_closed(keyed)) {
        crest_in_flight_entry *entry = *in_flight_find(stripe, hash, keyed, op);
        int fresh = entry == NULL;
        if (fresh)
            entry = in_flight_chain(table, stripe, hash, keyed->share, &status);
        else
            status = in_flight_again(entry, now_ns, &expired);
        if (owner != NULL && status == CREST_OK && !crest_in_flight_can_own(entry)) {
            status = CREST_NO_MEMORY;
            if (fresh) /* at the head of its chain */
                crest_in_flight_unchain(stripe, crest_in_flight_chain_of(stripe, hash), entry,
                                        keyed->share);
        }
        if (CREST_LIKELY(status == CREST_OK))
            in_flight_start(entry, hash, keyed, op, now_ns);
        if (owner != NULL && status == CREST_OK)
            crest_in_flight_own(entry, owner);
    }
    crest_in_flight_unlock(stripe);
    if (expired)
        crest_in_flight_record_timeout(keyed, op);
    return status;
}

/* A begin refused for want of room or memory tries once more where that may help. */
static __attribute__((noinline)) crest_status
in_flight_begin_again(crest_in_flight_table *table, uint64_t hash, crest_keyed *keyed,
                      const crest_op *op, const crest_op *owner, uint64_t now_ns,
                      crest_status status)
{
    if (status == CREST_LIMIT && crest_in_flight_make_room(table, now_ns))
        status = in_flight_try_begin(table, hash, keyed, op, owner, now_ns);
    /* a handler forked meanwhile, and the child has another table */
    if (status == CREST_NO_MEMORY && table != crest_in_flight_table_seen() &&
        (table = crest_in_flight_table_made()) != NULL)
        status = in_flight_try_begin(table, hash, keyed, op, owner, now_ns);
    return status;
}

static inline __attribute__((always_inline)) crest_status
in_flight_begin(crest_keyed *keyed, const crest_op *op, const crest_op *owner)
{
    uint64_t now_ns = crest_now();
    uint64_t hash = in_flight_hash(keyed, op);
    crest_in_flight_table *table = crest_in_flight_table_seen();
    if (CREST_UNLIKELY(table == NULL) && (table = crest_in_flight_table_made()) == NULL)
        return CREST_NO_MEMORY;
    crest_status status = in_flight_try_begin(table, hash, keyed, op, owner, now_ns);
    if (CREST_UNLIKELY(status == CREST_LIMIT || status == CREST_NO_MEMORY))
        return in_flight_begin_again(table, hash, keyed, op, owner, now_ns, status);
    return status;
}

crest_status crest_in_flight_begin(crest_keyed *keyed, const crest_op *op)
{
    return in_flight_begin(keyed, op, NULL);
}

crest_status crest_in_flight_begin_owned(crest_keyed *keyed, const crest_op *op,
                                         const crest_op *owner)
{
    return in_flight_begin(keyed, op, owner);
}

/*
 * Under the lock: whether the entry's operation is still in flight at now_ns. Otherwise
 * CREST_TIMED_OUT, and *expired is set if this call settled it. CREST_NOT_FOUND in a child whose
 * fork interrupted the call.
 */
static crest_status in_flight_check(crest_in_flight_entry *entry, uint64_t state, uint64_t now_ns,
                                    int *expired)
{
    if (!crest_in_flight_is(state, CREST_IN_FLIGHT_BEGUN))
        return crest_in_flight_is(state, CREST_IN_FLIGHT_EXPIRED) ? CREST_TIMED_OUT
                                                                  : CREST_NOT_FOUND;
    if (!crest_in_flight_is_overdue(entry->overdue_ns, now_ns))
        return CREST_OK;
    *expired = crest_in_flight_settle(entry, state, CREST_IN_FLIGHT_EXPIRED);
    return CREST_TIMED_OUT;
}

crest_status crest_in_flight_end(crest_keyed *keyed, const crest_op *op, crest_outcome outcome)
{
    uint64_t now_ns = crest_now(), begun_ns = 0;
    uint64_t hash = in_flight_hash(keyed, op);
    crest_in_flight_table *table = crest_in_flight_table_seen();
    if (CREST_UNLIKELY(table == NULL))
        return CREST_NOT_FOUND;
    crest_in_flight_stripe *stripe = crest_in_flight_stripe_of(table, hash);
    crest_status status = CREST_NOT_FOUND;
    int expired = 0;
    crest_in_flight_lock(stripe);
    crest_in_flight_entry **at = in_flight_find(stripe, hash, keyed, op), *entry = *at;
    if (entry != NULL) {
        begun_ns = crest_atomic_load_acquire(&entry->begun_ns);
        uint64_t state = crest_atomic_load_acquire(&entry->state);
        status = in_flight_check(entry, state, now_ns, &expired);
        if (status == CREST_OK && !crest_in_flight_finish(entry, state))
            status = CREST_TIMED_OUT; /* a sweep was faster */
        if (status == CREST_OK)
            crest_in_flight_unchain(stripe, at, entry, keyed->share);
    }
    crest_in_flight_unlock(stripe);
    if (expired)
        crest_in_flight_record_timeout(keyed, op);
    if (status == CREST_OK)
        crest_timer_record_op(keyed->timer, crest_in_flight_duration(begun_ns, now_ns), outcome,
                              op);
    return status;
}

static crest_histogram *in_flight_histogram(crest_histogram **histogram)
{
    /* acquire: partner of the release store in child_get.c */
    return crest_atomic_load_ptr_acquire(CREST_PTR(histogram));
}

crest_status crest_in_flight_mark(crest_keyed *keyed, const crest_op *op, unsigned stage)
{
    uint64_t hash = in_flight_hash(keyed, op), gap_ns = 0, since_ns = 0;
    crest_in_flight_table *table = crest_in_flight_table_seen();
    if (table == NULL)
        return CREST_NOT_FOUND;
    crest_in_flight_stripe *stripe = crest_in_flight_stripe_of(table, hash);
    crest_status status = CREST_NOT_FOUND;
    int expired = 0;
    crest_in_flight_lock(stripe);
    /* read under the lock, so that marks come in the order of their times */
    uint64_t now_ns = crest_now();
    crest_in_flight_entry *entry = *in_flight_find(stripe, hash, keyed, op);
    if (entry != NULL) {
        uint32_t bit = UINT32_C(1) << stage;
        uint64_t begun_ns = crest_atomic_load_acquire(&entry->begun_ns);
        uint64_t marked_ns = crest_atomic_load_acquire(&entry->marked_ns);
        status = in_flight_check(entry, crest_atomic_load_acquire(&entry->state), now_ns, &expired);
        if (status == CREST_OK && (entry->marks & bit) != 0)
            status = CREST_ALREADY;
        if (status == CREST_OK) {
            /* never before the previous mark, though two processors' clocks may disagree */
            if (now_ns < marked_ns)
                now_ns = marked_ns;
            gap_ns = now_ns - marked_ns;
            since_ns = now_ns - begun_ns;
            entry->marks |= bit;
            entry->marked_ns = now_ns;
            crest_atomic_store_release(&entry->last, stage + 1);
        }
    }
    crest_in_flight_unlock(stripe);
    if (expired)
        crest_in_flight_record_timeout(keyed, op);
    if (status == CREST_OK) {
        crest_histogram **gap = &keyed->histograms[stage];
        crest_histogram **since = &gap[keyed->stage_count];
        crest_histogram_record(in_flight_histogram(gap), (int64_t)gap_ns);
        crest_histogram_record(in_flight_histogram(since), (int64_t)since_ns);
        if (crest_traced_any() && crest_traced(keyed->metric))
            crest_span_offer(keyed->series, gap_ns, CREST_OUTCOME_OK, op,
                             &(crest_span_more){.end_ns = now_ns, .stage = stage + 1});
    }
    return status;
}
