/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what was delivered to the words of the state file. See confirmed.h.
 */
#include "snapshot/confirmed.h"
#include "base/lock.h"
#include "cells/delivered_cells.h"
#include "registry/series_state.h"
#include "snapshot/snapshot_inside.h"
#include "state/state_file.h"

#include <crest/reporter.h>

/* Series for which the lock is held at a time. */
#define CONFIRMED_BATCH 256u

/* Under the lock. Of a life that has ended nothing goes on. */
static void confirmed_note(const crest_snapshot *snapshot, size_t index, uint64_t counter)
{
    const crest_series *series = snapshot->directory->series[index];
    if (series->metric->kind == CREST_KIND_COUNTER && series->slot != 0 &&
        crest_series_birth(series) == snapshot->directory->births[index])
        crest_delivered_raise(series->slot, counter);
}

void crest_confirmed_all(const crest_snapshot *snapshot)
{
    size_t size = crest_snapshot_size(snapshot), at = 0;
    while (crest_state_header_own() != NULL && at < size) {
        crest_lock_saved saved;
        size_t end = size - at > CONFIRMED_BATCH ? at + CONFIRMED_BATCH : size;
        crest_lock_take(&saved);
        for (; at < end; at++)
            confirmed_note(snapshot, at, snapshot->values[at]);
        crest_lock_drop(&saved);
    }
}

void crest_report_delivered(const crest_report *report, size_t index, uint64_t counter)
{
    crest_lock_saved saved;
    if (report == NULL || index >= crest_snapshot_size(report->snapshot) ||
        crest_state_header_own() == NULL)
        return;
    crest_lock_take(&saved);
    confirmed_note(report->snapshot, index, counter);
    crest_lock_drop(&saved);
}
