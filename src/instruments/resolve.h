/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolving: from what a program declares to the slot that the hot path needs.
 */
#ifndef CREST_RESOLVE_H
#define CREST_RESOLVE_H

#include "metrics/metric_inside.h"

/*
 * Under the lock: the handle's slot, registering its declaration if need be. 0 when it has none;
 * *status says why. `kind` is the kind of the caller's handle: a timer's outcome, for one, looks
 * like a histogram but declares a timer.
 */
uint32_t crest_handle_resolve(crest_handle *handle, crest_kind kind, crest_status *status);

/* Under the lock: the same for a timer's outcome. */
uint32_t crest_timer_resolve(crest_timer *timer, crest_outcome outcome, crest_status *status);

/* Counts `times` records through a handle that could not be resolved: as late ones if its series
 * was retired, as misuse otherwise. Any thread, any handler; not under the lock. */
void crest_handle_refused(const crest_handle *handle, crest_status why, uint64_t times);

#endif
