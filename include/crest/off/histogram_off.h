/* SPDX-License-Identifier: Apache-2.0 */
/* What histogram.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_HISTOGRAM_OFF_H
#define CREST_HISTOGRAM_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API void crest_histogram_record_slow(crest_histogram *histogram, int64_t value,
        uint64_t times)
{
    (void)histogram, (void)value, (void)times;
}

CREST_API void crest_histogram_record_n(crest_histogram *histogram, int64_t value, uint64_t times)
{
    (void)histogram, (void)value, (void)times;
}

CREST_API void crest_histogram_record(crest_histogram *histogram, int64_t value)
{
    (void)histogram, (void)value;
}

CREST_END_C

#endif
