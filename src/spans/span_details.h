/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Details of a span: attributes, events, links and the text of its status, as words. Each begins
 * with a word of its own: type, key, length and a small value. Written by the span's caller into
 * its crest_span_timing, and read by the tracing thread from a record.
 *
 *     crest_span_detail detail;
 *     for (unsigned at = 0; crest_span_detail_next(words, count, &at, &detail);) ...
 */
#ifndef CREST_SPAN_DETAILS_H
#define CREST_SPAN_DETAILS_H

#include "spans/span_record.h"

typedef enum crest_span_detail_type {
    CREST_SPAN_DETAIL_I64 = 1, /* as crest_span_value_type */
    CREST_SPAN_DETAIL_DOUBLE,
    CREST_SPAN_DETAIL_BOOL, /* the small value */
    CREST_SPAN_DETAIL_TEXT,
    CREST_SPAN_DETAIL_SMALL, /* an integer that is the small value */
    CREST_SPAN_DETAIL_EVENT, /* a time of crest_now */
    CREST_SPAN_DETAIL_LINK,
    CREST_SPAN_DETAIL_MESSAGE
} crest_span_detail_type;

typedef struct crest_span_detail {
    unsigned type;
    const char *key; /* "" of a link or message */
    unsigned length; /* of a text */
    int32_t small;
    const uint64_t *words; /* what follows the first word */
} crest_span_detail;

/* The key's id, from 1; 0 with *why CREST_INVALID_ARGUMENT for one that is not valid, CREST_LIMIT
 * beyond CREST_SPAN_KEYS_MAX, both counted as misuse, or while a fork holds the lock. Any thread,
 * any handler; takes the slow path's lock the first time. */
unsigned crest_span_key_id(crest_span_key *key, crest_status *why);

/* Appends a detail of `words` words, 0 and nothing done when it does not fit. `bytes` may be NULL
 * for none. */
int crest_span_detail_add(crest_span_timing *timing, unsigned type, unsigned key, unsigned length,
                          int32_t small, const void *bytes);

/* The next detail; 0 at the end, or where the words make no sense. */
int crest_span_detail_next(const uint64_t *words, unsigned count, unsigned *at,
                           crest_span_detail *detail);

#endif
