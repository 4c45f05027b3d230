/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offering a finished timing as a span: what the cold path of a traced timer's record adds.
 */
#ifndef CREST_SPAN_OFFER_H
#define CREST_SPAN_OFFER_H

#include "spans/span_record.h"

/* What is known beyond a record: of a span timing, or of a stage. */
typedef struct crest_span_more {
    uint64_t end_ns;                 /* 0: now */
    const crest_span_timing *timing; /* or NULL */
    unsigned stage;                  /* from 1; 0: none */
} crest_span_more;

/* Not 0: no rule can keep an operation that is not sampled and does not fail, so that spans whose
 * randomness is below this are dropped at once. Written by the tracing room. */
extern uint64_t crest_span_drop_below;

/* Puts the span into this thread's ring. `series`: any of the timer's child, no placeholder. `op`
 * may be NULL: it has no id. more: NULL for a record alone. Any thread, any handler; no lock. */
void crest_span_offer(const crest_series *series, uint64_t duration_ns, crest_outcome outcome,
                      const crest_op *op, const crest_span_more *more);

#endif
