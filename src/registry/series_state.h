/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a series: the state that it is in, as one word.
 *
 *     state        in snapshots       slot  its handle leads to     the next state
 *     SHOWN        yes                own   its cells               LEAVING, HIDDEN, QUARANTINED
 *     LEAVING      for the last time  own   the cold path           QUARANTINED, SHOWN
 *     HIDDEN       no: it is idle     own   its cells               SHOWN, LEAVING, QUARANTINED
 *     QUARANTINED  no                 own   the cold path           GONE, LEAVING, SHOWN
 *     GONE         no                 none  the cold path           SHOWN
 *
 * child_moves.c moves a series when the program asks for it, growth.c when its value did or did not
 * change. All moves are made under the lock; the word is read by any thread.
 */
#ifndef CREST_SERIES_STATE_H
#define CREST_SERIES_STATE_H

#include "base/atomic.h"
#include "metrics/metric_inside.h"

typedef enum crest_life {
    CREST_LIFE_SHOWN,       /* in snapshots */
    CREST_LIFE_LEAVING,     /* in snapshots for the last time */
    CREST_LIFE_HIDDEN,      /* idle, its handle leads to it as before */
    CREST_LIFE_QUARANTINED, /* not in snapshots; it still has its slot */
    CREST_LIFE_GONE         /* without a slot */
} crest_life;

/* The word: the state, two marks, and how often it changed, so that no word comes back. */
#define CREST_LIFE_STATE UINT64_C(7)
#define CREST_LIFE_RETIRED UINT64_C(8)
#define CREST_LIFE_WAITS UINT64_C(16) /* growth.c's list of waits has it */
#define CREST_LIFE_MOVE UINT64_C(256)

static inline crest_life crest_series_life(const crest_series *series)
{
    return (crest_life)(crest_atomic_load(&series->life) & CREST_LIFE_STATE);
}

static inline int crest_series_retired(const crest_series *series)
{
    return (crest_atomic_load(&series->life) & CREST_LIFE_RETIRED) != 0;
}

/* Whether snapshots contain it. */
static inline int crest_series_shown(const crest_series *series)
{
    return crest_series_life(series) <= CREST_LIFE_LEAVING;
}

/* A number that no other life of any series of the process has; 0: no life yet. */
static inline uint64_t crest_series_birth(const crest_series *series)
{
    return crest_atomic_load(&series->birth);
}

/* Under the lock: moves the series to this state, sets and clears these marks. */
void crest_life_move(crest_series *series, crest_life life, uint64_t set, uint64_t clear);

/* Under the lock: begins the series' life in its new slot. */
void crest_life_begin(crest_series *series);

/* The highest birth so far. Later lives have higher ones; a directory made later contains every
 * series with a birth up to it, unless snapshots do not show it. Takes the lock. */
uint64_t crest_life_last_birth(void);

/* Under the lock: whether no series of the child has a slot. */
int crest_child_is_gone(const crest_child *child);

#endif
