/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder of OTLP: a snapshot in, bodies out, and nothing else; no clock, no locale, no
 * registry. The public way to it is <crest/otlp.h>.
 *
 *     otlp.c            the public function; differences as a source of their own (otlp_delta.c)
 *     otlp_encoder.c    the walk: metric after metric, point after point, body after body
 *     otlp_names.c      names and units
 *     otlp_protobuf.c   points and what is around them as protobuf; otlp_points.c: their fields
 *     otlp_json.c       the same as JSON
 *
 * A metric becomes several families, as on a page: its own, and one for each result of its windows.
 * A family is a Metric of OTLP. A body is built in memory, since lengths stand before what they
 * count:
 *
 *     | room for the envelope | Metric | Metric | ... Metric under way: | head | point | point |
 *
 *     1. A point is put behind the others of its family.
 *     2. If the body is too long now, the point is taken off again, the Metric closed without it,
 *        the body handed out, and the Metric opened anew in the next body for the same point.
 *
 * A body that has one point is handed out however long it is: so each point gets out.
 */
#ifndef CREST_OTLP_ENCODER_H
#define CREST_OTLP_ENCODER_H

#include "otlp/otlp_delta.h"
#include "otlp/otlp_inside.h"

/* As crest_otlp_write, of a source's snapshot, in this format. `delta`: says where points of a
 * difference begin; NULL: cumulative. */
crest_status crest_otlp_encode(const crest_otlp_format *format, const crest_page_source *source,
                               const crest_snapshot *snapshot, const crest_otlp_options *options,
                               const crest_otlp_delta *delta, crest_otlp_body_fn *write,
                               void *context, crest_error *error);

#endif
