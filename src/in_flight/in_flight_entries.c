/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the entries. See in_flight_entries.h.
 */
#define _GNU_SOURCE
#include "in_flight/in_flight_entries.h"
#include "base/forked.h"
#include "base/lock.h"
#include "state/directory_records.h"

#include <string.h>

#define ENTRIES_AT(field, place) (offsetof(crest_in_flight_entry, field) == (place))
_Static_assert(sizeof(crest_in_flight_entry) == CREST_STATE_ENTRY_BYTES &&
                   ENTRIES_AT(state, CREST_STATE_ENTRY_STATE) &&
                   ENTRIES_AT(begun_ns, CREST_STATE_ENTRY_BEGUN_NS) &&
                   ENTRIES_AT(overdue_ns, CREST_STATE_ENTRY_OVERDUE_NS) &&
                   ENTRIES_AT(keyed, CREST_STATE_ENTRY_KEYED) &&
                   ENTRIES_AT(op, CREST_STATE_ENTRY_OP) &&
                   ENTRIES_AT(last, CREST_STATE_ENTRY_LAST) &&
                   sizeof(crest_op) == CREST_STATE_OP_BYTES,
               "the state file's readers know entries so");

crest_in_flight_table *crest_in_flight_root;
crest_in_flight_entry *crest_in_flight_blocks[CREST_IN_FLIGHT_BLOCKS];

/*
 * The child takes another table. A handler may have forked in the middle of a begin or an end. That
 * call goes on in the child, on memory that the kernel zeroed meanwhile; in the old table it harms
 * no operation.
 */
static void in_flight_forked(void)
{
    crest_atomic_store_ptr_release(CREST_PTR(&crest_in_flight_root), NULL);
    memset(crest_in_flight_blocks, 0, sizeof crest_in_flight_blocks);
}
CREST_FORKED(IN_FLIGHT, in_flight_forked)

crest_in_flight_table *crest_in_flight_table_made(void)
{
    crest_in_flight_table *table = crest_in_flight_table_seen();
    if (CREST_LIKELY(table != NULL))
        return table;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    table = crest_in_flight_root;
    if (table == NULL) {
        table = crest_arena_take(CREST_ARENA_CELLS, sizeof *table, CREST_LINE_BYTES);
        crest_atomic_store_ptr_release(CREST_PTR(&crest_in_flight_root), table);
    }
    crest_lock_drop(&saved);
    return table;
}

void crest_in_flight_record_timeout(const crest_keyed *keyed, const crest_op *op)
{
    crest_timer_record_op(keyed->timer, (int64_t)keyed->deadline_ns, CREST_OUTCOME_TIMEOUT, op);
}

/* ---- memory ---- */

static void in_flight_describe(const crest_in_flight_entry *block)
{
    crest_state_note_in_flight(block, CREST_IN_FLIGHT_BLOCK, sizeof *block);
}

void crest_in_flight_describe(void)
{
    for (uint64_t i = 0; i < CREST_IN_FLIGHT_BLOCKS && crest_in_flight_blocks[i] != NULL; i++)
        in_flight_describe(crest_in_flight_blocks[i]);
}

void crest_in_flight_grow(crest_in_flight_table *table, crest_in_flight_stripe *stripe)
{
    if (crest_atomic_load(&table->blocks) >= CREST_IN_FLIGHT_BLOCKS)
        return;
    crest_in_flight_entry *block = NULL;
    uint64_t first = 0;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    /* not in a call that a fork interrupted, see in_flight_forked */
    if (table == crest_in_flight_root && table->blocks < CREST_IN_FLIGHT_BLOCKS) {
        block = crest_in_flight_blocks[table->blocks];
        first = table->blocks * CREST_IN_FLIGHT_BLOCK;
        if (block == NULL)
            block = crest_arena_take(CREST_ARENA_CELLS, CREST_IN_FLIGHT_BLOCK * sizeof *block,
                                     CREST_LINE_BYTES);
        if (block != NULL) {
            crest_in_flight_blocks[table->blocks] = block;
            in_flight_describe(block);
            /* partner: the acquire loads in walks_all and crest_in_flight_end_owned */
            crest_atomic_store_release(&table->blocks, table->blocks + 1);
        }
    }
    crest_lock_drop(&saved);
    for (unsigned i = 0; block != NULL && i < CREST_IN_FLIGHT_BLOCK; i++) {
        block[i].place = (uint32_t)(first + i);
        block[i].next = stripe->free;
        stripe->free = &block[i];
    }
}
