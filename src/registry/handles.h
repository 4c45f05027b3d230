/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles: what they lead to, and those that record nowhere. How a handle comes to lead anywhere is
 * in instruments/resolve.h.
 */
#ifndef CREST_HANDLES_H
#define CREST_HANDLES_H

#include "registry/metric_inside.h"

/* The slot of the series that a handle leads to, also of one that was released; 0 if there is none.
 * Any thread, no lock. */
uint32_t crest_handle_slot(const crest_handle *handle);

/* The shared part of the series that a handle leads to, likewise; or NULL. */
void *crest_handle_shared(const crest_handle *handle);

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
