/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums, maxima and quantiles of windows. See window_values.h.
 */
#include "windows/window_values.h"
#include "base/alloc.h"

#include <string.h>

crest_window_values *crest_window_values_new(const crest_window_times *times,
                                             const crest_metric *metric)
{
    crest_window_values *values = NULL;
    values = crest_alloc(1, sizeof *values + times->bins * sizeof values->bin[0]);
    if (values == NULL || metric->quantiles == NULL)
        return values;
    values->points = crest_alloc(1, sizeof *values->points);
    if (values->points != NULL)
        return values;
    crest_alloc_free(values);
    return NULL;
}

void crest_window_values_free(crest_window_values *values)
{
    if (values == NULL)
        return;
    for (unsigned w = 0; values->points != NULL && w < CREST_WINDOWS_MAX; w++)
        for (unsigned i = 0; i <= CREST_QUANTILE_STEPS; i++)
            crest_distribution_free(values->points->reading[w][i]);
    crest_alloc_free(values->points);
    crest_slowest_fini(&values->slowest);
    crest_slowest_fini(&values->slowest_bins);
    crest_distribution_free(values->last);
    crest_alloc_free(values);
}

/* ---- maxima ---- */

/*
 * The tick's maximum: the largest value noted in the tick that ends with `now`. The counts that
 * grew say in which bucket it must lie. When no note is as high, the record came between the taking
 * of the notes and the reading of the counts: the bucket's value stands, and the note shows one
 * tick late. A note above the bucket is such a late note. Or its count comes with the next tick, to
 * which the note then belongs too.
 */
static crest_note values_maximum(crest_window_values *values, const crest_distribution *now)
{
    const crest_layout *layout = &now->layout;
    crest_note note = now->note, early = values->early;
    uint64_t counted = crest_distribution_max_since(now, values->last);
    if (early.value > note.value && early.value <= counted)
        note = early;
    values->early = note.value > counted ? note : (crest_note){.value = 0};
    /* a distribution without values cannot say where they lie */
    if (layout->unit == CREST_LAYOUT_UNIT_NONE && values->last != NULL &&
        now->max <= values->last->max)
        return note;
    unsigned block = crest_layout_block(layout, counted);
    uint64_t cell = counted >> crest_layout_shift(layout, block);
    if (note.value < crest_layout_lowest(layout, block, cell)) {
        note = (crest_note){.value = counted};
        values->rough = counted;
    }
    return note;
}

/* Makes a maximum exact of which only the bucket was known, once its note has come. */
static void values_refine(crest_window_values *values, unsigned reading,
                          const crest_distribution *now)
{
    const crest_layout *layout = &now->layout;
    unsigned block = crest_layout_block(layout, values->rough);
    uint64_t cell = values->rough >> crest_layout_shift(layout, block);
    if (values->rough > now->note.value &&
        now->note.value >= crest_layout_lowest(layout, block, cell))
        values->maximum[reading] = now->note.value;
    values->rough = 0;
}

/* The maximum of the tick before the newest is final: adds it to its bin. */
static int values_settle(crest_window_values *values, const crest_window_times *times)
{
    unsigned before = crest_window_times_reading(times, 1);
    unsigned bin =
        times->bin_opened ? crest_window_times_bin(times, 1) : crest_window_times_bin(times, 0);
    struct crest_window_bin_values *into = &values->bin[bin];
    crest_note note = {.value = values->maximum[before]};
    note.op = crest_slowest_of(&values->slowest, before, note.value);
    if (note.value < into->maximum || note.value == 0 ||
        (note.value == into->maximum && note.op.kind == CREST_OP_NONE))
        return 1;
    into->maximum = note.value;
    return note.op.kind == CREST_OP_NONE || crest_slowest_push(&values->slowest_bins, bin, &note);
}

static void values_open(crest_window_values *values, const crest_window_times *times)
{
    const crest_note none = {.value = 0};
    memset(&values->bin[times->bin], 0, sizeof values->bin[0]);
    /* adds nothing: it only clears the bin's place */
    crest_slowest_push(&values->slowest_bins, times->bin, &none);
}

/* ---- quantiles ---- */

/* Keeps a reading for a window; `reading` NULL: the distribution was empty. */
static void values_point(crest_window_points *points, unsigned window, uint64_t at_ns,
                         crest_distribution *reading)
{
    unsigned at =
        points->count[window] == 0 ? 0 : (points->newest[window] + 1) % (CREST_QUANTILE_STEPS + 1);
    crest_distribution_free(points->reading[window][at]);
    points->reading[window][at] = reading;
    points->at_ns[window][at] = at_ns;
    points->newest[window] = at;
    points->count[window] += points->count[window] <= CREST_QUANTILE_STEPS;
}

/* Copies the newest reading for each window that a step has passed for; 0 without memory. */
static int values_keep(crest_window_values *values, const crest_window_times *times)
{
    crest_window_points *points = values->points;
    int whole = 1;
    for (unsigned w = 0; w < times->windows; w++) {
        uint64_t step_ns = times->span[w].window_s * (UINT64_C(1000000000) / CREST_QUANTILE_STEPS);
        uint64_t slack_ns = CREST_TICK_MS * UINT64_C(1000000) / 2;
        uint64_t last_ns = points->at_ns[w][points->newest[w]];
        if (points->count[w] != 0 && times->elapsed_ns - last_ns + slack_ns < step_ns)
            continue;
        crest_distribution *copy = crest_distribution_copy(values->last);
        if (copy != NULL)
            values_point(points, w, times->elapsed_ns, copy);
        whole &= copy != NULL;
    }
    return whole;
}

/* Begins a window's readings: with nothing before this tick, or with the newest reading itself. */
static int values_begin_points(crest_window_values *values, const crest_window_times *times,
                               int past)
{
    for (unsigned w = 0; !past && w < times->windows; w++)
        values_point(values->points, w, times->elapsed_ns - times->tick_ns[times->newest], NULL);
    return values_keep(values, times);
}

static void values_quantiles(const crest_window_values *values, const crest_window_times *times,
                             const double *quantiles, const crest_window_span *span,
                             crest_window *result)
{
    const crest_window_points *points = values->points;
    unsigned w = (unsigned)(span - times->span), back = 0;
    uint64_t slack_ns = CREST_TICK_MS * UINT64_C(1000000) / 2;
    if (points == NULL || points->count[w] == 0)
        return;
    const crest_distribution *from = NULL;
    for (; back < points->count[w]; back++) {
        unsigned at =
            (points->newest[w] + CREST_QUANTILE_STEPS + 1 - back) % (CREST_QUANTILE_STEPS + 1);
        from = points->reading[w][at];
        if (times->elapsed_ns - points->at_ns[w][at] + slack_ns >=
            span->window_s * UINT64_C(1000000000))
            break;
    }
    crest_distribution *window = crest_distribution_copy(values->last);
    if (window != NULL && crest_distribution_subtract(window, from) == CREST_OK)
        for (unsigned q = 0; q < CREST_QUANTILES_MAX && quantiles[q] != 0; q++)
            result->quantiles[q] = (double)crest_distribution_quantile(window, quantiles[q]);
    crest_distribution_free(window);
}

/* ---- a reading ---- */

static int values_take_new(crest_window_values *values, const crest_window_times *times,
                           const crest_metric *metric, crest_distribution *now, int past)
{
    uint64_t growth = now->sum - (values->last != NULL ? values->last->sum : 0);
    crest_note note = past ? (crest_note){.value = 0} : values_maximum(values, now);
    values->sum[times->newest] = past ? 0 : growth;
    values->maximum[times->newest] = note.value;
    if (times->bins != 0 && times->count > 1)
        values->bin[times->bin].sum += values->sum[times->newest];
    int first = values->last == NULL;
    crest_distribution_free(values->last);
    values->last = now;
    int whole = metric->kind != CREST_KIND_TIMER ||
                crest_slowest_push(&values->slowest, times->newest, &note);
    if (values->points != NULL)
        whole &= first ? values_begin_points(values, times, past) : values_keep(values, times);
    return whole;
}

int crest_window_values_take(crest_window_values *values, const crest_window_times *times,
                             const crest_metric *metric, crest_distribution *now, int past)
{
    const crest_note none = {.value = 0};
    int whole = 1;
    if (now != NULL && values->rough != 0)
        values_refine(values, crest_window_times_reading(times, 1), now);
    if (times->bins != 0 && times->bin_count != 0) {
        whole = values_settle(values, times);
        if (times->bin_opened)
            values_open(values, times);
    }
    if (now != NULL)
        return values_take_new(values, times, metric, now, past) && whole;
    values->sum[times->newest] = values->maximum[times->newest] = 0;
    crest_slowest_push(&values->slowest, times->newest, &none);
    if (values->points != NULL)
        whole &= values_keep(values, times);
    return whole;
}

/* The maximum of the newest `count` ticks; of equal ticks, the newest. */
static uint64_t values_of_ticks(const crest_window_values *values, const crest_window_times *times,
                                unsigned count, crest_window *result, uint64_t *sum)
{
    uint64_t maximum = 0;
    unsigned of_maximum = times->newest;
    for (unsigned back = 0; back < count; back++) {
        unsigned reading = crest_window_times_reading(times, back);
        *sum += values->sum[reading];
        if (values->maximum[reading] > maximum) {
            maximum = values->maximum[reading];
            of_maximum = reading;
        }
    }
    result->slowest = crest_slowest_of(&values->slowest, of_maximum, maximum);
    return maximum;
}

void crest_window_values_result(const crest_window_values *values, const crest_window_times *times,
                                const crest_metric *metric, const crest_window_span *span,
                                crest_window *result)
{
    uint64_t sum = 0, newest = 0, maximum;
    if (span->window_s == CREST_WINDOW_S) {
        maximum = values_of_ticks(values, times, span->count, result, &sum);
    } else {
        maximum = values_of_ticks(values, times, 1, result, &newest);
        for (unsigned back = 0; back < span->count; back++) {
            unsigned bin = crest_window_times_bin(times, back);
            sum += values->bin[bin].sum;
            if (values->bin[bin].maximum > maximum ||
                (maximum != 0 && values->bin[bin].maximum == maximum &&
                 result->slowest.kind == CREST_OP_NONE)) {
                maximum = values->bin[bin].maximum;
                result->slowest = crest_slowest_of(&values->slowest_bins, bin, maximum);
            }
        }
    }
    result->average = (double)sum / (double)result->events;
    result->maximum = (double)maximum;
    if (metric->quantiles != NULL)
        values_quantiles(values, times, metric->quantiles, span, result);
}
