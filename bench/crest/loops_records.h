/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operation of each kind, as the loops have them in their middle: `handle` is the metric, `i`
 * the step, `first` the first id of the thread.
 */
#ifndef BENCH_LOOPS_RECORDS_H
#define BENCH_LOOPS_RECORDS_H

#include "loops.h"

#define RECORD_COUNTER crest_counter_inc(handle)
#define RECORD_GAUGE crest_gauge_set(handle, (double)(i % LOOPS_VALUES))
#define RECORD_HISTOGRAM crest_histogram_record(handle, loops_values[i % LOOPS_VALUES])
#define RECORD_HISTOGRAM_EVEN crest_histogram_record(handle, loops_even[i % LOOPS_VALUES])

#define RECORD_TIMER                                                                               \
    crest_op op = crest_op_u64(i);                                                                 \
    crest_timing timing = crest_timer_start(handle, op);                                           \
    crest_timing_end(&timing, op, CREST_OUTCOME_OK)

/* The token and the id go through memory, as they do when an operation is handed on: no value of
 * the start is left in a register at the end. */
#define RECORD_TIMER_THROUGH_MEMORY                                                                \
    crest_op op = crest_op_u64(i);                                                                 \
    crest_timing timing = crest_timer_start(handle, op);                                           \
    __asm__ volatile("" : "+m"(timing), "+m"(op));                                                 \
    crest_timing_end(&timing, op, CREST_OUTCOME_OK)

#define RECORD_KEYED_TIMER                                                                         \
    crest_op op = crest_op_u64(first + i);                                                         \
    crest_timer_begin(handle, op);                                                                 \
    crest_timer_end(handle, op, CREST_OUTCOME_OK)

#define RECORD_RANGE_SAMPLER crest_range_sampler_add(handle, loops_steps[i % LOOPS_STEPS])
#define RECORD_RANGE_SAMPLER_RAISE crest_range_sampler_add(handle, 1)

#endif
