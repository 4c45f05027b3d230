/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages in Prometheus' protobuf format: io.prometheus.client.MetricFamily, each behind its length.
 *
 *     page_protobuf.c   the page: families, labels, counters, gauges, what windows compute
 *     page_native.c     histograms: classic buckets, native ones, exemplars
 *     protobuf_fields.c numbers, times and labels
 *
 * The families are those of the text page, with its names and values. A family is one message,
 * because a Pushgateway keeps only the last of those of one name. A message longer than 1 MiB, or
 * than there is memory for, is encoded twice. So the snapshot must not be one that reads values on
 * demand (crest_snapshot_take_passing). Fields go out in the order of their numbers, and positive
 * deltas packed, as in Prometheus' own definition.
 *
 * Sources: prometheus/client_model, io/prometheus/client/metrics.proto, and
 * prometheus.io/docs/specs/native_histograms; what Prometheus 2.42 and Pushgateway 1.5.1 take.
 */
#ifndef CREST_PAGE_PROTOBUF_H
#define CREST_PAGE_PROTOBUF_H

#include "page/page_families.h"

/* Writes the whole page. Its windows have been chosen. Allocates some 50 KiB; 0 without them. */
int crest_page_put_protobuf(const crest_page *page);

#endif
