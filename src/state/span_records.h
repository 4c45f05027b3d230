/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finished spans in the state file: the last ones, in two extents that are filled in turn, see
 * crest_state_span in state_format.h.
 *
 *     crest_state_spans_open()                 once spans are traced
 *     if (crest_state_spans_are_on())
 *         crest_state_note_span(&span, words, texts);
 *
 * All under the tracing lock. A child of a fork has none.
 */
#ifndef CREST_SPAN_RECORDS_H
#define CREST_SPAN_RECORDS_H

#include "state/state_format.h"

/* Takes both extents, under the lock, if there is a file and they are not taken yet. Without room
 * for them no span is written, and one record is counted as refused. */
void crest_state_spans_open(void);
int crest_state_spans_are_on(void);

/* Writes a span; `words` and `texts` as crest_state_span tells, by its counts. 0 when its record is
 * larger than CREST_STATE_SPAN_BYTES_MAX: nothing is written. */
int crest_state_note_span(const crest_state_span *span, const uint64_t *words,
                          const char *const *texts);

#endif
