/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A series as a line. See influx_line.h.
 */
#include "influxdb/influx_line.h"
#include "common/decimal.h"
#include "common/series_figures.h"
#include "common/shown_text.h"

#include <stdio.h>
#include <string.h>

/* Labels of a series, and the resource's: service, instance and its further ones. */
#define INFLUX_LINE_TAGS_MAX (2u + CREST_RESOURCE_LABELS_MAX + 64u)
#define INFLUX_LINE_KEY_BYTES 64u
/* What has a backslash before it in tags and keys of fields. */
#define INFLUX_LINE_SPECIAL ",= "

const char *const crest_influx_cause_names[CREST_INFLUX_CAUSES] = {
    "too-long", "not-a-number", "line-end", "backslash", "partial-write"};

/* ---- putting text ---- */

static void influx_put(crest_influx_line *line, const char *bytes, size_t length)
{
    if (line->full || length > sizeof line->text - line->length) {
        line->full = 1;
        return;
    }
    memcpy(line->text + line->length, bytes, length);
    line->length += length;
}

static void influx_put_text(crest_influx_line *line, const char *text)
{
    influx_put(line, text, strlen(text));
}

/* With a backslash before each of `special`; bytes that are not UTF-8 become U+FFFD. */
static void influx_put_escaped(crest_influx_line *line, const char *text, const char *special)
{
    for (size_t left = strlen(text); left > 0;) {
        size_t bytes = crest_push_text_step(text, left);
        if (bytes == 1 && strchr(special, *text) != NULL)
            influx_put(line, "\\", 1);
        influx_put(line, bytes > 0 ? text : "\xef\xbf\xbd", bytes > 0 ? bytes : 3);
        size_t step = bytes > 0 ? bytes : 1;
        text += step;
        left -= step;
    }
}

/* ---- tags ---- */

typedef struct influx_tags {
    unsigned count;
    struct {
        const char *key, *value;
    } list[INFLUX_LINE_TAGS_MAX];
} influx_tags;

/* Keeps the list sorted by key; of a repeated key the first value, which is the series' own. */
static void influx_add_tag(influx_tags *tags, const char *key, const char *value)
{
    unsigned at = 0;
    if (value == NULL || value[0] == '\0' || tags->count == INFLUX_LINE_TAGS_MAX)
        return;
    while (at < tags->count && strcmp(tags->list[at].key, key) < 0)
        at++;
    if (at < tags->count && strcmp(tags->list[at].key, key) == 0)
        return;
    memmove(&tags->list[at + 1], &tags->list[at], (tags->count - at) * sizeof tags->list[0]);
    tags->list[at].key = key;
    tags->list[at].value = value;
    tags->count++;
}

static void influx_collect_tags(influx_tags *tags, const crest_influx_point *point)
{
    const crest_series_view *series = point->series;
    const crest_resource *resource = point->report->resource;
    tags->count = 0;
    for (unsigned i = 0; i < series->label_count; i++)
        influx_add_tag(tags, series->label_keys[i], series->label_values[i]);
    if (resource == NULL)
        return;
    for (unsigned i = 0; i < resource->label_count; i++)
        influx_add_tag(tags, resource->labels[i].key, resource->labels[i].value);
    influx_add_tag(tags, "service", resource->service);
    influx_add_tag(tags, "instance", resource->instance);
}

/* What a value cannot be written for, or CREST_INFLUX_CAUSES. */
static crest_influx_cause influx_value_problem(const char *value)
{
    if (value[strcspn(value, "\r\n")] != '\0')
        return CREST_INFLUX_LINE_END;
    for (const char *at = strchr(value, '\\'); at != NULL; at = strchr(at + 1, '\\'))
        if (strchr(INFLUX_LINE_SPECIAL, at[1]) != NULL) /* its NUL, at the end, too */
            return CREST_INFLUX_BACKSLASH;
    return CREST_INFLUX_CAUSES;
}

/* Returns 0 when the line cannot be written. */
static int influx_put_tags(crest_influx_line *line, const crest_influx_point *point)
{
    influx_tags tags;
    influx_collect_tags(&tags, point);
    for (unsigned i = 0; i < tags.count; i++) {
        crest_influx_cause problem = influx_value_problem(tags.list[i].value);
        if (problem != CREST_INFLUX_CAUSES) {
            line->dropped |= 1u << problem;
            return 0;
        }
        influx_put(line, ",", 1);
        influx_put_escaped(line, tags.list[i].key, INFLUX_LINE_SPECIAL);
        if (strcmp(tags.list[i].key, "time") == 0)
            influx_put(line, "_", 1);
        influx_put(line, "=", 1);
        influx_put_escaped(line, tags.list[i].value, INFLUX_LINE_SPECIAL);
    }
    return 1;
}

/* ---- fields ---- */

/* A line whose fields are being put. */
typedef struct influx_fields {
    crest_influx_line *line;
    const crest_influx_form *form;
    const crest_influx_point *point;
    const char *before; /* " " before the first field, then "," */
} influx_fields;

static void influx_put_key(influx_fields *fields, const char *key)
{
    influx_put_text(fields->line, fields->before);
    influx_put_escaped(fields->line, key, INFLUX_LINE_SPECIAL);
    influx_put(fields->line, "=", 1);
    fields->before = ",";
}

static void influx_put_integer(influx_fields *fields, const char *key, uint64_t value)
{
    char text[CREST_DECIMAL_BYTES];
    if (value > INT64_MAX)
        value = INT64_MAX;
    size_t length = crest_decimal_scaled(text, value, 0);
    influx_put_key(fields, key);
    influx_put(fields->line, text, length);
    influx_put(fields->line, "i", 1);
}

static void influx_put_signed(influx_fields *fields, const char *key, int64_t value)
{
    char text[CREST_DECIMAL_BYTES];
    snprintf(text, sizeof text, "%lldi", (long long)value);
    influx_put_key(fields, key);
    influx_put_text(fields->line, text);
}

static int influx_put_float(influx_fields *fields, const char *key, double value)
{
    char text[CREST_DECIMAL_BYTES];
    size_t length = crest_decimal_shortest(text, value);
    if (length == 0) {
        fields->line->dropped |= 1u << CREST_INFLUX_NOT_A_NUMBER;
        return 0;
    }
    influx_put_key(fields, key);
    influx_put(fields->line, text, length);
    return 0;
}

/* Times are exported in seconds, as floats, with Crest's own fields. */
static int influx_is_time(const influx_fields *fields)
{
    const crest_series_view *series = fields->point->series;
    return fields->form->fields == CREST_INFLUXDB_FIELDS_CREST &&
           (crest_series_decimals(series) != 0 || series->unit == CREST_SECONDS);
}

/* A whole number in the series' unit: a float of exactly that many seconds, or an integer. */
static void influx_put_whole(influx_fields *fields, const char *key, uint64_t value)
{
    char text[CREST_DECIMAL_BYTES];
    if (!influx_is_time(fields)) {
        influx_put_integer(fields, key, value);
        return;
    }
    size_t length = crest_decimal_scaled(text, value, crest_series_decimals(fields->point->series));
    influx_put_key(fields, key);
    influx_put(fields->line, text, length);
}

static int influx_put_figure(void *context, const char *name, double value)
{
    return influx_put_float(context, name, value);
}

/* ---- distributions ---- */

/* "p99.9", and of a whole number "p50", which Kamon writes p50.0. */
static void influx_percentile_key(const influx_fields *fields, double percentile,
                                  char key[INFLUX_LINE_KEY_BYTES])
{
    char text[CREST_DECIMAL_BYTES];
    size_t length = crest_decimal_shortest(text, percentile);
    int bare = fields->form->fields == CREST_INFLUXDB_FIELDS_KAMON && strchr(text, '.') == NULL;
    snprintf(key, INFLUX_LINE_KEY_BYTES, "p%.*s%s", (int)length, text, bare ? ".0" : "");
}

static void influx_put_percentiles(influx_fields *fields, const crest_distribution *grown)
{
    char key[INFLUX_LINE_KEY_BYTES];
    for (unsigned i = 0; i < fields->form->percentile_count; i++) {
        double percentile = fields->form->percentiles[i];
        uint64_t value = crest_distribution_quantile(grown, percentile / 100);
        influx_percentile_key(fields, percentile, key);
        if (fields->form->fields == CREST_INFLUXDB_FIELDS_KAMON)
            influx_put_float(fields, key, (double)value);
        else
            influx_put_whole(fields, key, value);
    }
}

/* What happened in the period. A mean is a float with Crest's fields, whatever the unit. */
static void influx_put_period(influx_fields *fields, const crest_distribution *grown)
{
    int kamon = fields->form->fields == CREST_INFLUXDB_FIELDS_KAMON;
    uint64_t count = crest_distribution_count(grown), sum = crest_distribution_sum(grown);
    if (kamon) {
        influx_put_integer(fields, "count", count);
        influx_put_integer(fields, "sum", sum);
        influx_put_integer(fields, "mean", sum / count);
    } else {
        influx_put_float(
            fields, "mean",
            crest_series_in_base_unit(fields->point->series, (double)sum / (double)count));
    }
    influx_put_whole(fields, "min", crest_distribution_min(grown));
    influx_put_percentiles(fields, grown);
    influx_put_whole(fields, "max", crest_distribution_max(grown));
}

static crest_status influx_put_distribution(influx_fields *fields)
{
    const crest_distribution *now = fields->point->series->distribution;
    const crest_distribution *before =
        fields->point->previous != NULL ? fields->point->previous->distribution : NULL;
    if (fields->form->fields == CREST_INFLUXDB_FIELDS_CREST) {
        influx_put_integer(fields, "count", crest_distribution_count(now));
        influx_put_whole(fields, "sum", crest_distribution_sum(now));
    }
    if (crest_distribution_count(now) == crest_distribution_count(before))
        return CREST_OK;
    if (crest_distribution_count(before) == 0) {
        influx_put_period(fields, now);
        return CREST_OK;
    }
    crest_distribution *grown = crest_distribution_copy(now);
    if (grown == NULL)
        return CREST_NO_MEMORY;
    if (crest_distribution_subtract(grown, before) == CREST_OK &&
        crest_distribution_count(grown) != 0)
        influx_put_period(fields, grown);
    crest_distribution_free(grown);
    return CREST_OK;
}

/* ---- all kinds ---- */

static void influx_put_counter(influx_fields *fields)
{
    const crest_influx_point *point = fields->point;
    uint64_t value = point->series->counter;
    if (fields->form->fields == CREST_INFLUXDB_FIELDS_KAMON) {
        uint64_t before = point->previous != NULL ? point->previous->counter : 0;
        influx_put_integer(fields, "count", value > before ? value - before : 0);
        return;
    }
    influx_put_whole(fields, "count", value);
}

static void influx_put_range(influx_fields *fields)
{
    const crest_series_view *series = fields->point->series;
    if (influx_is_time(fields))
        influx_put_float(fields, "value",
                         crest_series_in_base_unit(series, (double)series->current));
    else
        influx_put_signed(fields, "value", series->current);
    if (fields->form->fields == CREST_INFLUXDB_FIELDS_KAMON && series->window.covered_s > 0 &&
        !fields->point->report->final) {
        influx_put_float(fields, "min", series->window.minimum);
        influx_put_float(fields, "mean", series->window.average);
        influx_put_float(fields, "max", series->window.maximum);
    }
}

static crest_status influx_put_fields(influx_fields *fields)
{
    const crest_influx_point *point = fields->point;
    const crest_series_view *series = point->series;
    int crest = fields->form->fields == CREST_INFLUXDB_FIELDS_CREST;
    crest_status status = CREST_OK;
    switch (series->kind) {
    case CREST_KIND_COUNTER: influx_put_counter(fields); break;
    case CREST_KIND_GAUGE:
        influx_put_float(fields, "value",
                         crest ? crest_series_in_base_unit(series, series->gauge) : series->gauge);
        break;
    case CREST_KIND_RANGE_SAMPLER: influx_put_range(fields); break;
    default: status = influx_put_distribution(fields); break;
    }
    int range = series->kind == CREST_KIND_RANGE_SAMPLER;
    /* no later report would correct those of the last one */
    if (status == CREST_OK && crest && !point->report->final &&
        (range || (fields->form->windows && series->kind != CREST_KIND_GAUGE)))
        (void)crest_window_figures(point->report->snapshot, point->index, series, influx_put_figure,
                                   fields);
    return status;
}

/* With Kamon's fields, what was recorded belongs to its period. */
static void influx_put_time(influx_fields *fields)
{
    const crest_influx_point *point = fields->point;
    crest_kind kind = point->series->kind;
    int now = fields->form->fields == CREST_INFLUXDB_FIELDS_CREST || kind == CREST_KIND_GAUGE ||
              kind == CREST_KIND_RANGE_SAMPLER;
    char text[CREST_DECIMAL_BYTES];
    size_t length = crest_decimal_scaled(text, now ? point->now : point->period, 0);
    influx_put(fields->line, " ", 1);
    influx_put(fields->line, text, length);
    influx_put(fields->line, "\n", 1);
}

crest_status crest_influx_line_make(crest_influx_line *line, const crest_influx_form *form,
                                    const crest_influx_point *point)
{
    influx_fields fields = {.line = line, .form = form, .point = point, .before = " "};
    line->length = 0;
    line->dropped = 0;
    line->full = 0;
    influx_put_escaped(line, point->series->name, ", ");
    int written = influx_put_tags(line, point);
    crest_status status = written ? influx_put_fields(&fields) : CREST_OK;
    influx_put_time(&fields);
    if (line->full)
        line->dropped |= 1u << CREST_INFLUX_TOO_LONG;
    /* no field: nothing to say */
    if (!written || line->full || fields.before[0] == ' ' || status != CREST_OK)
        line->length = 0;
    return status;
}
