/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A series as a JSON object. See json_line.h.
 */
#include "json/json_line.h"
#include "common/shown_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Counts of a coarse walk: one for each power of two. */
#define JSON_LINE_FACTOR 2.0
#define JSON_LINE_NUMBER_BYTES 40u

typedef struct json_line_output {
    crest_write_fn *write;
    void *context;
    int stopped;
    const char *before; /* what goes before the next member: "" after an opening brace, or "," */
} json_line_output;

/* ---- putting text ---- */

static void json_line_put(json_line_output *output, const char *bytes, size_t length)
{
    if (output->stopped == 0 && length > 0)
        output->stopped = output->write(output->context, bytes, length);
}

static void json_line_put_text(json_line_output *output, const char *text)
{
    json_line_put(output, text, strlen(text));
}

/* The code point of a character that is known to be valid. */
static unsigned json_line_code(const char *text, size_t bytes)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code = (unsigned char)text[0] & masks[bytes];
    for (size_t i = 1; i < bytes; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    return code;
}

/* How a character is written instead of itself; "": as it is. */
static void json_line_escape(unsigned code, char escape[8])
{
    static const char letters[] = "btn\0fr";
    escape[0] = '\0';
    if (code == '"' || code == '\\')
        snprintf(escape, 8, "\\%c", (char)code);
    else if (code >= 8 && code <= 13 && letters[code - 8] != '\0')
        snprintf(escape, 8, "\\%c", letters[code - 8]);
    else if (code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029)
        snprintf(escape, 8, "\\u%04x", code);
}

static void json_line_put_string(json_line_output *output, const char *text)
{
    json_line_put(output, "\"", 1);
    const char *plain = text, *at = text;
    for (size_t left = strlen(text); left > 0;) {
        size_t bytes = crest_push_text_step(at, left);
        char escape[8] = "\xef\xbf\xbd";
        if (bytes > 0)
            json_line_escape(json_line_code(at, bytes), escape);
        size_t step = bytes > 0 ? bytes : 1;
        if (escape[0] != '\0') {
            json_line_put(output, plain, (size_t)(at - plain));
            json_line_put_text(output, escape);
            plain = at + step;
        }
        at += step;
        left -= step;
    }
    json_line_put(output, plain, (size_t)(at - plain));
    json_line_put(output, "\"", 1);
}

/* ---- members ---- */

/* Their keys are ours, and need no escaping. */
static void json_line_key(json_line_output *output, const char *key)
{
    json_line_put_text(output, output->before);
    json_line_put(output, "\"", 1);
    json_line_put_text(output, key);
    json_line_put(output, "\":", 2);
    output->before = ",";
}

static void json_line_open(json_line_output *output, const char *key)
{
    json_line_key(output, key);
    json_line_put(output, "{", 1);
    output->before = "";
}

static void json_line_close(json_line_output *output)
{
    json_line_put(output, "}", 1);
    output->before = ",";
}

static void json_line_text(json_line_output *output, const char *key, const char *text)
{
    json_line_key(output, key);
    json_line_put_string(output, text != NULL ? text : "");
}

static void json_line_u64(json_line_output *output, const char *key, uint64_t value)
{
    char text[JSON_LINE_NUMBER_BYTES];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    json_line_key(output, key);
    json_line_put_text(output, text);
}

static void json_line_i64(json_line_output *output, const char *key, int64_t value)
{
    char text[JSON_LINE_NUMBER_BYTES];
    snprintf(text, sizeof text, "%lld", (long long)value);
    json_line_key(output, key);
    json_line_put_text(output, text);
}

/* The fewest digits, from 15 on, that read back as the same number; printf and strtod share the
 * locale's decimal point, which is then made a dot. JSON has no NaN and no infinity: null. */
static void json_line_number(char plain[JSON_LINE_NUMBER_BYTES], double value)
{
    char text[JSON_LINE_NUMBER_BYTES];
    if (!isfinite(value)) {
        strcpy(plain, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    size_t used = 0;
    for (const char *at = text; *at != '\0'; at++) {
        int digit = strchr("0123456789+-e", *at) != NULL;
        if (digit || used == 0 || plain[used - 1] != '.')
            plain[used++] = digit ? *at : '.';
    }
    plain[used] = '\0';
}

static void json_line_double(json_line_output *output, const char *key, double value)
{
    char text[JSON_LINE_NUMBER_BYTES];
    json_line_number(text, value);
    json_line_key(output, key);
    json_line_put_text(output, text);
}

/* ---- what all lines have ---- */

static void json_line_time(json_line_output *output, uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm utc;
    memset(&utc, 0, sizeof utc);
    gmtime_r(&seconds, &utc);
    char text[80];
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%09uZ", utc.tm_year + 1900,
             utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
             (unsigned)(wall_ns % 1000000000u));
    json_line_text(output, "time", text);
    json_line_u64(output, "time_ns", wall_ns);
}

/* An object whose keys come from outside. Of a repeated key most JSON readers take the last, so our
 * own names come first. */
static void json_line_pair(json_line_output *output, const char *key, const char *value)
{
    json_line_put_text(output, output->before);
    json_line_put_string(output, key);
    json_line_put(output, ":", 1);
    json_line_put_string(output, value != NULL ? value : "");
    output->before = ",";
}

static void json_line_resource(json_line_output *output, const crest_resource *resource)
{
    const char *const own[][2] = {{"service", resource->service},
                                  {"version", resource->version},
                                  {"instance", resource->instance}};
    json_line_open(output, "resource");
    for (unsigned i = 0; i < 3; i++) {
        int again = own[i][1] == NULL || own[i][1][0] == '\0';
        for (unsigned k = 0; k < resource->label_count; k++)
            again |= strcmp(resource->labels[k].key, own[i][0]) == 0;
        if (!again)
            json_line_pair(output, own[i][0], own[i][1]);
    }
    for (unsigned i = 0; i < resource->label_count; i++)
        json_line_pair(output, resource->labels[i].key, resource->labels[i].value);
    json_line_close(output);
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

static void json_line_identity(json_line_output *output, const crest_series_view *view)
{
    json_line_text(output, "metric", view->name);
    json_line_text(output, "kind", json_line_kind(view->kind));
    json_line_text(output, "unit", json_line_unit(view->unit));
    json_line_open(output, "labels");
    for (unsigned i = 0; i < view->label_count; i++)
        if (!view->open || view->label_values[i][0] != '\0')
            json_line_pair(output, view->label_keys[i], view->label_values[i]);
    json_line_close(output);
}

/* ---- values ---- */

/* The growth since the previous report; everything when there was none. */
static void json_line_delta(json_line_output *output, const char *key, uint64_t now,
                            uint64_t before)
{
    json_line_u64(output, key, now > before ? now - before : 0);
}

static void json_line_delta_time(json_line_output *output, const crest_json_report *report)
{
    json_line_double(output, "delta_s", report->delta_s < 0 ? NAN : report->delta_s);
}

/* Triples of lowest, highest and count. */
static void json_line_bucket(json_line_output *output, uint64_t lowest, uint64_t highest,
                             uint64_t count)
{
    char text[3 * JSON_LINE_NUMBER_BYTES];
    snprintf(text, sizeof text, "%s[%llu,%llu,%llu]", output->before, (unsigned long long)lowest,
             (unsigned long long)highest, (unsigned long long)count);
    json_line_put_text(output, text);
    output->before = ",";
}

static void json_line_buckets(json_line_output *output, const crest_distribution *distribution,
                              crest_json_buckets buckets)
{
    if (buckets == CREST_JSON_BUCKETS_NONE)
        return;
    json_line_key(output, "buckets");
    json_line_put(output, "[", 1);
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
    json_line_put(output, "]", 1);
    output->before = ",";
}

static void json_line_distribution(json_line_output *output, const crest_json_report *report,
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
    json_line_u64(output, "count", count);
    json_line_delta(output, "delta", count, crest_distribution_count(before));
    json_line_u64(output, "sum", crest_distribution_sum(now));
    json_line_delta(output, "delta_sum", crest_distribution_sum(now),
                    crest_distribution_sum(before));
    json_line_delta_time(output, report);
    if (count == 0)
        return;
    json_line_u64(output, "min", crest_distribution_min(now));
    json_line_u64(output, "max", crest_distribution_max(now));
    json_line_open(output, "quantiles");
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        json_line_u64(output, quantiles[i].key,
                      crest_distribution_quantile(now, quantiles[i].quantile));
    json_line_close(output);
    json_line_buckets(output, now, report->buckets);
}

static void json_line_values(json_line_output *output, const crest_json_report *report,
                             const crest_json_series *series)
{
    const crest_series_view *view = series->view;
    switch (view->kind) {
    case CREST_KIND_COUNTER:
        json_line_u64(output, "value", view->counter);
        json_line_delta(output, "delta", view->counter,
                        series->previous != NULL ? series->previous->counter : 0);
        json_line_delta_time(output, report);
        break;
    case CREST_KIND_GAUGE: json_line_double(output, "value", view->gauge); break;
    case CREST_KIND_RANGE_SAMPLER: json_line_i64(output, "value", view->current); break;
    default: json_line_distribution(output, report, series); break;
    }
}

/* ---- windows ---- */

static void json_line_slowest(json_line_output *output, const crest_op *op)
{
    char text[CREST_OP_TEXT_BYTES];
    if (op->kind == CREST_OP_NONE)
        return;
    crest_op_format(op, text, sizeof text);
    json_line_text(output, "slowest", text);
}

static void json_line_window(json_line_output *output, const crest_series_view *view,
                             const crest_window *window)
{
    crest_kind kind = view->kind;
    json_line_double(output, "covered_s", window->covered_s);
    if (kind == CREST_KIND_RANGE_SAMPLER) {
        json_line_double(output, "min", window->minimum);
        json_line_double(output, "avg", window->average);
        json_line_double(output, "max", window->maximum);
        return;
    }
    json_line_u64(output, "events", window->events);
    json_line_double(output, "rate", window->per_second);
    json_line_double(output, "peak", window->peak);
    if (kind == CREST_KIND_COUNTER || window->events == 0)
        return;
    json_line_double(output, "avg", window->average);
    json_line_double(output, "max", window->maximum);
    json_line_slowest(output, &window->slowest);
    if (view->quantiles == NULL || !(view->quantiles[0] > 0))
        return;
    json_line_open(output, "quantiles");
    for (unsigned i = 0; i < CREST_QUANTILES_MAX && view->quantiles[i] > 0; i++) {
        char key[JSON_LINE_NUMBER_BYTES];
        json_line_number(key, view->quantiles[i]);
        json_line_double(output, key, window->quantiles[i]);
    }
    json_line_close(output);
}

const struct crest_json_window crest_json_line_windows[CREST_JSON_LINE_WINDOWS] = {
    {"1m", 60}, {"5m", 300}, {"15m", 900}};

static void json_line_windows(json_line_output *output, const crest_json_series *series)
{
    int any = 0;
    for (unsigned i = 0; i < CREST_JSON_LINE_WINDOWS; i++)
        any |= series->windows[i].covered_s > 0;
    if (!any || series->view->kind == CREST_KIND_GAUGE)
        return;
    json_line_open(output, "windows");
    for (unsigned i = 0; i < CREST_JSON_LINE_WINDOWS; i++) {
        if (!(series->windows[i].covered_s > 0))
            continue;
        json_line_open(output, crest_json_line_windows[i].name);
        json_line_window(output, series->view, &series->windows[i]);
        json_line_close(output);
    }
    json_line_close(output);
}

int crest_json_line_write(const crest_json_report *report, const crest_json_series *series,
                          crest_write_fn *write, void *context)
{
    json_line_output output = {write, context, 0, ""};
    json_line_put(&output, "{", 1);
    json_line_u64(&output, "crest", CREST_JSON_LINES_SCHEMA);
    json_line_time(&output, report->wall_ns);
    json_line_u64(&output, "report", report->number);
    if (report->final) {
        json_line_key(&output, "final");
        json_line_put_text(&output, "true");
    }
    json_line_resource(&output, report->resource);
    json_line_identity(&output, series->view);
    json_line_values(&output, report, series);
    json_line_windows(&output, series);
    json_line_put(&output, "}\n", 2);
    return output.stopped;
}
