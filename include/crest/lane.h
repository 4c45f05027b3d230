/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For runtimes that run their code on threads of their own making and record without calling C: a
 * JVM, a scheduler of coroutines. There are two ways to their cells.
 *
 * 1. A thread's own table may be lent to code of the runtime that runs on no other thread. It adds
 *    to the cells as crest_counter_add and crest_shard_record in <crest/cell.h> do; a load, an
 *    addition and a store will do.
 * 2. Code that may move from thread to thread in the middle of an addition uses a lane: cells that
 *    belong to no thread, and that all writers add to atomically. There are several lanes so that
 *    concurrent writers do not share one cache line. Any lane is correct, as readers sum them all.
 *
 *     unsigned lanes = crest_lanes_make(processors);
 *     unsigned lane = coroutine_number & (lanes - 1);
 *     crest_cells *cells = crest_lane_cells(lane);
 *     uint32_t slot = counter->handle.slot;                    each time anew, relaxed
 *     uint64_t *chunk = cells->chunk[slot >> CREST_CHUNK_BITS];      each time anew
 *     if (chunk != NULL)
 *         __atomic_fetch_add(&chunk[slot], 1, __ATOMIC_RELAXED);
 *     else
 *         crest_lane_counter_add(lane, counter, 1);
 *
 * A histogram takes more: crest_shard_record, with the load of `noted` an acquire, both additions
 * atomic, and the second addition a release. Where it returns 0, call crest_lane_histogram_record.
 *
 * At most ten minutes may pass between loading a slot and adding to its cell (garbage collectors
 * stop threads there). After that the slot of a released series may belong to another series.
 */
#ifndef CREST_LANE_H
#define CREST_LANE_H

#include <crest/counter.h>
#include <crest/timer.h>

/* How many lanes there may be. */
#define CREST_LANES_MIN 4u
#define CREST_LANES_MAX 64u

CREST_BEGIN_C

/*
 * Makes the lanes, if there are none: as many as the power of two from CREST_LANES_MIN to
 * CREST_LANES_MAX that is at least `processors`, the number of threads that may add at once.
 * Returns how many there are, also when an earlier call made them; 0 when there is no memory for
 * them. They stay for the life of the process. Any thread, any handler. Cost: locks, allocates the
 * first time.
 */
CREST_API unsigned crest_lanes_make(unsigned processors);

/* The cells of a lane; its number is taken modulo the number of lanes. NULL before
 * crest_lanes_make. Any thread, any handler. Cost: a call. */
CREST_API crest_cells *crest_lane_cells(unsigned lane);

/*
 * The calling thread's own table, for a runtime that adds to it on this thread only. NULL while the
 * table does not lead to the slot's cell; it does from this thread's first record through a handle
 * with that slot. It is the thread's until its end: destructors of other thread-specific data may
 * still add to it, except in the last round. An addition of several instructions loses what a
 * signal handler adds to the same cell meanwhile. Any thread. Cost: a call.
 */
CREST_API crest_cells *crest_lane_own(uint32_t slot);

/*
 * crest_counter_add, crest_histogram_record_n and crest_timer_record_op for a lane instead of the
 * calling thread's cells. They are the cold path of the inlined part, and make the lane's cells, so
 * that the next addition needs no call. Before crest_lanes_make they record into the calling
 * thread's cells. Any thread, any handler. Cost: a call; locks and allocates where those do.
 */
CREST_API void crest_lane_counter_add(unsigned lane, crest_counter *counter, int64_t amount);
CREST_API void crest_lane_histogram_record(unsigned lane, crest_histogram *histogram, int64_t value,
                                           uint64_t times);
CREST_API crest_status crest_lane_timer_record(unsigned lane, crest_timer *timer,
                                               int64_t duration_ns, crest_outcome outcome,
                                               const crest_op *op);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/lane_off.h>
#endif

#endif
