/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HdrHistogram's cells: which values share a count, and the number of each in its array of counts.
 * Arithmetic only; it knows no bytes and no distribution.
 *
 * Source: HdrHistogram for Java, AbstractHistogram: countsArrayIndex, valueFromIndex.
 */
#ifndef CREST_HDR_SHAPE_H
#define CREST_HDR_SHAPE_H

#include <stdint.h>

#define CREST_HDR_DIGITS_MAX 5u
/* Unit and sub-buckets share 63 bits of a value. */
#define CREST_HDR_UNIT_AND_BITS_MAX 61u

typedef struct crest_hdr_shape {
    unsigned unit; /* cells of the lowest bucket are 2^unit wide */
    unsigned bits; /* buckets above it have 2^bits cells; the lowest has twice as many */
} crest_hdr_shape;

/* ceil(log2(2 * 10^digits)) - 1, for digits up to CREST_HDR_DIGITS_MAX. */
static inline unsigned crest_hdr_bits(unsigned digits)
{
    static const unsigned char bits[CREST_HDR_DIGITS_MAX + 1] = {0, 4, 7, 10, 14, 17};
    return bits[digits];
}

/* The bucket of a value: 0 is the lowest. */
static inline unsigned crest_hdr_bucket(crest_hdr_shape shape, uint64_t value)
{
    unsigned top = 63u - (unsigned)__builtin_clzll(value | 1), lowest = shape.unit + shape.bits;
    return top > lowest ? top - lowest : 0;
}

/* The number of a value's cell. */
static inline uint64_t crest_hdr_index(crest_hdr_shape shape, uint64_t value)
{
    unsigned bucket = crest_hdr_bucket(shape, value);
    return ((uint64_t)bucket << shape.bits) + (value >> (shape.unit + bucket));
}

/* The number behind that of the largest 63-bit value's cell. */
static inline uint64_t crest_hdr_cells(crest_hdr_shape shape)
{
    return crest_hdr_index(shape, INT64_MAX) + 1;
}

/* The least value of a cell, and how many values it has. */
static inline uint64_t crest_hdr_lowest(crest_hdr_shape shape, uint64_t index, uint64_t *width)
{
    uint64_t half = UINT64_C(1) << shape.bits;
    unsigned bucket = index < 2 * half ? 0 : (unsigned)(index >> shape.bits) - 1;
    *width = UINT64_C(1) << (shape.unit + bucket);
    return (index - bucket * half) << (shape.unit + bucket);
}

#endif
