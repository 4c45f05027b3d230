/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the entries, how they are read without a lock, and the keyed series that they are of.
 * See in_flight_entries.h.
 */
#define _GNU_SOURCE
#include "instruments/in_flight_entries.h"
#include "base/forked.h"
#include "registry/handles.h"
#include "base/lock.h"

#include <pthread.h>
#include <string.h>

crest_in_flight_table *crest_in_flight_root;
crest_in_flight_entry *crest_in_flight_blocks[CREST_IN_FLIGHT_BLOCKS];

/* Under the library's lock: the metrics of each share. */
static uint32_t in_flight_metrics[CREST_IN_FLIGHT_SHARES];

/* Which process this is, counted from the first ancestor that loaded the library. */
static uint64_t in_flight_process = 1;

/*
 * The child takes another table: a handler may have forked between two instructions of a begin or
 * an end, which goes on in the child with what the kernel has zeroed under its hands, and does
 * what it does there to nobody.
 */
static void in_flight_forked(void)
{
    crest_atomic_store_ptr_release(CREST_PTR(&crest_in_flight_root), NULL);
    memset(crest_in_flight_blocks, 0, sizeof crest_in_flight_blocks);
    crest_in_flight_owners_forked();
    crest_atomic_store(&in_flight_process, in_flight_process + 1);
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

void crest_in_flight_grow(crest_in_flight_table *table, crest_in_flight_shard *shard)
{
    if (crest_atomic_load(&table->blocks) >= CREST_IN_FLIGHT_BLOCKS)
        return;
    crest_in_flight_entry *block = NULL;
    uint64_t first = 0;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    /* not for what a fork has interrupted, see in_flight_forked */
    if (table == crest_in_flight_root && table->blocks < CREST_IN_FLIGHT_BLOCKS) {
        block = crest_in_flight_blocks[table->blocks];
        first = table->blocks * CREST_IN_FLIGHT_BLOCK;
        if (block == NULL)
            block = crest_arena_take(CREST_ARENA_CELLS, CREST_IN_FLIGHT_BLOCK * sizeof *block,
                                     CREST_LINE_BYTES);
        if (block != NULL) {
            crest_in_flight_blocks[table->blocks] = block;
            /* partner: the acquire loads in walks_all and crest_in_flight_end_owned */
            crest_atomic_store_release(&table->blocks, table->blocks + 1);
        }
    }
    crest_lock_drop(&saved);
    for (unsigned i = 0; block != NULL && i < CREST_IN_FLIGHT_BLOCK; i++) {
        block[i].place = (uint32_t)(first + i);
        block[i].next = shard->free;
        shard->free = &block[i];
    }
}

/* ---- keyed series and shares ---- */

/* What was closed and is alive in another process than the one that closed it was about to be
 * retired when that forked. */
int crest_in_flight_is_closed(const crest_keyed *keyed)
{
    uint64_t closed = crest_atomic_load(&keyed->closed);
    return closed != 0 && (closed == crest_atomic_load(&in_flight_process) ||
                           crest_handle_dead(&keyed->timer->handle) != CREST_OK);
}

int crest_in_flight_close(crest_keyed *keyed)
{
    if (keyed == NULL || crest_in_flight_is_closed(keyed))
        return 0;
    crest_atomic_store(&keyed->closed, crest_atomic_load(&in_flight_process));
    return 1;
}

/* The share that the fewest metrics have. */
static uint32_t in_flight_share_take(void)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < CREST_IN_FLIGHT_SHARES; i++)
        if (in_flight_metrics[i] < in_flight_metrics[least])
            least = i;
    in_flight_metrics[least]++;
    return least;
}

static uint32_t in_flight_share_of(crest_metric *metric)
{
    if (metric->in_flight_share == 0)
        metric->in_flight_share = in_flight_share_take() + 1;
    return metric->in_flight_share - 1;
}

void crest_in_flight_open(crest_keyed *keyed)
{
    if (keyed == NULL)
        return;
    crest_atomic_store32(&keyed->share, in_flight_share_of(keyed->metric));
    crest_atomic_store(&keyed->closed, 0);
}

void crest_in_flight_share_give(crest_metric *metric)
{
    if (metric->in_flight_share != 0)
        in_flight_metrics[metric->in_flight_share - 1]--;
    metric->in_flight_share = 0;
}

crest_keyed *crest_in_flight_keyed_new(const crest_child *child)
{
    crest_metric *metric = child->first.metric;
    crest_keyed *keyed = crest_arena_take(CREST_ARENA_META, sizeof *keyed, _Alignof(crest_keyed));
    if (keyed == NULL)
        return NULL;
    *keyed = (crest_keyed){.timer = &child->own->timer,
                           .metric = metric,
                           .deadline_ns = metric->deadline_ns,
                           .share = in_flight_share_of(metric),
                           .hash = crest_hash_mix(crest_hash_seed(), (uint64_t)(uintptr_t)keyed)};
    return keyed;
}
