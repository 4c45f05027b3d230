/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families: a metric with label keys, and the resolving of label values to a handle. See
 * <crest/family.h>.
 */
#include "atomic.h"
#include "handles.h"
#include "misuse.h"
#include "series.h"

/* The family's metric; NULL and *status, counted, when it has none, which a later call tries again.
 */
static crest_metric *family_metric(crest_family *family, crest_kind kind, crest_status *status)
{
    if (family->abi != CREST_ABI) {
        crest_misuse_count(CREST_MISUSE_ABI, NULL);
        *status = CREST_ABI_MISMATCH;
        return NULL;
    }
    *status = CREST_OK;
    /* acquire: partner of the release store below */
    crest_metric *metric = crest_atomic_load_ptr_acquire(CREST_PTR(&family->metric));
    if (metric != NULL)
        return metric;
    const crest_declaration *declaration = family->declaration;
    if (declaration == NULL || declaration->kind != kind || declaration->label_count == 0) {
        crest_misuse_count(CREST_MISUSE_LABEL, NULL);
        *status = CREST_INVALID_ARGUMENT;
        return NULL;
    }
    metric = crest_metric_get(declaration->registry, kind, &declaration->options,
                              declaration->label_keys, declaration->label_count, status);
    crest_atomic_store_ptr_release(CREST_PTR(&family->metric), metric);
    return metric;
}

crest_status crest_family_register(crest_family *family)
{
    crest_status status = CREST_INVALID_ARGUMENT;
    if (family != NULL && family->declaration != NULL)
        family_metric(family, family->declaration->kind, &status);
    return status;
}

/* The child of these values; NULL and *status, already counted, when there is none. */
static crest_child *family_child(crest_family *family, crest_kind kind, const char *const *values,
                                 unsigned count, crest_status *status)
{
    crest_metric *metric = family_metric(family, kind, status);
    if (metric == NULL)
        return NULL;
    if (crest_atomic_load32(&metric->state->dead)) {
        *status = CREST_NOT_FOUND;
        crest_misuse_count(CREST_MISUSE_LATE, metric->name);
        return NULL;
    }
    if (values == NULL || count != metric->label_count || metric->kind != kind) {
        *status = CREST_INVALID_LABEL;
        crest_misuse_count(CREST_MISUSE_LABEL, metric->name);
        return NULL;
    }
    return crest_child_get(metric, values, status);
}

static crest_family family_new(crest_registry *registry, crest_kind kind,
                               const crest_metric_options *options, const char *const *keys,
                               unsigned count, crest_status *status)
{
    crest_family family = {NULL, CREST_ABI, 0, NULL};
    crest_status why = CREST_INVALID_LABEL;
    if (keys != NULL && count != 0)
        family.metric = crest_metric_get(registry, kind, options, keys, count, &why);
    else
        crest_misuse_count(CREST_MISUSE_LABEL, options ? options->name : NULL);
    if (status != NULL)
        *status = why;
    return family;
}

crest_counter_family crest_counter_family_new(crest_registry *registry,
                                              const crest_metric_options *options,
                                              const char *const *keys, unsigned count,
                                              crest_status *status)
{
    crest_counter_family family = {
        family_new(registry, CREST_KIND_COUNTER, options, keys, count, status)};
    return family;
}

crest_counter *crest_counter_family_get(crest_counter_family *family, const char *const *values,
                                        unsigned count)
{
    crest_status why;
    crest_child *child = family_child(&family->family, CREST_KIND_COUNTER, values, count, &why);
    return child ? &child->handle.counter : crest_counter_dead(why);
}

crest_gauge_family crest_gauge_family_new(crest_registry *registry,
                                          const crest_metric_options *options,
                                          const char *const *keys, unsigned count,
                                          crest_status *status)
{
    crest_gauge_family family = {
        family_new(registry, CREST_KIND_GAUGE, options, keys, count, status)};
    return family;
}

crest_gauge *crest_gauge_family_get(crest_gauge_family *family, const char *const *values,
                                    unsigned count)
{
    crest_status why;
    crest_child *child = family_child(&family->family, CREST_KIND_GAUGE, values, count, &why);
    return child ? &child->handle.gauge : crest_gauge_dead(why);
}

crest_histogram_family crest_histogram_family_new(crest_registry *registry,
                                                  const crest_metric_options *options,
                                                  const char *const *keys, unsigned count,
                                                  crest_status *status)
{
    crest_histogram_family family = {
        family_new(registry, CREST_KIND_HISTOGRAM, options, keys, count, status)};
    return family;
}

crest_histogram *crest_histogram_family_get(crest_histogram_family *family,
                                            const char *const *values, unsigned count)
{
    crest_status why;
    crest_child *child = family_child(&family->family, CREST_KIND_HISTOGRAM, values, count, &why);
    return child ? &child->handle.histogram : crest_histogram_dead(why);
}

crest_timer_family crest_timer_family_new(crest_registry *registry,
                                          const crest_metric_options *options,
                                          const char *const *keys, unsigned count,
                                          crest_status *status)
{
    crest_timer_family family = {
        family_new(registry, CREST_KIND_TIMER, options, keys, count, status)};
    return family;
}

crest_timer *crest_timer_family_get(crest_timer_family *family, const char *const *values,
                                    unsigned count)
{
    crest_status why;
    crest_child *child = family_child(&family->family, CREST_KIND_TIMER, values, count, &why);
    return child ? &child->handle.timer : crest_timer_dead(why);
}
