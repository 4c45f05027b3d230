/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of series, for the library's own callers: see <crest/lifetime.h> for the program's.
 */
#ifndef CREST_LIFETIME_INSIDE_H
#define CREST_LIFETIME_INSIDE_H

#include "registry/metric_inside.h"

/* All series of a registry that is freed come to their end, which is not exported. Takes the lock,
 * and records what was in flight. */
void crest_registry_retire(crest_registry_state *state);

/* What a handle leads to leaves all pages at once, and comes back; taking the lock: for values of
 * which nothing is known any more, as their source has gone. Of stages, CREST_INVALID_ARGUMENT. */
crest_status crest_handle_withdraw(crest_handle *handle);
crest_status crest_handle_readmit(crest_handle *handle);

#endif
