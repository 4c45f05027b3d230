/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of a reporter, and its turns in the host's loop. See reporter_thread.h.
 */
#define _GNU_SOURCE
#include "reporting/reporter_thread.h"
#include "base/atomic.h"
#include "base/error.h"
#include "base/sync.h"
#include "base/thread.h"
#include "clock/clock_inside.h"
#include "reporting/report_watchdog.h"

#include <stddef.h>
#include <stdio.h>

/* How often a thread with an aligned schedule looks whether the wall clock was set. */
#define REPORTER_THREAD_LOOK_NS UINT64_C(5000000000)
/* Part of the time left for the last report and stop that is kept for stop, and the most of it. */
#define REPORTER_THREAD_SPARE_PART 8u
#define REPORTER_THREAD_SPARE_NS UINT64_C(250000000)
/* What the kernel keeps of a thread's name, its NUL included. */
#define REPORTER_THREAD_NAME_BYTES 16

/* The order is part of its attachment. */
static void reporter_thread_around(crest_one_report *order, int begins)
{
    crest_attachment *attachment =
        (crest_attachment *)(void *)((char *)order - offsetof(crest_attachment, order));
    if (begins)
        crest_report_watch_enter(attachment);
    else
        crest_report_watch_leave(attachment);
}

/* Under the lock: answers the callers of these requests. */
static void reporter_thread_serve(crest_request **requests, crest_status status,
                                  const crest_error *error)
{
    while (*requests != NULL) {
        crest_request *request = *requests;
        *requests = request->next;
        request->status = status;
        if (request->error != NULL)
            *request->error = *error;
        request->served = 1;
    }
    pthread_cond_broadcast(&crest_attachments_changed);
}

/* Tells the log of the first failure of a streak, and of its end: a server that is down for hours
 * is no news a thousand times. After a failed last report nothing delivers what it had. Not under
 * the lock. */
static void reporter_thread_tell(const crest_one_report *order, uint64_t failures_before,
                                 crest_status status, const crest_error *error)
{
    if (status != CREST_OK && order->final)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: %s: %s (this was the last report: what was recorded since the one "
                        "that last succeeded is not delivered)",
                        order->name, error->message);
    else if (status != CREST_OK && failures_before == 0 && order->no_snapshot)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: %s: %s (it is tried again; what is lost meanwhile is counted)",
                        order->name, error->message);
    else if (status != CREST_OK && failures_before == 0)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: %s: %s (nothing is lost: it is tried again%s, and the next report "
                        "that succeeds is complete)",
                        order->name, error->message,
                        status == CREST_REFUSED ? " at its next regular time" : "");
    if (status == CREST_OK && failures_before > 0)
        crest_log_write(CREST_LOG_INFO, "crest: %s: reports again, after %llu failure%s",
                        order->name, (unsigned long long)failures_before,
                        failures_before == 1 ? "" : "s");
}

/* How long a report may take. The last report leaves a part of the time for the reporter's stop.
 * That lets it fail with a reason rather than be left behind. */
static uint64_t reporter_thread_timeout_ns(const crest_attachment *attachment, uint64_t now_ns)
{
    if (!attachment->order.final)
        return attachment->timeout_ns;
    if (attachment->stop_ns <= now_ns)
        return 1;
    uint64_t left_ns = attachment->stop_ns - now_ns,
             spare_ns = left_ns / REPORTER_THREAD_SPARE_PART;
    return left_ns - (spare_ns < REPORTER_THREAD_SPARE_NS ? spare_ns : REPORTER_THREAD_SPARE_NS);
}

/* Under the lock: sets when a failed report is tried again, not before its server wants that. */
static void reporter_thread_retry(crest_attachment *attachment)
{
    const crest_one_report *order = &attachment->order;
    crest_pace_time now = crest_attachment_time();
    uint64_t now_ns = crest_now();
    crest_pace_retry(&attachment->pace, now, order->failures);
    if (order->retry_at_ns > now_ns)
        crest_pace_not_before(&attachment->pace, now.now_ns + (order->retry_at_ns - now_ns));
}

/* Under the lock: notes the result of a report that has ended. */
static void reporter_thread_note(crest_attachment *attachment, crest_status status,
                                 const crest_error *error, uint64_t began_ns, int was_due)
{
    crest_reporter_state *state = &attachment->state;
    const crest_one_report *order = &attachment->order;
    state->reports++;
    state->last_duration_ns = order->duration_ns;
    state->series = order->series;
    state->consecutive_failures = order->failures;
    attachment->last_status = status;
    if (status == CREST_OK) {
        crest_atomic_store(&attachment->delivery.delivered_ns, began_ns);
    } else {
        state->failures++;
        state->last_error = *error;
    }
    if (status != CREST_OK && status != CREST_REFUSED)
        reporter_thread_retry(attachment);
    else if (was_due)
        crest_pace_next(&attachment->pace, crest_attachment_time());
}

/* Under the lock, given up during the report. Afterwards the attachment may be abandoned or
 * orphaned, and its reporter freed. */
static void reporter_thread_turn(crest_attachment *attachment, int final)
{
    crest_one_report *order = &attachment->order;
    uint64_t now_ns = crest_attachment_now_ns(), failures_before = order->failures;
    int was_due = attachment->pace.due_ns <= now_ns || attachment->pace.retrying;
    order->final = final;
    order->timeout_ns = reporter_thread_timeout_ns(attachment, now_ns);
    crest_report_watch_begin(attachment, now_ns + order->timeout_ns);
    attachment->serving = attachment->waiting;
    attachment->waiting = NULL;
    pthread_mutex_unlock(&crest_attachments_lock);

    crest_error error;
    uint64_t began_ns = crest_now();
    crest_status status = crest_one_report_make(order, &error);
    reporter_thread_tell(order, failures_before, status, &error);
    uint64_t wall_ns = crest_clock_wall_ns();

    pthread_mutex_lock(&crest_attachments_lock);
    reporter_thread_note(attachment, status, &error, began_ns, was_due);
    if (status == CREST_OK)
        attachment->state.last_success_wall_ns = wall_ns;
    int told = crest_report_watch_end(attachment);
    reporter_thread_serve(&attachment->serving, status, &error);
    if (!told)
        return;
    double lasted_s = (double)order->duration_ns / 1e9;
    pthread_mutex_unlock(&crest_attachments_lock);
    crest_log_write(CREST_LOG_INFO, "crest: %s: the report that hung has ended after %.1f s",
                    order->name, lasted_s);
    pthread_mutex_lock(&crest_attachments_lock);
}

/* Under the lock, given up meanwhile: calls the reporter's own stop. Its failure counts when the
 * last report went well. */
static void reporter_thread_stop_reporter(crest_attachment *attachment)
{
    crest_reporter *reporter = attachment->order.reporter;
    if (reporter->stop == NULL)
        return;
    uint64_t now_ns = crest_attachment_now_ns();
    uint64_t left_ns = attachment->stop_ns > now_ns ? attachment->stop_ns - now_ns : 1;
    pthread_mutex_unlock(&crest_attachments_lock);
    crest_error error;
    crest_error_clear(&error);
    crest_status status = reporter->stop(reporter, crest_now() + left_ns, &error);
    pthread_mutex_lock(&crest_attachments_lock);
    if (status != CREST_OK && attachment->last_status == CREST_OK) {
        if (error.message[0] == '\0')
            crest_error_set(&error, status, "stopping it: %s", crest_status_text(status));
        attachment->last_status = status;
        attachment->state.last_error = error;
    }
}

/* Under the lock: waits until there is something to do; non-zero when that is to stop. */
static int reporter_thread_idle(crest_attachment *attachment)
{
    while (!attachment->stopping && attachment->waiting == NULL) {
        crest_pace *pace = &attachment->pace;
        crest_pace_time now = crest_attachment_time();
        crest_pace_realign(pace, now);
        if (now.now_ns >= pace->due_ns)
            break;
        uint64_t until_ns = pace->due_ns;
        if (pace->align && until_ns > now.now_ns + REPORTER_THREAD_LOOK_NS)
            until_ns = now.now_ns + REPORTER_THREAD_LOOK_NS;
        crest_attachment_wait(&attachment->wake, until_ns);
    }
    return attachment->stopping;
}

/* Under the lock, given up meanwhile: what follows the last report. */
static void reporter_thread_finish(crest_attachment *attachment)
{
    /* a started reporter is stopped, even if it is not to report any more */
    if (!attachment->abandoned && !attachment->orphaned &&
        (!attachment->discard || attachment->order.reporter->start != NULL))
        reporter_thread_stop_reporter(attachment);
    if (attachment->orphaned)
        return;
    crest_error error;
    crest_error_set(&error, CREST_NOT_FOUND, "%s was detached", attachment->name);
    attachment->ended = 1;
    if (attachment->abandoned)
        crest_attachment_unlink(attachment);
    reporter_thread_serve(&attachment->waiting, CREST_NOT_FOUND, &error);
}

static void *reporter_thread_run(void *argument)
{
    crest_attachment *attachment = argument;
    char name[REPORTER_THREAD_NAME_BYTES];
    snprintf(name, sizeof name, "crest-%s", attachment->name);
    pthread_setname_np(pthread_self(), name);

    pthread_mutex_lock(&crest_attachments_lock);
    int last;
    do {
        last = reporter_thread_idle(attachment);
        if (!attachment->discard)
            reporter_thread_turn(attachment, last);
    } while (!last && !attachment->abandoned && !attachment->orphaned);
    reporter_thread_finish(attachment);
    int orphaned = attachment->orphaned, abandoned = attachment->abandoned;
    crest_gauge *running = attachment->order.measures.running;
    pthread_mutex_unlock(&crest_attachments_lock);
    if (!orphaned)
        crest_gauge_set(running, 0); /* a watcher that looked meanwhile saw it run */
    if (abandoned && !orphaned)
        crest_attachment_free(attachment);
    return NULL;
}

int crest_reporter_launch(crest_attachment *attachment)
{
    attachment->order.around = reporter_thread_around;
    if (attachment->server || attachment->loop)
        return 0;
    return crest_thread_start(&attachment->thread, reporter_thread_run, attachment);
}

/* ---- the host's loop ---- */

void crest_reporter_turn(crest_attachment *attachment)
{
    attachment->thread = pthread_self(); /* for the watcher: no other thread looks */
    reporter_thread_turn(attachment, 0);
}

void crest_reporter_end(crest_attachment *attachment)
{
    attachment->thread = pthread_self();
    if (!attachment->discard)
        reporter_thread_turn(attachment, 1);
    reporter_thread_finish(attachment);
}

/* Under the lock: the attachment whose report is due longest, or NULL; *next_ns: when one will
 * be. */
static crest_attachment *reporter_thread_due(uint64_t *next_ns)
{
    crest_attachment *first = NULL;
    crest_pace_time now = crest_attachment_time();
    int align = 0;
    for (crest_attachment *at = crest_attachments; at != NULL; at = at->next) {
        if (!at->loop || at->server || at->attaching || at->stopping)
            continue;
        crest_pace_realign(&at->pace, now);
        align |= at->pace.align;
        if (first == NULL || at->pace.due_ns < first->pace.due_ns)
            first = at;
    }
    *next_ns = first != NULL ? first->pace.due_ns : UINT64_MAX;
    if (*next_ns <= now.now_ns)
        return first;
    if (align && *next_ns > now.now_ns + REPORTER_THREAD_LOOK_NS)
        *next_ns = now.now_ns + REPORTER_THREAD_LOOK_NS;
    return NULL;
}

/* Under the lock: lists the servers. None of them can be freed while the loop is held. */
static unsigned reporter_thread_servers(crest_reporter *servers[CREST_REPORTERS_MAX])
{
    unsigned count = 0;
    for (const crest_attachment *at = crest_attachments; at != NULL; at = at->next)
        if (at->loop && at->server && !at->attaching)
            servers[count++] = at->order.reporter;
    return count;
}

uint64_t crest_reporters_turn(void)
{
    uint64_t next_ns;
    crest_reporter *servers[CREST_REPORTERS_MAX];
    crest_attachments_prepare();
    pthread_mutex_lock(&crest_attachments_lock);
    crest_attachment *due = reporter_thread_due(&next_ns);
    if (due != NULL) {
        crest_reporter_turn(due);
        (void)reporter_thread_due(&next_ns);
    }
    unsigned count = reporter_thread_servers(servers);
    pthread_mutex_unlock(&crest_attachments_lock);
    for (unsigned i = 0; i < count; i++) {
        uint64_t left_ms = servers[i]->turn(servers[i]);
        if (left_ms >= CREST_INTERVAL_MS_MAX)
            continue;
        uint64_t again_ns = crest_attachment_now_ns() + left_ms * CREST_NS_PER_MS;
        next_ns = again_ns < next_ns ? again_ns : next_ns;
    }
    return next_ns;
}
