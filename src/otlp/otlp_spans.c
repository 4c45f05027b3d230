/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a span says to OTLP. See otlp_spans.h.
 */
#include "otlp/otlp_spans.h"
#include "base/misuse.h"
#include "base/utf8.h"
#include "page/page_exemplar.h"

#include <string.h>

/* SpanKind and StatusCode. */
enum { SPANS_KIND_INTERNAL = 1, SPANS_KIND_SERVER, SPANS_KIND_CLIENT, SPANS_KIND_PRODUCER };
enum { SPANS_KIND_CONSUMER = 5 };
enum { SPANS_STATUS_UNSET = 0, SPANS_STATUS_ERROR = 2 };

size_t crest_otlp_span_value_length(const crest_span_attribute *attribute)
{
    if (attribute->type != CREST_SPAN_TEXT)
        return 0;
    return attribute->value.s == NULL ? 0 : attribute->length;
}

size_t crest_otlp_span_text_bytes(const char *text, size_t length)
{
    if (text == NULL)
        return 0;
    length = length == SIZE_MAX ? strnlen(text, CREST_OTLP_SPAN_TEXT_BYTES_MAX) : length;
    if (length > CREST_OTLP_SPAN_TEXT_BYTES_MAX / CREST_UTF8_REPLACEMENT_BYTES)
        return CREST_OTLP_SPAN_TEXT_BYTES_MAX;
    return length * CREST_UTF8_REPLACEMENT_BYTES;
}

size_t crest_otlp_span_text(char out[CREST_OTLP_SPAN_TEXT_ROOM], const char *text, size_t length)
{
    size_t used = 0, bad;
    int replaced = 0;
    if (text == NULL)
        length = 0;
    else if (length == SIZE_MAX)
        length = strnlen(text, CREST_OTLP_SPAN_TEXT_BYTES_MAX + 1);
    for (size_t at = 0; at < length;) {
        size_t bytes = crest_utf8_character(text + at, length - at, &bad);
        size_t puts = bytes != 0 ? bytes : CREST_UTF8_REPLACEMENT_BYTES;
        if (used + puts > CREST_OTLP_SPAN_TEXT_BYTES_MAX)
            break;
        memcpy(out + used, bytes != 0 ? text + at : CREST_UTF8_REPLACEMENT, puts);
        replaced |= bytes == 0;
        used += puts;
        at += bytes != 0 ? bytes : bad;
    }
    if (replaced)
        crest_misuse_count(CREST_MISUSE_TEXT, "a span");
    out[used] = '\0';
    return used;
}

unsigned crest_otlp_span_kind(const crest_span *span)
{
    switch (span->kind) {
    case CREST_SPAN_SERVER: return SPANS_KIND_SERVER;
    case CREST_SPAN_CLIENT: return SPANS_KIND_CLIENT;
    case CREST_SPAN_PRODUCER: return SPANS_KIND_PRODUCER;
    case CREST_SPAN_CONSUMER: return SPANS_KIND_CONSUMER;
    default: return SPANS_KIND_INTERNAL;
    }
}

/* A cancelled operation is no error of its node. */
unsigned crest_otlp_span_status(const crest_span *span)
{
    return span->outcome == CREST_OUTCOME_ERROR || span->outcome == CREST_OUTCOME_TIMEOUT
               ? SPANS_STATUS_ERROR
               : SPANS_STATUS_UNSET;
}

const char *crest_otlp_span_message(const crest_span *span)
{
    if (span->status_message != NULL && span->status_message[0] != '\0')
        return span->status_message;
    return span->outcome == CREST_OUTCOME_TIMEOUT ? "timeout" : "";
}

static crest_span_attribute *spans_extra(crest_otlp_span_extras *extras, const char *key)
{
    crest_span_attribute *made = &extras->attribute[extras->count++];
    made->key = key;
    return made;
}

static void spans_extra_text(crest_otlp_span_extras *extras, const char *key, const char *text)
{
    crest_span_attribute *made = spans_extra(extras, key);
    made->type = CREST_SPAN_TEXT;
    made->value.s = text;
    made->length = (uint32_t)strlen(text);
}

static void spans_extra_number(crest_otlp_span_extras *extras, const char *key, uint64_t value)
{
    crest_span_attribute *made = spans_extra(extras, key);
    made->type = CREST_SPAN_I64;
    made->value.i = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    made->length = 0;
}

void crest_otlp_span_extras_of(crest_otlp_span_extras *extras, const crest_span *span)
{
    static const char *const why[CREST_SPAN_WHY_COUNT] = {"sampled", "failed", "timed-out", "slow",
                                                          "stuck"};
    extras->count = 0;
    if (span->parent == 0 && span->kept_why != CREST_SPAN_SAMPLED &&
        span->kept_why < CREST_SPAN_WHY_COUNT)
        spans_extra_text(extras, "crest.kept", why[span->kept_why]);
    if (span->parent == 0 && span->op.kind != CREST_OP_NONE) {
        crest_op_format(&span->op, extras->operation, sizeof extras->operation);
        spans_extra_text(extras, CREST_EXEMPLAR_LABEL, extras->operation);
    }
    if (span->outcome == CREST_OUTCOME_CANCELLED)
        spans_extra_text(extras, "outcome", "cancelled");
    if (span->folded_count != 0) {
        spans_extra_number(extras, "crest.folded", span->folded_count);
        spans_extra_number(extras, "crest.folded_sum_ns", span->folded_sum_ns);
        spans_extra_number(extras, "crest.folded_max_ns", span->folded_max_ns);
    }
}
