/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places, readings and results. See windows.h.
 */
#include "windows/windows.h"
#include "base/alloc.h"
#include "base/atomic.h"
#include "base/misuse.h"
#include "metrics/metric_inside.h"
#include "registry/inherited.h"
#include "registry/series_state.h"
#include "windows/range_windows.h"
#include "windows/window_values.h"

#include <string.h>

/* The upper bits of a place in an entry: how its series is read. */
#define PLACE_COUNTER 0u
#define PLACE_VALUES 1u
#define PLACE_RANGE 2u
#define PLACE_HOW_SHIFT 30u
#define PLACE_NUMBER ((1u << PLACE_HOW_SHIFT) - 1)
/* A series' `window`: its place plus 1, or this: it has none. */
#define PLACE_REFUSED UINT32_MAX

static unsigned windows_series_max = CREST_WINDOWED_SERIES_DEFAULT;
static unsigned windows_longest_s = 900;
static unsigned windows_has_5m = 1;
/* Sums over all registries. Written under the ticker's lock, read without it. */
static uint64_t windows_places, windows_without;

void crest_windows_set(const unsigned *window_s, unsigned windows, unsigned series_max)
{
    unsigned has_5m = 0;
    for (unsigned w = 0; w < windows; w++)
        has_5m |= window_s[w] == 300;
    if (windows != 0) {
        crest_atomic_store32(&windows_longest_s, window_s[windows - 1]);
        crest_atomic_store32(&windows_has_5m, has_5m);
    }
    if (series_max != 0)
        crest_atomic_store32(&windows_series_max, series_max);
}

unsigned crest_windows_kept(unsigned window_s[CREST_WINDOWS_MAX])
{
    unsigned count = 0;
    window_s[count++] = CREST_WINDOW_S;
    if (crest_atomic_load32(&windows_has_5m))
        window_s[count++] = 300;
    if (crest_atomic_load32(&windows_longest_s) == 900)
        window_s[count++] = 900;
    return count;
}

uint64_t crest_windows_places(void)
{
    return crest_atomic_load(&windows_places);
}

uint64_t crest_windows_refused(void)
{
    return crest_atomic_load(&windows_without);
}

void crest_windows_forked(void)
{
    windows_places = windows_without = 0;
}

static int windows_room(void)
{
    return windows_places < crest_atomic_load32(&windows_series_max);
}

crest_windows *crest_windows_new(void)
{
    unsigned window_s[CREST_WINDOWS_MAX];
    unsigned count = crest_windows_kept(window_s);
    crest_windows *windows = crest_alloc(1, sizeof(crest_windows));
    if (windows != NULL)
        crest_window_times_init(&windows->times, window_s, count);
    return windows;
}

/* ---- places ---- */

static crest_window_place *windows_place(const crest_windows *windows, uint32_t number)
{
    return &windows->blocks[number / CREST_FRAMES_SERIES]
                .frames->place[number % CREST_FRAMES_SERIES];
}

static uint32_t windows_how(const crest_series *series)
{
    if (series->metric->kind == CREST_KIND_COUNTER)
        return PLACE_COUNTER;
    return series->metric->layout != NULL ? PLACE_VALUES : PLACE_RANGE;
}

static int windows_wanted(const crest_series *series)
{
    return series->metric->kind != CREST_KIND_GAUGE && !series->metric->no_windows;
}

static void windows_more_free(const crest_window_place *place)
{
    if (windows_how(place->series) == PLACE_VALUES)
        crest_window_values_free(place->more);
    else if (windows_how(place->series) == PLACE_RANGE)
        crest_range_ring_free(place->more);
}

static void windows_mark(crest_series *series, uint32_t word)
{
    series->window_birth = crest_series_birth(series);
    series->window = word;
}

static void windows_place_free(crest_windows *windows, uint32_t number)
{
    crest_window_block *block = &windows->blocks[number / CREST_FRAMES_SERIES];
    unsigned at = number % CREST_FRAMES_SERIES;
    crest_window_place *place = &block->frames->place[at];
    windows_more_free(place);
    if (place->series->window == number + 1)
        place->series->window = 0;
    crest_window_frames_clear(block->frames, at, windows->times.bins);
    block->taken &= ~(UINT64_C(1) << at);
    block->present &= ~(UINT64_C(1) << at);
    crest_atomic_store(&windows_places, windows_places - 1);
    if (number / CREST_FRAMES_SERIES < windows->free_from)
        windows->free_from = number / CREST_FRAMES_SERIES;
}

void crest_windows_free(crest_windows *windows)
{
    if (windows == NULL)
        return;
    for (unsigned b = 0; b < windows->block_count; b++) {
        for (unsigned at = 0; at < CREST_FRAMES_SERIES; at++)
            if (windows->blocks[b].taken >> at & 1)
                windows_place_free(windows, b * CREST_FRAMES_SERIES + at);
        crest_window_frames_free(windows->blocks[b].frames);
    }
    crest_atomic_store(&windows_without, windows_without - windows->refused);
    crest_alloc_free(windows->blocks);
    crest_alloc_free(windows->entries);
    crest_idle_fini(&windows->idle);
    crest_snapshot_free(windows->last);
    crest_alloc_free(windows);
}

/* Finds the place of this life of the series here, if it has one; *known: it has been seen
 * before. */
static int windows_place_of(const crest_windows *windows, const crest_series *series,
                            uint32_t *number, int *known)
{
    uint32_t word = series->window;
    int same = series->window_birth == crest_series_birth(series);
    *known = word != 0 && same;
    *number = word - 1;
    return *known && word != PLACE_REFUSED &&
           *number / CREST_FRAMES_SERIES < windows->block_count &&
           windows_place(windows, *number)->series == series;
}

/* Frees the place that an earlier life of the series may still have. */
static void windows_forget_life(crest_windows *windows, crest_series *series)
{
    uint32_t number = series->window - 1;
    if (series->window_birth != crest_series_birth(series) &&
        number / CREST_FRAMES_SERIES < windows->block_count &&
        windows_place(windows, number)->series == series)
        windows_place_free(windows, number);
}

int crest_windows_entry_of(const crest_windows *windows, const crest_series *series,
                           crest_window_entry *entry)
{
    int known;
    if (!windows_wanted(series) || !windows_place_of(windows, series, &entry->place, &known))
        return 0;
    entry->place |= windows_how(series) << PLACE_HOW_SHIFT;
    return 1;
}

/* Finds a free place; 0 without memory for another block. */
static int windows_place_find(crest_windows *windows, uint32_t *number)
{
    for (unsigned b = windows->free_from; b < windows->block_count; b++, windows->free_from++)
        if (~windows->blocks[b].taken != 0) {
            *number =
                b * CREST_FRAMES_SERIES + (unsigned)__builtin_ctzll(~windows->blocks[b].taken);
            return 1;
        }
    unsigned count = windows->block_count;
    if ((count & (count - 1)) == 0) {
        crest_window_block *blocks = crest_alloc_resize(windows->blocks, count != 0 ? 2 * count : 1,
                                                        sizeof windows->blocks[0]);
        if (blocks == NULL)
            return 0;
        windows->blocks = blocks;
    }
    crest_window_frames *frames = crest_window_frames_new(&windows->times);
    if (frames == NULL)
        return 0;
    windows->blocks[count] = (crest_window_block){.frames = frames};
    *number = count * CREST_FRAMES_SERIES;
    windows->block_count++;
    return 1;
}

/* Makes the part that a distribution or range sampler has beside its rows. `new`: as below. */
static void *windows_more_new(const crest_windows *windows, const crest_series *series, int new)
{
    if (series->metric->layout != NULL)
        return crest_window_values_new(&windows->times, series->metric);
    crest_range_ring *ring = crest_range_ring_new(series->shared, new);
    if (ring != NULL && !crest_range_ring_bins(ring, &windows->times)) {
        crest_range_ring_free(ring);
        ring = NULL;
    }
    return ring;
}

static uint64_t windows_events(const crest_snapshot *snapshot, size_t index)
{
    const crest_distribution *values = crest_snapshot_distribution(snapshot, index);
    return values != NULL ? values->count : snapshot->values[index];
}

/* Gives a series a place. A `new` series began at zero, and its first events count; an older one
 * begins with what it has. 0 without memory. */
static int windows_place_give(crest_windows *windows, const crest_snapshot *snapshot, size_t index,
                              int new)
{
    crest_series *series = snapshot->directory->series[index];
    uint32_t number;
    void *more = NULL;
    if (windows_how(series) != PLACE_COUNTER &&
        (more = windows_more_new(windows, series, new)) == NULL)
        return 0;
    crest_window_place given = {.series = series, .more = more};
    if (!windows_place_find(windows, &number)) {
        windows_more_free(&given);
        return 0;
    }
    if (!new &&windows_how(series) != PLACE_RANGE)
        given.last = windows_events(snapshot, index);
    if (!new && windows->times.count > 1)
        given.since_ns = windows->times.elapsed_ns + 1;
    *windows_place(windows, number) = given;
    windows->blocks[number / CREST_FRAMES_SERIES].taken |= UINT64_C(1)
                                                           << number % CREST_FRAMES_SERIES;
    windows_mark(series, number + 1);
    crest_atomic_store(&windows_places, windows_places + 1);
    return 1;
}

/* Whether the series began after the reading before. A series that was hidden then, or had left
 * snapshots and kept its slot, comes back with its count: it is not new. Nor is one
 * that begins with a dead run's total, or with what the kernel has counted since the machine began.
 */
static int windows_is_new(const crest_windows *windows, const crest_series *series)
{
    return windows->last != NULL && crest_series_birth(series) > windows->last->born &&
           crest_inherited_of(series) == NULL &&
           crest_atomic_load32(&series->metric->goes_on) == 0;
}

/* The place of a series of the directory, given now if need be; 0 if it goes without. */
static int windows_settle(crest_windows *windows, const crest_snapshot *snapshot, size_t index,
                          int *lacked)
{
    crest_series *series = snapshot->directory->series[index];
    uint32_t number;
    int known, has = windows_place_of(windows, series, &number, &known);
    if (!has) {
        windows_forget_life(windows, series);
        int room = windows_room(), new = windows_is_new(windows, series);
        has = room && windows_place_give(windows, snapshot, index, new);
        if (!has && !known && !room)
            crest_misuse_count(CREST_MISUSE_LIMIT, series->metric->name);
        if (!has && room)
            *lacked = windows->stale = 1;
        if (!has)
            windows_mark(series, PLACE_REFUSED);
        else
            windows_place_of(windows, series, &number, &known);
    }
    if (has)
        windows->blocks[number / CREST_FRAMES_SERIES].present |= UINT64_C(1)
                                                                 << number % CREST_FRAMES_SERIES;
    return has;
}

/* Lists the entries, if there is memory for that; otherwise the places are looked up one by one. */
static void windows_list(crest_windows *windows, const crest_directory *directory, size_t count)
{
    crest_alloc_free(windows->entries);
    windows->entry_count = 0;
    windows->entries = crest_alloc(count + 1, sizeof windows->entries[0]);
    if (windows->entries == NULL) {
        windows->stale = 1;
        return;
    }
    for (size_t i = 0; i < directory->count; i++) {
        crest_window_entry entry = {.index = (uint32_t)i};
        if (crest_windows_entry_of(windows, directory->series[i], &entry))
            windows->entries[windows->entry_count++] = entry;
    }
}

/* Lists the entries again, for another directory or freed places. */
static int windows_follow(crest_windows *windows, const crest_snapshot *snapshot)
{
    const crest_directory *directory = snapshot->directory;
    int lacked = 0;
    size_t count = 0;
    uint64_t refused = 0;
    windows->stale = 0;
    for (unsigned b = 0; b < windows->block_count; b++)
        windows->blocks[b].present = 0;
    for (size_t i = 0; i < directory->count; i++)
        if (windows_wanted(directory->series[i])) {
            int has = windows_settle(windows, snapshot, i, &lacked);
            count += has != 0;
            refused += !has;
        }
    crest_atomic_store(&windows_without, windows_without + refused - windows->refused);
    windows->refused = refused;
    windows_list(windows, directory, count);
    if (!crest_idle_follow(&windows->idle, directory)) {
        crest_idle_fini(&windows->idle);
        lacked = windows->stale = 1;
    }
    return lacked;
}

/* ---- readings ---- */

static int windows_take_values(crest_windows *windows, crest_snapshot *snapshot, size_t index,
                               crest_window_frames *frames, unsigned at, const double *rates)
{
    crest_window_place *place = &frames->place[at];
    crest_window_values *values = place->more;
    crest_distribution *now = (crest_distribution *)(uintptr_t)snapshot->values[index];
    int past = values->last == NULL && now->count == place->last;
    snapshot->values[index] = 0;
    int whole = crest_window_frames_take(frames, &windows->times, at, now->count, rates);
    return crest_window_values_take(values, &windows->times, place->series->metric, now, past) &&
           whole;
}

static void windows_take_range(const crest_windows *windows, const crest_window_place *place)
{
    crest_range_ring *ring = place->more;
    /* acquire: partner of the release store in series.c */
    crest_range_cell *cell = crest_atomic_load_ptr_acquire(CREST_PTR(&place->series->shared));
    if (cell == NULL)
        return;
    if (!crest_range_ring_take(ring, cell, windows->times.newest))
        crest_misuse_count(CREST_MISUSE_LIMIT, place->series->metric->name);
    crest_range_ring_add(ring, &windows->times);
}

static int windows_take(crest_windows *windows, crest_snapshot *snapshot,
                        const crest_window_entry *entry, const double *rates)
{
    uint32_t number = entry->place & PLACE_NUMBER;
    crest_window_frames *frames = windows->blocks[number / CREST_FRAMES_SERIES].frames;
    unsigned at = number % CREST_FRAMES_SERIES;
    if (entry->place >> PLACE_HOW_SHIFT == PLACE_COUNTER)
        return crest_window_frames_take(frames, &windows->times, at, snapshot->values[entry->index],
                                        rates);
    if (entry->place >> PLACE_HOW_SHIFT == PLACE_VALUES)
        return windows_take_values(windows, snapshot, entry->index, frames, at, rates);
    windows_take_range(windows, &frames->place[at]);
    return 1;
}

static int windows_take_all(crest_windows *windows, crest_snapshot *snapshot)
{
    const crest_window_times *times = &windows->times;
    const crest_directory *directory = snapshot->directory;
    double rates[CREST_BIN_TICKS_MAX];
    int whole = 1;
    for (unsigned i = 0; i < times->bin_ticks[times->bin]; i++) {
        uint64_t ns = times->bin_tick_ns[times->bin][i];
        rates[i] = ns != 0 ? 1 / ((double)ns / 1e9) : 0;
    }
    for (size_t i = 0; i < windows->entry_count; i++)
        whole &= windows_take(windows, snapshot, &windows->entries[i], rates);
    for (size_t i = 0; windows->entries == NULL && i < directory->count; i++) {
        crest_window_entry entry = {.index = (uint32_t)i};
        if (crest_windows_entry_of(windows, directory->series[i], &entry))
            whole &= windows_take(windows, snapshot, &entry, rates);
    }
    return whole;
}

/* Handles a series that has a place but is not in this reading. While it may come back it has no
 * growth; once its slot is gone, its place is freed. */
static void windows_pass_over(crest_windows *windows, uint32_t number)
{
    crest_window_place *place = windows_place(windows, number);
    crest_window_frames *frames = windows->blocks[number / CREST_FRAMES_SERIES].frames;
    unsigned at = number % CREST_FRAMES_SERIES;
    if (crest_series_retired(place->series) ||
        crest_series_life(place->series) == CREST_LIFE_GONE) {
        windows_place_free(windows, number);
        return;
    }
    crest_window_frames_take(frames, &windows->times, at, place->last, NULL);
    if (windows_how(place->series) == PLACE_VALUES)
        crest_window_values_take(place->more, &windows->times, place->series->metric, NULL, 0);
    else if (windows_how(place->series) == PLACE_RANGE)
        /* it may come back with an update, whose tick must not take older updates' extremes */
        windows_take_range(windows, place);
}

static void windows_pass_over_all(crest_windows *windows)
{
    for (unsigned b = 0; b < windows->block_count; b++) {
        uint64_t absent = windows->blocks[b].taken & ~windows->blocks[b].present;
        for (; absent != 0; absent &= absent - 1)
            windows_pass_over(windows, b * CREST_FRAMES_SERIES + (unsigned)__builtin_ctzll(absent));
    }
}

int crest_windows_tick(crest_windows *windows, crest_snapshot *snapshot)
{
    crest_window_times *times = &windows->times;
    int lacked = 0;
    crest_window_times_add(times, snapshot->time_ns);
    for (unsigned b = 0; times->bin_opened && b < windows->block_count; b++)
        crest_window_frames_open(windows->blocks[b].frames, times->bin);
    if (windows->stale || windows->last == NULL ||
        windows->last->directory != snapshot->directory ||
        (windows->refused != 0 && windows_room()))
        lacked = windows_follow(windows, snapshot);
    crest_idle_look(&windows->idle, snapshot);
    lacked |= !windows_take_all(windows, snapshot);
    windows_pass_over_all(windows);
    crest_snapshot_free(windows->last);
    windows->last = snapshot;
    return lacked;
}

/* ---- results ---- */

double crest_windows_covered_s(const crest_windows *windows, unsigned window_s)
{
    const crest_window_span *span = crest_window_times_span(&windows->times, window_s);
    return span != NULL ? (double)span->ns / 1e9 : 0;
}

crest_kind crest_windows_entry_kind(const crest_windows *windows, const crest_window_entry *entry)
{
    return windows_place(windows, entry->place & PLACE_NUMBER)->series->metric->kind;
}

void crest_windows_entry_result(const crest_windows *windows, const crest_window_entry *entry,
                                const crest_window_span *span, crest_window *result)
{
    const crest_window_times *times = &windows->times;
    uint32_t number = entry->place & PLACE_NUMBER;
    const crest_window_place *place = windows_place(windows, number);
    memset(result, 0, sizeof *result);
    if (!crest_window_frames_result(windows->blocks[number / CREST_FRAMES_SERIES].frames, times,
                                    number % CREST_FRAMES_SERIES, span, result))
        return;
    switch (entry->place >> PLACE_HOW_SHIFT) {
    case PLACE_VALUES:
        if (result->events != 0)
            crest_window_values_result(place->more, times, place->series->metric, span, result);
        break;
    case PLACE_RANGE:
        if (!crest_range_ring_window(place->more, times, span, result))
            memset(result, 0, sizeof *result);
        break;
    default: break;
    }
}

void crest_windows_result(const crest_windows *windows, const crest_series *series,
                          unsigned window_s, crest_window *result)
{
    const crest_window_span *span = crest_window_times_span(&windows->times, window_s);
    crest_window_entry entry = {0, 0};
    memset(result, 0, sizeof *result);
    if (span == NULL || !crest_windows_entry_of(windows, series, &entry))
        return;
    crest_windows_entry_result(windows, &entry, span, result);
}
