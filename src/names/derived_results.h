/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of crest_window_results in <crest/window.h>: what the windows of a metric give, and
 * the quantiles that one may ask for.
 */
#ifndef CREST_DERIVED_RESULTS_H
#define CREST_DERIVED_RESULTS_H

#include <crest/window.h>

/* Whether quantiles, up to the first 0, are some that a metric may ask for: each above 0 and below
 * 1, also when rounded to eight decimals, and no two the same then. */
int crest_quantiles_valid(const double *quantiles);

/* The qualifier of the `index`-th result that the window of so many seconds gives of a metric of
 * this kind; `quantiles` up to the first 0, or NULL. 0 at the end. Any handler. */
int crest_window_qualifier(crest_kind kind, const double *quantiles, unsigned index,
                           unsigned window_s, char text[CREST_WINDOW_QUALIFIER_BYTES]);

/* Whether an exported name ends like one that windows derive, with a name before that: x_rate1m,
 * x_avg15m_seconds, x_p99_9_5m. Any handler. */
int crest_derived_looks(const char *exported);

/* The same as crest_window_results, without a series. */
unsigned crest_window_results_of(crest_kind kind, const double *quantiles, const unsigned *window_s,
                                 unsigned windows, crest_window_result *results);

#endif
