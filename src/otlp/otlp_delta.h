/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences of two snapshots, as a source of the encoder: what has come since an earlier one.
 *
 *     crest_otlp_delta delta;
 *     crest_otlp_delta_init(&delta, snapshot, previous);
 *     ...encode crest_otlp_source_delta, with (const crest_snapshot *)&delta...
 *     crest_otlp_delta_fini(&delta);
 *
 * Counters and distributions are differences; all else is as in the snapshot. A row of a series
 * that the earlier snapshot had has no time when it was made. Not thread-safe.
 */
#ifndef CREST_OTLP_DELTA_H
#define CREST_OTLP_DELTA_H

#include "page/page_source.h"
#include <crest/reporter.h>

typedef struct crest_otlp_delta {
    crest_report report; /* the two snapshots */
    /* the series that `grown` is of, SIZE_MAX: none; NULL: nothing has come */
    size_t index;
    crest_distribution *grown;
    int lacked; /* there was no memory: what the last series said is not so */
} crest_otlp_delta;

/* Both snapshots are borrowed; `previous` may be NULL, for nothing. */
void crest_otlp_delta_init(crest_otlp_delta *delta, const crest_snapshot *snapshot,
                           const crest_snapshot *previous);
/* Frees what it has made. */
void crest_otlp_delta_fini(crest_otlp_delta *delta);

extern const crest_page_source crest_otlp_source_delta;

#endif
