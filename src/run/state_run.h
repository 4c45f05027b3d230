/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options state= and state.*, and when the state file is opened:
 *
 *  - at load, if CREST_OPTS names it: before anything records, in every host, a JVM included;
 *  - else by crest_start, while the process has one thread. Cells move into the file then, and what
 *    another thread added meanwhile would be lost; so with more threads there is no file, and the
 *    start is CREST_PARTIAL.
 */
#ifndef CREST_STATE_RUN_H
#define CREST_STATE_RUN_H

#include "adopt/adoption.h"
#include "run/options.h"
#include "state/state_place.h"

typedef struct crest_state_options {
    crest_state_wish wish; /* dir NULL: no file; texts lie in the options */
    crest_adopt_which adopt;
    int none_asked; /* there is no such option */
} crest_state_options;

/* CREST_INVALID_OPTIONS with a message. */
crest_status crest_state_options_read(const crest_options *options, crest_state_options *read,
                                      crest_error *error);

/* Opens the file unless there is one. CREST_PARTIAL, with a message that was logged too, where it
 * cannot be had, or there is another one; the start goes on. Not under the lock. */
crest_status crest_state_start(const crest_state_options *options, crest_error *error);

/* A listener of ticks: the file's heartbeat, and gauges of its size. */
void crest_state_tick(void);

#endif
