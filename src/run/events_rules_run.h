/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options events.rules=RULES and events.rules-file=PATH: read with the plan, in force before
 * events begin. The file is read again by the ticker when it changes.
 */
#ifndef CREST_EVENTS_RULES_RUN_H
#define CREST_EVENTS_RULES_RUN_H

#include "run/options.h"

/* Tries them. CREST_INVALID_OPTIONS with a sentence, for a file that cannot be read too;
 * CREST_NO_MEMORY. */
crest_status crest_events_rules_check(const crest_options *options, crest_error *error);

/* Puts them in force; without them rules that crest_events_set gave stay. As above. */
crest_status crest_events_rules_start(const crest_options *options, crest_error *error);

/* A tick: reads a file that has changed, tells what limiters held back, hands events to the log. */
void crest_events_rules_tick(void);

/* Before events end: what a tick does, for the last time. */
void crest_events_rules_stop(void);

#endif
