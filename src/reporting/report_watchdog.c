/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancelling reports that are late, and telling of those that hang. See report_watchdog.h.
 */
#include "reporting/report_watchdog.h"
#include "base/error.h"
#include "base/sync.h"
#include "base/utf8.h"

/* Bytes of a reporter's name in a message. */
#define REPORT_WATCH_NAME_BYTES 256

/* ---- of one report ---- */

void crest_report_watch_begin(crest_attachment *attachment, uint64_t until_ns)
{
    crest_watched *watched = &attachment->watched;
    watched->since_ns = crest_attachment_now_ns();
    watched->until_ns = watched->cancel_ns = until_ns;
    watched->pause_ns = CREST_CANCEL_MS_FIRST * CREST_NS_PER_MS;
    uint64_t half_ns = until_ns > watched->since_ns ? (until_ns - watched->since_ns) / 2 : 0;
    if (half_ns < CREST_OVERDUE_MS_LEAST * CREST_NS_PER_MS)
        half_ns = CREST_OVERDUE_MS_LEAST * CREST_NS_PER_MS;
    if (half_ns > CREST_OVERDUE_MS_MOST * CREST_NS_PER_MS)
        half_ns = CREST_OVERDUE_MS_MOST * CREST_NS_PER_MS;
    watched->tell_ns = until_ns + half_ns;
}

int crest_report_watch_end(crest_attachment *attachment)
{
    int told = attachment->watched.told;
    attachment->watched = (crest_watched){.since_ns = 0};
    return told;
}

void crest_report_watch_cut(crest_attachment *attachment, uint64_t until_ns)
{
    crest_watched *watched = &attachment->watched;
    if (watched->cancel_ns > until_ns)
        watched->cancel_ns = until_ns;
}

void crest_report_watch_enter(crest_attachment *attachment)
{
    pthread_mutex_lock(&crest_attachments_lock);
    attachment->watched.inside = 1;
    /* a caller that waits for this report has to watch it from now on */
    pthread_cond_broadcast(&crest_attachments_changed);
    pthread_mutex_unlock(&crest_attachments_lock);
}

void crest_report_watch_leave(crest_attachment *attachment)
{
    pthread_mutex_lock(&crest_attachments_lock);
    attachment->watched.inside = 0;
    while (attachment->watched.cancelling && !attachment->orphaned)
        pthread_cond_wait(&crest_attachments_changed, &crest_attachments_lock);
    pthread_mutex_unlock(&crest_attachments_lock);
}

/* ---- of all ---- */

/* Under the lock, given up during the call of cancel. The report's thread waits for that to
 * return. */
static void report_watch_cancel(crest_attachment *attachment)
{
    crest_watched *watched = &attachment->watched;
    crest_reporter *reporter = attachment->order.reporter;
    watched->cancelling = 1;
    pthread_mutex_unlock(&crest_attachments_lock);
    reporter->cancel(reporter);
    pthread_mutex_lock(&crest_attachments_lock);
    watched->cancelling = 0;
    watched->cancel_ns = crest_attachment_now_ns() + watched->pause_ns;
    if (watched->pause_ns < CREST_CANCEL_MS_LAST * CREST_NS_PER_MS)
        watched->pause_ns *= 2;
    pthread_cond_broadcast(&crest_attachments_changed);
}

/* Under the lock, given up while the log is told; the attachment may be freed afterwards. */
static void report_watch_tell(crest_attachment *attachment, uint64_t now_ns)
{
    char name[REPORT_WATCH_NAME_BYTES];
    crest_utf8_copy(attachment->name, name, sizeof name, NULL);
    double under_way_s = (double)(now_ns - attachment->watched.since_ns) / 1e9;
    double late_s = (double)(now_ns - attachment->watched.until_ns) / 1e9;
    attachment->watched.told = 1;
    pthread_mutex_unlock(&crest_attachments_lock);
    crest_log_write(CREST_LOG_WARNING,
                    "crest: %s: hangs: its report has been under way for %.1f s, and should have "
                    "ended %.1f s ago (no other reporter waits for it; its next report comes when "
                    "this one ends)",
                    name, under_way_s, late_s);
    pthread_mutex_lock(&crest_attachments_lock);
}

/* Under the lock: when this report is next to be cancelled or told of. */
static uint64_t report_watch_due(const crest_attachment *attachment, int *cancel)
{
    const crest_watched *watched = &attachment->watched;
    uint64_t due_ns = UINT64_MAX;
    *cancel = 0;
    if (watched->since_ns == 0)
        return due_ns;
    /* while the process ends, the callers that wait for it tell */
    if (!watched->told && !attachment->stopping)
        due_ns = watched->tell_ns;
    /* not on the report's own thread, where a reporter may be waiting for another */
    if (watched->inside && !watched->cancelling && attachment->cancels &&
        watched->cancel_ns < due_ns && !pthread_equal(attachment->thread, pthread_self())) {
        due_ns = watched->cancel_ns;
        *cancel = 1;
    }
    return due_ns;
}

uint64_t crest_report_watch(void)
{
    uint64_t now_ns = crest_attachment_now_ns(), next_ns = UINT64_MAX;
    crest_attachment *at = crest_attachments;
    while (at != NULL) {
        int cancel;
        uint64_t due_ns = report_watch_due(at, &cancel);
        if (due_ns > now_ns) {
            next_ns = due_ns < next_ns ? due_ns : next_ns;
            at = at->next;
            continue;
        }
        if (cancel)
            report_watch_cancel(at);
        else
            report_watch_tell(at, now_ns);
        /* the list may have changed */
        at = crest_attachments;
        next_ns = UINT64_MAX;
        now_ns = crest_attachment_now_ns();
    }
    return next_ns;
}

void crest_report_watch_now(void)
{
    pthread_mutex_lock(&crest_attachments_lock);
    (void)crest_report_watch();
    pthread_mutex_unlock(&crest_attachments_lock);
}

void crest_report_watch_gauges(void)
{
    /* set after the lock is given up: nothing is recorded under it */
    crest_gauge *gauges[CREST_REPORTERS_MAX];
    double seconds[CREST_REPORTERS_MAX];
    unsigned count = 0;
    pthread_mutex_lock(&crest_attachments_lock);
    uint64_t now_ns = crest_attachment_now_ns();
    for (const crest_attachment *at = crest_attachments; at != NULL; at = at->next) {
        if (at->server || count == CREST_REPORTERS_MAX)
            continue;
        int other = at->watched.since_ns != 0 && !pthread_equal(at->thread, pthread_self());
        gauges[count] = at->order.measures.running;
        seconds[count++] = other ? (double)(now_ns - at->watched.since_ns) / 1e9 : 0;
    }
    pthread_mutex_unlock(&crest_attachments_lock);
    for (unsigned i = 0; i < count; i++)
        crest_gauge_set(gauges[i], seconds[i]);
}
