/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles: what they lead to, and dead handles, which record nowhere. How a handle gets its series
 * is in instruments/resolve.h.
 */
#ifndef CREST_HANDLES_H
#define CREST_HANDLES_H

#include "metrics/metric_inside.h"

/* The slot of a handle's series, also of a released one; 0 if there is none. Any thread, no lock.
 */
uint32_t crest_handle_slot(const crest_handle *handle);

/* The shared part of a handle's series, or NULL. Any thread, no lock. */
void *crest_handle_shared(const crest_handle *handle);

/* The status for which a dead handle records nowhere; CREST_OK if it may record. Any thread, no
 * lock. */
crest_status crest_handle_dead(const crest_handle *handle);

/* The metric's name for messages, or NULL. Any thread, no lock. */
const char *crest_handle_name(const crest_handle *handle);

/* The series that a handle leads to, or NULL. Any thread, no lock. */
crest_series *crest_handle_series(const crest_handle *handle);

/* The dead handle for this status, which calls that promise a handle return on failure. Never NULL.
 */
crest_own_handle *crest_handle_dead_of(crest_kind kind, crest_status status);

#endif
