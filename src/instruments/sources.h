/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of sources: what CREST_SOURCE and crest_source_get give, once for all that have the
 * same text.
 */
#ifndef CREST_SOURCES_H
#define CREST_SOURCES_H

#include "base/atomic.h"
#include <crest/by_name.h>

/* A source's text, once for all that have it. */
typedef struct crest_source_state {
    crest_source source; /* what crest_source_get gives */
    uint64_t seed;       /* of the hash of every name under it */
    crest_status status; /* what records under it come to */
    uint32_t number;     /* below CREST_SOURCES_MAX + 1; 0: the one that puts nothing there */
    const char *text;
    size_t length;
    struct crest_source_state *next;
} crest_source_state;

/* What no source comes to. */
extern __attribute__((visibility("hidden"))) crest_source crest_source_none;

/* The source's state, made if need be; NULL if there is no memory or there are too many, which
 * *status then says. NULL is no source. Lock-free but for the first time. */
const crest_source_state *crest_source_resolve(crest_source *source, crest_status *status);

/* The same if there is one already under which names can be recorded; else NULL. */
static inline const crest_source_state *crest_source_seen(crest_source *source)
{
    if (source == NULL)
        source = &crest_source_none;
    /* acquire: partner of the release store in crest_source_resolve */
    const crest_source_state *state = crest_atomic_load_ptr_acquire(CREST_PTR(&source->state));
    return CREST_LIKELY(state != NULL && state->status == CREST_OK) ? state : NULL;
}

#endif
