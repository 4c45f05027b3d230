/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the encoder of pages reads: a snapshot, metric by metric, and the series of a metric in
 * rows. A row holds no more than a line of a page needs. A crest_series_view takes longer to fill
 * than such a line takes to write.
 *
 *     crest_page_metric metric;
 *     source->metric(snapshot, first, &metric);
 *     while ((count = source->rows(snapshot, &metric, at, rows, CREST_PAGE_ROWS)) != 0)
 *         at += count;
 *
 * An interface, so that a test can give the encoder any snapshot without threads, tickers or memory
 * mappings. For real snapshots: crest_page_source_snapshot, page_rows.c.
 */
#ifndef CREST_PAGE_SOURCE_H
#define CREST_PAGE_SOURCE_H

#include "distributions/bucket_totals.h"
#include "distributions/native_buckets.h"
#include "metrics/metric_inside.h"
#include <crest/snapshot.h>

/* Rows that are read at a time. So few, because with each row the source prefetches a later one:
 * with a million series none is in a cache, and 64 prefetches at once would be waited for. */
#define CREST_PAGE_ROWS 8u
/* Labels of a row: those of a family of stages, and a timer's outcome. */
#define CREST_PAGE_LABELS_MAX (CREST_LABELS_KEPT_MAX + 1)

/* A metric, by its first series. */
typedef struct crest_page_metric {
    crest_series_view first;
    /* how many of the first labels have the same value in all series; rows begin behind them */
    unsigned constants;
    int made;             /* rows are to say when series were made */
    const void *identity; /* the source's own data */
} crest_page_metric;

/* One series, without its distribution. */
typedef struct crest_page_row {
    const char *const *values; /* of the labels that are not constant */
    union {
        uint64_t counter;
        double gauge;
        int64_t current;
    };
    uint32_t made_s; /* since 1970; 0: not known, or not asked for */
    /* non-zero: the values are valid UTF-8, need no escaping, and `bytes` and `lengths` are
     * theirs */
    uint16_t plain;
    uint16_t bytes; /* of all values together */
    uint16_t lengths[CREST_PAGE_LABELS_MAX];
} crest_page_row;

/* The reading half of <crest/snapshot.h> for the encoder. */
typedef struct crest_page_source {
    size_t (*size)(const crest_snapshot *snapshot);
    /* The metric of series `index`, which is below the size; sets all but `made`. */
    void (*metric)(const crest_snapshot *snapshot, size_t index, crest_page_metric *metric);
    /* The series from `index` on, at most `room` of them and none of another metric. 0 at the
     * metric's end, and only there: fewer than `room` do not mean the end. */
    unsigned (*rows)(const crest_snapshot *snapshot, const crest_page_metric *metric, size_t index,
                     crest_page_row *rows, unsigned room);
    /* As the functions of these names in <crest/snapshot.h>. */
    unsigned (*windows)(const crest_snapshot *snapshot, unsigned window_s[CREST_WINDOWS_MAX]);
    crest_status (*window)(const crest_snapshot *snapshot, size_t index, unsigned window_s,
                           crest_window *window);
    /* As crest_snapshot_totals. */
    void (*totals)(const crest_snapshot *snapshot, size_t index, const uint64_t *limits,
                   unsigned count, crest_totals *totals);
    /* As crest_native_of, of the series' distribution. */
    int (*native)(const crest_snapshot *snapshot, size_t index, int schema, unsigned limit,
                  unsigned decimals, crest_native *native);
    /* As crest_snapshot_wall_ns. */
    uint64_t (*wall_ns)(const crest_snapshot *snapshot);
    /* As crest_distribution_min and _max, of the series' distribution. */
    void (*extremes)(const crest_snapshot *snapshot, size_t index, uint64_t *minimum,
                     uint64_t *maximum);
} crest_page_source;

extern const crest_page_source crest_page_source_snapshot;

#endif
