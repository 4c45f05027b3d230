/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences of a snapshot to what was delivered before, as a source of the encoder.
 *
 *     crest_otlp_delta delta;
 *     crest_otlp_delta_init(&delta, snapshot, options);
 *     ...encode crest_otlp_source_delta, with (const crest_snapshot *)&delta...
 *     crest_otlp_delta_fini(&delta);
 *
 * Counters and distributions are differences; all else is as in the snapshot. A row of a series
 * that was delivered before has no time when it was made; crest_otlp_delta_since has when it was
 * delivered. Not thread-safe.
 */
#ifndef CREST_OTLP_DELTA_H
#define CREST_OTLP_DELTA_H

#include "page/page_source.h"

#include <crest/otlp.h>
#include <crest/reporter.h>

typedef struct crest_otlp_delta {
    crest_report report; /* the snapshot, and crest_otlp_options.previous */
    crest_otlp_delivered_fn *delivered;
    void *delivered_context;
    /* of the rows that were read last: when each was delivered; 0: it was not */
    const crest_page_row *rows;
    uint64_t since_ns[CREST_PAGE_ROWS];
    /* the series that `grown` is of, SIZE_MAX: none; NULL: nothing has come */
    size_t index;
    crest_distribution *grown;
    int lacked; /* there was no memory: what the last series said is not so */
} crest_otlp_delta;

/* Snapshot and options are borrowed. */
void crest_otlp_delta_init(crest_otlp_delta *delta, const crest_snapshot *snapshot,
                           const crest_otlp_options *options);
/* Frees what it has made. */
void crest_otlp_delta_fini(crest_otlp_delta *delta);

/* When the series of a row was delivered, since 1970; 0: it was not, or it is no row of those that
 * were read last. */
uint64_t crest_otlp_delta_since(const crest_otlp_delta *delta, const crest_page_row *row);

extern const crest_page_source crest_otlp_source_delta;

#endif
