/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines about events that are no event: how many were overwritten before they were read.
 */
#ifndef CREST_REPORTERS_EVENT_LINE_H
#define CREST_REPORTERS_EVENT_LINE_H

#include <crest/event_lines.h>

/* As crest_event_line_write. */
int crest_event_line_lost(uint64_t wall_ns, uint64_t lost, uint64_t lost_bytes,
                          crest_event_form form, crest_write_fn *write, void *context);

#endif
