/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From snapshots to lines. See json_report.h.
 */
#include "json/json_report.h"
#include "json/json_line.h"

#include <string.h>

int crest_json_report_write(const crest_report *report, const crest_json_choice *choice,
                            crest_write_fn *write, void *context)
{
    const crest_json_report shared = {
        .wall_ns = crest_snapshot_wall_ns(report->snapshot),
        .number = choice->number,
        .resource = report->resource,
        .delta_s = report->previous == NULL ? -1
                                            : (double)(crest_snapshot_time_ns(report->snapshot) -
                                                       crest_snapshot_time_ns(report->previous)) /
                                                  1e9,
        .final = report->final,
        .buckets = choice->buckets,
    };
    size_t size = crest_snapshot_size(report->snapshot);
    for (size_t i = 0; i < size; i++) {
        crest_series_view view, previous;
        crest_json_series series = {.view = &view};
        if (crest_snapshot_series(report->snapshot, i, &view) != CREST_OK)
            continue;
        if (crest_report_previous(report, i, &previous) == CREST_OK)
            series.previous = &previous;
        for (unsigned w = 0; w < CREST_JSON_LINE_WINDOWS && !choice->no_windows; w++)
            (void)crest_snapshot_window(report->snapshot, i, crest_json_line_windows[w].seconds,
                                        &series.windows[w]);
        int stopped = crest_json_line_write(&shared, &series, write, context);
        if (stopped)
            return stopped;
    }
    return 0;
}

crest_status crest_json_report_buckets(const crest_options *options, const char *key,
                                       crest_json_buckets *buckets, crest_error *error)
{
    static const char *const words[] = {"powers", "all", "none"};
    const char *value = crest_option(options, key);
    if (value == NULL)
        return CREST_OK;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(value, words[i]) == 0) {
            *buckets = (crest_json_buckets)i;
            return CREST_OK;
        }
    return crest_error_set(error, CREST_INVALID_OPTIONS,
                           "%s=%.100s: buckets are powers, all or none", key, value);
}
