/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of spans as bodies of OTLP. See <crest/otlp.h>.
 */
#include <crest/otlp.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/uncancelled.h"
#include "otlp/otlp_spans.h"

#include <string.h>

/* Bytes of a span beside its texts, of an attribute, an event and a link: more than JSON takes. */
#define TRACES_SPAN_BYTES 1024u
#define TRACES_ATTRIBUTE_BYTES 96u
#define TRACES_EVENT_BYTES 96u
#define TRACES_LINK_BYTES 128u
/* Bytes of a body's memory at first. */
#define TRACES_ROOM_FIRST 65536u

/* The body under way: room for the envelope, then its spans. */
typedef struct traces_out {
    const crest_otlp_spans_format *format;
    const crest_otlp_traces_options *options;
    char *bytes;
    size_t head, used, room, limit;
    size_t first, spans; /* of the batch: those in this body */
    crest_otlp_traces_body_fn *write;
    void *context;
    int failed;
    char scratch[CREST_OTLP_SPAN_TEXT_ROOM];
} traces_out;

/* ---- how much a span takes at most ---- */

static size_t traces_attribute_bytes(const crest_span_attribute *attributes, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += crest_otlp_span_text_bytes(attributes[i].key, SIZE_MAX) +
                 crest_otlp_span_text_bytes(attributes[i].value.s,
                                            crest_otlp_span_value_length(&attributes[i]));
    return bytes;
}

static size_t traces_span_bytes(const crest_otlp_spans_format *format, const crest_span *span)
{
    size_t texts = crest_otlp_span_text_bytes(span->name, SIZE_MAX) +
                   crest_otlp_span_text_bytes(span->tracestate, SIZE_MAX) +
                   crest_otlp_span_text_bytes(crest_otlp_span_message(span), SIZE_MAX) +
                   CREST_OP_TEXT_BYTES * 3 +
                   traces_attribute_bytes(span->attributes, span->attribute_count);
    size_t around = TRACES_SPAN_BYTES + span->attribute_count * TRACES_ATTRIBUTE_BYTES +
                    span->event_count * TRACES_EVENT_BYTES + span->link_count * TRACES_LINK_BYTES;
    for (size_t i = 0; i < span->event_count; i++) {
        const crest_span_event *event = &span->events[i];
        texts += crest_otlp_span_text_bytes(event->name, SIZE_MAX) +
                 traces_attribute_bytes(event->attributes, event->attribute_count);
        around += event->attribute_count * TRACES_ATTRIBUTE_BYTES;
    }
    return texts * format->bytes_a_byte + around;
}

/* ---- bodies ---- */

/* Room for so many bytes more; 0 without memory. */
static int traces_room(traces_out *out, size_t bytes)
{
    if (out->room - out->used >= bytes)
        return 1;
    size_t room = out->room < TRACES_ROOM_FIRST ? TRACES_ROOM_FIRST : out->room;
    while (room - out->used < bytes)
        room *= 2;
    char *grown = crest_alloc_resize(out->bytes, room, 1);
    if (grown == NULL)
        return 0;
    out->bytes = grown;
    out->room = room;
    return 1;
}

/* Hands the body out and begins the next; 0 when it was refused. */
static int traces_flush(traces_out *out)
{
    crest_otlp_traces_body body = {.spans = out->spans, .first = out->first};
    body.end = body.first + body.spans;
    body.bytes = out->format->body(out->options, out->bytes + out->head, out->bytes + out->used,
                                   &body.length);
    out->failed = out->write(out->context, &body);
    out->first = body.end;
    out->spans = 0;
    out->used = out->head;
    return out->failed == 0;
}

/* Puts a span; 0 without memory, or when a body was refused. */
static int traces_put(traces_out *out, const crest_span *span)
{
    size_t bytes = traces_span_bytes(out->format, span) + out->format->tail;
    for (;;) {
        if (!traces_room(out, bytes))
            return 0;
        char *from = out->bytes + out->used;
        size_t after =
            (size_t)(out->format->span(from, span, out->spans == 0, out->scratch) - out->bytes);
        if (after + out->format->tail <= out->limit || out->spans == 0) {
            out->used = after;
            out->spans++;
            return 1;
        }
        if (!traces_flush(out))
            return 0;
    }
}

/* ---- what is refused ---- */

static crest_status traces_check(const crest_span_batch *batch,
                                 const crest_otlp_traces_options *options,
                                 crest_otlp_traces_body_fn *write, crest_error *error)
{
    if (batch == NULL || write == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The spans were not encoded for OTLP: there is no %s.",
                               batch == NULL ? "batch" : "function to take the bodies");
    if (crest_otlp_content_type(options->encoding) == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The spans were not encoded for OTLP: there is no encoding %d.",
                               (int)options->encoding);
    size_t body = options->body_bytes;
    if (body != 0 && (body < CREST_OTLP_BODY_BYTES_MIN || body > CREST_OTLP_BODY_BYTES_MAX))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The spans were not encoded for OTLP: bodies are to have %zu bytes "
                               "at most; %u to %u is possible.",
                               body, CREST_OTLP_BODY_BYTES_MIN, CREST_OTLP_BODY_BYTES_MAX);
    if (options->attribute_count > CREST_OTLP_ATTRIBUTES_MAX ||
        (options->attribute_count != 0 && options->attributes == NULL))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The spans were not encoded for OTLP: the resource is to have %u "
                               "attributes%s; %u is the limit.",
                               options->attribute_count,
                               options->attributes == NULL ? ", and there are none" : "",
                               CREST_OTLP_ATTRIBUTES_MAX);
    for (unsigned i = 0; i < options->attribute_count; i++)
        if (options->attributes[i].key == NULL || options->attributes[i].key[0] == '\0')
            return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                   "The spans were not encoded for OTLP: attribute %u of the "
                                   "resource has no key.",
                                   i + 1);
    return CREST_OK;
}

static crest_status traces_write(traces_out *out, const crest_span_batch *batch, crest_error *error)
{
    size_t done = 0;
    out->head = out->format->head(out->options);
    int lacked = !traces_room(out, out->head);
    out->used = out->head;
    while (!lacked && done < batch->count && traces_put(out, &batch->spans[done]))
        done++;
    if (!lacked && done == batch->count && out->spans > 0)
        (void)traces_flush(out);
    if (out->failed != 0)
        return crest_error_set(
            error, CREST_IO,
            "The spans were not all sent by OTLP: after %zu of %zu, the function "
            "that takes bodies returned %d. Look at what it sends to.",
            out->first, batch->count, out->failed);
    if (done < batch->count)
        return crest_error_set(error, CREST_NO_MEMORY,
                               "The spans were not all encoded for OTLP: there was no memory after "
                               "%zu of %zu.",
                               out->first, batch->count);
    return CREST_OK;
}

crest_status crest_otlp_traces_write(const crest_span_batch *batch,
                                     const crest_otlp_traces_options *options,
                                     crest_otlp_traces_body_fn *write, void *context,
                                     crest_error *error)
{
    static const crest_otlp_traces_options nothing_special;
    CREST_UNCANCELLED;
    if (options == NULL)
        options = &nothing_special;
    crest_status status = traces_check(batch, options, write, error);
    if (status != CREST_OK)
        return status;
    traces_out *out = crest_alloc(1, sizeof *out);
    if (out == NULL)
        return crest_error_set(error, CREST_NO_MEMORY,
                               "The spans were not encoded for OTLP: there is no memory to do it.");
    out->format =
        options->encoding == CREST_OTLP_JSON ? &crest_otlp_spans_json : &crest_otlp_spans_protobuf;
    out->options = options;
    out->limit = options->body_bytes != 0 ? options->body_bytes : CREST_OTLP_BODY_BYTES_DEFAULT;
    out->write = write;
    out->context = context;
    status = traces_write(out, batch, error);
    crest_alloc_free(out->bytes);
    crest_alloc_free(out);
    return status;
}
