/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of sources: interned, so that all CREST_SOURCE and crest_source_get of the same text
 * share one state.
 */
#ifndef CREST_SOURCES_H
#define CREST_SOURCES_H

#include "base/atomic.h"
#include <crest/by_name.h>

/* A source's state, shared by all sources of its text. */
typedef struct crest_source_state {
    crest_source source; /* the result of crest_source_get */
    uint64_t seed;       /* start of the hash of every name under it */
    crest_status status; /* the status of records under it */
    uint32_t number;     /* 1 to CREST_SOURCES_MAX; 0: the empty source */
    const char *text;
    size_t length;
    struct crest_source_state *next;
} crest_source_state;

/* The empty source. */
extern __attribute__((visibility("hidden"))) crest_source crest_source_none;

/* The source's state, made if need be; NULL without memory or beyond the limit, and *status says
 * which. `source` NULL: the empty one. Lock-free after the first time. */
const crest_source_state *crest_source_resolve(crest_source *source, crest_status *status);

/* The same if it exists and names can be recorded under it; else NULL. */
static inline const crest_source_state *crest_source_seen(crest_source *source)
{
    if (source == NULL)
        source = &crest_source_none;
    /* acquire: partner of the release store in crest_source_resolve */
    const crest_source_state *state = crest_atomic_load_ptr_acquire(CREST_PTR(&source->state));
    return CREST_LIKELY(state != NULL && state->status == CREST_OK) ? state : NULL;
}

#endif
