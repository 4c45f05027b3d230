/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kept span as a line of JSON. What its members mean is in <crest/json_lines.h>.
 */
#ifndef CREST_REPORTERS_SPAN_LINE_H
#define CREST_REPORTERS_SPAN_LINE_H

#include "common/json_text.h"

#include <crest/span.h>

/* Writes the line in pieces; returns what `write` returned when it stopped it, else 0. */
int crest_span_line_write(const crest_span *span, const crest_resource *resource,
                          crest_write_fn *write, void *context);

#endif
