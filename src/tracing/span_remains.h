/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept spans into the state file as soon as they are kept, so that `crest op` finds them after a
 * kill, whether or not an exporter has had them.
 */
#ifndef CREST_SPAN_REMAINS_H
#define CREST_SPAN_REMAINS_H

#include <crest/span.h>

/* Under the tracing lock. One whose record would be too large goes without its attributes, events
 * and message; links are left out. Does nothing without a state file. */
void crest_span_remains_note(const crest_span *spans, size_t count);

#endif
