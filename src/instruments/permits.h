/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permits of mutexes: which mutex writes the permit of its name's range sampler (permit_cell.h).
 * Its holder writes it inline, and counts uncontended locks beside it.
 *
 * Both words have one writer at a time, the mutex's holder, so a plain load and a plain store add
 * to them. That holds while one mutex has the name. State `user`: 0, a mutex, or SHARED.
 *
 *     claim    0 -> the mutex, by its holder, under the slow path's lock
 *     share    -> CREST_PERMIT_SHARED, for good: by the first holder of another mutex of the name
 *              and by the thread that frees the registry, under the lock; by the ticker, where the
 *              counter is not the clock any more
 *     leave    the mutex -> 0, when it is destroyed, under the lock
 *
 * A holder reads `user` each time. A holder that read it just before it became shared writes once
 * more, and releases where it has held: what it writes stays and counts. From then on all mutexes
 * of the name go by samplers and timers, without a permit. Readers add up both.
 *
 * The words lie in the series' own cells: type-stable memory (arena.h), 0 in the child of a fork. A
 * mutex that still points at them after its series is gone finds another user there, or none. It
 * reads and writes no more than `user` then.
 *
 * Price: a second line of memory for each range sampler; 140 lines. Gain: docs/performance.md.
 */
#ifndef CREST_PERMITS_H
#define CREST_PERMITS_H

#include "cells/permit_cell.h"

#include <crest/mutex.h>

/* By the mutex's holder: whether its permit is raised. */
int crest_permit_is_raised(const crest_mutex *mutex);

/* By the mutex's holder, whose permit is not raised: raises it, claiming it if need be. 0 when the
 * mutex has none. Takes the lock to claim. */
int crest_permit_raise(crest_mutex *mutex);

/* By the mutex's holder, whose permit is raised. */
void crest_permit_lower(const crest_mutex *mutex);

/* When the mutex is destroyed. Takes the lock. */
void crest_permit_leave(crest_mutex *mutex);

#endif
