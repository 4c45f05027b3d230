/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growth: what becomes of a series that waits, by comparing its value once a tick.
 *
 *     state    value unchanged                               value changed
 *     SHOWN    the wait ends: it came back by itself         the same
 *     LEAVING  RESTING, once all have had it and it has      it waits from now on
 *              lingered
 *     HIDDEN   it waits on                                   SHOWN, and the wait ends
 *     RESTING  GONE, once it has rested and no thread        LEAVING; of a retired one: its growth
 *              reads by an older list; its slot is free      is late, and it rests from now on
 *
 * Records of a thread that had loaded the slot before its series left are found this way. A first
 * look at a state that the wait does not know yet takes its value and time; only looks after it
 * compare.
 *
 * Locks: the slow path's guards the life of every series and the head of the list of waits. The
 * looks' own is held by the one thread that looks, and takes waits off the list. So the looking
 * itself, which reads values and may allocate, is done without the slow path's lock; what it
 * decides is done under both, if the life is then still what was looked at.
 */
#ifndef CREST_GROWTH_H
#define CREST_GROWTH_H

#include "registry/metric_inside.h"

/* The least time that a released series is still exported, and the most that it waits for a
 * reporter that does not succeed, or for any snapshot. */
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

/* Under the lock, with a wait in reserve (slots.h): from now on the series is looked at. A life
 * that is not the series' own: the first look finds it changed, and begins with what it then is.
 * Otherwise it has had this value in this life. */
void crest_growth_wait(crest_series *series, uint64_t life, uint64_t seen);

/* The series was idle since then, with this value; it is hidden if it has been exported since.
 * Takes the lock. */
void crest_lives_idle(crest_series *series, uint64_t value, uint64_t since_ns, uint64_t now_ns);

/* Looks at all that wait and moves them on; a tick, or from elsewhere not more than once a second.
 * Not under any lock, nor in a signal handler. */
void crest_lives_tick(void);
void crest_lives_now_and_then(void);

/* Brings back what has grown of this registry's series that snapshots do not have. */
void crest_lives_look(crest_registry_state *state);

/* The registry was just exported; brings up to date what has been delivered to whom. */
void crest_lives_exported(crest_registry_state *state, uint64_t taken_ns);
void crest_lives_delivered(crest_registry_state *state);

#endif
