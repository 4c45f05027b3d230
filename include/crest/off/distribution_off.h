/* SPDX-License-Identifier: Apache-2.0 */
/* What distribution.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_DISTRIBUTION_OFF_H
#define CREST_DISTRIBUTION_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API uint64_t crest_distribution_count(const crest_distribution *distribution)
{
    (void)distribution;
    return 0;
}

CREST_API uint64_t crest_distribution_sum(const crest_distribution *distribution)
{
    (void)distribution;
    return 0;
}

CREST_API uint64_t crest_distribution_min(const crest_distribution *distribution)
{
    (void)distribution;
    return 0;
}

CREST_API uint64_t crest_distribution_max(const crest_distribution *distribution)
{
    (void)distribution;
    return 0;
}

CREST_API uint64_t crest_distribution_quantile(const crest_distribution *distribution, double q)
{
    (void)distribution, (void)q;
    return 0;
}

CREST_API int crest_distribution_next(const crest_distribution *distribution, size_t *cursor,
        crest_bucket *bucket)
{
    (void)distribution, (void)cursor, (void)bucket;
    return 0;
}

CREST_API int crest_distribution_next_linear(const crest_distribution *distribution,
        uint64_t width, crest_distribution_cursor *cursor)
{
    (void)distribution, (void)width, (void)cursor;
    return 0;
}

CREST_API int crest_distribution_next_logarithmic(const crest_distribution *distribution,
        uint64_t first, double factor, crest_distribution_cursor *cursor)
{
    (void)distribution, (void)first, (void)factor, (void)cursor;
    return 0;
}

CREST_API int crest_distribution_next_percentile(const crest_distribution *distribution,
        unsigned ticks, crest_distribution_cursor *cursor)
{
    (void)distribution, (void)ticks, (void)cursor;
    return 0;
}

CREST_API crest_distribution *crest_distribution_new(const crest_range *range)
{
    (void)range;
    return CREST_NOTHING_(crest_distribution);
}

CREST_API crest_distribution *crest_distribution_copy(const crest_distribution *distribution)
{
    (void)distribution;
    return CREST_NOTHING_(crest_distribution);
}

CREST_API void crest_distribution_free(crest_distribution *distribution)
{
    (void)distribution;
}

CREST_API crest_status crest_distribution_record(crest_distribution *distribution, int64_t value,
        uint64_t times)
{
    (void)distribution, (void)value, (void)times;
    return CREST_OK;
}

CREST_API crest_status crest_distribution_add(crest_distribution *to,
        const crest_distribution *from)
{
    (void)to, (void)from;
    return CREST_OK;
}

CREST_API crest_status crest_distribution_subtract(crest_distribution *later,
        const crest_distribution *earlier)
{
    (void)later, (void)earlier;
    return CREST_OK;
}

CREST_END_C

#endif
