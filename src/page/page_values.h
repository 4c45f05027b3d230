/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a metric on a page: its own family, here of counters, gauges and range samplers, and
 * the families of what windows compute of it.
 */
#ifndef CREST_PAGE_VALUES_H
#define CREST_PAGE_VALUES_H

#include "page/page_distributions.h"

/* Writes the metric's own family, if it is wanted; `first` is its first series. Returns where the
 * metric ends. `bounds` is kept from one metric to the next, zeroed before the first. */
size_t crest_page_put_metric(const crest_page *page, const crest_page_metric *metric, size_t first,
                             crest_page_bounds *bounds);

/* The families that windows compute of the series from `first` to `end`; page_windows.c. */
void crest_page_put_windows(const crest_page *page, const crest_page_metric *metric, size_t first,
                            size_t end);

#endif
