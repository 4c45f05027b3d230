/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash table from source and name to handle, for by-name calls: lock-free, and without a call but
 * strlen's. The key is source and name, so that no call joins the two; by_name.c joins them when a
 * name is first used.
 *
 * Buckets of seven entries. The bucket's first word holds a byte of each entry's hash (a tag), and
 * all seven are compared at once. So a lookup touches one line of the table and one of the entry it
 * finds, and no branch depends on which of the seven it is. That matters more than the number of
 * instructions: with random names, a chain or a probe sequence mispredicts every fourth lookup,
 * after waiting for the memory that decides.
 *
 * An outgrown table stays for its readers. Entries are never removed: they lead to handles of the
 * default registry, valid for the life of the process.
 */
#ifndef CREST_NAME_TABLE_H
#define CREST_NAME_TABLE_H

#include "base/atomic.h"
#include "base/hash.h"
#include "instruments/sources.h"

/* The most entries: further names are looked up in the registry, which takes longer. More than the
 * metrics that may be made by name, because declared ones are called by name too. */
#define CREST_BY_NAME_ENTRIES_MAX (4u * CREST_BY_NAME_MAX)

#define CREST_NAME_BUCKET_ENTRIES 7u

/* Alone on its cache lines, from the first byte of one on. For a name of up to 48 bytes a lookup
 * reads only one line. */
typedef struct crest_name_entry {
    uint64_t mark;
    void *handle;
    crest_ends ends; /* of the name */
    char name[];
} crest_name_entry;

typedef struct crest_name_bucket {
    uint64_t tags; /* tags from the lowest byte on; 0: no entry */
    crest_name_entry *entry[CREST_NAME_BUCKET_ENTRIES];
} crest_name_bucket;

typedef struct crest_name_table {
    uint64_t mask; /* buckets - 1; their number is a power of two */
    uint64_t count;
    crest_name_bucket *bucket;
} crest_name_table;

/* Never NULL: the first table is empty. */
extern __attribute__((visibility("hidden"))) crest_name_table *crest_name_table_now;

/* The key of a name of `length` bytes. */
typedef struct crest_by_name_key {
    const crest_source_state *source;
    const char *name;
    size_t length;
    crest_kind kind;
} crest_by_name_key;

/* Adds the handle to the table, if there is room and no fork holds the lock. */
void crest_by_name_keep(const crest_by_name_key *key, void *handle);

/* The mark: one word of all that must match but the text. The low half of the hash, which chooses
 * the bucket, and the parts of the key that are not text. */
static inline uint64_t crest_name_mark(crest_by_name_key key, crest_ends ends)
{
    uint64_t hash = crest_hash_done(
        crest_hash_more(crest_atomic_load(&key.source->seed), key.name, key.length, ends));
    uint32_t beside = key.source->number << 16 | (uint32_t)key.kind << 8 | (uint32_t)key.length;
    return (uint64_t)beside << 32 | (uint32_t)hash;
}

/* The tag of a mark, never 0; the mark's low bits are the bucket's number. */
static inline uint64_t crest_name_tag(uint64_t mark)
{
    return (mark >> 24 & 0xff) | 0x80;
}

/* The highest bit of each byte of `tags` that equals the tag. Above such a byte, a byte that
 * differs only in its lowest bit may match too: the entry itself decides. */
static inline uint64_t crest_name_matches(uint64_t tags, uint64_t tag)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t differ = tags ^ tag * ones;
    return (differ - ones) & ~differ & (ones << 7);
}

static inline int crest_name_is(const crest_name_entry *entry, uint64_t mark, const char *name,
                                size_t length, crest_ends ends)
{
    return entry->mark == mark && entry->ends.first == ends.first &&
           entry->ends.last == ends.last && crest_before_ends_same(entry->name, name, length);
}

/* Continues where the first match in the bucket was another entry: the handle, or NULL. */
void *crest_name_table_search(const crest_name_table *table, uint64_t mark, const char *name,
                              size_t length);

/* The handle, or NULL when the table has none of this source, name and kind. Lock-free. */
static inline void *crest_by_name_find(crest_by_name_key key)
{
    crest_ends ends = crest_ends_of(key.name, key.length);
    uint64_t mark = crest_name_mark(key, ends);
    /* acquire: partner of the release store in name_table_grow */
    const crest_name_table *table = crest_atomic_load_ptr_acquire(CREST_PTR(&crest_name_table_now));
    const crest_name_bucket *bucket = &table->bucket[mark & table->mask];
    /* acquire: partner of the release store in name_table_put; the entries are visible then */
    uint64_t tags = crest_atomic_load_acquire(&bucket->tags);
    uint64_t matches = crest_name_matches(tags, crest_name_tag(mark));
    if (CREST_LIKELY(matches != 0)) {
        const crest_name_entry *entry = bucket->entry[(unsigned)__builtin_ctzll(matches) / 8];
        if (CREST_LIKELY(crest_name_is(entry, mark, key.name, key.length, ends)))
            return entry->handle;
    }
    return crest_name_table_search(table, mark, key.name, key.length);
}

#endif
