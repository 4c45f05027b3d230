/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms: how large things are. High dynamic range: every value of the range is counted in a
 * bucket that is narrow relative to the value; count, sum and extremes are exact. The range is the
 * metric's `.range`, by default CREST_RANGE_DEFAULT: from 1 to 2^42 - 1 (73 minutes in nanoseconds,
 * 4 TiB in bytes) in buckets less than 1 % wide. A thread has a block of buckets for each power of
 * two that it recorded in. So a wide range costs nothing until it is used, and each further digit
 * about ten times the memory of the digit before.
 * further digit about ten times the memory of the digit before.
 *
 *     CREST_HISTOGRAM(block_size, "casper.block-size", "Serialised block.", .unit = CREST_BYTES);
 *     CREST_HISTOGRAM(load, "memory.load", "Share in use, in percent.",
 *                     .range = CREST_RANGE_PERCENTAGE);
 *     crest_histogram_record(&block_size, bytes);
 *
 * CREST_RANGE_NONE keeps count, sum and extremes only; its page has one bucket, +Inf.
 *
 * Source: the log-linear layout of HdrHistogram (Gil Tene), cut into one block a power of two.
 */
#ifndef CREST_HISTOGRAM_H
#define CREST_HISTOGRAM_H

#include <crest/metric.h>

typedef struct crest_histogram {
    crest_handle handle;
} crest_histogram;

#define CREST_HISTOGRAM_INIT_(declaration)                                                         \
    {                                                                                              \
        CREST_HANDLE_INIT_(declaration)                                                            \
    }

/* CREST_HISTOGRAM(variable, name, description[, .unit = …, .buckets = …]): as CREST_COUNTER. */
#define CREST_HISTOGRAM(variable, name, ...)                                                       \
    CREST_DECLARE_(static, crest_histogram, CREST_KIND_HISTOGRAM, CREST_HISTOGRAM_INIT_, variable, \
                   name, __VA_ARGS__, )
#define CREST_HISTOGRAM_DECLARE(variable) extern crest_histogram variable
#define CREST_HISTOGRAM_DEFINE(variable, name, ...)                                                \
    CREST_DECLARE_(, crest_histogram, CREST_KIND_HISTOGRAM, CREST_HISTOGRAM_INIT_, variable, name, \
                   __VA_ARGS__, )

CREST_BEGIN_C

/* The cold path of recording: first touch, new block, out of range, negative, too many at once. */
CREST_API void crest_histogram_record_slow(crest_histogram *histogram, int64_t value,
                                           uint64_t times) CREST_NOTHROW_;

/* Records of more than this many at once, or of several of a value with more bits than this, take
 * the cold path. It keeps the product and the sum from overflowing. */
#define CREST_RECORD_TIMES_INLINE_MAX (UINT64_C(1) << 20)
#define CREST_RECORD_BITS_INLINE_MAX 43u

#ifndef CREST_DISABLE
/*
 * Records `value`, in the histogram's unit, `times` times (0 does nothing). It is a whole number: C
 * truncates 0.5 to 0 without a word, so choose a fine unit, and keep a ratio in a gauge. A value
 * above the range counts as the range's highest and is counted in
 * crest_misuse_total{cause="clamped"}; a negative one is not applied and is counted as misuse.
 * Any thread, any handler, the first touch included. Never locks, blocks, allocates or fails once
 * the thread has recorded five values, one of this power of two among them: the first four are kept
 * as they are and take a call each. Cost: inline, about thirty instructions.
 */
CREST_INLINE void crest_histogram_record_n(crest_histogram *histogram, int64_t value,
                                           uint64_t times)
{
    uint64_t *cell = crest_cell_of(&histogram->handle);
    /* times 0 takes the cold path too, which leaves the extremes alone */
    if (CREST_LIKELY(cell != NULL && times - 1 < CREST_RECORD_TIMES_INLINE_MAX &&
                     (times == 1 || (uint64_t)value >> CREST_RECORD_BITS_INLINE_MAX == 0))) {
        uintptr_t word = __atomic_load_n(cell, __ATOMIC_RELAXED);
        crest_shard *shard = (crest_shard *)word;
        if (CREST_LIKELY(shard != NULL && crest_shard_record(shard, (uint64_t)value, times)))
            return;
    }
    crest_histogram_record_slow(histogram, value, times);
}

/* Records `value` once. As crest_histogram_record_n. */
CREST_INLINE void crest_histogram_record(crest_histogram *histogram, int64_t value)
{
    crest_histogram_record_n(histogram, value, 1);
}
#endif

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/histogram_off.h>
#endif

#endif
