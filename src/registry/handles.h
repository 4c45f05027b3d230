/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles: from what a program declares to the slot that the hot path needs.
 */
#ifndef CREST_HANDLES_H
#define CREST_HANDLES_H

#include "registry/metric_inside.h"

/*
 * Under the lock: the handle's slot, registering what it declares if need be. 0 when it has none;
 * *status then says why. `kind` is the kind of handle that the caller has: an outcome of a timer,
 * for one, looks like a histogram but declares a timer.
 */
uint32_t crest_handle_resolve(crest_handle *handle, crest_kind kind, crest_status *status);

/* Under the lock: the same for an outcome of a timer. */
uint32_t crest_timer_resolve(crest_timer *timer, crest_outcome outcome, crest_status *status);

/* The slot of the series that a handle leads to, also of one that was released; 0 if there is none.
 * Any thread, no lock. */
uint32_t crest_handle_slot(const crest_handle *handle);

/* The shared part of the series that a handle leads to, likewise; or NULL. */
void *crest_handle_shared(const crest_handle *handle);

/* Counts `times` records through a handle that could not be made: late ones where the series has
 * been retired, misuse otherwise. Any thread, any handler, any lock held. */
void crest_handle_refused(const crest_handle *handle, crest_status why, uint64_t times);

/* Why this handle records nowhere for good; CREST_OK if it may record. Any thread, no lock. */
crest_status crest_handle_dead(const crest_handle *handle);

/* The metric's name for messages, or NULL. Any thread, no lock. */
const char *crest_handle_name(const crest_handle *handle);

/* The series that a handle leads to, or NULL. Any thread, no lock. */
crest_series *crest_handle_series(const crest_handle *handle);

/* A handle that records nowhere, because of this status: what calls that promise a handle give when
 * there is none. Never NULL. */
crest_own_handle *crest_handle_dead_of(crest_kind kind, crest_status status);

#endif
