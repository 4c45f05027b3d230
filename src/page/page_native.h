/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms of a protobuf page: classic buckets, native ones, and exemplars. See page_protobuf.h.
 */
#ifndef CREST_PAGE_NATIVE_H
#define CREST_PAGE_NATIVE_H

#include "distributions/native_buckets.h"
#include "page/page_families.h"

/* Bytes of a series' value: classic buckets, the exemplar twice, and for each native bucket a span
 * and three deltas. Three, since up to two empty buckets before it are written. */
#define CREST_PROTOBUF_VALUE_BYTES                                                                 \
    (512u + (CREST_BUCKETS_MAX + 1u) * 26u + 2u * 192u + CREST_NATIVE_BUCKETS_MAX * (16u + 30u))

/* What the histograms of a page share. Before its first, native.runs.cut is set to 0. */
typedef struct crest_protobuf_histograms {
    const crest_page *page;
    const crest_page_metric *metric;
    unsigned decimals;
    int mode;             /* CREST_PAGE_NATIVE_, of this family */
    int schema;           /* the finest schema that is wanted */
    unsigned limit;       /* native buckets, at most */
    const double *bounds; /* of classic buckets */
    unsigned bound_count;
    uint64_t limits[CREST_BUCKETS_MAX];
    crest_native native;
} crest_protobuf_histograms;

/* Begins a metric, which is borrowed until the next. */
void crest_protobuf_histograms_begin(crest_protobuf_histograms *histograms, const crest_page *page,
                                     const crest_page_metric *metric, unsigned decimals);
/* Writes the value of series `index`, Metric.histogram, into CREST_PROTOBUF_VALUE_BYTES; returns
 * its end. */
char *crest_protobuf_histogram(crest_protobuf_histograms *histograms, const crest_page_row *row,
                               size_t index, char *at);

#endif
