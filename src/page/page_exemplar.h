/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exemplars of timers: the slowest operation of the last minute, the same in every format; with its
 * trace and span, if that span was kept.
 *
 *     crest_page_exemplar exemplar;
 *     if (crest_page_exemplar_of(&exemplar, page, metric, index))
 *         ...exemplar.value, exemplar.id...
 */
#ifndef CREST_PAGE_EXEMPLAR_H
#define CREST_PAGE_EXEMPLAR_H

#include "base/utf8.h"
#include "page/page_families.h"
#include <crest/trace_context.h>

/* The label of an exemplar; all its label names and values together may have 128 characters. */
#define CREST_EXEMPLAR_LABEL "operation"
#define CREST_EXEMPLAR_TRACE_LABEL "trace_id"
#define CREST_EXEMPLAR_SPAN_LABEL "span_id"
#define CREST_EXEMPLAR_CHARACTERS_MAX 128u
/* Digits of a trace's and a span's id, with a NUL. */
#define CREST_EXEMPLAR_TRACE_BYTES 33u
#define CREST_EXEMPLAR_SPAN_BYTES 17u

typedef struct crest_page_exemplar {
    double value;     /* in seconds */
    uint64_t wall_ns; /* when the snapshot was taken, up to a minute later */
    size_t id_bytes;
    char id[CREST_OP_TEXT_BYTES * CREST_UTF8_REPLACEMENT_BYTES]; /* valid UTF-8 */
    int traced; /* its span was kept: the ids below are set */
    int whole;  /* the operation's id fits beside them, and is to be there */
    crest_trace_id trace;
    crest_span_id span;
    char trace_text[CREST_EXEMPLAR_TRACE_BYTES], span_text[CREST_EXEMPLAR_SPAN_BYTES];
} crest_page_exemplar;

/* Finds the exemplar of series `index`; 0: it has none, or the page wants none. */
int crest_page_exemplar_of(crest_page_exemplar *exemplar, const crest_page *page,
                           const crest_page_metric *metric, size_t index);

#endif
