/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A span in Zipkin's JSON. See zipkin_span.h.
 */
#include "zipkin/zipkin_span.h"
#include "common/span_json.h"

#include <stdint.h>
#include <stdio.h>

#define ZIPKIN_NS_PER_US 1000u

static int zipkin_span_is(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* Tags are texts. */
static void zipkin_span_count(crest_json_output *output, const char *key, uint64_t value)
{
    char text[CREST_JSON_NUMBER_BYTES];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    crest_json_text(output, key, text);
}

/* Our own before those of the caller: of a repeated key, the last stands. */
static void zipkin_span_own_tags(crest_json_output *output, const crest_span *span,
                                 const crest_resource *resource)
{
    char operation[CREST_OP_TEXT_BYTES];
    if (resource != NULL && zipkin_span_is(resource->instance))
        crest_span_json_text(output, "instance", resource->instance, SIZE_MAX);
    if (span->parent == 0 && span->op.kind != CREST_OP_NONE) {
        crest_op_format(&span->op, operation, sizeof operation);
        crest_json_text(output, "operation", operation);
    }
    if (span->outcome == CREST_OUTCOME_ERROR || span->outcome == CREST_OUTCOME_TIMEOUT)
        crest_span_json_text(output, "error",
                             zipkin_span_is(span->status_message) ? span->status_message
                                                                  : crest_span_json_outcome(span),
                             SIZE_MAX);
    if (span->outcome == CREST_OUTCOME_CANCELLED)
        crest_json_text(output, "outcome", "cancelled");
    if (span->kept_why != CREST_SPAN_SAMPLED)
        crest_json_text(output, "kept", crest_span_json_why(span));
    if (span->folded_count == 0)
        return;
    zipkin_span_count(output, "folded", span->folded_count);
    zipkin_span_count(output, "folded_sum_ns", span->folded_sum_ns);
    zipkin_span_count(output, "folded_max_ns", span->folded_max_ns);
}

static void zipkin_span_annotations(crest_json_output *output, const crest_span *span)
{
    for (size_t i = 0; i < span->event_count; i++) {
        if (i == 0)
            crest_json_key(output, "annotations");
        crest_json_put_text(output, i == 0 ? "[{" : ",{");
        output->before = "";
        crest_json_u64(output, "timestamp", span->events[i].unix_ns / ZIPKIN_NS_PER_US);
        crest_span_json_text(output, "value", span->events[i].name, SIZE_MAX);
        crest_json_close(output);
    }
    if (span->event_count != 0)
        crest_json_put(output, "]", 1);
}

int crest_zipkin_span_write(const crest_span *span, const crest_resource *resource,
                            crest_write_fn *write, void *context)
{
    static const char *const kinds[] = {NULL, "SERVER", "CLIENT", "PRODUCER", "CONSUMER"};
    crest_json_output output = {.write = write, .context = context, .before = ""};
    uint64_t start_us = span->start_unix_ns / ZIPKIN_NS_PER_US;
    uint64_t end_us = span->end_unix_ns / ZIPKIN_NS_PER_US;
    const char *service = resource != NULL ? resource->service : NULL;
    crest_json_put(&output, "{", 1);
    crest_span_json_trace(&output, "traceId", &span->trace);
    crest_span_json_id(&output, "id", span->id);
    if (span->parent != 0)
        crest_span_json_id(&output, "parentId", span->parent);
    crest_span_json_text(&output, "name", span->name, SIZE_MAX);
    if (span->kind < CREST_SPAN_KIND_COUNT && kinds[span->kind] != NULL)
        crest_json_text(&output, "kind", kinds[span->kind]);
    if (start_us != 0)
        crest_json_u64(&output, "timestamp", start_us);
    crest_json_u64(&output, "duration", end_us > start_us ? end_us - start_us : 1);
    crest_json_open(&output, "localEndpoint");
    crest_span_json_text(&output, "serviceName", zipkin_span_is(service) ? service : "unknown",
                         SIZE_MAX);
    crest_json_close(&output);
    zipkin_span_annotations(&output, span);
    crest_json_open(&output, "tags");
    zipkin_span_own_tags(&output, span, resource);
    for (size_t i = 0; i < span->attribute_count; i++)
        crest_span_json_attribute(&output, &span->attributes[i], 1);
    crest_json_close(&output);
    crest_json_put(&output, "}", 1);
    return output.stopped;
}
