/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The periodic look at waiting series, and the moves that follow. See growth.h.
 */
#include "registry/growth.h"
#include "base/atomic.h"
#include "base/forked.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "base/sync.h"
#include "cells/cells.h"
#include "metrics/delivered.h"
#include "metrics/metric_kinds.h"
#include "metrics/readers.h"
#include "metrics/slots.h"
#include "registry/series_state.h"

#include <crest/clock.h>
#include <pthread.h>

static pthread_mutex_t growth_lock = PTHREAD_MUTEX_INITIALIZER;
static crest_wait *growth_waiting; /* pushed at its head, under the slow path's lock */
static uint64_t growth_waiting_count;
static uint64_t growth_looked_ns; /* the last full look */

/* In the child every value is zero: each wait's comparison begins anew. */
static void growth_forked(void)
{
    crest_mutex_fresh(&growth_lock);
    for (crest_wait *wait = growth_waiting; wait != NULL; wait = wait->next)
        wait->life = ~wait->series->life;
}
CREST_FORKED(LIVES, growth_forked)

void crest_growth_wait(crest_series *series, uint64_t life, uint64_t seen)
{
    crest_wait *wait = crest_wait_take();
    /* fully initialised before it is published: another thread may look at it at once */
    *wait = (crest_wait){.next = growth_waiting, .series = series, .life = life, .seen = seen};
    crest_atomic_add(&growth_waiting_count, 1);
    crest_atomic_add(&series->metric->state->waiting, 1);
    /* partner: the acquire load in growth_look_at_all */
    crest_atomic_store_ptr_release(CREST_PTR(&growth_waiting), wait);
}

/* ---- deliveries ---- */

void crest_growth_exported(crest_registry_state *state, uint64_t taken_ns)
{
    crest_atomic_raise(&state->exported_ns, taken_ns);
}

void crest_growth_delivered(crest_registry_state *state)
{
    uint64_t delivered_ns = crest_atomic_load(&state->exported_ns), longest_ns = 0;
    uint64_t least_ns = CREST_LINGER_S * CREST_NS_PER_S;
    crest_deliveries_of(state, &delivered_ns, &longest_ns);
    crest_atomic_store(&state->delivered_ns, delivered_ns);
    crest_atomic_store(&state->linger_ns, longest_ns > least_ns / 2 ? 2 * longest_ns : least_ns);
}

/* Whether every reporter has delivered what is unchanged since then, or is waited for no longer. */
static int growth_had(const crest_registry_state *state, uint64_t since_ns, uint64_t now_ns)
{
    uint64_t patience_ns = CREST_PATIENCE_S * CREST_NS_PER_S;
    uint64_t linger_ns = crest_atomic_load(&state->linger_ns);
    return crest_atomic_load(&state->delivered_ns) > since_ns ||
           now_ns >= since_ns + (patience_ns > linger_ns ? patience_ns : linger_ns);
}

void crest_growth_idle(crest_series *series, uint64_t value, uint64_t since_ns, uint64_t now_ns)
{
    crest_lock_saved saved;
    if (!growth_had(series->metric->state, since_ns, now_ns))
        return;
    crest_lock_take(&saved);
    /* A waiting series that came back just now must be looked at first. */
    if (crest_series_life(series) == CREST_LIFE_SHOWN && !(series->life & CREST_LIFE_WAITS) &&
        crest_waits_reserve(1)) {
        crest_life_move(series, CREST_LIFE_HIDDEN, CREST_LIFE_WAITS, 0);
        crest_growth_wait(series, series->life, value); /* a value above `value` is growth */
    }
    crest_lock_drop(&saved);
}

/* ---- looking, under growth_lock ---- */

typedef enum growth_action {
    GROWTH_NOTHING,
    GROWTH_QUARANTINE, /* leaves snapshots, quarantined */
    GROWTH_SHOW,       /* back in snapshots, as before */
    GROWTH_AGAIN,      /* exported once more */
    GROWTH_FREE,       /* quarantine over: its slot is free */
    GROWTH_DONE        /* the program brought it back */
} growth_action;

static growth_action growth_look_quarantined(crest_wait *wait, uint64_t value, uint64_t now_ns)
{
    const crest_series *series = wait->series;
    int grows = crest_kind_row_of(series->metric->kind)->grows;
    if (value == wait->seen) {
        uint64_t rest_s = crest_cells_runtime() ? CREST_QUARANTINE_RUNTIME_S : CREST_QUARANTINE_S;
        int over = now_ns >= wait->since_ns + rest_s * CREST_NS_PER_S &&
                   wait->looks > CREST_QUARANTINE_LOOKS;
        return over && crest_readers_quiet(series->metric->state, wait->generation)
                   ? GROWTH_FREE
                   : GROWTH_NOTHING;
    }
    if (!crest_series_retired(series))
        return GROWTH_AGAIN;
    crest_misuse_late(grows && value > wait->seen ? value - wait->seen : 1);
    wait->seen = value;
    wait->since_ns = now_ns;
    wait->looks = 0;
    return GROWTH_NOTHING;
}

static growth_action growth_look(crest_wait *wait, uint64_t now_ns, uint64_t *value)
{
    const crest_series *series = wait->series;
    crest_registry_state *state = series->metric->state;
    uint64_t word = crest_atomic_load(&series->life);
    crest_life life = (crest_life)(word & CREST_LIFE_STATE);
    if (life == CREST_LIFE_SHOWN)
        return word == wait->life ? GROWTH_DONE : (wait->life = word, GROWTH_NOTHING);
    if (!crest_kind_row_of(series->metric->kind)->value(series, value))
        return GROWTH_NOTHING;
    if (word != wait->life) {
        /* a retired series that was quarantined before keeps its earlier comparison value */
        if (life != CREST_LIFE_QUARANTINED ||
            word - wait->life != CREST_LIFE_MOVE + CREST_LIFE_RETIRED)
            wait->seen = *value;
        wait->life = word;
        wait->since_ns = now_ns;
        wait->looks = 0;
        wait->generation = crest_atomic_load_acquire(&state->generation);
    }
    if (life == CREST_LIFE_QUARANTINED)
        return growth_look_quarantined(wait, *value, now_ns);
    if (life == CREST_LIFE_HIDDEN)
        return *value != wait->seen ? GROWTH_SHOW : GROWTH_NOTHING;
    if (*value != wait->seen) {
        wait->seen = *value;
        wait->since_ns = now_ns;
        return GROWTH_NOTHING;
    }
    int lingered = now_ns >= wait->since_ns + crest_atomic_load(&state->linger_ns);
    return lingered && growth_had(state, wait->since_ns, now_ns) ? GROWTH_QUARANTINE
                                                                 : GROWTH_NOTHING;
}

/* Under both locks: takes the wait off the list, whose head may have grown meanwhile. */
static void growth_unlink(crest_wait *wait)
{
    crest_wait **link = &growth_waiting;
    while (*link != wait)
        link = &(*link)->next;
    crest_atomic_store_ptr_release(CREST_PTR(link), wait->next); /* as in crest_growth_wait */
    crest_atomic_add(&growth_waiting_count, UINT64_MAX);
    crest_atomic_add(&wait->series->metric->state->waiting, UINT64_MAX);
}

/* Under both locks: makes the move that the look decided, if the life is still the same. */
static void growth_act(crest_wait *wait, growth_action action, uint64_t value, uint64_t now_ns)
{
    crest_series *series = wait->series;
    if (series->life != wait->life)
        return;
    if (action == GROWTH_QUARANTINE || action == GROWTH_AGAIN) {
        crest_life_move(series,
                        action == GROWTH_QUARANTINE ? CREST_LIFE_QUARANTINED : CREST_LIFE_LEAVING,
                        0, 0);
        wait->life = series->life;
        wait->since_ns = now_ns;
        wait->seen = value;
        wait->looks = 0;
        wait->generation = series->metric->state->generation;
        return;
    }
    growth_unlink(wait);
    if (action == GROWTH_FREE) {
        crest_slot_give(wait);
        crest_life_move(series, CREST_LIFE_GONE, 0, CREST_LIFE_WAITS);
        return;
    }
    crest_life_move(series, CREST_LIFE_SHOWN, 0, CREST_LIFE_WAITS);
    crest_wait_give(wait);
}

/* Of one registry: only the hidden series that grew. */
static void growth_look_at_all(const crest_registry_state *only)
{
    pthread_mutex_lock(&growth_lock);
    uint64_t now_ns = crest_now();
    crest_registry_state *informed = NULL;
    /* acquire: partner of the release store in crest_growth_wait */
    crest_wait *wait = crest_atomic_load_ptr_acquire(CREST_PTR(&growth_waiting)), *next;
    for (; wait != NULL; wait = next) {
        next = wait->next;
        crest_registry_state *state = wait->series->metric->state;
        if (only != NULL && state != only)
            continue;
        if (only == NULL && state != informed)
            crest_growth_delivered(informed = state);
        wait->looks += only == NULL;
        uint64_t value = 0;
        growth_action action = growth_look(wait, now_ns, &value);
        if (action == GROWTH_NOTHING ||
            (only != NULL && action != GROWTH_SHOW && action != GROWTH_AGAIN))
            continue;
        crest_lock_saved saved;
        crest_lock_take(&saved);
        growth_act(wait, action, value, now_ns);
        crest_lock_drop(&saved);
    }
    if (only == NULL)
        crest_atomic_store(&growth_looked_ns, now_ns);
    pthread_mutex_unlock(&growth_lock);
}

void crest_growth_tick(void)
{
    if (crest_atomic_load(&growth_waiting_count) != 0)
        growth_look_at_all(NULL);
}

void crest_growth_now_and_then(void)
{
    if (crest_atomic_load(&growth_waiting_count) != 0 &&
        crest_now() >= crest_atomic_load(&growth_looked_ns) + CREST_NS_PER_S)
        growth_look_at_all(NULL);
}

void crest_growth_show_again(crest_registry_state *state)
{
    if (crest_atomic_load(&state->waiting) != 0)
        growth_look_at_all(state);
}
