/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of state files: what the encoder reads, as of a snapshot. See <crest/state.h>.
 */
#include "base/error.h"
#include "base/uncancelled.h"
#include "distributions/native_cells.h"
#include "page/exposition.h"
#include "remains/remains.h"

#include <string.h>

/* The encoder hands its snapshot to the source only, so it may be something else. */
static const crest_remains *remains_of(const crest_snapshot *snapshot)
{
    return (const crest_remains *)(const void *)snapshot;
}

static void remains_view(const crest_remains_entry *entry, crest_series_view *view)
{
    const crest_remains_metric *metric = entry->metric;
    *view = (crest_series_view){.name = metric->texts[0],
                                .exported = metric->texts[1],
                                .description = metric->texts[2],
                                .kind = (crest_kind)metric->record->kind,
                                .unit = (crest_unit)metric->record->unit,
                                .label_count = metric->labels,
                                .label_keys = metric->keys,
                                .label_values = entry->values,
                                .buckets = metric->layout.blocks != 0 ? &metric->buckets : NULL,
                                .distribution = entry->distribution,
                                .life = entry->birth + 1,
                                .open = metric->record->open != 0};
    if (view->kind == CREST_KIND_COUNTER)
        view->counter = entry->counter;
    else if (view->kind == CREST_KIND_GAUGE)
        view->gauge = entry->gauge;
    else if (view->kind == CREST_KIND_RANGE_SAMPLER)
        view->current = entry->current;
}

crest_status crest_remains_series(const crest_remains *remains, size_t index,
                                  crest_series_view *view)
{
    if (index >= remains->count)
        return CREST_INVALID_ARGUMENT;
    remains_view(&remains->entries[index], view);
    return CREST_OK;
}

/* ---- the source ---- */

static size_t remains_size(const crest_snapshot *snapshot)
{
    return remains_of(snapshot)->count;
}

static void remains_page_metric(const crest_snapshot *snapshot, size_t index,
                                crest_page_metric *metric)
{
    const crest_remains_entry *entry = &remains_of(snapshot)->entries[index];
    remains_view(entry, &metric->first);
    metric->constants = entry->metric->constants;
    metric->identity = entry->metric;
}

static unsigned remains_rows(const crest_snapshot *snapshot, const crest_page_metric *metric,
                             size_t index, crest_page_row *rows, unsigned room)
{
    const crest_remains *remains = remains_of(snapshot);
    unsigned count = 0;
    for (; count < room && index + count < remains->count; count++) {
        const crest_remains_entry *entry = &remains->entries[index + count];
        if (entry->metric != metric->identity)
            break;
        rows[count] = (crest_page_row){.values = entry->values + entry->metric->constants,
                                       .counter = entry->counter,
                                       .made_s = metric->made ? entry->made_s : 0};
    }
    return count;
}

static unsigned remains_windows(const crest_snapshot *snapshot,
                                unsigned window_s[CREST_WINDOWS_MAX])
{
    (void)snapshot, (void)window_s;
    return 0;
}

static crest_status remains_window(const crest_snapshot *snapshot, size_t index, unsigned window_s,
                                   crest_window *window)
{
    (void)snapshot, (void)index, (void)window_s;
    memset(window, 0, sizeof *window);
    return CREST_NOT_FOUND;
}

static void remains_totals(const crest_snapshot *snapshot, size_t index, const uint64_t *limits,
                           unsigned count, crest_totals *totals)
{
    crest_totals_of(remains_of(snapshot)->entries[index].distribution, limits, count, totals);
}

static int remains_native(const crest_snapshot *snapshot, size_t index, int schema, unsigned limit,
                          unsigned decimals, crest_native *native)
{
    const crest_remains_entry *entry = &remains_of(snapshot)->entries[index];
    return entry->metric->layout.blocks != 0 &&
           crest_native_of(native, schema, limit, decimals, &entry->metric->layout,
                           entry->distribution);
}

static uint64_t remains_wall_ns(const crest_snapshot *snapshot)
{
    return remains_of(snapshot)->view->header->beat_wall_ns;
}

static void remains_extremes(const crest_snapshot *snapshot, size_t index, uint64_t *minimum,
                             uint64_t *maximum)
{
    const crest_distribution *distribution = remains_of(snapshot)->entries[index].distribution;
    *minimum = crest_distribution_min(distribution);
    *maximum = crest_distribution_max(distribution);
}

static const crest_page_source remains_source = {
    remains_size,   remains_page_metric, remains_rows,    remains_windows,  remains_window,
    remains_totals, remains_native,      remains_wall_ns, remains_extremes,
};

crest_status crest_remains_write(const crest_remains *remains, crest_format format,
                                 crest_write_fn *write, void *context, crest_error *error)
{
    CREST_UNCANCELLED;
    const crest_page_options options = {.windows = CREST_PAGE_WINDOWS_NONE};
    if ((unsigned)format > CREST_FORMAT_PROMETHEUS_PROTOBUF)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "There is no format %d.",
                               (int)format);
    return crest_exposition_write(&remains_source, (const crest_snapshot *)(const void *)remains,
                                  format, &options, write, context, error);
}
