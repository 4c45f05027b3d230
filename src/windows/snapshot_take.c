/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking a whole snapshot. See snapshot_take.h and <crest/snapshot.h>.
 */
#include "windows/snapshot_take.h"
#include "base/uncancelled.h"
#include "polls/poller.h"
#include "registry/growth.h"
#include "windows/tick_listeners.h"
#include "windows/ticker.h"

#include <crest/page.h>

/* How the values are read. */
typedef crest_snapshot *take_read(crest_registry_state *state);

static crest_snapshot *take_snapshot(crest_registry *registry, int windows, take_read *read)
{
    crest_registry_state *state = crest_registry_state_of(registry);
    crest_listeners_snapshot();
    crest_poller_round(state);
    if (state != NULL)
        crest_growth_show_again(state);
    crest_snapshot *snapshot = state ? read(state) : NULL;
    if (snapshot == NULL)
        return NULL;
    crest_growth_exported(state, snapshot->time_ns);
    if (windows < CREST_PAGE_WINDOWS_RANGES ||
        crest_ticker_copy(snapshot->directory, windows < CREST_PAGE_WINDOWS_ALL,
                          &snapshot->windows))
        return snapshot;
    crest_snapshot_free(snapshot);
    return NULL;
}

crest_snapshot *crest_snapshot_take_windows(crest_registry *registry, int windows)
{
    CREST_UNCANCELLED;
    return take_snapshot(registry, windows, crest_snapshot_read);
}

crest_snapshot *crest_snapshot_take(crest_registry *registry)
{
    CREST_UNCANCELLED;
    return take_snapshot(registry, CREST_PAGE_WINDOWS_ALL, crest_snapshot_read);
}

crest_snapshot *crest_snapshot_take_passing(crest_registry *registry)
{
    return take_snapshot(registry, CREST_PAGE_WINDOWS_RANGES, crest_snapshot_read_passing);
}
