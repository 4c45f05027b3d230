/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A span as the tracing thread has it, and as its writer packed it into slots of its thread's ring.
 * Nothing in it needs a look-up by the writer: ids that follow from the operation are computed by
 * the tracing thread.
 *
 * Packed, a span is its head and as few words as it has, so that most take one slot and a writer
 * touches few lines, which the reader had:
 *
 *     head, series, end_ns, duration_ns, length and kind of the operation
 *     its identity     0, 1, 2 or 4 words, by its kind
 *     id               1, with CREST_SPAN_HAS_ID
 *     parent, trace    3, with CREST_SPAN_HAS_PARENT
 *     details
 *
 * The first slot begins with `head`; continuations leave their first word alone.
 *
 * The series is named by its address: it is arena memory that never goes away, and its metric and
 * label values are written before any handle leads to it and never again. So a span has its labels
 * also when its series was retired before the tracing thread came, at no cost of the writer.
 */
#ifndef CREST_SPAN_RECORD_H
#define CREST_SPAN_RECORD_H

#include "metrics/metric_inside.h"
#include <crest/span.h>

#define CREST_SPAN_SLOT_BYTES 128u

#define CREST_SPAN_SLOT_WORDS (CREST_SPAN_SLOT_BYTES / 8u)
/* Words of a slot behind its first one. */
#define CREST_SPAN_SLOT_ROOM (CREST_SPAN_SLOT_WORDS - 1u)

/* Words of details in a record, and at most. */
#define CREST_SPAN_WORDS_FIRST 3u
#define CREST_SPAN_WORDS_MAX (CREST_SPAN_DETAIL_BYTES / 8u)
/* Words of a packed span behind its head without details, at most; they fit into the first slot. */
#define CREST_SPAN_WORDS_FIXED_MAX 12u
/* Slots that so many words behind the head take, and a span at most. */
#define CREST_SPAN_SLOTS_OF(words) (((words) + CREST_SPAN_SLOT_ROOM - 1u) / CREST_SPAN_SLOT_ROOM)
#define CREST_SPAN_SLOTS_MAX CREST_SPAN_SLOTS_OF(CREST_SPAN_WORDS_FIXED_MAX + CREST_SPAN_WORDS_MAX)

/* Flags of a record. */
enum {
    CREST_SPAN_HAS_PARENT = 1,    /* parent and trace were given */
    CREST_SPAN_REMOTE = 2,        /* the parent is of another process */
    CREST_SPAN_SAMPLED_ABOVE = 4, /* the parent is kept */
    CREST_SPAN_RANDOM = 8,        /* the given trace id is random */
    CREST_SPAN_HAS_ID = 16        /* packed: an id was asked for */
};

typedef struct crest_span_record {
    /* not 0: committed. Bit 0; 8 slots; 16 outcome; 24 kind; 32 flags; 40 stage, from 1; 48 words
       of details; 56 attributes that were dropped, at most 255 */
    uint64_t head;
    const crest_series *series; /* of the timer; its metric and labels outlive it */
    uint64_t end_ns;            /* crest_now */
    uint64_t duration_ns;
    crest_op op;
    crest_span_id id; /* 0: follows from trace and metric */
    crest_span_id parent;
    crest_trace_id trace; /* zero: the operation's */
    uint64_t detail[CREST_SPAN_WORDS_FIRST];
} crest_span_record;
_Static_assert(sizeof(crest_span_record) == CREST_SPAN_SLOT_BYTES, "a record fills its slot");

static inline unsigned crest_span_byte(const crest_span_record *record, unsigned shift)
{
    return (unsigned)(record->head >> shift & 0xff);
}
static inline const crest_metric *crest_span_metric(const crest_span_record *record)
{
    return record->series->metric;
}
#define CREST_SPAN_SLOTS(record) crest_span_byte(record, 8)
#define CREST_SPAN_OUTCOME(record) crest_span_byte(record, 16)
#define CREST_SPAN_KIND(record) crest_span_byte(record, 24)
#define CREST_SPAN_FLAGS(record) crest_span_byte(record, 32)
#define CREST_SPAN_STAGE(record) crest_span_byte(record, 40)
#define CREST_SPAN_WORDS(record) crest_span_byte(record, 48)
#define CREST_SPAN_DROPPED(record) crest_span_byte(record, 56)

/* Words of the identity of an operation of this kind. */
static inline unsigned crest_span_op_words(uint32_t kind)
{
    static const uint8_t words[8] = {
        [CREST_OP_NONE] = 0, [CREST_OP_U64] = 1, [CREST_OP_U64X2] = 2, 4, 4, 4, 4, 4};
    return words[kind & 7];
}

#endif
