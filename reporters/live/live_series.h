/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the live page asks for again and again: some of all series, as lines of JSON.
 */
#ifndef CREST_REPORTERS_LIVE_SERIES_H
#define CREST_REPORTERS_LIVE_SERIES_H

#include <crest/json_lines.h>

#define CREST_LIVE_SEARCH_BYTES 256u
#define CREST_LIVE_SERIES_DEFAULT 200u
#define CREST_LIVE_SERIES_MAX 2000u
/* The version of the first line. Members may be added within a version. */
#define CREST_LIVE_SCHEMA 1u

/* Which series: of those that match, `most` from the `from`th on. */
typedef struct crest_live_choice {
    char search[CREST_LIVE_SEARCH_BYTES]; /* words, each in the name or in a label, a/A alike */
    char name[CREST_LIVE_SEARCH_BYTES];   /* "": any; else the canonical name */
    unsigned from, most;
    int flight; /* non-zero: what is in flight, by the names of keyed timers' gauges */
    int own;    /* those whose names begin with crest. too */
    crest_json_buckets buckets;
} crest_live_choice;

/* Who is measured; texts that the caller keeps, "" for what there is not. */
typedef struct crest_live_node {
    const char *service, *version, *instance;
} crest_live_node;

/* Writes a first line about the node and its reporters, then one for each series. CREST_NO_MEMORY;
 * CREST_IO when `write` stopped it. */
crest_status crest_live_series_write(crest_registry *registry, const crest_live_choice *choice,
                                     const crest_live_node *node, crest_write_fn *write,
                                     void *context, crest_error *error);

#endif
