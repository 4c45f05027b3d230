/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions: what a histogram or timer had recorded at one moment, merged over all threads. A
 * snapshot's series has one to read; the program owns its copies, sums and differences.
 *
 *     crest_distribution *grown = crest_distribution_copy(now.distribution);
 *     if (crest_distribution_subtract(grown, before.distribution) == CREST_OK)
 *         report(crest_distribution_quantile(grown, 0.99));
 *     crest_distribution_free(grown);
 *
 * The values are known to the buckets of the metric's range: any single value is known to within
 * the range's precision, or to within `lowest` where that is more. Count, sum, minimum and maximum
 * are exact, unless a call says otherwise. CREST_RANGE_NONE has one bucket.
 *
 * Nothing here locks. Several threads may read one distribution at once; none may read it while
 * another changes it. None of it is for signal handlers. A constant distribution may be NULL, as in
 * a view that has none: it reads as one without records.
 */
#ifndef CREST_DISTRIBUTION_H
#define CREST_DISTRIBUTION_H

#include <crest/metric.h>

typedef struct crest_distribution crest_distribution;

/* One bucket of a distribution: `count` values from lowest to highest, both included. */
typedef struct crest_bucket {
    uint64_t lowest, highest, count;
} crest_bucket;

/* Where a walk in steps stands; zeroed: before the first step. */
typedef struct crest_distribution_cursor {
    uint64_t lowest, highest; /* the values of this step, both included */
    uint64_t count;           /* records in it */
    uint64_t count_to;        /* records in it and in all steps before it */
    double quantile;          /* the fraction of all records that this is; percentiles: the tick */
    size_t bucket_;           /* the library's from here on */
    crest_bucket next_;
    uint64_t seen_;
    double level_;
    unsigned state_;
} crest_distribution_cursor;

CREST_BEGIN_C

/* ---- reading ---- */

/* In the metric's unit. Minimum and maximum are 0 while nothing was recorded. A count or sum past
 * 2^64 - 1 reads as 2^64 - 1; only enormous values, or enormous numbers of them at once, get there.
 * With CREST_RANGE_NONE such a sum cannot be told from a small one. Cost: a load. */
CREST_API uint64_t crest_distribution_count(const crest_distribution *distribution);
CREST_API uint64_t crest_distribution_sum(const crest_distribution *distribution);
CREST_API uint64_t crest_distribution_min(const crest_distribution *distribution);
CREST_API uint64_t crest_distribution_max(const crest_distribution *distribution);

/* The value at or below which the fraction q (0 to 1) of the records lies: the middle of its
 * bucket, but never outside min..max; 0 while nothing was recorded. With CREST_RANGE_NONE it is the
 * maximum for all q but 0, as no more is known. Cost: a walk over the buckets. */
CREST_API uint64_t crest_distribution_quantile(const crest_distribution *distribution, double q);

/* ---- walking ---- */

/* Walks the buckets that hold records, upwards: *cursor starts at 0. Returns 0 at the end. */
CREST_API int crest_distribution_next(const crest_distribution *distribution, size_t *cursor,
                                      crest_bucket *bucket);

/*
 * Walks in steps of the caller's choice, up to the step with the last record; steps without records
 * come too. A bucket counts in the step that its lowest value lies in. The cursor starts zeroed,
 * and the other arguments must stay the same during a walk. Returns 0 at the end, and at once for
 * arguments that make no steps.
 *
 * _linear: 0 to width - 1, width to 2 * width - 1, and so on.
 * _logarithmic: 0 to first - 1, then each step `factor` (above 1) times as far as the previous one.
 * _percentile: ticks of the fraction of records instead of values, `ticks` of them to each half of
 *     what is left: with 5 they are 0, 10, ... 50 %, 55, ... 75 %, 77.5 %, and so on until the
 *     last bucket, which is 1. `quantile` is the tick, `highest` the value below or at which so
 *     many lie (as crest_distribution_quantile), `lowest` that of the previous tick.
 *
 * Source: the iterators of HdrHistogram.
 */
CREST_API int crest_distribution_next_linear(const crest_distribution *distribution, uint64_t width,
                                             crest_distribution_cursor *cursor);
CREST_API int crest_distribution_next_logarithmic(const crest_distribution *distribution,
                                                  uint64_t first, double factor,
                                                  crest_distribution_cursor *cursor);
CREST_API int crest_distribution_next_percentile(const crest_distribution *distribution,
                                                 unsigned ticks, crest_distribution_cursor *cursor);

/* ---- the caller's own ---- */

/* An empty distribution of this range (NULL: CREST_RANGE_DEFAULT); NULL for an invalid range, or
 * without memory. Owned by the caller, as is a copy. Allocates. */
CREST_API crest_distribution *crest_distribution_new(const crest_range *range);

/* A copy; NULL without memory, and of NULL. Cost: 600 bytes and the blocks in use. */
CREST_API crest_distribution *crest_distribution_copy(const crest_distribution *distribution);

/* Frees a distribution of the caller's; NULL does nothing. A snapshot frees its own. */
CREST_API void crest_distribution_free(crest_distribution *distribution);

/* Records `value` `times` times, as crest_histogram_record_n, into a distribution of the caller's.
 * A value above the range counts as its highest and is counted in
 * crest_misuse_total{cause="clamped"}. Nothing was recorded after CREST_NEGATIVE, CREST_LIMIT
 * (value * times is past 2^64 - 1, or the count would be) and CREST_NO_MEMORY.
 * CREST_INVALID_ARGUMENT: there is no distribution. */
CREST_API crest_status crest_distribution_record(crest_distribution *distribution, int64_t value,
                                                 uint64_t times);

/*
 * Adds all records of `from` to `to`: counts, sum and extremes are those of both together.
 * CREST_INVALID_ARGUMENT unless each bucket of `from` lies within a bucket of `to`. That holds if
 * both have one range, and if the range of `to` reaches as far and is nowhere finer.
 * CREST_NO_MEMORY. After an error *to is unchanged. `from` may be NULL, or `to` itself.
 */
CREST_API crest_status crest_distribution_add(crest_distribution *to,
                                              const crest_distribution *from);

/*
 * Subtracts an earlier reading of the same series from a later one, which leaves what was recorded
 * in between. Count, sum and buckets are exact, with one exception: a record made during the
 * earlier reading may be in its count but not in its sum. The difference then has that record in
 * its sum only. The extremes are known to their buckets. They are exact when they lie outside the
 * earlier reading's: a maximum above, or a minimum below. Neither lies outside the later reading's.
 * With CREST_RANGE_NONE they are the later reading's. CREST_INVALID_ARGUMENT, with *later
 * unchanged, when `earlier` has another range, or records that *later lacks. `earlier` may be NULL.
 */
CREST_API crest_status crest_distribution_subtract(crest_distribution *later,
                                                   const crest_distribution *earlier);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/distribution_off.h>
#endif

#endif
