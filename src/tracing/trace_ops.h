/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations whose spans are being collected, by trace, in a table of fixed size; and those decided
 * lately, so that late spans follow. Not thread-safe: under the tracing lock.
 *
 *     state     its spans                      becomes
 *     waiting   in `spans` and `folds`         kept or dropped, when it is decided
 *     kept      handed on; late ones too       forgotten, when a new one needs the place
 *     dropped   given back                     kept, by a late root that is slow; forgotten
 *
 * Two lists by age: those waiting, and those decided.
 */
#ifndef CREST_TRACE_OPS_H
#define CREST_TRACE_OPS_H

#include "tracing/trace_nodes.h"

/* Operations known at a time. */
#define CREST_TRACE_OPS_MAX 8192u

typedef enum crest_trace_state {
    CREST_TRACE_FREE,
    CREST_TRACE_WAITING,
    CREST_TRACE_KEPT,
    CREST_TRACE_DROPPED
} crest_trace_state;

typedef struct crest_trace_op {
    crest_trace_id trace;
    crest_op op; /* of its first span that has one */
    crest_trace_list spans;
    crest_trace_list folds; /* a span a name, standing for many */
    uint64_t folded;        /* spans in `folds` */
    uint64_t first_ns;      /* when its first span was collected */
    uint64_t root_ns;       /* when its last root was; 0: none yet */
    uint64_t randomness;    /* for sampling */
    int64_t wall_ns;        /* wall clock minus crest_now, for all of it */
    crest_span_id root;     /* of a decided one */
    uint64_t handed;        /* spans of a kept one handed on; numbers ids too */
    uint32_t chain;         /* hash chain, then links of its list of age */
    uint32_t older, newer;
    uint8_t state;
    uint8_t random;  /* the trace id is */
    uint8_t sampled; /* a parent elsewhere is kept */
    uint8_t failed, timed_out, slow, stuck;
    uint8_t why; /* of a kept one */
} crest_trace_op;

typedef struct crest_trace_ages {
    uint32_t oldest, newest, count;
} crest_trace_ages;

typedef struct crest_trace_ops {
    crest_trace_op *all; /* from 1 */
    uint32_t *bucket;
    uint32_t fresh; /* from here on no place was ever taken */
    crest_trace_ages waiting, decided;
} crest_trace_ops;

/* 0 without memory. */
int crest_trace_ops_init(crest_trace_ops *ops);
void crest_trace_ops_fini(crest_trace_ops *ops);

/* The operation of a trace, or NULL. */
crest_trace_op *crest_trace_op_find(const crest_trace_ops *ops, const crest_trace_id *trace);
/* A new one, waiting, in place of the oldest decided one if need be; NULL when all are waiting. */
crest_trace_op *crest_trace_op_make(crest_trace_ops *ops, const crest_trace_id *trace);
/* Moves a waiting one to the decided ones, as their newest. */
void crest_trace_op_decided(crest_trace_ops *ops, crest_trace_op *op, crest_trace_state state);
/* The oldest waiting one, and the next one after it; NULL at the end. */
crest_trace_op *crest_trace_op_oldest(const crest_trace_ops *ops);
crest_trace_op *crest_trace_op_newer(const crest_trace_ops *ops, const crest_trace_op *op);

#endif
