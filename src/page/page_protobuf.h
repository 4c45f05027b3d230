/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages in Prometheus' protobuf format: io.prometheus.client.MetricFamily, each behind its length.
 *
 *     page_protobuf.c   the page: families, labels, counters, gauges, what windows compute
 *     page_native.c     histograms: classic buckets, native ones, exemplars
 *
 * The families are those of the text page, under its names, with its values. A family is one
 * message, because a Pushgateway keeps only the last of those of one name; one that is longer than
 * the buffer is encoded twice, so the snapshot must not be one that reads values as they are asked
 * for (crest_snapshot_take_passing). Fields go out in the order of their numbers, and positive
 * deltas packed: as Prometheus' own definition has them.
 *
 * Sources: prometheus/client_model, io/prometheus/client/metrics.proto, and
 * prometheus.io/docs/specs/native_histograms; what Prometheus 2.42 and Pushgateway 1.5.1 take.
 */
#ifndef CREST_PAGE_PROTOBUF_H
#define CREST_PAGE_PROTOBUF_H

#include "cells/native_buckets.h"
#include "page/page_families.h"
#include "wire/protobuf.h"

/* Bytes of a series' value: classic buckets, the exemplar twice, and of each native bucket a span
 * and three deltas, for up to two empty buckets before it are said. */
#define CREST_PROTOBUF_VALUE_BYTES                                                                 \
    (512u + (CREST_BUCKETS_MAX + 1u) * 26u + 2u * 192u + CREST_NATIVE_BUCKETS_MAX * (16u + 30u))

/* Numbers of fields, as far as more than one file has them. */
enum { CREST_PROTOBUF_METRIC_LABEL = 1, CREST_PROTOBUF_METRIC_HISTOGRAM = 7 };

/* What the histograms of a page share; zeroed before its first. */
typedef struct crest_protobuf_histograms {
    const crest_page *page;
    const crest_page_metric *metric;
    unsigned decimals;
    int schema;           /* the finest that is wanted */
    unsigned limit;       /* native buckets at most */
    const double *bounds; /* of classic buckets */
    unsigned bound_count;
    uint64_t limits[CREST_BUCKETS_MAX];
    crest_native native;
} crest_protobuf_histograms;

/* Begins a metric, that is borrowed until the next. */
void crest_protobuf_histograms_begin(crest_protobuf_histograms *histograms, const crest_page *page,
                                     const crest_page_metric *metric, unsigned decimals);
/* The value of series `index`, Metric.histogram, into CREST_PROTOBUF_VALUE_BYTES; its end. */
char *crest_protobuf_histogram(crest_protobuf_histograms *histograms, const crest_page_row *row,
                               size_t index, char *at);

/* value / 10^decimals, rounded once. decimals: 0 to 9. */
double crest_protobuf_scaled(uint64_t value, unsigned decimals);
/* A google.protobuf.Timestamp, as the field of this number. */
char *crest_protobuf_time(char *at, unsigned field, uint64_t seconds, uint32_t nanoseconds);
/* A LabelPair, as the field of this number; both texts are valid UTF-8. */
char *crest_protobuf_label(char *at, unsigned field, const char *key, size_t key_bytes,
                           const char *value, size_t value_bytes);

/* All of it. Its windows have been chosen. */
void crest_page_put_protobuf(const crest_page *page);

#endif
