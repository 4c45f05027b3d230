/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking snapshots. See reading.h and <crest/snapshot.h>.
 */
#include "alloc.h"
#include "atomic.h"
#include "cells.h"
#include "children.h"
#include "clock_inside.h"
#include "in_flight_figures.h"
#include "lives.h"
#include "poller.h"
#include "range_cell.h"
#include "reading.h"
#include "series.h"
#include "slowest.h"
#include "ticker.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Guards every registry's `directory` and the directories' users. Held while a directory is made,
 * so that each has all series that the one before had. Not taken under any other lock. */
static pthread_mutex_t snapshot_lock = PTHREAD_MUTEX_INITIALIZER;

/* In a forked child whoever held the lock is not there; what it guards is whole or is rebuilt. */
static void snapshot_forked(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    snapshot_lock = fresh;
}

__attribute__((constructor)) static void snapshot_constructor(void)
{
    pthread_atfork(NULL, NULL, snapshot_forked);
}

/* All of them. Registries live in arenas, where leak checkers look for no pointers: by this list
 * they see that what a registry keeps is in use. */
static crest_directory *snapshot_directories;

static void directory_free(crest_directory *directory)
{
    crest_alloc_free(directory->labels);
    crest_alloc_free(directory);
}

/* Under the lock: one user less. The last of them frees. */
static void directory_drop_locked(crest_directory *directory)
{
    if (directory == NULL || --directory->users != 0)
        return;
    crest_directory **at = &snapshot_directories;
    while (*at != directory)
        at = &(*at)->next;
    *at = directory->next;
    directory_free(directory);
}

void crest_directory_drop(crest_directory *directory)
{
    pthread_mutex_lock(&snapshot_lock);
    directory_drop_locked(directory);
    pthread_mutex_unlock(&snapshot_lock);
}

static const crest_metric *directory_metric(const crest_series *series)
{
    return series->metric;
}

int crest_directory_compare(const crest_series *x, const crest_series *y)
{
    const crest_metric *m = directory_metric(x), *n = directory_metric(y);
    if (m != n) {
        int by_name = strcmp(m->exported, n->exported);
        return by_name ? by_name : strcmp(m->name, n->name);
    }
    for (unsigned i = 0; i < m->label_count; i++) {
        int by_value = strcmp(crest_series_values(x)[i], crest_series_values(y)[i]);
        if (by_value != 0)
            return by_value;
    }
    return (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

static int directory_compare(const void *a, const void *b)
{
    return crest_directory_compare(*(crest_series *const *)a, *(crest_series *const *)b);
}

/* The series of one metric, as below. */
static void directory_walk_metric(const crest_metric *metric, crest_series **to, size_t room,
                                  size_t *count)
{
    crest_children_cursor at = {NULL, 0, NULL};
    for (const crest_child *child; (child = crest_children_next(metric, &at)) != NULL;)
        for (unsigned i = 0; i < CREST_OUTCOME_COUNT; i++) {
            crest_series *series = crest_child_at(child, i);
            if (series == NULL || !crest_series_shown(series))
                continue;
            if (*count < room)
                to[*count] = series;
            ++*count;
        }
}

/* Walks over all series: counts them into *count, and stores the first `room` of them. */
static void directory_walk(crest_registry_state *state, crest_series **to, size_t room,
                           size_t *count)
{
    *count = 0;
    /* acquire: partners of the release stores in registry.c and series.c */
    const crest_metric *metric = crest_atomic_load_ptr_acquire(CREST_PTR(&state->metrics));
    for (; metric != NULL; metric = metric->next) {
        size_t before = *count;
        uint64_t version;
        do {
            version = crest_children_version(metric);
            *count = before;
            directory_walk_metric(metric, to, room, count);
        } while (crest_children_version(metric) != version);
    }
}

/* A series' labels but for the registry's. */
static unsigned directory_own_labels(const crest_metric *metric)
{
    return metric->label_count + (metric->kind == CREST_KIND_TIMER);
}

/* Puts the registry's labels before those of each series; 0 without memory. */
static int directory_label(crest_directory *directory)
{
    const crest_registry_state *state = directory->state;
    unsigned constants = state->constant_count;
    if (constants == 0)
        return 1;
    size_t all = directory->count * (1 + constants);
    for (size_t i = 0; i < directory->count; i++)
        all += directory_own_labels(directory_metric(directory->series[i]));
    directory->labels = crest_alloc(all, sizeof(void *));
    if (directory->labels == NULL)
        return 0;
    const char **next = (const char **)(directory->labels + directory->count);
    for (size_t i = 0; i < directory->count; i++) {
        const crest_series *series = directory->series[i];
        unsigned own = directory_own_labels(directory_metric(series));
        directory->labels[i] = next;
        memcpy(next, state->constant_values, constants * sizeof *next);
        memcpy(next + constants, crest_series_values(series), own * sizeof *next);
        next += constants + own;
    }
    return 1;
}

crest_directory *crest_directory_new(const crest_registry_state *state, size_t count)
{
    crest_directory *directory = crest_alloc(
        1, sizeof *directory + count * (sizeof directory->series[0] + sizeof *directory->births));
    if (directory == NULL)
        return NULL;
    directory->state = state;
    directory->count = count;
    directory->births = (uint8_t *)(directory->series + count);
    return directory;
}

/* Under the lock: it is filled and sorted; 0 without memory, and it is freed. */
static int directory_finish(crest_directory *directory)
{
    if (!directory_label(directory)) {
        crest_alloc_free(directory);
        return 0;
    }
    directory->next = snapshot_directories;
    snapshot_directories = directory;
    return 1;
}

int crest_directory_ready(crest_directory *directory)
{
    pthread_mutex_lock(&snapshot_lock);
    directory->users = 1;
    int ready = directory_finish(directory);
    pthread_mutex_unlock(&snapshot_lock);
    return ready;
}

/* Under the lock: which lives these are. A series that is shown cannot begin another one while the
 * lock is held, because its slot would have to rest out first. */
static void directory_note_births(crest_directory *directory)
{
    for (size_t i = 0; i < directory->count; i++)
        directory->births[i] = crest_series_birth(directory->series[i]);
}

/*
 * Under the lock: a new directory, without users yet. What was added while it was made may or may
 * not be in it, and the next one has it, because the generation is odd before a series can be found
 * and grows afterwards.
 * The lists grow while they are walked: a walk that finds no room for all is made again.
 */
static crest_directory *directory_make(crest_registry_state *state)
{
    size_t room, count;
    directory_walk(state, NULL, 0, &room);
    for (;;) {
        room += room / 8 + 8;
        uint64_t generation = crest_atomic_load_acquire(&state->generation);
        crest_directory *directory = crest_directory_new(state, room);
        if (directory == NULL)
            return NULL;
        directory_walk(state, directory->series, room, &count);
        directory->count = count;
        directory->generation = generation;
        if (count <= room) {
            qsort(directory->series, count, sizeof directory->series[0], directory_compare);
            directory_note_births(directory);
            return directory_finish(directory) ? directory : NULL;
        }
        crest_alloc_free(directory);
        room = count;
    }
}

/*
 * The registry's directory, remade if series came or went; with one more user, and reader. NULL
 * without memory.
 * A thread that forks meanwhile hands its child what is there at any step: a directory that the
 * registry keeps has been counted before it is kept, and is dropped after another is.
 */
static crest_directory *directory_of(crest_registry_state *state)
{
    pthread_mutex_lock(&snapshot_lock);
    crest_directory *kept = state->directory, *directory = kept;
    uint64_t generation = crest_atomic_load_acquire(&state->generation);
    if (kept != NULL && kept->generation == generation && (generation & 1) == 0) {
        kept->users++;
    } else if ((directory = directory_make(state)) != NULL) {
        /* nobody would drop what a freed registry kept */
        int keep = !crest_atomic_load32(&state->dead);
        directory->users = keep ? 2 : 1;
        if (keep) {
            crest_atomic_store_ptr_release(CREST_PTR(&state->directory), directory);
            directory_drop_locked(kept);
        }
    }
    if (directory != NULL)
        directory->readers++;
    pthread_mutex_unlock(&snapshot_lock);
    return directory;
}

/* The values have been read: slots that the directory knows may get new series. */
static void directory_read(crest_directory *directory)
{
    pthread_mutex_lock(&snapshot_lock);
    directory->readers--;
    pthread_mutex_unlock(&snapshot_lock);
}

int crest_directories_quiet(const crest_registry_state *state, uint64_t generation)
{
    int quiet = 1;
    pthread_mutex_lock(&snapshot_lock);
    for (const crest_directory *one = snapshot_directories; one != NULL; one = one->next)
        quiet &= one->state != state || one->readers == 0 || one->generation >= generation;
    pthread_mutex_unlock(&snapshot_lock);
    return quiet;
}

void crest_registry_forget(crest_registry_state *state)
{
    crest_poller_forget(state);
    crest_ticker_forget(state);
    pthread_mutex_lock(&snapshot_lock);
    crest_directory *old = state->directory;
    state->directory = NULL;
    pthread_mutex_unlock(&snapshot_lock);
    crest_directory_drop(old);
}

/* The merged distribution of a series; NULL without memory. */
static crest_distribution *snapshot_merge(const crest_series *series, int notes)
{
    crest_distribution *merged = crest_distribution_make(series->metric->layout);
    /* before the counts: what is recorded in between is in them and noted the next time */
    if (notes && merged != NULL)
        crest_slowest_take(series, &merged->note);
    int whole = merged != NULL && crest_distribution_add_shared(merged, series->shared);
    for (const crest_thread_record *record = crest_cells_records(); whole && record != NULL;
         record = record->next) {
        const uint64_t *cell = crest_cells_of(record, crest_atomic_load32(&series->slot));
        /* acquire: partner of the release store in record.c */
        const crest_shard *shard =
            cell ? (const crest_shard *)(uintptr_t)crest_atomic_load_acquire(cell) : NULL;
        if (shard != NULL)
            whole = crest_distribution_add_shard(merged, shard);
    }
    if (!whole) {
        crest_distribution_free(merged);
        return NULL;
    }
    crest_distribution_finish(merged);
    return merged;
}

crest_distribution *crest_series_merge(const crest_series *series)
{
    return snapshot_merge(series, 0);
}

/* One series' value as it lies in the flat array; 0 in *whole without memory. */
static uint64_t snapshot_value(const crest_series *series, int notes, int *whole)
{
    switch (series->metric->kind) {
    case CREST_KIND_COUNTER: return crest_cells_sum(crest_atomic_load32(&series->slot));
    case CREST_KIND_GAUGE: return crest_atomic_load(series->shared);
    case CREST_KIND_RANGE_SAMPLER: return (uint64_t)crest_range_cell_value(series->shared);
    default: {
        crest_distribution *merged = snapshot_merge(series, notes);
        *whole = merged != NULL;
        return (uint64_t)(uintptr_t)merged;
    }
    }
}

static crest_snapshot *snapshot_read(crest_registry_state *state, int notes)
{
    crest_in_flight_refresh();
    crest_directory *directory = directory_of(state);
    if (directory == NULL)
        return NULL;
    crest_snapshot *snapshot =
        crest_alloc(1, sizeof *snapshot + (directory->count + 1) * sizeof snapshot->values[0]);
    if (snapshot == NULL) {
        directory_read(directory);
        crest_directory_drop(directory);
        return NULL;
    }
    snapshot->directory = directory;
    snapshot->time_ns = crest_now();
    snapshot->wall_ns = crest_clock_wall_ns();
    int whole = 1;
    for (size_t i = 0; whole && i < directory->count; i++)
        snapshot->values[i] = snapshot_value(directory->series[i], notes, &whole);
    directory_read(directory);
    if (whole)
        return snapshot;
    crest_snapshot_free(snapshot);
    return NULL;
}

crest_snapshot *crest_snapshot_read(crest_registry_state *state)
{
    return snapshot_read(state, 0);
}

crest_snapshot *crest_snapshot_read_notes(crest_registry_state *state)
{
    return snapshot_read(state, 1);
}

crest_snapshot *crest_snapshot_take(crest_registry *registry)
{
    crest_registry_state *state = crest_registry_state_of(registry);
    crest_poller_round(state);
    if (state != NULL)
        crest_lives_look(state);
    crest_snapshot *snapshot = state ? crest_snapshot_read(state) : NULL;
    if (snapshot != NULL)
        crest_lives_exported(state, snapshot->time_ns);
    if (snapshot == NULL || !crest_ticker_observes(state))
        return snapshot;
    snapshot->windows = crest_alloc(snapshot->directory->count, sizeof *snapshot->windows);
    if (snapshot->windows == NULL) {
        crest_snapshot_free(snapshot);
        return NULL;
    }
    crest_ticker_read(state, snapshot->directory->series, snapshot->directory->count,
                      snapshot->windows);
    return snapshot;
}

void crest_snapshot_lose(crest_snapshot *snapshot, size_t index)
{
    if (directory_metric(snapshot->directory->series[index])->layout != NULL)
        crest_distribution_free((crest_distribution *)(uintptr_t)snapshot->values[index]);
}

void crest_snapshot_move(crest_snapshot *snapshot, size_t from, size_t to)
{
    snapshot->values[to] = snapshot->values[from];
    if (snapshot->windows != NULL)
        snapshot->windows[to] = snapshot->windows[from];
}

void crest_snapshot_free(crest_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    for (size_t i = 0; i < snapshot->directory->count; i++)
        crest_snapshot_lose(snapshot, i);
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
    const crest_metric *metric = directory_metric(snapshot->directory->series[index]);
    return metric->layout ? (const crest_distribution *)(uintptr_t)snapshot->values[index] : NULL;
}

crest_status crest_snapshot_series(const crest_snapshot *snapshot, size_t index,
                                   crest_series_view *view)
{
    memset(view, 0, sizeof *view);
    if (snapshot == NULL || index >= snapshot->directory->count)
        return CREST_INVALID_ARGUMENT;
    const crest_series *series = snapshot->directory->series[index];
    const crest_metric *metric = directory_metric(series);
    view->name = metric->name;
    view->exported = metric->exported;
    view->description = metric->description;
    view->kind = metric->kind;
    view->unit = metric->unit;
    unsigned constants = metric->state->constant_count;
    view->label_count = constants + directory_own_labels(metric);
    view->label_keys = metric->label_keys - constants;
    view->label_values =
        constants != 0 ? snapshot->directory->labels[index] : crest_series_values(series);
    view->buckets = metric->layout ? &metric->buckets : NULL;
    view->distribution = crest_snapshot_distribution(snapshot, index);
    view->life = (uint64_t)(uintptr_t)series << 8 | snapshot->directory->births[index];
    if (metric->kind == CREST_KIND_COUNTER)
        view->counter = snapshot->values[index];
    if (metric->kind == CREST_KIND_GAUGE)
        memcpy(&view->gauge, &snapshot->values[index], sizeof view->gauge);
    if (metric->kind == CREST_KIND_RANGE_SAMPLER)
        view->current = (int64_t)snapshot->values[index];
    view->quantiles = metric->quantiles;
    if (snapshot->windows != NULL)
        view->window = snapshot->windows[index];
    return CREST_OK;
}

unsigned crest_snapshot_windows(const crest_snapshot *snapshot,
                                unsigned window_s[CREST_WINDOWS_MAX])
{
    if (snapshot == NULL || snapshot->windows == NULL)
        return 0;
    window_s[0] = CREST_WINDOW_S;
    return 1;
}

crest_status crest_snapshot_window(const crest_snapshot *snapshot, size_t index, unsigned window_s,
                                   crest_window *window)
{
    memset(window, 0, sizeof *window);
    if (snapshot == NULL || index >= snapshot->directory->count)
        return CREST_INVALID_ARGUMENT;
    if (snapshot->windows == NULL || window_s != CREST_WINDOW_S ||
        !(snapshot->windows[index].covered_s > 0))
        return CREST_NOT_FOUND;
    *window = snapshot->windows[index];
    return CREST_OK;
}

/* The values of a wanted series against one of the same metric: <0, 0, >0 as strcmp. */
static int snapshot_compare_values(const crest_series_view *series, unsigned constants,
                                   const char *const *values, unsigned count)
{
    unsigned left_out = series->label_count - count;
    if (count > series->label_count || (left_out != 0 && left_out != constants))
        return -1;
    for (unsigned i = 0; i < count; i++) {
        const char *value = values != NULL && values[i] != NULL ? values[i] : "";
        if (strcmp(series->label_values[left_out + i], value) != 0)
            return -1;
    }
    return 0;
}

crest_status crest_snapshot_find(const crest_snapshot *snapshot, const char *name,
                                 const char *const *values, unsigned count, crest_series_view *view)
{
    for (size_t i = 0; name != NULL && i < crest_snapshot_size(snapshot); i++) {
        if (strcmp(directory_metric(snapshot->directory->series[i])->name, name) != 0)
            continue;
        crest_snapshot_series(snapshot, i, view);
        unsigned constants = snapshot->directory->series[i]->metric->state->constant_count;
        if (snapshot_compare_values(view, constants, values, count) == 0)
            return CREST_OK;
    }
    memset(view, 0, sizeof *view);
    return CREST_NOT_FOUND;
}
