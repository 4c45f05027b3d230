/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash table of children by label values. See children.h.
 */
#include "registry/children.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/hash.h"
#include "metrics/child.h"
#include "registry/series_state.h"

#include <sched.h>
#include <string.h>

/* Chains of a family's first table; the mean chain length at which it grows; and the factor of
 * growth. A large factor keeps outgrown tables small beside the last one. The bytes saved buy more
 * chains, so most children come first in theirs. */
#define CHILDREN_CHAINS_FIRST 4u
#define CHILDREN_IN_CHAIN 2u
#define CHILDREN_GROWTH 4u

typedef struct crest_children_table {
    uint32_t mask; /* chains - 1; a power of two of chains */
    crest_child *chain[];
} crest_children_table;

/* Label values, with their lengths and hash computed once. */
typedef struct children_key {
    const char *const *values;
    uint32_t hash;
    size_t bytes; /* of all values, NULs included */
    size_t length[CREST_LABELS_KEPT_MAX];
    crest_ends ends[CREST_LABELS_KEPT_MAX];
} children_key;

static inline const char *children_value(const char *const *values, unsigned i)
{
    return values[i] != NULL ? values[i] : "";
}

static inline void children_key_make(const crest_metric *metric, const char *const *values,
                                     children_key *key)
{
    uint64_t hash = crest_hash_seed();
    key->values = values;
    key->bytes = 0;
    for (unsigned i = 0; i < metric->label_count; i++) {
        const char *value = children_value(values, i);
        size_t length = key->length[i] = strlen(value);
        key->bytes += length + 1;
        key->ends[i] = crest_ends_of(value, length);
        hash = crest_hash_more(hash, value, length, key->ends[i]);
    }
    key->hash = (uint32_t)crest_hash_done(hash);
}

uint32_t crest_children_hash(const crest_metric *metric, const char *const *values)
{
    children_key key;
    children_key_make(metric, values, &key);
    return key.hash;
}

/* acquire: partner of the release stores in children_link, so that the child's contents are visible
 */
static crest_child *children_load(crest_child *const *link)
{
    return crest_atomic_load_ptr_acquire(CREST_PTR(link));
}

static const crest_children_table *children_table(const crest_metric *metric)
{
    /* acquire: partner of the release store in children_grow */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&metric->by_values.table));
}

static int children_same(const crest_child *child, const char *const *values)
{
    const char *const *kept = crest_series_values(&child->first);
    for (unsigned i = 0; i < child->first.metric->label_count; i++)
        if (strcmp(kept[i], children_value(values, i)) != 0)
            return 0;
    return 1;
}

/* Whether the child has these values. Its texts lie one behind the other, each with its NUL. If the
 * total length and all bytes of the values match, the remaining bytes can only be the NULs, since
 * no value contains one. So the NULs need not be compared. */
static inline int children_are(const crest_child *child, const children_key *key)
{
    if (CREST_UNLIKELY(child->first.text_bytes == 0)) /* length not known */
        return children_same(child, key->values);
    if (child->first.text_bytes != key->bytes)
        return 0;
    const char *text = crest_series_values(&child->first)[0];
    for (unsigned i = 0; i < child->first.metric->label_count; text += key->length[i++] + 1) {
        size_t length = key->length[i];
        crest_ends ends = crest_ends_of(text, length);
        if (((ends.first ^ key->ends[i].first) | (ends.last ^ key->ends[i].last)) != 0 ||
            !crest_before_ends_same(text, children_value(key->values, i), length))
            return 0;
    }
    return 1;
}

crest_child *crest_children_find(const crest_metric *metric, const char *const *values)
{
    const crest_children_table *table = children_table(metric);
    if (table == NULL)
        return NULL;
    children_key key;
    children_key_make(metric, values, &key);
    crest_child *child = children_load(&table->chain[key.hash & table->mask]);
    while (child != NULL && (child->first.hash != key.hash || crest_series_retired(&child->first) ||
                             !children_are(child, &key)))
        child = children_load(&child->next);
    return child;
}

crest_child *crest_children_retired(const crest_metric *metric, const char *const *values,
                                    uint32_t hash, const crest_child *after)
{
    const crest_children_table *table = metric->by_values.table;
    crest_child *child = after ? after->next : table ? table->chain[hash & table->mask] : NULL;
    while (child != NULL && (child->first.hash != hash || !children_same(child, values) ||
                             !crest_series_retired(&child->first)))
        child = child->next;
    return child;
}

/* Puts the child at the head of its chain. */
static void children_link(crest_children_table *table, crest_child *child)
{
    crest_child **head = &table->chain[child->first.hash & table->mask];
    /* Partners: the acquire loads in children_load. A reader that finds the child sees its links; a
     * reader that finds the links sees an odd version. */
    crest_atomic_store_ptr_release(CREST_PTR(&child->next), *head);
    crest_atomic_store_ptr_release(CREST_PTR(head), child);
}

/* A table with room for one more child: the old one if it has room. NULL without memory. */
static crest_children_table *children_grow(crest_metric *metric)
{
    crest_children *children = &metric->by_values;
    crest_children_table *old = children->table;
    uint32_t chains = old ? old->mask + 1 : 0;
    if (children->count < (uint64_t)chains * CHILDREN_IN_CHAIN)
        return old;
    chains = old ? chains * CHILDREN_GROWTH : CHILDREN_CHAINS_FIRST;
    crest_children_table *table =
        crest_arena_take(CREST_ARENA_META, sizeof *table + chains * sizeof table->chain[0],
                         _Alignof(crest_children_table));
    if (table == NULL)
        return old; /* no memory to grow: chains get longer */
    table->mask = chains - 1;
    crest_atomic_store(&children->version, children->version + 1);
    for (uint32_t i = 0; old != NULL && i <= old->mask; i++)
        for (crest_child *child = old->chain[i], *next; child != NULL; child = next) {
            next = child->next;
            children_link(table, child);
        }
    /* partner: the acquire load in children_table */
    crest_atomic_store_ptr_release(CREST_PTR(&children->table), table);
    /* partner: the acquire load in crest_children_version */
    crest_atomic_store_release(&children->version, children->version + 1);
    return table;
}

int crest_children_add(crest_metric *metric, crest_child *child)
{
    crest_children_table *table = children_grow(metric);
    if (table == NULL)
        return 0;
    children_link(table, child);
    metric->by_values.count++;
    return 1;
}

crest_child *crest_children_next(const crest_metric *metric, crest_children_cursor *cursor)
{
    if (metric->label_count == 0) {
        int first = cursor->chain++ == 0;
        return first ? children_load(&metric->children) : NULL;
    }
    if (cursor->table == NULL && (cursor->table = children_table(metric)) == NULL)
        return NULL;
    if (cursor->child != NULL)
        cursor->child = children_load(&cursor->child->next);
    while (cursor->child == NULL && cursor->chain <= cursor->table->mask)
        cursor->child = children_load(&cursor->table->chain[cursor->chain++]);
    return cursor->child;
}

uint64_t crest_children_version(const crest_metric *metric)
{
    for (;;) {
        /* acquire: partner of the release stores in children_grow and children_link */
        uint64_t version = crest_atomic_load_acquire(&metric->by_values.version);
        if ((version & 1) == 0)
            return version;
        sched_yield(); /* short: the mover has signals blocked and waits for nothing */
    }
}
