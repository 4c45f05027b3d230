/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of sources. See sources.h.
 */
#include "instruments/sources.h"
#include "base/arena.h"
#include "base/atomic.h"
#include "base/hash.h"
#include "base/lock.h"
#include "names/names.h"

#include <string.h>

static crest_source_state sources_none = {.source = {NULL, &sources_none, CREST_ABI}, .text = ""};
crest_source crest_source_none;
static crest_source_state *sources_newest;
static uint64_t sources_count;

/* Checks a name under the source, not the source itself: "up" may be a source, though it is no
 * valid name. */
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
    state->number = (uint32_t)++sources_count;
    *status = CREST_OK;
    return state;
}

/* The empty source needs no lock, so by-name calls work while a fork holds it. */
static crest_source_state *sources_without(void)
{
    crest_atomic_store(&sources_none.seed, crest_hash_seed());
    return &sources_none;
}

const crest_source_state *crest_source_resolve(crest_source *source, crest_status *status)
{
    if (source == NULL)
        source = &crest_source_none;
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
