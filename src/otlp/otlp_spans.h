/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the bodies of traces share, protobuf or JSON. The public way to them is
 * crest_otlp_traces_write in <crest/otlp.h>.
 *
 *     otlp_traces.c             the public function: body after body
 *     otlp_spans.c              what a span says: its texts, cut and made valid, and its own
 * attributes
 *     otlp_spans_protobuf.c     spans and what is around them as protobuf
 *     otlp_spans_json.c         the same as JSON
 *
 * A body is built in memory, behind room for its envelope, as those of metrics are. A span that
 * makes it too long is taken off again, the body handed out, and the span begins the next.
 */
#ifndef CREST_OTLP_SPANS_H
#define CREST_OTLP_SPANS_H

#include <crest/otlp.h>

/* Attributes of ours beside a span's own. */
#define CREST_OTLP_SPAN_EXTRAS_MAX 6u
/* Bytes of a text with the NUL behind it. */
#define CREST_OTLP_SPAN_TEXT_ROOM (CREST_OTLP_SPAN_TEXT_BYTES_MAX + 1u)

/* What a span says that is no attribute of its caller: operation, why it was kept, what is folded
 * into it. `count` of `attribute`. */
typedef struct crest_otlp_span_extras {
    unsigned count;
    crest_span_attribute attribute[CREST_OTLP_SPAN_EXTRAS_MAX];
    char operation[CREST_OP_TEXT_BYTES];
} crest_otlp_span_extras;

void crest_otlp_span_extras_of(crest_otlp_span_extras *extras, const crest_span *span);

/* A text of up to `length` bytes, or to its NUL if `length` is SIZE_MAX, as valid UTF-8 and a NUL,
 * cut at
 * a character to CREST_OTLP_SPAN_TEXT_BYTES_MAX; returns its length. NULL is "". */
size_t crest_otlp_span_text(char out[CREST_OTLP_SPAN_TEXT_ROOM], const char *text, size_t length);

/* What a text of that length takes of it at most. */
size_t crest_otlp_span_text_bytes(const char *text, size_t length);

/* An attribute's text is so long, by its type. */
size_t crest_otlp_span_value_length(const crest_span_attribute *attribute);

/* OpenTelemetry's numbers: of a kind, of a status. */
unsigned crest_otlp_span_kind(const crest_span *span);
unsigned crest_otlp_span_status(const crest_span *span);
/* The status' words: the caller's, or the outcome's; "" if it is no error. */
const char *crest_otlp_span_message(const crest_span *span);

/* Protobuf or JSON. `room`: as crest_otlp_traces_room says. */
typedef struct crest_otlp_spans_format {
    /* Bytes that a byte of a text takes at most. */
    unsigned bytes_a_byte;
    /* Room of the envelope in front of the spans, and behind them. */
    size_t (*head)(const crest_otlp_traces_options *options);
    size_t tail;
    /* Puts a span behind others; `scratch` is room for a text. */
    char *(*span)(char *at, const crest_span *span, int first,
                  char scratch[CREST_OTLP_SPAN_TEXT_ROOM]);
    /* Puts the envelope around the spans from `from` to `end`; sets *length, returns where the body
     * begins. */
    const char *(*body)(const crest_otlp_traces_options *options, char *from, char *end,
                        size_t *length);
} crest_otlp_spans_format;

extern const crest_otlp_spans_format crest_otlp_spans_protobuf; /* otlp_spans_protobuf.c */
extern const crest_otlp_spans_format crest_otlp_spans_json;     /* otlp_spans_json.c */

#endif
