/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cold paths of recording, for the thread's own cells or a lane's: the inside of
 * crest_counter_add_slow and its relatives, and of <crest/lane.h>.
 */
#ifndef CREST_RECORD_SLOW_H
#define CREST_RECORD_SLOW_H

#include "cells/cells.h"
#include "spans/span_offer.h"
#include <crest/counter.h>
#include <crest/timer.h>

/* As crest_counter_add_slow. `lane` NULL: this thread's own cells. */
void crest_record_counter(const crest_thread_table *lane, crest_counter *counter, int64_t amount);

/* As crest_histogram_record_slow. */
void crest_record_histogram(const crest_thread_table *lane, crest_histogram *histogram,
                            int64_t value, uint64_t times);

/* As crest_timer_record_slow. */
crest_status crest_record_timer(const crest_thread_table *lane, crest_timer *timer,
                                int64_t duration_ns, crest_outcome outcome, const crest_op *op);

/* The same for a span timing, recorded with its details where the timer is traced. */
crest_status crest_record_span(crest_timer *timer, int64_t duration_ns, crest_outcome outcome,
                               const crest_op *op, const crest_span_more *more);

/* crest_timer_record_op of an operation that ended at `end_ns`, by crest_now, and not just now: its
 * span then ends there. */
crest_status crest_record_ended(crest_timer *timer, int64_t duration_ns, crest_outcome outcome,
                                const crest_op *op, uint64_t end_ns);

#endif
