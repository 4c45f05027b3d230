/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of handles by source and name: how it is filled and grown. See name_table.h.
 */
#include "instruments/name_table.h"
#include "base/arena.h"
#include "base/lock.h"

#include <string.h>

#define NAME_TABLE_BUCKETS_MIN 16u
/* Mean number of entries a bucket at which the table grows: up to it, two in a hundred lie outside
 * their own bucket. */
#define NAME_TABLE_ENTRIES_A_BUCKET 4u

_Static_assert(sizeof(crest_name_bucket) == CREST_LINE_BYTES, "a bucket is a cache line");
_Static_assert(CREST_BY_NAME_ENTRIES_MAX < UINT64_C(1) << 24,
               "a bucket's number and its entries' tags are different bits of a mark");
_Static_assert(CREST_NAME_BYTES_MAX + 1 < 1 << 8 && CREST_KIND_STAGES < 1 << 8 &&
                   CREST_SOURCES_MAX < 1 << 16,
               "length, kind and source have room in a mark");

static crest_name_bucket name_table_none;
static crest_name_table name_table_empty = {0, 0, &name_table_none};
crest_name_table *crest_name_table_now = &name_table_empty;

/* Whether the bucket is full, so that its entries may also lie in the next bucket. */
static int name_table_is_full(uint64_t tags)
{
    return tags >> 8 * (CREST_NAME_BUCKET_ENTRIES - 1) != 0;
}

void *crest_name_table_search(const crest_name_table *table, uint64_t mark, const char *name,
                              size_t length)
{
    crest_ends ends = crest_ends_of(name, length);
    for (uint64_t place = mark;; place++) {
        const crest_name_bucket *bucket = &table->bucket[place & table->mask];
        /* acquire: partner of the release store in name_table_put */
        uint64_t tags = crest_atomic_load_acquire(&bucket->tags);
        uint64_t matches = crest_name_matches(tags, crest_name_tag(mark));
        for (; matches != 0; matches &= matches - 1) {
            const crest_name_entry *entry = bucket->entry[(unsigned)__builtin_ctzll(matches) / 8];
            if (crest_name_is(entry, mark, name, length, ends))
                return entry->handle;
        }
        if (!name_table_is_full(tags))
            return NULL;
    }
}

/* Under the lock, into a table that has room. */
static void name_table_put(crest_name_table *table, crest_name_entry *entry)
{
    uint64_t place = entry->mark;
    while (name_table_is_full(table->bucket[place & table->mask].tags))
        place++;
    crest_name_bucket *bucket = &table->bucket[place & table->mask];
    unsigned at = 0;
    while (bucket->entry[at] != NULL)
        at++;
    bucket->entry[at] = entry;
    table->count++;
    /* partners: the acquire loads of tags */
    crest_atomic_store_release(&bucket->tags, bucket->tags | crest_name_tag(entry->mark) << 8 * at);
}

/* Under the lock: a table with room for one more entry, or NULL. */
static crest_name_table *name_table_grow(void)
{
    crest_name_table *table = crest_name_table_now;
    if (table->count >= CREST_BY_NAME_ENTRIES_MAX)
        return NULL;
    uint64_t buckets = table == &name_table_empty ? 0 : table->mask + 1;
    if (table->count + 1 <= NAME_TABLE_ENTRIES_A_BUCKET * buckets)
        return table;
    uint64_t more = buckets == 0 ? NAME_TABLE_BUCKETS_MIN : 2 * buckets;
    crest_name_table *grown =
        crest_arena_take(CREST_ARENA_META, sizeof *grown, _Alignof(crest_name_table));
    if (grown == NULL)
        return NULL;
    grown->mask = more - 1;
    grown->bucket =
        crest_arena_take(CREST_ARENA_META, more * sizeof grown->bucket[0], CREST_LINE_BYTES);
    if (grown->bucket == NULL)
        return NULL;
    for (uint64_t i = 0; i < buckets; i++)
        for (unsigned at = 0; at < CREST_NAME_BUCKET_ENTRIES; at++)
            if (table->bucket[i].entry[at] != NULL)
                name_table_put(grown, table->bucket[i].entry[at]);
    /* partner: the acquire load in crest_by_name_find */
    crest_atomic_store_ptr_release(CREST_PTR(&crest_name_table_now), grown);
    return grown;
}

static void name_table_keep(const crest_by_name_key *key, void *handle)
{
    crest_name_table *table = name_table_grow();
    if (table == NULL || crest_by_name_find(*key) != NULL)
        return;
    crest_name_entry *entry =
        crest_arena_take(CREST_ARENA_META, sizeof *entry + key->length + 1, CREST_LINE_BYTES);
    if (entry == NULL)
        return;
    entry->ends = crest_ends_of(key->name, key->length);
    entry->mark = crest_name_mark(*key, entry->ends);
    entry->handle = handle;
    memcpy(entry->name, key->name, key->length);
    name_table_put(table, entry);
}

void crest_by_name_keep(const crest_by_name_key *key, void *handle)
{
    crest_lock_saved saved;
    if (!crest_lock_take_unless_forking(&saved))
        return; /* the next call tries again */
    name_table_keep(key, handle);
    crest_lock_drop(&saved);
}
