/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lives of a series: shown, leaving, hidden, resting, gone; and the slots that are used again.
 * The inside of <crest/lifetime.h>; docs/architecture.md tells the whole story.
 *
 *     SHOWN ── release, retire ──► LEAVING ── exported once more ──► RESTING ── nobody has written
 *       ▲  ◄──── a write, _with ────┘   ▲ ◄──────── growth ─────────────┘    for a minute ──► GONE
 *       └── idle ──► HIDDEN ── growth ──► SHOWN
 *
 * From GONE it comes back, from zero, by a write or _with; one that was retired by _with alone.
 *
 * A released or retired series' handle has slot 0, so that each later record takes the cold path,
 * where it brings the series back (released) or is counted as late (retired). What a thread records
 * that had loaded the slot before is found by comparing values once a tick: `growth`.
 */
#ifndef CREST_LIFECYCLE_H
#define CREST_LIFECYCLE_H

#include "base/atomic.h"
#include "registry/metric_inside.h"

/* The least time that a released series is still exported, and the most that it waits for a
 * reporter that does not succeed, or for anybody to take a snapshot. */
#define CREST_LINGER_S 60u
#define CREST_PATIENCE_S 3600u
/* How long a slot rests, and how many looks at it find it unchanged, before it is used again:
 * longer than a thread needs from loading a slot to writing its cell, unless it is stopped there.
 * What such a thread writes then is counted in the next series, and can do no other harm: see
 * crest_arena_use. */
#define CREST_REST_S 60u
/* The same where a runtime adds to cells by itself: it may stop a thread between the two, for as
 * long as it collects garbage. */
#define CREST_REST_RUNTIME_S 600u
#define CREST_REST_LOOKS 2u

typedef enum crest_life {
    CREST_LIFE_SHOWN,   /* in snapshots */
    CREST_LIFE_LEAVING, /* in snapshots for the last time */
    CREST_LIFE_HIDDEN,  /* idle, its handle leads to it as before */
    CREST_LIFE_RESTING, /* not in snapshots; it still has its slot */
    CREST_LIFE_GONE     /* without a slot */
} crest_life;

/* The word: the state, two marks, and how often it changed, so that no word comes back. */
#define CREST_LIFE_STATE UINT64_C(7)
#define CREST_LIFE_RETIRED UINT64_C(8)
#define CREST_LIFE_WAITS UINT64_C(16) /* it is in the list of those that are looked at */
#define CREST_LIFE_MOVE UINT64_C(256)

static inline crest_life crest_series_life(const crest_series *series)
{
    return (crest_life)(crest_atomic_load(&series->life) & CREST_LIFE_STATE);
}

static inline int crest_series_retired(const crest_series *series)
{
    return (crest_atomic_load(&series->life) & CREST_LIFE_RETIRED) != 0;
}

/* Whether snapshots have it. */
static inline int crest_series_shown(const crest_series *series)
{
    return crest_series_life(series) <= CREST_LIFE_LEAVING;
}

/* Tells one life of one series from every other of the process; 0: it has not begun yet. */
static inline uint64_t crest_series_birth(const crest_series *series)
{
    return crest_atomic_load(&series->birth);
}

/* Under the lock: a used slot for a series of the metric that has rested, its value made 0; 0 if
 * there is none. */
uint32_t crest_lives_slot(const crest_metric *metric);

/* Under the lock: the series begins to live in the slot that it has got. */
void crest_lives_begin(crest_series *series);

/* The highest birth so far: what lives later has a higher one, and a directory that is made later
 * finds all that have not, but for what snapshots do not have. Takes the lock. */
uint64_t crest_lives_born(void);

/* Under the lock: how many waits a release of the child takes, and sees to it that so many are
 * there, before anything is done, so that nothing is done by halves; 0 without memory. */
unsigned crest_lives_waits(const crest_child *child);
int crest_lives_reserve(unsigned waits);

/* Under the lock: the child of a family is released; its handle leads to the cold path after it.
 * CREST_NO_MEMORY: nothing was done. */
crest_status crest_lives_release(crest_child *child);

/* Under the lock: snapshots from now on do not have the child, nor is it exported once more. Of a
 * family it is released besides, so that a record through its own handle brings it back; without
 * labels it keeps its slot, because declared handles are copies, and comes back when its value
 * changes or by crest_lives_readmit. CREST_NO_MEMORY: nothing was done. */
crest_status crest_lives_withdraw(crest_child *child);
void crest_lives_readmit(crest_child *child);

/* Under the lock: the child is retired, its handle dead of `why`. `shown`: it is exported once
 * more. */
void crest_lives_retire(crest_child *child, crest_status why, int shown);

/* Under the lock: the child lives again, from zero where it was gone; 0 and *status if not. */
int crest_lives_revive(crest_child *child, crest_status *status);

/* Under the lock: whether no series of the child has a slot any more. */
int crest_lives_all_gone(const crest_child *child);

/* Under the lock: a retired child of these values of which everything has gone, or NULL; and its
 * next life, from zero, by the handle that it has had; 0 and *status if it cannot be. */
crest_child *crest_lives_remembered(const crest_metric *metric, const char *const *values,
                                    uint32_t hash);
int crest_lives_again(crest_child *child, crest_status *status);

/* Under the lock: retired children of these values are shown no more, for a new one comes. */
void crest_lives_replace(const crest_metric *metric, const char *const *values, uint32_t hash);

/* The series was idle since then, with this value; it is hidden if it has been exported since.
 * Takes the lock. */
void crest_lives_idle(crest_series *series, uint64_t value, uint64_t since_ns, uint64_t now_ns);

/* lifetime.c: all series of a registry that is freed come to their end, which is not exported.
 * Takes the lock, and records what was in flight. */
void crest_registry_retire(crest_registry_state *state);

/* lifetime.c: the same of what a handle leads to, taking the lock: for values whose source has gone
 * and which nothing is known of any more. Of stages, CREST_INVALID_ARGUMENT. */
crest_status crest_handle_withdraw(crest_handle *handle);
crest_status crest_handle_readmit(crest_handle *handle);

/* Looks at all that wait and moves them on; a tick, or from elsewhere not more than once a second.
 * Not under any lock, nor in a signal handler. */
void crest_lives_tick(void);
void crest_lives_now_and_then(void);

/* Brings back what has grown of this registry's series that snapshots do not have. */
void crest_lives_look(crest_registry_state *state);

/* The registry was just exported; brings up to date what has been delivered to whom. */
void crest_lives_exported(crest_registry_state *state, uint64_t taken_ns);
void crest_lives_delivered(crest_registry_state *state);

/* Slots that rested out and wait for use. Any thread. */
uint64_t crest_lives_free_slots(void);

#endif
