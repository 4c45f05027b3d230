/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ticker's thread and the registries it observes. See ticker.h.
 */
#define _GNU_SOURCE
#include "windows/ticker.h"
#include "base/atomic.h"
#include "base/forked.h"
#include "base/host_loop.h"
#include "base/misuse.h"
#include "base/thread.h"
#include "base/uncancelled.h"
#include "clock/clock_inside.h"
#include "clock/step_clock.h"
#include "metrics/child.h"
#include "metrics/handles.h"
#include "names/lookalike_names.h"
#include "polls/poller.h"
#include "registry/growth.h"
#include "registry/series.h"
#include "windows/own_gauges.h"
#include "windows/tick_listeners.h"
#include "windows/window_copies.h"
#include "windows/windows.h"

#include <pthread.h>
#include <string.h>

CREST_TIMER(ticker_time, "crest.tick-time", "How long a tick's readings took.",
            .buckets = CREST_BUCKETS_FAST);
CREST_COUNTER(ticker_rebases, "crest.clock-rebases",
              "Jumps of the clock that were made good: after a suspend, say, or a machine moved.");
CREST_COUNTER(ticker_late, "crest.ticks-late",
              "Ticks that came half a tick or more after their time, or not at all.");

#define TICKER_NS (CREST_TICK_MS * UINT64_C(1000000))

typedef struct ticker_observed {
    crest_registry_state *state;
    unsigned users;
    int by_hand; /* a test ticks it; the thread does not */
    crest_windows *windows;
} ticker_observed;

/* Guards attaching, detaching, and the thread's start and end. Lock order: before ticker_lock. */
static pthread_mutex_t ticker_control = PTHREAD_MUTEX_INITIALIZER;
/* Guards the table and every series' window. Under it no other lock is taken but the
 * directory's. */
static pthread_mutex_t ticker_lock = PTHREAD_MUTEX_INITIALIZER;
static ticker_observed ticker_table[CREST_OBSERVED_MAX];
static pthread_cond_t ticker_wake;
static crest_step_clock ticker_clock; /* the clock of due ticks; stepped under ticker_lock */
static pthread_t ticker_thread;
static int ticker_running;
static int ticker_stopping;
static unsigned ticker_keepers; /* callers that want ticks in any case; under ticker_control */

/* The next tick's times. */
typedef struct ticker_pace {
    uint64_t due_ns;  /* when it should come */
    uint64_t next_ns; /* when it comes, given how long the last tick took */
} ticker_pace;

static int ticker_loops;            /* the host's loop ticks; under ticker_lock */
static ticker_pace ticker_upcoming; /* under ticker_lock */

/* Fork handler: the child has no ticker and observes nothing; its own crest_start begins anew. */
static void ticker_forked(void)
{
    crest_mutex_fresh(&ticker_control);
    crest_mutex_fresh(&ticker_lock);
    memset(ticker_table, 0, sizeof ticker_table);
    ticker_running = ticker_stopping = ticker_loops = 0;
    ticker_keepers = 0;
    crest_monotonic_condition(&ticker_wake);
    crest_windows_forked();
}
CREST_FORKED(TICKER, ticker_forked)

__attribute__((constructor)) static void ticker_constructor(void)
{
    crest_monotonic_condition(&ticker_wake);
}

/* The caller holds ticker_lock. */
static ticker_observed *ticker_find(const crest_registry_state *state)
{
    for (unsigned i = 0; i < CREST_OBSERVED_MAX; i++)
        if (ticker_table[i].state == state)
            return &ticker_table[i];
    return NULL;
}

int crest_ticker_observes(const crest_registry_state *state)
{
    pthread_mutex_lock(&ticker_lock);
    int observed = ticker_find(state) != NULL;
    pthread_mutex_unlock(&ticker_lock);
    return observed;
}

int crest_ticker_copy(const crest_directory *directory, int ranges_only,
                      crest_window_copies **copies)
{
    int whole = 1;
    *copies = NULL;
    pthread_mutex_lock(&ticker_lock);
    const ticker_observed *observed = ticker_find(directory->state);
    if (observed != NULL) {
        *copies = crest_windows_copy(observed->windows, directory, ranges_only);
        whole = *copies != NULL;
    }
    pthread_mutex_unlock(&ticker_lock);
    return whole;
}

/* Takes one reading of a registry, before the lock: snapshots are not made under it. Non-zero if
 * memory lacked. When `by_hand` is not the table's, the reading is the other party's and is
 * dropped. */
static int ticker_tick(crest_registry_state *state, int by_hand)
{
    crest_growth_delivered(state);
    crest_snapshot *snapshot = crest_snapshot_read_notes(state);
    int lacked = snapshot == NULL;
    pthread_mutex_lock(&ticker_lock);
    ticker_observed *observed = ticker_find(state);
    if (observed != NULL && observed->by_hand == by_hand && snapshot != NULL) {
        lacked = crest_windows_tick(observed->windows, snapshot);
        snapshot = NULL;
    }
    pthread_mutex_unlock(&ticker_lock);
    crest_snapshot_free(snapshot);
    if (lacked)
        crest_misuse_count(CREST_MISUSE_NO_MEMORY, "crest.window-covered");
    return lacked;
}

/* The registry at a place of the table that is due for a reading. A registry attached a moment ago
 * waits for the next tick: in a short tick its few events would look like a peak. The ticker does
 * not take the first reading. */
static crest_registry_state *ticker_due(unsigned place)
{
    const uint64_t least_ns = CREST_TICK_MS * UINT64_C(1000000) / 2;
    pthread_mutex_lock(&ticker_lock);
    crest_registry_state *state = ticker_table[place].state;
    const crest_window_times *times = NULL;
    if (state != NULL)
        times = &ticker_table[place].windows->times;
    if (ticker_table[place].by_hand)
        state = NULL;
    if (state != NULL &&
        (times->count == 0 ||
         (times->count == 1 && crest_now() - times->time_ns[times->newest] < least_ns)))
        state = NULL;
    pthread_mutex_unlock(&ticker_lock);
    return state;
}

/* Sets the library's own figures, as of this tick. */
static void ticker_tell(void)
{
    pthread_mutex_lock(&ticker_lock);
    const ticker_observed *observed = ticker_find(crest_registry_state_seen(NULL));
    double covered_s[CREST_WINDOWS_MAX] = {0};
    unsigned window_s[CREST_WINDOWS_MAX];
    unsigned windows = crest_windows_kept(window_s);
    for (unsigned w = 0; observed != NULL && w < windows; w++)
        covered_s[w] = crest_windows_covered_s(observed->windows, window_s[w]);
    pthread_mutex_unlock(&ticker_lock);
    crest_own_gauges_set(window_s, covered_s, windows);
    crest_split_tell();
    crest_misuse_tell();
}

/* Called by one thread at a time. */
static void ticker_check_clock(void)
{
    uint64_t before = crest_clock_rebases();
    crest_clock_check();
    crest_counter_add(&ticker_rebases, (int64_t)(crest_clock_rebases() - before));
}

static void ticker_tick_all(void)
{
    ticker_check_clock();
    crest_listeners_tick();
    crest_growth_tick();
    for (unsigned i = 0; i < CREST_OBSERVED_MAX; i++) {
        crest_registry_state *state = ticker_due(i);
        if (state == NULL)
            continue;
        crest_poller_round(state);
        ticker_tick(state, 0);
    }
    ticker_tell();
}

static uint64_t ticker_later(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

/* Under ticker_control: the next tick is one tick from now. */
static void ticker_begin(int loops)
{
    pthread_mutex_lock(&ticker_lock);
    uint64_t due_ns = crest_step_clock_ns(&ticker_clock) + TICKER_NS;
    ticker_upcoming = (ticker_pace){due_ns, due_ns};
    ticker_stopping = 0;
    ticker_loops = loops;
    pthread_mutex_unlock(&ticker_lock);
}

/* Runs the tick that is due, and sets when the next tick comes. */
static void ticker_turn(ticker_pace *pace)
{
    uint64_t begun_ns = crest_step_clock_ns(&ticker_clock);
    ticker_tick_all();
    uint64_t now_ns = crest_step_clock_ns(&ticker_clock);
    /* In this order: a reader that sees the tick ended also sees how late it was. */
    crest_counter_add(&ticker_late,
                      (int64_t)((begun_ns - pace->due_ns + TICKER_NS / 2) / TICKER_NS));
    crest_timer_record(&ticker_time, (int64_t)(now_ns - begun_ns), CREST_OUTCOME_OK);
    /* A late tick is measured at its real length. The next tick still gets at least half its time,
     * so that a short tick's few events do not look like a peak. */
    pace->due_ns = ticker_later(pace->due_ns + TICKER_NS, begun_ns + TICKER_NS / 2);
    pace->next_ns = ticker_later(pace->due_ns, now_ns + TICKER_NS / 2);
}

static void *ticker_run(void *unused)
{
    pthread_mutex_lock(&ticker_lock);
    ticker_pace pace = ticker_upcoming;
    while (!ticker_stopping) {
        if (crest_step_clock_ns(&ticker_clock) < pace.next_ns) {
            crest_step_clock_wait(&ticker_clock, &ticker_wake, &ticker_lock, pace.next_ns);
            continue;
        }
        pthread_mutex_unlock(&ticker_lock);
        ticker_turn(&pace);
        pthread_mutex_lock(&ticker_lock);
    }
    pthread_mutex_unlock(&ticker_lock);
    return unused;
}

uint64_t crest_ticker_turn(void)
{
    pthread_mutex_lock(&ticker_lock);
    ticker_pace pace = ticker_upcoming;
    int loops = ticker_loops;
    pthread_mutex_unlock(&ticker_lock);
    if (!loops)
        return UINT64_MAX;
    if (crest_step_clock_ns(&ticker_clock) < pace.next_ns)
        return pace.next_ns;
    ticker_turn(&pace);
    pthread_mutex_lock(&ticker_lock);
    ticker_upcoming = pace;
    loops = ticker_loops;
    pthread_mutex_unlock(&ticker_lock);
    return loops ? pace.next_ns : UINT64_MAX;
}

/* Under ticker_control: where there are no threads, the host's loop ticks. */
static int ticker_start_loop(void)
{
    ticker_begin(1);
    crest_loop_wake();
    return 1;
}

/* Under ticker_control: starts ticks, by the thread or the loop; 0 if neither can be had. */
static int ticker_ensure(void)
{
    if (ticker_running || ticker_loops)
        return 1;
    if (crest_threads_forbidden())
        return ticker_start_loop();
    ticker_begin(0);
    if (crest_thread_start(&ticker_thread, ticker_run, NULL) != 0)
        return 0;
    pthread_setname_np(ticker_thread, "crest-ticker");
    ticker_running = 1;
    return 1;
}

/* Under ticker_control: stops if nothing wants ticks any more. */
static void ticker_stop_unused(void)
{
    pthread_mutex_lock(&ticker_lock);
    int used = ticker_keepers != 0;
    for (unsigned i = 0; i < CREST_OBSERVED_MAX; i++)
        used |= ticker_table[i].state != NULL;
    if (used) {
        pthread_mutex_unlock(&ticker_lock);
        return;
    }
    ticker_stopping = 1;
    ticker_loops = 0;
    pthread_cond_signal(&ticker_wake);
    pthread_mutex_unlock(&ticker_lock);
    if (ticker_running)
        pthread_join(ticker_thread, NULL);
    ticker_running = 0;
}

/* Under ticker_control: adds the registry, or one user of it. CREST_ALREADY when it was there. */
static crest_status ticker_add(crest_registry_state *state, crest_windows *windows)
{
    pthread_mutex_lock(&ticker_lock);
    ticker_observed *observed = ticker_find(state);
    crest_status status = observed ? CREST_ALREADY : CREST_OK;
    if (observed == NULL)
        observed = ticker_find(NULL);
    if (observed == NULL)
        status = CREST_LIMIT;
    else if (status == CREST_ALREADY)
        observed->users++;
    else
        *observed = (ticker_observed){.state = state, .users = 1, .windows = windows};
    pthread_mutex_unlock(&ticker_lock);
    return status;
}

/* Under ticker_control: drops one user of the registry, or all of them. */
static void ticker_remove(const crest_registry_state *state, int all)
{
    pthread_mutex_lock(&ticker_lock);
    ticker_observed *observed = ticker_find(state);
    crest_windows *windows = NULL;
    if (observed != NULL && (all || --observed->users == 0)) {
        windows = observed->windows;
        *observed = (ticker_observed){.state = NULL};
    }
    /* ticker_lock guards the series' windows */
    crest_windows_free(windows);
    pthread_mutex_unlock(&ticker_lock);
}

crest_status crest_ticker_attach(crest_registry *registry)
{
    CREST_UNCANCELLED;
    crest_registry_state *state = crest_registry_state_of(registry);
    crest_windows *windows = crest_windows_new();
    if (state == NULL || windows == NULL) {
        crest_windows_free(windows);
        return CREST_NO_MEMORY;
    }
    crest_own_gauges_make();
    crest_poller_round(state);
    pthread_mutex_lock(&ticker_control);
    crest_status status = ticker_add(state, windows);
    if (status == CREST_OK) {
        if (ticker_tick(state, 0))
            status = CREST_NO_MEMORY;
        else if (!ticker_ensure())
            status = CREST_SYSTEM;
        if (status != CREST_OK)
            ticker_remove(state, 1);
    } else {
        crest_windows_free(windows);
    }
    pthread_mutex_unlock(&ticker_control);
    return status == CREST_ALREADY ? CREST_OK : status;
}

/* Under ticker_control. */
static crest_status ticker_add_by_hand(crest_registry_state *state)
{
    crest_windows *windows = crest_ticker_observes(state) ? NULL : crest_windows_new();
    crest_status status = CREST_OK;
    if (!crest_ticker_observes(state))
        status = windows != NULL ? ticker_add(state, windows) : CREST_NO_MEMORY;
    if (status != CREST_OK) {
        crest_windows_free(windows);
        return status;
    }
    pthread_mutex_lock(&ticker_lock);
    ticker_find(state)->by_hand = 1;
    pthread_mutex_unlock(&ticker_lock);
    return CREST_OK;
}

crest_status crest_ticker_by_hand(crest_registry *registry)
{
    crest_registry_state *state = crest_registry_state_of(registry);
    if (state == NULL)
        return CREST_NO_MEMORY;
    crest_own_gauges_make();
    crest_poller_round(state);
    pthread_mutex_lock(&ticker_control);
    crest_status status = ticker_add_by_hand(state);
    crest_growth_tick();
    if (status == CREST_OK && ticker_tick(state, 1))
        status = CREST_NO_MEMORY;
    pthread_mutex_unlock(&ticker_control);
    if (status == CREST_OK)
        ticker_tell();
    return status;
}

/* A registry that is not observed, NULL included, would match a free place. */
static crest_status ticker_detach(const crest_registry_state *state, int all)
{
    if (state == NULL)
        return CREST_NOT_FOUND;
    pthread_mutex_lock(&ticker_control);
    crest_status status = crest_ticker_observes(state) ? CREST_OK : CREST_NOT_FOUND;
    if (status == CREST_OK) {
        ticker_remove(state, all);
        ticker_stop_unused();
    }
    pthread_mutex_unlock(&ticker_control);
    return status;
}

crest_status crest_ticker_detach(crest_registry *registry)
{
    CREST_UNCANCELLED;
    return ticker_detach(crest_registry_state_seen(registry), 0);
}

void crest_ticker_keep(void)
{
    pthread_mutex_lock(&ticker_control);
    ticker_keepers++;
    (void)ticker_ensure();
    pthread_mutex_unlock(&ticker_control);
}

void crest_ticker_release(void)
{
    pthread_mutex_lock(&ticker_control);
    ticker_keepers--;
    ticker_stop_unused();
    pthread_mutex_unlock(&ticker_control);
}

void crest_ticker_step(uint64_t ns)
{
    pthread_mutex_lock(&ticker_lock);
    crest_step_clock_step(&ticker_clock, ns);
    pthread_cond_signal(&ticker_wake);
    pthread_mutex_unlock(&ticker_lock);
}

void crest_ticker_forget(const crest_registry_state *state)
{
    ticker_detach(state, 1);
}

crest_status crest_windows_configure(const crest_windows_options *options)
{
    CREST_UNCANCELLED;
    static const unsigned kept[] = {CREST_WINDOW_S, 300, 900};
    unsigned count = 0;
    if (options == NULL || options->series > CREST_WINDOWED_SERIES_MAX)
        return CREST_INVALID_ARGUMENT;
    for (unsigned i = 0; count <= CREST_WINDOWS_MAX && options->window_s[count] != 0; count++) {
        while (count != 0 && i < CREST_WINDOWS_MAX && kept[i] != options->window_s[count])
            i++;
        if (i == CREST_WINDOWS_MAX || kept[i++] != options->window_s[count])
            return CREST_INVALID_ARGUMENT;
    }
    crest_windows_set(options->window_s, count, options->series);
    return CREST_OK;
}

/* The series behind a handle, if there is one. */
static crest_series *ticker_series_of(const crest_handle *handle)
{
    crest_status dead;
    crest_series *series = handle->abi == CREST_ABI ? crest_handle_series(handle) : NULL;
    return series != NULL && !crest_series_is_dead(series, &dead) ? series : NULL;
}

static crest_window ticker_window(const crest_series *series, unsigned window_s)
{
    crest_window result;
    memset(&result, 0, sizeof result);
    if (series == NULL)
        return result;
    pthread_mutex_lock(&ticker_lock);
    const ticker_observed *observed = ticker_find(series->metric->state);
    if (observed != NULL)
        crest_windows_result(observed->windows, series, window_s, &result);
    pthread_mutex_unlock(&ticker_lock);
    return result;
}

crest_rate crest_counter_rate(const crest_counter *counter, unsigned window_s)
{
    crest_window window = ticker_window(ticker_series_of(&counter->handle), window_s);
    return (crest_rate){window.per_second, window.peak, window.covered_s};
}

crest_window crest_histogram_window(const crest_histogram *histogram, unsigned window_s)
{
    return ticker_window(ticker_series_of(&histogram->handle), window_s);
}

crest_window crest_range_sampler_window(const crest_range_sampler *sampler, unsigned window_s)
{
    return ticker_window(ticker_series_of(&sampler->handle), window_s);
}

crest_window crest_timer_window(const crest_timer *timer, crest_outcome outcome, unsigned window_s)
{
    crest_series *series =
        (unsigned)outcome < CREST_OUTCOME_COUNT ? ticker_series_of(&timer->handle) : NULL;
    /* the child's, not the handle's: another handle may have been the first to hit the outcome.
     */
    if (series != NULL)
        series = crest_child_at(crest_series_child(series), outcome);
    return ticker_window(series, window_s);
}
