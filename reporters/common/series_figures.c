/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of series. See series_figures.h.
 */
#include "common/series_figures.h"
#include "common/decimal.h"

#include <stdio.h>

/* Of "p99_999999_15m" and shorter ones. */
#define SERIES_FIGURES_NAME_BYTES 64u

unsigned crest_series_decimals(const crest_series_view *series)
{
    if (series->kind == CREST_KIND_TIMER)
        return 9;
    switch (series->unit) {
    case CREST_NANOSECONDS: return 9;
    case CREST_MICROSECONDS: return 6;
    case CREST_MILLISECONDS: return 3;
    default: return 0;
    }
}

double crest_series_in_base_unit(const crest_series_view *series, double value)
{
    static const double scales[] = {1, 0, 0, 1e3, 0, 0, 1e6, 0, 0, 1e9};
    return value / scales[crest_series_decimals(series)];
}

static const char *series_figures_word(unsigned window_s)
{
    return window_s == 60 ? "1m" : window_s == 300 ? "5m" : "15m";
}

/* "p99_9_1m" of 0.999. */
static void series_figures_quantile(char name[SERIES_FIGURES_NAME_BYTES], double quantile,
                                    const char *word)
{
    char number[CREST_DECIMAL_BYTES];
    /* to eight decimals, by which a metric's quantiles are told apart */
    size_t length = crest_decimal_scaled(number, (uint64_t)(quantile * 1e8 + 0.5), 6);
    for (size_t i = 0; i < length; i++)
        if (number[i] == '.')
            number[i] = '_';
    snprintf(name, SERIES_FIGURES_NAME_BYTES, "p%s_%s", number, word);
}

static int series_figures_quantiles(const crest_series_view *series, const crest_window *window,
                                    const char *word, crest_window_figure_fn *figure, void *context)
{
    int stopped = 0;
    for (unsigned i = 0; i < CREST_QUANTILES_MAX && series->quantiles != NULL &&
                         series->quantiles[i] != 0 && !stopped;
         i++) {
        char name[SERIES_FIGURES_NAME_BYTES];
        series_figures_quantile(name, series->quantiles[i], word);
        stopped = figure(context, name, crest_series_in_base_unit(series, window->quantiles[i]));
    }
    return stopped;
}

/* Results in the metric's unit are scaled; events a second of a distribution are not. */
static int series_figures_of(const crest_series_view *series, const crest_window *window,
                             const char *word, crest_window_figure_fn *figure, void *context)
{
    int range = series->kind == CREST_KIND_RANGE_SAMPLER;
    int counter = series->kind == CREST_KIND_COUNTER;
    int values = range || (!counter && window->events != 0);
    const struct {
        const char *name;
        int wanted, scaled;
        double value;
    } results[] = {{"rate", !range, counter, window->per_second},
                   {"peak", !range, counter, window->peak},
                   {"avg", values, 1, window->average},
                   {"max", values, 1, window->maximum},
                   {"min", range, 1, window->minimum}};
    int stopped = 0;
    for (unsigned i = 0; i < sizeof results / sizeof *results && !stopped; i++) {
        char name[SERIES_FIGURES_NAME_BYTES];
        double value = results[i].value;
        if (results[i].scaled)
            value = crest_series_in_base_unit(series, value);
        snprintf(name, sizeof name, "%s%s", results[i].name, word);
        if (results[i].wanted)
            stopped = figure(context, name, value);
    }
    return stopped || !values ? stopped
                              : series_figures_quantiles(series, window, word, figure, context);
}

int crest_window_figures(const crest_snapshot *snapshot, size_t index,
                         const crest_series_view *series, crest_window_figure_fn *figure,
                         void *context)
{
    unsigned window_s[CREST_WINDOWS_MAX];
    unsigned count = crest_snapshot_windows(snapshot, window_s);
    int stopped = 0;
    for (unsigned i = 0; i < count && !stopped; i++) {
        crest_window window;
        if (crest_snapshot_window(snapshot, index, window_s[i], &window) == CREST_OK &&
            window.covered_s > 0)
            stopped = series_figures_of(series, &window, series_figures_word(window_s[i]), figure,
                                        context);
    }
    return stopped;
}
