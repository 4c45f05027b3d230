/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building batches of kept spans. See span_batch.h.
 */
#include "tracing/span_batch.h"
#include "base/alloc.h"
#include "base/utf8.h"
#include "metrics/child.h"
#include "spans/span_details.h"

#include <stdio.h>
#include <string.h>

struct crest_span_batch_room {
    size_t count, used;
    uint64_t own, folded;
    const char *tracestate;
    crest_span span[CREST_SPAN_BATCH_MAX];
    _Alignas(16) unsigned char bytes[CREST_SPAN_BATCH_BYTES_MAX];
};

crest_span_batch_room *crest_span_batch_new(void)
{
    return crest_alloc(1, sizeof(crest_span_batch_room));
}

void crest_span_batch_free(crest_span_batch_room *room)
{
    crest_alloc_free(room);
}

void crest_span_batch_begin(crest_span_batch_room *room, const char *tracestate)
{
    room->count = room->used = 0;
    room->own = room->folded = 0;
    room->tracestate = tracestate;
}

const crest_span *crest_span_batch_spans(const crest_span_batch_room *room, size_t *count)
{
    *count = room->count;
    return room->span;
}

uint64_t crest_span_batch_own(const crest_span_batch_room *room)
{
    return room->own;
}

uint64_t crest_span_batch_folded(const crest_span_batch_room *room)
{
    return room->folded;
}

/* ---- memory ---- */

/* Room of the batch; NULL when it is full. */
static void *batch_take(crest_span_batch_room *room, size_t bytes)
{
    size_t rounded = (bytes + 7) & ~(size_t)7;
    if (rounded > sizeof room->bytes - room->used)
        return NULL;
    void *at = room->bytes + room->used;
    room->used += rounded;
    return at;
}

/* A text of `length` bytes as valid UTF-8; NULL when the batch is full. */
static const char *batch_text(crest_span_batch_room *room, const void *bytes, size_t length,
                              size_t *valid)
{
    char text[CREST_SPAN_TEXT_BYTES_MAX + 1];
    memcpy(text, bytes, length);
    text[length] = '\0';
    size_t size = CREST_UTF8_REPLACEMENT_BYTES * length + 1;
    char *out = batch_take(room, size);
    if (out == NULL)
        return NULL;
    *valid = crest_utf8_copy(text, out, size, NULL);
    return out;
}

/* ---- a span ---- */

static int batch_attribute(crest_span_batch_room *room, const crest_span_detail *detail,
                           crest_span_attribute *attribute)
{
    size_t length = 0;
    attribute->key = detail->key;
    attribute->type = (uint8_t)detail->type;
    switch (detail->type) {
    case CREST_SPAN_DETAIL_SMALL:
        attribute->type = CREST_SPAN_I64;
        attribute->value.i = detail->small;
        return 1;
    case CREST_SPAN_DETAIL_BOOL: attribute->value.b = detail->small; return 1;
    case CREST_SPAN_DETAIL_TEXT:
        attribute->value.s = batch_text(room, detail->words, detail->length, &length);
        attribute->length = (uint32_t)length;
        return attribute->value.s != NULL;
    default: memcpy(&attribute->value, detail->words, sizeof(uint64_t)); return 1;
    }
}

/* The arrays of one span, and how much of them is used. */
typedef struct batch_details {
    crest_span_attribute *attributes;
    crest_span_event *events;
    crest_span_link *links;
} batch_details;

static int batch_detail(crest_span_batch_room *room, const crest_span_detail *detail,
                        const batch_details *to, crest_span *span, int64_t wall_ns)
{
    size_t length;
    switch (detail->type) {
    case CREST_SPAN_DETAIL_EVENT:
        if (span->event_count < CREST_SPAN_EVENTS_MAX)
            to->events[span->event_count++] = (crest_span_event){
                .unix_ns = detail->words[0] + (uint64_t)wall_ns, .name = detail->key};
        return 1;
    case CREST_SPAN_DETAIL_LINK:
        if (span->link_count < CREST_SPAN_LINKS_MAX)
            memcpy(&to->links[span->link_count++].context, detail->words,
                   sizeof(crest_span_context));
        return 1;
    case CREST_SPAN_DETAIL_MESSAGE:
        span->status_message = batch_text(room, detail->words, detail->length, &length);
        return span->status_message != NULL;
    default:
        return span->attribute_count == CREST_SPAN_ATTRIBUTES_MAX ||
               batch_attribute(room, detail, &to->attributes[span->attribute_count++]);
    }
}

/* Whether the span's caller set an attribute of this key. */
static int batch_is_set(const crest_span_attribute *attributes, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(attributes[i].key, key) == 0)
            return 1;
    return 0;
}

/* Adds the labels, of the first `keys` keys, of the timer's series behind the attributes that its
 * caller set, which have precedence; 0 when the batch is full. */
static int batch_labels(crest_span_batch_room *room, const crest_series *series, unsigned keys,
                        crest_span_attribute *attributes, crest_span *span)
{
    const char *const *values = crest_series_values(series);
    size_t set = span->attribute_count;
    for (unsigned i = 0; i < keys; i++) {
        const char *key = series->metric->label_keys[i];
        if (values[i][0] == '\0' || batch_is_set(attributes, set, key))
            continue;
        size_t size = CREST_UTF8_REPLACEMENT_BYTES * strlen(values[i]);
        size = (size < CREST_SPAN_TEXT_BYTES_MAX ? size : CREST_SPAN_TEXT_BYTES_MAX) + 1;
        char *text = batch_take(room, size);
        if (text == NULL)
            return 0;
        crest_span_attribute *label = &attributes[span->attribute_count++];
        *label = (crest_span_attribute){.key = key, .type = CREST_SPAN_TEXT, .value.s = text};
        label->length = (uint32_t)crest_utf8_copy(values[i], text, size, NULL);
    }
    return 1;
}

/* Fills what the details say, and adds the labels of `series` (NULL: none); 0 when the batch is
 * full. */
static int batch_details_of(crest_span_batch_room *room, const uint64_t *words, unsigned count,
                            const crest_series *series, crest_span *span, int64_t wall_ns)
{
    crest_span_detail detail;
    unsigned keys = series != NULL ? crest_metric_keys(series->metric) : 0;
    unsigned attributes = keys, events = 0, links = 0;
    for (unsigned at = 0; crest_span_detail_next(words, count, &at, &detail);) {
        events += detail.type == CREST_SPAN_DETAIL_EVENT;
        links += detail.type == CREST_SPAN_DETAIL_LINK;
        attributes += detail.type <= CREST_SPAN_DETAIL_SMALL;
    }
    batch_details to = {batch_take(room, attributes * sizeof *to.attributes),
                        batch_take(room, events * sizeof *to.events),
                        batch_take(room, links * sizeof *to.links)};
    if (to.attributes == NULL || to.events == NULL || to.links == NULL)
        return 0;
    for (unsigned at = 0; crest_span_detail_next(words, count, &at, &detail);)
        if (!batch_detail(room, &detail, &to, span, wall_ns))
            return 0;
    if (series != NULL && !batch_labels(room, series, keys, to.attributes, span))
        return 0;
    span->attributes = to.attributes;
    span->events = to.events;
    span->links = to.links;
    return 1;
}

static const char *batch_name(crest_span_batch_room *room, const crest_span_record *record)
{
    const crest_metric *metric = crest_span_metric(record);
    unsigned stage = CREST_SPAN_STAGE(record);
    if (stage == 0 || stage > metric->stage_count)
        return metric->name;
    size_t size = strlen(metric->name) + 1 + strlen(metric->stages[stage - 1]) + 1;
    char *name = batch_take(room, size);
    if (name != NULL)
        snprintf(name, size, "%s.%s", metric->name, metric->stages[stage - 1]);
    return name;
}

/* The text of `tracestate` of a sampled span, with its operation's randomness. */
static const char *batch_tracestate(crest_span_batch_room *room, const crest_trace_node *node)
{
    if (room->tracestate[0] == '\0' || node->why != CREST_SPAN_SAMPLED)
        return "";
    size_t size = strlen(room->tracestate) + sizeof ";rv:01234567890123";
    char *text = batch_take(room, size);
    if (text != NULL)
        snprintf(text, size, "%s;rv:%014llx", room->tracestate,
                 (unsigned long long)node->randomness);
    return text;
}

int crest_span_batch_add(crest_span_batch_room *room, const crest_trace_nodes *nodes,
                         uint32_t number)
{
    const crest_trace_node *node = crest_trace_node_at(nodes, number);
    const crest_span_record *record = &node->as.record;
    size_t before = room->used;
    if (room->count == CREST_SPAN_BATCH_MAX)
        return 0;
    int folded = (record->head & CREST_TRACE_FOLDED) != 0;
    const crest_series *series =
        (record->head & CREST_TRACE_FOLD_MIXED) != 0 ? NULL : record->series;
    int random = (CREST_SPAN_FLAGS(record) & CREST_SPAN_RANDOM) != 0;
    crest_span *span = &room->span[room->count];
    *span = (crest_span){
        .trace = record->trace,
        .id = record->id,
        .parent = record->parent,
        .flags = (uint8_t)(CREST_TRACE_SAMPLED | (random ? CREST_TRACE_RANDOM : 0)),
        .kind = (uint8_t)CREST_SPAN_KIND(record),
        .outcome = (crest_outcome)CREST_SPAN_OUTCOME(record),
        .end_unix_ns = record->end_ns + (uint64_t)node->wall_ns,
        .start_unix_ns = record->end_ns - record->duration_ns + (uint64_t)node->wall_ns,
        .dropped_attributes = CREST_SPAN_DROPPED(record),
        .op = record->op,
        .status_message = "",
        .kept_why = node->why,
    };
    span->name = batch_name(room, record);
    span->tracestate = batch_tracestate(room, node);
    uint64_t detail[CREST_SPAN_WORDS_MAX];
    unsigned words = folded ? 0 : crest_trace_node_detail(nodes, number, detail);
    if (span->name == NULL || span->tracestate == NULL ||
        !batch_details_of(room, detail, words, series, span, node->wall_ns)) {
        room->used = before;
        return 0;
    }
    if (folded) {
        span->folded_count = record->detail[CREST_TRACE_FOLD_COUNT];
        span->folded_sum_ns = record->detail[CREST_TRACE_FOLD_SUM_NS];
        span->folded_max_ns = record->detail[CREST_TRACE_FOLD_MAX_NS];
    }
    room->count++;
    room->own += !folded;
    room->folded += span->folded_count;
    return 1;
}
