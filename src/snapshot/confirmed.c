/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what was delivered to the words of the state file. See confirmed.h.
 */
#include "snapshot/confirmed.h"
#include "base/lock.h"
#include "cells/delivered_cells.h"
#include "distributions/delivered_counts.h"
#include "registry/series_state.h"
#include "snapshot/snapshot_inside.h"
#include "state/state_file.h"

#include <crest/reporter.h>

/* Series for which the lock is held at a time: some 10 us of counters, 100 us of histograms. */
#define CONFIRMED_BATCH 256u

/* The series, if what was delivered of it can go on: of a life that has ended nothing does. */
static const crest_series *confirmed_series(const crest_snapshot *snapshot, size_t index)
{
    const crest_series *series = snapshot->directory->series[index];
    return series->slot != 0 && crest_series_birth(series) == snapshot->directory->births[index]
               ? series
               : NULL;
}

static void confirmed_counter(const crest_snapshot *snapshot, size_t index, uint64_t counter)
{
    const crest_series *series = confirmed_series(snapshot, index);
    if (series != NULL && series->metric->kind == CREST_KIND_COUNTER)
        crest_delivered_raise(series->slot, counter);
}

static void confirmed_counts(const crest_snapshot *snapshot, size_t index,
                             const crest_distribution *counts)
{
    const crest_series *series = confirmed_series(snapshot, index);
    if (series != NULL && series->metric->layout != NULL && counts != NULL &&
        crest_layout_equal(series->metric->layout, &counts->layout))
        crest_delivered_raise_counts(series->slot, counts);
}

static void confirmed_note(const crest_snapshot *snapshot, size_t index)
{
    uint64_t value = snapshot->values[index];
    if (snapshot->directory->series[index]->metric->layout != NULL)
        confirmed_counts(snapshot, index, (const crest_distribution *)(uintptr_t)value);
    else
        confirmed_counter(snapshot, index, value);
}

void crest_confirmed_all(const crest_snapshot *snapshot)
{
    size_t size = crest_snapshot_size(snapshot), at = 0;
    while (crest_state_header_own() != NULL && at < size) {
        crest_lock_saved saved;
        size_t end = size - at > CONFIRMED_BATCH ? at + CONFIRMED_BATCH : size;
        crest_lock_take(&saved);
        for (; at < end; at++)
            confirmed_note(snapshot, at);
        crest_lock_drop(&saved);
    }
}

static int confirmed_is_of(const crest_report *report, size_t index)
{
    return report != NULL && index < crest_snapshot_size(report->snapshot) &&
           crest_state_header_own() != NULL;
}

void crest_report_delivered(const crest_report *report, size_t index, uint64_t counter)
{
    crest_lock_saved saved;
    if (!confirmed_is_of(report, index))
        return;
    crest_lock_take(&saved);
    confirmed_counter(report->snapshot, index, counter);
    crest_lock_drop(&saved);
}

void crest_report_delivered_counts(const crest_report *report, size_t index,
                                   const crest_distribution *counts)
{
    crest_lock_saved saved;
    if (!confirmed_is_of(report, index))
        return;
    crest_lock_take(&saved);
    confirmed_counts(report->snapshot, index, counts);
    crest_lock_drop(&saved);
}
