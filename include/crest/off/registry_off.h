/* SPDX-License-Identifier: Apache-2.0 */
/* What registry.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_REGISTRY_OFF_H
#define CREST_REGISTRY_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_registry *crest_default_registry(void)
{
    return CREST_NOTHING_(crest_registry);
}

CREST_API crest_registry *crest_registry_new(const crest_registry_options *options)
{
    (void)options;
    return CREST_NOTHING_(crest_registry);
}

CREST_API void crest_registry_strict(crest_registry *registry, int strict)
{
    (void)registry, (void)strict;
}

CREST_API void crest_registry_free(crest_registry *registry)
{
    (void)registry;
}

CREST_API crest_counter *crest_counter_get(crest_registry *registry,
        const crest_metric_options *options, crest_status *status)
{
    (void)registry, (void)options;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_counter);
}

CREST_API crest_gauge *crest_gauge_get(crest_registry *registry,
        const crest_metric_options *options, crest_status *status)
{
    (void)registry, (void)options;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_gauge);
}

CREST_API crest_histogram *crest_histogram_get(crest_registry *registry,
        const crest_metric_options *options, crest_status *status)
{
    (void)registry, (void)options;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_histogram);
}

CREST_API crest_range_sampler *crest_range_sampler_get(crest_registry *registry,
        const crest_metric_options *options, crest_status *status)
{
    (void)registry, (void)options;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_range_sampler);
}

CREST_API crest_timer *crest_timer_get(crest_registry *registry,
        const crest_metric_options *options, crest_status *status)
{
    (void)registry, (void)options;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_timer);
}

CREST_API crest_stages *crest_stages_get(crest_registry *registry,
        const crest_metric_options *options, crest_status *status)
{
    (void)registry, (void)options;
    if (status != NULL)
        *status = CREST_OK;
    return CREST_NOTHING_(crest_stages);
}

CREST_END_C

#endif
