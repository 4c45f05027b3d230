/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of a reporter. See attachment.h.
 */
#define _GNU_SOURCE
#include "reporting/attachment.h"
#include "base/alloc.h"
#include "base/clock_inside.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/host_loop.h"
#include "reporting/one_report.h"
#include "registry/metric_inside.h"
#include "reporting/report_watchdog.h"
#include "base/thread.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define ATTACHMENT_NS_PER_MS UINT64_C(1000000)
/* How often one that reports at points of the wall clock looks whether this was set. */
#define ATTACHMENT_LOOK_NS UINT64_C(5000000000)
/* Of the time that is left for the last report and stop: the part for stop, and at most this. */
#define ATTACHMENT_SPARE_PART 8u
#define ATTACHMENT_SPARE_NS UINT64_C(250000000)
/* What the kernel keeps of a thread's name, its NUL included. */
#define ATTACHMENT_THREAD_NAME_BYTES 16

pthread_mutex_t crest_attachments_lock = PTHREAD_MUTEX_INITIALIZER;
crest_attachment *crest_attachments;
pthread_cond_t crest_attachments_changed;
static pthread_once_t attachment_once = PTHREAD_ONCE_INIT;
static crest_attachment *attachment_orphans; /* kept only to be reachable */

/* ---- time, chance and the forked child ---- */

static uint64_t attachment_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t crest_attachment_now_ns(void)
{
    return attachment_clock_ns(CLOCK_MONOTONIC);
}

/* Not crest_clock_wall_ns: schedules go on in real time when a test sets that. */
static crest_pace_time attachment_time(void)
{
    return (crest_pace_time){crest_attachment_now_ns(), attachment_clock_ns(CLOCK_REALTIME)};
}

/* Waits with the lock given up; non-zero when until_ns has come. */
int crest_attachment_wait(pthread_cond_t *condition, uint64_t until_ns)
{
    struct timespec until = {(time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u)};
    return pthread_cond_timedwait(condition, &crest_attachments_lock, &until) == ETIMEDOUT;
}

/* Chance enough that many nodes started by one command do not report together. */
static uint64_t attachment_seed(const void *address)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = crest_attachment_now_ns() ^ (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)address;
    return seed;
}

static int attachment_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0)
        return 0;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    int failed = pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return !failed;
}

/* A child has none of the threads, and must not report into its parent's group: nothing is attached
 * there. The attachments are left as they are; a reporter may hold connections shared with the
 * parent. */
static void attachment_forked(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    crest_attachments_lock = fresh;
    attachment_condition_init(&crest_attachments_changed);
    while (crest_attachments != NULL) {
        crest_attachment *orphan = crest_attachments;
        crest_attachments = orphan->next;
        orphan->orphaned = 1;
        orphan->next = attachment_orphans;
        attachment_orphans = orphan;
    }
}

static void attachment_prepare_once(void)
{
    attachment_condition_init(&crest_attachments_changed);
    crest_forked_call(attachment_forked);
}

void crest_attachments_prepare(void)
{
    pthread_once(&attachment_once, attachment_prepare_once);
}

/* ---- making and freeing ---- */

static void attachment_free_texts(crest_attachment *attachment)
{
    crest_alloc_free(attachment->name);
    crest_alloc_free(attachment->include);
    crest_alloc_free(attachment->exclude);
}

/* Copies the texts; 0 without memory. */
static int attachment_copy_texts(crest_attachment *attachment, const char *name,
                                 const crest_schedule *schedule)
{
    const char *include = schedule != NULL ? schedule->include : NULL;
    const char *exclude = schedule != NULL ? schedule->exclude : NULL;
    attachment->name = crest_alloc_text(name);
    attachment->include = crest_alloc_text(include);
    attachment->exclude = crest_alloc_text(exclude);
    return attachment->name != NULL && (attachment->include != NULL || include == NULL) &&
           (attachment->exclude != NULL || exclude == NULL);
}

/* The order is its attachment's. */
static void attachment_around(crest_one_report *order, int begins)
{
    crest_attachment *attachment =
        (crest_attachment *)(void *)((char *)order - offsetof(crest_attachment, order));
    if (begins)
        crest_report_watch_enter(attachment);
    else
        crest_report_watch_leave(attachment);
}

crest_attachment *crest_attachment_new(crest_registry *registry, crest_reporter *reporter,
                                       const char *name, const crest_schedule *schedule)
{
    crest_attachment *attachment = crest_alloc(1, sizeof *attachment);
    if (attachment == NULL)
        return NULL;
    if (!attachment_copy_texts(attachment, name, schedule) ||
        !attachment_condition_init(&attachment->wake)) {
        attachment_free_texts(attachment);
        crest_alloc_free(attachment);
        return NULL;
    }
    attachment->order = (crest_one_report){.registry = registry,
                                           .reporter = reporter,
                                           .name = attachment->name,
                                           .include = attachment->include,
                                           .exclude = attachment->exclude,
                                           .around = attachment_around,
                                           .deltas = reporter->deltas};
    attachment->server = reporter->report == NULL;
    attachment->loop = crest_threads_forbidden();
    attachment->cancels = reporter->cancel != NULL;
    if (!attachment->server)
        crest_one_report_measure(&attachment->order);
    crest_pace_init(&attachment->pace, schedule, attachment_time(), attachment_seed(attachment));
    const uint64_t most_ms =
        attachment->loop ? CREST_LOOP_REPORT_MS : CREST_REPORT_TIMEOUT_MS_DEFAULT;
    attachment->timeout_ns = attachment->pace.interval_ns;
    if (schedule != NULL && schedule->timeout_ms != 0)
        attachment->timeout_ns = schedule->timeout_ms * ATTACHMENT_NS_PER_MS;
    else if (attachment->timeout_ns > most_ms * ATTACHMENT_NS_PER_MS)
        attachment->timeout_ns = most_ms * ATTACHMENT_NS_PER_MS;
    return attachment;
}

void crest_attachment_free(crest_attachment *attachment)
{
    if (attachment->owned)
        crest_reporter_free(attachment->order.reporter);
    crest_snapshot_free(attachment->order.previous);
    pthread_cond_destroy(&attachment->wake);
    attachment_free_texts(attachment);
    crest_alloc_free(attachment);
}

/* Under the lock. */
void crest_attachment_unlink(const crest_attachment *attachment)
{
    crest_attachment **link = &crest_attachments;
    while (*link != NULL && *link != attachment)
        link = &(*link)->next;
    if (*link != NULL)
        *link = attachment->next;
}

void crest_attachments_delivered(const struct crest_registry_state *state, uint64_t *delivered_ns,
                                 uint64_t *longest_ns)
{
    pthread_mutex_lock(&crest_attachments_lock);
    for (const crest_attachment *at = crest_attachments; at != NULL; at = at->next) {
        if (at->server || crest_registry_state_seen(at->order.registry) != state)
            continue;
        if (at->delivered_ns < *delivered_ns)
            *delivered_ns = at->delivered_ns;
        if (at->pace.interval_ns > *longest_ns)
            *longest_ns = at->pace.interval_ns;
    }
    pthread_mutex_unlock(&crest_attachments_lock);
}

/* ---- the thread ---- */

/* Under the lock: answers those who wait. */
static void attachment_serve(crest_request **requests, crest_status status,
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

/* Tells of the first failure of a streak and of its end; a server that is down for hours is no
 * news a thousand times. What fails last is not made up for. Not under the lock. */
static void attachment_tell(const crest_one_report *order, uint64_t failures_before,
                            crest_status status, const crest_error *error)
{
    if (status != CREST_OK && order->final)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: %s: %s (this was the last report: what was recorded since the one "
                        "that last succeeded is not delivered)",
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

/* How long a report may take. The last one leaves a part of the time for the reporter's stop, and
 * for itself to fail with a reason rather than be left behind. */
static uint64_t attachment_timeout_ns(const crest_attachment *attachment, uint64_t now_ns)
{
    if (!attachment->order.final)
        return attachment->timeout_ns;
    if (attachment->stop_ns <= now_ns)
        return 1;
    uint64_t left_ns = attachment->stop_ns - now_ns, spare_ns = left_ns / ATTACHMENT_SPARE_PART;
    return left_ns - (spare_ns < ATTACHMENT_SPARE_NS ? spare_ns : ATTACHMENT_SPARE_NS);
}

/* Under the lock: what a report that has ended leaves behind. */
static void attachment_note(crest_attachment *attachment, crest_status status,
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
        attachment->delivered_ns = began_ns;
    } else {
        state->failures++;
        state->last_error = *error;
    }
    if (status != CREST_OK && status != CREST_REFUSED)
        crest_pace_retry(&attachment->pace, attachment_time(), order->failures);
    else if (was_due)
        crest_pace_next(&attachment->pace, attachment_time());
}

/* Under the lock, which is given up meanwhile. Afterwards the attachment may be abandoned or
 * orphaned, and its reporter gone. */
static void attachment_turn(crest_attachment *attachment, int final)
{
    crest_one_report *order = &attachment->order;
    uint64_t now_ns = crest_attachment_now_ns(), failures_before = order->failures;
    int was_due = attachment->pace.due_ns <= now_ns || attachment->pace.retrying;
    order->final = final;
    order->timeout_ns = attachment_timeout_ns(attachment, now_ns);
    crest_report_watch_begin(attachment, now_ns + order->timeout_ns);
    attachment->serving = attachment->waiting;
    attachment->waiting = NULL;
    pthread_mutex_unlock(&crest_attachments_lock);

    crest_error error;
    uint64_t began_ns = crest_now();
    crest_status status = crest_one_report_make(order, &error);
    attachment_tell(order, failures_before, status, &error);
    uint64_t wall_ns = crest_clock_wall_ns();

    pthread_mutex_lock(&crest_attachments_lock);
    attachment_note(attachment, status, &error, began_ns, was_due);
    if (status == CREST_OK)
        attachment->state.last_success_wall_ns = wall_ns;
    int told = crest_report_watch_end(attachment);
    attachment_serve(&attachment->serving, status, &error);
    if (!told)
        return;
    double lasted_s = (double)order->duration_ns / 1e9;
    pthread_mutex_unlock(&crest_attachments_lock);
    crest_log_write(CREST_LOG_INFO, "crest: %s: the report that hung has ended after %.1f s",
                    order->name, lasted_s);
    pthread_mutex_lock(&crest_attachments_lock);
}

/* Under the lock, given up meanwhile: the reporter's own stop, whose failure counts when the last
 * report went well. */
static void attachment_stop_reporter(crest_attachment *attachment)
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

/* Under the lock, until there is something to do; non-zero when that is to stop. */
static int attachment_idle(crest_attachment *attachment)
{
    while (!attachment->stopping && attachment->waiting == NULL) {
        crest_pace *pace = &attachment->pace;
        crest_pace_time now = attachment_time();
        crest_pace_realign(pace, now);
        if (now.now_ns >= pace->due_ns)
            break;
        uint64_t until_ns = crest_report_watch();
        if (attachment->stopping || attachment->waiting != NULL)
            break; /* the lock may have been given up */
        if (until_ns > pace->due_ns)
            until_ns = pace->due_ns;
        if (pace->align && until_ns > now.now_ns + ATTACHMENT_LOOK_NS)
            until_ns = now.now_ns + ATTACHMENT_LOOK_NS;
        attachment->idle = 1;
        crest_attachment_wait(&attachment->wake, until_ns);
        attachment->idle = 0;
    }
    return attachment->stopping;
}

/* Under the lock, given up meanwhile: after the last report. */
static void attachment_finish(crest_attachment *attachment)
{
    /* one that was started is stopped, even if it is not to report any more */
    if (!attachment->abandoned && !attachment->orphaned &&
        (!attachment->discard || attachment->order.reporter->start != NULL))
        attachment_stop_reporter(attachment);
    if (attachment->orphaned)
        return;
    crest_error error;
    crest_error_set(&error, CREST_NOT_FOUND, "%s was detached", attachment->name);
    attachment->ended = 1;
    if (attachment->abandoned)
        crest_attachment_unlink(attachment);
    attachment_serve(&attachment->waiting, CREST_NOT_FOUND, &error);
}

void *crest_attachment_run(void *argument)
{
    crest_attachment *attachment = argument;
    char name[ATTACHMENT_THREAD_NAME_BYTES];
    snprintf(name, sizeof name, "crest-%s", attachment->name);
    pthread_setname_np(pthread_self(), name);

    pthread_mutex_lock(&crest_attachments_lock);
    int last;
    do {
        last = attachment_idle(attachment);
        if (!attachment->discard)
            attachment_turn(attachment, last);
    } while (!last && !attachment->abandoned && !attachment->orphaned);
    attachment_finish(attachment);
    int orphaned = attachment->orphaned, abandoned = attachment->abandoned;
    crest_gauge *running = attachment->order.measures.running;
    pthread_mutex_unlock(&crest_attachments_lock);
    if (!orphaned)
        crest_gauge_set(running, 0); /* whoever looked meanwhile saw it run */
    if (abandoned && !orphaned)
        crest_attachment_free(attachment);
    return NULL;
}

/* ---- the host's loop ---- */

void crest_attachment_report(crest_attachment *attachment)
{
    attachment->thread = pthread_self(); /* for the report's watch: nobody else looks */
    attachment_turn(attachment, 0);
}

void crest_attachment_end(crest_attachment *attachment)
{
    attachment->thread = pthread_self();
    if (!attachment->discard)
        attachment_turn(attachment, 1);
    attachment_finish(attachment);
}

/* Under the lock: the one whose report is due longest, or NULL; *next_ns: when one will be. */
static crest_attachment *attachment_due(uint64_t *next_ns)
{
    crest_attachment *first = NULL;
    crest_pace_time now = attachment_time();
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
    if (align && *next_ns > now.now_ns + ATTACHMENT_LOOK_NS)
        *next_ns = now.now_ns + ATTACHMENT_LOOK_NS;
    return NULL;
}

/* Under the lock. None of them can go while the loop is held. */
static unsigned attachment_servers(crest_reporter *servers[CREST_REPORTERS_MAX])
{
    unsigned count = 0;
    for (const crest_attachment *at = crest_attachments; at != NULL; at = at->next)
        if (at->loop && at->server && !at->attaching)
            servers[count++] = at->order.reporter;
    return count;
}

uint64_t crest_attachments_turn(void)
{
    uint64_t next_ns;
    crest_reporter *servers[CREST_REPORTERS_MAX];
    crest_attachments_prepare();
    pthread_mutex_lock(&crest_attachments_lock);
    crest_attachment *due = attachment_due(&next_ns);
    if (due != NULL) {
        crest_attachment_report(due);
        (void)attachment_due(&next_ns);
    }
    unsigned count = attachment_servers(servers);
    pthread_mutex_unlock(&crest_attachments_lock);
    for (unsigned i = 0; i < count; i++) {
        uint64_t left_ms = servers[i]->turn(servers[i]);
        if (left_ms >= CREST_INTERVAL_MS_MAX)
            continue;
        uint64_t again_ns = crest_attachment_now_ns() + left_ms * ATTACHMENT_NS_PER_MS;
        next_ns = again_ns < next_ns ? again_ns : next_ns;
    }
    return next_ns;
}
