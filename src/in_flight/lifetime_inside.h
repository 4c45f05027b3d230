/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ending series, for the library's own callers: see <crest/lifetime.h> for the program's.
 */
#ifndef CREST_LIFETIME_INSIDE_H
#define CREST_LIFETIME_INSIDE_H

#include "metrics/metric_inside.h"

/* Retires all series of a registry that is being freed, without a last export. Takes the lock, and
 * records what was in flight. */
void crest_registry_retire(crest_registry_state *state);

/* Takes a handle's child from all pages at once, as crest_child_withdraw; it may come back. For
 * values whose source is gone. Takes the lock. CREST_INVALID_ARGUMENT for stages. */
crest_status crest_handle_withdraw(crest_handle *handle);
crest_status crest_handle_readmit(crest_handle *handle);

#endif
