/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding a report's series in the report before. See <crest/reporter.h>.
 *
 * Both snapshots are sorted in the same order, and they differ by the few series that came or went
 * in between. So a series is where it was found the last time, but for how many were passed since
 * then (the snapshot's `shift`); where it is not, the search spreads from there.
 */
#include "atomic.h"
#include "reading.h"

#include <crest/reporter.h>
#include <string.h>

/* The first index at or after which no series of the directory comes before this one. */
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

/* Where a series is in a directory, from a guess on; 0 if it is not there, and *place is then
 * where the next one is to be looked for. */
static int previous_find(const crest_directory *directory, const crest_series *series, size_t guess,
                         size_t *place)
{
    *place = guess;
    if (guess < directory->count && directory->series[guess] == series)
        return 1;
    size_t at = previous_lower(directory, series, guess);
    *place = at;
    /* a retired series and the one that replaces it are alike */
    for (; at < directory->count && crest_directory_compare(directory->series[at], series) == 0;
         at++) {
        if (directory->series[at] == series) {
            *place = at;
            return 1;
        }
    }
    return 0;
}

crest_status crest_report_previous(const crest_report *report, size_t index,
                                   crest_series_view *view)
{
    memset(view, 0, sizeof *view);
    if (report == NULL || index >= crest_snapshot_size(report->snapshot))
        return CREST_INVALID_ARGUMENT;
    if (report->previous == NULL)
        return CREST_NOT_FOUND;
    const crest_directory *now = report->snapshot->directory, *then = report->previous->directory;
    /* one reader's note for its next look: no other memory hangs on it */
    uint64_t *shift = (uint64_t *)(uintptr_t)&report->snapshot->shift;
    size_t guess = index - (size_t)crest_atomic_load(shift), place;
    int found = previous_find(then, now->series[index], guess, &place);
    crest_atomic_store(shift, index - place + !found);
    if (found && then->births[place] == now->births[index])
        return crest_snapshot_series(report->previous, place, view);
    return CREST_NOT_FOUND;
}
