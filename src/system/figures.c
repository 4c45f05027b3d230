/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The series of collectors: made at their first value, withdrawn when they have none any more; and
 * cumulative sources turned into counters. See collector.h.
 */
#include "base/alloc.h"
#include "cells/range_cell.h"
#include "in_flight/lifetime_inside.h"
#include "instruments/range_sampler_inside.h"
#include "registry/child_moves.h"
#include "system/system_inside.h"

#include <assert.h>
#include <crest/lifetime.h>
#include <string.h>
#include <sys/utsname.h>

/* ---- making ---- */

/* The label keys and values of a figure of this place: the device's, then the figure's own. */
static unsigned figures_labels(const crest_place *place, const crest_figure *figure,
                               const char *keys[2], const char *values[2])
{
    unsigned count = 0;
    if (place->device[0] != '\0') {
        keys[count] = place->collector->kind->device_key;
        values[count++] = place->device;
    }
    if (figure->label.key != NULL) {
        keys[count] = figure->label.key;
        values[count++] = figure->label.value;
    }
    return count;
}

/* Makes the handle, of whatever kind; NULL when there is no memory for it now. A handle that
 * records nowhere, because the program uses the name for something else, has been counted as
 * misuse. */
#define FIGURES_MAKE(type)                                                                         \
    {                                                                                              \
        if (count == 0)                                                                            \
            return crest_##type##_get(registry, &figure->options, status);                         \
        crest_##type##_family family =                                                             \
            crest_##type##_family_new(registry, &figure->options, keys, count, status);            \
        return *status == CREST_OK ? crest_##type##_family_get(&family, values, count) : NULL;     \
    }

static void *figures_make(const crest_place *place, const crest_figure *figure,
                          crest_status *status)
{
    const char *keys[2], *values[2];
    unsigned count = figures_labels(place, figure, keys, values);
    crest_registry *registry = place->collector->system->registry;
    switch (figure->kind) {
    case CREST_KIND_COUNTER: FIGURES_MAKE(counter)
    case CREST_KIND_GAUGE: FIGURES_MAKE(gauge)
    case CREST_KIND_HISTOGRAM: FIGURES_MAKE(histogram)
    case CREST_KIND_RANGE_SAMPLER: FIGURES_MAKE(range_sampler)
    default: return NULL;
    }
}

/* ---- counters ---- */

/* Whether a word of the kernel has 64 bits, though a word of this program may have fewer. */
static int figures_kernel_is_64(void)
{
    struct utsname name;
    return sizeof(long) == 8 || (uname(&name) == 0 && strstr(name.machine, "64") != NULL);
}

void crest_collect_reset(crest_collect *collect, const char *kind)
{
    const crest_collector *collector = crest_collector_of(collect);
    static const char *const keys[] = {"collector", "kind"};
    static const crest_metric_options options = {
        .name = "crest.collect-resets",
        .description = "Cumulative sources that began again from zero, or wrapped round."};
    const char *values[] = {collector->kind->name, kind};
    crest_status status;
    crest_counter_family family =
        crest_counter_family_new(collector->system->registry, &options, keys, 2, &status);
    if (status == CREST_OK)
        crest_counter_inc(crest_counter_family_get(&family, values, 2));
}

static void figures_place_moved(crest_place *place)
{
    for (unsigned i = 0; i < place->count; i++)
        place->series[i].moved = place->series[i].counted;
}

void crest_collect_moved(crest_collect *collect)
{
    crest_collector *collector = crest_collector_of(collect);
    pthread_mutex_lock(&collector->series_lock);
    figures_place_moved(collect->own);
    for (crest_place *place = collector->devices; place != NULL; place = place->next)
        figures_place_moved(place);
    pthread_mutex_unlock(&collector->series_lock);
    crest_collect_reset(collect, "reset");
}

/* How much a source grew whose count went down. A source known to have 32 bits has wrapped, if that
 * makes it grow by less than half its range; any other began again. */
static uint64_t figures_growth_down(const crest_place *place, const crest_figure *figure,
                                    uint64_t last, uint64_t count)
{
    int narrow = figure->width == CREST_WIDTH_32 ||
                 (figure->width == CREST_WIDTH_WORD && !figures_kernel_is_64());
    uint32_t wrapped = (uint32_t)count - (uint32_t)last;
    int wraps = narrow && last <= UINT32_MAX && wrapped < UINT32_C(1) << 31;
    crest_collect_reset(&place->collector->collect, wraps ? "wrap" : "reset");
    return wraps ? wrapped : count;
}

/*
 * Where a new or returned counter goes on:
 *
 *   counter at zero               adds the source's count in full
 *   counted in this life of the   adds the source's growth since the last count
 *   collector
 *   counted in an earlier life    adds the source's growth beyond the counter's value
 *     the same, but no growth     the source began again meanwhile, and what had been counted of it
 *                                 is unknown: goes on from the source's count now
 */
static void figures_go_on(crest_figure_series *series, const crest_figure *figure, uint64_t count)
{
    crest_counter *counter = series->handle;
    uint64_t scale = figure->scale ? figure->scale : 1;
    crest_atomic_store32(&counter->handle.series->metric->goes_on, 1);
    crest_counter_add(counter, 0); /* brings a released counter back */
    uint64_t value = crest_counter_value(counter);
    if (value == 0) {
        series->counted = 0;
    } else if (!series->counted) {
        series->last = value / scale < count ? value / scale : count;
        series->counted = 1;
    }
}

static void figures_count(crest_place *place, unsigned index, uint64_t count)
{
    const crest_figure *figure = &place->figures[index];
    crest_figure_series *series = &place->series[index];
    if (series->moved) {
        series->last = count;
        series->counted = 1;
        series->moved = 0;
    }
    uint64_t growth = count - (series->counted ? series->last : 0);
    if (series->counted && count < series->last)
        growth = figures_growth_down(place, figure, series->last, count);
    uint64_t scaled;
    /* a growth that no counter can hold is no growth: the source gave a wrong count once */
    if (__builtin_mul_overflow(growth, figure->scale ? figure->scale : 1u, &scaled) ||
        scaled > (uint64_t)INT64_MAX) {
        crest_collect_fail(&place->collector->collect, CREST_CAUSE_GARBAGE, figure->options.name,
                           "it grew by more than a counter takes");
        return;
    }
    crest_counter_add(series->handle, (int64_t)scaled);
    series->last = count;
    series->counted = 1;
}

/* ---- giving ---- */

/* The series, if it may be given a value. Then the lock is held until figures_give_end. */
static crest_figure_series *figures_give_begin(crest_place *place, unsigned index, crest_kind kind)
{
    crest_collector *collector = place->collector;
    assert(index < place->count && place->figures[index].kind == kind);
    (void)kind;
    crest_figure_series *series = &place->series[index];
    pthread_mutex_lock(&collector->series_lock);
    crest_status status = CREST_OK;
    if (!collector->withdrawn && series->handle == NULL) {
        series->handle = figures_make(place, &place->figures[index], &status);
        if (status == CREST_NO_MEMORY)
            series->handle = NULL;
    }
    if (!collector->withdrawn && series->handle != NULL)
        return series;
    pthread_mutex_unlock(&collector->series_lock);
    return NULL;
}

static void figures_give_end(crest_place *place, crest_figure_series *series)
{
    crest_collector *collector = place->collector;
    if (!series->shown)
        (void)crest_handle_readmit(series->handle);
    series->shown = 1;
    collector->given += series->round != collector->round;
    series->round = collector->round;
    pthread_mutex_unlock(&collector->series_lock);
}

void crest_figure_gauge(crest_place *place, unsigned figure, double value)
{
    crest_figure_series *series = figures_give_begin(place, figure, CREST_KIND_GAUGE);
    if (series == NULL)
        return;
    crest_gauge_set(series->handle, value);
    figures_give_end(place, series);
}

void crest_figure_total(crest_place *place, unsigned figure, uint64_t count)
{
    crest_figure_series *series = figures_give_begin(place, figure, CREST_KIND_COUNTER);
    if (series == NULL)
        return;
    if (!series->shown)
        figures_go_on(series, &place->figures[figure], count);
    figures_count(place, figure, count);
    figures_give_end(place, series);
}

void crest_figure_record(crest_place *place, unsigned figure, int64_t value)
{
    crest_figure_series *series = figures_give_begin(place, figure, CREST_KIND_HISTOGRAM);
    if (series == NULL)
        return;
    crest_histogram_record(series->handle, value);
    figures_give_end(place, series);
}

void crest_figure_sample(crest_place *place, unsigned figure, int64_t value)
{
    crest_figure_series *series = figures_give_begin(place, figure, CREST_KIND_RANGE_SAMPLER);
    if (series == NULL)
        return;
    if (series->shown)
        crest_range_sampler_set(series->handle, value);
    else
        crest_range_sampler_begin(series->handle, value);
    figures_give_end(place, series);
}

void crest_figure_keep(crest_place *place, unsigned figure)
{
    assert(figure < place->count);
    crest_figure_series *series = &place->series[figure];
    pthread_mutex_lock(&place->collector->series_lock);
    if (series->shown) {
        place->collector->given += series->round != place->collector->round;
        series->round = place->collector->round;
    }
    pthread_mutex_unlock(&place->collector->series_lock);
}

int64_t crest_figure_percent(uint64_t part, uint64_t whole)
{
    if (whole == 0)
        return 0;
    double percent = 100.0 * (double)part / (double)whole + 0.5;
    return percent < 100 ? (int64_t)percent : 100;
}

/* ---- withdrawing ---- */

#define FIGURES_RELEASE(type) (void)crest_##type##_release(series->handle)

/* Withdraws a series. Of a vanished device, a counter and a histogram are released: they are
 * exported once more, because readers may not have seen their last growth. A gauge would only stand
 * still. */
static void figures_withdraw(const crest_place *place, unsigned index)
{
    const crest_figure *figure = &place->figures[index];
    const crest_figure_series *series = &place->series[index];
    int device = place->device[0] != '\0';
    if (device && figure->kind == CREST_KIND_COUNTER)
        FIGURES_RELEASE(counter);
    else if (device && figure->kind == CREST_KIND_HISTOGRAM)
        FIGURES_RELEASE(histogram);
    else
        (void)crest_handle_withdraw(series->handle);
}

/* Under the lock: withdraws all figures without a value in this collection; 0: all figures. */
static void figures_sweep(crest_place *place, uint64_t round)
{
    for (unsigned i = 0; i < place->count; i++) {
        crest_figure_series *series = &place->series[i];
        if (!series->shown || (round != 0 && series->round == round))
            continue;
        figures_withdraw(place, i);
        series->shown = 0;
    }
}

void crest_figures_end(crest_collector *collector)
{
    pthread_mutex_lock(&collector->series_lock);
    if (!collector->withdrawn) {
        figures_sweep(collector->collect.own, collector->round);
        for (crest_place *place = collector->devices; place != NULL; place = place->next) {
            figures_sweep(place, collector->round);
            place->gone = place->round != collector->round;
        }
    }
    pthread_mutex_unlock(&collector->series_lock);
}

void crest_figures_withdraw(crest_collector *collector)
{
    pthread_mutex_lock(&collector->series_lock);
    collector->withdrawn = 1;
    if (collector->collect.own != NULL)
        figures_sweep(collector->collect.own, 0);
    for (crest_place *place = collector->devices; place != NULL; place = place->next)
        figures_sweep(place, 0);
    pthread_mutex_unlock(&collector->series_lock);
}

/* ---- places ---- */

static crest_place *figures_place_new(crest_collector *collector, const crest_figure *figures,
                                      unsigned count, size_t state_bytes)
{
    crest_place *place =
        crest_alloc(1, sizeof *place + count * sizeof(crest_figure_series) + state_bytes);
    if (place == NULL)
        return NULL;
    place->collector = collector;
    place->figures = figures;
    place->count = count;
    place->state = state_bytes != 0 ? &place->series[count] : NULL;
    return place;
}

int crest_figures_begin(crest_collector *collector)
{
    const crest_collector_kind *kind = collector->kind;
    assert(kind->figure_count <= CREST_COLLECT_FIGURES_MAX);
    assert(kind->device_figure_count <= CREST_COLLECT_FIGURES_MAX);
    pthread_mutex_init(&collector->series_lock, NULL);
    collector->collect.own = figures_place_new(collector, kind->figures, kind->figure_count, 0);
    return collector->collect.own != NULL;
}

void crest_figures_free(crest_collector *collector)
{
    crest_alloc_free(collector->collect.own);
    for (crest_place *place = collector->devices, *next; place != NULL; place = next) {
        next = place->next;
        crest_alloc_free(place);
    }
    pthread_mutex_destroy(&collector->series_lock);
}

/* ---- devices ---- */

/* Finds a device. They mostly come in the last order, so the search begins after the last one
 * found. */
static crest_place *figures_device_find(const crest_collector *collector, const char *name)
{
    crest_place *from = collector->nearby;
    for (crest_place *place = from; place != NULL; place = place->next)
        if (strcmp(place->device, name) == 0)
            return place;
    for (crest_place *place = collector->devices; place != from; place = place->next)
        if (strcmp(place->device, name) == 0)
            return place;
    return NULL;
}

/* Takes the place of a vanished device for another. */
static crest_place *figures_device_reuse(crest_collector *collector)
{
    crest_place *place = collector->devices;
    while (place != NULL && !place->gone)
        place = place->next;
    if (place != NULL)
        memset(place->series, 0, place->count * sizeof *place->series);
    return place;
}

static crest_place *figures_device_make(crest_collector *collector)
{
    const crest_collector_kind *kind = collector->kind;
    if (collector->device_count == CREST_COLLECT_DEVICES_MAX) {
        /* looked for once a round: with thousands beyond the bound, each look passes all places */
        crest_place *place =
            collector->full_round == collector->round ? NULL : figures_device_reuse(collector);
        if (place == NULL && collector->full_round != collector->round) {
            collector->full_round = collector->round;
            crest_collect_fail(&collector->collect, CREST_CAUSE_LIMIT, kind->device_key,
                               "there are more of them than are exported");
        }
        return place;
    }
    crest_place *place = figures_place_new(collector, kind->device_figures,
                                           kind->device_figure_count, kind->device_bytes);
    if (place == NULL) {
        crest_collect_fail(&collector->collect, CREST_CAUSE_NO_MEMORY, kind->device_key,
                           "no memory for a further one");
        return NULL;
    }
    crest_place **link = &collector->devices;
    while (*link != NULL)
        link = &(*link)->next;
    *link = place;
    collector->device_count++;
    return place;
}

crest_place *crest_collect_device(crest_collect *collect, const char *name)
{
    crest_collector *collector = crest_collector_of(collect);
    size_t length = strlen(name);
    assert(collector->kind->device_key != NULL);
    if (length == 0 || length >= CREST_COLLECT_DEVICE_BYTES) {
        crest_collect_fail(collect, CREST_CAUSE_LIMIT, collector->kind->device_key,
                           length == 0 ? "it has no name" : "its name is too long");
        return NULL;
    }
    pthread_mutex_lock(&collector->series_lock);
    crest_place *place = figures_device_find(collector, name);
    int fresh = place == NULL;
    if (fresh)
        place = figures_device_make(collector);
    if (place != NULL) {
        if (fresh)
            memcpy(place->device, name, length + 1);
        if ((fresh || place->gone) && place->state != NULL)
            memset(place->state, 0, collector->kind->device_bytes);
        place->gone = 0;
        place->round = collector->round;
        collector->nearby = place->next;
    }
    pthread_mutex_unlock(&collector->series_lock);
    return place;
}

void *crest_place_state(crest_place *place)
{
    return place->state;
}
