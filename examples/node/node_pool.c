/* SPDX-License-Identifier: Apache-2.0 */
/* See node_pool.h. A hash table for finding, a list for the order of waiting. */
#include "node_pool.h"

#include <stdlib.h>
#include <string.h>

#define POOL_BUCKETS 8192u

typedef struct pool_entry {
    struct pool_entry *bucket_next;
    struct pool_entry *before, *after; /* in the list while it waits */
    uint64_t sequence;
    size_t size;
    uint16_t origin;
    bool waits;
    uint8_t bytes[];
} pool_entry;

static pool_entry *pool_bucket[POOL_BUCKETS];
static pool_entry *pool_first, *pool_last;
static uint32_t pool_count;

static pool_entry **pool_place(const wire_deploy *deploy)
{
    uint64_t mixed = (deploy->sequence * NODE_COUNT_MAX + deploy->origin) * 0x9e3779b97f4a7c15u;
    pool_entry **place = &pool_bucket[mixed >> 51 & (POOL_BUCKETS - 1)];
    while (*place != NULL &&
           ((*place)->sequence != deploy->sequence || (*place)->origin != deploy->origin))
        place = &(*place)->bucket_next;
    return place;
}

static void pool_append(pool_entry *entry)
{
    entry->waits = true;
    entry->after = NULL;
    entry->before = pool_last;
    *(pool_last != NULL ? &pool_last->after : &pool_first) = entry;
    pool_last = entry;
    pool_count++;
}

static void pool_unlink(pool_entry *entry)
{
    if (!entry->waits)
        return;
    entry->waits = false;
    *(entry->before != NULL ? &entry->before->after : &pool_first) = entry->after;
    *(entry->after != NULL ? &entry->after->before : &pool_last) = entry->before;
    pool_count--;
}

static pool_entry *pool_make(pool_entry **place, const wire_deploy *deploy)
{
    pool_entry *entry = node_alloc(sizeof *entry + deploy->size);
    memset(entry, 0, sizeof *entry);
    entry->origin = deploy->origin;
    entry->sequence = deploy->sequence;
    entry->size = deploy->size;
    memcpy(entry->bytes, deploy->bytes, deploy->size);
    *place = entry;
    return entry;
}

pool_answer pool_add(const wire_deploy *deploy)
{
    pool_entry **place = pool_place(deploy);
    if (*place != NULL)
        return POOL_KNOWN;
    if (pool_count >= POOL_WAITING_MAX)
        return POOL_FULL;
    pool_append(pool_make(place, deploy));
    return POOL_ADDED;
}

void pool_included(const wire_deploy *deploy)
{
    pool_entry **place = pool_place(deploy);
    if (*place != NULL)
        pool_unlink(*place);
    else
        pool_make(place, deploy); /* the block came before the deploy did */
}

void pool_returned(const wire_deploy *deploy)
{
    pool_entry **place = pool_place(deploy);
    if (*place != NULL && !(*place)->waits)
        pool_append(*place);
}

void pool_forget(const wire_deploy *deploy)
{
    pool_entry **place = pool_place(deploy);
    pool_entry *entry = *place;
    if (entry == NULL)
        return;
    *place = entry->bucket_next;
    pool_unlink(entry);
    free(entry);
}

uint32_t pool_choose(wire_out *out, uint32_t count_max, size_t bytes_max)
{
    uint32_t count = 0;
    size_t start = out->length;
    for (const pool_entry *entry = pool_first; entry != NULL && count < count_max;
         entry = entry->after, count++) {
        if (out->length - start + entry->size > bytes_max)
            break;
        wire_put_bytes(out, entry->bytes, entry->size);
    }
    return count;
}

uint32_t pool_waiting(void)
{
    return pool_count;
}

void pool_close(void)
{
    for (unsigned i = 0; i < POOL_BUCKETS; i++) {
        for (pool_entry *entry = pool_bucket[i], *next; entry != NULL; entry = next) {
            next = entry->bucket_next;
            free(entry);
        }
        pool_bucket[i] = NULL;
    }
    pool_first = pool_last = NULL;
    pool_count = 0;
}
