/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kept span as an object of Zipkin's JSON. What its members mean is in <crest/zipkin.h>. Pure.
 */
#ifndef CREST_REPORTERS_ZIPKIN_SPAN_H
#define CREST_REPORTERS_ZIPKIN_SPAN_H

#include "common/json_text.h"

#include <crest/span.h>

/* Writes the object in pieces; returns what `write` returned when it stopped it, else 0. `resource`
 * may be NULL. */
int crest_zipkin_span_write(const crest_span *span, const crest_resource *resource,
                            crest_write_fn *write, void *context);

#endif
