/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-metrics of tracing: `crest.spans` counts each offered span by what became of it, so that its
 * series add up to all that were offered and decided.
 */
#ifndef CREST_TRACING_SERIES_H
#define CREST_TRACING_SERIES_H

#include <crest/span.h>

/* Makes the series. Not under the slow path's lock. */
void crest_tracing_series_make(void);

/* Brings them up to these totals. One thread at a time. */
void crest_tracing_series_set(const crest_span_totals *totals);

/* In a forked child. */
void crest_tracing_series_forked(void);

/* In every thread's shard of a traced timer: `noted` is 0, so that each record takes the cold path.
 * Records of a traced timer leave it so. Not under the slow path's lock. */
void crest_tracing_series_forget_noted(void);

#endif
