/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freeing a registry: every room that keeps something of it lets go, in this order:
 *
 *     1. its gauges of operations in flight are left alone
 *     2. its series are retired, and what was in flight of them is recorded (in_flight/lifetime)
 *     3. its metrics give back their shares of the table of operations in flight
 *     4. its polls are not called any more; its windows go; its directory goes
 *     5. what lies in the arena is remembered for the next registry like it (registry/remembered)
 */
#include "base/alloc.h"
#include "base/lock.h"
#include "base/uncancelled.h"
#include "in_flight/lifetime_inside.h"
#include "instruments/in_flight_gauges.h"
#include "instruments/keyed_series.h"
#include "polls/poller.h"
#include "registry/remembered.h"
#include "snapshot/directory.h"
#include "windows/ticker.h"

void crest_registry_free(crest_registry *registry)
{
    CREST_UNCANCELLED;
    if (registry == NULL || !registry->heap)
        return;
    crest_registry_state *state = registry->state;
    crest_lock_saved saved;
    crest_in_flight_figures_forget(state);
    crest_registry_retire(state);
    crest_lock_take(&saved);
    for (crest_metric *metric = state->metrics; metric != NULL; metric = metric->next)
        crest_in_flight_share_give(metric);
    crest_lock_drop(&saved);
    crest_poller_forget(state);
    crest_ticker_forget(state);
    crest_directory_forget(state);
    crest_lock_take(&saved);
    crest_registry_remember(state);
    crest_lock_drop(&saved);
    crest_alloc_free(registry);
}
