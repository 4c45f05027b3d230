/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences to what was delivered. See otlp_delta.h.
 *
 * To the encoder a snapshot is only what it hands to the source: here, the whole difference.
 */
#include "otlp/otlp_delta.h"
#include "distributions/native_cells.h"
#include "snapshot/snapshot_inside.h"

#include <string.h>

static crest_otlp_delta *delta_of(const crest_snapshot *snapshot)
{
    return (crest_otlp_delta *)(uintptr_t)snapshot;
}

static const crest_snapshot *delta_now(const crest_snapshot *snapshot)
{
    return delta_of(snapshot)->report.snapshot;
}

void crest_otlp_delta_init(crest_otlp_delta *delta, const crest_snapshot *snapshot,
                           const crest_otlp_options *options)
{
    memset(delta, 0, sizeof *delta);
    delta->report.snapshot = snapshot;
    delta->report.previous = options->previous;
    delta->delivered = options->delivered;
    delta->delivered_context = options->delivered_context;
    delta->index = SIZE_MAX;
}

void crest_otlp_delta_fini(crest_otlp_delta *delta)
{
    crest_distribution_free(delta->grown);
}

uint64_t crest_otlp_delta_since(const crest_otlp_delta *delta, const crest_page_row *row)
{
    for (unsigned i = 0; i < CREST_PAGE_ROWS && delta->rows != NULL; i++)
        if (row == delta->rows + i)
            return delta->since_ns[i];
    return 0;
}

/* Fills *was with what was delivered of a series; CREST_NOT_FOUND: nothing. */
static crest_status delta_before(const crest_otlp_delta *delta, size_t index,
                                 crest_otlp_delivered *was)
{
    crest_series_view series;
    crest_status status;
    if (delta->delivered != NULL) {
        status = crest_snapshot_series(delta->report.snapshot, index, &series);
        return status == CREST_OK ? delta->delivered(delta->delivered_context, index, &series, was)
                                  : status;
    }
    status = crest_report_previous(&delta->report, index, &series);
    *was = (crest_otlp_delivered){series.counter, series.distribution,
                                  crest_snapshot_wall_ns(delta->report.previous)};
    return status;
}

static size_t delta_size(const crest_snapshot *snapshot)
{
    return crest_snapshot_size(delta_now(snapshot));
}

static void delta_metric(const crest_snapshot *snapshot, size_t index, crest_page_metric *metric)
{
    crest_page_source_snapshot.metric(delta_now(snapshot), index, metric);
}

/* A value of a life never falls; were it otherwise, all of it would be new. */
static uint64_t delta_grown(uint64_t now, uint64_t before)
{
    return now >= before ? now - before : now;
}

static unsigned delta_rows(const crest_snapshot *snapshot, const crest_page_metric *metric,
                           size_t index, crest_page_row *rows, unsigned room)
{
    unsigned count =
        crest_page_source_snapshot.rows(delta_now(snapshot), metric, index, rows, room);
    crest_otlp_delta *delta = delta_of(snapshot);
    crest_otlp_delivered before;
    memset(delta->since_ns, 0, sizeof delta->since_ns);
    delta->rows = rows;
    for (unsigned i = 0; i < count; i++) {
        if (delta_before(delta, index + i, &before) != CREST_OK)
            continue;
        if (before.wall_ns != 0) /* not of this process: as of the series' beginning here */
            rows[i].made_s = 0;
        if (i < CREST_PAGE_ROWS)
            delta->since_ns[i] = before.wall_ns;
        if (metric->first.kind == CREST_KIND_COUNTER)
            rows[i].counter = delta_grown(rows[i].counter, before.counter);
    }
    return count;
}

/* What has come to a series' distribution; NULL: nothing. */
static const crest_distribution *delta_distribution(const crest_snapshot *snapshot, size_t index)
{
    crest_otlp_delta *delta = delta_of(snapshot);
    crest_otlp_delivered before;
    if (delta->index == index)
        return delta->grown;
    const crest_distribution *now = crest_snapshot_distribution(delta_now(snapshot), index);
    crest_distribution_free(delta->grown);
    delta->grown = NULL;
    delta->index = index;
    if (delta_before(delta, index, &before) != CREST_OK)
        before.distribution = NULL;
    if (crest_distribution_count(now) == crest_distribution_count(before.distribution))
        return NULL;
    delta->grown = crest_distribution_copy(now);
    if (delta->grown == NULL)
        delta->lacked = 1;
    else
        crest_distribution_subtract(delta->grown, before.distribution);
    return delta->grown;
}

static unsigned delta_windows(const crest_snapshot *snapshot, unsigned window_s[CREST_WINDOWS_MAX])
{
    return crest_snapshot_windows(delta_now(snapshot), window_s);
}

static crest_status delta_window(const crest_snapshot *snapshot, size_t index, unsigned window_s,
                                 crest_window *window)
{
    return crest_snapshot_window(delta_now(snapshot), index, window_s, window);
}

static void delta_totals(const crest_snapshot *snapshot, size_t index, const uint64_t *limits,
                         unsigned count, crest_totals *totals)
{
    crest_totals_of(delta_distribution(snapshot, index), limits, count, totals);
}

static int delta_native(const crest_snapshot *snapshot, size_t index, int schema, unsigned limit,
                        unsigned decimals, crest_native *native)
{
    return crest_native_of(native, schema, limit, decimals,
                           delta_now(snapshot)->directory->series[index]->metric->layout,
                           delta_distribution(snapshot, index));
}

static uint64_t delta_wall_ns(const crest_snapshot *snapshot)
{
    return crest_snapshot_wall_ns(delta_now(snapshot));
}

static void delta_extremes(const crest_snapshot *snapshot, size_t index, uint64_t *minimum,
                           uint64_t *maximum)
{
    const crest_distribution *grown = delta_distribution(snapshot, index);
    *minimum = crest_distribution_min(grown);
    *maximum = crest_distribution_max(grown);
}

const crest_page_source crest_otlp_source_delta = {
    delta_size,   delta_metric, delta_rows,    delta_windows,  delta_window,
    delta_totals, delta_native, delta_wall_ns, delta_extremes,
};
