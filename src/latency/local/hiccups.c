/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hiccup meter's thread. See <crest/hiccups.h>; hiccup_fill.c decides what a hiccup is recorded
 * as.
 *
 * The thread waits on a condition rather than in nanosleep, so that a stop need not wait out a long
 * resolution. Either is one kernel timer.
 */
#define _GNU_SOURCE
#include <crest/hiccups.h>

#include "base/error.h"
#include "base/forked.h"
#include "base/misuse.h"
#include "base/sync.h"
#include "base/thread.h"
#include "base/uncancelled.h"
#include "latency/local/hiccup_fill.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* Guards starting and stopping. Lock order: before hiccups_lock. */
static pthread_mutex_t hiccups_control = PTHREAD_MUTEX_INITIALIZER;
/* Guards hiccups_stopping. */
static pthread_mutex_t hiccups_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t hiccups_once = PTHREAD_ONCE_INIT;
static pthread_cond_t hiccups_wake;
static int hiccups_stopping;
/* Under hiccups_control. Values that the thread reads are written before it starts. */
static int hiccups_running;
static pthread_t hiccups_thread;
static crest_timer *hiccups_timer;
static uint64_t hiccups_resolution_ns;

/* ---- the forked child ---- */

static void hiccups_forked(void)
{
    crest_mutex_fresh(&hiccups_control);
    crest_mutex_fresh(&hiccups_lock);
    crest_monotonic_condition(&hiccups_wake);
    hiccups_running = hiccups_stopping = 0;
}

static void hiccups_prepare(void)
{
    crest_monotonic_condition(&hiccups_wake);
    crest_forked_call(CREST_FORKED_HICCUPS, hiccups_forked);
}

/* ---- the thread ---- */

/* Sleeps until then; zero when the meter is to stop. */
static int hiccups_sleep(uint64_t until_ns)
{
    struct timespec until = crest_monotonic_timespec(until_ns);
    pthread_mutex_lock(&hiccups_lock);
    while (!hiccups_stopping && crest_monotonic_ns() < until_ns)
        pthread_cond_timedwait(&hiccups_wake, &hiccups_lock, &until);
    int stopping = hiccups_stopping;
    pthread_mutex_unlock(&hiccups_lock);
    return !stopping;
}

static void hiccups_record(crest_timer *timer, uint64_t excess_ns, uint64_t resolution_ns)
{
    crest_hiccup_fill fill = crest_hiccup_fill_begin(excess_ns, resolution_ns);
    uint64_t value_ns, times;
    while (crest_hiccup_fill_next(&fill, &value_ns, &times))
        if (times == 1)
            crest_timer_record(timer, (int64_t)value_ns, CREST_OUTCOME_OK);
        else
            crest_histogram_record_n(&timer->outcome[CREST_OUTCOME_OK], (int64_t)value_ns, times);
}

static void *hiccups_run(void *argument)
{
    crest_timer *timer = hiccups_timer;
    uint64_t resolution_ns = hiccups_resolution_ns, least_ns = UINT64_MAX;
    (void)argument;
    pthread_setname_np(pthread_self(), "crest-hiccups");
    /* otherwise the kernel lets the thread sleep 50 µs longer, to wake it together with others */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    uint64_t until_ns = crest_monotonic_ns() + resolution_ns;
    while (hiccups_sleep(until_ns)) {
        uint64_t now_ns = crest_monotonic_ns(), late_ns = now_ns - until_ns;
        if (late_ns < least_ns)
            least_ns = late_ns;
        /* from one look to the next: a stop while the thread records is seen by the next look */
        until_ns = now_ns + resolution_ns;
        hiccups_record(timer, late_ns - least_ns, resolution_ns);
    }
    return NULL;
}

/* The caller holds hiccups_control. */
static crest_status hiccups_begin(crest_error *error)
{
    hiccups_stopping = 0;
    int failed = crest_thread_start(&hiccups_thread, hiccups_run, NULL);
    hiccups_running = !failed;
    if (failed)
        return crest_error_set(error, CREST_SYSTEM,
                               "the hiccup meter cannot be started: no thread: %s; make room for "
                               "one more (ulimit -u, ulimit -v), or write hiccups=off",
                               strerror(failed));
    return CREST_OK;
}

/* ---- starting and stopping ---- */

/* The caller holds hiccups_control. */
static crest_status hiccups_set_up(crest_registry *registry, uint32_t resolution_us,
                                   crest_error *error)
{
    crest_status status;
    if (hiccups_running)
        return crest_error_set(error, CREST_ALREADY, "the hiccup meter runs already");
    hiccups_timer = crest_timer_get(
        registry,
        &(crest_metric_options){.name = "process.hiccups",
                                .description = "How much later than asked a thread woke up.",
                                .buckets = CREST_BUCKETS_FAST},
        &status);
    if (status != CREST_OK)
        return crest_error_set(error, status,
                               "the hiccup meter cannot have the timer process.hiccups: %s",
                               crest_status_text(status));
    hiccups_resolution_ns = resolution_us * UINT64_C(1000);
    return hiccups_begin(error);
}

crest_status crest_hiccups_start(const crest_hiccups_options *options, crest_error *error)
{
    CREST_UNCANCELLED;
    crest_error_clear(error);
    uint32_t resolution_us = options != NULL ? options->resolution_us : 0;
    if (resolution_us == 0)
        resolution_us = CREST_HICCUPS_RESOLUTION_US_DEFAULT;
    if (resolution_us < CREST_HICCUPS_RESOLUTION_US_MIN ||
        resolution_us > CREST_HICCUPS_RESOLUTION_US_MAX) {
        crest_misuse_count(CREST_MISUSE_PROBE, "crest_hiccups_start");
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "a hiccup meter cannot look every %u µs: its resolution is between "
                               "%u µs and %u µs",
                               resolution_us, CREST_HICCUPS_RESOLUTION_US_MIN,
                               CREST_HICCUPS_RESOLUTION_US_MAX);
    }
    pthread_once(&hiccups_once, hiccups_prepare);
    pthread_mutex_lock(&hiccups_control);
    crest_status status =
        hiccups_set_up(options != NULL ? options->registry : NULL, resolution_us, error);
    pthread_mutex_unlock(&hiccups_control);
    return status;
}

crest_status crest_hiccups_stop(void)
{
    CREST_UNCANCELLED;
    pthread_once(&hiccups_once, hiccups_prepare);
    pthread_mutex_lock(&hiccups_control);
    int running = hiccups_running;
    if (running) {
        pthread_mutex_lock(&hiccups_lock);
        hiccups_stopping = 1;
        pthread_cond_signal(&hiccups_wake);
        pthread_mutex_unlock(&hiccups_lock);
        pthread_join(hiccups_thread, NULL);
        hiccups_running = 0;
    }
    pthread_mutex_unlock(&hiccups_control);
    return running ? CREST_OK : CREST_NOT_RUNNING;
}
