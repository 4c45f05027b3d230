/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of one operation's spans: its root, ids, parents. Pure but for the nodes, which it
 * completes: afterwards each record has trace, id and parent. Not thread-safe: under the tracing
 * lock.
 *
 * 1. The root is the span without a parent on this node that began first; of those that began
 *    within 100 µs of it, the longest.
 * 2. A metric's first span has the id that crest_span_id_of gives, so that other nodes can name it;
 *    further ones have ids of their own. Ids that were given out stay; one that is there twice is
 *    replaced in the later span.
 * 3. A span without a parent is the root's child; a stage its stages'.
 * 4. A parent that leads back to its child, as a peer may claim, is replaced by the root.
 */
#ifndef CREST_TRACE_FAMILY_H
#define CREST_TRACE_FAMILY_H

#include "tracing/trace_ops.h"

/* Spans of an operation, folded ones included, that have a place here. */
#define CREST_TRACE_FAMILY_MAX 10000u

typedef struct crest_trace_family crest_trace_family;

/* NULL without memory. */
crest_trace_family *crest_trace_family_new(void);
void crest_trace_family_free(crest_trace_family *family);

/* Whether the record is a root on this node: it names no parent of this process. */
int crest_trace_is_root(const crest_span_record *record);

/* Completes all records of a waiting operation, and sets op->root. `instance` as ids have it. */
void crest_trace_family_complete(crest_trace_family *family, crest_trace_nodes *nodes,
                                 crest_trace_op *op, const char *instance);

/* Completes a late record of a decided operation. */
void crest_trace_family_late(crest_trace_nodes *nodes, crest_trace_op *op, uint32_t number,
                             const char *instance);

#endif
