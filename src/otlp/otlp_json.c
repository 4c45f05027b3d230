/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The envelope, Metrics and data points of OTLP as JSON. See otlp_json.h.
 *
 * All that is put has room: the encoder asks for it before, and each byte of a text takes at most
 * CREST_OTLP_JSON_BYTES_MAX.
 */
#include "otlp/otlp_json.h"
#include "base/alloc.h"
#include "otlp/otlp_json_text.h"

#define JSON_BODY "{\"resourceMetrics\":[{\"resource\":{\"attributes\":["
#define JSON_SCOPE "]},\"scopeMetrics\":[{\"scope\":{\"name\":\"crest\"},\"metrics\":["
#define JSON_END "]}]}]}"

/* ---- the envelope ---- */

static int json_is_there(const crest_page_label *attribute)
{
    return attribute->value != NULL && attribute->value[0] != '\0';
}

/* The head of all bodies, made once. */
static int json_begin(crest_otlp_encoder *encoder)
{
    const crest_otlp_options *options = encoder->options;
    size_t room = sizeof JSON_BODY + sizeof JSON_SCOPE;
    int first = 1;
    for (unsigned i = 0; i < options->attribute_count; i++)
        if (json_is_there(&options->attributes[i]))
            room += CREST_OTLP_JSON_AROUND +
                    CREST_OTLP_JSON_BYTES_MAX *
                        (strlen(options->attributes[i].key) + strlen(options->attributes[i].value));
    char *head = crest_alloc_resize(NULL, room, 1);
    if (head == NULL)
        return 0;
    encoder->own = head;
    char *at = crest_otlp_json_put(head, JSON_BODY);
    for (unsigned i = 0; i < options->attribute_count; i++)
        if (json_is_there(&options->attributes[i]))
            at = crest_otlp_json_attribute(at, options->attributes[i].key,
                                           options->attributes[i].value, &first);
    at = crest_otlp_json_put(at, JSON_SCOPE);
    encoder->out.head = (size_t)(at - head);
    return 1;
}

static void json_end(crest_otlp_encoder *encoder)
{
    crest_alloc_free(encoder->own);
}

/* The tail that CREST_OTLP_TAIL_BYTES keeps room for. */
static const char *json_body(crest_otlp_encoder *encoder, size_t *length)
{
    crest_otlp_out *out = &encoder->out;
    memcpy(out->bytes, encoder->own, out->head);
    memcpy(out->bytes + out->used, JSON_END, sizeof JSON_END - 1);
    *length = out->used + sizeof JSON_END - 1;
    return out->bytes;
}

/* ---- families ---- */

static void json_labels(crest_otlp_encoder *encoder)
{
    (void)encoder; /* labels are put as they are read */
}

static size_t json_family_bytes(const crest_otlp_encoder *encoder)
{
    const char *parts[3];
    unsigned count = crest_otlp_description(encoder, parts);
    size_t bytes = encoder->name.length + 128;
    for (unsigned i = 0; i < count; i++)
        bytes += strlen(parts[i]) * CREST_OTLP_JSON_BYTES_MAX;
    return bytes;
}

static void json_family_open(crest_otlp_encoder *encoder)
{
    static const char *const data[] = {"gauge", "sum", "histogram", "exponentialHistogram"};
    const char *parts[3];
    unsigned count = crest_otlp_description(encoder, parts);
    crest_otlp_out *out = &encoder->out;
    char *at = out->bytes + out->used;
    at = crest_otlp_json_text(
        crest_otlp_json_put(at, out->points == 0 ? "{\"name\":" : ",{\"name\":"),
        encoder->name.text);
    if (count != 0)
        at = crest_otlp_json_put(at, ",\"description\":\"");
    for (unsigned i = 0; i < count; i++) { /* the parts' own quotes fall away */
        char *from = at;
        at = crest_otlp_json_text(at, parts[i]) - 1;
        memmove(from, from + 1, (size_t)(at - from) - 1);
        at--;
    }
    if (count != 0)
        *at++ = '"';
    if (encoder->name.unit[0] != '\0')
        at = crest_otlp_json_text(crest_otlp_json_put(at, ",\"unit\":"), encoder->name.unit);
    at = crest_otlp_json_put(crest_otlp_json_put(at, ",\""), data[encoder->shape]);
    at = crest_otlp_json_put(at, "\":{\"dataPoints\":[");
    out->used = (size_t)(at - out->bytes);
}

static void json_family_close(crest_otlp_encoder *encoder)
{
    crest_otlp_out *out = &encoder->out;
    char *at = crest_otlp_json_put(out->bytes + out->used, "]");
    if (encoder->shape != CREST_OTLP_SHAPE_GAUGE)
        at = crest_otlp_json_put(at, encoder->options->temporality == CREST_OTLP_DELTA
                                         ? ",\"aggregationTemporality\":1"
                                         : ",\"aggregationTemporality\":2");
    if (encoder->shape == CREST_OTLP_SHAPE_SUM)
        at = crest_otlp_json_put(at, ",\"isMonotonic\":true");
    at = crest_otlp_json_put(at, "}}");
    out->used = (size_t)(at - out->bytes);
}

/* ---- points ---- */

static size_t json_attribute_bytes(const crest_otlp_encoder *encoder)
{
    const crest_page_metric *metric = &encoder->metric;
    size_t bytes = 0;
    for (unsigned i = 0; i < metric->first.label_count; i++) {
        bytes += CREST_OTLP_JSON_AROUND +
                 CREST_OTLP_JSON_BYTES_MAX * strlen(metric->first.label_keys[i]);
        if (i < metric->constants)
            bytes += CREST_OTLP_JSON_BYTES_MAX * strlen(metric->first.label_values[i]);
    }
    return bytes;
}

static char *json_attributes(const crest_otlp_encoder *encoder, const crest_page_row *row, char *at)
{
    const crest_page_metric *metric = &encoder->metric;
    int first = 1;
    for (unsigned i = 0; i < metric->first.label_count; i++) {
        const char *value = i < metric->constants ? metric->first.label_values[i]
                                                  : row->values[i - metric->constants];
        if (value[0] == '\0')
            continue;
        if (first)
            at = crest_otlp_json_put(at, ",\"attributes\":[");
        at = crest_otlp_json_attribute(at, metric->first.label_keys[i], value, &first);
    }
    return first ? at : crest_otlp_json_put(at, "]");
}

static char *json_exemplar(const crest_page_exemplar *exemplar, char *at)
{
    int first = 1;
    at = crest_otlp_json_u64(at, ",\"exemplars\":[{\"timeUnixNano\":", exemplar->wall_ns);
    at = crest_otlp_json_double(at, ",\"asDouble\":", exemplar->value);
    if (exemplar->traced) {
        at = crest_otlp_json_text(crest_otlp_json_put(at, ",\"spanId\":"), exemplar->span_text);
        at = crest_otlp_json_text(crest_otlp_json_put(at, ",\"traceId\":"), exemplar->trace_text);
    }
    at = crest_otlp_json_put(at, ",\"filteredAttributes\":[");
    at = crest_otlp_json_attribute(at, CREST_EXEMPLAR_LABEL, exemplar->id, &first);
    return crest_otlp_json_put(at, "]}]");
}

static char *json_explicit(const crest_otlp_encoder *encoder, char *at)
{
    const crest_otlp_histograms_of *own = &encoder->histograms;
    uint64_t before = 0;
    for (unsigned i = 0; i <= own->bound_count; i++) {
        uint64_t below = i < own->bound_count ? own->totals.below[i] : own->totals.count;
        at = crest_otlp_json_u64(at, i == 0 ? ",\"bucketCounts\":[" : ",",
                                 encoder->options->stale ? 0 : below - before);
        before = below;
    }
    at = crest_otlp_json_put(at, "],\"explicitBounds\":[");
    for (unsigned i = 0; i < own->bound_count; i++)
        at = crest_otlp_json_double(at, i == 0 ? "" : ",", own->bounds[i]);
    return crest_otlp_json_put(at, "]");
}

static char *json_exponential(const crest_native *native, char *at)
{
    at = crest_otlp_json_i32(at, ",\"scale\":", native->schema);
    at = crest_otlp_json_u64(at, ",\"zeroCount\":", native->zero_count);
    if (native->used != 0) {
        int index = native->bucket[0].index;
        at = crest_otlp_json_i32(at, ",\"positive\":{\"offset\":", index - 1);
        for (unsigned i = 0; i < native->used; i++, index++) {
            const char *lead = i == 0 ? ",\"bucketCounts\":[" : ",";
            for (; index < native->bucket[i].index; index++)
                at = crest_otlp_json_put(at, ",\"0\"");
            at = crest_otlp_json_u64(at, lead, native->bucket[i].count);
        }
        at = crest_otlp_json_put(at, "]}");
    }
    return crest_otlp_json_double(at, ",\"zeroThreshold\":", native->zero_threshold);
}

static char *json_histogram(const crest_otlp_encoder *encoder, const crest_otlp_point *point,
                            char *at)
{
    int exponential = encoder->shape == CREST_OTLP_SHAPE_EXPONENTIAL;
    int stale = encoder->options->stale;
    if (!exponential)
        at = json_explicit(encoder, at);
    if (stale)
        return at;
    at = crest_otlp_json_u64(at, ",\"count\":", point->count);
    at = crest_otlp_json_double(at, ",\"sum\":", point->sum);
    if (exponential)
        at = json_exponential(&encoder->histograms.native, at);
    if (point->count != 0) {
        at = crest_otlp_json_double(at, ",\"min\":", point->minimum);
        at = crest_otlp_json_double(at, ",\"max\":", point->maximum);
    }
    return point->exemplar != NULL ? json_exemplar(point->exemplar, at) : at;
}

static void json_point(crest_otlp_encoder *encoder, const crest_otlp_point *point)
{
    crest_otlp_out *out = &encoder->out;
    int number = encoder->shape == CREST_OTLP_SHAPE_GAUGE || encoder->shape == CREST_OTLP_SHAPE_SUM;
    char *at = out->bytes + out->used;
    if (encoder->family_points != 0)
        *at++ = ',';
    at = crest_otlp_json_u64(at, "{\"timeUnixNano\":", encoder->time_ns);
    if (point->start_ns != 0)
        at = crest_otlp_json_u64(at, ",\"startTimeUnixNano\":", point->start_ns);
    if (number && !encoder->options->stale)
        at = point->is_int ? crest_otlp_json_i64(at, ",\"asInt\":", point->as_int)
                           : crest_otlp_json_double(at, ",\"asDouble\":", point->as_double);
    if (!number)
        at = json_histogram(encoder, point, at);
    at = json_attributes(encoder, point->row, at);
    if (encoder->options->stale)
        at = crest_otlp_json_put(at, ",\"flags\":1");
    *at++ = '}';
    out->used = (size_t)(at - out->bytes);
}

const crest_otlp_format crest_otlp_format_json = {
    .begin = json_begin,
    .end = json_end,
    .labels = json_labels,
    .family_bytes = json_family_bytes,
    .family_open = json_family_open,
    .family_close = json_family_close,
    .attribute_bytes = json_attribute_bytes,
    .bytes_a_byte = CREST_OTLP_JSON_BYTES_MAX,
    .point = json_point,
    .body = json_body,
};
