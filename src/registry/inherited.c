/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of inherited series. See inherited.h.
 */
#include "registry/inherited.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/forked.h"
#include "base/hash.h"
#include "cells/cells.h"
#include "metrics/child.h"
#include "registry/children.h"
#include "registry/series_state.h"

#include <string.h>

#define INHERITED_CHAINS 16384u

/* `count` and `at` are also read without the lock. */
static struct {
    uint32_t committed;
    uint64_t count, waiting;
    crest_inherited **chain;                 /* INHERITED_CHAINS of them; NULL: none yet */
    crest_inherited **at[CREST_CHUNK_COUNT]; /* by slot */
} inherited_all;

uint64_t crest_inherited_count(void)
{
    return crest_atomic_load(&inherited_all.count);
}

uint64_t crest_inherited_waiting(void)
{
    return crest_atomic_load(&inherited_all.waiting);
}

/* ---- identities ---- */

uint64_t crest_identity_hash(const crest_identity *identity)
{
    uint64_t hash = crest_hash_text(crest_hash_seed(), identity->name) + identity->outcome;
    for (unsigned i = 0; i < identity->key_count; i++)
        if (identity->values[i][0] != '\0')
            hash += crest_hash_text(crest_hash_text(crest_hash_seed(), identity->keys[i]),
                                    identity->values[i]);
    return hash;
}

/* The value of a key; "" where it has none. */
const char *crest_identity_value(const crest_identity *identity, const char *key)
{
    for (unsigned i = 0; i < identity->key_count; i++)
        if (strcmp(identity->keys[i], key) == 0)
            return identity->values[i];
    return "";
}

/* Whether all labels of `a` are labels of `b`. */
static int inherited_within(const crest_identity *a, const crest_identity *b)
{
    for (unsigned i = 0; i < a->key_count; i++)
        if (strcmp(a->values[i], crest_identity_value(b, a->keys[i])) != 0)
            return 0;
    return 1;
}

int crest_identity_same_constants(const crest_identity *a, const crest_identity *b)
{
    if (a->constant_count != b->constant_count)
        return 0;
    for (unsigned i = 0; i < 2 * a->constant_count; i++)
        if (strcmp(a->constants[i], b->constants[i]) != 0)
            return 0;
    return 1;
}

int crest_identity_same_make(const crest_identity *a, const crest_identity *b)
{
    return a->kind == b->kind && a->unit == b->unit && a->layout_bits == b->layout_bits &&
           a->layout_unit == b->layout_unit && a->layout_highest == b->layout_highest;
}

crest_inherited *crest_inherited_find(const crest_identity *identity, uint64_t hash)
{
    crest_inherited *entry =
        inherited_all.chain != NULL ? inherited_all.chain[hash % INHERITED_CHAINS] : NULL;
    while (entry != NULL && (entry->hash != hash || entry->identity.outcome != identity->outcome ||
                             strcmp(entry->identity.name, identity->name) != 0 ||
                             !crest_identity_same_make(&entry->identity, identity) ||
                             !crest_identity_same_constants(&entry->identity, identity) ||
                             !inherited_within(&entry->identity, identity) ||
                             !inherited_within(identity, &entry->identity)))
        entry = entry->next;
    return entry;
}

crest_identity crest_identity_of(const crest_metric *metric, crest_identity_constants constants)
{
    const crest_registry_state *state = metric->state;
    crest_identity identity = {.name = metric->name,
                               .kind = metric->kind,
                               .unit = metric->unit,
                               .constant_count = state->constant_count,
                               .key_count = crest_metric_keys(metric),
                               .constants = constants,
                               .keys = metric->label_keys};
    for (unsigned i = 0; i < state->constant_count; i++) {
        constants[2 * i] = state->constant_keys[i];
        constants[2 * i + 1] = state->constant_values[i];
    }
    if (metric->layout != NULL) {
        identity.layout_bits = metric->layout->bits;
        identity.layout_unit = metric->layout->unit;
        identity.layout_highest = metric->layout->highest;
    }
    return identity;
}

/* ---- making entries ---- */

/* Texts are copied one behind the other. */
static const char *const *inherited_copy(const char *const *texts, unsigned count)
{
    const char **copy =
        crest_arena_take(CREST_ARENA_META, (count + 1) * sizeof *copy, _Alignof(char *));
    for (unsigned i = 0; copy != NULL && i < count; i++)
        if ((copy[i] = crest_arena_copy(texts[i], strlen(texts[i]))) == NULL)
            return NULL;
    return copy;
}

static int inherited_copy_identity(crest_identity *to, const crest_identity *from)
{
    *to = *from;
    to->name = crest_arena_copy(from->name, strlen(from->name));
    to->constants = inherited_copy(from->constants, 2 * from->constant_count);
    to->keys = inherited_copy(from->keys, from->key_count);
    to->values = inherited_copy(from->values, from->key_count);
    return to->name != NULL && to->constants != NULL && to->keys != NULL && to->values != NULL;
}

/* Where the entry of a slot is kept; NULL without memory. */
static crest_inherited **inherited_at(uint32_t slot)
{
    crest_inherited ***chunk = &inherited_all.at[slot >> CREST_CHUNK_BITS];
    if (*chunk == NULL)
        /* partner: the acquire load in crest_inherited_of */
        crest_atomic_store_ptr_release(
            CREST_PTR(chunk), crest_arena_take(CREST_ARENA_META, CREST_CHUNK_CELLS * sizeof **chunk,
                                               _Alignof(crest_inherited *)));
    return *chunk != NULL ? &(*chunk)[slot & (CREST_CHUNK_CELLS - 1)] : NULL;
}

crest_inherited *crest_inherited_new(const crest_identity *identity, uint64_t hash, uint32_t slot)
{
    if (inherited_all.chain == NULL)
        inherited_all.chain =
            crest_arena_take(CREST_ARENA_META, INHERITED_CHAINS * sizeof *inherited_all.chain,
                             _Alignof(crest_inherited *));
    crest_inherited *entry =
        crest_arena_take(CREST_ARENA_META, sizeof *entry, _Alignof(crest_inherited));
    crest_inherited **at = inherited_at(slot);
    if (inherited_all.chain == NULL || entry == NULL || at == NULL ||
        !inherited_copy_identity(&entry->identity, identity))
        return NULL;
    entry->hash = hash;
    entry->slot = slot;
    entry->next = inherited_all.chain[hash % INHERITED_CHAINS];
    inherited_all.chain[hash % INHERITED_CHAINS] = entry;
    /* partner: the acquire load in crest_inherited_of */
    crest_atomic_store_ptr_release(CREST_PTR(at), entry);
    crest_atomic_add(&inherited_all.count, 1);
    return entry;
}

/* ---- series that take them ---- */

uint32_t crest_inherited_slot(const crest_series *series)
{
    if (inherited_all.waiting == 0)
        return 0;
    crest_identity_constants constants;
    crest_identity identity = crest_identity_of(series->metric, constants);
    identity.values = crest_series_values(series);
    identity.outcome = series->outcome;
    const crest_inherited *entry = crest_inherited_find(&identity, crest_identity_hash(&identity));
    return entry != NULL && entry->birth == 0 ? entry->slot : 0;
}

void crest_inherited_taken(const crest_series *series)
{
    crest_inherited *const *chunk = inherited_all.at[series->slot >> CREST_CHUNK_BITS];
    crest_inherited *entry = chunk != NULL ? chunk[series->slot & (CREST_CHUNK_CELLS - 1)] : NULL;
    if (entry == NULL || entry->birth != 0)
        return;
    crest_atomic_store(&entry->birth, crest_series_birth(series));
    crest_atomic_add(&inherited_all.waiting, UINT64_MAX);
}

void crest_inherited_commit(void)
{
    /* release: partner of the acquire load in crest_inherited_of; entries are whole by now */
    crest_atomic_store32_release(&inherited_all.committed, 1);
}

const crest_inherited *crest_inherited_of(const crest_series *series)
{
    uint32_t slot = crest_atomic_load32(&series->slot);
    if (!crest_atomic_load32_acquire(&inherited_all.committed))
        return NULL;
    crest_inherited *const *chunk =
        crest_atomic_load_ptr_acquire(CREST_PTR(&inherited_all.at[slot >> CREST_CHUNK_BITS]));
    const crest_inherited *entry =
        chunk != NULL
            ? crest_atomic_load_ptr_acquire(CREST_PTR(&chunk[slot & (CREST_CHUNK_CELLS - 1)]))
            : NULL;
    return entry != NULL && crest_atomic_load(&entry->birth) == crest_series_birth(series) ? entry
                                                                                           : NULL;
}

/* The child counts from zero, and inherits nothing. */
static void inherited_forked(void)
{
    memset(&inherited_all, 0, sizeof inherited_all);
}
CREST_FORKED(INHERITED, inherited_forked)

void crest_inherited_wait(void)
{
    crest_atomic_add(&inherited_all.waiting, 1);
}
