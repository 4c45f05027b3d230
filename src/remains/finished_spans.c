/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finished spans of a state file. See finished_spans.h.
 */
#include "remains/finished_spans.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* A span and what it points to. */
typedef struct finished_span {
    crest_span span; /* first: what is handed out */
    crest_span_attribute attributes[CREST_STATE_SPAN_ATTRIBUTES_MAX];
    crest_span_event events[CREST_STATE_SPAN_EVENTS_MAX];
} finished_span;

struct crest_finished_spans {
    size_t count;
    finished_span *span[CREST_FINISHED_SPANS_MAX];
};

#define FINISHED_TEXTS_MAX (2 + 2 * CREST_STATE_SPAN_ATTRIBUTES_MAX + CREST_STATE_SPAN_EVENTS_MAX)

/* The texts behind the record and its words; 0 when it is not one that the library writes. */
static int finished_texts(const crest_state_span *record, const char **texts)
{
    size_t words = record->event_count + 2 * (size_t)record->attribute_count;
    return record->attribute_count <= CREST_STATE_SPAN_ATTRIBUTES_MAX &&
           record->event_count <= CREST_STATE_SPAN_EVENTS_MAX &&
           record->outcome < CREST_OUTCOME_COUNT && record->kind < CREST_SPAN_KIND_COUNT &&
           record->why < CREST_SPAN_WHY_COUNT && record->end_unix_ns >= record->start_unix_ns &&
           crest_state_texts(&record->record, words * sizeof(uint64_t), texts,
                             2 + 2 * (size_t)record->attribute_count + record->event_count);
}

static void finished_attribute(crest_span_attribute *attribute, const uint64_t *words,
                               const char *const *texts)
{
    attribute->key = texts[0];
    attribute->type = (uint8_t)words[0];
    switch (words[0]) {
    case CREST_SPAN_I64: attribute->value.i = (int64_t)words[1]; break;
    case CREST_SPAN_DOUBLE: memcpy(&attribute->value.d, &words[1], sizeof words[1]); break;
    case CREST_SPAN_BOOL: attribute->value.b = words[1] != 0; break;
    default:
        attribute->type = CREST_SPAN_TEXT;
        attribute->value.s = texts[1];
        attribute->length = (uint32_t)strlen(texts[1]);
    }
}

static void finished_fill(finished_span *to, const crest_state_span *record,
                          const char *const *texts)
{
    const uint64_t *words = (const uint64_t *)(const void *)(record + 1);
    to->span = (crest_span){.id = record->id,
                            .parent = record->parent,
                            .flags = record->flags,
                            .kind = record->kind,
                            .outcome = (crest_outcome)record->outcome,
                            .name = texts[0],
                            .start_unix_ns = record->start_unix_ns,
                            .end_unix_ns = record->end_unix_ns,
                            .attributes = to->attributes,
                            .attribute_count = record->attribute_count,
                            .dropped_attributes = record->dropped_attributes,
                            .events = to->events,
                            .event_count = record->event_count,
                            .tracestate = "",
                            .status_message = texts[1],
                            .folded_count = record->folded_count,
                            .folded_sum_ns = record->folded_sum_ns,
                            .folded_max_ns = record->folded_max_ns,
                            .kept_why = record->why};
    memcpy(&to->span.trace, record->trace, sizeof record->trace);
    memcpy(&to->span.op, record->op, sizeof record->op);
    for (unsigned i = 0; i < record->event_count; i++)
        to->events[i] = (crest_span_event){
            .unix_ns = words[i], .name = texts[2 + 2 * (size_t)record->attribute_count + i]};
    words += record->event_count;
    for (unsigned i = 0; i < record->attribute_count; i++)
        finished_attribute(&to->attributes[i], words + 2 * (size_t)i, texts + 2 + 2 * (size_t)i);
}

/* Adds a span; 0 without memory. */
static int finished_add(crest_finished_spans *spans, const crest_state_record *record,
                        uint64_t *damaged)
{
    const crest_state_span *found = (const crest_state_span *)(const void *)record;
    const char *texts[FINISHED_TEXTS_MAX];
    if (record->type != CREST_STATE_SPAN || spans->count == CREST_FINISHED_SPANS_MAX ||
        !finished_texts(found, texts)) {
        ++*damaged;
        return 1;
    }
    finished_span *to = crest_alloc(1, sizeof *to);
    if (to == NULL)
        return 0;
    finished_fill(to, found, texts);
    spans->span[spans->count++] = to;
    return 1;
}

/* By start; of those that began together, that which lasted longer is the parent. */
static int finished_compare(const void *a, const void *b)
{
    const crest_span *x = &(*(finished_span *const *)a)->span;
    const crest_span *y = &(*(finished_span *const *)b)->span;
    if (x->start_unix_ns != y->start_unix_ns)
        return x->start_unix_ns < y->start_unix_ns ? -1 : 1;
    return (x->end_unix_ns < y->end_unix_ns) - (x->end_unix_ns > y->end_unix_ns);
}

crest_finished_spans *crest_finished_spans_read(const crest_state_view *view, uint64_t *damaged)
{
    crest_finished_spans *spans = crest_alloc(1, sizeof *spans);
    crest_state_cursor cursor = {.spans = 1};
    const crest_state_record *record;
    while (spans != NULL && (record = crest_state_next(view, &cursor)) != NULL)
        if (!finished_add(spans, record, damaged)) {
            crest_finished_spans_free(spans);
            return NULL;
        }
    if (spans != NULL && spans->count > 1)
        qsort(spans->span, spans->count, sizeof *spans->span, finished_compare);
    *damaged += cursor.damaged;
    return spans;
}

void crest_finished_spans_free(crest_finished_spans *spans)
{
    if (spans == NULL)
        return;
    for (size_t i = 0; i < spans->count; i++)
        crest_alloc_free(spans->span[i]);
    crest_alloc_free(spans);
}

const crest_span *crest_finished_spans_at(const crest_finished_spans *spans, size_t index)
{
    return index < spans->count ? &spans->span[index]->span : NULL;
}
