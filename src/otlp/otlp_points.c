/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of OTLP's data points. See otlp_points.h.
 */
#include "otlp/otlp_points.h"
#include "base/misuse.h"
#include "base/utf8.h"

/* Fields of Buckets and Exemplar. */
enum { POINTS_OFFSET = 1, POINTS_COUNTS = 2 };
enum { POINTS_EXEMPLAR_TIME = 2, POINTS_EXEMPLAR_VALUE = 3, POINTS_EXEMPLAR_ATTRIBUTES = 7 };
enum { POINTS_EXEMPLAR_SPAN = 4, POINTS_EXEMPLAR_TRACE = 5 };
/* Room kept in front of messages for their lengths. */
#define POINTS_ROOM 2u

char *crest_otlp_end(char *body, char *at, size_t room)
{
    size_t length = (size_t)(at - body), needs = crest_wire_varint_bytes(length);
    char *begin = body - room;
    if (needs != room)
        memmove(begin + needs, body, length);
    crest_wire_varint(begin, length);
    return begin + needs + length;
}

char *crest_otlp_utf8(char *at, const char *text)
{
    unsigned what = 0;
    /* SIZE_MAX: the caller has reserved enough */
    at += crest_utf8_copy(text, at, SIZE_MAX, &what);
    if (what & CREST_UTF8_REPLACED)
        crest_misuse_count(CREST_MISUSE_TEXT, text);
    return at;
}

char *crest_otlp_text_attribute(char *at, unsigned field, const char *key, const char *value)
{
    size_t key_bytes = crest_wire_utf8_bytes(key), value_bytes = crest_wire_utf8_bytes(value);
    size_t any = crest_wire_text_bytes(value_bytes);
    at = crest_wire_tag(at, field, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, crest_wire_text_bytes(key_bytes) + crest_wire_text_bytes(any));
    at = crest_wire_tag(at, CREST_OTLP_KEY, CREST_WIRE_LENGTH);
    at = crest_otlp_utf8(crest_wire_varint(at, key_bytes), key);
    at = crest_wire_tag(at, CREST_OTLP_VALUE, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, any);
    at = crest_wire_tag(at, CREST_OTLP_STRING, CREST_WIRE_LENGTH);
    return crest_otlp_utf8(crest_wire_varint(at, value_bytes), value);
}

unsigned crest_otlp_attribute_field(crest_otlp_shape shape)
{
    switch (shape) {
    case CREST_OTLP_SHAPE_GAUGE:
    case CREST_OTLP_SHAPE_SUM: return CREST_OTLP_NUMBER_ATTRIBUTES;
    case CREST_OTLP_SHAPE_HISTOGRAM: return CREST_OTLP_EXPLICIT_ATTRIBUTES;
    case CREST_OTLP_SHAPE_EXPONENTIAL: return CREST_OTLP_NATIVE_ATTRIBUTES;
    }
    return 0;
}

/* Bucket i of Prometheus is bucket i - 1 of OTLP. */
char *crest_otlp_native_buckets(char *at, const crest_native *native)
{
    if (native->used == 0)
        return at;
    int index = native->bucket[0].index, offset = index - 1;
    char *positive, *counts;
    at = crest_wire_tag(at, CREST_OTLP_NATIVE_POSITIVE, CREST_WIRE_LENGTH);
    at = positive = at + POINTS_ROOM;
    if (offset != 0)
        at = crest_wire_s64(at, POINTS_OFFSET, offset);
    at = crest_wire_tag(at, POINTS_COUNTS, CREST_WIRE_LENGTH);
    at = counts = at + POINTS_ROOM;
    for (unsigned i = 0; i < native->used; i++, index++) {
        for (; index < native->bucket[i].index; index++)
            *at++ = 0;
        at = crest_wire_varint(at, native->bucket[i].count);
    }
    at = crest_otlp_end(counts, at, POINTS_ROOM);
    return crest_otlp_end(positive, at, POINTS_ROOM);
}

char *crest_otlp_explicit_buckets(char *at, const crest_otlp_histograms_of *histogram, int empty)
{
    unsigned bounds = histogram->bound_count;
    const crest_totals *totals = &histogram->totals;
    uint64_t before = 0;
    at = crest_wire_tag(at, CREST_OTLP_EXPLICIT_COUNTS, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, (bounds + 1) * sizeof before);
    for (unsigned i = 0; i <= bounds; i++) {
        uint64_t below = i < bounds ? totals->below[i] : totals->count;
        at = crest_wire_fixed64(at, empty ? 0 : below - before);
        before = below;
    }
    if (bounds == 0)
        return at;
    at = crest_wire_tag(at, CREST_OTLP_EXPLICIT_BOUNDS, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, bounds * sizeof(double));
    for (unsigned i = 0; i < bounds; i++) {
        uint64_t bits;
        memcpy(&bits, &histogram->bounds[i], sizeof bits);
        at = crest_wire_fixed64(at, bits);
    }
    return at;
}

char *crest_otlp_span_id(char *at, unsigned field, crest_span_id id)
{
    char bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (char)(id >> (56 - 8 * i));
    return crest_wire_bytes(at, field, bytes, sizeof bytes);
}

char *crest_otlp_exemplar(char *at, unsigned field, const crest_page_exemplar *exemplar)
{
    char *body;
    at = crest_wire_tag(at, field, CREST_WIRE_LENGTH);
    at = body = at + POINTS_ROOM;
    at = crest_otlp_fixed_unless_0(at, POINTS_EXEMPLAR_TIME, exemplar->wall_ns);
    at = crest_wire_double(at, POINTS_EXEMPLAR_VALUE, exemplar->value);
    if (exemplar->traced) {
        at = crest_otlp_span_id(at, POINTS_EXEMPLAR_SPAN, exemplar->span);
        at = crest_wire_bytes(at, POINTS_EXEMPLAR_TRACE, (const char *)exemplar->trace.bytes,
                              sizeof exemplar->trace.bytes);
    }
    at = crest_otlp_text_attribute(at, POINTS_EXEMPLAR_ATTRIBUTES, CREST_EXEMPLAR_LABEL,
                                   exemplar->id);
    return crest_otlp_end(body, at, POINTS_ROOM);
}
