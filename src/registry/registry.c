/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registries: made once, and their metrics found by name without a lock. How a metric is made is in
 * metric_make.c; how a registry is freed, in run/registry_free.c.
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/arena_table.h"
#include "base/atomic.h"
#include "base/hash.h"
#include "base/lock.h"
#include "metrics/constant_labels.h"
#include "metrics/metric_inside.h"
#include "metrics/name_claims.h"
#include "names/lookalike_names.h"
#include "registry/growth.h"
#include "registry/remembered.h"
#include "registry/series.h"

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
    /* One is the key, the other was found. The table calls this before its user can acquire. */
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
    /* acquire: partner of the release store in crest_registry_state_made */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&registry->state));
}

/* Under the lock: the newest state; the others hang behind it. */
static crest_registry_state *registry_newest;

crest_registry_state *crest_registry_states(void)
{
    return registry_newest;
}

static void registry_state_settle(crest_registry *registry, crest_registry_state *state)
{
    state->strict = registry->options.strict != 0;
    state->idle_s = registry->options.idle_s;
    /* partner: the acquire load in crest_registry_state_seen */
    crest_atomic_store_ptr_release(CREST_PTR(&registry->state), state);
}

crest_registry_state *crest_registry_state_made(crest_registry *registry)
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
    state->made_before = registry_newest;
    registry_newest = state;
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
    state = crest_registry_state_made(registry);
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
    crest_growth_now_and_then(); /* so that freed registries move on in processes without ticks */
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
    crest_registry_state *state = crest_registry_state_made(registry);
    if (state != NULL)
        state->strict = strict != 0;
    crest_lock_drop(&saved);
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
