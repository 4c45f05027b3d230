/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a snapshot, for the encoder of pages. See page_source.h.
 */
#include "base/arena.h"
#include "cells/created.h"
#include "distributions/native_cells.h"
#include "metrics/child.h"
#include "page/page_source.h"
#include "snapshot/snapshot_inside.h"

#include <string.h>

static void page_rows_metric(const crest_snapshot *snapshot, size_t index,
                             crest_page_metric *metric)
{
    crest_snapshot_describe(snapshot, index, &metric->first);
    const crest_metric *own = snapshot->directory->series[index]->metric;
    metric->constants = own->state->constant_count;
    metric->identity = own;
}

/* Finds the values' lengths: their texts lie one behind the other in the child. */
static inline void page_rows_lengths(crest_page_row *row, unsigned count, unsigned text_bytes)
{
    row->plain = count == 0 || text_bytes != 0;
    row->bytes = 0;
    if (!row->plain || count == 0)
        return;
    row->bytes = (uint16_t)(text_bytes - count);
    const char *text = row->values[0], *end = text + text_bytes;
    for (unsigned i = 1; i < count; text = row->values[i++])
        row->lengths[i - 1] = (uint16_t)(row->values[i] - text - 1);
    row->lengths[count - 1] = (uint16_t)(end - text - 1);
}

/* A row of a timer differs by its outcome, which lies elsewhere. */
static void page_rows_timer(const crest_series *series, unsigned count, crest_page_row *row)
{
    row->values = crest_series_values(series);
    page_rows_lengths(row, count, series->text_bytes);
    row->lengths[count] = (uint16_t)strlen(row->values[count]);
    row->bytes = (uint16_t)(row->bytes + row->lengths[count]);
}

/* Distance of the prefetch: series between a row's and the prefetched one. */
#define PAGE_ROWS_BETWEEN 64u

/* Prefetches the three lines that most series lie in, into the second-level cache. */
static inline void page_rows_prefetch(const crest_series *series)
{
    const char *line = (const char *)series;
    __builtin_prefetch(line, 0, 2);
    __builtin_prefetch(line + CREST_LINE_BYTES, 0, 2);
    __builtin_prefetch(line + 2 * CREST_LINE_BYTES, 0, 2);
}

/* Fills a row's values, but not a distribution's. */
static void page_rows_values(const crest_snapshot *snapshot, const crest_metric *own, size_t index,
                             crest_page_row *rows, unsigned count)
{
    uint64_t values[CREST_PAGE_ROWS];
    if (count == 0)
        return;
    crest_snapshot_values(snapshot, own->kind, index, count, values);
    for (unsigned i = 0; i < count; i++)
        rows[i].counter = values[i];
}

static unsigned page_rows_fill(const crest_snapshot *snapshot, const crest_page_metric *metric,
                               size_t index, crest_page_row *rows, unsigned room)
{
    const crest_directory *directory = snapshot->directory;
    const crest_metric *own = metric->identity;
    size_t left = directory->count - index, values = crest_child_bytes(own);
    crest_series *const *series = directory->series + index;
    unsigned count = 0, labels = own->label_count;
    for (; count < room && count < left && series[count]->metric == own; count++) {
        crest_page_row *row = &rows[count];
        if (left - count > PAGE_ROWS_BETWEEN)
            page_rows_prefetch(series[count + PAGE_ROWS_BETWEEN]);
        row->values = (const char *const *)((uintptr_t)series[count] + values);
        row->made_s = metric->made ? crest_made_s(series[count]->slot) : 0;
        if (own->kind == CREST_KIND_TIMER)
            page_rows_timer(series[count], labels, row);
        else
            page_rows_lengths(row, labels, series[count]->text_bytes);
    }
    if (own->layout == NULL)
        page_rows_values(snapshot, own, index, rows, count);
    return count;
}

static int page_rows_native(const crest_snapshot *snapshot, size_t index, int schema,
                            unsigned limit, unsigned decimals, crest_native *native)
{
    return crest_native_of(native, schema, limit, decimals,
                           snapshot->directory->series[index]->metric->layout,
                           crest_snapshot_distribution(snapshot, index));
}

static void page_rows_extremes(const crest_snapshot *snapshot, size_t index, uint64_t *minimum,
                               uint64_t *maximum)
{
    const crest_distribution *distribution = crest_snapshot_distribution(snapshot, index);
    *minimum = crest_distribution_min(distribution);
    *maximum = crest_distribution_max(distribution);
}

const crest_page_source crest_page_source_snapshot = {
    crest_snapshot_size,    page_rows_metric,       page_rows_fill,
    crest_snapshot_windows, crest_snapshot_window,  crest_snapshot_totals,
    page_rows_native,       crest_snapshot_wall_ns, page_rows_extremes,
};
