/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder of Prometheus' text format 0.0.4: a snapshot in, bytes out, and nothing else; no
 * clock, no locale, no registry. The public way to it is <crest/page.h>.
 *
 * It reads through a crest_page_source rather than from the snapshot itself, so that a test can
 * give it any snapshot without threads, tickers or memory mappings.
 *
 * Source: prometheus.io/docs/instrumenting/exposition_formats, and, where that is silent, what
 * Prometheus 2.42 and Pushgateway 1.5.1 accept: each family in one piece under one HELP and TYPE,
 * no timestamps, valid UTF-8 everywhere, a line feed at the end of every line.
 */
#ifndef CREST_PROMETHEUS_TEXT_H
#define CREST_PROMETHEUS_TEXT_H

#include <crest/page.h>

/* Labels of crest_target_info. */
#define CREST_TARGET_LABELS_MAX 64u

/* The reading half of <crest/snapshot.h>: members as the functions of these names there. */
typedef struct crest_page_source {
    size_t (*size)(const crest_snapshot *snapshot);
    crest_status (*series)(const crest_snapshot *snapshot, size_t index, crest_series_view *view);
    uint64_t (*count)(const crest_distribution *distribution);
    uint64_t (*sum)(const crest_distribution *distribution);
    int (*next)(const crest_distribution *distribution, size_t *cursor, crest_bucket *bucket);
} crest_page_source;

/* As crest_snapshot_write, for formats that there are. `snapshot` is only ever handed to the source. */
crest_status crest_prometheus_text_write(const crest_page_source *source,
                                         const crest_snapshot *snapshot, crest_format format,
                                         const crest_page_options *options, crest_write_fn *write,
                                         void *context, crest_error *error);

#endif
