/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime that records without calling C, as <crest/lane.h> describes: atomically in a lane, by a
 * load, an addition and a store in a lent table.
 */
#ifndef CREST_TESTS_LANE_FIXTURE_H
#define CREST_TESTS_LANE_FIXTURE_H

#include "support/core_fixture.h"

#include <crest/lane.h>

/* The cell, or NULL for the cold path. */
__attribute__((unused)) static uint64_t *runtime_cell(const crest_cells *cells,
                                                      const crest_handle *handle)
{
    uint32_t slot = __atomic_load_n(&handle->slot, __ATOMIC_RELAXED);
    /* acquire where there are no address dependencies: for ThreadSanitizer */
    uint64_t *chunk = __atomic_load_n(&cells->chunk[slot >> CREST_CHUNK_BITS], __ATOMIC_ACQUIRE);
    return chunk != NULL ? &chunk[slot] : NULL;
}

/* Adds to a table with no other writer; 0 for the cold path. */
__attribute__((unused)) static int runtime_add_own(const crest_cells *cells,
                                                   const crest_counter *counter, uint64_t amount)
{
    uint64_t *cell = runtime_cell(cells, &counter->handle);
    if (cell == NULL)
        return 0;
    __atomic_store_n(cell, __atomic_load_n(cell, __ATOMIC_RELAXED) + amount, __ATOMIC_RELEASE);
    return 1;
}

/* Adds to a lane; non-zero if no call was needed. */
__attribute__((unused)) static int runtime_add(unsigned lane, crest_counter *counter,
                                               uint64_t amount)
{
    uint64_t *cell = runtime_cell(crest_lane_cells(lane), &counter->handle);
    if (cell == NULL) {
        crest_lane_counter_add(lane, counter, (int64_t)amount);
        return 0;
    }
    uint64_t before = __atomic_fetch_add(cell, amount, __ATOMIC_RELAXED);
    if (before + amount < before)
        crest_counter_full_slow(counter);
    return 1;
}

/* Records into a lane's shard; 0 for the cold path. */
__attribute__((unused)) static int runtime_shard(unsigned lane, const crest_histogram *histogram,
                                                 uint64_t value)
{
    uint64_t *cell = runtime_cell(crest_lane_cells(lane), &histogram->handle);
    uint64_t word = cell != NULL ? __atomic_load_n(cell, __ATOMIC_ACQUIRE) : 0;
    crest_shard *shard = (crest_shard *)(uintptr_t)word;
    if (shard == NULL)
        return 0;
    uintptr_t block = __atomic_load_n(&shard->block[crest_top_bit(value)], __ATOMIC_ACQUIRE);
    if (block == 0 || value > __atomic_load_n(&shard->noted, __ATOMIC_ACQUIRE) ||
        value < __atomic_load_n(&shard->min, __ATOMIC_RELAXED))
        return 0;
    uint64_t *counts = (uint64_t *)(block & ~(uintptr_t)CREST_BLOCK_SHIFT);
    __atomic_fetch_add(&counts[value >> (block & CREST_BLOCK_SHIFT)], 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&shard->sum, value, __ATOMIC_RELEASE);
    return 1;
}

/* Records into a lane; non-zero if no call was needed. */
__attribute__((unused)) static int runtime_record(unsigned lane, crest_histogram *histogram,
                                                  int64_t value)
{
    if (runtime_shard(lane, histogram, (uint64_t)value))
        return 1;
    crest_lane_histogram_record(lane, histogram, value, 1);
    return 0;
}

/* Records a duration that is its own operation. */
__attribute__((unused)) static int runtime_time(unsigned lane, crest_timer *timer, uint64_t ns)
{
    if (runtime_shard(lane, &timer->outcome[CREST_OUTCOME_OK], ns))
        return 1;
    crest_op op = crest_op_u64x2(ns, ~ns);
    crest_lane_timer_record(lane, timer, (int64_t)ns, CREST_OUTCOME_OK, &op);
    return 0;
}

#endif
