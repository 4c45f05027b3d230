/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a span as JSON, for the exporters that write it: ids, texts of any length, words.
 *
 *     crest_span_json_trace(&output, "traceId", &span->trace);
 *     crest_span_json_id(&output, "id", span->id);
 *     crest_span_json_text(&output, "name", span->name, SIZE_MAX);
 */
#ifndef CREST_REPORTERS_SPAN_JSON_H
#define CREST_REPORTERS_SPAN_JSON_H

#include "common/json_text.h"

#include <crest/span.h>

/* Bytes of a text; a longer one is cut at a character. As CREST_OTLP_SPAN_TEXT_BYTES_MAX. */
#define CREST_SPAN_JSON_TEXT_BYTES_MAX 4096u

/* What gathers a batch's text: a crest_write_fn with it as its context. Zeroed before; `bytes` is
 * malloc's, and the caller's to free. */
typedef struct crest_span_text {
    char *bytes;
    size_t length, capacity;
} crest_span_text;
int crest_span_text_write(void *text, const void *bytes, size_t length);

/* Ids in hexadecimal, the highest byte first: 32 digits of a trace, 16 of a span. */
void crest_span_json_trace(crest_json_output *output, const char *key, const crest_trace_id *trace);
void crest_span_json_id(crest_json_output *output, const char *key, crest_span_id id);

/* A member whose value is a text of `length` bytes, or up to its NUL if that is SIZE_MAX; NULL is
 * "". */
void crest_span_json_text(crest_json_output *output, const char *key, const char *text,
                          size_t length);

/* An attribute: with a value of its type, or with all values as texts. */
void crest_span_json_attribute(crest_json_output *output, const crest_span_attribute *attribute,
                               int as_text);

/* "internal", "server" …; "ok", "error" …; "sampled", "slow" … */
const char *crest_span_json_kind(const crest_span *span);
const char *crest_span_json_outcome(const crest_span *span);
const char *crest_span_json_why(const crest_span *span);

#endif
