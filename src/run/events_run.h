/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options `events=` and `events.*`: read with the plan, carried out before reporters are
 * attached, and the gauges of what was written.
 */
#ifndef CREST_EVENTS_RUN_H
#define CREST_EVENTS_RUN_H

#include "events/event_file.h"
#include "run/options.h"

typedef struct crest_events_options {
    int on;
    crest_events_wish wish; /* texts lie in the options */
} crest_events_options;

/* CREST_INVALID_OPTIONS with a message. */
crest_status crest_events_options_read(const crest_options *options, crest_events_options *read,
                                       crest_error *error);

/* Begins to write events, if they ask for it. CREST_PARTIAL, with a message that was logged too,
 * where that cannot be had; the start goes on without. */
crest_status crest_events_start(const crest_events_options *options, crest_error *error);

/* Ends it. */
void crest_events_stop(void);

#endif
