/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting, running and stopping collectors. See <crest/system.h>; collector.h tells what a
 * collector is, and system_inside.h which thread touches what.
 *
 * Stopping a collector:
 *
 *   1. It is not running: the stopping caller frees it.
 *   2. It is running: the caller waits for the end of its collection, and frees it then.
 *   3. It does not come back in time: it is left behind, and the thread that runs it frees it.
 *
 * So collectors are freed one by one, and what they share with the last.
 */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/sync.h"
#include "base/uncancelled.h"
#include "clock/clock_inside.h"
#include "metrics/metric_inside.h"
#include "polls/poller.h"
#include "system/collectors.h"
#include "system/system_groups.h"
#include "system/system_inside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Budget of a poll's callback: quick collectors go on without one that hangs. Slow ones come last,
 * and have as long as a snapshot waits. */
#define SYSTEM_BUDGET_MS 20u
#define SYSTEM_SLOW_BUDGET_MS CREST_POLL_ROUND_MS
/* A collector that is not called with each snapshot rests for so many times the processor time it
 * took. */
#define SYSTEM_REST 100u

/* Guards the list, and the fields of collectors that are marked as under the system's lock. */
static pthread_mutex_t system_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t system_changed; /* a collection has ended */
static pthread_once_t system_once = PTHREAD_ONCE_INIT, system_fork_once = PTHREAD_ONCE_INIT;
static crest_system *system_running;
static crest_system *system_orphans; /* the parent's, in the child of a fork */

/* ---- freeing ---- */

static void system_free(crest_system *system)
{
    for (size_t i = 0; i < sizeof system->texts / sizeof *system->texts; i++)
        crest_alloc_free(system->texts[i]);
    crest_alloc_free(system);
}

/* The collector must have no poll any more. */
static void system_collector_free(crest_collector *collector)
{
    crest_system *system = collector->system;
    if (collector->kind->finish != NULL && collector->collect.state != NULL)
        collector->kind->finish(collector->collect.state);
    crest_alloc_free(collector->collect.state);
    crest_alloc_free(collector->buffer);
    crest_figures_free(collector);
    crest_alloc_free(collector);
    pthread_mutex_lock(&system_lock);
    int last = --system->users == 0;
    pthread_mutex_unlock(&system_lock);
    if (last)
        system_free(system);
}

/* ---- the forked child ---- */

static void system_condition_init(void)
{
    crest_monotonic_condition(&system_changed);
}

/*
 * Fork handler: the child has no collectors, and their figures say nothing about it. They are not
 * freed here: the C library does not hear of _Fork() and clone(), and another thread may have left
 * malloc locked. The poller's own handler ran before this.
 */
static void system_forked(void)
{
    crest_mutex_fresh(&system_lock);
    system_condition_init();
    while (system_running != NULL) {
        crest_system *system = system_running;
        for (unsigned i = 0; i < system->count; i++) {
            crest_collector *collector = system->collectors[i];
            crest_mutex_fresh(&collector->series_lock);
            collector->stopped = 1;
            crest_figures_withdraw(collector);
            crest_poller_orphan(collector->poll);
        }
        system_running = system->next;
        system->next = system_orphans;
        system_orphans = system;
    }
}

/* Frees what forks have left, when collectors start anew. A collector that was at work is cut off
 * in the middle, and cannot be freed. */
static void system_free_orphans(void)
{
    pthread_mutex_lock(&system_lock);
    crest_system *system = system_orphans, *next;
    system_orphans = NULL;
    pthread_mutex_unlock(&system_lock);
    for (; system != NULL; system = next) {
        next = system->next;
        for (unsigned i = 0, count = system->count; i < count; i++) {
            crest_collector *collector = system->collectors[i];
            if (collector->running)
                continue;
            (void)crest_poll_stop(collector->poll);
            system_collector_free(collector);
        }
    }
}

static void system_fork_prepare(void)
{
    crest_forked_call(CREST_FORKED_SYSTEM, system_forked);
}

/* ---- one collection ---- */

/* Whether a collection is due: of consumption, or, for a collector that is not called with each
 * snapshot, at all. A tenth early will do: the ticks that ask for it are not exact. */
static int system_due(crest_collector *collector)
{
    crest_collect *collect = &collector->collect;
    uint64_t interval_ns = collector->kind->cadence == CREST_CADENCE_SLOW
                               ? collect->settings->slow_interval_ns
                               : collect->settings->interval_ns;
    if (collector->kind->cadence != CREST_CADENCE_SNAPSHOT &&
        interval_ns < SYSTEM_REST * collector->last_cpu_ns)
        interval_ns = SYSTEM_REST * collector->last_cpu_ns;
    collect->elapsed_ns = 0;
    if (collector->begun && collect->now_ns >= collector->due_ns) {
        uint64_t elapsed_ns = collect->now_ns - collector->due_ns;
        if (elapsed_ns < interval_ns - interval_ns / 10)
            return 0;
        collect->elapsed_ns = elapsed_ns;
    }
    collector->begun = 1;
    collector->due_ns = collect->now_ns;
    return 1;
}

static uint64_t system_cpu_ns(void)
{
    return crest_kernel_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Makes a collection; 0 when it was not time for it. */
static int system_collect(crest_collector *collector)
{
    crest_collect *collect = &collector->collect;
    collect->now_ns = crest_now();
    collect->consume = system_due(collector);
    if (!collect->consume && collector->kind->cadence != CREST_CADENCE_SNAPSHOT)
        return 0;
    uint64_t cpu_ns = system_cpu_ns(), failed = collector->failed;
    collector->round++;
    collector->given = 0;
    collector->kind->collect(collect);
    crest_figures_end(collector);
    cpu_ns = collector->last_cpu_ns = system_cpu_ns() - cpu_ns;
    crest_counter_add(collector->cpu, (int64_t)cpu_ns);
    crest_timer_record(collector->time, (int64_t)(crest_now() - collect->now_ns),
                       collector->failed == failed ? CREST_OUTCOME_OK : CREST_OUTCOME_ERROR);
    return 1;
}

/* Under the lock: updates the state that callers see. */
static void system_show(crest_collector *collector)
{
    crest_system_state *shown = &collector->shown;
    shown->collections++;
    shown->failures = collector->failed;
    shown->series = collector->given;
    shown->last_duration_ns = crest_now() - collector->collect.now_ns;
    memcpy(shown->why, collector->failure, sizeof shown->why);
}

/* The poll's callback. */
static void system_run(void *context)
{
    crest_collector *collector = context;
    pthread_mutex_lock(&system_lock);
    int run = !collector->stopped && !collector->running;
    collector->running |= run;
    pthread_mutex_unlock(&system_lock);
    if (!run)
        return;
    int made = system_collect(collector);
    crest_collect_tell(collector);
    pthread_mutex_lock(&system_lock);
    if (made)
        system_show(collector);
    collector->running = 0;
    int left_behind = collector->left_behind;
    crest_poll *poll = collector->poll;
    pthread_cond_broadcast(&system_changed);
    pthread_mutex_unlock(&system_lock);
    if (left_behind) {
        (void)crest_poll_stop(poll);
        system_collector_free(collector);
    }
}

/* ---- starting ---- */

static crest_collector *system_collector_new(crest_system *system, const crest_collector_kind *kind)
{
    static const char *const keys[] = {"collector"};
    static const crest_metric_options time = {
        .name = "crest.collect-time",
        .description = "Collections by the clock, as errors where something "
                       "could not be read.",
        .range = CREST_RANGE_NONE}; /* no buckets: they would be most of the lines */
    static const crest_metric_options cpu = {.name = "crest.collect-cpu",
                                             .description = "Processor time of collections.",
                                             .unit = CREST_NANOSECONDS};
    crest_collector *collector = crest_alloc(1, sizeof *collector);
    if (collector == NULL)
        return NULL;
    collector->kind = kind;
    collector->system = system;
    collector->collect.kind = kind;
    collector->collect.settings = &system->settings;
    collector->shown.name = kind->name;
    collector->shown.group = kind->group;
    if (kind->state_bytes != 0)
        collector->collect.state = crest_alloc(1, kind->state_bytes);
    if (!crest_figures_begin(collector) ||
        (kind->state_bytes != 0 && collector->collect.state == NULL)) {
        crest_alloc_free(collector->collect.state);
        crest_figures_free(collector);
        crest_alloc_free(collector);
        return NULL;
    }
    crest_timer_family times = crest_timer_family_new(system->registry, &time, keys, 1, NULL);
    crest_counter_family cpus = crest_counter_family_new(system->registry, &cpu, keys, 1, NULL);
    collector->time = crest_timer_family_get(&times, &kind->name, 1);
    collector->cpu = crest_counter_family_get(&cpus, &kind->name, 1);
    return collector;
}

/* A text of the options, or the default; a path loses its slashes at the end. */
static const char *system_text(crest_system *system, unsigned at, const char *text,
                               const char *fallback)
{
    char *copy = crest_alloc_text(text != NULL ? text : fallback);
    size_t length = copy != NULL ? strlen(copy) : 0;
    while (at < 2 && length > 1 && copy[length - 1] == '/')
        copy[--length] = '\0';
    return system->texts[at] = copy;
}

static crest_system *system_new(const crest_system_options *options)
{
    crest_system *system = crest_alloc(1, sizeof *system);
    if (system == NULL)
        return NULL;
    crest_collect_settings *settings = &system->settings;
    system->registry = options->registry != NULL ? options->registry : crest_default_registry();
    settings->interval_ns =
        CREST_NS_PER_MS *
        (options->interval_ms ? options->interval_ms : CREST_SYSTEM_INTERVAL_MS_DEFAULT);
    settings->slow_interval_ns =
        CREST_NS_PER_MS * (options->slow_interval_ms ? options->slow_interval_ms
                                                     : CREST_SYSTEM_SLOW_INTERVAL_MS_DEFAULT);
    settings->proc = system_text(system, 0, options->proc, "/proc");
    settings->sys = system_text(system, 1, options->sys, "/sys");
    settings->mounts_exclude =
        system_text(system, 2, options->mounts_exclude, CREST_SYSTEM_MOUNTS_EXCLUDE_DEFAULT);
    settings->interfaces_exclude = system_text(system, 3, options->interfaces_exclude,
                                               CREST_SYSTEM_INTERFACES_EXCLUDE_DEFAULT);
    settings->devices_exclude =
        system_text(system, 4, options->devices_exclude, CREST_SYSTEM_DEVICES_EXCLUDE_DEFAULT);
    int whole = 1;
    for (size_t i = 0; i < sizeof system->texts / sizeof *system->texts; i++)
        whole &= system->texts[i] != NULL;
    if (whole)
        return system;
    system_free(system);
    return NULL;
}

/* Makes collectors of the kinds, without polls yet. Without memory, the system keeps those already
 * made. */
static int system_fill(crest_system *system, const crest_collector_kind *const *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        crest_collector *collector = system_collector_new(system, kinds[i]);
        if (collector == NULL)
            return 0;
        system->collectors[system->count++] = collector;
        system->users++;
    }
    return 1;
}

/* Frees the system's collectors without a poll. */
static void system_discard(crest_system *system)
{
    unsigned count = system->count;
    if (count == 0)
        system_free(system);
    for (unsigned i = 0; i < count; i++)
        system_collector_free(system->collectors[i]);
}

/* Takes the system into the list, unless its registry has one there. */
static int system_enlist(crest_system *system)
{
    pthread_mutex_lock(&system_lock);
    const crest_system *other = system_running;
    while (other != NULL && other->registry_state != system->registry_state)
        other = other->next;
    if (other == NULL) {
        system->next = system_running;
        system_running = system;
    }
    pthread_mutex_unlock(&system_lock);
    return other == NULL;
}

static crest_status system_poll(crest_collector *collector)
{
    char name[CREST_POLL_NAME_BYTES_MAX + 1];
    snprintf(name, sizeof name, "system.%s", collector->kind->name);
    crest_poll_options options = {.interval_ms = CREST_POLL_EACH_SNAPSHOT,
                                  .budget_ms = collector->kind->cadence == CREST_CADENCE_SLOW
                                                   ? SYSTEM_SLOW_BUDGET_MS
                                                   : SYSTEM_BUDGET_MS,
                                  .registry = collector->system->registry};
    crest_status status;
    crest_poll *poll = crest_poll_every(name, system_run, collector, &options, &status);
    pthread_mutex_lock(&system_lock);
    collector->poll = poll;
    pthread_mutex_unlock(&system_lock);
    return status;
}

static crest_status system_start(crest_system *system, crest_error *error)
{
    crest_registry_state *state = crest_registry_state_of(system->registry);
    crest_status status = state != NULL ? CREST_OK : CREST_NO_MEMORY;
    system->registry_state = state;
    if (status == CREST_OK && !system_enlist(system))
        status = CREST_ALREADY;
    if (status != CREST_OK) {
        system_discard(system);
        return crest_error_set(error, status, "the collectors cannot be started: %s",
                               status == CREST_ALREADY ? "their registry has some running"
                                                       : "no memory");
    }
    for (unsigned i = 0; i < system->count && status == CREST_OK; i++)
        status = system_poll(system->collectors[i]);
    /* after the first poll, so that in a forked child the poller's handler runs first */
    pthread_once(&system_fork_once, system_fork_prepare);
    if (status == CREST_OK)
        return CREST_OK;
    (void)crest_system_stop(system);
    return crest_error_set(error, status, "the collectors cannot be started: %s",
                           crest_status_text(status));
}

crest_system *crest_system_start_kinds(const crest_system_options *options,
                                       const crest_collector_kind *const *kinds, size_t count,
                                       crest_error *error)
{
    pthread_once(&system_once, system_condition_init);
    system_free_orphans();
    crest_system *system = system_new(options);
    if (system != NULL && !system_fill(system, kinds, count)) {
        system_discard(system);
        system = NULL;
    }
    if (system == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "no memory for the collectors");
        return NULL;
    }
    return system_start(system, error) == CREST_OK ? system : NULL;
}

crest_system *crest_system_start(const crest_system_options *options, crest_error *error)
{
    CREST_UNCANCELLED;
    static const crest_collector_kind *const kinds[] = {
#define SYSTEM_KIND(name) &name,
        CREST_COLLECTOR_TABLE(SYSTEM_KIND)
#undef SYSTEM_KIND
    };
    _Static_assert(sizeof kinds / sizeof *kinds <= CREST_SYSTEM_COLLECTORS_MAX, "room for all");
    static const crest_system_options defaults = {.registry = NULL};
    const crest_collector_kind *wanted[CREST_SYSTEM_COLLECTORS_MAX];
    size_t count = 0;
    crest_error_clear(error);
    if (options == NULL)
        options = &defaults;
    if (crest_system_check(options, error) != CREST_OK)
        return NULL;
    for (int slow = 0; slow < 2; slow++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if ((kinds[i]->cadence == CREST_CADENCE_SLOW) == slow &&
                crest_system_groups_have(options->groups, kinds[i]->group))
                wanted[count++] = kinds[i];
    return crest_system_start_kinds(options, wanted, count, error);
}

/* ---- stopping ---- */

/* Under the lock: non-zero when one of its collectors runs. */
static int system_busy(const crest_system *system)
{
    int busy = 0;
    for (unsigned i = 0; i < system->count; i++)
        busy |= system->collectors[i]->running;
    return busy;
}

/* Under the lock, given up meanwhile: waits until none runs, or the time for that is over. */
static void system_settle(const crest_system *system)
{
    struct timespec until =
        crest_monotonic_timespec(crest_monotonic_ns() + CREST_SYSTEM_STOP_MS * CREST_NS_PER_MS);
    int failed = 0;
    while (system_busy(system) && failed != ETIMEDOUT)
        failed = pthread_cond_timedwait(&system_changed, &system_lock, &until);
}

/* Under the lock: takes the system off the list; 0 if it is not there. */
static int system_delist(crest_system *system)
{
    crest_system **link = &system_running;
    while (*link != NULL && *link != system)
        link = &(*link)->next;
    if (*link == NULL)
        return 0;
    *link = system->next;
    return 1;
}

crest_status crest_system_stop(crest_system *system)
{
    CREST_UNCANCELLED;
    if (system == NULL)
        return CREST_OK;
    pthread_mutex_lock(&system_lock);
    if (!system_delist(system)) {
        pthread_mutex_unlock(&system_lock);
        return CREST_NOT_FOUND;
    }
    crest_collector *collectors[CREST_SYSTEM_COLLECTORS_MAX];
    unsigned count = system->count, late = 0;
    memcpy(collectors, system->collectors, sizeof collectors);
    for (unsigned i = 0; i < count; i++)
        collectors[i]->stopped = 1;
    system->users++; /* the system stays until this call is done */
    system_settle(system);
    pthread_mutex_unlock(&system_lock);
    for (unsigned i = 0; i < count; i++) {
        crest_figures_withdraw(collectors[i]);
        pthread_mutex_lock(&system_lock);
        int running = collectors[i]->left_behind = collectors[i]->running;
        pthread_mutex_unlock(&system_lock);
        late += (unsigned)running;
        if (running)
            continue;
        (void)crest_poll_stop(collectors[i]->poll);
        system_collector_free(collectors[i]);
    }
    pthread_mutex_lock(&system_lock);
    int last = --system->users == 0;
    pthread_mutex_unlock(&system_lock);
    if (last)
        system_free(system);
    return late == 0 ? CREST_OK : CREST_TIMED_OUT;
}

size_t crest_system_list(const crest_system *system, crest_system_state *states, size_t room)
{
    size_t count = 0;
    pthread_mutex_lock(&system_lock);
    const crest_system *found = system_running;
    while (found != NULL && found != system)
        found = found->next;
    for (; found != NULL && count < found->count; count++)
        if (count < room) {
            states[count] = found->collectors[count]->shown;
            states[count].running = found->collectors[count]->running;
        }
    pthread_mutex_unlock(&system_lock);
    return count;
}
