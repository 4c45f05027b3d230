/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reporters with one name a figure make of a series: its base unit, and the results of its
 * windows with their names: rate1m, peak1m, avg1m, max1m, min1m, p99_9_1m. Pure.
 */
#ifndef CREST_REPORTERS_SERIES_FIGURES_H
#define CREST_REPORTERS_SERIES_FIGURES_H

#include <crest/snapshot.h>

/* Decimals between a value and its base unit: 9 of nanoseconds, 0 of what is no time. */
unsigned crest_series_decimals(const crest_series_view *series);

/* A value of the series in its base unit: times in seconds. */
double crest_series_in_base_unit(const crest_series_view *series, double value);

/* Takes a figure of a window; non-zero to stop. */
typedef int crest_window_figure_fn(void *context, const char *name, double value);

/*
 * Each result of the windows of series `index` that have been observed, in the base unit. Of a
 * window without a record only the rates are there, as 0. Returns what `figure` stopped with, else
 * 0.
 */
int crest_window_figures(const crest_snapshot *snapshot, size_t index,
                         const crest_series_view *series, crest_window_figure_fn *figure,
                         void *context);

#endif
