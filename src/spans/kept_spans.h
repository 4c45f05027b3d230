/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which spans were kept lately, by operation and metric: so that the exemplar of a timer, its
 * slowest operation, can name the span that a reader will find.
 *
 *     crest_kept_spans_note(&span);                                  the tracing thread
 *     if (crest_kept_spans_find(&op, name, &trace, &id)) ...         a page's thread
 *
 * A table with a place for each of 1024 hashes; a later span takes the place of another's, and of
 * the same operation and metric the longest stays. Hashes of 64 bits are compared, not names.
 */
#ifndef CREST_SPANS_KEPT_SPANS_H
#define CREST_SPANS_KEPT_SPANS_H

#include <crest/span.h>

#define CREST_KEPT_SPANS 1024u

/* Thread-safe; locks; the first call allocates 48 KiB, and without memory does nothing. Spans
 * without an operation, and those that stand for others, are left out. */
void crest_kept_spans_note(const crest_span *span);

/* 0: no such span is known. Thread-safe; locks. */
int crest_kept_spans_find(const crest_op *op, const char *name, crest_trace_id *trace,
                          crest_span_id *id);

/* The same, of a process that has kept none; for tests. */
void crest_kept_spans_forget(void);

#endif
