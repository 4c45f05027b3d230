/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The named baseline of histogram recording: a plain high-dynamic-range histogram for one thread,
 * written from the published algorithm of HdrHistogram (Gil Tene) as a program without further
 * needs would have it: an index from the leading zeros, a check of its bounds, the count, the
 * total, the smallest and the largest value. No sum, nothing atomic, no way for another thread to
 * read it.
 *
 *     plain_hdr *hdr = plain_hdr_new(1, INT64_C(1) << 42, 2);
 *     plain_hdr_record(hdr, 1234);
 *
 * It shares no code with Crest; it is here so that the ratio that the benchmark prints can be
 * judged.
 */
#ifndef BENCH_PLAIN_HDR_H
#define BENCH_PLAIN_HDR_H

#include <stdint.h>
#include <stdlib.h>

typedef struct plain_hdr {
    int64_t sub_bucket_mask;
    int32_t unit_magnitude;
    int32_t sub_bucket_half_count_magnitude;
    int32_t sub_bucket_half_count;
    int32_t counts_len;
    int64_t total_count;
    int64_t min_value;
    int64_t max_value;
    int64_t *counts;
} plain_hdr;

/* Values from `lowest` (>= 1) to `highest`, kept to this many decimal digits; NULL without memory.
 */
static inline plain_hdr *plain_hdr_new(int64_t lowest, int64_t highest, int digits)
{
    int64_t exact = 2; /* values up to here need single-unit resolution */
    while (digits-- > 0)
        exact *= 10;
    int32_t magnitude = 0, unit = 0, buckets = 1;
    while ((INT64_C(1) << magnitude) < exact)
        magnitude++;
    while ((lowest >> (unit + 1)) > 0)
        unit++;
    for (int64_t covered = INT64_C(1) << (magnitude + unit); covered <= highest; covered <<= 1)
        buckets++;
    plain_hdr *hdr = (plain_hdr *)calloc(1, sizeof *hdr);
    if (hdr == NULL)
        return NULL;
    hdr->unit_magnitude = unit;
    hdr->sub_bucket_half_count_magnitude = magnitude - 1;
    hdr->sub_bucket_half_count = 1 << (magnitude - 1);
    hdr->sub_bucket_mask = ((INT64_C(1) << magnitude) - 1) << unit;
    hdr->counts_len = (buckets + 1) * hdr->sub_bucket_half_count;
    hdr->min_value = INT64_MAX;
    hdr->counts = (int64_t *)calloc((size_t)hdr->counts_len, sizeof *hdr->counts);
    if (hdr->counts == NULL) {
        free(hdr);
        return NULL;
    }
    return hdr;
}

static inline void plain_hdr_free(plain_hdr *hdr)
{
    if (hdr != NULL)
        free(hdr->counts);
    free(hdr);
}

static inline int32_t plain_hdr_index(const plain_hdr *hdr, int64_t value)
{
    int32_t ceiling = 64 - __builtin_clzll((uint64_t)(value | hdr->sub_bucket_mask));
    int32_t bucket = ceiling - hdr->unit_magnitude - (hdr->sub_bucket_half_count_magnitude + 1);
    int32_t sub_bucket = (int32_t)(value >> (bucket + hdr->unit_magnitude));
    int32_t base = (bucket + 1) << hdr->sub_bucket_half_count_magnitude;
    return base + (sub_bucket - hdr->sub_bucket_half_count);
}

/* 0 when the value is out of range, which is then not recorded. */
static inline int plain_hdr_record(plain_hdr *hdr, int64_t value)
{
    if (value < 0)
        return 0;
    int32_t index = plain_hdr_index(hdr, value);
    if (index < 0 || index >= hdr->counts_len)
        return 0;
    hdr->counts[index]++;
    hdr->total_count++;
    if (value < hdr->min_value)
        hdr->min_value = value;
    if (value > hdr->max_value)
        hdr->max_value = value;
    return 1;
}

/*
 * The same index with its arithmetic folded by hand, for ranges whose unit is 1: the fewest
 * instructions we know of for this histogram. GCC 12 compiles the published formulas into a
 * dependency chain from one record's index to the next record's `bsr`, whose destination is also an
 * input; here it does not. No target is set against it; it shows how far a record is from the least
 * possible.
 */
static inline int plain_hdr_record_folded(plain_hdr *hdr, int64_t value)
{
    if (value < 0)
        return 0;
    int top = 63 ^ __builtin_clzll((uint64_t)(value | hdr->sub_bucket_mask));
    int shift = top - hdr->sub_bucket_half_count_magnitude;
    uint64_t index =
        ((uint64_t)shift << hdr->sub_bucket_half_count_magnitude) + (uint64_t)(value >> shift);
    if (index >= (uint64_t)hdr->counts_len)
        return 0;
    hdr->counts[index]++;
    hdr->total_count++;
    if (value < hdr->min_value)
        hdr->min_value = value;
    if (value > hdr->max_value)
        hdr->max_value = value;
    return 1;
}

#endif
