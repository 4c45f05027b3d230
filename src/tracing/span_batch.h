/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept spans as exporters get them: built from nodes into memory of fixed size. Not thread-safe:
 * under the tracing lock.
 *
 *     crest_span_batch_begin(batch);
 *     while (number != 0 && crest_span_batch_add(batch, nodes, number)) ...
 */
#ifndef CREST_SPAN_BATCH_H
#define CREST_SPAN_BATCH_H

#include "tracing/trace_nodes.h"

typedef struct crest_span_batch_room crest_span_batch_room;

/* NULL without memory. */
crest_span_batch_room *crest_span_batch_new(void);
void crest_span_batch_free(crest_span_batch_room *room);

/* The batch is empty. `tracestate`: of spans that are sampled, "" or `ot=th:…`; borrowed until the
 * next begin. */
void crest_span_batch_begin(crest_span_batch_room *room, const char *tracestate);

/* Adds the span; 0, and nothing was done, when the batch is full. */
int crest_span_batch_add(crest_span_batch_room *room, const crest_trace_nodes *nodes,
                         uint32_t number);

const crest_span *crest_span_batch_spans(const crest_span_batch_room *room, size_t *count);

/* Spans that were offered and are in the batch: of their own, and within folded ones. */
uint64_t crest_span_batch_own(const crest_span_batch_room *room);
uint64_t crest_span_batch_folded(const crest_span_batch_room *room);

#endif
