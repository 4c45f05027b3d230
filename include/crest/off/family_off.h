/* SPDX-License-Identifier: Apache-2.0 */
/* What family.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_FAMILY_OFF_H
#define CREST_FAMILY_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_status crest_family_register(crest_family *family)
{
    (void)family;
    return CREST_OK;
}

CREST_API crest_counter_family crest_counter_family_new(crest_registry *registry,
        const crest_metric_options *options, const char *const *keys, unsigned count,
        crest_status *status)
{
    crest_counter_family nothing;
    (void)registry, (void)options, (void)keys, (void)count;
    if (status != NULL)
        *status = CREST_OK;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_gauge_family crest_gauge_family_new(crest_registry *registry,
        const crest_metric_options *options, const char *const *keys, unsigned count,
        crest_status *status)
{
    crest_gauge_family nothing;
    (void)registry, (void)options, (void)keys, (void)count;
    if (status != NULL)
        *status = CREST_OK;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_histogram_family crest_histogram_family_new(crest_registry *registry,
        const crest_metric_options *options, const char *const *keys, unsigned count,
        crest_status *status)
{
    crest_histogram_family nothing;
    (void)registry, (void)options, (void)keys, (void)count;
    if (status != NULL)
        *status = CREST_OK;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_timer_family crest_timer_family_new(crest_registry *registry,
        const crest_metric_options *options, const char *const *keys, unsigned count,
        crest_status *status)
{
    crest_timer_family nothing;
    (void)registry, (void)options, (void)keys, (void)count;
    if (status != NULL)
        *status = CREST_OK;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_range_sampler_family crest_range_sampler_family_new(crest_registry *registry,
        const crest_metric_options *options, const char *const *keys, unsigned count,
        crest_status *status)
{
    crest_range_sampler_family nothing;
    (void)registry, (void)options, (void)keys, (void)count;
    if (status != NULL)
        *status = CREST_OK;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_stages_family crest_stages_family_new(crest_registry *registry,
        const crest_metric_options *options, const char *const *keys, unsigned count,
        crest_status *status)
{
    crest_stages_family nothing;
    (void)registry, (void)options, (void)keys, (void)count;
    if (status != NULL)
        *status = CREST_OK;
    __builtin_memset((void *)&nothing, 0, sizeof nothing);
    return nothing;
}

CREST_API crest_counter *crest_counter_family_get(crest_counter_family *family,
        const char *const *values, unsigned count)
{
    (void)family, (void)values, (void)count;
    return CREST_NOTHING_(crest_counter);
}

CREST_API crest_gauge *crest_gauge_family_get(crest_gauge_family *family,
        const char *const *values, unsigned count)
{
    (void)family, (void)values, (void)count;
    return CREST_NOTHING_(crest_gauge);
}

CREST_API crest_histogram *crest_histogram_family_get(crest_histogram_family *family,
        const char *const *values, unsigned count)
{
    (void)family, (void)values, (void)count;
    return CREST_NOTHING_(crest_histogram);
}

CREST_API crest_timer *crest_timer_family_get(crest_timer_family *family,
        const char *const *values, unsigned count)
{
    (void)family, (void)values, (void)count;
    return CREST_NOTHING_(crest_timer);
}

CREST_API crest_range_sampler *crest_range_sampler_family_get(crest_range_sampler_family *family,
        const char *const *values, unsigned count)
{
    (void)family, (void)values, (void)count;
    return CREST_NOTHING_(crest_range_sampler);
}

CREST_API crest_stages *crest_stages_family_get(crest_stages_family *family,
        const char *const *values, unsigned count)
{
    (void)family, (void)values, (void)count;
    return CREST_NOTHING_(crest_stages);
}

CREST_API crest_counter *crest_counter_labelled(crest_registry *registry,
        const crest_metric_options *options, const crest_label *labels, unsigned count,
        crest_status *status)
{
    (void)registry, (void)options, (void)labels, (void)count;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_counter);
}

CREST_API crest_gauge *crest_gauge_labelled(crest_registry *registry,
        const crest_metric_options *options, const crest_label *labels, unsigned count,
        crest_status *status)
{
    (void)registry, (void)options, (void)labels, (void)count;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_gauge);
}

CREST_API crest_histogram *crest_histogram_labelled(crest_registry *registry,
        const crest_metric_options *options, const crest_label *labels, unsigned count,
        crest_status *status)
{
    (void)registry, (void)options, (void)labels, (void)count;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_histogram);
}

CREST_API crest_range_sampler *crest_range_sampler_labelled(crest_registry *registry,
        const crest_metric_options *options, const crest_label *labels, unsigned count,
        crest_status *status)
{
    (void)registry, (void)options, (void)labels, (void)count;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_range_sampler);
}

CREST_END_C

#endif
