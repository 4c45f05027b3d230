/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A span as a JSON object. See span_line.h.
 */
#include "json/span_line.h"
#include "common/span_json.h"

#include <stdint.h>

static void span_line_attributes(crest_json_output *output, const crest_span_attribute *attributes,
                                 size_t count)
{
    crest_json_open(output, "attributes");
    for (size_t i = 0; i < count; i++)
        crest_span_json_attribute(output, &attributes[i], 0);
    crest_json_close(output);
}

/* Begins an object in an array, or the array with its first. */
static void span_line_element(crest_json_output *output, const char *key, size_t index)
{
    if (index == 0) {
        crest_json_key(output, key);
        crest_json_put(output, "[{", 2);
    } else {
        crest_json_put(output, ",{", 2);
    }
    output->before = "";
}

static void span_line_events(crest_json_output *output, const crest_span *span)
{
    for (size_t i = 0; i < span->event_count; i++) {
        const crest_span_event *event = &span->events[i];
        span_line_element(output, "events", i);
        crest_json_u64(output, "timeUnixNano", event->unix_ns);
        crest_span_json_text(output, "name", event->name, SIZE_MAX);
        if (event->attribute_count != 0)
            span_line_attributes(output, event->attributes, event->attribute_count);
        crest_json_close(output);
    }
    if (span->event_count != 0)
        crest_json_put(output, "]", 1);
}

static void span_line_links(crest_json_output *output, const crest_span *span)
{
    for (size_t i = 0; i < span->link_count; i++) {
        const crest_span_context *context = &span->links[i].context;
        span_line_element(output, "links", i);
        crest_span_json_trace(output, "traceId", &context->trace);
        crest_span_json_id(output, "spanId", context->span);
        crest_json_close(output);
    }
    if (span->link_count != 0)
        crest_json_put(output, "]", 1);
}

static void span_line_folded(crest_json_output *output, const crest_span *span)
{
    if (span->folded_count == 0)
        return;
    crest_json_open(output, "folded");
    crest_json_u64(output, "count", span->folded_count);
    crest_json_u64(output, "sum_ns", span->folded_sum_ns);
    crest_json_u64(output, "max_ns", span->folded_max_ns);
    crest_json_close(output);
}

static int span_line_is(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static void span_line_ends(crest_json_output *output, const crest_span *span,
                           const crest_resource *resource)
{
    char operation[CREST_OP_TEXT_BYTES];
    if (span->op.kind != CREST_OP_NONE) {
        crest_op_format(&span->op, operation, sizeof operation);
        crest_json_text(output, "operation", operation);
    }
    if (span_line_is(span->status_message))
        crest_span_json_text(output, "message", span->status_message, SIZE_MAX);
    if (span_line_is(span->tracestate))
        crest_span_json_text(output, "traceState", span->tracestate, SIZE_MAX);
    if (resource != NULL && span_line_is(resource->service))
        crest_span_json_text(output, "service", resource->service, SIZE_MAX);
    if (resource != NULL && span_line_is(resource->instance))
        crest_span_json_text(output, "instance", resource->instance, SIZE_MAX);
}

int crest_span_line_write(const crest_span *span, const crest_resource *resource,
                          crest_write_fn *write, void *context)
{
    crest_json_output output = {.write = write, .context = context, .before = ""};
    crest_json_put(&output, "{", 1);
    crest_span_json_trace(&output, "traceId", &span->trace);
    crest_span_json_id(&output, "spanId", span->id);
    if (span->parent != 0)
        crest_span_json_id(&output, "parentSpanId", span->parent);
    crest_span_json_text(&output, "name", span->name, SIZE_MAX);
    crest_json_text(&output, "kind", crest_span_json_kind(span));
    crest_json_u64(&output, "startTimeUnixNano", span->start_unix_ns);
    crest_json_u64(&output, "endTimeUnixNano", span->end_unix_ns);
    crest_json_text(&output, "outcome", crest_span_json_outcome(span));
    crest_json_text(&output, "kept", crest_span_json_why(span));
    span_line_ends(&output, span, resource);
    if (span->attribute_count != 0)
        span_line_attributes(&output, span->attributes, span->attribute_count);
    if (span->dropped_attributes != 0)
        crest_json_u64(&output, "droppedAttributesCount", span->dropped_attributes);
    span_line_events(&output, span);
    span_line_links(&output, span);
    span_line_folded(&output, span);
    crest_json_put(&output, "}\n", 2);
    return output.stopped;
}
