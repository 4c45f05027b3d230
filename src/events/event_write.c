/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emitting an event: its words, put into the thread's ring.
 */
#include "base/atomic.h"
#include "base/forked.h"
#include "cells/cells.h"
#include "events/event_known.h"
#include "events/event_rings.h"
#include "profiling/operations.h"
#include "spans/current_span.h"

#include <crest/clock.h>
#include <string.h>

/* What an event has beside its values. */
typedef struct write_context {
    uint64_t flags;
    const crest_op *op;
    crest_span_context span;
    unsigned words;
} write_context;

static uint32_t write_bound(const crest_event_field *field)
{
    return field->bound != 0 ? field->bound : CREST_EVENT_BOUND_DEFAULT;
}

/* Bytes of the text, at most one more than `bound`. No call of the C library. */
static uint64_t write_length(const char *text, uint32_t bound)
{
    uint64_t length = 0;
    while (text != NULL && length <= bound && text[length] != '\0')
        length++;
    return length;
}

static void write_bytes(crest_event_place *place, const char *data, uint64_t length)
{
    uint64_t word;
    for (; length >= sizeof word; data += sizeof word, length -= sizeof word) {
        memcpy(&word, data, sizeof word);
        crest_event_put(place, word);
    }
    if (length == 0)
        return;
    word = 0;
    for (uint64_t i = 0; i < length; i++)
        ((char *)&word)[i] = data[i];
    crest_event_put(place, word);
}

/* Words of the values; lengths of texts and bytes as they go into the ring: bytes kept, and in the
 * upper half bytes had. */
static unsigned write_measure(const crest_event_declaration *declaration, const uint64_t *values,
                              uint64_t lengths[CREST_EVENT_FIELDS_MAX])
{
    unsigned words = 0;
    for (unsigned i = 0; i < declaration->field_count; i++, values++) {
        const crest_event_field *field = &declaration->fields[i];
        uint32_t bound = write_bound(field);
        uint64_t had, kept;
        if (field->type == CREST_EVENT_OP) {
            words += CREST_EVENT_OP_WORDS;
            continue;
        }
        words++;
        if (field->type < CREST_EVENT_TEXT)
            continue;
        if (field->type == CREST_EVENT_TEXT) {
            had = write_length((const char *)(uintptr_t)*values, bound);
            kept = had > bound ? bound : had;
            had = had > bound ? UINT32_MAX : had;
        } else {
            had = *values != 0 ? values[1] : 0;
            kept = had > bound ? bound : had;
            had = had > UINT32_MAX ? UINT32_MAX : had;
            values++;
        }
        lengths[i] = kept | had << 32;
        words += (unsigned)((kept + 7) / 8);
    }
    return words;
}

static void write_op(crest_event_place *place, const crest_op *op)
{
    for (unsigned i = 0; i < 4; i++)
        crest_event_put(place, op->word[i]);
    crest_event_put(place, op->length | (uint64_t)op->kind << 32);
}

static void write_values(crest_event_place *place, const crest_event_declaration *declaration,
                         const uint64_t *values, const uint64_t lengths[CREST_EVENT_FIELDS_MAX])
{
    static const crest_op none = {.kind = CREST_OP_NONE};
    for (unsigned i = 0; i < declaration->field_count; i++, values++) {
        const void *at = (const void *)(uintptr_t)*values;
        switch (declaration->fields[i].type) {
        case CREST_EVENT_BYTES: values++; __attribute__((fallthrough));
        case CREST_EVENT_TEXT:
            crest_event_put(place, lengths[i]);
            write_bytes(place, at, lengths[i] & UINT32_MAX);
            break;
        case CREST_EVENT_OP: write_op(place, at != NULL ? at : &none); break;
        default: crest_event_put(place, *values);
        }
    }
}

static void write_put_context(crest_event_place *place, const write_context *context)
{
    uint64_t trace[2];
    if (context->flags & CREST_EVENT_HAS_OP)
        write_op(place, context->op);
    if (context->flags & CREST_EVENT_HAS_SPAN) {
        memcpy(trace, context->span.trace.bytes, sizeof trace);
        crest_event_put(place, trace[0]);
        crest_event_put(place, trace[1]);
        crest_event_put(place, context->span.span);
        crest_event_put(place, context->span.flags | (uint64_t)context->span.remote << 8);
    }
}

/* What the thread is in. */
static void write_look_around(write_context *context, const crest_thread_table *table)
{
    *context = (write_context){.flags = 0};
    const crest_profile_scope *scope =
        table != NULL ? crest_operations_innermost(&table->operation) : NULL;
    if (CREST_UNLIKELY(scope != NULL && scope->op.kind != CREST_OP_NONE)) {
        context->flags |= CREST_EVENT_HAS_OP;
        context->op = &scope->op;
        context->words += CREST_EVENT_OP_WORDS;
    }
    if (CREST_LIKELY(crest_atomic_load(&crest_current_span_any) == 0))
        return;
    context->span = crest_span_current();
    if (context->span.span != 0) {
        context->flags |= CREST_EVENT_HAS_SPAN;
        context->words += CREST_EVENT_SPAN_WORDS;
    }
}

static void write_event(const crest_event_known *known, const uint64_t *values, uint64_t now)
{
    uint64_t lengths[CREST_EVENT_FIELDS_MAX], size;
    const crest_thread_table *table = NULL;
    write_context context;
    crest_event_place place;
    crest_event_ring *ring = crest_event_ring_own(&size, &table);
    write_look_around(&context, ring != NULL ? table : NULL);
    unsigned words = context.words + known->fixed_words;
    if (known->fixed_words == 0)
        words += 2 + write_measure(&known->declaration, values, lengths);
    if (CREST_UNLIKELY(ring == NULL)) {
        crest_event_ring_refused(8 * words);
        return;
    }
    if (!crest_event_reserve(ring, size, 8 * words, &place))
        return;
    crest_event_put(&place, CREST_EVENT_HEAD(known->number, words, context.flags));
    crest_event_put(&place, now);
    if (CREST_UNLIKELY(context.flags != 0))
        write_put_context(&place, &context);
    if (known->fixed_words != 0) {
        for (unsigned i = 0; i < known->fixed_words - 2; i++)
            crest_event_put(&place, values[i]);
    } else {
        write_values(&place, &known->declaration, values, lengths);
    }
    crest_event_commit(&place);
}

void crest_event_write(crest_event *event, const uint64_t *values)
{
    uint32_t word = crest_atomic_load32(&event->word);
    /* acquire: partner of the release store in crest_event_register */
    crest_event_known *known = crest_atomic_load_ptr_acquire(CREST_PTR(&event->known));
    if (CREST_UNLIKELY(word == 0 || known == NULL))
        return;
    if (CREST_UNLIKELY(word & CREST_EVENT_COUNTS))
        crest_event_limit_count(&known->limit);
    if (!(word & CREST_EVENT_RECORD))
        return;
    uint64_t now = crest_now();
    if (CREST_UNLIKELY(word & CREST_EVENT_LIMITED) && !crest_event_limit_allows(&known->limit, now))
        return;
    write_event(known, values, now);
}
