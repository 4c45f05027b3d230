/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans of OTLP as JSON, and the envelope of their bodies. See otlp_spans.h.
 */
#include "base/utf8.h"
#include "otlp/otlp_json_text.h"
#include "otlp/otlp_spans.h"

#include <string.h>

#define SPANS_BODY "{\"resourceSpans\":[{\"resource\":{\"attributes\":["
#define SPANS_WITHIN "]},\"scopeSpans\":[{\"scope\":{\"name\":\"crest\"},\"spans\":["
#define SPANS_AFTER "]}]}]}"

/* Of flags, as in otlp_spans_protobuf.c. */
enum { SPANS_JSON_KNOWN_REMOTE = 0x100, SPANS_JSON_REMOTE = 0x200 };

/* Ids are hexadecimal, the number's highest byte first, and not base64 as protobuf's JSON has
 * bytes. */
static char *spans_json_hex(char *at, const char *name, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    at = crest_otlp_json_put(at, name);
    for (size_t i = 0; i < count; i++) {
        *at++ = digits[bytes[i] >> 4];
        *at++ = digits[bytes[i] & 15];
    }
    *at++ = '"';
    return at;
}

static char *spans_json_id(char *at, const char *name, uint64_t id)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(id >> (56 - 8 * i));
    return spans_json_hex(at, name, bytes, sizeof bytes);
}

static char *spans_json_text(char *at, const char *name, const char *text, size_t length,
                             char scratch[CREST_OTLP_SPAN_TEXT_ROOM])
{
    (void)crest_otlp_span_text(scratch, text, length);
    return crest_otlp_json_text(crest_otlp_json_put(at, name), scratch);
}

static char *spans_json_text_unless_empty(char *at, const char *name, const char *text,
                                          char scratch[CREST_OTLP_SPAN_TEXT_ROOM])
{
    return text != NULL && text[0] != '\0' ? spans_json_text(at, name, text, SIZE_MAX, scratch)
                                           : at;
}

/* Attributes behind others, `*first` being whether there are none. */
static char *spans_json_pairs(char *at, const crest_span_attribute *from, size_t count, int *first,
                              char scratch[CREST_OTLP_SPAN_TEXT_ROOM])
{
    for (size_t i = 0; i < count; i++) {
        at = crest_otlp_json_put(at, *first ? ",\"attributes\":[{" : ",{");
        *first = 0;
        at = spans_json_text(at, "\"key\":", from[i].key, SIZE_MAX, scratch);
        at = crest_otlp_json_put(at, ",\"value\":{");
        switch (from[i].type) {
        case CREST_SPAN_I64: at = crest_otlp_json_i64(at, "\"intValue\":", from[i].value.i); break;
        case CREST_SPAN_DOUBLE:
            at = crest_otlp_json_double(at, "\"doubleValue\":", from[i].value.d);
            break;
        case CREST_SPAN_BOOL:
            at = crest_otlp_json_put(at, from[i].value.b ? "\"boolValue\":true"
                                                         : "\"boolValue\":false");
            break;
        default:
            at = spans_json_text(at, "\"stringValue\":", from[i].value.s,
                                 crest_otlp_span_value_length(&from[i]), scratch);
        }
        at = crest_otlp_json_put(at, "}}");
    }
    return at;
}

static char *spans_json_events(char *at, const crest_span *span,
                               char scratch[CREST_OTLP_SPAN_TEXT_ROOM])
{
    for (size_t i = 0; i < span->event_count; i++) {
        const crest_span_event *event = &span->events[i];
        int none = 1;
        at = crest_otlp_json_put(at, i == 0 ? ",\"events\":[{" : ",{");
        at = crest_otlp_json_u64(at, "\"timeUnixNano\":", event->unix_ns);
        at = spans_json_text_unless_empty(at, ",\"name\":", event->name, scratch);
        at = spans_json_pairs(at, event->attributes, event->attribute_count, &none, scratch);
        at = crest_otlp_json_put(at, none ? "}" : "]}");
    }
    return span->event_count != 0 ? crest_otlp_json_put(at, "]") : at;
}

static char *spans_json_links(char *at, const crest_span *span)
{
    for (size_t i = 0; i < span->link_count; i++) {
        const crest_span_context *context = &span->links[i].context;
        int flags =
            context->flags | SPANS_JSON_KNOWN_REMOTE | (context->remote ? SPANS_JSON_REMOTE : 0);
        at = crest_otlp_json_put(at, i == 0 ? ",\"links\":[" : ",");
        at = spans_json_hex(at, "{\"traceId\":\"", context->trace.bytes,
                            sizeof context->trace.bytes);
        at = spans_json_id(at, ",\"spanId\":\"", context->span);
        at = crest_otlp_json_put(crest_otlp_json_i32(at, ",\"flags\":", flags), "}");
    }
    return span->link_count != 0 ? crest_otlp_json_put(at, "]") : at;
}

static char *spans_json_status(char *at, const crest_span *span,
                               char scratch[CREST_OTLP_SPAN_TEXT_ROOM])
{
    unsigned code = crest_otlp_span_status(span);
    const char *message = crest_otlp_span_message(span);
    if (code == 0)
        return at;
    at = crest_otlp_json_i32(at, ",\"status\":{\"code\":", (int)code);
    at = spans_json_text_unless_empty(at, ",\"message\":", message, scratch);
    return crest_otlp_json_put(at, "}");
}

static char *spans_json_span(char *at, const crest_span *span, int first,
                             char scratch[CREST_OTLP_SPAN_TEXT_ROOM])
{
    crest_otlp_span_extras extras;
    int none = 1;
    crest_otlp_span_extras_of(&extras, span);
    if (!first)
        *at++ = ',';
    at = spans_json_hex(at, "{\"traceId\":\"", span->trace.bytes, sizeof span->trace.bytes);
    at = spans_json_id(at, ",\"spanId\":\"", span->id);
    at = spans_json_text_unless_empty(at, ",\"traceState\":", span->tracestate, scratch);
    if (span->parent != 0)
        at = spans_json_id(at, ",\"parentSpanId\":\"", span->parent);
    at = spans_json_text_unless_empty(at, ",\"name\":", span->name, scratch);
    at = crest_otlp_json_i32(at, ",\"kind\":", (int)crest_otlp_span_kind(span));
    at = crest_otlp_json_u64(at, ",\"startTimeUnixNano\":", span->start_unix_ns);
    at = crest_otlp_json_u64(at, ",\"endTimeUnixNano\":", span->end_unix_ns);
    at = spans_json_pairs(at, span->attributes, span->attribute_count, &none, scratch);
    at = spans_json_pairs(at, extras.attribute, extras.count, &none, scratch);
    if (!none)
        *at++ = ']';
    if (span->dropped_attributes != 0)
        at = crest_otlp_json_i32(at, ",\"droppedAttributesCount\":", (int)span->dropped_attributes);
    at = spans_json_events(at, span, scratch);
    at = spans_json_links(at, span);
    at = spans_json_status(at, span, scratch);
    if (span->flags != 0)
        at = crest_otlp_json_i32(at, ",\"flags\":", span->flags);
    return crest_otlp_json_put(at, "}");
}

/* ---- the envelope ---- */

static int spans_json_is_there(const crest_page_label *attribute)
{
    return attribute->value != NULL && attribute->value[0] != '\0';
}

static size_t spans_json_head(const crest_otlp_traces_options *options)
{
    size_t bytes = sizeof SPANS_BODY + sizeof SPANS_WITHIN;
    for (unsigned i = 0; i < options->attribute_count; i++)
        if (spans_json_is_there(&options->attributes[i]))
            bytes += CREST_OTLP_JSON_AROUND +
                     CREST_OTLP_JSON_BYTES_MAX * (strlen(options->attributes[i].key) +
                                                  strlen(options->attributes[i].value));
    return bytes;
}

/* The head is put at the beginning of its room, and then moved up to the spans. */
static const char *spans_json_body(const crest_otlp_traces_options *options, char *from, char *end,
                                   size_t *length)
{
    int first = 1;
    char *room = from - spans_json_head(options);
    char *at = crest_otlp_json_put(room, SPANS_BODY);
    for (unsigned i = 0; i < options->attribute_count; i++)
        if (spans_json_is_there(&options->attributes[i]))
            at = crest_otlp_json_attribute(at, options->attributes[i].key,
                                           options->attributes[i].value, &first);
    at = crest_otlp_json_put(at, SPANS_WITHIN);
    size_t head = (size_t)(at - room);
    char *begin = memmove(from - head, room, head);
    end = crest_otlp_json_put(end, SPANS_AFTER);
    *length = (size_t)(end - begin);
    return begin;
}

const crest_otlp_spans_format crest_otlp_spans_json = {
    .bytes_a_byte = CREST_OTLP_JSON_BYTES_MAX,
    .head = spans_json_head,
    .tail = sizeof SPANS_AFTER,
    .span = spans_json_span,
    .body = spans_json_body,
};
