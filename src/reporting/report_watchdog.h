/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog of reports under way. What happens to a report:
 *
 *   1. Its deadline passes: the watcher calls the reporter's cancel, again after growing pauses.
 *   2. It goes on all the same: the watcher tells the log, once.
 *
 * Watchers: the ticker, at each tick, and callers that wait for reporters, as crest_stop does, to
 * the millisecond. Each attached reporter with a thread keeps the ticker.
 *
 *     until_ns = crest_report_watch();    under the attachments' lock
 *     ... wait until then, or less ...
 */
#ifndef CREST_REPORT_WATCHDOG_H
#define CREST_REPORT_WATCHDOG_H

#include "reporting/attachment.h"

/* The first pause between two calls of a reporter's cancel. Each later pause is twice as long, up
 * to the last. */
#define CREST_CANCEL_MS_FIRST 100u
#define CREST_CANCEL_MS_LAST 10000u
/* How long past its deadline the log is told of a report: half of its time, within these. */
#define CREST_OVERDUE_MS_LEAST 100u
#define CREST_OVERDUE_MS_MOST 5000u

/* Under the lock, given up while cancel or the log is called. Returns when to look again;
 * UINT64_MAX: no report is under way. */
uint64_t crest_report_watch(void);
/* The same for callers without the lock. */
void crest_report_watch_now(void);

/* Under the lock: a report begins, with this deadline. */
void crest_report_watch_begin(crest_attachment *attachment, uint64_t until_ns);
/* Under the lock: the report has ended. Non-zero if the log was told of it. */
int crest_report_watch_end(crest_attachment *attachment);
/* Under the lock: a report under way is cancelled at this time, if that is sooner. */
void crest_report_watch_cut(crest_attachment *attachment, uint64_t until_ns);

/* The reporter's own function begins, or has returned: cancel is only called in between. Not under
 * the lock. */
void crest_report_watch_enter(crest_attachment *attachment);
void crest_report_watch_leave(crest_attachment *attachment);

/* Sets the gauges of how long reports have been under way, but not of one on the caller's own
 * thread. Not under the lock. */
void crest_report_watch_gauges(void);

#endif
