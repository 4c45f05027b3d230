/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of crest_window_results in <crest/window.h>: the results of a metric's windows, and
 * the quantiles that a metric may ask for.
 */
#ifndef CREST_DERIVED_RESULTS_H
#define CREST_DERIVED_RESULTS_H

#include <crest/window.h>

/* Whether a metric may ask for these quantiles (up to the first 0): each is above 0 and below 1, no
 * two are the same, also after rounding to eight decimals. */
int crest_quantiles_valid(const double *quantiles);

/* The qualifier of the `index`-th result of a window of this many seconds, for a metric of this
 * kind. `quantiles` end at the first 0; NULL: none. Returns 0 past the last result. Any handler. */
int crest_window_qualifier(crest_kind kind, const double *quantiles, unsigned index,
                           unsigned window_s, char text[CREST_WINDOW_QUALIFIER_BYTES]);

/* Whether an exported name has the form of a derived name behind a non-empty stem: x_rate1m,
 * x_avg15m_seconds, x_p99_9_5m. Any handler. */
int crest_derived_looks(const char *exported);

/* The same as crest_window_results, without a series. */
unsigned crest_window_results_of(crest_kind kind, const double *quantiles, const unsigned *window_s,
                                 unsigned windows, crest_window_result *results);

#endif
