/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of operations in flight. See in_flight_table.h.
 *
 * A shard's lock guards its chains and its free entries, and is held for a look-up and a few
 * stores, never while something is recorded. An entry's state word is another matter: whoever
 * sweeps reads entries and expires them without any lock, so that a sweep delays no begin and no
 * end. It holds the entry's generation too: a compare-and-swap that succeeds is of the very
 * operation whose fields were read before.
 *
 *     begin   under the lock   (free)  -> begun    generation + 1, after all fields
 *     end     under the lock   begun   -> ended    and back to the free ones; or as a sweep, but
 *                                                  by a store without a deadline
 *     sweep   without it       begun   -> expired  stays in its chain: a tombstone
 *     begin   under the lock   expired -> begun    generation + 1
 *     sweep   under the lock   expired -> ended    an old tombstone goes back to the free ones
 *
 * All of it lies in memory that a fork zeroes in the child: an empty table, and no lock held.
 */
#define _GNU_SOURCE
#include "in_flight_table.h"
#include "arena.h"
#include "atomic.h"
#include "hash.h"
#include "lock.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IN_FLIGHT_BUCKETS 256u
#define IN_FLIGHT_BLOCKS (CREST_IN_FLIGHT_MAX / CREST_IN_FLIGHT_BLOCK)
#define IN_FLIGHT_NS UINT64_C(1000000000)

/* The low bits of a state word; the others are the generation. */
enum { IN_FLIGHT_ENDED, IN_FLIGHT_BEGUN, IN_FLIGHT_EXPIRED };
#define IN_FLIGHT_STATE UINT64_C(3)
#define IN_FLIGHT_GENERATION UINT64_C(4)

#define IN_FLIGHT_OP_WORDS (sizeof(crest_op) / sizeof(uint64_t))
_Static_assert(sizeof(crest_op) % sizeof(uint64_t) == 0, "an op is whole words");

/* Every word is written under the shard's lock but for `state`; those that a sweep reads without it
 * are written with release and read with acquire, see in_flight_read. */
typedef struct in_flight_entry {
    uint64_t state;
    uint64_t hash;
    uint64_t begun_ns;
    uint64_t overdue_ns; /* 0: never */
    crest_keyed *keyed;
    uint64_t op[IN_FLIGHT_OP_WORDS];
    uint64_t last; /* the stage marked last, from 1; 0: none */
    /* not read without the lock */
    uint64_t marked_ns;
    uint64_t marks; /* a bit a stage */
    struct in_flight_entry *next;
} in_flight_entry;

typedef struct in_flight_shard {
    uint32_t lock;
    uint32_t unused;
    in_flight_entry *free;
    in_flight_entry *chain[IN_FLIGHT_BUCKETS];
} __attribute__((aligned(CREST_LINE_BYTES))) in_flight_shard;

typedef struct in_flight_table {
    uint64_t blocks;  /* in use, of in_flight_blocks */
    uint64_t room_ns; /* when room was last searched for */
    in_flight_shard shard[CREST_IN_FLIGHT_SHARDS];
} in_flight_table;

static in_flight_table *in_flight;
/* Not zeroed by a fork: the child takes its blocks from here again. */
static in_flight_entry *in_flight_blocks[IN_FLIGHT_BLOCKS];

/* ---- a shard's lock: free, held, held with waiters (U. Drepper, "Futexes Are Tricky") ---- */

static void in_flight_lock(in_flight_shard *shard)
{
    /* acquire: partner of the exchange in in_flight_unlock */
    if (CREST_LIKELY(crest_atomic_cas32_acquire(&shard->lock, 0, 1)))
        return;
    while (crest_atomic_exchange32(&shard->lock, 2) != 0)
        syscall(SYS_futex, &shard->lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void in_flight_unlock(in_flight_shard *shard)
{
    if (CREST_UNLIKELY(crest_atomic_exchange32_release(&shard->lock, 0) == 2))
        syscall(SYS_futex, &shard->lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- finding ---- */

static uint64_t in_flight_hash(const crest_keyed *keyed, const crest_op *op)
{
    uint64_t hash = crest_hash_mix(crest_hash_seed(), (uint64_t)(uintptr_t)keyed);
    hash = crest_hash_mix(hash, op->word[0]);
    /* integers have zeros there, which need no mixing to be told apart by the kind */
    if ((op->word[1] | op->word[2] | op->word[3]) != 0) {
        hash = crest_hash_mix(hash, op->word[1]);
        hash = crest_hash_mix(hash, op->word[2]);
        hash = crest_hash_mix(hash, op->word[3]);
    }
    return crest_hash_mix(hash, (uint64_t)op->length << 32 | op->kind);
}

static in_flight_shard *in_flight_shard_of(in_flight_table *table, uint64_t hash)
{
    return &table->shard[(hash >> 32) % CREST_IN_FLIGHT_SHARDS];
}

static in_flight_entry **in_flight_chain_of(in_flight_shard *shard, uint64_t hash)
{
    return &shard->chain[hash % IN_FLIGHT_BUCKETS];
}

/* Under the lock: where the entry of this operation hangs, or the NULL at its chain's end. */
static in_flight_entry **in_flight_find(in_flight_shard *shard, uint64_t hash,
                                        const crest_keyed *keyed, const crest_op *op)
{
    in_flight_entry **at = in_flight_chain_of(shard, hash);
    for (; *at != NULL; at = &(*at)->next)
        if ((*at)->hash == hash && (*at)->keyed == keyed && memcmp((*at)->op, op, sizeof *op) == 0)
            break;
    return at;
}

static in_flight_table *in_flight_seen(void)
{
    /* acquire: partner of the release store in in_flight_made */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&in_flight));
}

static in_flight_table *in_flight_made(void)
{
    in_flight_table *table = in_flight_seen();
    if (CREST_LIKELY(table != NULL))
        return table;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    table = in_flight;
    if (table == NULL) {
        table = crest_arena_take(CREST_ARENA_CELLS, sizeof *table, CREST_LINE_BYTES);
        crest_atomic_store_ptr_release(CREST_PTR(&in_flight), table);
    }
    crest_lock_drop(&saved);
    return table;
}

/* ---- states ---- */

static int in_flight_is(uint64_t state, unsigned what)
{
    return (state & IN_FLIGHT_STATE) == what;
}

static int in_flight_is_overdue(uint64_t overdue_ns, uint64_t now_ns)
{
    return overdue_ns != 0 && now_ns >= overdue_ns;
}

/*
 * The one step in which an operation ends: non-zero for the one of all who try. Release and
 * acquire: partners of the store in in_flight_start and of the loads in in_flight_read, so that
 * what was read of the operation before was its own, and what is written of the next one comes
 * after.
 */
static int in_flight_settle(in_flight_entry *entry, uint64_t begun, unsigned to)
{
    return crest_atomic_cas(&entry->state, begun, (begun & ~IN_FLIGHT_STATE) | to);
}

/*
 * Under the lock: ends an operation that was begun; 0 when a sweep was faster. What has no deadline
 * is never settled without the lock, so a store will do, which is a locked instruction less in
 * every end. Release: as in in_flight_settle.
 */
static int in_flight_finish(in_flight_entry *entry, uint64_t begun)
{
    if (entry->overdue_ns != 0)
        return in_flight_settle(entry, begun, IN_FLIGHT_ENDED);
    crest_atomic_store_release(&entry->state, (begun & ~IN_FLIGHT_STATE) | IN_FLIGHT_ENDED);
    return 1;
}

/* What becomes of an operation that nobody ended in time, for who settled it. */
static void in_flight_record_timeout(const crest_keyed *keyed, const crest_op *op)
{
    crest_timer_record_op(keyed->timer, (int64_t)keyed->deadline_ns, CREST_OUTCOME_TIMEOUT, op);
}

/* Under the lock: a free entry or a tombstone becomes this operation's. */
static void in_flight_start(in_flight_entry *entry, uint64_t hash, crest_keyed *keyed,
                            const crest_op *op, uint64_t now_ns)
{
    uint64_t words[IN_FLIGHT_OP_WORDS];
    memcpy(words, op, sizeof words);
    uint64_t state = crest_atomic_load_acquire(&entry->state);
    crest_atomic_store_release(&entry->hash, hash);
    crest_atomic_store_release(&entry->begun_ns, now_ns);
    crest_atomic_store_release(&entry->overdue_ns,
                               keyed->deadline_ns ? now_ns + keyed->deadline_ns : 0);
    crest_atomic_store_ptr_release(CREST_PTR(&entry->keyed), keyed);
    for (unsigned i = 0; i < IN_FLIGHT_OP_WORDS; i++)
        crest_atomic_store_release(&entry->op[i], words[i]);
    crest_atomic_store_release(&entry->last, 0);
    entry->marked_ns = now_ns;
    entry->marks = 0;
    crest_atomic_store_release(&entry->state, ((state & ~IN_FLIGHT_STATE) + IN_FLIGHT_GENERATION) |
                                                  IN_FLIGHT_BEGUN);
}

/* An entry's words as one who holds no lock sees them. */
typedef struct in_flight_view {
    crest_in_flight_seen seen;
    uint64_t state;
    uint64_t hash;
    uint64_t begun_ns;
    uint64_t overdue_ns;
} in_flight_view;

/*
 * Reads an entry without the lock; 0 when it was in no wanted state, or became another operation's
 * meanwhile. All loads acquire, so that the last one comes last; partners of the stores in
 * in_flight_start: who sees a word of a later operation sees that the state has changed, too.
 */
static int in_flight_read(const in_flight_entry *entry, unsigned wanted, in_flight_view *view)
{
    view->state = crest_atomic_load_acquire(&entry->state);
    if (!in_flight_is(view->state, wanted))
        return 0;
    uint64_t words[IN_FLIGHT_OP_WORDS];
    view->hash = crest_atomic_load_acquire(&entry->hash);
    view->begun_ns = crest_atomic_load_acquire(&entry->begun_ns);
    view->overdue_ns = crest_atomic_load_acquire(&entry->overdue_ns);
    view->seen.keyed = crest_atomic_load_ptr_acquire(CREST_PTR(&entry->keyed));
    for (unsigned i = 0; i < IN_FLIGHT_OP_WORDS; i++)
        words[i] = crest_atomic_load_acquire(&entry->op[i]);
    view->seen.stages = (unsigned)crest_atomic_load_acquire(&entry->last);
    memcpy(&view->seen.op, words, sizeof words);
    return crest_atomic_load(&entry->state) == view->state;
}

/* ---- memory ---- */

/* Under the lock: another block of free entries for the shard. */
static void in_flight_grow(in_flight_table *table, in_flight_shard *shard)
{
    if (crest_atomic_load(&table->blocks) >= IN_FLIGHT_BLOCKS)
        return;
    in_flight_entry *block = NULL;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    if (table->blocks < IN_FLIGHT_BLOCKS) {
        block = in_flight_blocks[table->blocks];
        if (block == NULL)
            block = crest_arena_take(CREST_ARENA_CELLS, CREST_IN_FLIGHT_BLOCK * sizeof *block,
                                     CREST_LINE_BYTES);
        if (block != NULL) {
            in_flight_blocks[table->blocks] = block;
            /* partner: the acquire load in in_flight_walk */
            crest_atomic_store_release(&table->blocks, table->blocks + 1);
        }
    }
    crest_lock_drop(&saved);
    for (unsigned i = 0; block != NULL && i < CREST_IN_FLIGHT_BLOCK; i++) {
        block[i].next = shard->free;
        shard->free = &block[i];
    }
}

/* Under the lock: takes the entry out of its chain. */
static void in_flight_unchain(in_flight_shard *shard, in_flight_entry **at)
{
    in_flight_entry *entry = *at;
    *at = entry->next;
    entry->next = shard->free;
    shard->free = entry;
}

/* Calls for each entry there is. */
static void in_flight_walk(in_flight_table *table, void (*each)(in_flight_entry *, void *),
                           void *context)
{
    uint64_t blocks = crest_atomic_load_acquire(&table->blocks);
    for (uint64_t b = 0; b < blocks; b++)
        for (unsigned i = 0; i < CREST_IN_FLIGHT_BLOCK; i++)
            each(&in_flight_blocks[b][i], context);
}

/* ---- sweeping ---- */

typedef struct in_flight_broom {
    in_flight_table *table;
    uint64_t now_ns;
    uint64_t age_ns; /* of tombstones that go */
    const crest_registry_state *forget;
} in_flight_broom;

/* Takes an entry that was seen in this state off its chain, unless it has changed since. */
static void in_flight_drop(in_flight_table *table, in_flight_entry *entry,
                           const in_flight_view *view)
{
    in_flight_shard *shard = in_flight_shard_of(table, view->hash);
    in_flight_lock(shard);
    if (in_flight_settle(entry, view->state, IN_FLIGHT_ENDED)) {
        in_flight_entry **at = in_flight_chain_of(shard, view->hash);
        while (*at != entry)
            at = &(*at)->next;
        in_flight_unchain(shard, at);
    }
    in_flight_unlock(shard);
}

static void in_flight_sweep_entry(in_flight_entry *entry, void *context)
{
    const in_flight_broom *broom = context;
    in_flight_view view;
    if (in_flight_read(entry, IN_FLIGHT_BEGUN, &view)) {
        if (in_flight_is_overdue(view.overdue_ns, broom->now_ns) &&
            in_flight_settle(entry, view.state, IN_FLIGHT_EXPIRED))
            in_flight_record_timeout(view.seen.keyed, &view.seen.op);
    } else if (in_flight_read(entry, IN_FLIGHT_EXPIRED, &view) &&
               broom->now_ns >= view.overdue_ns + broom->age_ns) {
        in_flight_drop(broom->table, entry, &view);
    }
}

void crest_in_flight_sweep(void)
{
    in_flight_broom broom = {in_flight_seen(), crest_now(), CREST_TOMBSTONE_S * IN_FLIGHT_NS, NULL};
    if (broom.table != NULL)
        in_flight_walk(broom.table, in_flight_sweep_entry, &broom);
}

/* The table is full: whatever has expired goes, however lately. Not too often, for it reads all of
 * the table; 0 when it was done just now. */
static int in_flight_make_room(in_flight_table *table, uint64_t now_ns)
{
    uint64_t before_ns = crest_atomic_load(&table->room_ns);
    if ((before_ns != 0 && now_ns - before_ns < CREST_IN_FLIGHT_ROOM_MS * (IN_FLIGHT_NS / 1000)) ||
        !crest_atomic_cas(&table->room_ns, before_ns, now_ns))
        return 0;
    in_flight_broom broom = {table, now_ns, 0, NULL};
    in_flight_walk(table, in_flight_sweep_entry, &broom); /* overdue ones become tombstones */
    in_flight_walk(table, in_flight_sweep_entry, &broom); /* which go */
    return 1;
}

static void in_flight_forget_entry(in_flight_entry *entry, void *context)
{
    const in_flight_broom *broom = context;
    in_flight_view view;
    if ((in_flight_read(entry, IN_FLIGHT_BEGUN, &view) ||
         in_flight_read(entry, IN_FLIGHT_EXPIRED, &view)) &&
        view.seen.keyed->metric->state == broom->forget)
        in_flight_drop(broom->table, entry, &view);
}

void crest_in_flight_forget(const crest_registry_state *state)
{
    in_flight_broom broom = {in_flight_seen(), 0, 0, state};
    if (broom.table != NULL)
        in_flight_walk(broom.table, in_flight_forget_entry, &broom);
}

typedef struct in_flight_visit {
    void (*each)(const crest_in_flight_seen *seen, void *context);
    void *context;
    uint64_t now_ns;
} in_flight_visit;

static void in_flight_visit_entry(in_flight_entry *entry, void *context)
{
    const in_flight_visit *visit = context;
    in_flight_view view;
    if (!in_flight_read(entry, IN_FLIGHT_BEGUN, &view))
        return;
    view.seen.age_ns = visit->now_ns > view.begun_ns ? visit->now_ns - view.begun_ns : 0;
    visit->each(&view.seen, visit->context);
}

void crest_in_flight_each(void (*each)(const crest_in_flight_seen *seen, void *context),
                          void *context)
{
    in_flight_visit visit = {each, context, crest_now()};
    in_flight_table *table = in_flight_seen();
    if (table != NULL)
        in_flight_walk(table, in_flight_visit_entry, &visit);
}

/* ---- begin, mark, end ---- */

static crest_status in_flight_try_begin(in_flight_table *table, uint64_t hash, crest_keyed *keyed,
                                        const crest_op *op, uint64_t now_ns)
{
    in_flight_shard *shard = in_flight_shard_of(table, hash);
    crest_status status = CREST_OK;
    int expired = 0;
    in_flight_lock(shard);
    in_flight_entry *entry = *in_flight_find(shard, hash, keyed, op);
    if (entry == NULL) {
        if (shard->free == NULL)
            in_flight_grow(table, shard);
        entry = shard->free;
        if (entry == NULL) {
            status = crest_atomic_load(&table->blocks) >= IN_FLIGHT_BLOCKS ? CREST_LIMIT
                                                                           : CREST_NO_MEMORY;
        } else {
            shard->free = entry->next;
            entry->next = *in_flight_chain_of(shard, hash);
            *in_flight_chain_of(shard, hash) = entry;
        }
    } else {
        uint64_t state = crest_atomic_load_acquire(&entry->state);
        if (in_flight_is(state, IN_FLIGHT_BEGUN)) {
            if (in_flight_is_overdue(entry->overdue_ns, now_ns))
                expired = in_flight_settle(entry, state, IN_FLIGHT_EXPIRED);
            else
                status = CREST_ALREADY;
        }
    }
    if (status == CREST_OK)
        in_flight_start(entry, hash, keyed, op, now_ns);
    in_flight_unlock(shard);
    if (expired)
        in_flight_record_timeout(keyed, op);
    return status;
}

crest_status crest_in_flight_begin(crest_keyed *keyed, const crest_op *op)
{
    uint64_t now_ns = crest_now();
    uint64_t hash = in_flight_hash(keyed, op);
    in_flight_table *table = in_flight_made();
    if (CREST_UNLIKELY(table == NULL))
        return CREST_NO_MEMORY;
    crest_status status = in_flight_try_begin(table, hash, keyed, op, now_ns);
    if (CREST_UNLIKELY(status == CREST_LIMIT) && in_flight_make_room(table, now_ns))
        status = in_flight_try_begin(table, hash, keyed, op, now_ns);
    return status;
}

/*
 * Under the lock: whether the entry's operation is still in flight at now_ns. CREST_TIMED_OUT
 * otherwise; *expired is then set if it is this call that settled it.
 */
static crest_status in_flight_check(in_flight_entry *entry, uint64_t state, uint64_t now_ns,
                                    int *expired)
{
    if (!in_flight_is(state, IN_FLIGHT_BEGUN))
        return CREST_TIMED_OUT;
    if (!in_flight_is_overdue(entry->overdue_ns, now_ns))
        return CREST_OK;
    *expired = in_flight_settle(entry, state, IN_FLIGHT_EXPIRED);
    return CREST_TIMED_OUT;
}

crest_status crest_in_flight_end(crest_keyed *keyed, const crest_op *op, crest_outcome outcome)
{
    uint64_t now_ns = crest_now(), begun_ns = 0;
    uint64_t hash = in_flight_hash(keyed, op);
    in_flight_table *table = in_flight_seen();
    if (CREST_UNLIKELY(table == NULL))
        return CREST_NOT_FOUND;
    in_flight_shard *shard = in_flight_shard_of(table, hash);
    crest_status status = CREST_NOT_FOUND;
    int expired = 0;
    in_flight_lock(shard);
    in_flight_entry **at = in_flight_find(shard, hash, keyed, op);
    if (*at != NULL) {
        uint64_t state = crest_atomic_load_acquire(&(*at)->state);
        status = in_flight_check(*at, state, now_ns, &expired);
        begun_ns = (*at)->begun_ns;
        if (status == CREST_OK && !in_flight_finish(*at, state))
            status = CREST_TIMED_OUT; /* a sweep was faster */
        if (status == CREST_OK)
            in_flight_unchain(shard, at);
    }
    in_flight_unlock(shard);
    if (expired)
        in_flight_record_timeout(keyed, op);
    /* begun after this call had read the clock, when another thread ended and began it meanwhile */
    if (now_ns < begun_ns)
        now_ns = begun_ns;
    if (status == CREST_OK)
        crest_timer_record_op(keyed->timer, (int64_t)(now_ns - begun_ns), outcome, op);
    return status;
}

crest_status crest_in_flight_mark(crest_keyed *keyed, const crest_op *op, unsigned stage)
{
    uint64_t hash = in_flight_hash(keyed, op), gap_ns = 0, since_ns = 0;
    in_flight_table *table = in_flight_seen();
    if (table == NULL)
        return CREST_NOT_FOUND;
    in_flight_shard *shard = in_flight_shard_of(table, hash);
    crest_status status = CREST_NOT_FOUND;
    int expired = 0;
    in_flight_lock(shard);
    /* read under the lock, so that marks come in the order of their times */
    uint64_t now_ns = crest_now();
    in_flight_entry *entry = *in_flight_find(shard, hash, keyed, op);
    if (entry != NULL) {
        uint64_t bit = UINT64_C(1) << stage;
        status = in_flight_check(entry, crest_atomic_load_acquire(&entry->state), now_ns, &expired);
        if (status == CREST_OK && (entry->marks & bit) != 0)
            status = CREST_ALREADY;
        if (status == CREST_OK) {
            /* not before the mark before, though two processors' clocks may disagree */
            if (now_ns < entry->marked_ns)
                now_ns = entry->marked_ns;
            gap_ns = now_ns - entry->marked_ns;
            since_ns = now_ns - entry->begun_ns;
            entry->marks |= bit;
            entry->marked_ns = now_ns;
            crest_atomic_store_release(&entry->last, stage + 1);
        }
    }
    in_flight_unlock(shard);
    if (expired)
        in_flight_record_timeout(keyed, op);
    if (status == CREST_OK) {
        crest_histogram_record(keyed->histograms[stage], (int64_t)gap_ns);
        crest_histogram_record(keyed->histograms[keyed->stage_count + stage], (int64_t)since_ns);
    }
    return status;
}
