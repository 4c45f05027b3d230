/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permits of mutexes: which mutex writes the permit of its name's range sampler (permit_cell.h),
 * which its holder does inline, and counts the locks that were free, which it does beside.
 *
 * Both words have one writer at a time, the mutex's holder, so a plain load and a plain store add
 * to them. That is so while the mutex has its name alone. `user` says which mutex that is:
 *
 *     claim    0 -> the mutex, by its holder, under the slow path's lock
 *     share    -> CREST_PERMIT_SHARED, for good: by the first holder of another mutex of the name
 *              and by the thread that frees the registry, under the lock; by the ticker, where the
 *              counter is not the clock any more
 *     leave    the mutex -> 0, when it is destroyed, under the lock
 *
 * A holder reads `user` each time. One that read it just before it was shared writes once more, and
 * lets go where it has held: what is written stays, and counts. From then on all go the way of
 * samplers and timers without a permit. Readers add up what came either way.
 *
 * The words lie in the series' own cells, whose memory is never anything else (arena.h), and are 0
 * in the child of a fork, as these are. So a mutex that still points at them after its series has
 * gone finds another user there, or none, and neither reads nor writes more than that.
 *
 * Price: a second line of memory for each range sampler; 140 lines. Gain: docs/performance.md.
 */
#ifndef CREST_PERMITS_H
#define CREST_PERMITS_H

#include "cells/permit_cell.h"

#include <crest/mutex.h>

/* By the mutex's holder: whether the permit says that it is held. */
int crest_permit_is_raised(const crest_mutex *mutex);

/* By the mutex's holder, whose permit says that it is not: says so, claiming it if need be. 0 when
 * the mutex has none. Takes the lock to claim. */
int crest_permit_raise(crest_mutex *mutex);

/* By the mutex's holder, whose permit says that it is. */
void crest_permit_lower(const crest_mutex *mutex);

/* The mutex is destroyed. Takes the lock. */
void crest_permit_leave(crest_mutex *mutex);

#endif
