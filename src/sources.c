/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of sources, and the table of handles by source and name. See sources.h.
 *
 * The table is open-addressed and read without a lock; a grown one replaces it, and the one before
 * stays for those who are reading it. Entries are never taken out: what they lead to is a handle of
 * the default registry, which is valid for the life of the process.
 */
#include "sources.h"
#include "arena.h"
#include "atomic.h"
#include "hash.h"
#include "lock.h"
#include "names.h"

#include <string.h>

#define SOURCES_SLOTS_MIN 64u

typedef struct sources_entry {
    uint64_t hash;
    const crest_source_state *source;
    void *handle;
    uint32_t kind;
    uint32_t length;
    char name[];
} sources_entry;

typedef struct sources_table {
    uint64_t mask;
    uint64_t count;
    sources_entry *slot[];
} sources_table;

static crest_source_state sources_none = {.source = {NULL, &sources_none, CREST_ABI}, .text = ""};
static crest_source sources_none_given;
static crest_source_state *sources_newest;
static uint64_t sources_count;
static sources_table *sources_by_name;

/* ---- sources ---- */

/* A name under it is what has to be valid, so that "up" can be a source, which is no name. */
crest_status crest_source_check(const char *name, crest_error *error)
{
    char under[CREST_NAME_BYTES_MAX + 3], why[CREST_NAMES_WHY_BYTES];
    if (name == NULL || name[0] == '\0')
        return CREST_OK;
    size_t length = strnlen(name, CREST_NAME_BYTES_MAX + 1);
    if (length > CREST_NAME_BYTES_MAX)
        return crest_error_set(error, CREST_INVALID_NAME,
                               "a source is not valid: %.40s... is longer than %u bytes", name,
                               CREST_NAME_BYTES_MAX);
    memcpy(under, name, length);
    memcpy(under + length, ".x", 3);
    crest_status status = crest_name_check(under, why, sizeof why);
    if (status != CREST_OK)
        crest_error_set(error, status, "a source is not valid: of \"%s\", %s", under, why);
    return status;
}

/* Under the lock. */
static crest_source_state *sources_make(const char *text, crest_status *status)
{
    size_t length = strnlen(text, CREST_NAME_BYTES_MAX + 1);
    for (crest_source_state *state = sources_newest; state != NULL; state = state->next)
        if (state->length == length && memcmp(state->text, text, length) == 0)
            return state;
    *status = CREST_LIMIT;
    if (sources_count >= CREST_SOURCES_MAX)
        return NULL;
    *status = CREST_NO_MEMORY;
    crest_source_state *state =
        crest_arena_take(CREST_ARENA_META, sizeof *state, _Alignof(crest_source_state));
    if (state == NULL || (state->text = crest_arena_copy(text, length)) == NULL)
        return NULL;
    state->length = length;
    state->seed = crest_hash_bytes(crest_hash_seed(), text, length);
    state->status = crest_source_check(text, NULL);
    state->source = (crest_source){state->text, state, CREST_ABI};
    state->next = sources_newest;
    sources_newest = state;
    sources_count++;
    *status = CREST_OK;
    return state;
}

/* No source needs no lock: a fork that holds it keeps nobody from calling by name. */
static crest_source_state *sources_without(void)
{
    crest_atomic_store(&sources_none.seed, crest_hash_seed());
    return &sources_none;
}

const crest_source_state *crest_source_resolve(crest_source *source, crest_status *status)
{
    if (source == NULL)
        source = &sources_none_given;
    /* acquire: partner of the release store below */
    crest_source_state *state = crest_atomic_load_ptr_acquire(CREST_PTR(&source->state));
    if (CREST_LIKELY(state != NULL)) {
        *status = state->status;
        return state;
    }
    if (source->name != NULL && source->abi != CREST_ABI) {
        *status = CREST_ABI_MISMATCH;
        return NULL;
    }
    if (source->name == NULL || source->name[0] == '\0') {
        state = sources_without();
    } else {
        crest_lock_saved saved;
        crest_lock_take(&saved);
        state = sources_make(source->name, status);
        crest_lock_drop(&saved);
    }
    if (state == NULL)
        return NULL;
    /* partner: the acquire load above, by the next call */
    crest_atomic_store_ptr_release(CREST_PTR(&source->state), state);
    *status = state->status;
    return state;
}

/* ---- the table ---- */

static inline uint64_t sources_word(const char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static inline uint64_t sources_half(const char *from)
{
    uint32_t half;
    memcpy(&half, from, sizeof half);
    return half;
}

/*
 * Names are short and each call hashes one: sixteen bytes a multiplication, the last ones read
 * twice rather than byte by byte, as wyhash does it (github.com/wangyi-fudan/wyhash, public
 * domain). Both factors depend on the process' seed, so that no text makes one of them zero.
 */
static inline uint64_t sources_hash(const crest_by_name_key *key)
{
    const char *name = key->name;
    size_t length = key->length;
    uint64_t seed = crest_atomic_load(&key->source->seed), first = 0, last = 0,
             hash = seed ^ length;
    __extension__ typedef unsigned __int128 wide;
    wide product;
    if (length > 16) {
        size_t at = 0;
        for (; at + 16 < length; at += 16) {
            product = (wide)(sources_word(name + at) ^ hash) *
                      (sources_word(name + at + 8) ^ (seed << 32 | seed >> 32));
            hash = (uint64_t)product ^ (uint64_t)(product >> 64);
        }
        first = sources_word(name + length - 16);
        last = sources_word(name + length - 8);
    } else if (length >= 8) {
        first = sources_word(name);
        last = sources_word(name + length - 8);
    } else if (length >= 4) {
        first = sources_half(name);
        last = sources_half(name + length - 4);
    } else if (length != 0) {
        first = (uint64_t)(unsigned char)name[0] << 16 |
                (uint64_t)(unsigned char)name[length / 2] << 8 | (unsigned char)name[length - 1];
    }
    product = (wide)(first ^ hash) * (last ^ (seed << 32 | seed >> 32));
    hash = (uint64_t)product ^ (uint64_t)(product >> 64);
    return crest_hash_mix(hash, seed);
}

/* The first of the slots where such an entry may be: NULL behind the last. */
static inline sources_entry *sources_at(const sources_table *table, uint64_t place)
{
    /* acquire: partner of the release store in sources_put */
    return crest_atomic_load_ptr_acquire(CREST_PTR(&table->slot[place & table->mask]));
}

static inline int sources_same(const sources_entry *entry, uint64_t hash,
                               const crest_by_name_key *key)
{
    return entry->hash == hash && entry->source == key->source && entry->length == key->length &&
           memcmp(entry->name, key->name, key->length) == 0;
}

void *crest_by_name_find(const crest_by_name_key *key)
{
    /* acquire: partner of the release store in sources_grow */
    const sources_table *table = crest_atomic_load_ptr_acquire(CREST_PTR(&sources_by_name));
    if (table == NULL)
        return NULL;
    uint64_t hash = sources_hash(key);
    sources_entry *entry;
    for (uint64_t place = hash; (entry = sources_at(table, place)) != NULL; place++)
        if (sources_same(entry, hash, key))
            return entry->kind == (uint32_t)key->kind ? entry->handle : NULL;
    return NULL;
}

/* Under the lock, into a table that has room. */
static void sources_put(sources_table *table, sources_entry *entry)
{
    uint64_t place = entry->hash;
    while (table->slot[place & table->mask] != NULL)
        place++;
    table->count++;
    /* partner: the acquire load in sources_at */
    crest_atomic_store_ptr_release(CREST_PTR(&table->slot[place & table->mask]), entry);
}

/* Under the lock: a table that is at most half full with one entry more; NULL if there is none. */
static sources_table *sources_grow(void)
{
    sources_table *table = sources_by_name;
    if (table != NULL && table->count >= CREST_BY_NAME_ENTRIES_MAX)
        return NULL;
    if (table != NULL && 2 * (table->count + 1) <= table->mask + 1)
        return table;
    uint64_t slots = table != NULL ? 2 * (table->mask + 1) : SOURCES_SLOTS_MIN;
    sources_table *grown = crest_arena_take(
        CREST_ARENA_META, sizeof *grown + slots * sizeof grown->slot[0], CREST_LINE_BYTES);
    if (grown == NULL)
        return NULL;
    grown->mask = slots - 1;
    for (uint64_t i = 0; table != NULL && i <= table->mask; i++)
        if (table->slot[i] != NULL)
            sources_put(grown, table->slot[i]);
    /* partner: the acquire load in crest_by_name_find */
    crest_atomic_store_ptr_release(CREST_PTR(&sources_by_name), grown);
    return grown;
}

static void sources_keep_locked(const crest_by_name_key *key, void *handle)
{
    uint64_t hash = sources_hash(key);
    sources_table *table = sources_grow();
    if (table == NULL)
        return;
    for (uint64_t place = hash; table->slot[place & table->mask] != NULL; place++)
        if (sources_same(table->slot[place & table->mask], hash, key))
            return;
    sources_entry *entry = crest_arena_take(CREST_ARENA_META, sizeof *entry + key->length + 1,
                                            _Alignof(sources_entry));
    if (entry == NULL)
        return;
    entry->hash = hash;
    entry->source = key->source;
    entry->handle = handle;
    entry->kind = (uint32_t)key->kind;
    entry->length = (uint32_t)key->length;
    memcpy(entry->name, key->name, key->length);
    sources_put(table, entry);
}

void crest_by_name_keep(const crest_by_name_key *key, void *handle)
{
    crest_lock_saved saved;
    if (!crest_lock_take_unless_forking(&saved))
        return; /* the next call does it */
    sources_keep_locked(key, handle);
    crest_lock_drop(&saved);
}
