/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions from HdrHistogram's V2 bytes. See <crest/hdr.h>.
 *
 * The counts are walked twice. The first time they are checked, and say how far the records reach;
 * the second time they are added. So nothing is made of bytes that are wrong anywhere.
 */
#include <crest/hdr.h>

#include "base/error.h"
#include "distributions/distribution_inside.h"
#include "hdr/hdr_bytes.h"
#include "hdr/hdr_shape.h"

typedef struct hdr_in {
    const unsigned char *bytes; /* of the counts */
    size_t length, at;
    crest_hdr_shape shape;
    unsigned digits;
    uint64_t highest; /* as the header says */
    uint64_t cell;    /* the number of the next one */
    crest_error *error;
} hdr_in;

static uint64_t hdr_get(const unsigned char *bytes, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

#define HDR_REFUSE(in, ...)                                                                        \
    (crest_error_set((in)->error, CREST_INVALID_ARGUMENT,                                          \
                     "Not a histogram of HdrHistogram: " __VA_ARGS__) == CREST_OK)

/* ---- the header ---- */

static int hdr_check_cookie(hdr_in *in, uint32_t cookie)
{
    uint32_t base = cookie & ~CREST_HDR_COOKIE_WIDTH;
    if (base == CREST_HDR_COOKIE_BASE)
        return 1;
    if (base == CREST_HDR_COOKIE_COMPRESSED)
        return HDR_REFUSE(in, "these are its compressed bytes, which "
                              "crest_distribution_decode_compressed reads");
    if (cookie == CREST_HDR_COOKIE_DOUBLES || cookie == CREST_HDR_COOKIE_DOUBLES_COMPRESSED)
        return HDR_REFUSE(in, "these are a DoubleHistogram's bytes, which are not read");
    if (base >> 8 == CREST_HDR_COOKIE_BASE >> 8)
        return HDR_REFUSE(in,
                          "bytes of version 0 or 1 (cookie 0x%08x) are not read, only those "
                          "of version 2; a writer since 2015 makes them",
                          cookie);
    return HDR_REFUSE(in, "it begins with 0x%08x instead of 0x%08x", cookie, CREST_HDR_COOKIE);
}

static int hdr_check_range(hdr_in *in, uint64_t digits, uint64_t lowest)
{
    if (digits > CREST_HDR_DIGITS_MAX)
        return HDR_REFUSE(in, "it has %d significant digits; there are 0 to %u",
                          (int)(uint32_t)digits, CREST_HDR_DIGITS_MAX);
    in->digits = (unsigned)digits;
    if (lowest == 0 || in->highest > INT64_MAX || in->highest / 2 < lowest)
        return HDR_REFUSE(in, "its range is %lld to %lld", (long long)lowest,
                          (long long)in->highest);
    in->shape.bits = crest_hdr_bits(in->digits);
    in->shape.unit = 63u - (unsigned)__builtin_clzll(lowest);
    if (in->shape.unit + in->shape.bits > CREST_HDR_UNIT_AND_BITS_MAX)
        return HDR_REFUSE(in, "%u digits of values from %llu on do not fit 63 bits", in->digits,
                          (unsigned long long)lowest);
    return 1;
}

static int hdr_header(hdr_in *in, const unsigned char *bytes, size_t length)
{
    if (length < 4)
        return HDR_REFUSE(in, "%zu bytes are too few", length);
    if (!hdr_check_cookie(in, (uint32_t)hdr_get(bytes, 4)))
        return 0;
    if (length < CREST_HDR_HEADER_BYTES)
        return HDR_REFUSE(in, "it ends after %zu bytes; its head alone has %u", length,
                          CREST_HDR_HEADER_BYTES);
    int32_t counts = (int32_t)hdr_get(bytes + 4, 4);
    in->highest = hdr_get(bytes + 24, 8);
    if (!hdr_check_range(in, hdr_get(bytes + 12, 4), hdr_get(bytes + 16, 8)))
        return 0;
    /* The offset and the ratio are of writers' memory: cells are told in their order, and values as
     * integers. JavaScript's writer has 1 in both places. */
    if (counts < 0 || (size_t)counts != length - CREST_HDR_HEADER_BYTES)
        return HDR_REFUSE(in, "its counts are to take %d bytes, and %zu follow its head", counts,
                          length - CREST_HDR_HEADER_BYTES);
    in->bytes = bytes + CREST_HDR_HEADER_BYTES;
    in->length = (size_t)counts;
    return 1;
}

/* ---- the counts ---- */

/* The next count, or below zero a run of cells without records. */
static int hdr_get_count(hdr_in *in, int64_t *count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < CREST_HDR_COUNT_BYTES_MAX; i++) {
        if (in->at == in->length)
            return HDR_REFUSE(in, "its counts end within one, after %zu bytes", in->length);
        uint64_t byte = in->bytes[in->at++];
        int last = i + 1 == CREST_HDR_COUNT_BYTES_MAX;
        value |= (last ? byte : byte & 0x7f) << (7 * i);
        if (byte < 0x80 || last)
            break;
    }
    *count = (int64_t)(value >> 1 ^ (0 - (value & 1)));
    return 1;
}

/* The next cell with records: 1, or 0 at the end, or -1 after an error. */
static int hdr_next(hdr_in *in, uint64_t *cell, uint64_t *count)
{
    const uint64_t cells = crest_hdr_cells(in->shape);
    while (in->at < in->length) {
        int64_t next = 0;
        if (!hdr_get_count(in, &next))
            return -1;
        uint64_t zeros = next < 0 ? 0 - (uint64_t)next : 1;
        if (zeros > cells - in->cell) {
            (void)HDR_REFUSE(in, "it has counts of more than the %llu cells of its range",
                             (unsigned long long)cells);
            return -1;
        }
        *cell = in->cell;
        in->cell += zeros;
        if (next > 0) {
            *count = (uint64_t)next;
            return 1;
        }
    }
    return 0;
}

/* Checks all counts; *reach gets the largest value that a record may have. */
static int hdr_check_counts(hdr_in *in, uint64_t *reach)
{
    uint64_t cell, count, width;
    int more;
    *reach = in->highest;
    while ((more = hdr_next(in, &cell, &count)) > 0) {
        uint64_t highest = crest_hdr_lowest(in->shape, cell, &width) + (width - 1);
        if (highest > *reach)
            *reach = highest;
    }
    in->at = 0;
    in->cell = 0;
    return more == 0;
}

/* ---- the distribution ---- */

/* Adds the counts; 0 without memory. A cell of 0 digits is wider than ours: its records go to that
 * of its middle. */
static int hdr_fill(hdr_in *in, crest_distribution *made)
{
    const crest_layout *layout = &made->layout;
    uint64_t cell, count, width, sum = 0;
    int any = 0;
    while (hdr_next(in, &cell, &count) > 0) {
        uint64_t lowest = crest_hdr_lowest(in->shape, cell, &width), middle = lowest + width / 2;
        uint64_t value = in->digits == 0 ? middle : lowest, highest = lowest + (width - 1);
        unsigned number = crest_layout_block(layout, value);
        uint64_t *block = crest_distribution_block(made, number);
        if (block == NULL)
            return 0;
        uint64_t *to = &block[(value >> crest_layout_shift(layout, number)) -
                              crest_layout_first_cell(layout, number)];
        *to = crest_distribution_plus(*to, count);
        if (!any)
            made->min = lowest;
        any = 1;
        made->max = highest < layout->highest ? highest : layout->highest;
        sum += middle * count;
    }
    made->sum = sum;
    crest_distribution_settle(made);
    return 1;
}

crest_distribution *crest_distribution_decode(const void *bytes, size_t length, crest_error *error)
{
    hdr_in in = {.error = error};
    uint64_t reach;
    if (bytes == NULL) {
        crest_error_set(error, CREST_INVALID_ARGUMENT, "There are no bytes of a histogram");
        return NULL;
    }
    if (!hdr_header(&in, bytes, length) || !hdr_check_counts(&in, &reach))
        return NULL;
    const crest_range range = {
        .lowest = UINT64_C(1) << in.shape.unit,
        .highest = reach < CREST_RANGE_HIGHEST_MAX ? reach : CREST_RANGE_HIGHEST_MAX,
        .digits = in.digits == 0 ? 1 : in.digits,
    };
    crest_distribution *made = crest_distribution_new(&range);
    if (made != NULL && hdr_fill(&in, made))
        return made;
    crest_distribution_free(made);
    crest_error_set(error, CREST_NO_MEMORY, "No memory for a distribution");
    return NULL;
}
