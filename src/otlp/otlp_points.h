/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of OTLP's data points as protobuf, into memory that the caller has reserved: numbers of
 * 64 bits, attributes, and histograms. See otlp_protobuf.c.
 */
#ifndef CREST_OTLP_POINTS_H
#define CREST_OTLP_POINTS_H

#include "otlp/otlp_inside.h"
#include "wire/protobuf.h"

/* Fields of NumberDataPoint. */
enum {
    CREST_OTLP_NUMBER_START = 2,
    CREST_OTLP_NUMBER_TIME = 3,
    CREST_OTLP_NUMBER_DOUBLE = 4,
    CREST_OTLP_NUMBER_INT = 6,
    CREST_OTLP_NUMBER_ATTRIBUTES = 7,
    CREST_OTLP_NUMBER_FLAGS = 8
};
/* Fields of HistogramDataPoint. */
enum {
    CREST_OTLP_EXPLICIT_START = 2,
    CREST_OTLP_EXPLICIT_TIME = 3,
    CREST_OTLP_EXPLICIT_COUNT = 4,
    CREST_OTLP_EXPLICIT_SUM = 5,
    CREST_OTLP_EXPLICIT_COUNTS = 6,
    CREST_OTLP_EXPLICIT_BOUNDS = 7,
    CREST_OTLP_EXPLICIT_EXEMPLARS = 8,
    CREST_OTLP_EXPLICIT_ATTRIBUTES = 9,
    CREST_OTLP_EXPLICIT_FLAGS = 10,
    CREST_OTLP_EXPLICIT_MIN = 11,
    CREST_OTLP_EXPLICIT_MAX = 12
};
/* Fields of ExponentialHistogramDataPoint. */
enum {
    CREST_OTLP_NATIVE_ATTRIBUTES = 1,
    CREST_OTLP_NATIVE_START = 2,
    CREST_OTLP_NATIVE_TIME = 3,
    CREST_OTLP_NATIVE_COUNT = 4,
    CREST_OTLP_NATIVE_SUM = 5,
    CREST_OTLP_NATIVE_SCALE = 6,
    CREST_OTLP_NATIVE_ZERO_COUNT = 7,
    CREST_OTLP_NATIVE_POSITIVE = 8,
    CREST_OTLP_NATIVE_FLAGS = 10,
    CREST_OTLP_NATIVE_EXEMPLARS = 11,
    CREST_OTLP_NATIVE_MIN = 12,
    CREST_OTLP_NATIVE_MAX = 13,
    CREST_OTLP_NATIVE_ZERO_THRESHOLD = 14
};
/* Fields of KeyValue and AnyValue. */
enum { CREST_OTLP_KEY = 1, CREST_OTLP_VALUE = 2, CREST_OTLP_STRING = 1 };
/* The flag of a point without a value. */
enum { CREST_OTLP_NO_VALUE = 1 };

/* A fixed64 or sfixed64. */
static inline char *crest_otlp_fixed(char *at, unsigned field, uint64_t value)
{
    return crest_wire_fixed64(crest_wire_tag(at, field, CREST_WIRE_FIXED64), value);
}

/* The same, left out where it is 0, as a decoder reads it then. */
static inline char *crest_otlp_fixed_unless_0(char *at, unsigned field, uint64_t value)
{
    return value != 0 ? crest_otlp_fixed(at, field, value) : at;
}

/* Puts the length of a message, from `body` to `at`, into the `room` bytes kept in front of it; the
 * message is moved where the length takes more or fewer. Returns its end. */
char *crest_otlp_end(char *body, char *at, size_t room);

/* A text without its NUL, as valid UTF-8; a NUL is written behind it. What had to be replaced is
 * counted as misuse. */
char *crest_otlp_utf8(char *at, const char *text);

/* A KeyValue with a string, as the field of this number below 16. */
char *crest_otlp_text_attribute(char *at, unsigned field, const char *key, const char *value);

/* The buckets of an exponential histogram, dense, as the field of a point; none if it is empty. */
char *crest_otlp_native_buckets(char *at, const crest_native *native);

/* The counts of explicit buckets and their bounds; `empty`: all 0. */
char *crest_otlp_explicit_buckets(char *at, const crest_otlp_histograms_of *histogram, int empty);

/* A span's id as bytes, the highest first. */
char *crest_otlp_span_id(char *at, unsigned field, crest_span_id id);

/* An exemplar, as the field of this number below 16. */
char *crest_otlp_exemplar(char *at, unsigned field, const crest_page_exemplar *exemplar);

/* The field that a point's attributes are. */
unsigned crest_otlp_attribute_field(crest_otlp_shape shape);

#endif
