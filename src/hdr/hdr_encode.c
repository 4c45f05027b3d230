/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions as HdrHistogram's V2 bytes. See <crest/hdr.h>.
 */
#include <crest/hdr.h>

#include "distributions/distribution_inside.h"
#include "hdr/hdr_bytes.h"
#include "hdr/hdr_shape.h"

/* Where bytes go; what does not fit is counted only. */
typedef struct hdr_out {
    unsigned char *bytes;
    size_t room, used;
} hdr_out;

static void hdr_put(hdr_out *out, uint64_t value, unsigned bytes)
{
    while (bytes-- > 0) {
        if (out->used < out->room)
            out->bytes[out->used] = (unsigned char)(value >> (8 * bytes));
        out->used++;
    }
}

/* ZigZag LEB128-64b9B: seven bits a byte, and all eight of the ninth. */
static void hdr_put_count(hdr_out *out, int64_t count)
{
    uint64_t left = (uint64_t)count << 1 ^ (uint64_t)(count >> 63);
    for (unsigned i = 1; i < CREST_HDR_COUNT_BYTES_MAX && left >> 7 != 0; i++) {
        hdr_put(out, (left & 0x7f) | 0x80, 1);
        left >>= 7;
    }
    hdr_put(out, left, 1);
}

/* `zeros` cells without records: one is a count, more are a count below zero. */
static void hdr_put_zeros(hdr_out *out, uint64_t zeros)
{
    if (zeros > 0)
        hdr_put_count(out, zeros == 1 ? 0 : -(int64_t)zeros);
}

/* The fewest digits whose cells are as fine as the layout's, and their shape. A layout whose unit
 * leaves too few bits gets a smaller one: cells of several of HdrHistogram's, the first of which
 * has the count. */
static unsigned hdr_digits(const crest_layout *layout, crest_hdr_shape *shape)
{
    unsigned digits = 1;
    while (digits < CREST_HDR_DIGITS_MAX && crest_hdr_bits(digits) < layout->bits)
        digits++;
    shape->bits = crest_hdr_bits(digits);
    shape->unit = layout->unit;
    if (shape->unit + shape->bits > CREST_HDR_UNIT_AND_BITS_MAX)
        shape->unit = CREST_HDR_UNIT_AND_BITS_MAX - shape->bits;
    return digits;
}

void crest_distribution_range(const crest_distribution *distribution, crest_range *range)
{
    const crest_layout *layout =
        distribution != NULL ? &distribution->layout : &crest_layout_default;
    crest_hdr_shape shape;
    if (layout->unit == CREST_LAYOUT_UNIT_NONE)
        *range = (crest_range){1, layout->highest, 0};
    else
        *range =
            (crest_range){UINT64_C(1) << layout->unit, layout->highest, hdr_digits(layout, &shape)};
}

crest_status crest_distribution_encode(const crest_distribution *distribution, void *bytes,
                                       size_t room, size_t *length)
{
    *length = 0;
    if (distribution == NULL || distribution->layout.unit == CREST_LAYOUT_UNIT_NONE)
        return CREST_INVALID_ARGUMENT;
    crest_hdr_shape shape;
    unsigned digits = hdr_digits(&distribution->layout, &shape);
    hdr_out out = {bytes, room, CREST_HDR_HEADER_BYTES};
    crest_bucket bucket;
    uint64_t next = 0; /* the first cell that is not written */
    for (size_t cursor = 0; crest_distribution_next(distribution, &cursor, &bucket);) {
        if (bucket.count > INT64_MAX)
            return CREST_LIMIT;
        uint64_t index = crest_hdr_index(shape, bucket.lowest);
        hdr_put_zeros(&out, index - next);
        hdr_put_count(&out, (int64_t)bucket.count);
        next = index + 1;
    }
    if (next == 0)
        hdr_put_zeros(&out, 1); /* an empty one has its first cell */
    *length = out.used;
    out.used = 0;
    hdr_put(&out, CREST_HDR_COOKIE, 4);
    hdr_put(&out, *length - CREST_HDR_HEADER_BYTES, 4);
    hdr_put(&out, 0, 4); /* the normalizing offset */
    hdr_put(&out, digits, 4);
    hdr_put(&out, UINT64_C(1) << shape.unit, 8);
    hdr_put(&out, distribution->layout.highest, 8);
    hdr_put(&out, CREST_HDR_RATIO_ONE, 8);
    return *length <= room ? CREST_OK : CREST_LIMIT;
}
