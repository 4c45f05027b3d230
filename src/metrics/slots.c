/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free slots. See slots.h. All of it is under the lock.
 */
#include "metrics/slots.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "cells/cells.h"
#include "cells/delivered_cells.h"
#include "cells/first_values.h"
#include "metrics/metric_kinds.h"
#include "state/directory_records.h"

/*
 * Free lists. A thread stopped long ago may still write to a used slot's cells: additions to a
 * counter; a shard or beginning of a layout; nothing. So a free slot goes only to series of which
 * the same holds.
 */
typedef struct slots_list {
    struct slots_list *next;
    const crest_layout *layout;
    crest_wait *first;
} slots_list;

static crest_wait *slots_spare;
static slots_list slots_counters, slots_others; /* layouts' lists hang behind the latter */
static uint64_t slots_free_count;

uint64_t crest_slots_free(void)
{
    return crest_atomic_load(&slots_free_count);
}

/* ---- spare waits ---- */

static void slots_push(crest_wait **first, crest_wait *wait)
{
    wait->next = *first;
    *first = wait;
}

int crest_waits_reserve(unsigned waits)
{
    for (const crest_wait *spare = slots_spare; waits != 0 && spare != NULL; spare = spare->next)
        waits--;
    for (; waits != 0; waits--) {
        crest_wait *wait = crest_arena_take(CREST_ARENA_META, sizeof *wait, _Alignof(crest_wait));
        if (wait == NULL)
            return 0;
        slots_push(&slots_spare, wait);
    }
    return 1;
}

crest_wait *crest_wait_take(void)
{
    crest_wait *wait = slots_spare;
    slots_spare = wait->next;
    return wait;
}

void crest_wait_give(crest_wait *wait)
{
    slots_push(&slots_spare, wait);
}

/* ---- free slots ---- */

/* The list for the metric's series; NULL if there is none. */
static slots_list *slots_for(const crest_metric *metric)
{
    slots_list *slots = &slots_others;
    if (crest_kind_row_of(metric->kind)->adds)
        return &slots_counters;
    while (slots != NULL && slots->layout != metric->layout)
        slots = slots->next;
    return slots;
}

/* The same, made if need be; NULL without memory. */
static slots_list *slots_made(const crest_metric *metric)
{
    slots_list *slots = slots_for(metric);
    if (slots != NULL)
        return slots;
    slots = crest_arena_take(CREST_ARENA_META, sizeof *slots, _Alignof(slots_list));
    if (slots == NULL)
        return NULL;
    *slots = (slots_list){slots_others.next, metric->layout, NULL};
    slots_others.next = slots;
    return slots;
}

uint32_t crest_slot_reuse(const crest_metric *metric)
{
    slots_list *slots = slots_for(metric);
    crest_wait *wait = slots != NULL ? slots->first : NULL;
    if (wait == NULL)
        return 0;
    slots->first = wait->next;
    crest_atomic_add(&slots_free_count, UINT64_MAX);
    slots_push(&slots_spare, wait);
    /* otherwise this slot is lost, and a new one serves */
    return slots != &slots_counters || crest_cells_sum_anew(wait->slot) ? wait->slot : 0;
}

/* No thread records into the slot any more: gives back the memory that its cells lead to. */
static void slots_empty(crest_series *series)
{
    const crest_metric *metric = series->metric;
    const crest_thread_table *table = metric->layout != NULL ? crest_cells_tables() : NULL;
    for (; table != NULL; table = table->next) {
        uint64_t *cell = (uint64_t *)(uintptr_t)crest_cells_of(table, series->slot);
        uint64_t there = cell != NULL ? crest_atomic_load(cell) : 0;
        if (there == 0)
            continue;
        crest_atomic_store(cell, 0);
        crest_shard_give((crest_shard *)(uintptr_t)there, metric->layout);
    }
    if (series->shared != NULL)
        crest_kind_row_of(metric->kind)->shared_give(series->shared);
    crest_atomic_store_ptr_release(CREST_PTR(&series->shared), NULL); /* as in series.c */
}

void crest_slot_give(crest_wait *wait)
{
    crest_series *series = wait->series;
    slots_list *slots = slots_made(series->metric);
    crest_state_note_end(series->slot);
    crest_delivered_end(series->slot, series->metric->layout);
    slots_empty(series);
    wait->slot = series->slot;
    crest_atomic_store32(&series->slot, 0);
    crest_atomic_add(&slots_free_count, slots != NULL); /* otherwise the slot is lost */
    slots_push(slots != NULL ? &slots->first : &slots_spare, wait);
}
