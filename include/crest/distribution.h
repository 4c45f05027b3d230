/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions: what a histogram or timer had recorded at one moment, merged over all threads. A
 * snapshot's series has one to read; copies, sums and differences are one's own.
 *
 *     crest_distribution *grown = crest_distribution_copy(now.distribution);
 *     if (crest_distribution_subtract(grown, before.distribution) == CREST_OK)
 *         report(crest_distribution_quantile(grown, 0.99));
 *     crest_distribution_free(grown);
 *
 * The values are known to the buckets of the metric's range: all that is said of single values is
 * within its precision, or within its `lowest` where that is more. Count, sum, minimum and maximum
 * are exact, but for what a call says otherwise. Of CREST_RANGE_NONE there is one bucket.
 *
 * Nothing here locks. Reading one distribution from several threads at once is safe, changing it
 * is not; none of it is for signal handlers. Where a call takes a constant distribution, NULL,
 * which a view without one has, reads as one without records.
 */
#ifndef CREST_DISTRIBUTION_H
#define CREST_DISTRIBUTION_H

#include <crest/metric.h>

typedef struct crest_distribution crest_distribution;

/* One bucket of a distribution: `count` values from lowest to highest, both included. */
typedef struct crest_bucket {
    uint64_t lowest, highest, count;
} crest_bucket;

/* Where a walk in steps is; zeroed, it is before the first step. */
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

/* In the metric's unit. Minimum and maximum are 0 while nothing was recorded. A count or a sum past
 * 2^64 - 1 reads as that; it takes records of enormous values, or of enormous numbers at once. With
 * CREST_RANGE_NONE a sum that large cannot be told from a small one. Cost: a load. */
CREST_API uint64_t crest_distribution_count(const crest_distribution *distribution);
CREST_API uint64_t crest_distribution_sum(const crest_distribution *distribution);
CREST_API uint64_t crest_distribution_min(const crest_distribution *distribution);
CREST_API uint64_t crest_distribution_max(const crest_distribution *distribution);

/* The value below or at which the fraction q (0 to 1) of the records lies: the middle of its
 * bucket, but never outside min..max; 0 while nothing was recorded. With CREST_RANGE_NONE it is the
 * maximum for all q but 0: no less is known. Cost: a walk over the buckets. */
CREST_API uint64_t crest_distribution_quantile(const crest_distribution *distribution, double q);

/* ---- walking ---- */

/* Walks the buckets that hold records, upwards: *cursor starts at 0. Returns 0 at the end. */
CREST_API int crest_distribution_next(const crest_distribution *distribution, size_t *cursor,
                                      crest_bucket *bucket);

/*
 * The same in steps of one's own, up to the one with the last record; steps without records come
 * too. A bucket counts in the step that its lowest value lies in. The cursor starts zeroed, and the
 * other arguments must stay the same during a walk. Returns 0 at the end, and at once for arguments
 * that make no steps.
 *
 * _linear: 0 to width - 1, width to 2 * width - 1, and so on.
 * _logarithmic: 0 to first - 1, then each step `factor` (above 1) times as far as the one before.
 * _percentile: ticks of the fraction of records instead of values, `ticks` of them to each half of
 *     what is left: with 5 they are 0, 10, ... 50 %, 55, ... 75 %, 77.5 %, and so on until the
 *     last bucket, which is 1. `quantile` is the tick, `highest` the value below or at which so
 *     many lie, as crest_distribution_quantile says it, `lowest` that of the tick before.
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

/* ---- one's own ---- */

/* An empty one of this range (NULL: CREST_RANGE_DEFAULT); NULL for a range that is none, or without
 * memory. Owned by the caller, as what _copy returns. Allocates. */
CREST_API crest_distribution *crest_distribution_new(const crest_range *range);

/* A copy; NULL without memory, and of NULL. Cost: 600 bytes and the blocks in use. */
CREST_API crest_distribution *crest_distribution_copy(const crest_distribution *distribution);

/* Frees one of one's own; NULL does nothing. Those of a snapshot are freed with it. */
CREST_API void crest_distribution_free(crest_distribution *distribution);

/* Records `value` `times` times, as crest_histogram_record_n, into one of one's own: a value above
 * the range counts as its highest and is counted in crest_misuse_total{cause="clamped"}.
 * CREST_NEGATIVE, CREST_LIMIT (value * times is past 2^64 - 1, or so many do not fit) and
 * CREST_NO_MEMORY: nothing was recorded. CREST_INVALID_ARGUMENT: there is no distribution. */
CREST_API crest_status crest_distribution_record(crest_distribution *distribution, int64_t value,
                                                 uint64_t times);

/*
 * Adds all records of `from` to `to`: counts, sum and extremes are those of both together.
 * CREST_INVALID_ARGUMENT when the buckets of `from` do not all lie within buckets of `to`, which
 * they do if both have one range, and if that of `to` reaches as far and is nowhere finer;
 * CREST_NO_MEMORY. *to is then unchanged. `from` may be NULL, or `to` itself.
 */
CREST_API crest_status crest_distribution_add(crest_distribution *to,
                                              const crest_distribution *from);

/*
 * Takes an earlier reading of the same series out of a later one, which leaves what was recorded in
 * between. Count, sum and buckets are exact; a sum may hold a record whose count a reading made
 * while it was recorded had before. The extremes are known to their buckets; but a maximum above
 * that of the earlier reading is exact, a minimum below that of the earlier one too, and none is
 * outside of those of the later one. With CREST_RANGE_NONE they are those of the later one.
 * CREST_INVALID_ARGUMENT, with *later unchanged, when `earlier` has another range, or records that
 * *later lacks. `earlier` may be NULL.
 */
CREST_API crest_status crest_distribution_subtract(crest_distribution *later,
                                                   const crest_distribution *earlier);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/distribution_off.h>
#endif

#endif
