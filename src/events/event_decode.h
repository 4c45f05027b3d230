/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event's words made values. Pure; it trusts none of them.
 */
#ifndef CREST_EVENT_DECODE_H
#define CREST_EVENT_DECODE_H

#include "events/event_format.h"

#include <crest/event_reader.h>

/* What the views of a reader point to. */
typedef struct crest_event_decoded {
    uint64_t words[CREST_EVENT_WORDS_MAX];
    crest_event_value values[CREST_EVENT_FIELDS_MAX];
    /* texts: each byte may become U+FFFD, and each text gets a NUL */
    char text[3 * CREST_EVENT_PAYLOAD_BYTES_MAX + CREST_EVENT_FIELDS_MAX];
} crest_event_decoded;

/* Words of an event, by its first one; 0 when that is none. */
static inline unsigned crest_event_words(uint64_t head)
{
    unsigned words = (unsigned)(head >> 32 & 0xffff);
    return words >= 2 && words <= CREST_EVENT_WORDS_MAX ? words : 0;
}

/* Makes a view of decoded->words: all but times, thread and ring. 0 when the words are not what
 * `info` says. */
int crest_event_decode(const crest_event_info *info, crest_event_decoded *decoded,
                       crest_event_view *view);

#endif
