/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collected spans: nodes of a pool of fixed size, in lists by number. 0 is no node. Not
 * thread-safe: under the tracing lock.
 */
#ifndef CREST_TRACE_NODES_H
#define CREST_TRACE_NODES_H

#include "spans/span_record.h"

/* Words of details that a further node holds. */
#define CREST_TRACE_NODE_WORDS (CREST_SPAN_SLOT_BYTES / 8u)

/* A folded span: in record.head beside the flags of span_record.h. */
#define CREST_TRACE_FOLDED (UINT64_C(0x80) << 32)
/* Of such: it stands for spans of several label sets, and so has no labels. */
#define CREST_TRACE_FOLD_MIXED (UINT64_C(0x40) << 32)
/* Of such: what it stands for, in record.detail. */
enum { CREST_TRACE_FOLD_COUNT, CREST_TRACE_FOLD_SUM_NS, CREST_TRACE_FOLD_MAX_NS };

typedef struct crest_trace_node {
    union {
        crest_span_record record;
        uint64_t more[CREST_TRACE_NODE_WORDS]; /* of a further node: details */
    } as;
    int64_t wall_ns;     /* wall clock minus crest_now */
    uint64_t randomness; /* of its operation */
    uint32_t next;       /* in its list */
    uint32_t part;       /* the next node of the same span's details */
    uint8_t why;         /* crest_span_why, once it is kept */
} crest_trace_node;

typedef struct crest_trace_nodes {
    crest_trace_node *all;
    uint32_t count; /* numbers go from 1 to count - 1 */
    uint32_t fresh; /* numbers from here on were never taken, so that their pages cost nothing */
    uint32_t free;  /* list of given ones */
    uint32_t in_use;
} crest_trace_nodes;

typedef struct crest_trace_list {
    uint32_t first, last;
    uint32_t count; /* spans */
} crest_trace_list;

/* 0 without memory. */
int crest_trace_nodes_init(crest_trace_nodes *nodes, uint64_t bytes);
void crest_trace_nodes_fini(crest_trace_nodes *nodes);

static inline crest_trace_node *crest_trace_node_at(const crest_trace_nodes *nodes, uint32_t number)
{
    return &nodes->all[number];
}

/* A copy of the span with its details, in no list; 0 when the pool is empty. */
uint32_t crest_trace_node_take(crest_trace_nodes *nodes, const crest_span_record *record,
                               const uint64_t *detail);
/* Gives a span's nodes back. */
void crest_trace_node_give(crest_trace_nodes *nodes, uint32_t number);

/* Copies a span's details; returns how many words there are. */
unsigned crest_trace_node_detail(const crest_trace_nodes *nodes, uint32_t number,
                                 uint64_t detail[CREST_SPAN_WORDS_MAX]);

void crest_trace_list_push(crest_trace_nodes *nodes, crest_trace_list *list, uint32_t number);
/* The first span, taken out; 0 when the list is empty. */
uint32_t crest_trace_list_pop(crest_trace_nodes *nodes, crest_trace_list *list);
/* Gives all of them back. */
void crest_trace_list_give(crest_trace_nodes *nodes, crest_trace_list *list);

#endif
