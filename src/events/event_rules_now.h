/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that are in force, compiled into the word that an event's call sites read, and into its
 * limiter. They are guarded by the lock of the list of events, event_known.h.
 */
#ifndef CREST_EVENT_RULES_NOW_H
#define CREST_EVENT_RULES_NOW_H

#include "events/event_known.h"

/* Not under the lock: puts these rules in force, for all events; says where they are from in a
 * message. As crest_events_set. */
crest_status crest_event_rules_use(const char *rules, const char *origin, crest_error *error);

/* Not under the lock: gives all events the words that they shall have, as when events begin or
 * end. */
void crest_event_rules_apply(void);

/* Not under the lock: an event for each limiter that held events back since the last time. The
 * ticker calls it. */
void crest_event_limits_tell(void);

/* Whether any event goes to one of these outputs, CREST_EVENT_TO_*. Any thread. */
int crest_event_rules_any(unsigned outputs);

#endif
