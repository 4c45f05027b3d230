/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching reports that are under way: one whose deadline has passed is asked to give up (the
 * reporter's cancel), one that goes on all the same is told of in the log, once. The ticker
 * watches, at each tick, and while a caller waits for reporters, as crest_stop does, it watches
 * too, to the millisecond. Each attached reporter with a thread keeps the ticker.
 *
 *     until_ns = crest_report_watch();    under the attachments' lock
 *     ... wait until then, or less ...
 */
#ifndef CREST_REPORT_WATCHDOG_H
#define CREST_REPORT_WATCHDOG_H

#include "reporting/attachment.h"

/* The first pause between two calls of a reporter's cancel; each later one is twice as long, up to
 * the last. */
#define CREST_CANCEL_MS_FIRST 100u
#define CREST_CANCEL_MS_LAST 10000u
/* How long past its deadline a report is told of: half of its time, within these. */
#define CREST_OVERDUE_MS_LEAST 100u
#define CREST_OVERDUE_MS_MOST 5000u

/* Under the lock, given up meanwhile if something has to be done. Returns when there is to be
 * looked again; UINT64_MAX: no report is under way. */
uint64_t crest_report_watch(void);
/* The same, not under the lock. */
void crest_report_watch_now(void);

/* Under the lock: a report begins that may take until then. */
void crest_report_watch_begin(crest_attachment *attachment, uint64_t until_ns);
/* Under the lock: it has ended. Non-zero if it was told of. */
int crest_report_watch_end(crest_attachment *attachment);
/* Under the lock: a report that is under way has to end by then, if that is sooner. */
void crest_report_watch_cut(crest_attachment *attachment, uint64_t until_ns);

/* The reporter's own function begins and has returned: it is only cancelled in between. Not under
 * the lock. */
void crest_report_watch_enter(crest_attachment *attachment);
void crest_report_watch_leave(crest_attachment *attachment);

/* Brings the gauges up to date that say how long reports have been under way, but for one on the
 * caller's own thread. Not under the lock. */
void crest_report_watch_gauges(void);

#endif
