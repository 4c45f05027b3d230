/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freed registries and their metrics, for the next ones that are the same. See remembered.h.
 */
#include "registry/remembered.h"
#include "base/atomic.h"
#include "base/hash.h"
#include "registry/lifecycle.h"
#include "names/lookalike_names.h"

#include <string.h>

/* Freed registries, the one freed last first. Guarded by the lock. */
static crest_registry_state *remembered_registries;

int crest_metric_has_shape(const crest_metric *metric, const crest_metric_wish *wish)
{
    if (metric->kind != wish->kind || metric->open != wish->open ||
        (!wish->open && metric->label_count != wish->key_count) ||
        metric->stage_count != wish->stage_count)
        return 0;
    for (unsigned i = 0; i < wish->stage_count; i++)
        if (strcmp(metric->stages[i], wish->stages[i]) != 0)
            return 0;
    for (unsigned i = 0; i < wish->key_count; i++)
        if (strcmp(metric->label_keys[i], wish->keys[i]) != 0)
            return 0;
    return 1;
}

static int remembered_same_layout(const crest_layout *layout, const crest_layout *wished)
{
    if (layout == NULL)
        return wished->blocks == 0;
    return layout->bits == wished->bits && layout->unit == wished->unit &&
           layout->blocks == wished->blocks && layout->highest == wished->highest;
}

static int remembered_same_buckets(const crest_buckets *buckets, const crest_buckets *wished)
{
    size_t count = wished != NULL ? wished->count : 0;
    return buckets->count == count &&
           (count == 0 || memcmp(buckets->bounds, wished->bounds, count * sizeof(double)) == 0);
}

static int remembered_same_quantiles(const double *quantiles, const double *wished)
{
    if (quantiles == NULL || wished == NULL)
        return quantiles == wished;
    return memcmp(quantiles, wished, (CREST_QUANTILES_MAX + 1) * sizeof(double)) == 0;
}

/* An open family's keys came one by one, and may come in another order. */
static int remembered_is(const crest_metric *metric, const crest_metric_wish *wish)
{
    uint32_t idle_s = wish->idle_s != 0 ? wish->idle_s : metric->state->idle_s;
    return strcmp(metric->name, wish->name) == 0 && crest_metric_has_shape(metric, wish) &&
           !metric->open && metric->unit == wish->unit && metric->parent == wish->parent &&
           metric->deadline_ns == wish->deadline_ns && metric->idle_s == idle_s &&
           metric->no_windows == (uint32_t)wish->no_windows &&
           strcmp(metric->description, wish->description) == 0 &&
           remembered_same_layout(metric->layout, &wish->layout) &&
           remembered_same_buckets(&metric->buckets, wish->buckets) &&
           remembered_same_quantiles(metric->quantiles, wish->quantiles);
}

void crest_metric_remember(crest_metric *metric)
{
    crest_atomic_store32(&metric->rests, 1);
    metric->remembered = metric->state->remembered;
    metric->state->remembered = metric;
}

crest_metric *crest_metric_remembered(crest_registry_state *state, const crest_metric_wish *wish)
{
    crest_metric **link = &state->remembered;
    uint64_t hash = *link != NULL ? crest_hash_text(crest_hash_seed(), wish->name) : 0;
    while (*link != NULL && ((*link)->hash != hash || !remembered_is(*link, wish)))
        link = &(*link)->remembered;
    crest_metric *metric = *link;
    /* without labels there is one child, which may not have gone for want of memory */
    if (metric == NULL || (metric->label_count == 0 && !crest_lives_all_gone(metric->children)))
        return NULL;
    *link = metric->remembered;
    metric->remembered = NULL;
    crest_atomic_store32(&metric->rests, 0);
    return metric;
}

void crest_registry_remember(crest_registry_state *state)
{
    for (crest_metric *metric = state->metrics; metric != NULL; metric = metric->next)
        crest_atomic_store32(&metric->rests, 1);
    state->next = remembered_registries;
    remembered_registries = state;
}

/* Nothing has the metrics' names any more. The newest metric comes first in the registry's list, so
 * that here it comes last: what asks for all of them again in the same order finds each at once. */
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
    crest_atomic_store_ptr_release(CREST_PTR(&state->metrics), NULL); /* as in registry.c */
    state->metric_count = 0;
}

/* Labels that were refused or changed when they were kept are not the same, which costs memory and
 * nothing else. */
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
