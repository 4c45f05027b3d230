/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a metric: copying it into the arena, and publishing it. See metric_make.h.
 */
#include "registry/metric_make.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "metrics/generation.h"
#include "metrics/name_claims.h"
#include "names/lookalike_names.h"
#include "names/names.h"
#include "registry/child_moves.h"
#include "registry/described.h"
#include "registry/remembered.h"
#include "registry/series.h"

#include <string.h>

/*
 * Whether another metric is in the way: CREST_NAME_CLASH if it has one of the exported names,
 * CREST_SPLIT_NAME in strict mode if its name is too close. Checked before anything is taken from
 * the arena: a refused caller may well ask again. On a frame of its own: signal handlers' stacks
 * are small.
 */
__attribute__((noinline)) static crest_status
make_check_others(crest_registry_state *state, const crest_metric_spec *spec, crest_metric **split)
{
    const crest_metric *taken;
    crest_metric wanted = {.name = spec->name,
                           .kind = spec->kind,
                           .unit = spec->unit,
                           .no_windows = (uint32_t)spec->no_windows,
                           .quantiles = spec->quantiles};
    crest_status status = crest_claims_check(state, &wanted, &taken);
    if (status != CREST_OK) {
        crest_split_keep(taken != NULL ? CREST_SPLIT_CLASH : CREST_SPLIT_TAKEN, spec->name,
                         taken != NULL ? taken->name : "");
        return status;
    }
    *split = ck_hs_get(&state->by_split, crest_split_hash(spec->name), &wanted);
    if (*split == NULL || !state->strict)
        return CREST_OK;
    crest_split_keep(CREST_SPLIT_REFUSED, spec->name, (*split)->name);
    return CREST_SPLIT_NAME;
}

/* The description as valid UTF-8; on a frame of its own too. */
__attribute__((noinline)) static const char *make_description(const char *text)
{
    char clean[CREST_DESCRIPTION_BYTES_MAX * CREST_UTF8_REPLACEMENT_BYTES + 1];
    size_t length = crest_utf8_copy(text, clean, sizeof clean, NULL);
    return crest_arena_copy(clean, length);
}

static int make_copy_distribution(crest_metric *metric, const crest_metric_spec *spec)
{
    if (spec->layout.blocks == 0)
        return 1;
    metric->layout = crest_layout_shared(&spec->layout);
    if (metric->layout == NULL || spec->buckets == NULL)
        return metric->layout != NULL;
    size_t bytes = spec->buckets->count * sizeof(double);
    double *bounds = crest_arena_take(CREST_ARENA_META, bytes, _Alignof(double));
    if (bounds == NULL)
        return 0;
    memcpy(bounds, spec->buckets->bounds, bytes);
    metric->buckets = (crest_buckets){bounds, spec->buckets->count};
    return 1;
}

/* Copied whole, the end included. */
static int make_copy_windows(crest_metric *metric, const crest_metric_spec *spec)
{
    metric->no_windows = (uint32_t)spec->no_windows;
    metric->native = spec->native;
    metric->native_factor = spec->native_factor;
    if (spec->quantiles == NULL)
        return 1;
    size_t bytes = (CREST_QUANTILES_MAX + 1) * sizeof(double);
    double *quantiles = crest_arena_take(CREST_ARENA_META, bytes, _Alignof(double));
    if (quantiles != NULL)
        memcpy(quantiles, spec->quantiles, bytes);
    metric->quantiles = quantiles;
    return quantiles != NULL;
}

/* The label keys: the registry's constant ones first, a timer's `outcome` last. An open family gets
 * room for later ones. */
static int make_copy_keys(crest_metric *metric, const crest_metric_spec *spec)
{
    const crest_registry_state *state = metric->state;
    unsigned all =
        spec->open ? CREST_OPEN_LABELS_MAX : spec->key_count + (spec->kind == CREST_KIND_TIMER);
    unsigned before = state->constant_count;
    const char **keys =
        crest_arena_take(CREST_ARENA_META, (before + all + 1) * sizeof *keys, _Alignof(char *));
    if (keys == NULL)
        return 0;
    memcpy(keys, state->constant_keys, before * sizeof *keys);
    keys += before;
    for (unsigned i = 0; i < spec->key_count; i++)
        if ((keys[i] = crest_arena_copy(spec->keys[i], strlen(spec->keys[i]))) == NULL)
            return 0;
    if (spec->kind == CREST_KIND_TIMER)
        keys[spec->key_count] = "outcome";
    metric->label_keys = keys;
    metric->open = spec->open;
    metric->label_count = spec->open ? all : spec->key_count;
    return 1;
}

/* A timer's parts beside its distribution; 0 without memory. */
static int make_copy_timing(crest_metric *metric, const crest_metric_spec *spec)
{
    metric->parent = spec->parent;
    if (spec->kind != CREST_KIND_TIMER)
        return 1;
    metric->deadline_ns = spec->deadline_ns;
    if (spec->stage_count == 0)
        return 1;
    const char **stages =
        crest_arena_take(CREST_ARENA_META, spec->stage_count * sizeof *stages, _Alignof(char *));
    for (unsigned i = 0; stages != NULL && i < spec->stage_count; i++)
        if ((stages[i] = crest_arena_copy(spec->stages[i], strlen(spec->stages[i]))) == NULL)
            return 0;
    metric->stages = stages;
    metric->stage_count = spec->stage_count;
    return stages != NULL;
}

/* Order: first snapshots see the metric, then callers can find it, so a snapshot has all records
 * made before it. The generation grows after each change of the list: an earlier directory may lack
 * the metric. */
static crest_status make_publish(crest_registry_state *state, crest_metric *metric,
                                 const crest_metric *split)
{
    unsigned long close = crest_split_hash(metric->name);
    if (split == NULL && !ck_hs_put(&state->by_split, close, metric))
        return CREST_NO_MEMORY;
    metric->next = state->metrics;
    /* partner: the acquire load in directory.c */
    crest_atomic_store_ptr_release(CREST_PTR(&state->metrics), metric);
    crest_registry_changed(metric);
    CREST_ANNOTATE_RELEASE(metric);
    if (ck_hs_put(&state->by_name, metric->hash, metric)) {
        state->metric_count++;
        if (split != NULL)
            crest_split_keep(CREST_SPLIT_ADDED, metric->name, split->name);
        return CREST_OK;
    }
    crest_atomic_store_ptr_release(CREST_PTR(&state->metrics), metric->next); /* as above */
    crest_registry_changed(metric);
    if (split == NULL)
        ck_hs_remove(&state->by_split, close, metric);
    return CREST_NO_MEMORY;
}

/* Fills in a new metric's fields; CREST_NO_MEMORY without memory. */
static crest_status make_fill(crest_metric *metric, const crest_metric_spec *spec)
{
    char exported[CREST_EXPORTED_BYTES_MAX];
    size_t exported_length = crest_exported_base(spec->name, exported, sizeof exported);
    metric->kind = spec->kind;
    metric->unit = spec->unit;
    metric->idle_s = spec->idle_s != 0 ? spec->idle_s : metric->state->idle_s;
    metric->name = crest_arena_copy(spec->name, strlen(spec->name));
    metric->exported = crest_arena_copy(exported, exported_length);
    metric->description = make_description(spec->description);
    if (spec->place != NULL) /* without memory for it, it is not known */
        metric->place = crest_arena_copy(spec->place, strlen(spec->place));
    if (metric->name == NULL || metric->exported == NULL || metric->description == NULL ||
        !make_copy_distribution(metric, spec) || !make_copy_keys(metric, spec) ||
        !make_copy_timing(metric, spec) || !make_copy_windows(metric, spec))
        return CREST_NO_MEMORY;
    metric->hash = crest_hash_text(crest_hash_seed(), metric->name);
    return CREST_OK;
}

crest_status crest_metric_prepare(crest_registry_state *state, const crest_metric_spec *spec,
                                  crest_metric_draft *draft)
{
    *draft = (crest_metric_draft){.state = state};
    if (state->metric_count >= CREST_METRICS_MAX)
        return CREST_LIMIT;
    crest_status status = make_check_others(state, spec, &draft->split);
    if (status != CREST_OK)
        return status;
    crest_metric *metric = crest_metric_remembered(state, spec);
    draft->again = metric != NULL;
    if (!draft->again) {
        metric = crest_arena_take(CREST_ARENA_META, sizeof *metric, _Alignof(crest_metric));
        if (metric == NULL)
            return CREST_NO_MEMORY;
        metric->state = state;
        status = make_fill(metric, spec);
    }
    if (status == CREST_OK)
        status = crest_claims_take(state, metric);
    if (status != CREST_OK && draft->again)
        crest_metric_remember(metric);
    if (status == CREST_OK && metric->state_id == 0)
        crest_describe_metric(metric);
    draft->metric = metric;
    return status;
}

crest_metric *crest_metric_conclude(const crest_metric_draft *draft, crest_status *status)
{
    crest_metric *metric = draft->metric;
    if (*status == CREST_OK)
        *status = make_publish(draft->state, metric, draft->split);
    if (*status == CREST_OK)
        return metric;
    crest_claims_drop(draft->state, &metric->claims);
    if (!draft->again)
        return NULL;
    if (metric->label_count == 0) /* a timer: an outcome may have come too */
        crest_child_retire(metric->children, CREST_NOT_FOUND, 0);
    crest_metric_remember(metric);
    return NULL;
}

/* A metric without companions, and its only child if it has no labels. */
static crest_metric *make_bare(crest_registry_state *state, const crest_metric_spec *spec,
                               crest_status *status)
{
    crest_metric_draft draft;
    *status = crest_metric_prepare(state, spec, &draft);
    if (*status != CREST_OK)
        return NULL;
    crest_metric *metric = draft.metric;
    if (metric->label_count == 0 && draft.again) {
        crest_child_reborn(metric->children, status);
    } else if (metric->label_count == 0) {
        crest_child *child = crest_child_new(metric, NULL, status);
        if (child != NULL)
            *status = crest_child_publish(metric, child);
    }
    return crest_metric_conclude(&draft, status);
}

crest_metric *crest_metric_with(crest_metric *parent, crest_kind kind,
                                const crest_metric_options *options, const char *const *keys,
                                unsigned key_count, crest_status *status)
{
    crest_registry_state *state = parent->state;
    size_t prefix = state->prefix ? strlen(state->prefix) + 1 : 0;
    char name[CREST_NAME_BYTES_MAX * 2];
    *status = CREST_INVALID_NAME;
    size_t length = strlen(parent->name + prefix), word = strlen(options->name);
    if (length + 1 + word >= sizeof name)
        return NULL;
    memcpy(name, parent->name + prefix, length);
    name[length] = '.';
    memcpy(name + length + 1, options->name, word + 1);
    crest_metric_options named = *options;
    named.name = name;
    crest_metric_spec spec = {.keys = keys, .key_count = key_count, .parent = parent};
    *status = crest_metric_spec_make(state, kind, &named, &spec);
    if (*status != CREST_OK)
        return NULL;
    crest_metric *metric = crest_metric_find(state, spec.name);
    if (metric == NULL)
        return make_bare(state, &spec, status);
    /* the companion exists; its parent may have failed to be made afterwards */
    if (metric->parent != NULL && strcmp(metric->parent->name, parent->name) == 0 &&
        crest_metric_has_shape(metric, &spec))
        return metric;
    *status = CREST_NAME_CLASH;
    return NULL;
}
