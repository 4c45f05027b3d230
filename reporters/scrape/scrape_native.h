/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a scrape endpoint that are about native histograms: prometheus.native,
 * prometheus.native.factor and prometheus.native.buckets.
 */
#ifndef CREST_REPORTERS_SCRAPE_NATIVE_H
#define CREST_REPORTERS_SCRAPE_NATIVE_H

#include <crest/prometheus.h>

#define CREST_SCRAPE_NATIVE "prometheus.native"
#define CREST_SCRAPE_NATIVE_FACTOR CREST_SCRAPE_NATIVE ".factor"
#define CREST_SCRAPE_NATIVE_BUCKETS CREST_SCRAPE_NATIVE ".buckets"

/* Reads them from text; CREST_INVALID_OPTIONS, and what is wrong. */
crest_status crest_scrape_native_read(const crest_options *options, crest_prometheus_options *made,
                                      crest_error *error);
/* CREST_INVALID_ARGUMENT for values that no page can have. */
crest_status crest_scrape_native_check(const crest_prometheus_options *options, crest_error *error);
/* Copies them into the options of pages. */
void crest_scrape_native_copy(crest_page_options *page, const crest_prometheus_options *options);

#endif
