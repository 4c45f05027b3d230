/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A span as a record of the state file. See span_remains.h.
 */
#include "tracing/span_remains.h"
#include "state/span_records.h"

#include <string.h>

_Static_assert(sizeof(crest_op) == CREST_STATE_OP_BYTES, "a span's operation");

#define SPAN_REMAINS_WORDS (CREST_STATE_SPAN_EVENTS_MAX + 2 * CREST_STATE_SPAN_ATTRIBUTES_MAX)
#define SPAN_REMAINS_TEXTS (2 + SPAN_REMAINS_WORDS)

typedef struct span_remains_parts {
    uint64_t words[SPAN_REMAINS_WORDS];
    const char *texts[SPAN_REMAINS_TEXTS];
    size_t word_count, text_count;
} span_remains_parts;

static const char *span_remains_text(const char *text)
{
    return text != NULL ? text : "";
}

static uint64_t span_remains_value(const crest_span_attribute *attribute)
{
    uint64_t word = 0;
    switch (attribute->type) {
    case CREST_SPAN_I64: word = (uint64_t)attribute->value.i; break;
    case CREST_SPAN_DOUBLE: memcpy(&word, &attribute->value.d, sizeof word); break;
    case CREST_SPAN_BOOL: word = attribute->value.b != 0; break;
    default: break;
    }
    return word;
}

/* Attributes and events behind the record; what is over is counted or left out. */
static void span_remains_details(const crest_span *span, crest_state_span *record,
                                 span_remains_parts *parts)
{
    record->event_count =
        (uint16_t)(span->event_count < CREST_STATE_SPAN_EVENTS_MAX ? span->event_count
                                                                   : CREST_STATE_SPAN_EVENTS_MAX);
    record->attribute_count = (uint16_t)(span->attribute_count < CREST_STATE_SPAN_ATTRIBUTES_MAX
                                             ? span->attribute_count
                                             : CREST_STATE_SPAN_ATTRIBUTES_MAX);
    record->dropped_attributes += (uint32_t)(span->attribute_count - record->attribute_count);
    for (unsigned i = 0; i < record->event_count; i++)
        parts->words[parts->word_count++] = span->events[i].unix_ns;
    for (unsigned i = 0; i < record->attribute_count; i++) {
        const crest_span_attribute *attribute = &span->attributes[i];
        parts->words[parts->word_count++] = attribute->type;
        parts->words[parts->word_count++] = span_remains_value(attribute);
        parts->texts[parts->text_count++] = span_remains_text(attribute->key);
        parts->texts[parts->text_count++] =
            attribute->type == CREST_SPAN_TEXT ? span_remains_text(attribute->value.s) : "";
    }
    for (unsigned i = 0; i < record->event_count; i++)
        parts->texts[parts->text_count++] = span_remains_text(span->events[i].name);
}

static void span_remains_one(const crest_span *span)
{
    crest_state_span record = {
        .id = span->id,
        .parent = span->parent,
        .start_unix_ns = span->start_unix_ns,
        .end_unix_ns = span->end_unix_ns,
        .folded_count = span->folded_count,
        .folded_sum_ns = span->folded_sum_ns,
        .folded_max_ns = span->folded_max_ns,
        .dropped_attributes = span->dropped_attributes,
        .outcome = (uint8_t)span->outcome,
        .kind = span->kind,
        .why = span->kept_why,
        .flags = span->flags,
    };
    span_remains_parts parts = {
        .texts = {span_remains_text(span->name), span_remains_text(span->status_message)},
        .text_count = 2};
    memcpy(record.trace, &span->trace, sizeof record.trace);
    memcpy(record.op, &span->op, sizeof record.op);
    crest_state_span bare = record;
    span_remains_details(span, &record, &parts);
    if (crest_state_note_span(&record, parts.words, parts.texts))
        return;
    bare.dropped_attributes += (uint32_t)span->attribute_count;
    parts.texts[1] = "";
    (void)crest_state_note_span(&bare, NULL, parts.texts);
}

void crest_span_remains_note(const crest_span *spans, size_t count)
{
    if (!crest_state_spans_are_on())
        return;
    for (size_t i = 0; i < count; i++)
        span_remains_one(&spans[i]);
}
