/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks over the whole table of operations in flight: the sweep that expires overdue ones, the
 * search for room, the end of closed series' operations, and reading. See in_flight_walks.h.
 */
#define _GNU_SOURCE
#include "in_flight/in_flight_walks.h"
#include "base/sync.h"
#include "in_flight/in_flight_entries.h"

#include <string.h>

/* An entry's words as a reader without the lock sees them. */
typedef struct walks_view {
    crest_in_flight_seen seen;
    uint64_t state;
    uint64_t hash;
    uint64_t begun_ns;
    uint64_t overdue_ns;
} walks_view;

/*
 * Reads an entry without the lock (as a seqlock's reader: fields between two loads of the state). 0
 * when it was in no wanted state, or became another operation's meanwhile. All loads acquire, so
 * that the last load of the state comes last. Partners: the stores in in_flight_start; a reader
 * that sees a word of a later operation also sees the changed state.
 */
static inline int walks_read(const crest_in_flight_entry *entry, unsigned wanted, walks_view *view)
{
    view->state = crest_atomic_load_acquire(&entry->state);
    if (!crest_in_flight_is(view->state, wanted))
        return 0;
    uint64_t words[CREST_IN_FLIGHT_OP_WORDS];
    view->hash = crest_atomic_load_acquire(&entry->hash);
    view->begun_ns = crest_atomic_load_acquire(&entry->begun_ns);
    view->overdue_ns = crest_atomic_load_acquire(&entry->overdue_ns);
    view->seen.keyed = crest_atomic_load_ptr_acquire(CREST_PTR(&entry->keyed));
    for (unsigned i = 0; i < CREST_IN_FLIGHT_OP_WORDS; i++)
        words[i] = crest_atomic_load_acquire(&entry->op[i]);
    view->seen.stages = (unsigned)crest_atomic_load_acquire(&entry->last);
    memcpy(&view->seen.op, words, sizeof words);
    return crest_atomic_load(&entry->state) == view->state;
}

/* Calls `each` for every entry there is. */
static inline void walks_all(crest_in_flight_table *table,
                             void (*each)(crest_in_flight_entry *, void *), void *context)
{
    uint64_t blocks = crest_atomic_load_acquire(&table->blocks);
    for (uint64_t b = 0; b < blocks; b++) {
        crest_in_flight_entry *block =
            crest_atomic_load_ptr_acquire(CREST_PTR(&crest_in_flight_blocks[b]));
        for (unsigned i = 0; block != NULL && i < CREST_IN_FLIGHT_BLOCK; i++)
            each(&block[i], context);
    }
}

typedef struct walks_broom {
    crest_in_flight_table *table;
    uint64_t now_ns;
    uint64_t age_ns; /* drops tombstones this old */
} walks_broom;

/* Takes an entry seen in this state off its chain; 0 if it changed since. */
static int walks_drop(crest_in_flight_table *table, crest_in_flight_entry *entry,
                      const walks_view *view)
{
    crest_in_flight_stripe *stripe = crest_in_flight_stripe_of(table, view->hash);
    crest_in_flight_lock(stripe);
    int settled = crest_in_flight_settle(entry, view->state, CREST_IN_FLIGHT_ENDED);
    if (settled) {
        crest_in_flight_entry **at = crest_in_flight_at(stripe, view->hash, entry);
        crest_in_flight_unchain(stripe, at, entry, view->seen.keyed->share);
    }
    crest_in_flight_unlock(stripe);
    return settled;
}

static void walks_sweep_entry(crest_in_flight_entry *entry, void *context)
{
    const walks_broom *broom = context;
    walks_view view;
    if (walks_read(entry, CREST_IN_FLIGHT_BEGUN, &view)) {
        if (crest_in_flight_is_overdue(view.overdue_ns, broom->now_ns) &&
            crest_in_flight_settle(entry, view.state, CREST_IN_FLIGHT_EXPIRED))
            crest_in_flight_record_timeout(view.seen.keyed, &view.seen.op);
    } else if (walks_read(entry, CREST_IN_FLIGHT_EXPIRED, &view) &&
               broom->now_ns >= view.overdue_ns + broom->age_ns) {
        walks_drop(broom->table, entry, &view);
    }
}

void crest_in_flight_sweep(void)
{
    walks_broom broom = {crest_in_flight_table_seen(), crest_now(),
                         CREST_TOMBSTONE_S * CREST_NS_PER_S};
    if (broom.table != NULL)
        walks_all(broom.table, walks_sweep_entry, &broom);
}

int crest_in_flight_make_room(crest_in_flight_table *table, uint64_t now_ns)
{
    uint64_t before_ns = crest_atomic_load(&table->room_ns);
    if ((before_ns != 0 &&
         now_ns - before_ns < CREST_IN_FLIGHT_ROOM_MS * (CREST_NS_PER_S / 1000)) ||
        !crest_atomic_cas(&table->room_ns, before_ns, now_ns))
        return 0;
    walks_broom broom = {table, now_ns, 0};
    walks_all(table, walks_sweep_entry, &broom); /* overdue ones become tombstones */
    walks_all(table, walks_sweep_entry, &broom); /* which go */
    return 1;
}

/* ---- the end of keyed series ---- */

static void walks_cancel_entry(crest_in_flight_entry *entry, void *context)
{
    const walks_broom *broom = context;
    walks_view view;
    while ((walks_read(entry, CREST_IN_FLIGHT_BEGUN, &view) ||
            walks_read(entry, CREST_IN_FLIGHT_EXPIRED, &view)) &&
           crest_in_flight_is_closed(view.seen.keyed)) {
        if (!walks_drop(broom->table, entry, &view))
            continue; /* another thread ended or expired it */
        if (crest_in_flight_is(view.state, CREST_IN_FLIGHT_EXPIRED))
            return;
        if (crest_in_flight_is_overdue(view.overdue_ns, broom->now_ns))
            crest_in_flight_record_timeout(view.seen.keyed, &view.seen.op);
        else
            crest_timer_record_op(view.seen.keyed->timer,
                                  crest_in_flight_duration(view.begun_ns, broom->now_ns),
                                  CREST_OUTCOME_CANCELLED, &view.seen.op);
        return;
    }
}

void crest_in_flight_cancel(void)
{
    walks_broom broom = {.table = crest_in_flight_table_seen(), .now_ns = crest_now()};
    if (broom.table == NULL)
        return;
    /* wait for begins that found their series open: after this they have left the stripe */
    for (unsigned i = 0; i < CREST_IN_FLIGHT_STRIPES; i++) {
        crest_in_flight_lock(&broom.table->stripe[i]);
        crest_in_flight_unlock(&broom.table->stripe[i]);
    }
    walks_all(broom.table, walks_cancel_entry, &broom);
}

/* ---- reading ---- */

typedef struct walks_visit {
    void (*each)(const crest_in_flight_seen *seen, void *context);
    void *context;
    uint64_t now_ns;
} walks_visit;

static void walks_visit_entry(crest_in_flight_entry *entry, void *context)
{
    const walks_visit *visit = context;
    walks_view view;
    if (!walks_read(entry, CREST_IN_FLIGHT_BEGUN, &view))
        return;
    view.seen.age_ns = visit->now_ns > view.begun_ns ? visit->now_ns - view.begun_ns : 0;
    visit->each(&view.seen, visit->context);
}

void crest_in_flight_each(void (*each)(const crest_in_flight_seen *seen, void *context),
                          void *context)
{
    walks_visit visit = {each, context, crest_now()};
    crest_in_flight_table *table = crest_in_flight_table_seen();
    if (table != NULL)
        walks_all(table, walks_visit_entry, &visit);
}
