/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events to the log callback, of those whose rules say to=log: read out of the process's own rings
 * by the ticker, so that no writer waits for a callback.
 */
#ifndef CREST_EVENT_LOG_H
#define CREST_EVENT_LOG_H

/* Hands on what came since the last turn, at most CREST_EVENT_LOG_TURN events. One thread at a
 * time; a second one returns at once. */
#define CREST_EVENT_LOG_TURN 10000u
void crest_event_log_turn(void);

/* Events end: a last turn, and no reader any more. */
void crest_event_log_end(void);

#endif
