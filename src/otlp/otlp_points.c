/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of OTLP's data points. See otlp_points.h.
 */
#include "otlp/otlp_points.h"
#include "base/misuse.h"
#include "base/utf8.h"

/* The attributes' fields of HistogramDataPoint and ExponentialHistogramDataPoint. */
enum { POINTS_HISTOGRAM_ATTRIBUTES = 9, POINTS_EXPONENTIAL_ATTRIBUTES = 1 };

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
    case CREST_OTLP_SHAPE_HISTOGRAM: return POINTS_HISTOGRAM_ATTRIBUTES;
    case CREST_OTLP_SHAPE_EXPONENTIAL: return POINTS_EXPONENTIAL_ATTRIBUTES;
    }
    return 0;
}
