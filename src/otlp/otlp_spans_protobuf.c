/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans of OTLP as protobuf, and the envelope of their bodies. See otlp_spans.h.
 */
#include "otlp/otlp_points.h"
#include "otlp/otlp_spans.h"

#include <assert.h>

#define SPANS_SCOPE "crest"

/* Fields of ExportTraceServiceRequest, ResourceSpans, Resource, ScopeSpans and its scope. */
enum { SPANS_REQUEST_RESOURCE = 1 };
enum { SPANS_RS_RESOURCE = 1, SPANS_RS_SCOPE_SPANS = 2 };
enum { SPANS_RESOURCE_ATTRIBUTES = 1 };
enum { SPANS_SS_SCOPE = 1, SPANS_SS_SPANS = 2 };
enum { SPANS_SCOPE_NAME = 1 };
/* Fields of Span. */
enum {
    SPANS_TRACE_ID = 1,
    SPANS_SPAN_ID = 2,
    SPANS_TRACE_STATE = 3,
    SPANS_PARENT_ID = 4,
    SPANS_NAME = 5,
    SPANS_KIND = 6,
    SPANS_START = 7,
    SPANS_END = 8,
    SPANS_ATTRIBUTES = 9,
    SPANS_DROPPED_ATTRIBUTES = 10,
    SPANS_EVENTS = 11,
    SPANS_LINKS = 13,
    SPANS_STATUS = 15,
    SPANS_FLAGS = 16
};
/* Fields of Span.Event, Span.Link and Status. */
enum { SPANS_EVENT_TIME = 1, SPANS_EVENT_NAME = 2, SPANS_EVENT_ATTRIBUTES = 3 };
enum { SPANS_LINK_TRACE_ID = 1, SPANS_LINK_SPAN_ID = 2, SPANS_LINK_FLAGS = 6 };
enum { SPANS_STATUS_MESSAGE = 2, SPANS_STATUS_CODE = 3 };
/* Fields of AnyValue. */
enum { SPANS_VALUE_BOOL = 2, SPANS_VALUE_INT = 3, SPANS_VALUE_DOUBLE = 4 };
/* Of flags: whether a link's is a context from another process is known, and it is one. */
enum { SPANS_FLAG_KNOWN_REMOTE = 0x100, SPANS_FLAG_REMOTE = 0x200 };
/* The wire type of a fixed32. */
enum { SPANS_FIXED32 = 5 };

static char *spans_protobuf_fixed32(char *at, unsigned field, uint32_t value)
{
    at = crest_wire_tag(at, field, SPANS_FIXED32);
    for (unsigned i = 0; i < 4; i++, value >>= 8)
        *at++ = (char)value;
    return at;
}

static char *spans_protobuf_text(char *at, unsigned field, const char *text, size_t length,
                                 char scratch[CREST_OTLP_SPAN_TEXT_ROOM])
{
    size_t bytes = crest_otlp_span_text(scratch, text, length);
    return crest_wire_bytes(at, field, scratch, bytes);
}

static char *spans_protobuf_text_unless_empty(char *at, unsigned field, const char *text,
                                              char scratch[CREST_OTLP_SPAN_TEXT_ROOM])
{
    return text != NULL && text[0] != '\0' ? spans_protobuf_text(at, field, text, SIZE_MAX, scratch)
                                           : at;
}

static char *spans_protobuf_attributes(char *at, unsigned field, const crest_span_attribute *from,
                                       size_t count, char scratch[CREST_OTLP_SPAN_TEXT_ROOM])
{
    for (size_t i = 0; i < count; i++) {
        char *pair, *any;
        at = crest_wire_begin(at, field, &pair);
        at = spans_protobuf_text_unless_empty(at, CREST_OTLP_KEY, from[i].key, scratch);
        at = crest_wire_begin(at, CREST_OTLP_VALUE, &any);
        switch (from[i].type) {
        case CREST_SPAN_I64:
            at = crest_wire_u64(at, SPANS_VALUE_INT, (uint64_t)from[i].value.i);
            break;
        case CREST_SPAN_DOUBLE:
            at = crest_wire_double(at, SPANS_VALUE_DOUBLE, from[i].value.d);
            break;
        case CREST_SPAN_BOOL:
            at = crest_wire_u64(at, SPANS_VALUE_BOOL, from[i].value.b != 0);
            break;
        default:
            at = spans_protobuf_text(at, CREST_OTLP_STRING, from[i].value.s,
                                     crest_otlp_span_value_length(&from[i]), scratch);
        }
        at = crest_wire_end(pair, crest_wire_end(any, at));
    }
    return at;
}

static char *spans_protobuf_events(char *at, const crest_span *span,
                                   char scratch[CREST_OTLP_SPAN_TEXT_ROOM])
{
    for (size_t i = 0; i < span->event_count; i++) {
        const crest_span_event *event = &span->events[i];
        char *body;
        at = crest_wire_begin(at, SPANS_EVENTS, &body);
        at = crest_otlp_fixed_unless_0(at, SPANS_EVENT_TIME, event->unix_ns);
        at = spans_protobuf_text_unless_empty(at, SPANS_EVENT_NAME, event->name, scratch);
        at = spans_protobuf_attributes(at, SPANS_EVENT_ATTRIBUTES, event->attributes,
                                       event->attribute_count, scratch);
        at = crest_wire_end(body, at);
    }
    return at;
}

static char *spans_protobuf_links(char *at, const crest_span *span)
{
    for (size_t i = 0; i < span->link_count; i++) {
        const crest_span_context *context = &span->links[i].context;
        uint32_t remote = context->remote ? SPANS_FLAG_REMOTE : 0;
        char *body;
        at = crest_wire_begin(at, SPANS_LINKS, &body);
        at = crest_wire_bytes(at, SPANS_LINK_TRACE_ID, (const char *)context->trace.bytes,
                              sizeof context->trace.bytes);
        at = crest_otlp_span_id(at, SPANS_LINK_SPAN_ID, context->span);
        at = spans_protobuf_fixed32(at, SPANS_LINK_FLAGS,
                                    context->flags | SPANS_FLAG_KNOWN_REMOTE | remote);
        at = crest_wire_end(body, at);
    }
    return at;
}

static char *spans_protobuf_status(char *at, const crest_span *span,
                                   char scratch[CREST_OTLP_SPAN_TEXT_ROOM])
{
    unsigned code = crest_otlp_span_status(span);
    char *body;
    if (code == 0)
        return at;
    at = crest_wire_begin(at, SPANS_STATUS, &body);
    at = spans_protobuf_text_unless_empty(at, SPANS_STATUS_MESSAGE, crest_otlp_span_message(span),
                                          scratch);
    at = crest_wire_u64(at, SPANS_STATUS_CODE, code);
    return crest_wire_end(body, at);
}

static char *spans_protobuf_span(char *at, const crest_span *span, int first,
                                 char scratch[CREST_OTLP_SPAN_TEXT_ROOM])
{
    crest_otlp_span_extras extras;
    char *body;
    (void)first;
    crest_otlp_span_extras_of(&extras, span);
    at = crest_wire_begin(at, SPANS_SS_SPANS, &body);
    at = crest_wire_bytes(at, SPANS_TRACE_ID, (const char *)span->trace.bytes,
                          sizeof span->trace.bytes);
    at = crest_otlp_span_id(at, SPANS_SPAN_ID, span->id);
    at = spans_protobuf_text_unless_empty(at, SPANS_TRACE_STATE, span->tracestate, scratch);
    if (span->parent != 0)
        at = crest_otlp_span_id(at, SPANS_PARENT_ID, span->parent);
    at = spans_protobuf_text_unless_empty(at, SPANS_NAME, span->name, scratch);
    at = crest_wire_u64(at, SPANS_KIND, crest_otlp_span_kind(span));
    at = crest_otlp_fixed_unless_0(at, SPANS_START, span->start_unix_ns);
    at = crest_otlp_fixed_unless_0(at, SPANS_END, span->end_unix_ns);
    at = spans_protobuf_attributes(at, SPANS_ATTRIBUTES, span->attributes, span->attribute_count,
                                   scratch);
    at = spans_protobuf_attributes(at, SPANS_ATTRIBUTES, extras.attribute, extras.count, scratch);
    if (span->dropped_attributes != 0)
        at = crest_wire_u64(at, SPANS_DROPPED_ATTRIBUTES, span->dropped_attributes);
    at = spans_protobuf_events(at, span, scratch);
    at = spans_protobuf_links(at, span);
    at = spans_protobuf_status(at, span, scratch);
    if (span->flags != 0)
        at = spans_protobuf_fixed32(at, SPANS_FLAGS, span->flags);
    return crest_wire_end(body, at);
}

/* ---- the envelope ---- */

static int spans_protobuf_is_there(const crest_page_label *attribute)
{
    return attribute->value != NULL && attribute->value[0] != '\0';
}

static size_t spans_protobuf_resource(const crest_otlp_traces_options *options)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < options->attribute_count; i++) {
        const crest_page_label *one = &options->attributes[i];
        if (!spans_protobuf_is_there(one))
            continue;
        size_t any = crest_wire_text_bytes(crest_wire_utf8_bytes(one->value));
        bytes += crest_wire_text_bytes(crest_wire_text_bytes(crest_wire_utf8_bytes(one->key)) +
                                       crest_wire_text_bytes(any));
    }
    return bytes;
}

static size_t spans_protobuf_head(const crest_otlp_traces_options *options)
{
    /* a NUL is written behind the last text, where the scope will be */
    return spans_protobuf_resource(options) + 5 * CREST_WIRE_FIELD_BYTES_MAX + sizeof SPANS_SCOPE;
}

/* Puts the envelope in front of the spans, its last byte just before them. */
static const char *spans_protobuf_body(const crest_otlp_traces_options *options, char *from,
                                       char *end, size_t *length)
{
    size_t scope = crest_wire_text_bytes(sizeof SPANS_SCOPE - 1);
    size_t inner = crest_wire_text_bytes(scope) + (size_t)(end - from);
    size_t resource = spans_protobuf_resource(options);
    size_t within = crest_wire_text_bytes(resource) + crest_wire_text_bytes(inner);
    char *begin = end - crest_wire_text_bytes(within);
    char *at = crest_wire_tag(begin, SPANS_REQUEST_RESOURCE, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, within);
    at = crest_wire_tag(at, SPANS_RS_RESOURCE, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, resource);
    for (unsigned i = 0; i < options->attribute_count; i++)
        if (spans_protobuf_is_there(&options->attributes[i]))
            at =
                crest_otlp_text_attribute(at, SPANS_RESOURCE_ATTRIBUTES, options->attributes[i].key,
                                          options->attributes[i].value);
    at = crest_wire_tag(at, SPANS_RS_SCOPE_SPANS, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, inner);
    at = crest_wire_tag(at, SPANS_SS_SCOPE, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, scope);
    at = crest_wire_bytes(at, SPANS_SCOPE_NAME, SPANS_SCOPE, sizeof SPANS_SCOPE - 1);
    assert(at == from);
    *length = (size_t)(end - begin);
    return begin;
}

const crest_otlp_spans_format crest_otlp_spans_protobuf = {
    .bytes_a_byte = 1,
    .head = spans_protobuf_head,
    .tail = CREST_WIRE_LENGTH_BYTES,
    .span = spans_protobuf_span,
    .body = spans_protobuf_body,
};
