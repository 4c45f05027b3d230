/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of a reporter. See attachment.h.
 */
#define _GNU_SOURCE
#include "attachment.h"
#include "alloc.h"
#include "clock_inside.h"
#include "error.h"
#include "one_report.h"
#include "registry_inside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define ATTACHMENT_NS_PER_MS UINT64_C(1000000)
/* What the kernel keeps of a thread's name, its NUL included. */
#define ATTACHMENT_THREAD_NAME_BYTES 16

pthread_mutex_t crest_attachments_lock = PTHREAD_MUTEX_INITIALIZER;
crest_attachment *crest_attachments;
pthread_cond_t crest_attachments_changed;
static pthread_once_t attachment_once = PTHREAD_ONCE_INIT;
static crest_attachment *attachment_orphans; /* kept only to be reachable */

/* ---- time, chance and the forked child ---- */

uint64_t crest_attachment_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
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
    pthread_atfork(NULL, NULL, attachment_forked);
}

void crest_attachments_prepare(void)
{
    pthread_once(&attachment_once, attachment_prepare_once);
}

/* ---- making and freeing ---- */

crest_attachment *crest_attachment_new(crest_registry *registry, crest_reporter *reporter,
                                       const crest_schedule *schedule, int owned)
{
    crest_attachment *attachment = crest_alloc(1, sizeof *attachment);
    if (attachment == NULL)
        return NULL;
    attachment->name = crest_alloc_text(reporter->name);
    if (attachment->name == NULL || !attachment_condition_init(&attachment->wake)) {
        crest_alloc_free(attachment->name);
        crest_alloc_free(attachment);
        return NULL;
    }
    attachment->registry = registry;
    attachment->reporter = reporter;
    attachment->owned = owned;
    crest_one_report_measured(attachment->name);
    crest_pace_init(&attachment->pace, schedule, crest_attachment_now_ns(),
                    attachment_seed(attachment));
    attachment->due_ns = crest_pace_first(&attachment->pace);
    attachment->timeout_ns = attachment->pace.interval_ns;
    if (schedule != NULL && schedule->timeout_ms != 0)
        attachment->timeout_ns = schedule->timeout_ms * ATTACHMENT_NS_PER_MS;
    else if (attachment->timeout_ns > CREST_REPORT_TIMEOUT_MS_DEFAULT * ATTACHMENT_NS_PER_MS)
        attachment->timeout_ns = CREST_REPORT_TIMEOUT_MS_DEFAULT * ATTACHMENT_NS_PER_MS;
    return attachment;
}

void crest_attachment_free(crest_attachment *attachment)
{
    if (attachment->owned)
        crest_reporter_free(attachment->reporter);
    pthread_cond_destroy(&attachment->wake);
    crest_alloc_free(attachment->name);
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
        if (crest_registry_state_seen(at->registry) != state)
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
static void attachment_tell(const char *name, uint64_t failures_before, int final,
                            crest_status status, const crest_error *error)
{
    if (status != CREST_OK && final)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: %s: %s (this was the last report: what was recorded since the one "
                        "that last succeeded is not delivered)",
                        name, error->message);
    else if (status != CREST_OK && failures_before == 0)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: %s: %s (nothing is lost: it is tried again, and the next report "
                        "that succeeds is complete)",
                        name, error->message);
    if (status == CREST_OK && failures_before > 0)
        crest_log_write(CREST_LOG_INFO, "crest: %s: reports again, after %llu failures", name,
                        (unsigned long long)failures_before);
}

/* Under the lock, which is given up meanwhile. Afterwards the attachment may be abandoned or
 * orphaned, and its reporter gone. */
static void attachment_turn(crest_attachment *attachment, int final)
{
    crest_reporter_state *state = &attachment->state;
    uint64_t timeout_ns = attachment->timeout_ns, now_ns = crest_attachment_now_ns();
    if (final)
        timeout_ns = attachment->stop_ns > now_ns ? attachment->stop_ns - now_ns : 1;
    uint64_t failures_before = state->consecutive_failures;
    int was_due = attachment->due_ns <= now_ns || failures_before > 0;
    attachment->serving = attachment->waiting;
    attachment->waiting = NULL;
    pthread_mutex_unlock(&crest_attachments_lock);

    crest_error error;
    uint64_t duration_ns, began_ns = crest_now();
    crest_status status =
        crest_one_report(attachment->registry, attachment->reporter, attachment->name, timeout_ns,
                         final, &duration_ns, &error);
    attachment_tell(attachment->name, failures_before, final, status, &error);
    uint64_t wall_ns = crest_clock_wall_ns();

    pthread_mutex_lock(&crest_attachments_lock);
    state->reports++;
    state->last_duration_ns = duration_ns;
    attachment->last_status = status;
    now_ns = crest_attachment_now_ns();
    if (status == CREST_OK) {
        state->consecutive_failures = 0;
        attachment->delivered_ns = began_ns;
        state->last_success_wall_ns = wall_ns;
        if (was_due)
            attachment->due_ns = crest_pace_next(&attachment->pace, now_ns);
    } else {
        state->failures++;
        state->consecutive_failures++;
        state->last_error = error;
        attachment->due_ns =
            crest_pace_retry(&attachment->pace, now_ns, state->consecutive_failures);
    }
    attachment_serve(&attachment->serving, status, &error);
}

/* Under the lock, given up meanwhile: the reporter's own stop, whose failure counts when the last
 * report went well. */
static void attachment_stop_reporter(crest_attachment *attachment)
{
    crest_reporter *reporter = attachment->reporter;
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
    while (!attachment->stopping && attachment->waiting == NULL &&
           crest_attachment_now_ns() < attachment->due_ns)
        crest_attachment_wait(&attachment->wake, attachment->due_ns);
    return attachment->stopping;
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
    if (!attachment->abandoned && !attachment->orphaned && !attachment->discard)
        attachment_stop_reporter(attachment);
    int orphaned = attachment->orphaned, abandoned = attachment->abandoned;
    if (!orphaned) {
        crest_error error;
        crest_error_set(&error, CREST_NOT_FOUND, "%s was detached", attachment->name);
        attachment->ended = 1;
        if (abandoned)
            crest_attachment_unlink(attachment);
        attachment_serve(&attachment->waiting, CREST_NOT_FOUND, &error);
    }
    pthread_mutex_unlock(&crest_attachments_lock);
    if (abandoned && !orphaned)
        crest_attachment_free(attachment);
    return NULL;
}
