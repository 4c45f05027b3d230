/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A series as a JSON object. See json_line.h.
 */
#include "json/json_line.h"
#include "common/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Counts of a coarse walk: one for each power of two. */
#define JSON_LINE_FACTOR 2.0

/* ---- what all lines have ---- */

static void json_line_time(crest_json_output *output, uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm utc;
    memset(&utc, 0, sizeof utc);
    gmtime_r(&seconds, &utc);
    char text[80];
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%09uZ", utc.tm_year + 1900,
             utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
             (unsigned)(wall_ns % 1000000000u));
    crest_json_text(output, "time", text);
    crest_json_u64(output, "time_ns", wall_ns);
}

static void json_line_resource(crest_json_output *output, const crest_resource *resource)
{
    const char *const own[][2] = {{"service", resource->service},
                                  {"version", resource->version},
                                  {"instance", resource->instance}};
    crest_json_open(output, "resource");
    for (unsigned i = 0; i < 3; i++) {
        int again = own[i][1] == NULL || own[i][1][0] == '\0';
        for (unsigned k = 0; k < resource->label_count; k++)
            again |= strcmp(resource->labels[k].key, own[i][0]) == 0;
        if (!again)
            crest_json_pair(output, own[i][0], own[i][1]);
    }
    for (unsigned i = 0; i < resource->label_count; i++)
        crest_json_pair(output, resource->labels[i].key, resource->labels[i].value);
    crest_json_close(output);
}

static const char *json_line_unit(crest_unit unit)
{
    switch (unit) {
    case CREST_BYTES: return "bytes";
    case CREST_NANOSECONDS: return "nanoseconds";
    case CREST_MICROSECONDS: return "microseconds";
    case CREST_MILLISECONDS: return "milliseconds";
    case CREST_SECONDS: return "seconds";
    case CREST_RATIO: return "ratio";
    default: return "";
    }
}

static const char *json_line_kind(crest_kind kind)
{
    switch (kind) {
    case CREST_KIND_COUNTER: return "counter";
    case CREST_KIND_GAUGE: return "gauge";
    case CREST_KIND_HISTOGRAM: return "histogram";
    case CREST_KIND_TIMER: return "timer";
    case CREST_KIND_RANGE_SAMPLER: return "range sampler";
    default: return "";
    }
}

static void json_line_identity(crest_json_output *output, const crest_series_view *view)
{
    crest_json_text(output, "metric", view->name);
    crest_json_text(output, "kind", json_line_kind(view->kind));
    crest_json_text(output, "unit", json_line_unit(view->unit));
    crest_json_open(output, "labels");
    for (unsigned i = 0; i < view->label_count; i++)
        if (!view->open || view->label_values[i][0] != '\0')
            crest_json_pair(output, view->label_keys[i], view->label_values[i]);
    crest_json_close(output);
}

/* ---- values ---- */

/* The growth since the previous report; everything when there was none. */
static void json_line_delta(crest_json_output *output, const char *key, uint64_t now,
                            uint64_t before)
{
    crest_json_u64(output, key, now > before ? now - before : 0);
}

static void json_line_delta_time(crest_json_output *output, const crest_json_report *report)
{
    crest_json_double(output, "delta_s", report->delta_s < 0 ? NAN : report->delta_s);
}

/* Triples of lowest, highest and count. */
static void json_line_bucket(crest_json_output *output, uint64_t lowest, uint64_t highest,
                             uint64_t count)
{
    char text[3 * CREST_JSON_NUMBER_BYTES];
    snprintf(text, sizeof text, "%s[%llu,%llu,%llu]", output->before, (unsigned long long)lowest,
             (unsigned long long)highest, (unsigned long long)count);
    crest_json_put_text(output, text);
    output->before = ",";
}

static void json_line_buckets(crest_json_output *output, const crest_distribution *distribution,
                              crest_json_buckets buckets)
{
    if (buckets == CREST_JSON_BUCKETS_NONE)
        return;
    crest_json_key(output, "buckets");
    crest_json_put(output, "[", 1);
    output->before = "";
    if (buckets == CREST_JSON_BUCKETS_ALL) {
        crest_bucket bucket;
        for (size_t cursor = 0; crest_distribution_next(distribution, &cursor, &bucket);)
            json_line_bucket(output, bucket.lowest, bucket.highest, bucket.count);
    } else {
        crest_distribution_cursor cursor = {0};
        while (crest_distribution_next_logarithmic(distribution, 1, JSON_LINE_FACTOR, &cursor))
            if (cursor.count > 0)
                json_line_bucket(output, cursor.lowest, cursor.highest, cursor.count);
    }
    crest_json_put(output, "]", 1);
    output->before = ",";
}

static void json_line_distribution(crest_json_output *output, const crest_json_report *report,
                                   const crest_json_series *series)
{
    static const struct {
        const char *key;
        double quantile;
    } quantiles[] = {{"0.5", 0.5}, {"0.9", 0.9}, {"0.95", 0.95}, {"0.99", 0.99}, {"0.999", 0.999}};
    const crest_distribution *now = series->view->distribution;
    const crest_distribution *before =
        series->previous != NULL ? series->previous->distribution : NULL;
    uint64_t count = crest_distribution_count(now);
    crest_json_u64(output, "count", count);
    json_line_delta(output, "delta", count, crest_distribution_count(before));
    crest_json_u64(output, "sum", crest_distribution_sum(now));
    json_line_delta(output, "delta_sum", crest_distribution_sum(now),
                    crest_distribution_sum(before));
    json_line_delta_time(output, report);
    if (count == 0)
        return;
    crest_json_u64(output, "min", crest_distribution_min(now));
    crest_json_u64(output, "max", crest_distribution_max(now));
    crest_json_open(output, "quantiles");
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        crest_json_u64(output, quantiles[i].key,
                       crest_distribution_quantile(now, quantiles[i].quantile));
    crest_json_close(output);
    json_line_buckets(output, now, report->buckets);
}

static void json_line_values(crest_json_output *output, const crest_json_report *report,
                             const crest_json_series *series)
{
    const crest_series_view *view = series->view;
    switch (view->kind) {
    case CREST_KIND_COUNTER:
        crest_json_u64(output, "value", view->counter);
        json_line_delta(output, "delta", view->counter,
                        series->previous != NULL ? series->previous->counter : 0);
        json_line_delta_time(output, report);
        break;
    case CREST_KIND_GAUGE: crest_json_double(output, "value", view->gauge); break;
    case CREST_KIND_RANGE_SAMPLER: crest_json_i64(output, "value", view->current); break;
    default: json_line_distribution(output, report, series); break;
    }
}

/* ---- windows ---- */

static void json_line_slowest(crest_json_output *output, const crest_op *op)
{
    char text[CREST_OP_TEXT_BYTES];
    if (op->kind == CREST_OP_NONE)
        return;
    crest_op_format(op, text, sizeof text);
    crest_json_text(output, "slowest", text);
}

static void json_line_window(crest_json_output *output, const crest_series_view *view,
                             const crest_window *window)
{
    crest_kind kind = view->kind;
    crest_json_double(output, "covered_s", window->covered_s);
    if (kind == CREST_KIND_RANGE_SAMPLER) {
        crest_json_double(output, "min", window->minimum);
        crest_json_double(output, "avg", window->average);
        crest_json_double(output, "max", window->maximum);
        return;
    }
    crest_json_u64(output, "events", window->events);
    crest_json_double(output, "rate", window->per_second);
    crest_json_double(output, "peak", window->peak);
    if (kind == CREST_KIND_COUNTER || window->events == 0)
        return;
    crest_json_double(output, "avg", window->average);
    crest_json_double(output, "max", window->maximum);
    json_line_slowest(output, &window->slowest);
    if (view->quantiles == NULL || !(view->quantiles[0] > 0))
        return;
    crest_json_open(output, "quantiles");
    for (unsigned i = 0; i < CREST_QUANTILES_MAX && view->quantiles[i] > 0; i++) {
        char key[CREST_JSON_NUMBER_BYTES];
        crest_json_number(key, view->quantiles[i]);
        crest_json_double(output, key, window->quantiles[i]);
    }
    crest_json_close(output);
}

const struct crest_json_window crest_json_line_windows[CREST_JSON_LINE_WINDOWS] = {
    {"1m", 60}, {"5m", 300}, {"15m", 900}};

static void json_line_windows(crest_json_output *output, const crest_json_series *series)
{
    int any = 0;
    for (unsigned i = 0; i < CREST_JSON_LINE_WINDOWS; i++)
        any |= series->windows[i].covered_s > 0;
    if (!any || series->view->kind == CREST_KIND_GAUGE)
        return;
    crest_json_open(output, "windows");
    for (unsigned i = 0; i < CREST_JSON_LINE_WINDOWS; i++) {
        if (!(series->windows[i].covered_s > 0))
            continue;
        crest_json_open(output, crest_json_line_windows[i].name);
        json_line_window(output, series->view, &series->windows[i]);
        crest_json_close(output);
    }
    crest_json_close(output);
}

int crest_json_line_write(const crest_json_report *report, const crest_json_series *series,
                          crest_write_fn *write, void *context)
{
    crest_json_output output = {write, context, 0, ""};
    crest_json_put(&output, "{", 1);
    crest_json_u64(&output, "crest", CREST_JSON_LINES_SCHEMA);
    json_line_time(&output, report->wall_ns);
    crest_json_u64(&output, "report", report->number);
    if (report->final) {
        crest_json_key(&output, "final");
        crest_json_put_text(&output, "true");
    }
    json_line_resource(&output, report->resource);
    json_line_identity(&output, series->view);
    json_line_values(&output, report, series);
    json_line_windows(&output, series);
    crest_json_put(&output, "}\n", 2);
    return output.stopped;
}
