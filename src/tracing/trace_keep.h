/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collecting spans by operation, deciding which are kept, and handing them out. All of tracing but
 * its thread, its settings' text and its exporters' list. Not thread-safe: under the tracing lock.
 * Time is an argument.
 *
 * Decision, of an operation as a whole:
 *
 *   when   its root has been there for `linger_ns` and none of it is open in the table of
 *          operations in flight; or it has waited for CREST_TRACE_WAIT_NS; or there is no room
 *   kept   if its trace is sampled (the same on all nodes), or a root failed, timed out or was
 *          slow, or it was open for all of CREST_TRACE_WAIT_NS
 *   then   as one: either all its spans have room in this second's budget, or all are dropped
 *
 * Each span that was taken ends in one word of `counts`.
 */
#ifndef CREST_TRACE_KEEP_H
#define CREST_TRACE_KEEP_H

#include "tracing/trace_ops.h"

/* An operation is decided after this time, whatever is missing. */
#define CREST_TRACE_WAIT_NS UINT64_C(60000000000)
/* Decided spans go out after this time, or when a batch of them is there. */
#define CREST_TRACE_BATCH_NS UINT64_C(5000000000)

typedef struct crest_trace_rules {
    uint64_t threshold; /* sampled: randomness at least this; 1 << 56: none */
    double slow_factor; /* 0: not by the percentile */
    uint64_t slow_ns;   /* 0: not by a fixed time */
    uint32_t rate;      /* spans a second */
    uint32_t per_op;    /* spans of an operation before they fold */
    uint64_t linger_ns; /* after a root, for those that end a little later */
} crest_trace_rules;

/* Spans, by what became of them. Written under the lock, read by any thread. */
typedef enum crest_trace_fate {
    CREST_TRACE_FATE_KEPT,
    CREST_TRACE_FATE_FOLDED,
    CREST_TRACE_FATE_SAMPLED_OUT,
    CREST_TRACE_FATE_RATE,
    CREST_TRACE_FATE_MEMORY,
    CREST_TRACE_FATE_EXPORT,
    CREST_TRACE_FATE_COUNT
} crest_trace_fate;

typedef struct crest_trace_keep crest_trace_keep;

/* Hands a batch out: non-zero when an exporter took it. `final`: the last one. */
typedef int crest_trace_hand_out(const crest_span *spans, size_t count, int final);
/* Whether an operation is open in the table of operations in flight. */
typedef int crest_trace_ask_open(const crest_op *op);

/* NULL without memory. `bytes`: of all waiting spans. */
crest_trace_keep *crest_trace_keep_new(uint64_t bytes, crest_trace_hand_out *hand_out,
                                       crest_trace_ask_open *ask_open);
void crest_trace_keep_free(crest_trace_keep *keep);

/* From now on. */
void crest_trace_keep_rules(crest_trace_keep *keep, const crest_trace_rules *rules);

/* Takes a collected span. `wall_ns`: wall clock minus crest_now, now. */
void crest_trace_keep_take(crest_trace_keep *keep, const crest_span_record *record,
                           const uint64_t *detail, uint64_t now_ns, int64_t wall_ns);

/* Decides what is due (`all`: everything) and hands out what is (`out`: everything decided). */
void crest_trace_keep_turn(crest_trace_keep *keep, uint64_t now_ns, int all, int out);

/* Hands out everything decided, as the last batch. */
void crest_trace_keep_final(crest_trace_keep *keep);

uint64_t crest_trace_keep_count(const crest_trace_keep *keep, crest_trace_fate fate);
uint64_t crest_trace_keep_late(const crest_trace_keep *keep);
/* Spans that are neither decided nor handed out. */
uint64_t crest_trace_keep_waiting(const crest_trace_keep *keep);

#endif
