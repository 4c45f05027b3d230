/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freed registries and their metrics, kept for later equal ones. See remembered.h.
 */
#include "registry/remembered.h"
#include "base/atomic.h"
#include "base/hash.h"
#include "metrics/name_claims.h"
#include "names/lookalike_names.h"
#include "registry/series_state.h"

#include <string.h>

/* Freed registries, the latest first. Guarded by the lock. */
static crest_registry_state *remembered_registries;

static int remembered_same_layout(const crest_layout *layout, const crest_layout *asked)
{
    if (layout == NULL)
        return asked->blocks == 0;
    return layout->bits == asked->bits && layout->unit == asked->unit &&
           layout->blocks == asked->blocks && layout->highest == asked->highest;
}

static int remembered_same_buckets(const crest_buckets *buckets, const crest_buckets *asked)
{
    size_t count = asked != NULL ? asked->count : 0;
    return buckets->count == count &&
           (count == 0 || memcmp(buckets->bounds, asked->bounds, count * sizeof(double)) == 0);
}

static int remembered_same_quantiles(const double *quantiles, const double *asked)
{
    if (quantiles == NULL || asked == NULL)
        return quantiles == asked;
    return memcmp(quantiles, asked, (CREST_QUANTILES_MAX + 1) * sizeof(double)) == 0;
}

/* An open family's keys may come in another order. */
static int remembered_is(const crest_metric *metric, const crest_metric_spec *spec)
{
    uint32_t idle_s = spec->idle_s != 0 ? spec->idle_s : metric->state->idle_s;
    return strcmp(metric->name, spec->name) == 0 && crest_metric_has_shape(metric, spec) &&
           !metric->open && metric->unit == spec->unit && metric->parent == spec->parent &&
           metric->deadline_ns == spec->deadline_ns && metric->idle_s == idle_s &&
           metric->no_windows == (uint32_t)spec->no_windows &&
           strcmp(metric->description, spec->description) == 0 &&
           remembered_same_layout(metric->layout, &spec->layout) &&
           remembered_same_buckets(&metric->buckets, spec->buckets) &&
           remembered_same_quantiles(metric->quantiles, spec->quantiles);
}

void crest_metric_remember(crest_metric *metric)
{
    crest_atomic_store32(&metric->left_over, 1);
    metric->remembered = metric->state->remembered;
    metric->state->remembered = metric;
}

crest_metric *crest_metric_remembered(crest_registry_state *state, const crest_metric_spec *spec)
{
    crest_metric **link = &state->remembered;
    uint64_t hash = *link != NULL ? crest_hash_text(crest_hash_seed(), spec->name) : 0;
    while (*link != NULL && ((*link)->hash != hash || !remembered_is(*link, spec)))
        link = &(*link)->remembered;
    crest_metric *metric = *link;
    /* a metric without labels has one child, which stays if there was no memory for its wait */
    if (metric == NULL || (metric->label_count == 0 && !crest_child_is_gone(metric->children)))
        return NULL;
    *link = metric->remembered;
    metric->remembered = NULL;
    crest_atomic_store32(&metric->left_over, 0);
    return metric;
}

void crest_registry_remember(crest_registry_state *state)
{
    for (crest_metric *metric = state->metrics; metric != NULL; metric = metric->next)
        crest_atomic_store32(&metric->left_over, 1);
    state->next = remembered_registries;
    remembered_registries = state;
}

/* Takes the metrics out of the registry, whose names are free then. A registry lists its newest
 * metric first; reversing puts it last. So a program that asks for all of them again in the same
 * order finds each at once. */
static void remembered_clear(crest_registry_state *state)
{
    for (crest_metric *metric = state->metrics; metric != NULL; metric = metric->next) {
        unsigned long close = crest_split_hash(metric->name);
        crest_claims_drop(state, &metric->claims);
        if (ck_hs_get(&state->by_name, metric->hash, metric) == metric)
            ck_hs_remove(&state->by_name, metric->hash, metric);
        if (ck_hs_get(&state->by_split, close, metric) == metric)
            ck_hs_remove(&state->by_split, close, metric);
        crest_metric_remember(metric);
    }
    crest_atomic_store_ptr_release(CREST_PTR(&state->metrics), NULL); /* as in metric_make.c */
    state->metric_count = 0;
}

/* Labels refused or changed when copied do not compare equal. That only costs memory. */
static int remembered_same_options(const crest_registry_state *state,
                                   const crest_registry_options *options)
{
    const char *prefix = options->prefix != NULL ? options->prefix : "";
    if (strcmp(state->prefix != NULL ? state->prefix : "", prefix) != 0)
        return 0;
    unsigned count = 0;
    for (; count < CREST_CONSTANT_LABELS_MAX && options->labels[count].key != NULL; count++)
        if (count >= state->constant_count ||
            strcmp(state->constant_keys[count], options->labels[count].key) != 0 ||
            options->labels[count].value == NULL ||
            strcmp(state->constant_values[count], options->labels[count].value) != 0)
            return 0;
    return count == state->constant_count;
}

crest_registry_state *crest_registry_remembered(const crest_registry_options *options)
{
    crest_registry_state **link = &remembered_registries;
    while (*link != NULL &&
           (crest_atomic_load(&(*link)->waiting) != 0 || !remembered_same_options(*link, options)))
        link = &(*link)->next;
    crest_registry_state *state = *link;
    if (state == NULL)
        return NULL;
    *link = state->next;
    state->next = NULL;
    remembered_clear(state);
    crest_atomic_store(&state->exported_ns, 0);
    crest_atomic_store(&state->delivered_ns, 0);
    crest_atomic_store(&state->linger_ns, 0);
    crest_atomic_store32(&state->dead, 0);
    return state;
}
