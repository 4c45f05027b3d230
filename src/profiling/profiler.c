/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler: its start, its thread and its stop. See <crest/profile.h>.
 *
 * The thread goes round ten times a second: it looks which threads and modules there are, turns the
 * store's tables over, and takes slow operations. Only while a wall profile is taken it goes round
 * a hundred times a second.
 */
#define _GNU_SOURCE
#include "profiling/profiler.h"
#include "base/atomic.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/sync.h"
#include "base/thread.h"
#include "profiling/function_counters.h"
#include "profiling/profile_figures.h"
#include "profiling/sample_signal.h"
#include "profiling/sample_taps.h"
#include "profiling/slow_operations.h"
#include "profiling/thread_timers.h"
#include "profiling/wall_sampler.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PROFILER_ROUND_NS (100 * CREST_NS_PER_MS)
/* Rounds between two looks that ask the kernel about every thread. */
#define PROFILER_ROUNDS_THOROUGH 10u
/* Between two readings by function, and how soon the first one comes. */
#define PROFILER_ROUNDS_COUNTED 100u
#define PROFILER_ROUNDS_FIRST 20u

static pthread_mutex_t profiler_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t profiler_changed;
static int profiler_prepared;

/* Under the lock. */
static struct {
    int running; /* from its thread's start to its thread's end */
    int armed;   /* its start has come to its end */
    int stopping;
    int ending; /* a caller waits for the thread's end; others must not */
    int signal;
    unsigned hz;
    uint64_t run;
    pthread_t thread;
    int thread_number; /* 0: it has not begun */
    const crest_samples_mark *held;
    unsigned rounds;
    unsigned counters; /* functions with counters, at most; 0: none are counted */
} profiler;

static crest_tap profiler_tap; /* of the counters */

/* What crest_profiler_status says, which takes no lock: the signal, and whether it runs. */
#define PROFILER_SHOWN_RUNNING 0x100u
static uint32_t profiler_shown;

static void profiler_show(void)
{
    crest_atomic_store32(&profiler_shown, (uint32_t)profiler.signal |
                                              (crest_profiler_runs() ? PROFILER_SHOWN_RUNNING : 0));
}

void crest_profiler_lock(void)
{
    pthread_mutex_lock(&profiler_mutex);
}

void crest_profiler_unlock(void)
{
    pthread_mutex_unlock(&profiler_mutex);
}

int crest_profiler_runs(void)
{
    return profiler.armed && !profiler.stopping;
}

uint64_t crest_profiler_run(void)
{
    return profiler.run;
}

uint64_t crest_profiler_period_ns(void)
{
    return CREST_NS_PER_S / profiler.hz;
}

int crest_profiler_signal(void)
{
    return profiler.signal;
}

void crest_profiler_hold(const crest_samples_mark *mark)
{
    profiler.held = mark;
    pthread_cond_broadcast(&profiler_changed); /* a wall profile changes the pace */
}

void crest_profiler_refresh(void)
{
    (void)crest_modules_look();
    crest_thread_timers_look(1);
    crest_slow_take(crest_now());
}

/* ---- the thread ---- */

/* A host may have taken the signal since: its handler must not get our timers' signals. */
static void profiler_give_up(void)
{
    crest_sample_signal_leave(profiler.signal); /* no handler fills a capture any more */
    crest_thread_timers_end();
    crest_log_write(CREST_LOG_WARNING,
                    "crest: the program has installed a handler of its own for signal %d, which "
                    "the profiler used; it samples nothing any more. Let it take another one: "
                    "profile.signal",
                    profiler.signal);
    profiler.stopping = 1;
    profiler_show();
}

static void profiler_round(void)
{
    int thorough = profiler.rounds++ % PROFILER_ROUNDS_THOROUGH == 0;
    if (!crest_sample_signal_is_ours(profiler.signal)) {
        profiler_give_up();
        return;
    }
    /* a snapshot that is older than this look was seen by handlers of earlier rounds only */
    if (!crest_modules_look() && !crest_sample_signal_busy())
        crest_modules_free_old();
    crest_thread_timers_look(thorough);
    if (crest_samples_turns())
        crest_taps_collect();
    crest_samples_turn(profiler.held != NULL && crest_samples_mark_turned(profiler.held));
    crest_slow_take(crest_now());
    if (thorough)
        crest_profile_figures_update();
}

/* Under the lock, which it gives up while files are read and counters are added to. */
static void profiler_count(void)
{
    crest_rows rows;
    uint64_t since_unix_ns, lasted_ns, period_ns = crest_profiler_period_ns();
    if (profiler.counters == 0 || !crest_profiler_runs() ||
        profiler.rounds % PROFILER_ROUNDS_COUNTED != PROFILER_ROUNDS_FIRST)
        return;
    (void)crest_tap_take(&profiler_tap, &rows, &since_unix_ns, &lasted_ns);
    crest_profiler_unlock();
    crest_function_counters_add(&rows, period_ns);
    crest_rows_free(&rows);
    crest_profiler_lock();
}

static void *profiler_main(void *unused)
{
    uint64_t due_ns = crest_monotonic_ns();
    (void)unused;
    pthread_setname_np(pthread_self(), "crest-profile");
    (void)prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
    crest_profiler_lock();
    profiler.thread_number = (int)gettid();
    pthread_cond_broadcast(&profiler_changed);
    while (!profiler.stopping) {
        uint64_t now_ns = crest_monotonic_ns();
        if (now_ns >= due_ns) {
            if (profiler.armed) {
                profiler_round();
                profiler_count();
            }
            due_ns = now_ns + PROFILER_ROUND_NS;
        }
        if (crest_wall_active())
            crest_wall_tick(profiler.signal, crest_monotonic_ns());
        uint64_t next_ns = crest_wall_active() ? now_ns + CREST_WALL_TICK_NS : due_ns;
        struct timespec until = crest_monotonic_timespec(next_ns < due_ns ? next_ns : due_ns);
        if (!profiler.stopping)
            pthread_cond_timedwait(&profiler_changed, &profiler_mutex, &until);
    }
    crest_profiler_unlock();
    return NULL;
}

/* ---- start and stop ---- */

static void profiler_forked(void)
{
    crest_mutex_fresh(&profiler_mutex);
    profiler_prepared = 0;
    crest_sample_signal_forked();
    crest_samples_forked();
    crest_thread_timers_forked();
    crest_operations_on_end(NULL);
    crest_wall_forked();
    crest_taps_forked();
    crest_tap_close(&profiler_tap);
    uint64_t run = profiler.run;
    memset(&profiler, 0, sizeof profiler);
    profiler.run = run;
    profiler_show();
}
CREST_FORKED(PROFILER, profiler_forked)

static crest_status profiler_check(const crest_profiler_options *options, crest_error *error)
{
    if (profiler.running)
        return crest_error_set(error, CREST_ALREADY, "The profiler runs already");
    if (options->hz > CREST_PROFILE_HZ_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "%u samples a second are too many for the profiler; %u is the limit",
                               options->hz, CREST_PROFILE_HZ_MAX);
    if (options->counters > CREST_PROFILE_COUNTERS_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "Counters of %u functions are too many; %u is the limit",
                               options->counters, CREST_PROFILE_COUNTERS_MAX);
    if (options->signal != 0 && !crest_sample_signal_may_be(options->signal))
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The profiler cannot take signal %d: name SIGPROF, SIGVTALRM, "
                               "SIGUSR1, SIGUSR2 or a real-time signal with profile.signal, or "
                               "leave it out to let one be found",
                               options->signal);
#if !defined(__x86_64__) || !defined(__linux__)
    return crest_error_set(error, CREST_SYSTEM,
                           "The profiler is for Linux on x86-64, and this is another machine");
#else
    return CREST_OK;
#endif
}

/* Starts the thread, and waits until it is known by its number, so that it gets no timer. */
static crest_status profiler_launch(crest_error *error)
{
    int failed = crest_thread_start(&profiler.thread, profiler_main, NULL);
    if (failed != 0)
        return crest_error_set(error, CREST_SYSTEM,
                               "The profiler has no thread: %s. With threads=off it cannot run",
                               strerror(failed));
    profiler.running = 1;
    while (profiler.thread_number == 0)
        pthread_cond_wait(&profiler_changed, &profiler_mutex);
    return CREST_OK;
}

/* Gives every thread a timer; fails when the first of them gets none. */
static crest_status profiler_arm(crest_error *error)
{
    uint64_t refused = crest_thread_timers_refused();
    crest_thread_timers_begin(profiler.thread_number, profiler.hz, profiler.signal);
    errno = 0;
    crest_thread_timers_look(1);
    if (crest_thread_timers_refused() - refused < crest_thread_timers_count())
        return CREST_OK;
    if (crest_thread_timers_count() == 0)
        return crest_error_set(error, CREST_SYSTEM,
                               "The profiler finds no thread in /proc/self/task: %s. Mount /proc "
                               "where the program runs",
                               strerror(errno));
    return crest_error_set(error, CREST_SYSTEM,
                           "The kernel gives no thread a timer on its CPU clock: %s. A seccomp "
                           "filter may forbid timer_create or timer_settime, or too many signals "
                           "may be pending (ulimit -i)",
                           strerror(errno));
}

/* Under the lock, once no handler adds: counts what came since the last reading. */
static void profiler_count_rest(void)
{
    crest_rows rows;
    uint64_t since_unix_ns, lasted_ns;
    if (profiler.counters == 0)
        return;
    (void)crest_tap_take(&profiler_tap, &rows, &since_unix_ns, &lasted_ns);
    crest_function_counters_add(&rows, crest_profiler_period_ns());
    crest_rows_free(&rows);
    crest_function_counters_rest();
}

/* Under the lock, once nothing is sampled. What streams have collected stays theirs. */
static void profiler_drop(void)
{
    crest_taps_end();
    crest_tap_close(&profiler_tap);
    crest_samples_free();
}

/* Under the lock, which it gives up while the thread ends. Handlers have left before the captures
 * that they fill are freed, with the timers. */
static void profiler_end(void)
{
    pthread_t thread = profiler.thread;
    profiler.stopping = profiler.ending = 1;
    profiler_show();
    crest_operations_on_end(NULL);
    pthread_cond_broadcast(&profiler_changed);
    crest_profiler_unlock();
    pthread_join(thread, NULL);
    crest_profiler_lock();
    crest_sample_signal_leave(profiler.signal);
    crest_thread_timers_end();
    crest_modules_free_old();
    crest_slow_end();
    crest_wall_drop();
    profiler_count_rest();
    profiler_drop();
    profiler.held = NULL;
    profiler.running = profiler.armed = profiler.stopping = profiler.ending = 0;
    profiler.thread_number = 0;
    pthread_cond_broadcast(&profiler_changed);
}

static crest_status profiler_begin(const crest_profiler_options *options, crest_error *error)
{
    crest_status status = profiler_check(options, error);
    if (status != CREST_OK)
        return status;
    if (!profiler_prepared)
        crest_monotonic_condition(&profiler_changed);
    profiler_prepared = 1;
    if (!crest_samples_make()) {
        profiler_drop();
        return crest_error_set(error, CREST_NO_MEMORY, "There is no memory for profiles");
    }
    (void)crest_modules_look();
    crest_slow_begin(crest_now());
    profiler.hz = options->hz != 0 ? options->hz : CREST_PROFILE_HZ_DEFAULT;
    profiler.rounds = 0;
    profiler.run++;
    profiler.counters = options->counters;
    if (profiler.counters > 0 &&
        !(crest_function_counters_make(profiler.counters) && crest_tap_open(&profiler_tap))) {
        profiler_drop();
        return crest_error_set(error, CREST_NO_MEMORY,
                               "There is no memory for counters of functions");
    }
    crest_taps_begin(crest_profiler_period_ns());
    profiler.signal = crest_sample_signal_take(options->signal, crest_now(), error);
    if (profiler.signal == 0) {
        profiler_drop();
        return CREST_SYSTEM;
    }
    status = profiler_launch(error);
    if (status != CREST_OK) {
        crest_sample_signal_leave(profiler.signal);
        profiler_drop();
        return status;
    }
    status = profiler_arm(error);
    if (status != CREST_OK) {
        profiler_end();
        return status;
    }
    crest_operations_on_end(crest_slow_ended);
    profiler.armed = 1;
    profiler_show();
    return CREST_OK;
}

crest_status crest_profiler_start(const crest_profiler_options *options, crest_error *error)
{
    static const crest_profiler_options defaults;
    crest_forked_check();
    crest_profile_figures_make();
    crest_profiler_lock();
    crest_status status = profiler_begin(options != NULL ? options : &defaults, error);
    crest_profiler_unlock();
    return status;
}

crest_status crest_profiler_stop(crest_error *error)
{
    crest_forked_check();
    crest_profiler_lock();
    int running = profiler.running && profiler.thread_number != 0 && !profiler.ending;
    if (running)
        profiler_end();
    while (profiler.ending) /* another caller's stop, or a start that failed */
        pthread_cond_wait(&profiler_changed, &profiler_mutex);
    crest_profiler_unlock();
    return running ? CREST_OK
                   : crest_error_set(error, CREST_NOT_RUNNING, "The profiler does not run");
}

void crest_profile_thread(void)
{
    crest_forked_check();
    crest_profiler_lock();
    if (crest_profiler_runs())
        crest_thread_timers_add((int)gettid());
    crest_profiler_unlock();
}

crest_profiler_state crest_profiler_status(void)
{
    crest_sample_counts counts = crest_samples_counts();
    uint32_t shown = crest_atomic_load32(&profiler_shown);
    return (crest_profiler_state){
        .running = (shown & PROFILER_SHOWN_RUNNING) != 0,
        .signal = (int)(shown & (PROFILER_SHOWN_RUNNING - 1)),
        .threads = crest_thread_timers_count(),
        .samples = counts.samples,
        .lost = counts.refused,
        .broken = counts.broken,
        .truncated = counts.truncated,
        .unsampled = crest_thread_timers_refused(),
        .operations = crest_slow_count(),
    };
}
