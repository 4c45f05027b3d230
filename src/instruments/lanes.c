/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: cells that belong to no thread. See <crest/lane.h>. cells.c makes the cells, like a
 * thread's.
 */
#include "base/atomic.h"
#include "base/lock.h"
#include "instruments/record_slow.h"

#include <crest/lane.h>

unsigned crest_lanes_make(unsigned processors)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    unsigned lanes = crest_cells_lanes_make(processors);
    crest_lock_drop(&saved);
    return lanes;
}

crest_cells *crest_lane_cells(unsigned lane)
{
    const crest_thread_table *table = crest_cells_lane(lane);
    return table != NULL ? table->cells : NULL;
}

crest_cells *crest_lane_own(uint32_t slot)
{
    return crest_cells_lend(slot);
}

void crest_lane_counter_add(unsigned lane, crest_counter *counter, int64_t amount)
{
    crest_thread_table *table = crest_cells_lane(lane);
    uint32_t slot = crest_atomic_load32(&counter->handle.slot);
    uint64_t *cell = table ? (uint64_t *)(uintptr_t)crest_cells_of(table, slot) : NULL;
    if (table == NULL)
        crest_counter_add(counter, amount);
    else if (cell == NULL || amount < 0)
        crest_record_counter(table, counter, amount);
    else if (crest_atomic_add_carry(cell, (uint64_t)amount))
        crest_counter_full_slow(counter);
}

void crest_lane_histogram_record(unsigned lane, crest_histogram *histogram, int64_t value,
                                 uint64_t times)
{
    const crest_thread_table *table = crest_cells_lane(lane);
    if (table == NULL)
        crest_histogram_record_n(histogram, value, times);
    else
        crest_record_histogram(table, histogram, value, times);
}

crest_status crest_lane_timer_record(unsigned lane, crest_timer *timer, int64_t duration_ns,
                                     crest_outcome outcome, const crest_op *op)
{
    const crest_thread_table *table = crest_cells_lane(lane);
    return table != NULL ? crest_record_timer(table, timer, duration_ns, outcome, op)
                         : crest_timer_record_op(timer, duration_ns, outcome, op);
}
