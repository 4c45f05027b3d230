/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table that by-name calls find their handles in, without a lock and without a call but the one
 * that measures the name. The key is a source and a name, so that no call puts the two together;
 * what they make up together is worked out when a name is first used, in by_name.c.
 *
 * Entries stand in buckets of seven, a byte of each one's hash in the first word of the bucket,
 * where all seven are compared at once: a lookup takes one line of the table and one of the entry
 * that it finds, whichever of the seven that is, and no branch goes by which. That counts more than
 * the number of instructions: with names at random, a chain or a sequence of probes makes the
 * processor guess wrong for every fourth of them, once it has waited for the memory that tells.
 *
 * A grown table replaces one, which stays for those who are reading it. Entries are never taken
 * out: what they lead to is a handle of the default registry, valid for the life of the process.
 */
#ifndef CREST_NAME_TABLE_H
#define CREST_NAME_TABLE_H

#include "base/atomic.h"
#include "base/hash.h"
#include "instruments/sources.h"

/* Entries of the table: beyond it names are looked up in the registry, which takes longer. More
 * than metrics that may be made by name, because declared ones are called by name too. */
#define CREST_BY_NAME_ENTRIES_MAX (4u * CREST_BY_NAME_MAX)

#define CREST_NAME_BUCKET_ENTRIES 7u

/* One is begun on a cache line, where it is alone: of a name of up to 48 bytes nothing that is
 * looked at is in another one. */
typedef struct crest_name_entry {
    uint64_t mark;
    void *handle;
    crest_ends ends; /* of the name */
    char name[];
} crest_name_entry;

typedef struct crest_name_bucket {
    uint64_t tags; /* a byte for each entry, from the lowest on; 0: there is none */
    crest_name_entry *entry[CREST_NAME_BUCKET_ENTRIES];
} crest_name_bucket;

typedef struct crest_name_table {
    uint64_t mask; /* buckets - 1; their number is a power of two */
    uint64_t count;
    crest_name_bucket *bucket;
} crest_name_table;

/* Never NULL: the first one is empty. */
extern __attribute__((visibility("hidden"))) crest_name_table *crest_name_table_now;

/* What a name of `length` bytes leads to. */
typedef struct crest_by_name_key {
    const crest_source_state *source;
    const char *name;
    size_t length;
    crest_kind kind;
} crest_by_name_key;

/* Puts it into the table, if there is room and no fork holds the lock. */
void crest_by_name_keep(const crest_by_name_key *key, void *handle);

/* All of an entry but its text that has to be the same, in one word: the low half of the hash, by
 * which the table goes, and what of the key is not text. */
static inline uint64_t crest_name_mark(crest_by_name_key key, crest_ends ends)
{
    uint64_t hash = crest_hash_done(
        crest_hash_more(crest_atomic_load(&key.source->seed), key.name, key.length, ends));
    uint32_t beside = key.source->number << 16 | (uint32_t)key.kind << 8 | (uint32_t)key.length;
    return (uint64_t)beside << 32 | (uint32_t)hash;
}

/* Of a mark, whose low bits are the bucket's number: the byte there, never 0. */
static inline uint64_t crest_name_tag(uint64_t mark)
{
    return (mark >> 24 & 0xff) | 0x80;
}

/* The highest bit of each byte of `tags` that is the tag. Above such a byte it may also be that of
 * a byte which is the tag but for its lowest bit: the entry itself tells. */
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

/* Where the first match in its own bucket is not it: the handle if the table has it. */
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
    /* acquire: partner of the release store in name_table_put, so that the entries are there */
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
