/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest_start and crest_stop: make a plan of the options, and carry it out. See <crest/run.h>.
 *
 * Starting and stopping take time and call out, so no lock is held meanwhile. The phase says what
 * is under way, and other threads wait for it to change.
 */
#define _GNU_SOURCE
#include <crest/run.h>
#include <crest/system.h>

#include "base/error.h"
#include "base/forked.h"
#include "base/host_loop.h"
#include "base/misuse.h"
#include "base/sync.h"
#include "base/thread.h"
#include "base/uncancelled.h"
#include "cells/cells.h"
#include "names/lookalike_names.h"
#include "polls/poller.h"
#include "reporting/one_report.h"
#include "reporting/reporting.h"
#include "run/events_rules_run.h"
#include "run/otel_context.h"
#include "run/run_plan.h"
#include "state/state_file.h"
#include "tracing/tracing.h"
#include "windows/tick_listeners.h"
#include "windows/ticker.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#ifndef CREST_BUILD_VERSION
#define CREST_BUILD_VERSION "0"
#endif

/* How long a start waits for another thread's start or stop. */
#define RUN_SETTLE_MS 60000u

typedef enum run_phase { RUN_IDLE, RUN_STARTING, RUN_RUNNING, RUN_STOPPING } run_phase;

/* Guards all that follows. */
static pthread_mutex_t run_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t run_changed;
static pthread_once_t run_once = PTHREAD_ONCE_INIT;
static run_phase run_now;
static unsigned run_users;
static int run_windows;
static int run_beats;            /* this start keeps the ticker, for the state file's heartbeat */
static crest_system *run_system; /* the collectors, or NULL */
static int run_at_exit;
static int run_hiccups;  /* this start began the hiccup meter */
static int run_orphaned; /* forked while Crest ran, and not started since */

/* ---- phases ---- */

/* Fork handler: nothing runs in the child. The reporters that were made stay as they are: they may
 * hold connections shared with the parent. */
static void run_forked(void)
{
    crest_mutex_fresh(&run_lock);
    crest_monotonic_condition(&run_changed);
    run_orphaned |= run_users != 0;
    run_now = RUN_IDLE;
    run_users = 0;
    run_system = NULL;
    run_beats = 0;
}

static void run_prepare(void)
{
    crest_monotonic_condition(&run_changed);
    crest_forked_call(CREST_FORKED_RUN, run_forked);
}

/* Under the lock, given up meanwhile: waits while another thread starts or stops. Non-zero if that
 * still goes on at the deadline. */
static int run_settle(uint64_t deadline_ms)
{
    struct timespec until =
        crest_monotonic_timespec(crest_monotonic_ns() + deadline_ms * CREST_NS_PER_MS);
    int failed = 0;
    while ((run_now == RUN_STARTING || run_now == RUN_STOPPING) && failed != ETIMEDOUT)
        failed = pthread_cond_timedwait(&run_changed, &run_lock, &until);
    return run_now == RUN_STARTING || run_now == RUN_STOPPING;
}

static void run_enter(run_phase phase)
{
    pthread_mutex_lock(&run_lock);
    run_now = phase;
    pthread_cond_broadcast(&run_changed);
    pthread_mutex_unlock(&run_lock);
}

/* ---- starting and stopping ---- */

/* Ends what was started beside the reporters. */
static void run_end_collecting(void)
{
    if (crest_system_stop(run_system) == CREST_TIMED_OUT)
        crest_log_write(CREST_LOG_WARNING,
                        "crest: a collector hangs, as on a dead mount, and was left behind");
    if (run_hiccups)
        crest_hiccups_stop();
    if (run_windows)
        crest_ticker_detach(NULL);
    if (run_beats)
        crest_ticker_release();
    crest_events_stop();
    crest_state_farewell();
    crest_otel_context_withdraw();
    run_system = NULL;
    run_hiccups = run_windows = run_beats = 0;
}

/* The message for a process that records into a Crest which only its parent runs; told once. */
#define RUN_ORPHANED                                                                               \
    "this process was forked while Crest ran, and a child has no reporters: nothing that it "      \
    "records is reported before it calls crest_start itself (a daemon starts after its last fork)"

/* Under the lock, given up meanwhile: tells the log so. */
static void run_tell_orphaned(void)
{
    run_orphaned = 0;
    pthread_mutex_unlock(&run_lock);
    crest_log_write(CREST_LOG_WARNING, "crest: " RUN_ORPHANED);
    pthread_mutex_lock(&run_lock);
}

/* Keeps the host's loop from working, if it serves reporters, until run_let_go(*held). */
static crest_status run_hold(uint64_t deadline_ms, int *held, crest_error *error)
{
    crest_status status = CREST_OK;
    *held = crest_reporting_by_loop();
    if (*held)
        status = crest_loop_hold(crest_monotonic_ns() + deadline_ms * CREST_NS_PER_MS, error);
    *held = *held && status == CREST_OK;
    return status;
}

static void run_let_go(int held)
{
    if (held)
        crest_loop_release();
}

static crest_status run_end_tracing(uint64_t deadline_ms, crest_error *error)
{
    return crest_tracing_stop(crest_monotonic_ns() + deadline_ms * CREST_NS_PER_MS, error);
}

/* The last spans, while what takes them is there, and the last reports. An exporter of spans that
 * hangs may take half of the time. */
static crest_status run_flush(uint64_t deadline_ms, crest_error *error)
{
    crest_error all, one;
    crest_error_clear(&all);
    uint64_t until_ns = crest_monotonic_ns() + deadline_ms * CREST_NS_PER_MS;
    if (run_end_tracing((deadline_ms + 1) / 2, &one) != CREST_OK)
        crest_error_add(&all, NULL, &one);
    uint64_t now_ns = crest_monotonic_ns();
    uint64_t rest_ms = until_ns > now_ns ? (until_ns - now_ns) / CREST_NS_PER_MS : 0;
    if (crest_reporting_stop_all(CREST_REPORTING_FLUSH, rest_ms != 0 ? rest_ms : 1, &one) !=
        CREST_OK)
        crest_error_add(&all, NULL, &one);
    return all.status == CREST_OK ? CREST_OK
                                  : crest_error_set(error, all.status, "%s", all.message);
}

/* atexit function; ignores the count of starts: what was recorded since the last report would be
 * lost. */
static void run_exit(void)
{
    crest_forked_check();
    pthread_mutex_lock(&run_lock);
    if (run_orphaned && crest_cells_any())
        run_tell_orphaned();
    int busy = run_settle(CREST_ATEXIT_DEADLINE_MS);
    int flush = !busy && run_now == RUN_RUNNING && run_at_exit;
    if (flush) {
        run_now = RUN_STOPPING;
        run_users = 0;
    }
    pthread_mutex_unlock(&run_lock);
    if (!flush)
        return;
    crest_error error;
    int held;
    crest_status status = run_hold(CREST_ATEXIT_DEADLINE_MS, &held, &error);
    if (status == CREST_OK)
        status = run_flush(CREST_ATEXIT_DEADLINE_MS, &error);
    else
        (void)run_end_tracing(CREST_ATEXIT_DEADLINE_MS, NULL);
    run_let_go(held);
    if (status != CREST_OK)
        crest_log_write(CREST_LOG_WARNING, "crest: at exit: %s", error.message);
    run_end_collecting();
    run_enter(RUN_IDLE);
}

static int run_goes_on(crest_status status)
{
    return status == CREST_OK || status == CREST_PARTIAL;
}

/* Says what could not be started, if anything; for a single reporter in its own words. */
static crest_status run_judge(size_t count, size_t failures, const crest_error *all,
                              crest_error *error)
{
    if (failures == 0)
        return CREST_OK;
    if (count == 1)
        return crest_error_set(error, all->status, "%s", all->message);
    if (failures == count)
        return crest_error_set(error, all->status, "none of %zu reporters could be started: %s",
                               count, all->message);
    return crest_error_set(error, CREST_PARTIAL,
                           "%zu of %zu reporters could not be started, the others run: %s",
                           failures, count, all->message);
}

/* Attaches one reporter of the plan, which then no longer owns it. */
static crest_status run_attach_one(crest_run_reporter *next, crest_error *error)
{
    if (next->refused != NULL)
        return crest_error_set(error, next->refused->status, "%s", next->refused->message);
    crest_status status =
        crest_reporting_attach_owned(NULL, next->reporter, next->name, &next->schedule, error);
    if (status == CREST_OK)
        next->reporter = NULL;
    return status;
}

/* Attaches as many reporters of the plan as can be started: one whose port is taken does not end
 * the others. None is left attached when none can be started, nor when memory runs out. */
static crest_status run_attach(crest_run_plan *plan, crest_error *error)
{
    size_t failures = 0;
    crest_error all;
    crest_error_clear(&all);
    for (size_t i = 0; i < plan->reporter_count; i++) {
        crest_run_reporter *next = &plan->reporters[i];
        const char *name = next->name != NULL       ? next->name
                           : next->reporter != NULL ? next->reporter->name
                                                    : next->kind;
        crest_error one;
        crest_status status = run_attach_one(next, &one);
        if (status == CREST_OK)
            continue;
        if (status == CREST_NO_MEMORY) {
            int held;
            if (run_hold(CREST_ATEXIT_DEADLINE_MS, &held, NULL) == CREST_OK)
                crest_reporting_stop_all(CREST_REPORTING_DISCARD, CREST_ATEXIT_DEADLINE_MS, NULL);
            run_let_go(held);
            return crest_error_set(error, status, "%s", one.message);
        }
        crest_one_report_failed(name, status);
        crest_error_add(&all, NULL, &one);
        failures++;
    }
    crest_status status = run_judge(plan->reporter_count, failures, &all, error);
    if (status == CREST_PARTIAL)
        crest_log_write(CREST_LOG_ERROR, "crest: %zu of %zu reporters could not be started: %s",
                        failures, plan->reporter_count, all.message);
    return status;
}

/* Starts the collectors of the plan. If the program has started its own, those go on instead. */
static crest_status run_start_system(crest_run_plan *plan, crest_error *error)
{
    crest_error reason;
    plan->collectors = crest_system_start(&plan->system_options, &reason);
    if (plan->collectors != NULL)
        return CREST_OK;
    if (reason.status != CREST_ALREADY)
        return crest_error_set(error, reason.status, "%s", reason.message);
    crest_log_write(CREST_LOG_WARNING,
                    "crest: system=%s is passed over: the program started collectors itself",
                    crest_option(plan->options, "system"));
    return CREST_OK;
}

/* Starts what the options ask for beside reporters, so that the first report has what it finds. A
 * collection that the host has started itself stays the host's. */
static crest_status run_collect(crest_run_plan *plan, crest_error *error)
{
    crest_status status = plan->system ? run_start_system(plan, error) : CREST_OK;
    if (status == CREST_OK && plan->hiccups)
        status = crest_hiccups_start(&plan->hiccups_options, error);
    plan->hiccups = plan->hiccups && status == CREST_OK;
    return status == CREST_ALREADY ? CREST_OK : status;
}

/* Opens the state file, if the options ask for one, and gives it a heartbeat. CREST_PARTIAL where
 * it cannot be had. */
static crest_status run_keep_state(const crest_run_plan *plan, crest_error *error)
{
    crest_status status = crest_state_start(&plan->state, error);
    if (crest_state_header_own() == NULL)
        return status;
    crest_state_describe(plan->resource.service, plan->resource.instance, plan->resource.version);
    crest_state_live();
    crest_on_tick(crest_state_tick);
    return status;
}

/* Lets outside profilers see which span a thread is in. `kept` or CREST_PARTIAL. */
static crest_status run_show_context(const crest_run_plan *plan, crest_status kept,
                                     crest_error *error)
{
    crest_error refused;
    if (crest_otel_context_publish(&plan->resource, &refused) == CREST_OK)
        return kept;
    crest_log_write(CREST_LOG_WARNING, "crest: %s", refused.message);
    if (kept == CREST_OK)
        *error = refused;
    return CREST_PARTIAL;
}

/* Begins to write events. `kept` or CREST_PARTIAL. */
static crest_status run_write_events(const crest_run_plan *plan, crest_status kept,
                                     crest_error *error)
{
    crest_error refused;
    crest_status status =
        plan->events.on ? crest_events_rules_start(plan->options, &refused) : CREST_OK;
    if (status == CREST_OK)
        status = crest_events_start(&plan->events, &refused);
    if (status == CREST_OK)
        return kept;
    if (kept == CREST_OK)
        *error = refused;
    return CREST_PARTIAL;
}

/* Starts all of the plan. */
static crest_status run_launch(crest_run_plan *plan, crest_error *error)
{
    crest_windows_configure(&plan->window_options);
    crest_status status = plan->windows ? crest_ticker_attach(NULL) : CREST_OK;
    if (status != CREST_OK)
        return crest_error_set(
            error, status,
            "the moving averages cannot be computed: %s; make room for %s, or "
            "write windows=off to go without them",
            status == CREST_SYSTEM ? "no thread can be started" : crest_status_text(status),
            status == CREST_SYSTEM ? "one more thread (ulimit -u, ulimit -v)" : "them (ulimit -v)");
    status = crest_one_report_describe(&plan->resource);
    if (status != CREST_OK)
        crest_error_set(error, status, "no memory to start");
    if (status == CREST_OK && plan->at_exit)
        crest_reporting_at_exit(run_exit);
    int collecting = status == CREST_OK;
    if (collecting)
        status = run_collect(plan, error);
    if (status == CREST_OK)
        status = crest_spans_start(&plan->spans, plan->resource.instance, error);
    if (status == CREST_OK)
        status = run_attach(plan, error);
    if (run_goes_on(status))
        return status;
    (void)run_end_tracing(CREST_ATEXIT_DEADLINE_MS, NULL);
    (void)crest_system_stop(plan->collectors);
    if (collecting && plan->hiccups)
        crest_hiccups_stop();
    if (plan->windows)
        crest_ticker_detach(NULL);
    return status;
}

/* The first start. Not under the lock. */
static crest_status run_start(const char *options, crest_error *error)
{
    crest_run_plan *plan;
    crest_status status = crest_run_plan_make(options, &plan, error);
    crest_error no_state;
    crest_status kept = CREST_OK;
    crest_log_standard_error(status == CREST_OK ? plan->log : isatty(STDERR_FILENO));
    if (status == CREST_OK)
        crest_threads_allow(plan->threads);
    if (status == CREST_OK)
        kept = run_keep_state(plan, &no_state);
    if (status == CREST_OK && plan->otel_context)
        kept = run_show_context(plan, kept, &no_state);
    if (status == CREST_OK)
        kept = run_write_events(plan, kept, &no_state);
    if (status == CREST_OK && !plan->threads)
        crest_loop_wake(); /* its fork handler with it */
    crest_poller_resume();
    if (status == CREST_OK)
        status = run_launch(plan, error);
    if (!run_goes_on(status)) {
        crest_otel_context_withdraw();
        crest_events_stop();
    }
    int goes_on = run_goes_on(status);
    int beats = goes_on && (crest_state_header_own() != NULL || plan->events.on);
    if (beats)
        crest_ticker_keep();
    if (status == CREST_OK && kept != CREST_OK)
        status = crest_error_set(error, kept, "%s", no_state.message);
    if (goes_on && crest_option(plan->options, "strict") != NULL)
        crest_registry_strict(NULL, plan->strict);
    pthread_mutex_lock(&run_lock);
    if (goes_on) {
        run_windows = plan->windows;
        run_beats = beats;
        run_at_exit = plan->at_exit;
        run_hiccups = plan->hiccups;
        run_system = plan->collectors;
        run_users = 1;
        run_orphaned = 0;
    }
    run_now = goes_on ? RUN_RUNNING : RUN_IDLE;
    pthread_cond_broadcast(&run_changed);
    pthread_mutex_unlock(&run_lock);
    crest_run_plan_free(plan);
    return status;
}

crest_status crest_start(const char *options, crest_error *error)
{
    CREST_UNCANCELLED;
    crest_error own;
    if (error == NULL)
        error = &own; /* the log may be told */
    crest_error_clear(error);
    pthread_once(&run_once, run_prepare);
    pthread_mutex_lock(&run_lock);
    int busy = run_settle(RUN_SETTLE_MS), first = run_now == RUN_IDLE;
    if (first)
        run_now = RUN_STARTING;
    else if (!busy)
        run_users++;
    pthread_mutex_unlock(&run_lock);
    crest_status status = CREST_OK;
    if (busy)
        status = crest_error_set(error, CREST_TIMED_OUT,
                                 "another thread has been starting or stopping Crest for %u s",
                                 RUN_SETTLE_MS / 1000);
    else if (first)
        status = run_start(options, error);
    else
        crest_poller_resume();
    if (!busy && !first && options != NULL)
        status =
            crest_error_set(error, CREST_ALREADY,
                            "Crest was started before, with the options given then; what "
                            "these ask for beyond was not looked at. A start after the first is "
                            "given NULL");
    if (status == CREST_INVALID_OPTIONS) {
        crest_misuse_explain(CREST_MISUSE_OPTIONS, "crest_start", error->message);
        crest_misuse_count(CREST_MISUSE_OPTIONS, "crest_start");
    }
    crest_split_tell();
    crest_misuse_tell();
    return status;
}

crest_status crest_options_check(const char *options, crest_error *error)
{
    CREST_UNCANCELLED;
    crest_error_clear(error);
    crest_run_plan *plan;
    crest_status status = crest_run_plan_make(options, &plan, error);
    if (status == CREST_OK) {
        size_t failures = 0;
        crest_error all;
        crest_error_clear(&all);
        for (size_t i = 0; i < plan->reporter_count; i++)
            if (plan->reporters[i].refused != NULL) {
                crest_error_add(&all, NULL, plan->reporters[i].refused);
                failures++;
            }
        status = run_judge(plan->reporter_count, failures, &all, error);
    }
    crest_run_plan_free(plan);
    return status;
}

/* Not under the lock; the caller holds the host's loop if it serves reporters. */
static crest_status run_stop(uint64_t deadline_ms, crest_error *error)
{
    pthread_mutex_lock(&run_lock);
    int busy = run_settle(deadline_ms), running = run_now == RUN_RUNNING && !busy;
    int last = running && --run_users == 0, orphaned = run_orphaned;
    if (last)
        run_now = RUN_STOPPING;
    if (orphaned)
        run_tell_orphaned();
    pthread_mutex_unlock(&run_lock);
    if (busy)
        return crest_error_set(error, CREST_TIMED_OUT,
                               "another thread is still starting or stopping Crest");
    if (!running)
        return crest_error_set(error, CREST_NOT_RUNNING,
                               orphaned ? RUN_ORPHANED : "Crest was not started");
    if (!last)
        return CREST_OK;
    crest_status status = run_flush(deadline_ms, error);
    run_end_collecting();
    run_enter(RUN_IDLE);
    return status;
}

crest_status crest_stop(uint64_t deadline_ms, crest_error *error)
{
    CREST_UNCANCELLED;
    crest_error_clear(error);
    if (deadline_ms == 0)
        deadline_ms = CREST_ATEXIT_DEADLINE_MS;
    if (deadline_ms > CREST_INTERVAL_MS_MAX)
        deadline_ms = CREST_INTERVAL_MS_MAX;
    pthread_once(&run_once, run_prepare);
    int held;
    crest_status status = run_hold(deadline_ms, &held, error);
    if (status != CREST_OK)
        return status;
    status = run_stop(deadline_ms, error);
    run_let_go(held);
    return status;
}
