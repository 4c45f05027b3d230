/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of children by label values. See children.h.
 */
#include "children.h"
#include "arena.h"
#include "atomic.h"
#include "hash.h"
#include "lives.h"
#include "series.h"

#include <sched.h>
#include <string.h>

/* Chains of the first table of a family, and children in a chain on average before there are twice
 * as many. */
#define CHILDREN_CHAINS_FIRST 4u
#define CHILDREN_IN_CHAIN 2u

typedef struct crest_children_table {
    uint32_t mask; /* chains - 1; their number is a power of two */
    crest_child *chain[];
} crest_children_table;

uint32_t crest_children_hash(const crest_metric *metric, const char *const *values)
{
    uint64_t hash = crest_hash_seed();
    for (unsigned i = 0; i < metric->label_count; i++)
        hash = crest_hash_text(hash, values[i] != NULL ? values[i] : "");
    return (uint32_t)(hash ^ hash >> 32);
}

/* acquire: partner of the release stores in children_link and crest_children_add, so that what a
 * child is made of is there */
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
        if (strcmp(kept[i], values[i] != NULL ? values[i] : "") != 0)
            return 0;
    return 1;
}

crest_child *crest_children_find(const crest_metric *metric, const char *const *values,
                                 uint32_t hash)
{
    const crest_children_table *table = children_table(metric);
    if (table == NULL)
        return NULL;
    crest_child *child = children_load(&table->chain[hash & table->mask]);
    while (child != NULL && (child->first.hash != hash || !children_same(child, values) ||
                             crest_series_retired(&child->first)))
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
    /* partners: the acquire load in children_load; the links come first for who finds the child,
     * and an odd version for who finds the links */
    crest_atomic_store_ptr_release(CREST_PTR(&child->next), *head);
    crest_atomic_store_ptr_release(CREST_PTR(head), child);
}

/* A table with room for one more; the old one if there is. NULL without memory. */
static crest_children_table *children_grow(crest_metric *metric)
{
    crest_children *children = &metric->by_values;
    crest_children_table *old = children->table;
    uint32_t chains = old ? old->mask + 1 : 0;
    if (children->count < (uint64_t)chains * CHILDREN_IN_CHAIN)
        return old;
    chains = old ? chains * 2 : CHILDREN_CHAINS_FIRST;
    crest_children_table *table =
        crest_arena_take(CREST_ARENA_META, sizeof *table + chains * sizeof table->chain[0],
                         _Alignof(crest_children_table));
    if (table == NULL)
        return old; /* longer chains do for the time being */
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

void crest_children_remove(crest_metric *metric, crest_child *child)
{
    crest_children_table *table = metric->by_values.table;
    crest_child **link = &table->chain[child->first.hash & table->mask];
    while (*link != child)
        link = &(*link)->next;
    /* partner: the acquire load in children_load; the child's own link stays as it is */
    crest_atomic_store_ptr_release(CREST_PTR(link), child->next);
    metric->by_values.count--;
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
        sched_yield(); /* soon over: it is done with signals blocked, and waits for nothing */
    }
}
