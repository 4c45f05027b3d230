/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The poller's thread, those it leaves behind, and rounds with and without it. See poller.h.
 *
 * All times are the poller's own clock, whatever a test does to crest_now(): the kernel's, until a
 * test steps it.
 */
#define _GNU_SOURCE
#include "polls/poller.h"
#include "base/atomic.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/host_loop.h"
#include "base/sync.h"
#include "base/thread.h"
#include "base/uncancelled.h"
#include "clock/step_clock.h"

#include <stdio.h>
#include <string.h>

/* A caller waiting for a round: a node of the waiting list, on the caller's stack. */
typedef struct poller_request {
    struct poller_request *next;
    const crest_registry_state *registry;
    int served;
} poller_request;

/* Guards all of this and the state of every poll. Values are recorded under it; callbacks, log
 * callbacks and snapshots run without it. */
static pthread_mutex_t poller_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t poller_once = PTHREAD_ONCE_INIT;
static pthread_cond_t poller_wake;    /* wakes the poller: there is something to do */
static pthread_cond_t poller_changed; /* wakes callers: a round or an ended poll's call is over */
static crest_poll *poller_polls;      /* in the order in which they were registered */
static crest_poll *poller_rest;       /* the rest of the list: no wanted poll is before it */
static unsigned poller_count;
/* Polls that have not ended and are not the host's loop's. Also read without the lock. */
static uint32_t poller_live;
static crest_poll *poller_runs; /* polls whose callbacks are running */
static uint64_t poller_turn;    /* the poller's number: a thread with an older one ends */
static int poller_alive;        /* a poller runs */
static int poller_allowed;      /* threads are allowed */
static pthread_t poller_thread;
static crest_poll *poller_current; /* the poll that the poller runs */
static unsigned poller_late;       /* replaced threads whose callbacks still run */
static poller_request *poller_waiting, *poller_serving;
static uint64_t poller_inline_rounds;
static int poller_to_tell; /* some poll's overruns */
static crest_step_clock poller_clock;

/* ---- time, waiting and the forked child ---- */

static void poller_wait(pthread_cond_t *condition, uint64_t until_ns)
{
    if (until_ns == UINT64_MAX)
        pthread_cond_wait(condition, &poller_lock);
    else
        crest_step_clock_wait(&poller_clock, condition, &poller_lock, until_ns);
}

static void poller_conditions_init(void)
{
    crest_monotonic_condition(&poller_wake);
    crest_monotonic_condition(&poller_changed);
}

/* Fork handler: the child has no poller. A callback that was running in the parent is cut off, so
 * its poll ends. The lists are whole at any step; the counts may not be. */
static void poller_forked(void)
{
    crest_mutex_fresh(&poller_lock);
    poller_conditions_init();
    poller_count = 0;
    uint32_t live = 0;
    for (crest_poll *poll = poller_polls; poll != NULL; poll = poll->next) {
        poll->lost |= poll->state.running;
        poll->ended |= poll->lost;
        poll->state.running = poll->late = poll->wanted = 0;
        poller_count++;
        live += !poll->ended && !poll->loop;
    }
    crest_atomic_store32(&poller_live, live);
    poller_runs = poller_current = poller_rest = NULL;
    poller_waiting = poller_serving = NULL;
    poller_turn++;
    poller_alive = poller_allowed = 0;
    poller_late = 0;
}

static void poller_prepare(void)
{
    poller_conditions_init();
    crest_forked_call(CREST_FORKED_POLLER, poller_forked);
}

void crest_poller_step(uint64_t ns)
{
    pthread_once(&poller_once, poller_prepare);
    pthread_mutex_lock(&poller_lock);
    crest_step_clock_step(&poller_clock, ns);
    pthread_cond_broadcast(&poller_wake);
    pthread_cond_broadcast(&poller_changed);
    pthread_mutex_unlock(&poller_lock);
}

/* ---- calls, all under the lock ---- */

/* Whether the calling thread is the poller or runs a callback. */
static int poller_inside(void)
{
    pthread_t self = pthread_self();
    if (poller_alive && pthread_equal(poller_thread, self))
        return 1;
    for (const crest_poll *poll = poller_runs; poll != NULL; poll = poll->next_running)
        if (pthread_equal(poll->runner, self))
            return 1;
    return 0;
}

static void poller_overran(crest_poll *poll)
{
    poll->overran = 1;
    poll->state.overruns++;
    poll->penalty = poll->penalty ? poll->penalty * 2 : 1;
    if (poll->penalty > CREST_POLL_SKIP_MAX)
        poll->penalty = CREST_POLL_SKIP_MAX;
    poll->skip = poll->penalty;
    crest_counter_inc(poll->overruns);
    if (!poll->told)
        poll->tell = poll->told = poller_to_tell = 1;
}

/* Non-zero when the poll's penalty leaves this time out. */
static int poller_skips(crest_poll *poll)
{
    if (poll->skip == 0)
        return 0;
    poll->skip--;
    poll->state.skipped++;
    return 1;
}

static void poller_run_begin(crest_poll *poll, uint64_t now_ns)
{
    poll->wanted = poll->overran = 0;
    poll->state.running = 1;
    poll->runner = pthread_self();
    poll->began_ns = now_ns;
    poll->next_running = poller_runs;
    poller_runs = poll;
}

static void poller_run_end(crest_poll *poll, uint64_t now_ns)
{
    crest_poll **link = &poller_runs;
    while (*link != NULL && *link != poll)
        link = &(*link)->next_running;
    if (*link != NULL)
        *link = poll->next_running;
    poll->state.running = 0;
    poll->state.calls++;
    poll->state.last_duration_ns = now_ns - poll->began_ns;
    if (poller_current == poll)
        poller_current = NULL;
    if (poll->late)
        poller_late--;
    poll->late = 0;
    if (poll->overran)
        return;
    if (poll->state.last_duration_ns > poll->budget_ns)
        poller_overran(poll);
    else
        poll->penalty /= 2;
}

/* Gives up the lock during the call; the poll may be freed afterwards. */
static void poller_call(crest_poll *poll, int as_poller)
{
    poller_run_begin(poll, crest_step_clock_ns(&poller_clock));
    if (as_poller)
        poller_current = poll;
    pthread_mutex_unlock(&poller_lock);
    crest_poll_value value = crest_poll_call(poll);
    uint64_t now_ns = crest_step_clock_ns(&poller_clock);
    pthread_mutex_lock(&poller_lock);
    poller_run_end(poll, now_ns);
    if (!poll->lost)
        crest_poll_apply(poll, value);
    if (poll->ended)
        pthread_cond_broadcast(&poller_changed);
    if (poll->own)
        crest_poll_free(poll);
}

/* Gives up the lock during each log callback. */
static void poller_tell(void)
{
    while (poller_to_tell && crest_log_wanted()) {
        crest_poll *poll = poller_polls;
        while (poll != NULL && !poll->tell)
            poll = poll->next;
        poller_to_tell = poll != NULL;
        if (poll == NULL)
            return;
        char name[CREST_POLL_NAME_BYTES_MAX + 1];
        snprintf(name, sizeof name, "%s", poll->name);
        unsigned long long budget_ms = poll->budget_ns / CREST_NS_PER_MS;
        poll->tell = 0;
        pthread_mutex_unlock(&poller_lock);
        crest_log_write(CREST_LOG_WARNING,
                        "crest: the callback of the poll %s took longer than its budget of %llu "
                        "ms; what it polls is called less often while it does, and shows older "
                        "values (crest_poll_overruns_total counts on)",
                        name, budget_ms);
        pthread_mutex_lock(&poller_lock);
    }
}

/* ---- rounds, under the lock ---- */

static int poller_asked_for(const crest_poll *poll)
{
    for (const poller_request *request = poller_serving; request != NULL; request = request->next)
        if (request->registry == poll->registry)
            return 1;
    return 0;
}

static void poller_round_begin(void)
{
    if (poller_serving != NULL || poller_waiting == NULL)
        return;
    poller_serving = poller_waiting;
    poller_waiting = NULL;
    poller_rest = poller_polls;
    for (crest_poll *poll = poller_polls; poll != NULL; poll = poll->next)
        if (!poll->ended && poll->interval_ns == 0 && poller_asked_for(poll)) {
            if (poll->state.running)
                poll->state.skipped++;
            else if (!poller_skips(poll))
                poll->wanted = 1;
        }
}

static void poller_serve(poller_request **requests)
{
    for (poller_request *request = *requests; request != NULL; request = request->next)
        request->served = 1;
    *requests = NULL;
    pthread_cond_broadcast(&poller_changed);
}

static crest_poll *poller_next_wanted(void)
{
    while (poller_rest != NULL && (!poller_rest->wanted || poller_rest->state.running))
        poller_rest = poller_rest->next;
    return poller_rest;
}

/* Non-zero when the poll's own time has come; also sets its next time. */
static int poller_is_due(crest_poll *poll, uint64_t now_ns)
{
    if (poll->ended || poll->state.running || poll->interval_ns == 0 || poll->due_ns > now_ns)
        return 0;
    poll->due_ns += poll->interval_ns;
    if (poll->due_ns <= now_ns)
        poll->due_ns = now_ns + poll->interval_ns;
    return !poller_skips(poll);
}

/* The poll with an interval that is due first: of the poller's thread, or of the host's loop. The
 * loop has all of them where threads are forbidden. */
static crest_poll *poller_earliest(int loop)
{
    crest_poll *earliest = NULL;
    for (crest_poll *poll = poller_polls; poll != NULL; poll = poll->next)
        if (!poll->ended && !poll->state.running && poll->interval_ns != 0 &&
            (poll->loop == loop || (loop && crest_threads_forbidden())) &&
            (earliest == NULL || poll->due_ns < earliest->due_ns))
            earliest = poll;
    return earliest;
}

/* The poll that has been due longest; NULL if none is due, and *next_ns says when one will be.
 * Earliest deadline first: in the list's order, a poll that takes longer than its interval would be
 * called alone for ever. */
static crest_poll *poller_next_due(int loop, uint64_t *next_ns)
{
    uint64_t now_ns = crest_step_clock_ns(&poller_clock);
    for (;;) {
        crest_poll *poll = poller_earliest(loop);
        *next_ns = poll != NULL ? poll->due_ns : UINT64_MAX;
        if (*next_ns > now_ns)
            return NULL;
        if (poller_is_due(poll, now_ns))
            return poll;
    }
}

/* ---- the thread ---- */

static void *poller_run(void *argument)
{
    uint64_t turn = (uint64_t)(uintptr_t)argument, next_ns;
    pthread_setname_np(pthread_self(), "crest-poller");
    pthread_mutex_lock(&poller_lock);
    while (poller_turn == turn) {
        poller_round_begin();
        crest_poll *poll = poller_next_wanted();
        if (poll == NULL && poller_serving != NULL)
            poller_serve(&poller_serving);
        else if (poll != NULL || (poll = poller_next_due(0, &next_ns)) != NULL)
            poller_call(poll, 1);
        else
            poller_wait(&poller_wake, next_ns);
        if (poller_turn == turn)
            poller_tell();
    }
    pthread_mutex_unlock(&poller_lock);
    return NULL;
}

/* The caller holds the lock. */
static int poller_start(void)
{
    poller_alive = !crest_thread_detach(&poller_thread, poller_run, (void *)(uintptr_t)poller_turn);
    return poller_alive;
}

/* Under the lock: the present poller is replaced. Its running poll becomes late. */
static void poller_dismiss(void)
{
    if (poller_current != NULL) {
        poller_current->late = 1;
        poller_late++;
        poller_current = NULL;
    }
    poller_turn++;
    poller_alive = 0;
}

/* Under the lock: starts a poller unless one runs; 0 if there can be none. */
static int poller_ensure(void)
{
    return poller_alive || (poller_allowed && poller_live != 0 && poller_start());
}

/* Under the lock: releases every caller that waits for the poller, which ends. */
static void poller_end(void)
{
    poller_dismiss();
    poller_serve(&poller_waiting);
    poller_serve(&poller_serving);
    pthread_cond_broadcast(&poller_wake);
}

/* Under the lock: counts the poll as ended. */
static void poller_one_less(const crest_poll *poll)
{
    if (poll->loop)
        return;
    crest_atomic_store32(&poller_live, poller_live - 1);
    if (poller_live == 0 && poller_alive)
        poller_end();
}

/* ---- rounds, for callers that take snapshots ---- */

static int poller_inline_has(crest_poll *poll, const crest_registry_state *registry, uint64_t round,
                             uint64_t now_ns)
{
    if (poll->ended || poll->loop || poll->tried >= round)
        return 0;
    poll->tried = round;
    if (poll->interval_ns != 0)
        return poller_is_due(poll, now_ns);
    if (poll->registry != registry)
        return 0;
    if (!poll->state.running)
        return !poller_skips(poll);
    poll->state.skipped++;
    return 0;
}

/* Under the lock, given up during each call: an inline round, on the caller's thread, where there
 * is no poller. A call may change the list, so the walk begins again after each. Rounds are
 * numbered, so that no poll is called twice. */
static void poller_round_inline(const crest_registry_state *registry)
{
    uint64_t round = ++poller_inline_rounds;
    uint64_t until_ns = crest_step_clock_ns(&poller_clock) + CREST_POLL_ROUND_MS * CREST_NS_PER_MS;
    crest_poll *poll;
    do {
        uint64_t now_ns = crest_step_clock_ns(&poller_clock);
        poll = poller_polls;
        if (now_ns >= until_ns)
            break;
        while (poll != NULL && !poller_inline_has(poll, registry, round, now_ns))
            poll = poll->next;
        if (poll != NULL)
            poller_call(poll, 0);
    } while (poll != NULL);
    poller_tell();
}

/* Under the lock: the poller's callback has overrun while a caller waits. Non-zero when another
 * thread becomes the poller. */
static int poller_replace(void)
{
    if (!poller_current->overran)
        poller_overran(poller_current);
    if (poller_late >= CREST_POLL_LATE_MAX)
        return 0;
    poller_dismiss();
    return poller_start();
}

/* Under the lock: replaces the poller when its callback has overrun. Zero when no thread can be
 * had. */
static int poller_replace_if_over(uint64_t now_ns)
{
    return poller_current == NULL ||
           poller_current->began_ns + poller_current->budget_ns > now_ns || poller_replace();
}

/* Under the lock: the caller waits for the round that its request asks for. */
static void poller_await(poller_request *request)
{
    uint64_t now_ns = crest_step_clock_ns(&poller_clock);
    const uint64_t until_ns = now_ns + CREST_POLL_ROUND_MS * CREST_NS_PER_MS;
    for (; !request->served && now_ns < until_ns; now_ns = crest_step_clock_ns(&poller_clock)) {
        /* a callback that has not begun may still use the default budget */
        uint64_t look_ns = now_ns + CREST_POLL_BUDGET_MS_DEFAULT * CREST_NS_PER_MS;
        if (!poller_replace_if_over(now_ns))
            break;
        if (poller_current != NULL &&
            poller_current->began_ns + poller_current->budget_ns < look_ns)
            look_ns = poller_current->began_ns + poller_current->budget_ns;
        poller_wait(&poller_changed, look_ns < until_ns ? look_ns : until_ns);
    }
}

static void poller_withdraw(poller_request **requests, const poller_request *request)
{
    while (*requests != NULL && *requests != request)
        requests = &(*requests)->next;
    if (*requests != NULL)
        *requests = request->next;
}

/* Under the lock. */
static int poller_has(const crest_registry_state *registry)
{
    const crest_poll *poll = poller_polls;
    while (poll != NULL && (poll->ended || poll->interval_ns != 0 || poll->registry != registry))
        poll = poll->next;
    return poll != NULL;
}

void crest_poller_round(const crest_registry_state *registry)
{
    CREST_UNCANCELLED;
    if (crest_atomic_load32(&poller_live) == 0)
        return;
    pthread_mutex_lock(&poller_lock);
    if (poller_inside()) {
        /* the caller is the poller or a callback: it would wait for itself */
    } else if (!poller_ensure()) {
        poller_round_inline(registry);
    } else if (!poller_has(registry)) {
        /* no poll of this registry to wait for; but intervals of others may be held up */
        (void)poller_replace_if_over(crest_step_clock_ns(&poller_clock));
    } else {
        poller_request request = {poller_waiting, registry, 0};
        poller_waiting = &request;
        pthread_cond_signal(&poller_wake);
        poller_await(&request);
        if (!request.served) {
            poller_withdraw(&poller_waiting, &request);
            poller_withdraw(&poller_serving, &request);
        }
    }
    pthread_mutex_unlock(&poller_lock);
}

/* ---- the host's loop ---- */

uint64_t crest_poller_turn(void)
{
    CREST_UNCANCELLED;
    uint64_t next_ns = 0, now_ns = crest_step_clock_ns(&poller_clock);
    const uint64_t until_ns = now_ns + CREST_POLL_ROUND_MS * CREST_NS_PER_MS;
    pthread_once(&poller_once, poller_prepare);
    pthread_mutex_lock(&poller_lock);
    for (crest_poll *poll; now_ns < until_ns && (poll = poller_next_due(1, &next_ns)) != NULL;) {
        poller_call(poll, 0);
        now_ns = crest_step_clock_ns(&poller_clock);
    }
    poller_tell();
    pthread_mutex_unlock(&poller_lock);
    return next_ns;
}

/* ---- registering and stopping ---- */

crest_status crest_poller_add(crest_poll *poll)
{
    CREST_UNCANCELLED;
    pthread_once(&poller_once, poller_prepare);
    pthread_mutex_lock(&poller_lock);
    crest_status status = poller_count < CREST_POLLS_MAX ? CREST_OK : CREST_LIMIT;
    if (status == CREST_OK) {
        crest_poll **link = &poller_polls;
        while (*link != NULL)
            link = &(*link)->next;
        *link = poll;
        if (poller_rest == NULL)
            poller_rest = poll;
        poller_count++;
        poll->due_ns = crest_step_clock_ns(&poller_clock);
    }
    if (status == CREST_OK && !poll->loop) {
        crest_atomic_store32(&poller_live, poller_live + 1);
        poller_allowed = 1;
        (void)poller_ensure(); /* without a thread, callers that take snapshots call it */
        pthread_cond_signal(&poller_wake);
    }
    if (status == CREST_OK && (poll->loop || crest_threads_forbidden()))
        crest_loop_wake();
    pthread_mutex_unlock(&poller_lock);
    return status;
}

void crest_poller_resume(void)
{
    if (crest_atomic_load32(&poller_live) == 0)
        return;
    pthread_mutex_lock(&poller_lock);
    poller_allowed = 1;
    if (!crest_threads_forbidden())
        (void)poller_ensure();
    else if (poller_alive)
        poller_end();
    pthread_mutex_unlock(&poller_lock);
}

void crest_poller_forget(const crest_registry_state *registry)
{
    pthread_mutex_lock(&poller_lock);
    for (crest_poll *poll = poller_polls; poll != NULL; poll = poll->next) {
        if (poll->registry != registry || poll->registry == NULL)
            continue;
        poll->registry = NULL;
        poll->lost = 1;
        poll->wanted = 0;
        if (!poll->ended) {
            poll->ended = 1;
            poller_one_less(poll);
        }
    }
    pthread_mutex_unlock(&poller_lock);
}

void crest_poller_orphan(crest_poll *poll)
{
    if (poll->ended)
        return;
    poll->ended = 1;
    poller_one_less(poll);
}

crest_status crest_poll_stop(crest_poll *poll)
{
    CREST_UNCANCELLED;
    if (poll == NULL)
        return CREST_OK;
    pthread_mutex_lock(&poller_lock);
    crest_poll **link = &poller_polls;
    while (*link != NULL && *link != poll)
        link = &(*link)->next;
    if (*link == NULL) {
        pthread_mutex_unlock(&poller_lock);
        return CREST_NOT_FOUND;
    }
    *link = poll->next;
    if (poller_rest == poll)
        poller_rest = poll->next;
    poller_count--;
    if (!poll->ended) {
        poll->ended = 1;
        poller_one_less(poll);
    }
    if (poll->state.running && pthread_equal(poll->runner, pthread_self())) {
        poll->own = 1;
        pthread_mutex_unlock(&poller_lock);
        return CREST_OK;
    }
    while (poll->state.running)
        poller_wait(&poller_changed, UINT64_MAX);
    pthread_mutex_unlock(&poller_lock);
    crest_poll_free(poll);
    return CREST_OK;
}

crest_status crest_poll_read(const crest_poll *poll, crest_poll_state *state)
{
    memset(state, 0, sizeof *state);
    pthread_mutex_lock(&poller_lock);
    const crest_poll *at = poller_polls;
    while (at != NULL && at != poll)
        at = at->next;
    if (at != NULL)
        *state = at->state;
    pthread_mutex_unlock(&poller_lock);
    return at != NULL ? CREST_OK : CREST_NOT_FOUND;
}
