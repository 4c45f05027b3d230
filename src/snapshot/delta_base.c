/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding a report's series in the report before. See delta_base.h and <crest/reporter.h>.
 *
 * Both snapshots are sorted alike, and they differ by the few series that came or went in between.
 * So the search starts where the series was found last time, moved by the snapshot's `shift`: how
 * many series were passed since then. It spreads from there.
 */
#include "snapshot/delta_base.h"
#include "base/alloc.h"
#include "base/atomic.h"
#include "registry/inherited.h"
#include "registry/series_state.h"
#include "snapshot/read_values.h"

#include <crest/reporter.h>
#include <string.h>

/* Lower bound: the first index at or after which no series of the directory comes before this
 * one. */
static size_t previous_lower(const crest_directory *directory, const crest_series *series,
                             size_t guess)
{
    size_t low = 0, high = directory->count, step = 1;
    if (guess > high)
        guess = high;
    if (guess < high && crest_directory_compare(directory->series[guess], series) < 0) {
        low = guess + 1;
        while (low + step < high &&
               crest_directory_compare(directory->series[low + step], series) < 0) {
            low += step + 1;
            step *= 2;
        }
        if (low + step < high)
            high = low + step;
    } else {
        high = guess;
        while (high - low >= step &&
               crest_directory_compare(directory->series[high - step], series) >= 0) {
            high -= step;
            step *= 2;
        }
        if (high - low >= step)
            low = high - step + 1;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (crest_directory_compare(directory->series[middle], series) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Finds a series in a directory, from a guess on. 0 if it is not there; *place is then where to
 * look for the next series. */
static int previous_find(const crest_directory *directory, const crest_series *series, size_t guess,
                         size_t *place)
{
    *place = guess;
    if (guess < directory->count && directory->series[guess] == series)
        return 1;
    size_t at = previous_lower(directory, series, guess);
    *place = at;
    /* a retired series and its replacement compare as equal */
    for (; at < directory->count && crest_directory_compare(directory->series[at], series) == 0;
         at++) {
        if (directory->series[at] == series) {
            *place = at;
            return 1;
        }
    }
    return 0;
}

/* ---- what is carried ---- */

/* Whether this life of the series may return to snapshots. A retired life never does. */
static int previous_may_return(const crest_series *series, uint64_t birth)
{
    return crest_series_birth(series) == birth && crest_series_life(series) != CREST_LIFE_GONE &&
           !crest_series_retired(series);
}

/* Stores the first `room` of the series that `next` lacks into `to`, and returns how many there
 * are. */
static size_t previous_lacking(const crest_directory *next, const crest_snapshot *before,
                               crest_carried *to, size_t room)
{
    const crest_directory *then = before->directory;
    size_t count = 0, place = 0;
    for (size_t i = 0; then != next && i < then->count; i++) {
        const crest_series *series = then->series[i];
        int found = previous_find(next, series, place, &place);
        if (!found && previous_may_return(series, then->births[i])) {
            if (count < room)
                to[count] = (crest_carried){series, before->values[i], then->births[i]};
            count++;
        }
        place += (size_t)found;
    }
    for (size_t i = 0; before->carried != NULL && i < before->carried->count; i++) {
        const crest_carried *one = &before->carried->all[i];
        if (!previous_may_return(one->series, one->birth) ||
            previous_find(next, one->series, 0, &place))
            continue;
        if (count < room)
            to[count] = *one;
        count++;
    }
    return count;
}

crest_status crest_previous_prepare(crest_snapshot *next, const crest_snapshot *before)
{
    if (before == NULL || (before->directory == next->directory && before->carried == NULL))
        return CREST_OK;
    size_t count = previous_lacking(next->directory, before, NULL, 0);
    if (count == 0)
        return CREST_OK;
    crest_carried_list *carried = crest_alloc(1, sizeof *carried + count * sizeof carried->all[0]);
    if (carried == NULL)
        return CREST_NO_MEMORY;
    /* some may have gone meanwhile; no other has become one that may return */
    size_t stored = previous_lacking(next->directory, before, carried->all, count);
    carried->count = stored < count ? stored : count;
    crest_carried_sort(carried);
    next->carried = carried;
    return CREST_OK;
}

void crest_previous_commit(crest_snapshot *next, crest_snapshot *before)
{
    if (next->carried == NULL || before == NULL)
        return;
    next->carried->taken = 1;
    for (size_t i = 0; i < before->directory->count; i++)
        if (crest_carried_find(next->carried, before->directory->series[i]) != NULL)
            before->values[i] = 0;
    for (size_t i = 0; before->carried != NULL && i < before->carried->count; i++)
        if (crest_carried_find(next->carried, before->carried->all[i].series) != NULL)
            before->carried->all[i].value = 0;
}

/* ---- the public function ---- */

/* A view as of now with the values of the report before. */
static void previous_view(const crest_report *report, size_t index, const crest_carried *then,
                          crest_series_view *view)
{
    crest_snapshot_series(report->snapshot, index, view);
    memset(&view->window, 0, sizeof view->window);
    if (view->distribution != NULL)
        view->distribution = (const crest_distribution *)(uintptr_t)then->value;
    else
        crest_view_set_value(view, then->value);
}

/* A series that no report had: what the dead run delivered of what it inherited. */
static crest_status previous_inherited(const crest_report *report, size_t index,
                                       crest_series_view *view)
{
    const crest_directory *now = report->snapshot->directory;
    const crest_series *series = now->series[index];
    const crest_inherited *inherited = crest_inherited_of(series);
    if (inherited == NULL || inherited->birth != now->births[index])
        return CREST_NOT_FOUND;
    crest_carried then = {.series = series, .value = inherited->delivered};
    if (inherited->past != NULL)
        then.value = (uint64_t)(uintptr_t)inherited->past;
    previous_view(report, index, &then, view);
    return CREST_OK;
}

crest_status crest_report_previous(const crest_report *report, size_t index,
                                   crest_series_view *view)
{
    memset(view, 0, sizeof *view);
    if (report == NULL || index >= crest_snapshot_size(report->snapshot))
        return CREST_INVALID_ARGUMENT;
    if (report->previous == NULL)
        return previous_inherited(report, index, view);
    const crest_directory *now = report->snapshot->directory, *then = report->previous->directory;
    const crest_series *series = now->series[index];
    /* a hint for this reader's next search: no other memory depends on it */
    uint64_t *shift = (uint64_t *)(uintptr_t)&report->snapshot->shift;
    size_t place;
    int found = previous_find(then, series, index - (size_t)crest_atomic_load(shift), &place);
    crest_atomic_store(shift, index - place + !found);
    if (found && then->births[place] == now->births[index])
        return crest_snapshot_series(report->previous, place, view);
    const crest_carried *carried = crest_carried_find(report->previous->carried, series);
    if (found || carried == NULL || carried->birth != now->births[index])
        return previous_inherited(report, index, view);
    previous_view(report, index, carried, view);
    return CREST_OK;
}
