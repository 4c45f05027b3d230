/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registries and their metrics: found by name without a lock, made under it. See metric_inside.h.
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/arena_table.h"
#include "base/atomic.h"
#include "names/buckets.h"
#include "registry/children.h"
#include "registry/name_claims.h"
#include "registry/constant_labels.h"
#include "base/hash.h"
#include "instruments/in_flight_figures.h"
#include "instruments/in_flight_table.h"
#include "registry/lifecycle.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "names/names.h"
#include "registry/metric_inside.h"
#include "registry/remembered.h"
#include "registry/series.h"
#include "names/lookalike_names.h"
#include "instruments/stage_series.h"
#include "base/uncancelled.h"
#include "base/utf8.h"
#include "names/derived_results.h"

#include <string.h>

static crest_registry registry_default = {.abi = CREST_ABI};

static unsigned long registry_metric_hash(const void *object, unsigned long seed)
{
    (void)seed;
    return ((const crest_metric *)object)->hash;
}

static bool registry_metric_same(const void *a, const void *b)
{
    const crest_metric *x = a, *y = b;
    /* one is the key, the other found; called from the table, so before its user can say acquire */
    CREST_ANNOTATE_ACQUIRE(x);
    CREST_ANNOTATE_ACQUIRE(y);
    return x->hash == y->hash && strcmp(x->name, y->name) == 0;
}

static unsigned long registry_split_hash(const void *object, unsigned long seed)
{
    (void)seed;
    return crest_split_hash(((const crest_metric *)object)->name);
}

static bool registry_split_same(const void *a, const void *b)
{
    return crest_split_same(((const crest_metric *)a)->name, ((const crest_metric *)b)->name);
}

crest_registry *crest_default_registry(void)
{
    return &registry_default;
}

crest_registry_state *crest_registry_state_seen(crest_registry *registry)
{
    if (registry == NULL)
        registry = &registry_default;
    if (registry->abi != CREST_ABI)
        return NULL;
    /* acquire: partner of the release store in registry_state_make */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&registry->state));
}

static void registry_state_settle(crest_registry *registry, crest_registry_state *state)
{
    state->strict = registry->options.strict != 0;
    state->idle_s = registry->options.idle_s;
    /* partner: the acquire load in crest_registry_state_seen */
    crest_atomic_store_ptr_release(CREST_PTR(&registry->state), state);
}

/* Under the lock. */
static crest_registry_state *registry_state_make(crest_registry *registry)
{
    if (registry == NULL)
        registry = &registry_default;
    if (registry->state != NULL || registry->abi != CREST_ABI)
        return registry->abi == CREST_ABI ? registry->state : NULL;
    crest_registry_state *state = crest_registry_remembered(&registry->options);
    if (state != NULL) {
        registry_state_settle(registry, state);
        return state;
    }
    state = crest_arena_take(CREST_ARENA_META, sizeof *state, _Alignof(crest_registry_state));
    if (state == NULL)
        return NULL;
    const char *prefix = registry->options.prefix;
    if (prefix != NULL && prefix[0] != '\0') {
        state->prefix = crest_arena_copy(prefix, strlen(prefix));
        if (state->prefix == NULL)
            return NULL;
    }
    if (!crest_table_init(&state->by_name, registry_metric_hash, registry_metric_same, 64) ||
        !crest_claims_init(&state->claims) ||
        !crest_table_init(&state->by_split, registry_split_hash, registry_split_same, 64))
        return NULL;
    if (!crest_constants_make(state, registry->options.labels))
        return NULL;
    registry_state_settle(registry, state);
    return state;
}

crest_registry_state *crest_registry_state_of(crest_registry *registry)
{
    crest_registry_state *state = crest_registry_state_seen(registry);
    if (state != NULL)
        return state;
    crest_lock_saved saved;
    crest_lock_take(&saved);
    state = registry_state_make(registry);
    crest_lock_drop(&saved);
    return state;
}

crest_registry *crest_registry_new(const crest_registry_options *options)
{
    crest_registry *registry = crest_alloc(1, sizeof *registry);
    if (registry == NULL)
        return NULL;
    registry->abi = CREST_ABI;
    registry->heap = 1;
    if (options != NULL)
        registry->options = *options;
    crest_lives_now_and_then(); /* what is freed goes where nothing ticks, too */
    if (crest_registry_state_of(registry) == NULL) {
        crest_alloc_free(registry);
        return NULL;
    }
    return registry;
}

void crest_registry_strict(crest_registry *registry, int strict)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_registry_state *state = registry_state_make(registry);
    if (state != NULL)
        state->strict = strict != 0;
    crest_lock_drop(&saved);
}

void crest_registry_free(crest_registry *registry)
{
    CREST_UNCANCELLED;
    if (registry == NULL || !registry->heap)
        return;
    crest_registry_state *state = registry->state;
    crest_lock_saved saved;
    crest_in_flight_figures_forget(state);
    crest_registry_retire(state);
    crest_lock_take(&saved);
    for (crest_metric *metric = state->metrics; metric != NULL; metric = metric->next)
        crest_in_flight_share_give(metric);
    crest_lock_drop(&saved);
    crest_registry_forget(state);
    crest_lock_take(&saved);
    crest_registry_remember(state);
    crest_lock_drop(&saved);
    crest_alloc_free(registry);
}

/* Partners of all these: the acquire loads in directory.c, which loads the generation first. */
void crest_registry_changing(crest_metric *metric)
{
    crest_registry_state *state = metric->state;
    crest_atomic_store_release(&metric->changes, metric->changes | 1);
    crest_atomic_store_release(&state->generation, state->generation | 1);
}

void crest_registry_changed(crest_metric *metric)
{
    crest_registry_state *state = metric->state;
    crest_atomic_store_release(&metric->changes, (metric->changes | 1) + 1);
    crest_atomic_store_release(&state->generation, (state->generation | 1) + 1);
}

static crest_metric *registry_lookup(crest_registry_state *state, const char *name)
{
    crest_metric key = {.name = name, .hash = crest_hash_text(crest_hash_seed(), name)};
    return ck_hs_get(&state->by_name, key.hash, &key);
}

crest_metric *crest_metric_find(crest_registry_state *state, const char *name)
{
    return state != NULL && name != NULL ? registry_lookup(state, name) : NULL;
}

/* prefix + "." + name, checked. */
static crest_status registry_full_name(const crest_registry_state *state, const char *name,
                                       char *full)
{
    if (name == NULL)
        return CREST_INVALID_NAME;
    size_t before = state->prefix ? strlen(state->prefix) + 1 : 0;
    size_t length = strnlen(name, CREST_NAME_BYTES_MAX + 1);
    if (before + length > CREST_NAME_BYTES_MAX)
        return CREST_INVALID_NAME;
    if (before != 0) {
        memcpy(full, state->prefix, before - 1);
        full[before - 1] = '.';
    }
    memcpy(full + before, name, length);
    full[before + length] = '\0';
    return crest_name_check(full, NULL, 0);
}

/* What is kept of a distribution. One that keeps no single values has nothing to fill buckets with:
 * it gets none, and may not ask for any. */
static crest_status registry_wish_distribution(const crest_metric_options *options,
                                               crest_metric_wish *wish)
{
    if (wish->parent != NULL) {
        wish->layout = *wish->parent->layout;
        wish->buckets = wish->parent->buckets.count != 0 ? &wish->parent->buckets : NULL;
        wish->quantiles = wish->parent->quantiles;
        return CREST_OK;
    }
    crest_status status = crest_layout_make(options->range, &wish->layout);
    if (status != CREST_OK)
        return status;
    if (wish->layout.unit == CREST_LAYOUT_UNIT_NONE)
        return options->buckets == NULL ? CREST_OK : CREST_INVALID_ARGUMENT;
    wish->buckets =
        options->buckets ? options->buckets : crest_buckets_for_unit(wish->unit, wish->kind);
    return crest_buckets_check(wish->buckets, NULL, 0);
}

/* What only timers and stages have. */
static crest_status registry_wish_timing(crest_kind kind, const crest_metric_options *options,
                                         crest_metric_wish *wish)
{
    wish->deadline_ns = options->deadline_ms * UINT64_C(1000000);
    wish->stages = options->stages;
    return crest_stages_check(kind, options->stages, &wish->stage_count);
}

/* The last key of a metric that comes with another one is the library's own: the others have been
 * as many as they may be. */
static crest_status registry_keys_check(const crest_metric_wish *wish)
{
    unsigned count = wish->key_count;
    if (wish->parent != NULL && count == CREST_LABELS_MAX + 1) {
        count--;
        for (unsigned i = 0; i < count; i++)
            if (strcmp(wish->keys[i], wish->keys[count]) == 0)
                return CREST_INVALID_LABEL;
    }
    return crest_label_keys_check(wish->keys, count, NULL, 0);
}

/* What of windows only distributions give. */
static crest_status registry_wish_windows(const crest_metric_options *options,
                                          crest_metric_wish *wish)
{
    wish->no_windows = wish->parent ? (int)wish->parent->no_windows : options->no_windows != 0;
    if (options->quantiles[0] == 0)
        return CREST_OK;
    wish->quantiles = options->quantiles;
    int values = wish->layout.blocks != 0 && wish->layout.unit != CREST_LAYOUT_UNIT_NONE;
    return values && !wish->no_windows && crest_quantiles_valid(options->quantiles)
               ? CREST_OK
               : CREST_INVALID_ARGUMENT;
}

static crest_status registry_wish_make(const crest_registry_state *state, crest_kind kind,
                                       const crest_metric_options *options, crest_metric_wish *wish)
{
    if (options == NULL)
        return CREST_INVALID_ARGUMENT;
    crest_status status = registry_full_name(state, options->name, wish->name);
    if (status != CREST_OK)
        return status;
    if (registry_wish_timing(kind, options, wish) != CREST_OK)
        return CREST_INVALID_ARGUMENT;
    if (kind == CREST_KIND_STAGES)
        kind = CREST_KIND_TIMER;
    wish->kind = kind;
    wish->idle_s = options->idle_s;
    wish->unit = kind == CREST_KIND_TIMER ? CREST_NANOSECONDS : options->unit;
    wish->description = options->description ? options->description : "";
    if ((unsigned)wish->unit > CREST_RATIO)
        return CREST_INVALID_ARGUMENT;
    if (options->description != NULL &&
        strnlen(options->description, CREST_DESCRIPTION_BYTES_MAX + 1) >
            CREST_DESCRIPTION_BYTES_MAX)
        return CREST_INVALID_ARGUMENT;
    if ((kind == CREST_KIND_HISTOGRAM || kind == CREST_KIND_TIMER) &&
        registry_wish_distribution(options, wish) != CREST_OK)
        return CREST_INVALID_ARGUMENT;
    if (registry_wish_windows(options, wish) != CREST_OK)
        return CREST_INVALID_ARGUMENT;
    return crest_constants_clash(state, wish->keys, wish->key_count) ? CREST_INVALID_LABEL
                                                                     : registry_keys_check(wish);
}

/*
 * Whether another metric stands in the way of this new one: CREST_NAME_CLASH for one that is
 * exported under a name of it, CREST_SPLIT_NAME, where that is refused, for one whose name is too
 * close. Asked before anything is taken from the arena, since who is refused may well ask again. On
 * a frame of its own, for the stacks of signal handlers are small.
 */
__attribute__((noinline)) static crest_status registry_check_others(crest_registry_state *state,
                                                                    const crest_metric_wish *wish,
                                                                    crest_metric **split)
{
    const crest_metric *taken;
    crest_metric wanted = {.name = wish->name,
                           .kind = wish->kind,
                           .unit = wish->unit,
                           .no_windows = (uint32_t)wish->no_windows,
                           .quantiles = wish->quantiles};
    crest_status status = crest_claims_check(state, &wanted, &taken);
    if (status != CREST_OK) {
        if (taken != NULL)
            crest_split_keep(CREST_SPLIT_CLASH, wish->name, taken->name);
        return status;
    }
    *split = ck_hs_get(&state->by_split, crest_split_hash(wish->name), &wanted);
    if (*split == NULL || !state->strict)
        return CREST_OK;
    crest_split_keep(CREST_SPLIT_REFUSED, wish->name, (*split)->name);
    return CREST_SPLIT_NAME;
}

/* The description as valid UTF-8; on a frame of its own too. */
__attribute__((noinline)) static const char *registry_description(const char *text)
{
    char clean[CREST_DESCRIPTION_BYTES_MAX * CREST_UTF8_REPLACEMENT_BYTES + 1];
    size_t length = crest_utf8_copy(text, clean, sizeof clean, NULL);
    return crest_arena_copy(clean, length);
}

static int registry_copy_distribution(crest_metric *metric, const crest_metric_wish *wish)
{
    if (wish->layout.blocks == 0)
        return 1;
    metric->layout = crest_layout_shared(&wish->layout);
    if (metric->layout == NULL || wish->buckets == NULL)
        return metric->layout != NULL;
    size_t bytes = wish->buckets->count * sizeof(double);
    double *bounds = crest_arena_take(CREST_ARENA_META, bytes, _Alignof(double));
    if (bounds == NULL)
        return 0;
    memcpy(bounds, wish->buckets->bounds, bytes);
    metric->buckets = (crest_buckets){bounds, wish->buckets->count};
    return 1;
}

/* Copied whole, the end included. */
static int registry_copy_windows(crest_metric *metric, const crest_metric_wish *wish)
{
    metric->no_windows = (uint32_t)wish->no_windows;
    if (wish->quantiles == NULL)
        return 1;
    size_t bytes = (CREST_QUANTILES_MAX + 1) * sizeof(double);
    double *quantiles = crest_arena_take(CREST_ARENA_META, bytes, _Alignof(double));
    if (quantiles != NULL)
        memcpy(quantiles, wish->quantiles, bytes);
    metric->quantiles = quantiles;
    return quantiles != NULL;
}

/* The label keys, the registry's before them and a timer's `outcome` after them. An open family has
 * room for those to come. */
static int registry_copy_keys(crest_metric *metric, const crest_metric_wish *wish)
{
    const crest_registry_state *state = metric->state;
    unsigned all =
        wish->open ? CREST_OPEN_LABELS_MAX : wish->key_count + (wish->kind == CREST_KIND_TIMER);
    unsigned before = state->constant_count;
    const char **keys =
        crest_arena_take(CREST_ARENA_META, (before + all + 1) * sizeof *keys, _Alignof(char *));
    if (keys == NULL)
        return 0;
    memcpy(keys, state->constant_keys, before * sizeof *keys);
    keys += before;
    for (unsigned i = 0; i < wish->key_count; i++)
        if ((keys[i] = crest_arena_copy(wish->keys[i], strlen(wish->keys[i]))) == NULL)
            return 0;
    if (wish->kind == CREST_KIND_TIMER)
        keys[wish->key_count] = "outcome";
    metric->label_keys = keys;
    metric->open = wish->open;
    metric->label_count = wish->open ? all : wish->key_count;
    return 1;
}

/* What a timer has beside its distribution; 0 without memory. */
static int registry_copy_timing(crest_metric *metric, const crest_metric_wish *wish)
{
    metric->parent = wish->parent;
    if (wish->kind != CREST_KIND_TIMER)
        return 1;
    metric->deadline_ns = wish->deadline_ns;
    if (wish->stage_count == 0)
        return 1;
    const char **stages =
        crest_arena_take(CREST_ARENA_META, wish->stage_count * sizeof *stages, _Alignof(char *));
    for (unsigned i = 0; stages != NULL && i < wish->stage_count; i++)
        if ((stages[i] = crest_arena_copy(wish->stages[i], strlen(wish->stages[i]))) == NULL)
            return 0;
    metric->stages = stages;
    metric->stage_count = wish->stage_count;
    return stages != NULL;
}

/* The metrics that come with this one from the start. */
static crest_status registry_make_companions(crest_metric *metric)
{
    crest_status status = CREST_OK;
    if (metric->stage_count != 0)
        status = crest_stages_histograms_make(metric);
    if (status == CREST_OK &&
        (metric->stage_count != 0 || metric->deadline_ns != 0 || metric->figures_kept != NULL))
        status = crest_in_flight_figures_make(metric);
    return status;
}

/* Snapshots see a metric before anybody can find it, so that they have all that was recorded before
 * them. The generation grows after each change of the list: a directory made before may lack it. */
static crest_status registry_publish(crest_registry_state *state, crest_metric *metric,
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

/* Under the lock: the metric of the registry before, in this one; 0 and *status if it cannot be. */
static int registry_metric_again(crest_registry_state *state, crest_metric *metric,
                                 const crest_metric *split, crest_status *status)
{
    *status = crest_claims_take(state, metric);
    if (*status != CREST_OK)
        return 0;
    *status = registry_make_companions(metric);
    if (*status == CREST_OK && metric->label_count == 0)
        crest_lives_again(metric->children, status);
    if (*status == CREST_OK)
        *status = registry_publish(state, metric, split);
    if (*status == CREST_OK)
        return 1;
    crest_claims_drop(state, &metric->claims);
    if (metric->label_count == 0) /* of a timer, one outcome may have come */
        crest_lives_retire(metric->children, CREST_NOT_FOUND, 0);
    return 0;
}

/* What is new in the metric; CREST_NO_MEMORY otherwise. */
static crest_status registry_metric_fill(crest_metric *metric, const crest_metric_wish *wish)
{
    char exported[CREST_EXPORTED_BYTES_MAX];
    size_t exported_length = crest_exported_base(wish->name, exported, sizeof exported);
    metric->kind = wish->kind;
    metric->unit = wish->unit;
    metric->idle_s = wish->idle_s != 0 ? wish->idle_s : metric->state->idle_s;
    metric->name = crest_arena_copy(wish->name, strlen(wish->name));
    metric->exported = crest_arena_copy(exported, exported_length);
    metric->description = registry_description(wish->description);
    if (metric->name == NULL || metric->exported == NULL || metric->description == NULL ||
        !registry_copy_distribution(metric, wish) || !registry_copy_keys(metric, wish) ||
        !registry_copy_timing(metric, wish) || !registry_copy_windows(metric, wish))
        return CREST_NO_MEMORY;
    metric->hash = crest_hash_text(crest_hash_seed(), metric->name);
    return CREST_OK;
}

/* Under the lock. What failed half way stays in the arena, unreferenced. */
static crest_metric *registry_metric_make(crest_registry_state *state,
                                          const crest_metric_wish *wish, crest_status *status)
{
    *status = CREST_LIMIT;
    if (state->metric_count >= CREST_METRICS_MAX)
        return NULL;
    crest_metric *split = NULL;
    *status = registry_check_others(state, wish, &split);
    if (*status != CREST_OK)
        return NULL;
    crest_metric *metric = crest_metric_remembered(state, wish);
    if (metric != NULL) {
        if (registry_metric_again(state, metric, split, status))
            return metric;
        crest_metric_remember(metric);
        return NULL;
    }
    *status = CREST_NO_MEMORY;
    metric = crest_arena_take(CREST_ARENA_META, sizeof *metric, _Alignof(crest_metric));
    if (metric == NULL)
        return NULL;
    metric->state = state;
    *status = registry_metric_fill(metric, wish);
    if (*status == CREST_OK)
        *status = crest_claims_take(state, metric);
    if (*status != CREST_OK)
        return NULL;
    *status = registry_make_companions(metric);
    if (*status == CREST_OK && metric->label_count == 0)
        crest_child_make(metric, NULL, status);
    if (*status == CREST_OK)
        *status = registry_publish(state, metric, split);
    if (*status == CREST_OK)
        return metric;
    crest_claims_drop(state, &metric->claims);
    return NULL;
}

/* Finds or makes what is wished for; the wish has its keys, or is open. */
static crest_metric *registry_metric_get(crest_registry *registry, crest_kind kind,
                                         const crest_metric_options *options,
                                         crest_metric_wish *wish, crest_status *status)
{
    crest_registry_state *state = registry_state_make(registry);
    if (state == NULL) {
        *status =
            registry != NULL && registry->abi != CREST_ABI ? CREST_ABI_MISMATCH : CREST_NO_MEMORY;
        return NULL;
    }
    *status = registry_wish_make(state, kind, options, wish);
    if (*status != CREST_OK)
        return NULL;
    crest_metric *metric = registry_lookup(state, wish->name);
    if (metric == NULL)
        return registry_metric_make(state, wish, status);
    if (metric->parent == NULL && crest_metric_has_shape(metric, wish))
        return metric;
    *status = metric->parent != NULL ? CREST_NAME_CLASH : CREST_TYPE_CLASH;
    return NULL;
}

crest_metric *crest_metric_get_locked(crest_registry *registry, crest_kind kind,
                                      const crest_metric_options *options, const char *const *keys,
                                      unsigned key_count, crest_status *status)
{
    crest_metric_wish wish = {.keys = keys, .key_count = key_count};
    return registry_metric_get(registry, kind, options, &wish, status);
}

crest_metric *crest_metric_get_open_locked(crest_registry *registry, crest_kind kind,
                                           const crest_metric_options *options,
                                           crest_status *status)
{
    crest_metric_wish wish = {.open = 1};
    return registry_metric_get(registry, kind, options, &wish, status);
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
    crest_metric_wish wish = {.keys = keys, .key_count = key_count, .parent = parent};
    *status = registry_wish_make(state, kind, &named, &wish);
    if (*status != CREST_OK)
        return NULL;
    crest_metric *metric = registry_lookup(state, wish.name);
    if (metric == NULL)
        return registry_metric_make(state, &wish, status);
    /* the parent of the one that is there may have failed to be made after it */
    if (metric->parent != NULL && strcmp(metric->parent->name, parent->name) == 0 &&
        crest_metric_has_shape(metric, &wish))
        return metric;
    *status = CREST_NAME_CLASH;
    return NULL;
}

crest_metric *crest_metric_get(crest_registry *registry, crest_kind kind,
                               const crest_metric_options *options, const char *const *keys,
                               unsigned key_count, crest_status *status)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    crest_metric *metric =
        crest_metric_get_locked(registry, kind, options, keys, key_count, status);
    crest_lock_drop(&saved);
    if (metric == NULL)
        crest_misuse_count(crest_misuse_of(*status), options ? options->name : NULL);
    else if (options->description != NULL && !crest_utf8_is_valid(options->description))
        crest_misuse_count(CREST_MISUSE_TEXT, options->name);
    return metric;
}
