/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The finished spans of a state file, decoded and in the order of their starts. Nothing in the file
 * is trusted: a record that no library writes is counted as damaged.
 */
#ifndef CREST_FINISHED_SPANS_H
#define CREST_FINISHED_SPANS_H

#include "state/state_view.h"
#include <crest/span.h>

/* Spans of a file at most; a writer has room for fewer. */
#define CREST_FINISHED_SPANS_MAX 1024u

typedef struct crest_finished_spans crest_finished_spans;

/* Those of the view, whose texts they borrow; adds to *damaged. NULL without memory. */
crest_finished_spans *crest_finished_spans_read(const crest_state_view *view, uint64_t *damaged);
void crest_finished_spans_free(crest_finished_spans *spans);

/* Span `index`, from 0; NULL past the end. Borrowed. */
const crest_span *crest_finished_spans_at(const crest_finished_spans *spans, size_t index);

#endif
