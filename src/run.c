/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crest_start and crest_stop: options are read and everything they ask for is made before anything
 * is started, so that a bad option leaves nothing behind. See <crest/run.h>.
 *
 * Starting and stopping take time and call out, so no lock is held meanwhile: the phase says what
 * is going on, and others wait for it to change.
 */
#define _GNU_SOURCE
#include <crest/run.h>

#include "alloc.h"
#include "error.h"
#include "misuse.h"
#include "one_report.h"
#include "options.h"
#include "poller.h"
#include "reporter_kinds.h"
#include "reporting.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUN_IN_STRING "in the string given to crest_start"
#define RUN_IN_ENVIRONMENT "in CREST_OPTS"
/* How long a start waits for another thread's start or stop. */
#define RUN_SETTLE_MS 60000u
#define RUN_KEYS_MAX 512u
#define RUN_KEY_BYTES (CREST_REPORTER_KIND_BYTES_MAX + 16u)

static const char *const run_keys[] = {"service", "version", "instance", "interval",
                                       "jitter",  "windows", "atexit",   "strict"};
/* What every kind of reporter has, after its name. */
static const char *const run_kind_keys[] = {"", ".interval", ".timeout", ".jitter"};
#define RUN_KIND_KEYS (sizeof run_kind_keys / sizeof *run_kind_keys)

typedef struct run_reporter {
    crest_reporter *reporter;
    crest_schedule schedule;
} run_reporter;

/* What is to be started. */
typedef struct run_plan {
    crest_options *options;
    const crest_reporter_kind *kinds[CREST_REPORTER_KINDS_MAX];
    size_t kind_count;
    char kind_keys[CREST_REPORTER_KINDS_MAX][RUN_KIND_KEYS][RUN_KEY_BYTES];
    const char *keys[RUN_KEYS_MAX];
    size_t key_count;
    char host[CREST_HOST_BYTES];
    crest_resource resource;
    uint64_t interval_ms;
    double jitter;
    int windows;
    int at_exit;
    int strict;
    run_reporter reporters[CREST_REPORTER_KINDS_MAX];
    size_t reporter_count;
} run_plan;

typedef enum run_phase { RUN_IDLE, RUN_STARTING, RUN_RUNNING, RUN_STOPPING } run_phase;

/* Guards all that follows. */
static pthread_mutex_t run_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t run_changed;
static pthread_once_t run_once = PTHREAD_ONCE_INIT;
static run_phase run_now;
static unsigned run_users;
static int run_windows;
static int run_at_exit;

/* ---- phases ---- */

static void run_condition_init(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&run_changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* Nothing runs in the child of a fork. The reporters that were made stay as they are: they may hold
 * connections shared with the parent. */
static void run_forked(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    run_lock = fresh;
    run_condition_init();
    run_now = RUN_IDLE;
    run_users = 0;
}

static void run_prepare(void)
{
    run_condition_init();
    pthread_atfork(NULL, NULL, run_forked);
}

/* Under the lock, given up meanwhile: waits while another thread is starting or stopping. Non-zero
 * when it still is at the deadline. */
static int run_settle(uint64_t deadline_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(deadline_ms / 1000);
    until.tv_nsec += (long)(deadline_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
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

/* ---- reading the options ---- */

static void run_know(run_plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->key_count; i++)
        if (strcmp(plan->keys[i], key) == 0)
            return;
    if (plan->key_count < RUN_KEYS_MAX)
        plan->keys[plan->key_count++] = key;
}

/* Collects the keys there are: the built-in ones, and those of each kind that is linked. */
static void run_collect_keys(run_plan *plan)
{
    for (size_t i = 0; i < sizeof run_keys / sizeof *run_keys; i++)
        run_know(plan, run_keys[i]);
    plan->kind_count = crest_reporter_kinds(plan->kinds);
    for (size_t i = 0; i < plan->kind_count; i++) {
        const crest_reporter_kind *kind = plan->kinds[i];
        for (size_t k = 0; k < RUN_KIND_KEYS; k++) {
            snprintf(plan->kind_keys[i][k], RUN_KEY_BYTES, "%s%s", kind->name, run_kind_keys[k]);
            run_know(plan, plan->kind_keys[i][k]);
        }
        for (const char *const *key = kind->keys; key != NULL && *key != NULL; key++)
            run_know(plan, *key);
    }
}

static crest_status run_refuse(const run_plan *plan, const char *key, const char *what,
                               crest_error *error)
{
    return crest_error_set(error, CREST_INVALID_OPTIONS, "%s=%s %s is not %s", key,
                           crest_option(plan->options, key),
                           crest_options_origin(plan->options, key), what);
}

/* A duration within bounds that fit a schedule. */
static crest_status run_read_ms(const run_plan *plan, const char *key, uint64_t least_ms,
                                uint64_t *value_ms, crest_error *error)
{
    uint64_t read_ms = *value_ms;
    crest_status status = crest_option_duration_ms(plan->options, key, &read_ms, error);
    if (status != CREST_OK || crest_option(plan->options, key) == NULL)
        return status;
    if (read_ms < least_ms || read_ms > CREST_INTERVAL_MS_MAX) {
        char what[64];
        snprintf(what, sizeof what, "between %llums and %us", (unsigned long long)least_ms,
                 CREST_INTERVAL_MS_MAX / 1000);
        return run_refuse(plan, key, what, error);
    }
    *value_ms = read_ms;
    return CREST_OK;
}

static crest_status run_read_text(const run_plan *plan, const char *key, const char **value,
                                  crest_error *error)
{
    const char *text = crest_option(plan->options, key);
    if (text == NULL)
        return CREST_OK;
    if (strlen(text) > CREST_RESOURCE_BYTES_MAX)
        return crest_error_set(error, CREST_INVALID_OPTIONS,
                               "the value of %s %s is longer than %u bytes", key,
                               crest_options_origin(plan->options, key), CREST_RESOURCE_BYTES_MAX);
    *value = text;
    return CREST_OK;
}

static crest_status run_read_common(run_plan *plan, crest_error *error)
{
    crest_host_name(plan->host);
    plan->resource = (crest_resource){.service = "", .version = "", .instance = plan->host};
    plan->interval_ms = CREST_INTERVAL_MS_DEFAULT;
    plan->windows = plan->at_exit = 1;
    crest_status status = run_read_text(plan, "service", &plan->resource.service, error);
    if (status == CREST_OK)
        status = run_read_text(plan, "version", &plan->resource.version, error);
    if (status == CREST_OK)
        status = run_read_text(plan, "instance", &plan->resource.instance, error);
    if (status == CREST_OK)
        status = run_read_ms(plan, "interval", CREST_INTERVAL_MS_MIN, &plan->interval_ms, error);
    if (status == CREST_OK)
        status = crest_option_switch(plan->options, "atexit", &plan->at_exit, error);
    if (status == CREST_OK)
        status = crest_option_switch(plan->options, "strict", &plan->strict, error);
    if (status != CREST_OK)
        return status;
    if (plan->resource.instance[0] == '\0')
        plan->resource.instance = plan->host;
    const char *windows = crest_option(plan->options, "windows");
    if (windows != NULL && strcmp(windows, "1m") != 0 && strcmp(windows, "off") != 0)
        return run_refuse(plan, "windows", "a window: write 1m or off", error);
    plan->windows = windows == NULL || strcmp(windows, "1m") == 0;
    return CREST_OK;
}

/* An option's jitter 0 is none; a schedule's 0 is the default, and negative none. */
static crest_status run_read_jitter(const run_plan *plan, const char *key, double *jitter,
                                    crest_error *error)
{
    double fraction;
    crest_status status = crest_option_fraction(plan->options, key, &fraction, error);
    if (status == CREST_OK && crest_option(plan->options, key) != NULL)
        *jitter = fraction > 0 ? fraction : -1;
    return status;
}

static crest_status run_read_schedule(const run_plan *plan, size_t kind_index,
                                      crest_schedule *schedule, crest_error *error)
{
    const crest_reporter_kind *kind = plan->kinds[kind_index];
    const char *value = crest_option(plan->options, kind->name);
    schedule->interval_ms = plan->interval_ms;
    schedule->jitter = plan->jitter;
    schedule->timeout_ms = 0;
    crest_status status = CREST_OK;
    if (kind->value_is_interval && strcmp(value, "on") != 0)
        status =
            run_read_ms(plan, kind->name, CREST_INTERVAL_MS_MIN, &schedule->interval_ms, error);
    if (status == CREST_OK)
        status = run_read_ms(plan, plan->kind_keys[kind_index][1], CREST_INTERVAL_MS_MIN,
                             &schedule->interval_ms, error);
    if (status == CREST_OK)
        status = run_read_ms(plan, plan->kind_keys[kind_index][2], 1, &schedule->timeout_ms, error);
    if (status == CREST_OK)
        status = run_read_jitter(plan, plan->kind_keys[kind_index][3], &schedule->jitter, error);
    return status;
}

/* ---- making what they ask for ---- */

/* The kind's own words, and where the option was given if they do not say. */
static crest_status run_explain(const run_plan *plan, const crest_reporter_kind *kind,
                                const crest_error *reason, crest_error *error)
{
    const char *origin = crest_options_origin(plan->options, kind->name);
    crest_status status =
        reason->status == CREST_NO_MEMORY ? CREST_NO_MEMORY : CREST_INVALID_OPTIONS;
    if (reason->message[0] == '\0')
        return crest_error_set(error, status, "%s %s: no such reporter could be made", kind->name,
                               origin);
    if (strstr(reason->message, origin) != NULL)
        return crest_error_set(error, status, "%s", reason->message);
    return crest_error_set(error, status, "%s %s: %s", kind->name, origin, reason->message);
}

static crest_status run_make_reporters(run_plan *plan, crest_error *error)
{
    for (size_t i = 0; i < plan->kind_count; i++) {
        const crest_reporter_kind *kind = plan->kinds[i];
        const char *value = crest_option(plan->options, kind->name);
        if (value == NULL || strcmp(value, "off") == 0)
            continue;
        run_reporter *made = &plan->reporters[plan->reporter_count];
        crest_status status = run_read_schedule(plan, i, &made->schedule, error);
        if (status != CREST_OK)
            return status;
        crest_error reason;
        crest_error_clear(&reason);
        made->reporter = kind->create(value, plan->options, &plan->resource, &reason);
        if (made->reporter == NULL)
            return run_explain(plan, kind, &reason, error);
        plan->reporter_count++;
    }
    return CREST_OK;
}

static crest_status run_make_plan(run_plan *plan, const char *text, crest_error *error)
{
    plan->options = crest_options_new();
    if (plan->options == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory to read the options");
    run_collect_keys(plan);
    crest_status status = crest_options_add(plan->options, text, RUN_IN_STRING, error);
    /* not getenv: in a program with more rights than its user, @FILE would read files for them */
    if (status == CREST_OK)
        status = crest_options_add(plan->options, secure_getenv("CREST_OPTS"), RUN_IN_ENVIRONMENT,
                                   error);
    if (status == CREST_OK)
        status = crest_options_check(plan->options, plan->keys, plan->key_count, error);
    if (status == CREST_OK)
        status = run_read_common(plan, error);
    if (status == CREST_OK)
        status = run_read_jitter(plan, "jitter", &plan->jitter, error);
    if (status == CREST_OK)
        status = run_make_reporters(plan, error);
    return status;
}

/* Frees the plan, and the reporters that nobody else owns: those from the `started`-th on. */
static void run_plan_free(run_plan *plan, size_t started)
{
    if (plan == NULL)
        return;
    for (size_t i = started; i < plan->reporter_count; i++)
        crest_reporter_free(plan->reporters[i].reporter);
    crest_options_free(plan->options);
    crest_alloc_free(plan);
}

/* ---- starting and stopping ---- */

/* At exit, whatever the count: what was recorded since the last report would be lost. */
static void run_exit(void)
{
    pthread_mutex_lock(&run_lock);
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
    if (crest_reporting_stop_all(CREST_REPORTING_FLUSH, CREST_ATEXIT_DEADLINE_MS, &error) !=
        CREST_OK)
        crest_log_write(CREST_LOG_WARNING, "crest: at exit: %s", error.message);
    if (run_windows)
        crest_ticker_detach(NULL);
    run_enter(RUN_IDLE);
}

/* Starts what the plan has. *started reporters are no longer the plan's. */
static crest_status run_launch(run_plan *plan, size_t *started, crest_error *error)
{
    crest_status status = plan->windows ? crest_ticker_attach(NULL) : CREST_OK;
    if (status != CREST_OK)
        return crest_error_set(
            error, status,
            "the moving averages cannot be computed: %s; make room for %s, or "
            "write windows=off to go without them",
            status == CREST_SYSTEM ? "no thread can be started" : crest_status_text(status),
            status == CREST_SYSTEM ? "one more thread (ulimit -u, ulimit -v)" : "them (ulimit -v)");
    crest_one_report_describe(&plan->resource);
    if (plan->at_exit)
        crest_reporting_at_exit(run_exit);
    for (*started = 0; *started < plan->reporter_count; ++*started) {
        run_reporter *next = &plan->reporters[*started];
        status = crest_reporting_attach(NULL, next->reporter, &next->schedule, 1, error);
        if (status != CREST_OK) {
            crest_reporting_stop_all(CREST_REPORTING_DISCARD, CREST_ATEXIT_DEADLINE_MS, NULL);
            if (plan->windows)
                crest_ticker_detach(NULL);
            return status;
        }
    }
    return CREST_OK;
}

/* The first start. Not under the lock. */
static crest_status run_start(const char *options, crest_error *error)
{
    run_plan *plan = crest_alloc(1, sizeof *plan);
    size_t started = 0;
    crest_status status = plan != NULL
                              ? run_make_plan(plan, options, error)
                              : crest_error_set(error, CREST_NO_MEMORY, "no memory to start");
    if (status == CREST_OK)
        status = run_launch(plan, &started, error);
    if (status == CREST_OK && crest_option(plan->options, "strict") != NULL)
        crest_registry_strict(NULL, plan->strict);
    pthread_mutex_lock(&run_lock);
    if (status == CREST_OK) {
        run_windows = plan->windows;
        run_at_exit = plan->at_exit;
        run_users = 1;
    }
    run_now = status == CREST_OK ? RUN_RUNNING : RUN_IDLE;
    pthread_cond_broadcast(&run_changed);
    pthread_mutex_unlock(&run_lock);
    run_plan_free(plan, started);
    return status;
}

crest_status crest_start(const char *options, crest_error *error)
{
    crest_error_clear(error);
    crest_poller_resume();
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
    else if (options != NULL)
        status = crest_error_set(error, CREST_ALREADY,
                                 "Crest was started before, with the options given then; what "
                                 "these ask for beyond was not looked at");
    if (status == CREST_INVALID_OPTIONS)
        crest_misuse_count(CREST_MISUSE_OPTIONS, "crest_start");
    crest_misuse_tell();
    return status;
}

crest_status crest_stop(uint64_t deadline_ms, crest_error *error)
{
    crest_error_clear(error);
    if (deadline_ms == 0)
        deadline_ms = CREST_ATEXIT_DEADLINE_MS;
    if (deadline_ms > CREST_INTERVAL_MS_MAX)
        deadline_ms = CREST_INTERVAL_MS_MAX;
    pthread_once(&run_once, run_prepare);
    pthread_mutex_lock(&run_lock);
    int busy = run_settle(deadline_ms), running = run_now == RUN_RUNNING && !busy;
    int last = running && --run_users == 0;
    if (last)
        run_now = RUN_STOPPING;
    pthread_mutex_unlock(&run_lock);
    if (busy)
        return crest_error_set(error, CREST_TIMED_OUT,
                               "another thread is still starting or stopping Crest");
    if (!running)
        return crest_error_set(error, CREST_NOT_RUNNING, "Crest was not started");
    if (!last)
        return CREST_OK;
    crest_status status = crest_reporting_stop_all(CREST_REPORTING_FLUSH, deadline_ms, error);
    if (run_windows)
        crest_ticker_detach(NULL);
    run_enter(RUN_IDLE);
    return status;
}
