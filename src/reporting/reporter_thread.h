/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of each attached reporter, or its turns in the host's loop. The thread waits for its
 * time, a request or the end; without threads, the host's loop takes turns instead.
 */
#ifndef CREST_REPORTER_THREAD_H
#define CREST_REPORTER_THREAD_H

#include "reporting/attachment.h"

/* Under the lock, for an attachment in the list: starts its thread, if it is to have one. The
 * watchdog (report_watchdog.h) watches its reports from then on. 0, or why there is no thread. */
int crest_reporter_launch(crest_attachment *attachment);

/* For an attachment of the host's loop, under the lock, given up meanwhile, while the loop is held:
 * makes a report now; and ends it, as a thread's end does. */
void crest_reporter_turn(crest_attachment *attachment);
void crest_reporter_end(crest_attachment *attachment);

/* A turn of the host's loop (loop_run.c): makes the report that is due longest, and takes every
 * server's turn. Returns when the next turn is due. */
uint64_t crest_reporters_turn(void);

#endif
