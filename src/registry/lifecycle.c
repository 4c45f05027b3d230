/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How series leave, rest, come back, and what becomes of their slots. See lifecycle.h.
 *
 * Two locks: the slow path's guards every series' life and what is in the list of those that wait;
 * `lives_lock` is held by the one thread that looks at these, and takes them off the list. So the
 * looking itself, which reads values and may allocate, is done without the slow path's lock, and
 * what it decides is done under it if the series' life is then still what was looked at.
 */
#include "registry/lifecycle.h"
#include "base/arena.h"
#include "cells/cells.h"
#include "registry/children.h"
#include "base/forked.h"
#include "instruments/in_flight_table.h"
#include "base/lock.h"
#include "base/misuse.h"
#include "cells/range_cell.h"
#include "registry/series.h"
#include "registry/series_merge.h"
#include "registry/slowest_note.h"
#include "registry/delivered.h"
#include "registry/readers.h"
#include "instruments/stage_series.h"
#include "base/sync.h"

#include <pthread.h>

#define LIVES_NS_PER_S UINT64_C(1000000000)

/* A series that is waited for, or a slot that is free. */
typedef struct crest_wait {
    struct crest_wait *next;
    crest_series *series;
    uint64_t since_ns;   /* its life and value are what they are at least since then */
    uint64_t seen;       /* the value */
    uint64_t generation; /* directories from this on do not have it */
    uint64_t life;       /* as of the last look */
    uint32_t looks;      /* since then; at one a second 136 years of them are as many as none */
    uint32_t slot;       /* of a free one */
} crest_wait;

/*
 * Free slots. What a thread may write to the cells of a used slot that was stopped long ago decides
 * who may use it next: additions to a counter; a shard or a beginning of a layout; nothing.
 */
typedef struct lives_slots {
    struct lives_slots *next;
    const crest_layout *layout;
    crest_wait *first;
} lives_slots;

static pthread_mutex_t lives_lock = PTHREAD_MUTEX_INITIALIZER;
static crest_wait *lives_waiting; /* grows at its head, under the slow path's lock */
static crest_wait *lives_spare;
static lives_slots lives_counters, lives_others; /* those of layouts follow the latter */
static uint64_t lives_waiting_count, lives_free_count;
static uint64_t lives_looked_ns; /* the last look at all */

/* In the child every value is zero: each look begins anew. */
static void lives_forked(void)
{
    crest_mutex_fresh(&lives_lock);
    for (crest_wait *wait = lives_waiting; wait != NULL; wait = wait->next)
        wait->life = ~wait->series->life;
}
CREST_FORKED(LIVES, lives_forked)

uint64_t crest_lives_free_slots(void)
{
    return crest_atomic_load(&lives_free_count);
}

/* ---- lives and slots, under the lock ---- */

static int lives_counts(crest_life life)
{
    return life != CREST_LIFE_RESTING && life != CREST_LIFE_GONE;
}

/* The series' life becomes this. Its child counts by its first series. */
static void lives_move(crest_series *series, crest_life life, uint64_t set, uint64_t clear)
{
    crest_metric *metric = series->metric;
    crest_life before = crest_series_life(series);
    uint64_t word = (series->life & ~(CREST_LIFE_STATE | clear)) | set | life;
    crest_atomic_store(&series->life, word + CREST_LIFE_MOVE);
    if (series->outcome == 0) {
        metric->child_count += (unsigned)lives_counts(life);
        metric->child_count -= (unsigned)lives_counts(before);
        metric->state->gone += life == CREST_LIFE_GONE;
        metric->state->gone -= before == CREST_LIFE_GONE;
    }
    crest_registry_changed(metric);
}

static uint64_t lives_born; /* under the lock */

void crest_lives_begin(crest_series *series)
{
    crest_atomic_store(&series->birth, ++lives_born);
    if (crest_series_life(series) == CREST_LIFE_GONE)
        lives_move(series, CREST_LIFE_SHOWN, 0, 0);
}

uint64_t crest_lives_born(void)
{
    crest_lock_saved saved;
    crest_lock_take(&saved);
    uint64_t born = lives_born;
    crest_lock_drop(&saved);
    return born;
}

static void lives_push(crest_wait **first, crest_wait *wait)
{
    wait->next = *first;
    *first = wait;
}

/* NULL: there are none that the metric's series may use. */
static lives_slots *lives_slots_for(const crest_metric *metric)
{
    lives_slots *slots = &lives_others;
    if (metric->kind == CREST_KIND_COUNTER)
        return &lives_counters;
    while (slots != NULL && slots->layout != metric->layout)
        slots = slots->next;
    return slots;
}

/* NULL without memory. */
static lives_slots *lives_slots_made(const crest_metric *metric)
{
    lives_slots *slots = lives_slots_for(metric);
    if (slots != NULL)
        return slots;
    slots = crest_arena_take(CREST_ARENA_META, sizeof *slots, _Alignof(lives_slots));
    if (slots == NULL)
        return NULL;
    *slots = (lives_slots){lives_others.next, metric->layout, NULL};
    lives_others.next = slots;
    return slots;
}

uint32_t crest_lives_slot(const crest_metric *metric)
{
    lives_slots *slots = lives_slots_for(metric);
    crest_wait *wait = slots != NULL ? slots->first : NULL;
    if (wait == NULL)
        return 0;
    slots->first = wait->next;
    crest_atomic_add(&lives_free_count, UINT64_MAX);
    lives_push(&lives_spare, wait);
    /* otherwise it is lost, and a new one does */
    return metric->kind != CREST_KIND_COUNTER || crest_cells_sum_anew(wait->slot) ? wait->slot : 0;
}

/* Nobody records into the slot any more: what its cells lead to is taken back. */
static void lives_empty(crest_series *series)
{
    const crest_metric *metric = series->metric;
    const crest_thread_record *record = metric->layout != NULL ? crest_cells_records() : NULL;
    for (; record != NULL; record = record->next) {
        uint64_t *cell = (uint64_t *)(uintptr_t)crest_cells_of(record, series->slot);
        uint64_t there = cell != NULL ? crest_atomic_load(cell) : 0;
        if (there == 0)
            continue;
        crest_atomic_store(cell, 0);
        crest_shard_give((crest_shard *)(uintptr_t)there, metric->layout);
    }
    if (metric->kind == CREST_KIND_GAUGE)
        crest_arena_give(CREST_ARENA_GAUGE, series->shared, CREST_LINE_BYTES);
    else if (metric->kind == CREST_KIND_RANGE_SAMPLER)
        crest_arena_give(CREST_ARENA_RANGE, series->shared, sizeof(crest_range_cell));
    else if (metric->kind == CREST_KIND_TIMER && series->shared != NULL)
        crest_slowest_shard_give(series->shared);
    else if (series->shared != NULL)
        crest_shared_shard_give(series->shared);
    crest_atomic_store_ptr_release(CREST_PTR(&series->shared), NULL); /* as in series.c */
}

int crest_lives_reserve(unsigned count)
{
    for (const crest_wait *spare = lives_spare; count != 0 && spare != NULL; spare = spare->next)
        count--;
    for (; count != 0; count--) {
        crest_wait *wait = crest_arena_take(CREST_ARENA_META, sizeof *wait, _Alignof(crest_wait));
        if (wait == NULL)
            return 0;
        lives_push(&lives_spare, wait);
    }
    return 1;
}

/* From now on the series is looked at. A life that is not the series' own: the first look finds it
 * changed, and begins with what it then is. Otherwise it has had this value in this life. All is
 * said here, since somebody may be looking before this returns. */
static void lives_wait(crest_series *series, uint64_t life, uint64_t seen)
{
    crest_wait *wait = lives_spare;
    lives_spare = wait->next;
    *wait = (crest_wait){.next = lives_waiting, .series = series, .life = life, .seen = seen};
    crest_atomic_add(&lives_waiting_count, 1);
    crest_atomic_add(&series->metric->state->waiting, 1);
    /* partner: the acquire load in lives_look_at_all */
    crest_atomic_store_ptr_release(CREST_PTR(&lives_waiting), wait);
}

unsigned crest_lives_waits(const crest_child *child)
{
    unsigned needed = 0;
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        const crest_series *series = crest_child_at(child, i);
        needed += series != NULL && series->slot != 0 && !(series->life & CREST_LIFE_WAITS);
    }
    return needed;
}

int crest_lives_all_gone(const crest_child *child)
{
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        const crest_series *series = crest_child_at(child, i);
        if (series != NULL && crest_series_life(series) != CREST_LIFE_GONE)
            return 0;
    }
    return 1;
}

/* Each series of the child is on its way out, and marked. */
static void lives_send_off(crest_child *child, uint64_t mark, int shown, int wait)
{
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        crest_series *series = crest_child_at(child, i);
        if (series == NULL)
            continue;
        crest_life life = crest_series_life(series);
        if (series->slot != 0 && wait && !(series->life & CREST_LIFE_WAITS)) {
            crest_atomic_store(&series->life, series->life | CREST_LIFE_WAITS);
            lives_wait(series, ~series->life, 0);
        }
        if (life == CREST_LIFE_SHOWN || life == CREST_LIFE_HIDDEN)
            life = CREST_LIFE_LEAVING;
        if (life == CREST_LIFE_LEAVING && !shown)
            life = CREST_LIFE_RESTING;
        if (mark != 0 || life != crest_series_life(series))
            lives_move(series, life, mark, 0);
    }
}

crest_status crest_lives_release(crest_child *child)
{
    if (!crest_lives_reserve(crest_lives_waits(child)))
        return CREST_NO_MEMORY;
    lives_send_off(child, 0, 1, 1);
    crest_child_blank(child);
    return CREST_OK;
}

/* Without labels: each series is hidden, as an idle one is. */
static void lives_hide(crest_child *child)
{
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        crest_series *series = crest_child_at(child, i);
        if (series == NULL || crest_series_life(series) != CREST_LIFE_SHOWN)
            continue;
        int waits = (series->life & CREST_LIFE_WAITS) != 0;
        lives_move(series, CREST_LIFE_HIDDEN, CREST_LIFE_WAITS, 0);
        if (!waits)
            lives_wait(series, ~series->life, 0);
    }
}

crest_status crest_lives_withdraw(crest_child *child)
{
    if (!crest_lives_reserve(crest_lives_waits(child)))
        return CREST_NO_MEMORY;
    if (child->first.metric->label_count == 0) {
        lives_hide(child);
        return CREST_OK;
    }
    lives_send_off(child, 0, 0, 1);
    crest_child_blank(child);
    return CREST_OK;
}

void crest_lives_readmit(crest_child *child)
{
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        crest_series *series = crest_child_at(child, i);
        if (series != NULL && crest_series_life(series) == CREST_LIFE_HIDDEN)
            lives_move(series, CREST_LIFE_SHOWN, 0, 0); /* the next look finds it done */
    }
}

void crest_lives_retire(crest_child *child, crest_status why, int shown)
{
    /* without memory it goes at once, and its slot is not used again */
    int wait = crest_lives_reserve(crest_lives_waits(child));
    lives_send_off(child, CREST_LIFE_RETIRED, shown && wait, wait);
    crest_child_kill(child, why);
    crest_metric *metric = child->first.metric;
    if (metric->overflow == child) {
        metric->overflow = NULL;
        metric->overflow_beyond = 0;
    }
}

/* What belongs to stages comes back with them, as it left with them; 0 and *status if not. */
static int lives_revive_parts(const crest_child *child, crest_status *status)
{
    crest_child *parts[CREST_STAGES_PARTS_MAX];
    unsigned count = crest_stages_parts(child, parts);
    for (unsigned i = 0; i < count; i++)
        if (parts[i]->own->handle.slot == 0 && !crest_lives_revive(parts[i], status))
            return 0;
    return 1;
}

int crest_lives_revive(crest_child *child, crest_status *status)
{
    *status = CREST_LATE;
    if (crest_series_retired(&child->first))
        return 0;
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        crest_series *series = crest_child_at(child, i);
        crest_life life = series ? crest_series_life(series) : CREST_LIFE_SHOWN;
        /* outcomes that appear when first hit do so again */
        if (life == CREST_LIFE_GONE && i <= CREST_OUTCOME_ERROR) {
            *status = crest_series_equip(series);
            if (*status != CREST_OK)
                return 0;
        }
        if (life == CREST_LIFE_LEAVING || life == CREST_LIFE_RESTING)
            lives_move(series, CREST_LIFE_SHOWN, 0, 0);
    }
    if (!lives_revive_parts(child, status))
        return 0;
    crest_child_fill(child, &child->own->handle);
    *status = CREST_OK;
    return 1;
}

void crest_lives_replace(const crest_metric *metric, const char *const *values, uint32_t hash)
{
    crest_child *old = NULL;
    while ((old = crest_children_retired(metric, values, hash, old)) != NULL)
        for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
            crest_series *series = crest_child_at(old, i);
            if (series != NULL && crest_series_life(series) == CREST_LIFE_LEAVING)
                lives_move(series, CREST_LIFE_RESTING, 0, 0);
        }
}

crest_child *crest_lives_remembered(const crest_metric *metric, const char *const *values,
                                    uint32_t hash)
{
    crest_child *child = crest_children_retired(metric, values, hash, NULL);
    while (child != NULL && !crest_lives_all_gone(child))
        child = crest_children_retired(metric, values, hash, child);
    return child;
}

int crest_lives_again(crest_child *child, crest_status *status)
{
    if (child->first.metric->stage_count != 0) {
        *status = crest_stages_child_again(child);
        if (*status != CREST_OK)
            return 0;
    }
    for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
        crest_series *series = crest_child_at(child, i);
        if (series != NULL)
            crest_atomic_store(&series->life, series->life & ~(uint64_t)CREST_LIFE_RETIRED);
    }
    if (child->first.metric->kind == CREST_KIND_TIMER)
        crest_in_flight_open(child->own->timer.keyed);
    return crest_lives_revive(child, status);
}

/* ---- who has had what ---- */

void crest_lives_exported(crest_registry_state *state, uint64_t taken_ns)
{
    crest_atomic_raise(&state->exported_ns, taken_ns);
}

void crest_lives_delivered(crest_registry_state *state)
{
    uint64_t delivered_ns = crest_atomic_load(&state->exported_ns), longest_ns = 0;
    uint64_t least_ns = CREST_LINGER_S * LIVES_NS_PER_S;
    crest_deliveries_of(state, &delivered_ns, &longest_ns);
    crest_atomic_store(&state->delivered_ns, delivered_ns);
    crest_atomic_store(&state->linger_ns, longest_ns > least_ns / 2 ? 2 * longest_ns : least_ns);
}

/* Whether all have had what is unchanged since then, or are waited for no longer. */
static int lives_had(const crest_registry_state *state, uint64_t since_ns, uint64_t now_ns)
{
    uint64_t patience_ns = CREST_PATIENCE_S * LIVES_NS_PER_S;
    uint64_t linger_ns = crest_atomic_load(&state->linger_ns);
    return crest_atomic_load(&state->delivered_ns) > since_ns ||
           now_ns >= since_ns + (patience_ns > linger_ns ? patience_ns : linger_ns);
}

void crest_lives_idle(crest_series *series, uint64_t value, uint64_t since_ns, uint64_t now_ns)
{
    crest_lock_saved saved;
    if (!lives_had(series->metric->state, since_ns, now_ns))
        return;
    crest_lock_take(&saved);
    /* one that waits has come back a moment ago, and is looked at first */
    if (crest_series_life(series) == CREST_LIFE_SHOWN && !(series->life & CREST_LIFE_WAITS) &&
        crest_lives_reserve(1)) {
        lives_move(series, CREST_LIFE_HIDDEN, CREST_LIFE_WAITS, 0);
        lives_wait(series, series->life, value); /* what comes after it was read is growth */
    }
    crest_lock_drop(&saved);
}

/* ---- looking, under lives_lock ---- */

/* What changes when somebody records into the series; 0 without memory. */
static int lives_value(const crest_series *series, uint64_t *value)
{
    uint32_t slot = crest_atomic_load32(&series->slot);
    *value = 0;
    if (series->metric->kind == CREST_KIND_COUNTER) {
        *value = crest_cells_sum(slot);
    } else if (series->metric->kind == CREST_KIND_GAUGE) {
        *value = crest_atomic_load(series->shared);
    } else if (series->metric->kind == CREST_KIND_RANGE_SAMPLER) {
        /* +1 and -1 leave the value as it was, but not the moment */
        const crest_range_cell *cell = series->shared;
        *value = crest_atomic_load(&cell->state.value) + crest_atomic_load(&cell->state.moment);
    } else {
        crest_distribution *merged = crest_series_merge(series);
        *value = crest_distribution_count(merged);
        crest_distribution_free(merged);
        return merged != NULL;
    }
    return 1;
}

typedef enum lives_action {
    LIVES_NOTHING,
    LIVES_REST,  /* it is not in snapshots any more */
    LIVES_SHOW,  /* it is again, as before */
    LIVES_AGAIN, /* it is once more */
    LIVES_FREE,  /* its slot has rested out */
    LIVES_DONE   /* it came back by itself */
} lives_action;

static lives_action lives_look_resting(crest_wait *wait, uint64_t value, uint64_t now_ns)
{
    const crest_series *series = wait->series;
    int sums = series->metric->kind == CREST_KIND_COUNTER || series->metric->layout != NULL;
    if (value == wait->seen) {
        uint64_t rest_s = crest_cells_runtime() ? CREST_REST_RUNTIME_S : CREST_REST_S;
        int rested =
            now_ns >= wait->since_ns + rest_s * LIVES_NS_PER_S && wait->looks > CREST_REST_LOOKS;
        return rested && crest_readers_quiet(series->metric->state, wait->generation)
                   ? LIVES_FREE
                   : LIVES_NOTHING;
    }
    if (!crest_series_retired(series))
        return LIVES_AGAIN;
    crest_misuse_late(sums && value > wait->seen ? value - wait->seen : 1);
    wait->seen = value;
    wait->since_ns = now_ns;
    wait->looks = 0;
    return LIVES_NOTHING;
}

static lives_action lives_look(crest_wait *wait, uint64_t now_ns, uint64_t *value)
{
    const crest_series *series = wait->series;
    crest_registry_state *state = series->metric->state;
    uint64_t word = crest_atomic_load(&series->life);
    crest_life life = (crest_life)(word & CREST_LIFE_STATE);
    if (life == CREST_LIFE_SHOWN)
        return word == wait->life ? LIVES_DONE : (wait->life = word, LIVES_NOTHING);
    if (!lives_value(series, value))
        return LIVES_NOTHING;
    if (word != wait->life) {
        /* a retired one that was resting before goes on from what was seen then */
        if (life != CREST_LIFE_RESTING || word - wait->life != CREST_LIFE_MOVE + CREST_LIFE_RETIRED)
            wait->seen = *value;
        wait->life = word;
        wait->since_ns = now_ns;
        wait->looks = 0;
        wait->generation = crest_atomic_load_acquire(&state->generation);
    }
    if (life == CREST_LIFE_RESTING)
        return lives_look_resting(wait, *value, now_ns);
    if (life == CREST_LIFE_HIDDEN)
        return *value != wait->seen ? LIVES_SHOW : LIVES_NOTHING;
    if (*value != wait->seen) {
        wait->seen = *value;
        wait->since_ns = now_ns;
        return LIVES_NOTHING;
    }
    int lingered = now_ns >= wait->since_ns + crest_atomic_load(&state->linger_ns);
    return lingered && lives_had(state, wait->since_ns, now_ns) ? LIVES_REST : LIVES_NOTHING;
}

/* Under both locks: off the list, which may have grown at its head meanwhile. */
static void lives_unlink(crest_wait *wait)
{
    crest_wait **link = &lives_waiting;
    while (*link != wait)
        link = &(*link)->next;
    crest_atomic_store_ptr_release(CREST_PTR(link), wait->next); /* as in lives_wait */
    crest_atomic_add(&lives_waiting_count, UINT64_MAX);
    crest_atomic_add(&wait->series->metric->state->waiting, UINT64_MAX);
}

static void lives_end(crest_wait *wait)
{
    crest_series *series = wait->series;
    crest_metric *metric = series->metric;
    lives_slots *slots = lives_slots_made(metric);
    lives_empty(series);
    wait->slot = series->slot;
    crest_atomic_store32(&series->slot, 0);
    crest_atomic_add(&lives_free_count, slots != NULL); /* otherwise the slot is lost */
    lives_push(slots != NULL ? &slots->first : &lives_spare, wait);
    lives_move(series, CREST_LIFE_GONE, 0, CREST_LIFE_WAITS);
}

/* Under both locks: what the look has found, if it is still so. */
static void lives_act(crest_wait *wait, lives_action action, uint64_t value, uint64_t now_ns)
{
    crest_series *series = wait->series;
    if (series->life != wait->life)
        return;
    if (action == LIVES_REST || action == LIVES_AGAIN) {
        lives_move(series, action == LIVES_REST ? CREST_LIFE_RESTING : CREST_LIFE_LEAVING, 0, 0);
        wait->life = series->life;
        wait->since_ns = now_ns;
        wait->seen = value;
        wait->looks = 0;
        wait->generation = series->metric->state->generation;
        return;
    }
    lives_unlink(wait);
    if (action == LIVES_FREE) {
        lives_end(wait);
        return;
    }
    lives_move(series, CREST_LIFE_SHOWN, 0, CREST_LIFE_WAITS);
    lives_push(&lives_spare, wait);
}

/* Of one registry: only what grew and is to be shown again. */
static void lives_look_at_all(const crest_registry_state *only)
{
    pthread_mutex_lock(&lives_lock);
    uint64_t now_ns = crest_now();
    crest_registry_state *informed = NULL;
    /* acquire: partner of the release store in lives_wait */
    crest_wait *wait = crest_atomic_load_ptr_acquire(CREST_PTR(&lives_waiting)), *next;
    for (; wait != NULL; wait = next) {
        next = wait->next;
        crest_registry_state *state = wait->series->metric->state;
        if (only != NULL && state != only)
            continue;
        if (only == NULL && state != informed)
            crest_lives_delivered(informed = state);
        wait->looks += only == NULL;
        uint64_t value = 0;
        lives_action action = lives_look(wait, now_ns, &value);
        if (action == LIVES_NOTHING ||
            (only != NULL && action != LIVES_SHOW && action != LIVES_AGAIN))
            continue;
        crest_lock_saved saved;
        crest_lock_take(&saved);
        lives_act(wait, action, value, now_ns);
        crest_lock_drop(&saved);
    }
    if (only == NULL)
        crest_atomic_store(&lives_looked_ns, now_ns);
    pthread_mutex_unlock(&lives_lock);
}

void crest_lives_tick(void)
{
    if (crest_atomic_load(&lives_waiting_count) != 0)
        lives_look_at_all(NULL);
}

void crest_lives_now_and_then(void)
{
    if (crest_atomic_load(&lives_waiting_count) != 0 &&
        crest_now() >= crest_atomic_load(&lives_looked_ns) + LIVES_NS_PER_S)
        lives_look_at_all(NULL);
}

void crest_lives_look(crest_registry_state *state)
{
    if (crest_atomic_load(&state->waiting) != 0)
        lives_look_at_all(state);
}
