/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings of cumulative readings. See windows.h.
 */
#include "windows.h"
#include "alloc.h"
#include "lives.h"
#include "misuse.h"
#include "range_windows.h"
#include "slowest.h"

#include <string.h>

/* A series' readings, aligned with crest_windows.time_ns. Counters have the first array only. */
typedef struct window_ring {
    const crest_windows *owner;
    struct window_ring *next; /* of the owner's */
    crest_series *series;
    const crest_distribution *last; /* in crest_windows.last, or `kept` */
    size_t index;                   /* where there */
    crest_distribution *kept;       /* of a series that snapshots do not have at present */
    uint64_t changed_ns;            /* the reading before which it was last recorded into */
    uint64_t tick;                  /* the last that found it in the snapshot */
    uint8_t birth;                  /* of the series' life that this is about */
    crest_slowest slowest;          /* timers: whose the maxima were */
    crest_note early;               /* noted, but not counted in that tick */
    uint64_t rough;                 /* the last maximum, if only its bucket was known, else 0 */
    crest_range_ring *range;        /* of a range sampler, which has no other readings */
    uint64_t events[CREST_WINDOW_READINGS];
    uint64_t more[]; /* distributions: sums, then the maximum of each tick */
} window_ring;

static uint64_t *window_sums(const window_ring *ring)
{
    return (uint64_t *)(uintptr_t)ring->more;
}

static uint64_t *window_maxima(const window_ring *ring)
{
    return window_sums(ring) + CREST_WINDOW_READINGS;
}

crest_windows *crest_windows_new(void)
{
    return crest_alloc(1, sizeof(crest_windows));
}

/* Takes the ring that the link leads to off its list, too. */
static void window_ring_free(window_ring **link)
{
    window_ring *ring = *link;
    *link = ring->next;
    if (ring->series->window == ring)
        ring->series->window = NULL;
    crest_slowest_fini(&ring->slowest);
    crest_range_ring_free(ring->range);
    crest_distribution_free(ring->kept);
    crest_alloc_free(ring);
}

/* The series' ring, if it is one of these windows' and of this life of the series. */
static window_ring *window_ring_of(crest_windows *windows, const crest_series *series)
{
    window_ring *ring = series->window;
    if (ring == NULL || ring->owner != windows || ring->birth == crest_series_birth(series))
        return ring != NULL && ring->owner == windows ? ring : NULL;
    window_ring **link = &windows->rings;
    while (*link != ring)
        link = &(*link)->next;
    window_ring_free(link);
    return NULL;
}

void crest_windows_free(crest_windows *windows)
{
    if (windows == NULL)
        return;
    while (windows->rings != NULL)
        window_ring_free(&windows->rings);
    crest_snapshot_free(windows->last);
    crest_alloc_free(windows);
}

/*
 * The ring of a series that has none of this owner. A series that is new began at zero, so its
 * rings' past is zeros and its first events count; one that was there before the first reading
 * begins with what it has.
 */
static window_ring *window_ring_make(crest_windows *windows, crest_series *series, uint64_t events,
                                     uint64_t sum)
{
    int distribution = series->metric->layout != NULL;
    size_t more = distribution ? 2 * CREST_WINDOW_READINGS : 0;
    window_ring *ring = crest_alloc(1, sizeof *ring + more * sizeof(uint64_t));
    series->window = ring;
    if (ring == NULL) {
        windows->incomplete = 1;
        return NULL;
    }
    ring->owner = windows;
    ring->series = series;
    ring->birth = crest_series_birth(series);
    ring->next = windows->rings;
    windows->rings = ring;
    if (windows->count > 1 && !windows->incomplete)
        return ring;
    for (unsigned i = 0; i < CREST_WINDOW_READINGS; i++) {
        ring->events[i] = events;
        if (distribution)
            window_sums(ring)[i] = sum;
    }
    return ring;
}

/*
 * The largest value of the tick that ends with `now`, as it was noted. The counts that grew say in
 * which bucket it must lie. When no note is as high, the record was made between the taking of the
 * notes and the reading of the counts: the bucket must do, and the note shows one tick late. A note
 * above it is such a late one, or its count comes with the next tick, to which it then belongs too.
 */
static crest_note window_maximum(window_ring *ring, const crest_distribution *now)
{
    const crest_layout *layout = &now->layout;
    crest_note note = now->note, early = ring->early;
    uint64_t counted = crest_distribution_max_since(now, ring->last);
    if (early.value > note.value && early.value <= counted)
        note = early;
    ring->early = note.value > counted ? note : (crest_note){.value = 0};
    /* what keeps no values cannot say where they lie */
    if (layout->unit == CREST_LAYOUT_UNIT_NONE && ring->last != NULL && now->max <= ring->last->max)
        return note;
    unsigned block = crest_layout_block(layout, counted);
    uint64_t cell = counted >> crest_layout_shift(layout, block);
    if (note.value < crest_layout_lowest(layout, block, cell)) {
        note = (crest_note){.value = counted};
        ring->rough = counted;
    }
    return note;
}

/* A maximum of which only the bucket was known, once the note has come: now it is exact. */
static void window_refine(window_ring *ring, unsigned reading, const crest_distribution *now)
{
    const crest_layout *layout = &now->layout;
    unsigned block = crest_layout_block(layout, ring->rough);
    uint64_t cell = ring->rough >> crest_layout_shift(layout, block);
    if (ring->rough > now->note.value &&
        now->note.value >= crest_layout_lowest(layout, block, cell))
        window_maxima(ring)[reading] = now->note.value;
    ring->rough = 0;
}

static unsigned window_before(unsigned reading)
{
    return (reading + CREST_WINDOW_READINGS - 1) % CREST_WINDOW_READINGS;
}

/* Before the reading is taken: one that has been the same for long may be hidden. */
static void window_look_idle(const crest_windows *windows, window_ring *ring, uint64_t events,
                             int fresh)
{
    uint64_t now_ns = windows->time_ns[windows->newest];
    uint64_t idle_ns = ring->series->metric->idle_s * UINT64_C(1000000000);
    ring->tick = windows->ticks;
    if (fresh || events != ring->events[window_before(windows->newest)])
        ring->changed_ns = now_ns;
    else if (idle_ns != 0 && now_ns - ring->changed_ns >= idle_ns)
        crest_lives_idle(ring->series, events, ring->changed_ns, now_ns);
}

static int window_take(crest_windows *windows, crest_series *series, uint64_t value, size_t index)
{
    const crest_metric *metric = series->metric;
    const crest_distribution *now =
        metric->layout ? (const crest_distribution *)(uintptr_t)value : NULL;
    uint64_t events = now ? now->count : value;
    window_ring *ring = window_ring_of(windows, series);
    int fresh = ring == NULL;
    if (fresh)
        ring = window_ring_make(windows, series, events, now ? now->sum : 0);
    if (ring == NULL)
        return 0;
    window_look_idle(windows, ring, events, fresh);
    ring->events[windows->newest] = events;
    if (now == NULL)
        return 1;
    window_sums(ring)[windows->newest] = now->sum;
    /* of a series that was there before the first reading, the past is not this tick's */
    int first = fresh && (windows->count <= 1 || windows->incomplete);
    if (ring->rough != 0)
        window_refine(ring, window_before(windows->newest), now);
    crest_note note = first ? (crest_note){.value = 0} : window_maximum(ring, now);
    window_maxima(ring)[windows->newest] = note.value;
    ring->last = now;
    ring->index = index;
    crest_distribution_free(ring->kept);
    ring->kept = NULL;
    return metric->kind != CREST_KIND_TIMER ||
           crest_slowest_push(&ring->slowest, windows->newest, &note);
}

/* A range sampler: its window ends here, at the moment of its own reading. */
static int window_take_range(crest_windows *windows, crest_series *series)
{
    window_ring *ring = window_ring_of(windows, series);
    int fresh = ring == NULL;
    int new = fresh && windows->count > 1 && !windows->incomplete;
    if (fresh)
        ring = window_ring_make(windows, series, 0, 0);
    if (ring != NULL && ring->range == NULL)
        ring->range = crest_range_ring_new(series->shared, new);
    if (ring == NULL || ring->range == NULL) {
        windows->incomplete = 1;
        return 0;
    }
    ring->tick = windows->ticks;
    if (!crest_range_ring_take(ring->range, series->shared, windows->newest))
        crest_misuse_count(CREST_MISUSE_LIMIT, series->metric->name);
    return 1;
}

/* The rings of what this reading does not have: without growth while the series may come back,
 * and gone with its slot. */
static void window_pass_over(crest_windows *windows)
{
    crest_note none = {.value = 0};
    for (window_ring **link = &windows->rings; *link != NULL;) {
        window_ring *ring = *link;
        const crest_metric *metric = ring->series->metric;
        if (ring->tick != windows->ticks && (crest_series_retired(ring->series) ||
                                             crest_series_life(ring->series) == CREST_LIFE_GONE)) {
            window_ring_free(link);
            continue;
        }
        link = &ring->next;
        if (ring->tick == windows->ticks)
            continue;
        if (ring->range != NULL) {
            /* it may come back with an update, whose extremes must not be older ones' too;
             * acquire: partner of the release store in series.c */
            crest_range_cell *cell =
                crest_atomic_load_ptr_acquire(CREST_PTR(&ring->series->shared));
            if (cell != NULL)
                crest_range_ring_take(ring->range, cell, windows->newest);
            continue;
        }
        unsigned before = window_before(windows->newest);
        ring->events[windows->newest] = ring->events[before];
        if (metric->layout == NULL)
            continue;
        window_sums(ring)[windows->newest] = window_sums(ring)[before];
        window_maxima(ring)[windows->newest] = 0;
        crest_slowest_push(&ring->slowest, windows->newest, &none);
        if (ring->kept == NULL && ring->last != NULL) {
            /* out of its snapshot, which goes */
            ring->kept = (crest_distribution *)(uintptr_t)windows->last->values[ring->index];
            windows->last->values[ring->index] = 0;
        }
    }
}

int crest_windows_tick(crest_windows *windows, crest_snapshot *snapshot)
{
    int lacked = 0;
    windows->ticks++;
    windows->newest = windows->count ? (windows->newest + 1) % CREST_WINDOW_READINGS : 0;
    if (windows->count < CREST_WINDOW_READINGS)
        windows->count++;
    windows->time_ns[windows->newest] = snapshot->time_ns;
    for (size_t i = 0; i < snapshot->directory->count; i++) {
        crest_series *series = snapshot->directory->series[i];
        crest_kind kind = series->metric->kind;
        if (kind == CREST_KIND_RANGE_SAMPLER)
            lacked |= !window_take_range(windows, series);
        else if (kind != CREST_KIND_GAUGE)
            lacked |= !window_take(windows, series, snapshot->values[i], i);
    }
    window_pass_over(windows);
    crest_snapshot_free(windows->last);
    windows->last = snapshot;
    return lacked;
}

static unsigned window_oldest(const crest_windows *windows)
{
    return (windows->newest + CREST_WINDOW_READINGS + 1 - windows->count) % CREST_WINDOW_READINGS;
}

static double window_seconds(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) * 1e-9 : 0;
}

double crest_windows_covered_s(const crest_windows *windows)
{
    if (windows->count < 2)
        return 0;
    return window_seconds(windows->time_ns[window_oldest(windows)],
                          windows->time_ns[windows->newest]);
}

void crest_windows_result(const crest_windows *windows, const crest_series *series,
                          crest_window *result)
{
    memset(result, 0, sizeof *result);
    const window_ring *ring = series->window;
    double covered_s = crest_windows_covered_s(windows);
    if (ring == NULL || ring->owner != windows || covered_s <= 0)
        return;
    if (series->metric->kind == CREST_KIND_RANGE_SAMPLER) {
        if (ring->range != NULL &&
            crest_range_ring_result(ring->range, windows->newest, windows->count - 1, result))
            result->covered_s = covered_s;
        return;
    }
    unsigned oldest = window_oldest(windows);
    uint64_t maximum = 0;
    unsigned of_maximum = oldest;
    result->covered_s = covered_s;
    result->events = ring->events[windows->newest] - ring->events[oldest];
    result->per_second = (double)result->events / covered_s;
    for (unsigned i = oldest; i != windows->newest;) {
        unsigned next = (i + 1) % CREST_WINDOW_READINGS;
        double tick_s = window_seconds(windows->time_ns[i], windows->time_ns[next]);
        double rate = tick_s > 0 ? (double)(ring->events[next] - ring->events[i]) / tick_s : 0;
        if (rate > result->peak)
            result->peak = rate;
        if (series->metric->layout != NULL && window_maxima(ring)[next] >= maximum) {
            maximum = window_maxima(ring)[next];
            of_maximum = next;
        }
        i = next;
    }
    if (series->metric->layout == NULL || result->events == 0)
        return;
    uint64_t sum = window_sums(ring)[windows->newest] - window_sums(ring)[oldest];
    result->average = (double)sum / (double)result->events;
    result->maximum = (double)maximum;
    result->slowest = crest_slowest_of(&ring->slowest, of_maximum, maximum);
}
