/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What windows keep of a distribution beside its growth: sums, maxima and the operations of the
 * maxima, of each tick and bin. Where quantiles are asked for, earlier readings of it too.
 */
#ifndef CREST_WINDOW_VALUES_H
#define CREST_WINDOW_VALUES_H

#include "distributions/distribution_inside.h"
#include "metrics/slowest_note.h"
#include "windows/window_times.h"

/* A window's quantiles are of what was recorded since an earlier reading, up to a tenth of the
 * window older than its length: a reading is kept for each step of a tenth. */
#define CREST_QUANTILE_STEPS 10u

typedef struct crest_window_points {
    uint64_t at_ns[CREST_WINDOWS_MAX][CREST_QUANTILE_STEPS + 1];              /* elapsed_ns then */
    crest_distribution *reading[CREST_WINDOWS_MAX][CREST_QUANTILE_STEPS + 1]; /* NULL: empty */
    unsigned newest[CREST_WINDOWS_MAX];
    unsigned count[CREST_WINDOWS_MAX];
} crest_window_points;

typedef struct crest_window_values {
    crest_distribution *last;    /* the newest reading */
    crest_note early;            /* noted in a tick that had not counted it yet */
    uint64_t rough;              /* the last maximum, if only its bucket was known, else 0 */
    crest_slowest slowest;       /* timers: the operations of the ticks' maxima */
    crest_slowest slowest_bins;  /* and of the bins' maxima */
    crest_window_points *points; /* where quantiles are asked for */
    uint64_t sum[CREST_WINDOW_READINGS];
    uint64_t maximum[CREST_WINDOW_READINGS];
    struct crest_window_bin_values {
        uint64_t sum;
        uint64_t maximum; /* the newest tick's may still change: its note may come late */
    } bin[];
} crest_window_values;

/* Without readings; NULL without memory. */
crest_window_values *crest_window_values_new(const crest_window_times *times,
                                             const crest_metric *metric);
void crest_window_values_free(crest_window_values *values);

/*
 * Takes the newest reading, and owns it from then on. NULL: the series is not in snapshots, so the
 * reading before stands. `past`: its contents are not of this tick. 0 if memory lacked, and
 * something is missing.
 */
int crest_window_values_take(crest_window_values *values, const crest_window_times *times,
                             const crest_metric *metric, crest_distribution *now, int past);

/* Fills average, maximum, slowest and quantiles of a window that has events. */
void crest_window_values_result(const crest_window_values *values, const crest_window_times *times,
                                const crest_metric *metric, const crest_window_span *span,
                                crest_window *result);

#endif
