/* SPDX-License-Identifier: Apache-2.0 */
/* What lifetime.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_LIFETIME_OFF_H
#define CREST_LIFETIME_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_status crest_counter_release(crest_counter *counter)
{
    (void)counter;
    return CREST_OK;
}

CREST_API crest_status crest_gauge_release(crest_gauge *gauge)
{
    (void)gauge;
    return CREST_OK;
}

CREST_API crest_status crest_histogram_release(crest_histogram *histogram)
{
    (void)histogram;
    return CREST_OK;
}

CREST_API crest_status crest_timer_release(crest_timer *timer)
{
    (void)timer;
    return CREST_OK;
}

CREST_API crest_status crest_range_sampler_release(crest_range_sampler *sampler)
{
    (void)sampler;
    return CREST_OK;
}

CREST_API crest_status crest_stages_release(crest_stages *stages)
{
    (void)stages;
    return CREST_OK;
}

CREST_API size_t crest_retire(crest_registry *registry, const char *key, const char *value)
{
    (void)registry, (void)key, (void)value;
    return 0;
}

CREST_END_C

#endif
