/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finished spans of another tracer, from Java: io.crest.FinishedSpans writes them into an array of
 * bytes, in this machine's order, and they are handed to what the process exports spans to.
 *
 * A span is seven words (trace's high and low half, id, parent, start, end; kind and outcome in the
 * first two bytes of the last), its name, and pieces up to a zero byte. A piece is a byte that says
 * what it is, then a text and a word, two texts, a text, or three words. A text is its length as an
 * int, its bytes and a NUL. Only this jar writes such bytes; what does not fit them ends the batch.
 */
#include "jvm.h"

#include <crest/span.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_ATTRIBUTES 32
#define SPANS_EVENTS 32
#define SPANS_LINKS 8

enum {
    SPANS_END,
    SPANS_NUMBER,
    SPANS_DECIMAL,
    SPANS_FLAG,
    SPANS_TEXT,
    SPANS_EVENT,
    SPANS_LINK,
    SPANS_MESSAGE
};

typedef struct spans_reading {
    const uint8_t *at, *end;
    int bad;
} spans_reading;

typedef struct spans_one {
    crest_span span;
    crest_span_attribute attribute[SPANS_ATTRIBUTES];
    crest_span_event event[SPANS_EVENTS];
    crest_span_link link[SPANS_LINKS];
} spans_one;

static int spans_take(spans_reading *reading, void *into, size_t bytes)
{
    if (reading->bad || (size_t)(reading->end - reading->at) < bytes) {
        reading->bad = 1;
        memset(into, 0, bytes);
        return 0;
    }
    memcpy(into, reading->at, bytes);
    reading->at += bytes;
    return 1;
}

static uint64_t spans_word(spans_reading *reading)
{
    uint64_t word;
    spans_take(reading, &word, sizeof word);
    return word;
}

static const char *spans_text(spans_reading *reading, uint32_t *length)
{
    int32_t bytes;
    if (!spans_take(reading, &bytes, sizeof bytes) || bytes < 0 ||
        reading->end - reading->at <= bytes || reading->at[bytes] != 0) {
        reading->bad = 1;
        *length = 0;
        return "";
    }
    const char *text = (const char *)reading->at;
    reading->at += bytes + 1;
    *length = (uint32_t)bytes;
    return text;
}

static crest_trace_id spans_trace(uint64_t high, uint64_t low)
{
    crest_trace_id trace;
    for (unsigned i = 0; i < 8; i++) {
        trace.bytes[i] = (uint8_t)(high >> (56 - 8 * i));
        trace.bytes[8 + i] = (uint8_t)(low >> (56 - 8 * i));
    }
    return trace;
}

static void spans_attribute(spans_reading *reading, spans_one *one, uint8_t type)
{
    uint32_t length;
    crest_span_attribute attribute = {0};
    attribute.key = spans_text(reading, &length);
    attribute.type = type;
    if (type == CREST_SPAN_TEXT) {
        attribute.value.s = spans_text(reading, &attribute.length);
    } else {
        uint64_t word = spans_word(reading);
        if (type == CREST_SPAN_DOUBLE)
            memcpy(&attribute.value.d, &word, sizeof word);
        else if (type == CREST_SPAN_BOOL)
            attribute.value.b = word != 0;
        else
            attribute.value.i = (int64_t)word;
    }
    if (one->span.attribute_count == SPANS_ATTRIBUTES)
        one->span.dropped_attributes++;
    else
        one->attribute[one->span.attribute_count++] = attribute;
}

static void spans_event(spans_reading *reading, spans_one *one)
{
    uint32_t length;
    crest_span_event event = {0};
    event.name = spans_text(reading, &length);
    event.unix_ns = spans_word(reading);
    if (one->span.event_count < SPANS_EVENTS)
        one->event[one->span.event_count++] = event;
}

static void spans_link(spans_reading *reading, spans_one *one)
{
    crest_span_link link = {0};
    uint64_t high = spans_word(reading), low = spans_word(reading);
    link.context.trace = spans_trace(high, low);
    link.context.span = spans_word(reading);
    if (one->span.link_count < SPANS_LINKS && crest_span_context_valid(&link.context))
        one->link[one->span.link_count++] = link;
}

/* The next span; 0 where the bytes end or are none. */
static int spans_next(spans_reading *reading, spans_one *one)
{
    uint8_t what, last[8];
    uint32_t length;
    crest_span *span = &one->span;
    memset(span, 0, sizeof *span);
    if (reading->at == reading->end)
        return 0;
    uint64_t high = spans_word(reading), low = spans_word(reading);
    span->trace = spans_trace(high, low);
    span->id = spans_word(reading);
    span->parent = spans_word(reading);
    span->start_unix_ns = spans_word(reading);
    span->end_unix_ns = spans_word(reading);
    spans_take(reading, last, sizeof last);
    span->kind = last[0];
    span->outcome = (crest_outcome)last[1];
    span->flags = CREST_TRACE_SAMPLED;
    span->kept_why = CREST_SPAN_SAMPLED;
    span->tracestate = span->status_message = "";
    span->name = spans_text(reading, &length);
    span->op = crest_op_none();
    while (spans_take(reading, &what, 1) && what != SPANS_END) {
        switch (what) {
        case SPANS_NUMBER: spans_attribute(reading, one, CREST_SPAN_I64); break;
        case SPANS_DECIMAL: spans_attribute(reading, one, CREST_SPAN_DOUBLE); break;
        case SPANS_FLAG: spans_attribute(reading, one, CREST_SPAN_BOOL); break;
        case SPANS_TEXT: spans_attribute(reading, one, CREST_SPAN_TEXT); break;
        case SPANS_EVENT: spans_event(reading, one); break;
        case SPANS_LINK: spans_link(reading, one); break;
        case SPANS_MESSAGE: span->status_message = spans_text(reading, &length); break;
        default: reading->bad = 1;
        }
    }
    span->attributes = one->attribute;
    span->events = one->event;
    span->links = one->link;
    return !reading->bad;
}

static jint jvm_spans_give(JNIEnv *env, jclass type, jbyteArray bytes, jint length)
{
    (void)type;
    crest_status worst = crest_spans_give(NULL, 0);
    uint8_t *copy = worst == CREST_OK && length > 0 ? malloc((size_t)length) : NULL;
    spans_one *one = copy != NULL ? malloc(sizeof *one) : NULL;
    if (one != NULL) {
        (*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *)copy);
        spans_reading reading = {copy, copy + length, 0};
        while (spans_next(&reading, one)) {
            crest_status status = crest_spans_give(&one->span, 1);
            if (status != CREST_OK)
                worst = status;
        }
        if (reading.bad)
            worst = CREST_INVALID_ARGUMENT;
    } else if (worst == CREST_OK && length > 0) {
        worst = CREST_NO_MEMORY;
    }
    free(one);
    free(copy);
    return (jint)worst;
}

static const JNINativeMethod jvm_spans_methods[] = {
    JVM_NATIVE("give", "([BI)I", jvm_spans_give),
};

const jvm_natives jvm_spans_natives = {"io/crest/SpanNatives", jvm_spans_methods,
                                       JVM_COUNT(jvm_spans_methods)};
