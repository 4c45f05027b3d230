/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families: a metric with label keys, and resolving label values to a handle. See <crest/family.h>.
 */
#include "base/atomic.h"
#include "base/misuse.h"
#include "instruments/child_get.h"
#include "instruments/metric_get.h"
#include "metrics/handles.h"

/* The family's metric. NULL and *status, counted, on failure; a later call tries again. */
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
    metric = crest_metric_get_declared(declaration, status);
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

/* The handle of these values, or a dead one, whose cause is counted. */
static crest_own_handle *family_handle(crest_family *family, crest_kind kind,
                                       const char *const *values, unsigned count)
{
    crest_status status;
    crest_metric *metric = family_metric(family, kind, &status);
    if (metric == NULL)
        return crest_handle_dead_of(kind, status);
    if (crest_atomic_load32(&metric->left_over)) { /* its registry was freed */
        crest_misuse_count(CREST_MISUSE_LATE, metric->name);
        return crest_handle_dead_of(kind, CREST_NOT_FOUND);
    }
    if (values == NULL || count != metric->label_count || !crest_metric_is(metric, kind)) {
        crest_misuse_count(CREST_MISUSE_LABEL, metric->name);
        return crest_handle_dead_of(kind, CREST_INVALID_LABEL);
    }
    crest_child *child = crest_child_get(metric, values, &status);
    return child ? child->own : crest_handle_dead_of(kind, status);
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

/* crest_counter_family_new, crest_counter_family_get, and their relatives. */
#define FAMILIES_NEW_AND_GET(type, kind)                                                           \
    crest_##type##_family crest_##type##_family_new(                                               \
        crest_registry *registry, const crest_metric_options *options, const char *const *keys,    \
        unsigned count, crest_status *status)                                                      \
    {                                                                                              \
        crest_##type##_family family = {family_new(registry, kind, options, keys, count, status)}; \
        return family;                                                                             \
    }                                                                                              \
                                                                                                   \
    crest_##type *crest_##type##_family_get(crest_##type##_family *family,                         \
                                            const char *const *values, unsigned count)             \
    {                                                                                              \
        return &family_handle(&family->family, kind, values, count)->type;                         \
    }
CREST_INSTRUMENT_TABLE(FAMILIES_NEW_AND_GET)
