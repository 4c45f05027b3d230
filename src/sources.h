/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources and names: the table that by-name calls find their handles in. The key is a source and a
 * name, so that no call puts the two together; what they make up together is worked out when a name
 * is first used, in by_name.c.
 */
#ifndef CREST_SOURCES_H
#define CREST_SOURCES_H

#include <crest/by_name.h>

/* Entries of the table: beyond it names are looked up in the registry, which takes longer. More
 * than metrics that may be made by name, because declared ones are called by name too. */
#define CREST_BY_NAME_ENTRIES_MAX (4u * CREST_BY_NAME_MAX)

/* A source's text, once for all that have it. */
typedef struct crest_source_state {
    crest_source source; /* what crest_source_get gives */
    struct crest_source_state *next;
    uint64_t seed; /* of the hash of every name under it */
    const char *text;
    size_t length;
    crest_status status; /* what records under it come to */
} crest_source_state;

/* The source's state, made if need be; NULL if there is no memory or there are too many, which
 * *status then says. NULL is no source. Lock-free but for the first time. */
const crest_source_state *crest_source_resolve(crest_source *source, crest_status *status);

/* What a name of `length` bytes leads to. */
typedef struct crest_by_name_key {
    const crest_source_state *source;
    const char *name;
    size_t length;
    crest_kind kind;
} crest_by_name_key;

/* The handle, or NULL when the table has none of this source, name and kind. Lock-free. */
void *crest_by_name_find(const crest_by_name_key *key);

/* Puts it into the table, if there is room and no fork holds the lock. */
void crest_by_name_keep(const crest_by_name_key *key, void *handle);

#endif
