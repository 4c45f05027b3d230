/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking snapshots. See snapshot_inside.h and <crest/snapshot.h>.
 */
#include "base/alloc.h"
#include "base/atomic.h"
#include "base/uncancelled.h"
#include "cells/cells.h"
#include "clock/clock_inside.h"
#include "in_flight/in_flight_figures.h"
#include "metrics/child.h"
#include "metrics/series_merge.h"
#include "registry/growth.h"
#include "registry/series_state.h"
#include "snapshot/carried.h"
#include "snapshot/read_values.h"
#include "snapshot/snapshot_inside.h"
#include "snapshot/snapshot_windows.h"
#include "snapshot/streaming.h"

#include <string.h>

/* What a snapshot has of distributions: all of each; a tick's notes too; or nothing yet
 * (streaming). */
typedef enum snapshot_how { SNAPSHOT_PLAIN, SNAPSHOT_NOTES, SNAPSHOT_PASSING } snapshot_how;

/* The merged distributions of a stretch; 0 without memory. */
static int snapshot_merge_stretch(const crest_directory *directory,
                                  const crest_directory_stretch *stretch, int notes,
                                  uint64_t *values)
{
    for (uint32_t i = stretch->first; i < stretch->first + stretch->count; i++) {
        crest_series *series = directory->series[i];
        crest_distribution *merged =
            notes ? crest_series_merge_noted(series) : crest_series_merge(series);
        values[i] = (uint64_t)(uintptr_t)merged;
        if (merged == NULL)
            return 0;
    }
    return 1;
}

void crest_snapshot_values(const crest_snapshot *snapshot, crest_kind kind, size_t index,
                           size_t count, uint64_t *values)
{
    if (snapshot->passing != NULL)
        crest_passing_values(snapshot->passing, snapshot->directory, kind, index, count, values);
    else
        memcpy(values, snapshot->values + index, count * sizeof *values);
}

void crest_snapshot_totals(const crest_snapshot *snapshot, size_t index, const uint64_t *limits,
                           unsigned count, crest_totals *totals)
{
    if (snapshot->passing != NULL)
        crest_passing_totals(snapshot->passing, snapshot->directory, index, limits, count, totals);
    else
        crest_totals_of(crest_snapshot_distribution(snapshot, index), limits, count, totals);
}

int crest_snapshot_lacked(const crest_snapshot *snapshot)
{
    return snapshot->passing != NULL && snapshot->passing->lacked;
}

/* A snapshot without values yet; NULL without memory. */
static crest_snapshot *snapshot_new(crest_directory *directory, int passing)
{
    size_t values = passing ? 0 : directory->count;
    crest_snapshot *snapshot =
        crest_alloc(1, sizeof *snapshot + (values + 1) * sizeof snapshot->values[0]);
    if (snapshot == NULL)
        return NULL;
    snapshot->directory = directory;
    snapshot->time_ns = crest_now();
    snapshot->wall_ns = crest_clock_wall_ns();
    if (!passing)
        return snapshot;
    snapshot->passing = crest_alloc(1, sizeof *snapshot->passing);
    if (snapshot->passing != NULL)
        return snapshot;
    crest_alloc_free(snapshot);
    return NULL;
}

static crest_snapshot *snapshot_read(crest_registry_state *state, snapshot_how how)
{
    crest_in_flight_refresh();
    crest_directory *directory = crest_directory_of(state);
    if (directory == NULL)
        return NULL;
    crest_snapshot *snapshot = snapshot_new(directory, how == SNAPSHOT_PASSING);
    if (snapshot == NULL) {
        crest_directory_read(directory);
        crest_directory_drop(directory);
        return NULL;
    }
    if (how == SNAPSHOT_PASSING)
        return snapshot;
    int whole = 1;
    for (size_t i = 0; whole && i < directory->stretch_count; i++) {
        const crest_directory_stretch *stretch = &directory->stretches[i];
        if (stretch->distributions)
            whole =
                snapshot_merge_stretch(directory, stretch, how == SNAPSHOT_NOTES, snapshot->values);
        else
            crest_snapshot_read_values(directory, stretch->kind, stretch->first, stretch->count,
                                       snapshot->values + stretch->first);
    }
    crest_directory_read(directory);
    if (whole)
        return snapshot;
    crest_snapshot_free(snapshot);
    return NULL;
}

crest_snapshot *crest_snapshot_read(crest_registry_state *state)
{
    return snapshot_read(state, SNAPSHOT_PLAIN);
}

crest_snapshot *crest_snapshot_read_passing(crest_registry_state *state)
{
    return snapshot_read(state, SNAPSHOT_PASSING);
}

crest_snapshot *crest_snapshot_read_notes(crest_registry_state *state)
{
    uint64_t born = crest_life_last_birth();
    crest_snapshot *snapshot = snapshot_read(state, SNAPSHOT_NOTES);
    if (snapshot != NULL)
        snapshot->born = born;
    return snapshot;
}

void crest_snapshot_lose(crest_snapshot *snapshot, size_t index)
{
    if (snapshot->directory->series[index]->metric->layout != NULL)
        crest_distribution_free((crest_distribution *)(uintptr_t)snapshot->values[index]);
}

void crest_snapshot_move(crest_snapshot *snapshot, size_t from, size_t to)
{
    snapshot->values[to] = snapshot->values[from];
    crest_window_copies_move(snapshot->windows, from, to);
}

void crest_snapshot_free(crest_snapshot *snapshot)
{
    CREST_UNCANCELLED;
    if (snapshot == NULL)
        return;
    const crest_directory *directory = snapshot->directory;
    size_t stretches = snapshot->passing != NULL ? 0 : directory->stretch_count;
    for (size_t s = 0; s < stretches; s++) {
        const crest_directory_stretch *stretch = &directory->stretches[s];
        for (uint32_t i = 0; stretch->distributions && i < stretch->count; i++)
            crest_distribution_free(
                (crest_distribution *)(uintptr_t)snapshot->values[stretch->first + i]);
    }
    crest_carried_free(snapshot->carried);
    if (snapshot->passing != NULL)
        crest_directory_read(snapshot->directory);
    crest_alloc_free(snapshot->passing);
    crest_directory_drop(snapshot->directory);
    crest_alloc_free(snapshot->windows);
    crest_alloc_free(snapshot);
}

size_t crest_snapshot_size(const crest_snapshot *snapshot)
{
    return snapshot ? snapshot->directory->count : 0;
}

uint64_t crest_snapshot_time_ns(const crest_snapshot *snapshot)
{
    return snapshot ? snapshot->time_ns : 0;
}

uint64_t crest_snapshot_wall_ns(const crest_snapshot *snapshot)
{
    return snapshot ? snapshot->wall_ns : 0;
}

const crest_distribution *crest_snapshot_distribution(const crest_snapshot *snapshot, size_t index)
{
    const crest_metric *metric = snapshot->directory->series[index]->metric;
    return metric->layout ? (const crest_distribution *)(uintptr_t)snapshot->values[index] : NULL;
}

void crest_snapshot_describe(const crest_snapshot *snapshot, size_t index, crest_series_view *view)
{
    memset(view, 0, sizeof *view);
    const crest_series *series = snapshot->directory->series[index];
    const crest_metric *metric = series->metric;
    view->name = metric->name;
    view->exported = metric->exported;
    view->description = metric->description;
    view->kind = metric->kind;
    view->unit = metric->unit;
    unsigned constants = metric->state->constant_count;
    view->label_count =
        constants + (metric->open ? crest_metric_keys(metric) : crest_directory_own_labels(metric));
    view->label_keys = metric->label_keys - constants;
    view->label_values =
        constants != 0 ? snapshot->directory->labels[index] : crest_series_values(series);
    view->buckets = metric->layout ? &metric->buckets : NULL;
    view->life = snapshot->directory->births[index];
    view->quantiles = metric->quantiles;
    view->native = metric->native;
    view->native_factor = metric->native_factor;
    view->open = (int)metric->open;
}

crest_status crest_snapshot_series(const crest_snapshot *snapshot, size_t index,
                                   crest_series_view *view)
{
    if (snapshot == NULL || index >= snapshot->directory->count) {
        memset(view, 0, sizeof *view);
        return CREST_INVALID_ARGUMENT;
    }
    crest_snapshot_describe(snapshot, index, view);
    const crest_metric *metric = snapshot->directory->series[index]->metric;
    view->distribution = crest_snapshot_distribution(snapshot, index);
    uint64_t value = 0;
    if (metric->layout == NULL)
        crest_snapshot_values(snapshot, metric->kind, index, 1, &value);
    crest_view_set_value(view, value);
    if (snapshot->windows != NULL)
        crest_window_copies_find(snapshot->windows, index, CREST_WINDOW_S, &view->window);
    return CREST_OK;
}

unsigned crest_snapshot_windows(const crest_snapshot *snapshot,
                                unsigned window_s[CREST_WINDOWS_MAX])
{
    return snapshot != NULL ? crest_window_copies_windows(snapshot->windows, window_s) : 0;
}

crest_status crest_snapshot_window(const crest_snapshot *snapshot, size_t index, unsigned window_s,
                                   crest_window *window)
{
    memset(window, 0, sizeof *window);
    if (snapshot == NULL || index >= snapshot->directory->count)
        return CREST_INVALID_ARGUMENT;
    return crest_window_copies_find(snapshot->windows, index, window_s, window) ? CREST_OK
                                                                                : CREST_NOT_FOUND;
}

/* ---- finding ---- */

/* The wanted label values; NULL counts as "". */
typedef struct snapshot_wanted {
    const char *const *values;
    unsigned count;
} snapshot_wanted;

static const char *snapshot_wanted_value(const snapshot_wanted *wanted, unsigned i)
{
    if (i >= wanted->count || wanted->values == NULL || wanted->values[i] == NULL)
        return "";
    return wanted->values[i];
}

/* Whether the last label values of a series are the wanted ones; at most `constants` of the first
 * ones are left out. */
static int snapshot_is(const crest_series_view *series, unsigned constants,
                       const snapshot_wanted *wanted)
{
    unsigned left_out = series->label_count - wanted->count;
    if (wanted->count > series->label_count || (left_out != 0 && left_out != constants))
        return 0;
    for (unsigned i = 0; i < wanted->count; i++)
        if (strcmp(series->label_values[left_out + i], snapshot_wanted_value(wanted, i)) != 0)
            return 0;
    return 1;
}

/* Lower bound: the first series of a run that is not before the wanted values. Not compared: the
 * registry's labels, and a timer's outcomes, which are in another order than their names. */
static uint32_t snapshot_lower(const crest_directory *directory, const crest_directory_run *run,
                               const snapshot_wanted *own)
{
    uint32_t low = run->first, high = run->first + run->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const char *const *values = crest_series_values(directory->series[middle]);
        int before = 0;
        for (unsigned i = 0; i < run->metric->label_count && before == 0; i++)
            before = strcmp(values[i], snapshot_wanted_value(own, i));
        if (before < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Searches among the series of a metric; the directory's count if there is none. */
static size_t snapshot_search(const crest_snapshot *snapshot, const crest_directory_run *run,
                              const snapshot_wanted *wanted, crest_series_view *view)
{
    const crest_directory *directory = snapshot->directory;
    unsigned constants = run->metric->state->constant_count;
    snapshot_wanted own = *wanted;
    crest_snapshot_describe(snapshot, run->first, view);
    if (wanted->count == view->label_count && constants != 0) {
        own.values = own.values != NULL ? own.values + constants : NULL;
        own.count -= constants;
    }
    uint32_t first = snapshot_lower(directory, run, &own), end = run->first + run->count;
    for (uint32_t i = first; i < end && i < first + CREST_OUTCOME_COUNT; i++) {
        crest_snapshot_describe(snapshot, i, view);
        if (snapshot_is(view, constants, wanted))
            return i;
    }
    return directory->count;
}

crest_status crest_snapshot_find(const crest_snapshot *snapshot, const char *name,
                                 const char *const *values, unsigned count, crest_series_view *view)
{
    const snapshot_wanted wanted = {values, count};
    const crest_directory *directory =
        name != NULL && snapshot != NULL ? snapshot->directory : NULL;
    /* a metric keeps its name as long as the process runs */
    const crest_metric *metric =
        directory != NULL
            ? crest_metric_find((crest_registry_state *)(uintptr_t)directory->state, name)
            : NULL;
    const crest_directory_run *run =
        metric != NULL ? crest_directory_run_of(directory, metric) : NULL;
    if (run != NULL && run->count != 0) {
        size_t found = snapshot_search(snapshot, run, &wanted, view);
        if (found != directory->count)
            return crest_snapshot_series(snapshot, found, view);
    }
    memset(view, 0, sizeof *view);
    return CREST_NOT_FOUND;
}
