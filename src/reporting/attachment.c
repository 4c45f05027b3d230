/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of attachments, and making and freeing one. See attachment.h.
 */
#define _GNU_SOURCE
#include "reporting/attachment.h"
#include "base/alloc.h"
#include "base/atomic.h"
#include "base/forked.h"
#include "base/sync.h"
#include "base/thread.h"
#include "clock/step_clock.h"
#include "metrics/metric_inside.h"
#include "reporting/reporter_kinds.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t crest_attachments_lock = PTHREAD_MUTEX_INITIALIZER;
crest_attachment *crest_attachments;
pthread_cond_t crest_attachments_changed;
static pthread_once_t attachment_once = PTHREAD_ONCE_INIT;
static crest_step_clock attachment_clock;    /* stepped under the lock */
static crest_attachment *attachment_orphans; /* kept only to be reachable */

/* ---- time, chance and the forked child ---- */

uint64_t crest_attachment_now_ns(void)
{
    return crest_step_clock_ns(&attachment_clock);
}

/* Not crest_clock_wall_ns: schedules go on in real time when a test sets that clock. */
crest_pace_time crest_attachment_time(void)
{
    int64_t ahead_ns = crest_step_clock_ahead_ns(&attachment_clock);
    return (crest_pace_time){crest_attachment_now_ns(),
                             crest_kernel_ns(CLOCK_REALTIME) + (uint64_t)ahead_ns};
}

void crest_attachment_wait(pthread_cond_t *condition, uint64_t until_ns)
{
    crest_step_clock_wait(&attachment_clock, condition, &crest_attachments_lock, until_ns);
}

void crest_attachment_step(uint64_t ns)
{
    pthread_mutex_lock(&crest_attachments_lock);
    crest_step_clock_step(&attachment_clock, ns);
    for (crest_attachment *at = crest_attachments; at != NULL; at = at->next)
        pthread_cond_broadcast(&at->wake);
    pthread_cond_broadcast(&crest_attachments_changed);
    pthread_mutex_unlock(&crest_attachments_lock);
}

/* A seed by chance, so that many nodes started by one command do not report together. */
static uint64_t attachment_seed(const void *address)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = crest_attachment_now_ns() ^ (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)address;
    return seed;
}

/* Fork handler: the child has none of the threads and must not report into its parent's group, so
 * nothing is attached there. The attachments are left as they are: a reporter may hold connections
 * shared with the parent. */
static void attachment_forked(void)
{
    crest_mutex_fresh(&crest_attachments_lock);
    crest_monotonic_condition(&crest_attachments_changed);
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
    crest_monotonic_condition(&crest_attachments_changed);
    crest_forked_call(CREST_FORKED_ATTACHMENTS, attachment_forked);
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

crest_attachment *crest_attachment_new(crest_registry *registry, crest_reporter *reporter,
                                       const char *name, const crest_schedule *schedule)
{
    crest_attachment *attachment = crest_alloc(1, sizeof *attachment);
    if (attachment == NULL)
        return NULL;
    if (!attachment_copy_texts(attachment, name, schedule)) {
        attachment_free_texts(attachment);
        crest_alloc_free(attachment);
        return NULL;
    }
    crest_monotonic_condition(&attachment->wake);
    attachment->order = (crest_one_report){.registry = registry,
                                           .reporter = reporter,
                                           .name = attachment->name,
                                           .include = attachment->include,
                                           .exclude = attachment->exclude,
                                           .deltas = reporter->deltas,
                                           .no_snapshot = reporter->no_snapshot};
    attachment->server = reporter->report == NULL;
    attachment->loop = crest_threads_forbidden();
    attachment->cancels = reporter->cancel != NULL;
    if (!attachment->server)
        crest_one_report_measure(&attachment->order);
    crest_pace_init(&attachment->pace, schedule, crest_attachment_time(),
                    attachment_seed(attachment));
    attachment->delivery.registry = registry != NULL ? registry : crest_default_registry();
    attachment->delivery.interval_ns = attachment->pace.interval_ns;
    const uint64_t most_ms =
        attachment->loop ? CREST_LOOP_REPORT_MS : CREST_REPORT_TIMEOUT_MS_DEFAULT;
    attachment->timeout_ns = attachment->pace.interval_ns;
    if (schedule != NULL && schedule->timeout_ms != 0)
        attachment->timeout_ns = schedule->timeout_ms * CREST_NS_PER_MS;
    else if (attachment->timeout_ns > most_ms * CREST_NS_PER_MS)
        attachment->timeout_ns = most_ms * CREST_NS_PER_MS;
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

/* The caller holds the lock. */
void crest_attachment_unlink(const crest_attachment *attachment)
{
    crest_attachment **link = &crest_attachments;
    while (*link != NULL && *link != attachment)
        link = &(*link)->next;
    if (*link != NULL)
        *link = attachment->next;
    crest_delivery_remove(&attachment->delivery);
}
