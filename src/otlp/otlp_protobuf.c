/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The envelope, Metrics and data points of OTLP as protobuf. See otlp_protobuf.h.
 *
 * A point's labels go out in a form that is made once a metric: per label the bytes around its
 * value, with gaps for three lengths.
 */
#include "otlp/otlp_protobuf.h"
#include "base/alloc.h"
#include "base/copy.h"
#include "base/utf8.h"
#include "otlp/otlp_points.h"

#include <assert.h>

#define MESSAGE_SCOPE "crest"

/* Fields of ExportMetricsServiceRequest, ResourceMetrics, Resource, ScopeMetrics and its scope. */
enum { MESSAGE_REQUEST_RESOURCE_METRICS = 1 };
enum { MESSAGE_RM_RESOURCE = 1, MESSAGE_RM_SCOPE_METRICS = 2 };
enum { MESSAGE_RESOURCE_ATTRIBUTES = 1 };
enum { MESSAGE_SM_SCOPE = 1, MESSAGE_SM_METRICS = 2 };
enum { MESSAGE_SCOPE_NAME = 1 };
/* Fields of Metric, and of Gauge, Sum, Histogram and ExponentialHistogram. */
enum { MESSAGE_NAME = 1, MESSAGE_DESCRIPTION = 2, MESSAGE_UNIT = 3 };
enum { MESSAGE_GAUGE = 5, MESSAGE_SUM = 7, MESSAGE_HISTOGRAM = 9, MESSAGE_EXPONENTIAL = 10 };
enum { MESSAGE_POINTS = 1, MESSAGE_TEMPORALITY = 2, MESSAGE_MONOTONIC = 3 };
/* Values of AggregationTemporality. */
enum { MESSAGE_DELTA = 1, MESSAGE_CUMULATIVE = 2 };

/* Room for the length of a Metric and of what it has, of a request's parts, and of a point. */
#define MESSAGE_METRIC_ROOM 2u
#define MESSAGE_WIDE_ROOM 3u
#define MESSAGE_POINT_ROOM 2u
/* A label's attribute beside its key and value, and the longest key and value for which each of
 * the three lengths takes one byte. */
#define MESSAGE_AROUND 8u
#define MESSAGE_SMALL (127u - 6u)

/* The bytes of an attribute in front of its value; the lengths at 1, -3 and -1 are per row. */
typedef struct message_label {
    const char *key;
    size_t key_bytes;
    unsigned length; /* of text; 0: the key is too long */
    char text[MESSAGE_SMALL + MESSAGE_AROUND + CREST_COPY_PAD];
} message_label;

/* What the bodies of a call share. */
typedef struct message_shared {
    size_t resource_bytes; /* the Resource as a field, within `fixed` */
    char *constants;       /* attributes that all series of the metric have */
    size_t constant_bytes, constant_room;
    size_t key_bytes; /* of all labels of a row */
    unsigned labels;
    message_label label[CREST_PAGE_LABELS_MAX];
    size_t data_at; /* where the data of the family under way begin */
    unsigned room;  /* bytes kept for its lengths */
    char fixed[];
} message_shared;

/* ---- the envelope ---- */

static int message_is_there(const crest_page_label *attribute)
{
    return attribute->key != NULL && attribute->value != NULL && attribute->value[0] != '\0';
}

/* Bytes of a KeyValue with a string as the field of a number below 16. */
static size_t message_pair_bytes(size_t key, size_t value)
{
    size_t any = crest_wire_text_bytes(value);
    return crest_wire_text_bytes(crest_wire_text_bytes(key) + crest_wire_text_bytes(any));
}

static int message_begin(crest_otlp_encoder *encoder)
{
    const crest_otlp_options *options = encoder->options;
    size_t resource = 0;
    for (unsigned i = 0; i < options->attribute_count; i++)
        if (message_is_there(&options->attributes[i]))
            resource += message_pair_bytes(crest_wire_utf8_bytes(options->attributes[i].key),
                                           crest_wire_utf8_bytes(options->attributes[i].value));
    size_t field = crest_wire_text_bytes(resource);
    /* a NUL is written behind a value */
    message_shared *shared = crest_alloc_resize(NULL, sizeof *shared + field + 1, 1);
    if (shared == NULL)
        return 0;
    encoder->own = shared;
    shared->constants = NULL;
    shared->constant_room = 0;
    shared->resource_bytes = field;
    char *at = crest_wire_tag(shared->fixed, MESSAGE_RM_RESOURCE, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, resource);
    for (unsigned i = 0; i < options->attribute_count; i++)
        if (message_is_there(&options->attributes[i]))
            at =
                crest_otlp_text_attribute(at, MESSAGE_RESOURCE_ATTRIBUTES,
                                          options->attributes[i].key, options->attributes[i].value);
    assert(at == shared->fixed + field);
    encoder->out.head = field + 2 * CREST_WIRE_FIELD_BYTES_MAX + 2 + sizeof MESSAGE_SCOPE + 2;
    return 1;
}

static void message_end(crest_otlp_encoder *encoder)
{
    message_shared *shared = encoder->own;
    crest_alloc_free(shared->constants);
    crest_alloc_free(shared);
}

/* Puts the envelope in front of the Metrics, its last byte just before them. */
static const char *message_body(crest_otlp_encoder *encoder, size_t *length)
{
    const message_shared *shared = encoder->own;
    crest_otlp_out *out = &encoder->out;
    char scope[2 + 2 + sizeof MESSAGE_SCOPE], head[2 * CREST_WIRE_FIELD_BYTES_MAX], *body;
    char *at = crest_wire_begin(scope, MESSAGE_SM_SCOPE, &body);
    at = crest_wire_bytes(at, MESSAGE_SCOPE_NAME, MESSAGE_SCOPE, sizeof MESSAGE_SCOPE - 1);
    size_t scope_bytes = (size_t)(crest_wire_end(body, at) - scope);
    size_t metrics = out->used - out->head, inner = scope_bytes + metrics;
    size_t within = shared->resource_bytes + crest_wire_text_bytes(inner);
    at = crest_wire_tag(head, MESSAGE_REQUEST_RESOURCE_METRICS, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, within);
    size_t first = (size_t)(at - head);
    char *begin = out->bytes + out->head - scope_bytes - (crest_wire_text_bytes(inner) - inner) -
                  shared->resource_bytes - first;
    assert(begin >= out->bytes);
    at = (char *)memcpy(begin, head, first) + first;
    at = (char *)memcpy(at, shared->fixed, shared->resource_bytes) + shared->resource_bytes;
    at = crest_wire_tag(at, MESSAGE_RM_SCOPE_METRICS, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, inner);
    memcpy(at, scope, scope_bytes);
    *length = (size_t)(out->bytes + out->used - begin);
    return begin;
}

/* ---- attributes ---- */

/* Prepares the attributes that all series of the metric have. */
static void message_constants(crest_otlp_encoder *encoder)
{
    message_shared *shared = encoder->own;
    const crest_page_metric *metric = &encoder->metric;
    size_t room = 1;
    shared->constant_bytes = 0;
    for (unsigned i = 0; i < metric->constants; i++)
        room += 32 + strlen(metric->first.label_keys[i]) +
                strlen(metric->first.label_values[i]) * CREST_UTF8_REPLACEMENT_BYTES;
    if (room > shared->constant_room) {
        char *grown = crest_alloc_resize(shared->constants, room, 1);
        if (grown == NULL) {
            encoder->out.lacked = 1;
            return;
        }
        shared->constants = grown;
        shared->constant_room = room;
    }
    char *at = shared->constants;
    unsigned field = crest_otlp_attribute_field(encoder->shape);
    for (unsigned i = 0; i < metric->constants; i++)
        if (metric->first.label_values[i][0] != '\0')
            at = crest_otlp_text_attribute(at, field, metric->first.label_keys[i],
                                           metric->first.label_values[i]);
    shared->constant_bytes = (size_t)(at - shared->constants);
}

static void message_label_form(message_label *label, unsigned field, const char *key)
{
    label->key = key;
    label->key_bytes = strlen(key);
    label->length = 0;
    if (label->key_bytes > MESSAGE_SMALL)
        return;
    char *at = crest_wire_tag(label->text, field, CREST_WIRE_LENGTH) + 1;
    at = crest_wire_bytes(at, CREST_OTLP_KEY, key, label->key_bytes);
    at = crest_wire_tag(at, CREST_OTLP_VALUE, CREST_WIRE_LENGTH) + 1;
    at = crest_wire_tag(at, CREST_OTLP_STRING, CREST_WIRE_LENGTH) + 1;
    label->length = (unsigned)(at - label->text);
}

static void message_labels(crest_otlp_encoder *encoder)
{
    message_shared *shared = encoder->own;
    const crest_page_metric *metric = &encoder->metric;
    unsigned field = crest_otlp_attribute_field(encoder->shape);
    unsigned labels = metric->first.label_count - metric->constants;
    shared->labels = labels < CREST_PAGE_LABELS_MAX ? labels : CREST_PAGE_LABELS_MAX;
    shared->key_bytes = 0;
    for (unsigned i = 0; i < shared->labels; i++) {
        message_label_form(&shared->label[i], field,
                           metric->first.label_keys[metric->constants + i]);
        shared->key_bytes += shared->label[i].key_bytes;
    }
    message_constants(encoder);
}

static size_t message_attribute_bytes(const crest_otlp_encoder *encoder)
{
    const message_shared *shared = encoder->own;
    return shared->constant_bytes + shared->key_bytes + shared->labels * 32u;
}

/* Puts attributes of any length. */
static char *message_put_long(const message_shared *shared, unsigned field,
                              const crest_page_row *row, char *at)
{
    at = (char *)memcpy(at, shared->constants, shared->constant_bytes) + shared->constant_bytes;
    for (unsigned i = 0; i < shared->labels; i++)
        if (row->values[i][0] != '\0')
            at = crest_otlp_text_attribute(at, field, shared->label[i].key, row->values[i]);
    return at;
}

/* The bytes of a row's attributes where each of their lengths takes one byte; else SIZE_MAX. */
static inline size_t message_small(const message_shared *shared, const crest_page_row *row)
{
    size_t bytes = shared->constant_bytes;
    if (!row->plain)
        return SIZE_MAX;
    for (unsigned i = 0; i < shared->labels; i++) {
        size_t value = row->lengths[i];
        if (value + shared->label[i].key_bytes > MESSAGE_SMALL)
            return SIZE_MAX;
        bytes += value != 0 ? shared->label[i].length + value : 0;
    }
    return bytes;
}

static inline char *message_put_small(const message_shared *shared, const crest_page_row *row,
                                      char *at)
{
    if (shared->constant_bytes != 0)
        at = (char *)memcpy(at, shared->constants, shared->constant_bytes) + shared->constant_bytes;
    for (unsigned i = 0; i < shared->labels; i++) {
        const message_label *label = &shared->label[i];
        size_t value = row->lengths[i];
        if (value == 0)
            continue;
        char *to = crest_copy_padded(at, label->text, label->length);
        at[1] = (char)(label->key_bytes + value + 6);
        to[-3] = (char)(value + 2);
        to[-1] = (char)value;
        at = crest_copy_short(to, row->values[i], value);
    }
    return at;
}

/* ---- points ---- */

/* Tags of a number's fields of eight bytes. */
#define MESSAGE_TAG64(field) ((char)((field) << 3 | CREST_WIRE_FIXED64))

/* A number's point before its attributes: start, time and value, each behind its tag. */
static inline char *message_number_head(const crest_otlp_encoder *encoder,
                                        const crest_otlp_point *point, char *at)
{
    uint64_t bits = (uint64_t)point->as_int;
    if (point->start_ns != 0) {
        *at = MESSAGE_TAG64(CREST_OTLP_NUMBER_START);
        at = crest_wire_fixed64(at + 1, point->start_ns);
    }
    *at = MESSAGE_TAG64(CREST_OTLP_NUMBER_TIME);
    at = crest_wire_fixed64(at + 1, encoder->time_ns);
    if (encoder->options->stale)
        return at;
    if (!point->is_int)
        memcpy(&bits, &point->as_double, sizeof bits);
    *at = point->is_int ? MESSAGE_TAG64(CREST_OTLP_NUMBER_INT)
                        : MESSAGE_TAG64(CREST_OTLP_NUMBER_DOUBLE);
    return crest_wire_fixed64(at + 1, bits);
}

static void message_number(crest_otlp_encoder *encoder, const crest_otlp_point *point)
{
    const message_shared *shared = encoder->own;
    char *at = encoder->out.bytes + encoder->out.used, *body = NULL;
    size_t small = message_small(shared, point->row);
    size_t flags = encoder->options->stale ? 2 : 0;
    *at++ = MESSAGE_POINTS << 3 | CREST_WIRE_LENGTH;
    if (CREST_LIKELY(small != SIZE_MAX)) { /* the length is known before */
        size_t fixed = 9 + (point->start_ns != 0 ? 9 : 0) + (flags != 0 ? flags : 9);
        at = crest_wire_varint(at, small + fixed);
        at = message_number_head(encoder, point, at);
        at = message_put_small(shared, point->row, at);
    } else {
        body = at += MESSAGE_POINT_ROOM;
        at = message_number_head(encoder, point, at);
        at = message_put_long(shared, CREST_OTLP_NUMBER_ATTRIBUTES, point->row, at);
    }
    if (flags != 0)
        at = crest_wire_u64(at, CREST_OTLP_NUMBER_FLAGS, CREST_OTLP_NO_VALUE);
    if (body != NULL)
        at = crest_otlp_end(body, at, MESSAGE_POINT_ROOM);
    encoder->out.used = (size_t)(at - encoder->out.bytes);
}

/* Puts attributes of any length, or in their form. */
static char *message_put_attributes(const message_shared *shared, unsigned field,
                                    const crest_page_row *row, char *at)
{
    return message_small(shared, row) != SIZE_MAX ? message_put_small(shared, row, at)
                                                  : message_put_long(shared, field, row, at);
}

static char *message_explicit(const crest_otlp_encoder *encoder, const crest_otlp_point *point,
                              char *at)
{
    const crest_otlp_histograms_of *own = &encoder->histograms;
    int stale = encoder->options->stale;
    at = crest_otlp_fixed_unless_0(at, CREST_OTLP_EXPLICIT_START, point->start_ns);
    at = crest_otlp_fixed_unless_0(at, CREST_OTLP_EXPLICIT_TIME, encoder->time_ns);
    if (!stale) {
        at = crest_otlp_fixed_unless_0(at, CREST_OTLP_EXPLICIT_COUNT, point->count);
        at = crest_wire_double(at, CREST_OTLP_EXPLICIT_SUM, point->sum);
    }
    /* without its bounds Prometheus would not know which series end */
    at = crest_otlp_explicit_buckets(at, own, stale);
    if (point->exemplar != NULL && !stale)
        at = crest_otlp_exemplar(at, CREST_OTLP_EXPLICIT_EXEMPLARS, point->exemplar);
    at = message_put_attributes(encoder->own, CREST_OTLP_EXPLICIT_ATTRIBUTES, point->row, at);
    if (stale)
        return crest_wire_u64(at, CREST_OTLP_EXPLICIT_FLAGS, CREST_OTLP_NO_VALUE);
    if (point->count == 0)
        return at;
    at = crest_wire_double(at, CREST_OTLP_EXPLICIT_MIN, point->minimum);
    return crest_wire_double(at, CREST_OTLP_EXPLICIT_MAX, point->maximum);
}

static char *message_exponential(const crest_otlp_encoder *encoder, const crest_otlp_point *point,
                                 char *at)
{
    const crest_native *native = &encoder->histograms.native;
    at = message_put_attributes(encoder->own, CREST_OTLP_NATIVE_ATTRIBUTES, point->row, at);
    at = crest_otlp_fixed_unless_0(at, CREST_OTLP_NATIVE_START, point->start_ns);
    at = crest_otlp_fixed_unless_0(at, CREST_OTLP_NATIVE_TIME, encoder->time_ns);
    if (encoder->options->stale)
        return crest_wire_u64(at, CREST_OTLP_NATIVE_FLAGS, CREST_OTLP_NO_VALUE);
    at = crest_otlp_fixed_unless_0(at, CREST_OTLP_NATIVE_COUNT, point->count);
    at = crest_wire_double(at, CREST_OTLP_NATIVE_SUM, point->sum);
    if (native->schema != 0)
        at = crest_wire_s64(at, CREST_OTLP_NATIVE_SCALE, native->schema);
    at = crest_otlp_fixed_unless_0(at, CREST_OTLP_NATIVE_ZERO_COUNT, native->zero_count);
    at = crest_otlp_native_buckets(at, native);
    if (point->exemplar != NULL)
        at = crest_otlp_exemplar(at, CREST_OTLP_NATIVE_EXEMPLARS, point->exemplar);
    if (point->count != 0) {
        at = crest_wire_double(at, CREST_OTLP_NATIVE_MIN, point->minimum);
        at = crest_wire_double(at, CREST_OTLP_NATIVE_MAX, point->maximum);
    }
    return crest_wire_double(at, CREST_OTLP_NATIVE_ZERO_THRESHOLD, native->zero_threshold);
}

static void message_point(crest_otlp_encoder *encoder, const crest_otlp_point *point)
{
    char *at = encoder->out.bytes + encoder->out.used, *body;
    if (encoder->shape == CREST_OTLP_SHAPE_GAUGE || encoder->shape == CREST_OTLP_SHAPE_SUM) {
        message_number(encoder, point);
        return;
    }
    at = crest_wire_tag(at, MESSAGE_POINTS, CREST_WIRE_LENGTH);
    at = body = at + MESSAGE_POINT_ROOM;
    at = encoder->shape == CREST_OTLP_SHAPE_EXPONENTIAL ? message_exponential(encoder, point, at)
                                                        : message_explicit(encoder, point, at);
    at = crest_otlp_end(body, at, MESSAGE_POINT_ROOM);
    encoder->out.used = (size_t)(at - encoder->out.bytes);
}

/* ---- families ---- */

static size_t message_family_bytes(const crest_otlp_encoder *encoder)
{
    const char *parts[3];
    unsigned count = crest_otlp_description(encoder, parts);
    size_t bytes = encoder->name.length + 64;
    for (unsigned i = 0; i < count; i++)
        bytes += strlen(parts[i]) * CREST_UTF8_REPLACEMENT_BYTES;
    return bytes;
}

static char *message_put_description(const crest_otlp_encoder *encoder, char *at)
{
    const char *parts[3];
    unsigned count = crest_otlp_description(encoder, parts);
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        bytes += crest_wire_utf8_bytes(parts[i]);
    if (bytes == 0)
        return at;
    at = crest_wire_tag(at, MESSAGE_DESCRIPTION, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, bytes);
    for (unsigned i = 0; i < count; i++)
        at = crest_otlp_utf8(at, parts[i]);
    return at;
}

static void message_family_open(crest_otlp_encoder *encoder)
{
    static const unsigned fields[] = {MESSAGE_GAUGE, MESSAGE_SUM, MESSAGE_HISTOGRAM,
                                      MESSAGE_EXPONENTIAL};
    message_shared *shared = encoder->own;
    char *at = encoder->out.bytes + encoder->out.used;
    at = crest_wire_tag(at, MESSAGE_SM_METRICS, CREST_WIRE_LENGTH) + MESSAGE_METRIC_ROOM;
    at = crest_wire_bytes(at, MESSAGE_NAME, encoder->name.text, encoder->name.length);
    at = message_put_description(encoder, at);
    if (encoder->name.unit[0] != '\0')
        at = crest_wire_bytes(at, MESSAGE_UNIT, encoder->name.unit, strlen(encoder->name.unit));
    at = crest_wire_tag(at, fields[encoder->shape], CREST_WIRE_LENGTH) + MESSAGE_METRIC_ROOM;
    shared->data_at = encoder->out.used = (size_t)(at - encoder->out.bytes);
    shared->room = MESSAGE_METRIC_ROOM;
}

/* The Metric's head moves by one byte, and what it has by two. */
static void message_widen(crest_otlp_encoder *encoder)
{
    message_shared *shared = encoder->own;
    crest_otlp_out *out = &encoder->out;
    char *data = out->bytes + shared->data_at;
    char *head = out->bytes + encoder->family_at + 1 + MESSAGE_METRIC_ROOM;
    memmove(data + 2, data, out->used - shared->data_at);
    memmove(head + 1, head, (size_t)(data - head) - MESSAGE_METRIC_ROOM);
    shared->data_at += 2;
    out->used += 2;
    shared->room = MESSAGE_WIDE_ROOM;
}

static void message_family_close(crest_otlp_encoder *encoder)
{
    const message_shared *shared = encoder->own;
    crest_otlp_out *out = &encoder->out;
    char *at = out->bytes + out->used;
    if (encoder->shape != CREST_OTLP_SHAPE_GAUGE)
        at = crest_wire_u64(at, MESSAGE_TEMPORALITY,
                            encoder->options->temporality == CREST_OTLP_DELTA ? MESSAGE_DELTA
                                                                              : MESSAGE_CUMULATIVE);
    if (encoder->shape == CREST_OTLP_SHAPE_SUM)
        at = crest_wire_u64(at, MESSAGE_MONOTONIC, 1);
    at = crest_otlp_end(out->bytes + shared->data_at, at, shared->room);
    at = crest_otlp_end(out->bytes + encoder->family_at + 1 + shared->room, at, shared->room);
    out->used = (size_t)(at - out->bytes);
}

const crest_otlp_format crest_otlp_format_protobuf = {
    .begin = message_begin,
    .end = message_end,
    .labels = message_labels,
    .family_bytes = message_family_bytes,
    .family_open = message_family_open,
    .family_close = message_family_close,
    .attribute_bytes = message_attribute_bytes,
    .bytes_a_byte = CREST_UTF8_REPLACEMENT_BYTES,
    .widen = message_widen,
    .point = message_point,
    .body = message_body,
};
