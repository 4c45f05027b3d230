/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reports: the thread of each attached reporter, which waits for its time, a request or the
 * end; or the host's loop, which takes turns for those without a thread.
 */
#ifndef CREST_REPORTER_THREAD_H
#define CREST_REPORTER_THREAD_H

#include "reporting/attachment.h"

/* Under the lock, of one that is in the list: starts its thread, if it is to have one. Its reports
 * are watched from then on (report_watchdog.h). 0, or why there is no thread. */
int crest_reporter_launch(crest_attachment *attachment);

/* Of one that the host's loop does, under the lock, which is given up meanwhile, while the loop is
 * held: a report now; and its end, to be followed by what follows a thread's. */
void crest_reporter_turn(crest_attachment *attachment);
void crest_reporter_end(crest_attachment *attachment);

/* A turn of the host's loop (loop_run.c): the report that is due longest, and every server's turn.
 * When the next one is due. */
uint64_t crest_reporters_turn(void);

#endif
