/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growth: the fate of a waiting series, decided by comparing its value once a tick. It finds
 * records of threads that had loaded the slot before the series left.
 *
 *     state        value unchanged                               value changed
 *     SHOWN        the wait ends: the program brought it back    the same
 *     LEAVING      QUARANTINED, once every reporter has          the wait begins anew
 *                  delivered it and it has lingered
 *     HIDDEN       it waits on                                   SHOWN, and the wait ends
 *     QUARANTINED  GONE, once the quarantine is over and no      LEAVING; a retired series: growth
 *                  thread reads by an older list; its slot       counts as late, quarantine begins
 *                  is free                                       anew
 *
 * The first look at a state that the wait does not know yet takes its value and time; only later
 * looks compare.
 *
 * Locks:
 *   1. The slow path's lock guards the life of every series and the head of the list of waits.
 *   2. The looks' own lock is held by the thread that looks; it takes waits off the list.
 * So a look, which reads values and may allocate, runs without the slow path's lock. The move that
 * it decides is made under both, if the life has not changed by then.
 */
#ifndef CREST_GROWTH_H
#define CREST_GROWTH_H

#include "metrics/metric_inside.h"

/* Seconds: the least time that a released series is still exported, and the longest wait for a
 * reporter that does not succeed, or for any snapshot. */
#define CREST_LINGER_S 60u
#define CREST_PATIENCE_S 3600u
/* Quarantine of a slot before reuse: so many seconds, and so many looks that find it unchanged.
 * That is longer than a thread needs from loading a slot to writing its cell, unless it is stopped
 * in between. A stopped thread's record counts in the next series and does no other harm: see
 * crest_arena_use. */
#define CREST_QUARANTINE_S 60u
/* The same where a language runtime adds to cells by itself: its garbage collector may stop a
 * thread between the two for long. */
#define CREST_QUARANTINE_RUNTIME_S 600u
#define CREST_QUARANTINE_LOOKS 2u

/* Under the lock, with a wait in reserve (slots.h): looks compare the series from now on. `life`:
 * the life in which it had the value. If it is not the series' own, the first look takes life and
 * value as it finds them. */
void crest_growth_wait(crest_series *series, uint64_t life, uint64_t seen);

/* The series was idle, with this value, since then: hides it if it was exported since. Takes the
 * lock. */
void crest_growth_idle(crest_series *series, uint64_t value, uint64_t since_ns, uint64_t now_ns);

/* Looks at all waiting series and moves them on: once a tick; without ticks at most once a second.
 * Not under any lock, nor in a signal handler. */
void crest_growth_tick(void);
void crest_growth_now_and_then(void);

/* Shows again this registry's hidden series that have grown. */
void crest_growth_show_again(crest_registry_state *state);

/* The registry was just exported: updates its `delivered_ns` and `exported_ns`. */
void crest_growth_exported(crest_registry_state *state, uint64_t taken_ns);
void crest_growth_delivered(crest_registry_state *state);

#endif
