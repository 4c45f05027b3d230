/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A span as it lies in its thread's ring: one slot of 128 bytes, and for details that do not fit
 * there up to four more, its continuations. Nothing in it needs a look-up by the writer: ids that
 * follow from the operation are computed by the tracing thread.
 */
#ifndef CREST_SPAN_RECORD_H
#define CREST_SPAN_RECORD_H

#include "metrics/metric_inside.h"
#include <crest/span.h>

#define CREST_SPAN_SLOT_BYTES 128u

/* Words of details in the first slot, and in a continuation, whose word 0 is that of `head`. */
#define CREST_SPAN_WORDS_FIRST 3u
#define CREST_SPAN_WORDS_MORE 15u
#define CREST_SPAN_WORDS_MAX (CREST_SPAN_DETAIL_BYTES / 8u)
/* Slots of a span, at most. */
#define CREST_SPAN_SLOTS_MAX                                                                       \
    (1u + (CREST_SPAN_WORDS_MAX - CREST_SPAN_WORDS_FIRST + CREST_SPAN_WORDS_MORE - 1) /            \
              CREST_SPAN_WORDS_MORE)

/* Flags of a record. */
enum {
    CREST_SPAN_HAS_PARENT = 1,    /* parent and trace were given */
    CREST_SPAN_REMOTE = 2,        /* the parent is of another process */
    CREST_SPAN_SAMPLED_ABOVE = 4, /* the parent is kept */
    CREST_SPAN_RANDOM = 8         /* the given trace id is random */
};

typedef struct crest_span_record {
    /* not 0: committed. Bit 0; 8 slots; 16 outcome; 24 kind; 32 flags; 40 stage, from 1; 48 words
       of details; 56 attributes that were dropped, at most 255 */
    uint64_t head;
    const crest_metric *metric;
    uint64_t end_ns; /* crest_now */
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
#define CREST_SPAN_SLOTS(record) crest_span_byte(record, 8)
#define CREST_SPAN_OUTCOME(record) crest_span_byte(record, 16)
#define CREST_SPAN_KIND(record) crest_span_byte(record, 24)
#define CREST_SPAN_FLAGS(record) crest_span_byte(record, 32)
#define CREST_SPAN_STAGE(record) crest_span_byte(record, 40)
#define CREST_SPAN_WORDS(record) crest_span_byte(record, 48)
#define CREST_SPAN_DROPPED(record) crest_span_byte(record, 56)

/* Slots that so many words of details take. */
static inline unsigned crest_span_slots(unsigned words)
{
    return words <= CREST_SPAN_WORDS_FIRST
               ? 1
               : 1 + (words - CREST_SPAN_WORDS_FIRST + CREST_SPAN_WORDS_MORE - 1) /
                         CREST_SPAN_WORDS_MORE;
}

#endif
