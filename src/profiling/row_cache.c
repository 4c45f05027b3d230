/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of rows. See row_cache.h.
 */
#include "profiling/row_cache.h"
#include "base/atomic.h"

#define ROW_CACHE_WORDS 3u

typedef struct row_cache_entry {
    uint64_t tag;
    uint64_t word[ROW_CACHE_WORDS];
} row_cache_entry;

_Static_assert(sizeof(crest_unwind_row) == ROW_CACHE_WORDS * sizeof(uint64_t), "a row's words");

static row_cache_entry row_cache[CREST_ROW_CACHE_ENTRIES];

/* Never 0 or 1. The mixing is one to one, so that two addresses of a generation differ. */
static uint64_t row_cache_tag(uint64_t pc, uint32_t generation)
{
    uint64_t tag = (pc ^ ((uint64_t)generation << 48)) * UINT64_C(0x9e3779b97f4a7c15);
    return tag > 1 ? tag : 2;
}

static row_cache_entry *row_cache_at(uint64_t tag)
{
    return &row_cache[(tag >> 40) % CREST_ROW_CACHE_ENTRIES];
}

int crest_row_cache_get(uint64_t pc, uint32_t generation, crest_unwind_row *row)
{
    uint64_t tag = row_cache_tag(pc, generation), word[ROW_CACHE_WORDS];
    row_cache_entry *entry = row_cache_at(tag);
    /* acquire: partner of the release store in crest_row_cache_put */
    if (crest_atomic_load_acquire(&entry->tag) != tag)
        return 0;
    for (unsigned i = 0; i < ROW_CACHE_WORDS; i++)
        /* acquire: the words before the second look at the tag; partner: the swap in _put */
        word[i] = crest_atomic_load_acquire(&entry->word[i]);
    if (crest_atomic_load(&entry->tag) != tag)
        return 0;
    __builtin_memcpy(row, word, sizeof *row);
    return 1;
}

void crest_row_cache_put(uint64_t pc, uint32_t generation, const crest_unwind_row *row)
{
    uint64_t tag = row_cache_tag(pc, generation), word[ROW_CACHE_WORDS];
    row_cache_entry *entry = row_cache_at(tag);
    uint64_t before = crest_atomic_load(&entry->tag);
    if (before == 1 || !crest_atomic_cas(&entry->tag, before, 1))
        return;
    __builtin_memcpy(word, row, sizeof *row);
    for (unsigned i = 0; i < ROW_CACHE_WORDS; i++)
        /* release: after the swap; partner: the acquire loads in _get, which then see tag 1 */
        crest_atomic_store_release(&entry->word[i], word[i]);
    /* partner: the acquire load in crest_row_cache_get */
    crest_atomic_store_release(&entry->tag, tag);
}
