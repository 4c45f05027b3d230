/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For runtimes that run their code on threads of their own making and record without calling C: a
 * JVM, a scheduler of coroutines. Two ways to their cells.
 *
 * A thread's own table may be lent: code of the runtime that runs on no other thread adds to the
 * cells as crest_counter_add and crest_shard_record in <crest/cell.h> do; a load, an addition and a
 * store will do.
 *
 * What moves from thread to thread in the middle of an addition uses a lane: cells that belong to
 * no thread, and that all add to atomically. There are a few, so that those who add at the same
 * time do not all want the same line; which one is taken does not matter, as readers sum them all.
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
 * A histogram's is longer: crest_shard_record with the load of `noted` an acquire, and with both
 * additions atomic and the second one a release; where it returns 0, crest_lane_histogram_record.
 *
 * No more than ten minutes may lie between loading a slot and adding to its cell (garbage
 * collectors stop threads there): after these a series that was released leaves its slot to
 * another.
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
 * Makes the lanes, if there are none: the power of two from CREST_LANES_MIN to CREST_LANES_MAX that
 * is at least `processors`, how many threads may add at once. Returns how many there are, whoever
 * made them; 0 when there is no memory for them. They stay for the life of the process. Any thread,
 * any handler. Cost: locks, allocates the first time.
 */
CREST_API unsigned crest_lanes_make(unsigned processors);

/* The cells of a lane, its number modulo how many there are; NULL before crest_lanes_make. Any
 * thread, any handler. Cost: a call. */
CREST_API crest_cells *crest_lane_cells(unsigned lane);

/*
 * The calling thread's own table, for a runtime that adds to it on this thread only; NULL when it
 * does not lead to the slot's cell, which it does after the first record of this thread through a
 * handle that has the slot. It is the thread's until its end: other thread-specific data's
 * destructors may still add to it, but for those of the last round. An addition that is not one
 * instruction loses what a signal handler adds to the same cell meanwhile. Any thread. Cost: a
 * call.
 */
CREST_API crest_cells *crest_lane_own(uint32_t slot);

/*
 * crest_counter_add, crest_histogram_record_n and crest_timer_record_op for a lane instead of the
 * calling thread's cells: they do all that the inlined part leaves to them, and make the lane's
 * cells so that the next may be added without a call. Before crest_lanes_make they record as those
 * do. Any thread, any handler. Cost: a call; locks and allocates where those do.
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
