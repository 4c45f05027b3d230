/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attaching and detaching reporters, and asking them. What their threads do is in
 * reporter_thread.c, one report in one_report.c. See reporting.h and <crest/reporter.h>.
 */
#define _GNU_SOURCE
#include "reporting/reporting.h"
#include "base/alloc.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/host_loop.h"
#include "base/sync.h"
#include "base/thread.h"
#include "base/uncancelled.h"
#include "base/utf8.h"
#include "reporting/attachment.h"
#include "reporting/one_report.h"
#include "reporting/report_watchdog.h"
#include "reporting/reporter_thread.h"
#include "windows/tick_listeners.h"
#include "windows/ticker.h"

#include <stdlib.h>
#include <string.h>

#define REPORTING_DETACH_MS_DEFAULT 2000u
/* A report that is under way when its reporter is to end may take this part of the time left. It is
 * then cancelled: the rest is for the last report. */
#define REPORTING_CUT_PART 3u

/* Deadlines are relative and bounded, so that nothing overflows. */
static uint64_t reporting_deadline_ns(uint64_t deadline_ms, uint64_t when_zero_ms)
{
    if (deadline_ms == 0)
        deadline_ms = when_zero_ms;
    if (deadline_ms > CREST_INTERVAL_MS_MAX)
        deadline_ms = CREST_INTERVAL_MS_MAX;
    return crest_attachment_now_ns() + deadline_ms * CREST_NS_PER_MS;
}

/* Under the lock. */
static crest_attachment *reporting_find(const crest_reporter *reporter)
{
    crest_attachment *attachment = crest_attachments;
    while (attachment != NULL && attachment->order.reporter != reporter)
        attachment = attachment->next;
    return attachment;
}

/* ---- at exit ---- */

typedef crest_status reporting_function(crest_reporter *, const crest_report *, crest_error *);

/* Under the lock. */
static void (*reporting_flush)(void);
static reporting_function *reporting_seen[CREST_REPORTERS_MAX];
static unsigned reporting_seen_count;

void crest_reporting_at_exit(void (*flush)(void))
{
    pthread_mutex_lock(&crest_attachments_lock);
    if (reporting_flush == NULL && atexit(flush) == 0)
        reporting_flush = flush;
    pthread_mutex_unlock(&crest_attachments_lock);
}

/* Under the lock: a reporter of a new kind may have initialised a library. */
static void reporting_see(const crest_reporter *reporter)
{
    for (unsigned i = 0; i < reporting_seen_count; i++)
        if (reporting_seen[i] == (reporting_function *)reporter->report)
            return;
    if (reporting_seen_count == CREST_REPORTERS_MAX)
        return;
    reporting_seen[reporting_seen_count++] = reporter->report;
    if (reporting_flush != NULL)
        atexit(reporting_flush);
}

/* ---- attaching ---- */

/* Under the lock: puts it into the list, where nothing uses it before it is launched. */
static crest_status reporting_enlist(crest_attachment *attachment, crest_error *error)
{
    unsigned count = 0;
    for (const crest_attachment *other = crest_attachments; other != NULL; other = other->next)
        count++;
    if (reporting_find(attachment->order.reporter) != NULL)
        return crest_error_set(error, CREST_ALREADY,
                               "the reporter %s is attached already, or still busy with a report "
                               "since it was detached",
                               attachment->name);
    if (count == CREST_REPORTERS_MAX)
        return crest_error_set(error, CREST_LIMIT,
                               "%u reporters are attached, which is as many as there can be: "
                               "detach one before attaching %s",
                               CREST_REPORTERS_MAX, attachment->name);
    attachment->attaching = 1;
    attachment->next = crest_attachments;
    crest_attachments = attachment;
    if (!attachment->server)
        crest_delivery_add(&attachment->delivery);
    return CREST_OK;
}

/* Calls the reporter's own start. */
static crest_status reporting_start(crest_reporter *reporter, const char *name,
                                    crest_registry *registry, crest_error *error)
{
    if (reporter->start == NULL)
        return CREST_OK;
    crest_error reason;
    crest_error_clear(&reason);
    if (registry == NULL)
        registry = crest_default_registry();
    crest_status status = reporter->start(reporter, registry, &reason);
    if (status != CREST_OK)
        return crest_error_set(error, status, "starting %s: %s", name,
                               reason.message[0] != '\0' ? reason.message
                                                         : crest_status_text(status));
    return CREST_OK;
}

/* Under the lock. */
static crest_status reporting_launch(crest_attachment *attachment, crest_error *error)
{
    int failed = crest_reporter_launch(attachment);
    if (failed)
        return crest_error_set(error, CREST_SYSTEM, "no thread for the reporter %s: %s",
                               attachment->name, strerror(failed));
    return CREST_OK;
}

/* Enlists, starts and launches the reporter; on failure undoes all of it. */
static crest_status reporting_begin(crest_attachment *attachment, crest_error *error)
{
    crest_reporter *reporter = attachment->order.reporter;
    pthread_mutex_lock(&crest_attachments_lock);
    crest_status status = reporting_enlist(attachment, error);
    pthread_mutex_unlock(&crest_attachments_lock);
    if (status != CREST_OK)
        return status;
    int threaded = !attachment->server && !attachment->loop;
    if (threaded)
        crest_ticker_keep(); /* the ticker watches the reports */
    status = reporting_start(reporter, attachment->name, attachment->order.registry, error);
    int started = status == CREST_OK && reporter->start != NULL;
    pthread_mutex_lock(&crest_attachments_lock);
    if (status == CREST_OK)
        status = reporting_launch(attachment, error);
    attachment->attaching = 0;
    if (status == CREST_OK)
        reporting_see(reporter);
    else
        crest_attachment_unlink(attachment);
    if (attachment->loop)
        crest_loop_wake();
    pthread_mutex_unlock(&crest_attachments_lock);
    if (status != CREST_OK && threaded)
        crest_ticker_release();
    if (status != CREST_OK && started && reporter->stop != NULL) {
        crest_error ignored; /* the caller is told what went wrong first */
        crest_error_clear(&ignored);
        (void)reporter->stop(reporter, crest_now() + REPORTING_DETACH_MS_DEFAULT * CREST_NS_PER_MS,
                             &ignored);
    }
    return status;
}

static crest_status reporting_check(const crest_reporter *reporter, crest_error *error)
{
    if (reporter == NULL || (reporter->report == NULL && reporter->start == NULL) ||
        reporter->name == NULL || reporter->name[0] == '\0')
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "a reporter needs a name and a report function, or a start function "
                               "if it serves by itself");
    crest_attachments_prepare();
    crest_on_tick(crest_report_watch_now);
    crest_before_snapshot(crest_report_watch_gauges);
    return CREST_OK;
}

/* Whether the host's loop can serve the reporter, where it has to. */
static crest_status reporting_check_loop(const crest_reporter *reporter, crest_error *error)
{
    if (!crest_threads_forbidden())
        return CREST_OK;
    if (reporter->waits)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "%s needs a thread, for it waits for its server, and threads=off "
                               "allows none: take prometheus=, textfile=, json= or statsd= instead",
                               reporter->name);
    if (reporter->report == NULL && reporter->turn == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "%s serves by threads of its own, and threads=off allows none",
                               reporter->name);
    return CREST_OK;
}

static crest_status reporting_attach(crest_registry *registry, crest_reporter *reporter,
                                     const char *name, const crest_schedule *schedule, int owned,
                                     crest_error *error)
{
    crest_status status = reporting_check(reporter, error);
    if (status == CREST_OK)
        status = reporting_check_loop(reporter, error);
    if (status == CREST_OK)
        status = crest_pace_check(schedule, error);
    if (status != CREST_OK)
        return status;
    if (name == NULL)
        name = reporter->name;
    crest_attachment *attachment = crest_attachment_new(registry, reporter, name, schedule);
    if (attachment == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory to attach the reporter %s", name);
    attachment->owned = owned;
    status = reporting_begin(attachment, error);
    if (status != CREST_OK) {
        attachment->owned = 0; /* on failure the caller keeps the reporter */
        crest_attachment_free(attachment);
    }
    return status;
}

crest_status crest_reporting_attach_owned(crest_registry *registry, crest_reporter *reporter,
                                          const char *name, const crest_schedule *schedule,
                                          crest_error *error)
{
    return reporting_attach(registry, reporter, name, schedule, 1, error);
}

crest_status crest_reporter_attach(crest_registry *registry, crest_reporter *reporter,
                                   const crest_schedule *schedule, crest_error *error)
{
    CREST_UNCANCELLED;
    return reporting_attach(registry, reporter, NULL, schedule, 0, error);
}

/* ---- with the host's loop held ---- */

int crest_reporting_by_loop(void)
{
    int by_loop = 0;
    pthread_mutex_lock(&crest_attachments_lock);
    for (const crest_attachment *at = crest_attachments; at != NULL; at = at->next)
        by_loop |= at->loop;
    pthread_mutex_unlock(&crest_attachments_lock);
    return by_loop;
}

/* Takes the lock, and first the loop if it serves a reporter: *held is for reporting_unlock. */
static crest_status reporting_lock(uint64_t until_ns, int *held, crest_error *error)
{
    crest_status status = CREST_OK;
    *held = crest_reporting_by_loop();
    if (*held)
        status = crest_loop_hold(until_ns, error);
    *held = *held && status == CREST_OK;
    pthread_mutex_lock(&crest_attachments_lock);
    return status;
}

static void reporting_unlock(int held)
{
    pthread_mutex_unlock(&crest_attachments_lock);
    if (held)
        crest_loop_release();
}

/* Whether the calling thread is the reporter's own. */
static int reporting_is_own(const crest_attachment *attachment)
{
    return !attachment->loop && pthread_equal(attachment->thread, pthread_self());
}

/* ---- detaching ---- */

/* Under the lock: asks the thread to end. The caller then frees the attachment. */
static void reporting_begin_end(crest_attachment *attachment, crest_reporting_end how,
                                uint64_t until_ns)
{
    attachment->stopping = 1;
    attachment->detaching = 1;
    attachment->discard = how == CREST_REPORTING_DISCARD;
    attachment->stop_ns = until_ns;
    uint64_t now_ns = crest_attachment_now_ns();
    uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    crest_report_watch_cut(attachment, now_ns + left_ns / REPORTING_CUT_PART);
    pthread_cond_signal(&attachment->wake);
}

/* Under the lock, given up meanwhile: takes it off the list and frees it. */
static void reporting_remove(crest_attachment *attachment)
{
    crest_attachment_unlink(attachment);
    pthread_mutex_unlock(&crest_attachments_lock);
    if (!attachment->server && !attachment->loop) {
        pthread_join(attachment->thread, NULL);
        crest_ticker_release();
    }
    crest_attachment_free(attachment);
    pthread_mutex_lock(&crest_attachments_lock);
}

/* Under the lock, given up meanwhile: stops a reporter without a thread, on the caller's. */
static crest_status reporting_end_server(crest_attachment *attachment, crest_error *error)
{
    crest_reporter *reporter = attachment->order.reporter;
    uint64_t now_ns = crest_attachment_now_ns();
    /* with others to wait for, it must return before these may have to be cancelled */
    uint64_t left_ns = attachment->stop_ns > now_ns ? attachment->stop_ns - now_ns : 1;
    if (crest_attachments != attachment || attachment->next != NULL)
        left_ns /= REPORTING_CUT_PART;
    crest_status status = CREST_OK;
    pthread_mutex_unlock(&crest_attachments_lock);
    if (reporter->stop != NULL) {
        crest_error reason;
        crest_error_clear(&reason);
        status = reporter->stop(reporter, crest_now() + left_ns, &reason);
        if (status != CREST_OK)
            crest_error_set(error, status, "stopping it: %s",
                            reason.message[0] != '\0' ? reason.message : crest_status_text(status));
    }
    pthread_mutex_lock(&crest_attachments_lock);
    reporting_remove(attachment);
    return status;
}

/* Under the lock, given up meanwhile: waits for a change, but no longer than until the caller must
 * watch the reports under way again. Non-zero when until_ns has come. */
static int reporting_wait(uint64_t next_ns, uint64_t until_ns)
{
    crest_attachment_wait(&crest_attachments_changed, next_ns < until_ns ? next_ns : until_ns);
    return crest_attachment_now_ns() >= until_ns;
}

/* Under the lock, given up meanwhile: waits for the thread asked to end. Then frees the attachment,
 * or abandons it. */
static crest_status reporting_await_end(crest_attachment *attachment, crest_error *error)
{
    if (attachment->server)
        return reporting_end_server(attachment, error);
    if (attachment->loop)
        crest_reporter_end(attachment);
    int own_thread = reporting_is_own(attachment);
    int timed_out = own_thread;
    while (!attachment->ended && !timed_out) {
        uint64_t next_ns = crest_report_watch();
        if (!attachment->ended)
            timed_out = reporting_wait(next_ns, attachment->stop_ns);
    }
    if (!attachment->ended) {
        attachment->detaching = 0;
        attachment->abandoned = 1;
        pthread_detach(attachment->thread);
        /* its thread may free it now; the watchdog has left it */
        pthread_mutex_unlock(&crest_attachments_lock);
        crest_ticker_release();
        pthread_mutex_lock(&crest_attachments_lock);
        return crest_error_set(error, CREST_TIMED_OUT,
                               own_thread ? "it was stopped from its own thread"
                                          : "its last report did not end before the deadline");
    }
    crest_status status = attachment->discard ? CREST_OK : attachment->last_status;
    if (status != CREST_OK)
        crest_error_set(error, status, "%s", attachment->state.last_error.message);
    reporting_remove(attachment);
    return status;
}

/* Under the lock, given up meanwhile: waits until an abandoned reporter is no longer busy. */
static crest_status reporting_await_abandoned(const crest_reporter *reporter, uint64_t until_ns,
                                              crest_error *error)
{
    int timed_out = 0;
    while (reporting_find(reporter) != NULL && !timed_out) {
        uint64_t next_ns = crest_report_watch();
        if (reporting_find(reporter) != NULL)
            timed_out = reporting_wait(next_ns, until_ns);
    }
    if (reporting_find(reporter) == NULL)
        return CREST_OK;
    return crest_error_set(error, CREST_TIMED_OUT, "its last report has still not ended");
}

crest_status crest_reporter_detach(crest_reporter *reporter, uint64_t deadline_ms,
                                   crest_error *error)
{
    CREST_UNCANCELLED;
    uint64_t until_ns = reporting_deadline_ns(deadline_ms, REPORTING_DETACH_MS_DEFAULT);
    crest_error reason;
    crest_error_clear(&reason);
    int held;
    crest_status status = reporting_lock(until_ns, &held, &reason);
    crest_attachment *attachment = reporting_find(reporter);
    if (status != CREST_OK)
        ; /* the loop could not be held */
    else if (attachment == NULL)
        status = crest_error_set(&reason, CREST_NOT_FOUND, "the reporter is not attached");
    else if (reporting_is_own(attachment))
        status = crest_error_set(&reason, CREST_INVALID_ARGUMENT,
                                 "a reporter cannot be detached from its own thread");
    else if (attachment->abandoned)
        status = reporting_await_abandoned(reporter, until_ns, &reason);
    else if (attachment->detaching || attachment->attaching)
        status =
            crest_error_set(&reason, CREST_ALREADY, "the reporter is being %s by another thread",
                            attachment->detaching ? "detached" : "attached");
    else {
        reporting_begin_end(attachment, CREST_REPORTING_FLUSH, until_ns);
        status = reporting_await_end(attachment, &reason);
    }
    reporting_unlock(held);
    if (status != CREST_OK)
        crest_error_set(error, status, "detaching %s: %s",
                        status != CREST_NOT_FOUND && reporter->name != NULL ? reporter->name
                                                                            : "a reporter",
                        reason.message);
    return status;
}

/* Under the lock: reporters of the loop end one after the other, so each gets a share of the
 * time. */
static void reporting_share(crest_attachment *const *ending, unsigned count, uint64_t until_ns)
{
    unsigned others = 0;
    for (unsigned i = 0; i < count; i++)
        others += ending[i] != NULL && ending[i]->loop && !ending[i]->server;
    uint64_t now_ns = crest_attachment_now_ns();
    if (others > 0 && ending[0]->loop && until_ns > now_ns)
        ending[0]->stop_ns = now_ns + (until_ns - now_ns) / others;
}

crest_status crest_reporting_stop_all(crest_reporting_end how, uint64_t deadline_ms,
                                      crest_error *error)
{
    uint64_t until_ns = reporting_deadline_ns(deadline_ms, REPORTING_DETACH_MS_DEFAULT);
    crest_attachment *ending[CREST_REPORTERS_MAX];
    unsigned count = 0, failures = 0;
    crest_error all;
    crest_error_clear(&all);
    pthread_mutex_lock(&crest_attachments_lock);
    for (crest_attachment *attachment = crest_attachments; attachment != NULL;
         attachment = attachment->next) {
        if (attachment->abandoned || attachment->detaching || attachment->attaching ||
            (how == CREST_REPORTING_DISCARD && !attachment->owned))
            continue;
        reporting_begin_end(attachment, how, until_ns);
        ending[count++] = attachment;
    }
    /* first the servers, stopped on this thread, while the others' last reports go out */
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < count; i++) {
            if (ending[i] == NULL || (pass == 0 && !ending[i]->server))
                continue;
            crest_error one;
            char name[CREST_RESOURCE_BYTES_MAX];
            reporting_share(ending + i, count - i, until_ns);
            crest_utf8_copy(ending[i]->name, name, sizeof name, NULL);
            if (reporting_await_end(ending[i], &one) != CREST_OK) {
                crest_error_add(&all, name, &one);
                failures++;
            }
            ending[i] = NULL;
        }
    }
    pthread_mutex_unlock(&crest_attachments_lock);
    if (failures == 0)
        return CREST_OK;
    return crest_error_set(error, all.status, "%u of %u reporters failed at the end: %s", failures,
                           count, all.message);
}

/* ---- asking ---- */

/* Under the lock: takes an unserved request off its attachment's list. */
static void reporting_withdraw(crest_request *request)
{
    for (crest_attachment *attachment = crest_attachments; attachment != NULL;
         attachment = attachment->next) {
        crest_request **lists[] = {&attachment->waiting, &attachment->serving};
        for (unsigned i = 0; i < 2; i++) {
            for (crest_request **link = lists[i]; *link != NULL; link = &(*link)->next) {
                if (*link == request) {
                    *link = request->next;
                    return;
                }
            }
        }
    }
}

crest_status crest_report_now(crest_reporter *reporter, uint64_t deadline_ms, crest_error *error)
{
    CREST_UNCANCELLED;
    uint64_t until_ns = reporting_deadline_ns(deadline_ms, CREST_REPORT_TIMEOUT_MS_DEFAULT);
    int held;
    crest_request request = {NULL, 0, CREST_OK, error};
    request.status = reporting_lock(until_ns, &held, error);
    crest_attachment *attachment = reporting_find(reporter);
    if (request.status != CREST_OK) {
        ; /* the loop could not be held */
    } else if (attachment == NULL || attachment->stopping || attachment->attaching) {
        request.status =
            crest_error_set(error, CREST_NOT_FOUND, "the reporter to report now is not attached");
    } else if (attachment->server) {
        request.status =
            crest_error_set(error, CREST_INVALID_ARGUMENT,
                            "%s serves by itself and makes no reports", attachment->name);
    } else if (reporting_is_own(attachment)) {
        request.status =
            crest_error_set(error, CREST_INVALID_ARGUMENT,
                            "the reporter %s cannot ask itself to report now", attachment->name);
    } else {
        request.next = attachment->waiting;
        attachment->waiting = &request;
        pthread_cond_signal(&attachment->wake);
        if (attachment->loop)
            crest_reporter_turn(attachment);
        int timed_out = 0;
        while (!request.served && !timed_out) {
            uint64_t next_ns = crest_report_watch();
            if (!request.served)
                timed_out = reporting_wait(next_ns, until_ns);
        }
        if (!request.served) {
            reporting_withdraw(&request);
            request.status = crest_error_set(error, CREST_TIMED_OUT,
                                             "reporting now did not end before the deadline");
        }
    }
    reporting_unlock(held);
    return request.status;
}

/* Under the lock. */
static void reporting_state(const crest_attachment *attachment, crest_reporter_state *state)
{
    uint64_t now_ns = crest_attachment_now_ns(), due_ns = attachment->pace.due_ns;
    *state = attachment->state;
    if (attachment->watched.since_ns != 0)
        state->running_ns = now_ns - attachment->watched.since_ns;
    else if (!attachment->server && !attachment->stopping && due_ns > now_ns)
        state->next_in_ns = due_ns - now_ns;
    state->hangs = attachment->watched.told;
}

size_t crest_reporter_list(crest_reporter_info *infos, size_t room)
{
    CREST_UNCANCELLED;
    size_t count = 0;
    pthread_mutex_lock(&crest_attachments_lock);
    for (const crest_attachment *at = crest_attachments; at != NULL; at = at->next) {
        if (count < room) {
            crest_utf8_copy(at->name, infos[count].name, sizeof infos[count].name, NULL);
            reporting_state(at, &infos[count].state);
        }
        count++;
    }
    pthread_mutex_unlock(&crest_attachments_lock);
    return count;
}

crest_status crest_reporter_status(const crest_reporter *reporter, crest_reporter_state *state)
{
    if (state == NULL)
        return CREST_INVALID_ARGUMENT;
    memset(state, 0, sizeof *state);
    pthread_mutex_lock(&crest_attachments_lock);
    const crest_attachment *attachment = reporting_find(reporter);
    if (attachment != NULL)
        reporting_state(attachment, state);
    pthread_mutex_unlock(&crest_attachments_lock);
    return attachment != NULL ? CREST_OK : CREST_NOT_FOUND;
}

crest_status crest_report_once(crest_registry *registry, crest_reporter *reporter,
                               uint64_t deadline_ms, crest_error *error)
{
    CREST_UNCANCELLED;
    crest_status status = reporting_check(reporter, error);
    if (status == CREST_OK && reporter->report == NULL)
        status = crest_error_set(error, CREST_INVALID_ARGUMENT,
                                 "%s serves by itself and makes no reports", reporter->name);
    if (status != CREST_OK)
        return status;
    pthread_mutex_lock(&crest_attachments_lock);
    int attached = reporting_find(reporter) != NULL;
    pthread_mutex_unlock(&crest_attachments_lock);
    if (attached)
        return crest_error_set(error, CREST_ALREADY,
                               "the reporter %s is attached; report through it with "
                               "crest_report_now",
                               reporter->name);
    uint64_t left_ns = reporting_deadline_ns(deadline_ms, CREST_REPORT_TIMEOUT_MS_DEFAULT) -
                       crest_attachment_now_ns();
    uint64_t until_ns = crest_now() + left_ns;
    status = reporting_start(reporter, reporter->name, registry, error);
    if (status != CREST_OK)
        return status;
    crest_error reported, stopped;
    crest_one_report order = {.registry = registry,
                              .reporter = reporter,
                              .name = reporter->name,
                              .timeout_ns = left_ns,
                              .final = 1};
    crest_one_report_measure(&order);
    status = crest_one_report_make(&order, &reported);
    crest_error_clear(&stopped);
    crest_status stop_status =
        reporter->stop != NULL ? reporter->stop(reporter, until_ns, &stopped) : CREST_OK;
    if (status != CREST_OK)
        return crest_error_set(error, status, "%s: %s", reporter->name, reported.message);
    if (stop_status != CREST_OK)
        return crest_error_set(error, stop_status, "stopping %s: %s", reporter->name,
                               stopped.message);
    return CREST_OK;
}

int crest_reporter_descriptor(int descriptor)
{
    return crest_descriptor_high(descriptor);
}

int crest_reporter_thread(pthread_t *thread, void *(*run)(void *), void *context)
{
    return thread != NULL ? crest_thread_start(thread, run, context)
                          : crest_thread_detach(NULL, run, context);
}
