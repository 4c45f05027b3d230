/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages in Prometheus' protobuf format. See page_protobuf.h.
 */
#include "page/page_protobuf.h"
#include "base/alloc.h"
#include "base/utf8.h"
#include "page/page_native.h"
#include "page/page_values.h"
#include "page/protobuf_fields.h"

#include <crest/window.h>

/* Fields of MetricFamily, Metric, Counter and Gauge, and values of MetricType. */
enum {
    PROTOBUF_FAMILY_NAME = 1,
    PROTOBUF_FAMILY_HELP = 2,
    PROTOBUF_FAMILY_TYPE = 3,
    PROTOBUF_FAMILY_METRIC = 4,
    PROTOBUF_FAMILY_UNIT = 5
};
enum { PROTOBUF_METRIC_LABEL = 1, PROTOBUF_METRIC_GAUGE = 2, PROTOBUF_METRIC_COUNTER = 3 };
enum { PROTOBUF_COUNTER_VALUE = 1, PROTOBUF_COUNTER_CREATED = 3 };
enum { PROTOBUF_GAUGE_VALUE = 1 };
enum { PROTOBUF_COUNTER = 0, PROTOBUF_GAUGE = 1, PROTOBUF_UNTYPED = 3, PROTOBUF_HISTOGRAM = 4 };

/* Labels of a series: the constant ones and a row's, or those of crest_target_info. */
#define PROTOBUF_LABELS_MAX 64u
_Static_assert(PROTOBUF_LABELS_MAX >= CREST_TARGET_LABELS_MAX, "a target's labels fit");
_Static_assert(PROTOBUF_LABELS_MAX >= CREST_PAGE_LABELS_MAX + CREST_CONSTANT_LABELS_MAX,
               "a series' labels fit");
/* Labels and their value together: bytes that are put in one step. */
#define PROTOBUF_STEP_BYTES 8192u

/* The labels of one series. */
typedef struct protobuf_labels {
    unsigned count;
    unsigned plain_from; /* labels from here on are known to be valid UTF-8 */
    size_t bytes;        /* of all of them as fields */
    const char *keys[PROTOBUF_LABELS_MAX];
    const char *values[PROTOBUF_LABELS_MAX];
    size_t key_bytes[PROTOBUF_LABELS_MAX];
    size_t value_bytes[PROTOBUF_LABELS_MAX]; /* as valid UTF-8; 0: no such label */
} protobuf_labels;

/* A page under way. */
typedef struct protobuf_page {
    const crest_page *page;
    crest_page_metric own; /* what `metric` points to */
    const crest_page_metric *metric;
    crest_page_family family;
    crest_wire wire;
    protobuf_labels labels;
    size_t constant_bytes; /* of the labels that all the metric's series share */
    crest_protobuf_histograms histograms;
    char value[CREST_PROTOBUF_VALUE_BYTES];
} protobuf_page;

/* ---- values ---- */

static char *protobuf_put_counter(char *at, double value, uint32_t made_s)
{
    char *body;
    at = crest_wire_begin(at, PROTOBUF_METRIC_COUNTER, &body);
    at = crest_wire_double(at, PROTOBUF_COUNTER_VALUE, value);
    if (made_s != 0)
        at = crest_protobuf_time(at, PROTOBUF_COUNTER_CREATED, made_s, 0);
    return crest_wire_end(body, at);
}

static char *protobuf_put_gauge(char *at, double value)
{
    char *body;
    at = crest_wire_begin(at, PROTOBUF_METRIC_GAUGE, &body);
    at = crest_wire_double(at, PROTOBUF_GAUGE_VALUE, value);
    return crest_wire_end(body, at);
}

static double protobuf_signed(int64_t value, unsigned decimals)
{
    return value < 0 ? -crest_protobuf_scaled(0 - (uint64_t)value, decimals)
                     : crest_protobuf_scaled((uint64_t)value, decimals);
}

static char *protobuf_put_value(protobuf_page *made, const crest_page_row *row, size_t index)
{
    unsigned decimals = made->histograms.decimals;
    switch (made->metric->first.kind) {
    case CREST_KIND_COUNTER:
        return protobuf_put_counter(made->value, crest_protobuf_scaled(row->counter, decimals),
                                    row->made_s);
    case CREST_KIND_GAUGE:
        return protobuf_put_gauge(made->value,
                                  crest_page_in_base_unit(row->gauge, made->family.unit));
    case CREST_KIND_RANGE_SAMPLER:
        return protobuf_put_gauge(made->value, protobuf_signed(row->current, decimals));
    case CREST_KIND_HISTOGRAM:
    case CREST_KIND_TIMER:
        return crest_protobuf_histogram(&made->histograms, row, index, made->value);
    case CREST_KIND_NONE:
    case CREST_KIND_STAGES: /* of declarations only */ break;
    }
    return made->value;
}

/* ---- labels ---- */

static void protobuf_label_value(protobuf_labels *labels, unsigned i, const char *value,
                                 size_t bytes)
{
    labels->values[i] = value;
    labels->value_bytes[i] = bytes;
    if (bytes == 0)
        return;
    size_t pair = crest_wire_text_bytes(labels->key_bytes[i]) + crest_wire_text_bytes(bytes);
    labels->bytes += crest_wire_text_bytes(pair);
}

/* Sets the keys, and the labels that all series of the metric share. */
static void protobuf_labels_begin(protobuf_page *made)
{
    const crest_series_view *first = &made->metric->first;
    protobuf_labels *labels = &made->labels;
    labels->count =
        first->label_count < PROTOBUF_LABELS_MAX ? first->label_count : PROTOBUF_LABELS_MAX;
    labels->bytes = 0;
    for (unsigned i = 0; i < labels->count; i++) {
        labels->keys[i] = first->label_keys[i];
        labels->key_bytes[i] = strlen(first->label_keys[i]);
        if (i < made->metric->constants)
            protobuf_label_value(labels, i, first->label_values[i],
                                 crest_wire_utf8_bytes(first->label_values[i]));
    }
    made->constant_bytes = labels->bytes;
}

/* To Prometheus, a label whose value is "" does not exist. */
static void protobuf_labels_of_row(protobuf_page *made, const crest_page_row *row)
{
    protobuf_labels *labels = &made->labels;
    labels->bytes = made->constant_bytes;
    labels->plain_from = row->plain ? made->metric->constants : labels->count;
    for (unsigned i = made->metric->constants, k = 0; i < labels->count; i++, k++)
        protobuf_label_value(labels, i, row->values[k],
                             row->plain ? row->lengths[k] : crest_wire_utf8_bytes(row->values[k]));
}

/* Puts the labels in one step. */
static char *protobuf_put_labels(const protobuf_labels *labels, char *at)
{
    for (unsigned i = 0; i < labels->count; i++) {
        size_t bytes = labels->value_bytes[i];
        int valid = i >= labels->plain_from;
        if (bytes == 0)
            continue;
        size_t pair = crest_wire_text_bytes(labels->key_bytes[i]) + crest_wire_text_bytes(bytes);
        at = crest_wire_tag(at, PROTOBUF_METRIC_LABEL, CREST_WIRE_LENGTH);
        at = crest_wire_varint(at, pair);
        at = crest_wire_bytes(at, CREST_PROTOBUF_LABEL_NAME, labels->keys[i], labels->key_bytes[i]);
        at = crest_wire_tag(at, CREST_PROTOBUF_LABEL_VALUE, CREST_WIRE_LENGTH);
        at = crest_wire_varint(at, bytes);
        if (valid)
            at = (char *)memcpy(at, labels->values[i], bytes) + bytes;
        else /* there is room for its NUL: a value follows the labels */
            at += crest_utf8_copy(labels->values[i], at, bytes + 1, NULL);
    }
    return at;
}

/* Puts labels of any length. */
static void protobuf_put_long_labels(crest_wire *wire, const protobuf_labels *labels)
{
    for (unsigned i = 0; i < labels->count; i++) {
        if (labels->value_bytes[i] == 0)
            continue;
        size_t pair = crest_wire_text_bytes(labels->key_bytes[i]) +
                      crest_wire_text_bytes(labels->value_bytes[i]);
        char *at = crest_wire_reserve(wire, CREST_WIRE_FIELD_BYTES_MAX);
        at = crest_wire_tag(at, PROTOBUF_METRIC_LABEL, CREST_WIRE_LENGTH);
        crest_wire_commit(wire, crest_wire_varint(at, pair));
        crest_wire_put_text(wire, CREST_PROTOBUF_LABEL_NAME, labels->keys[i]);
        crest_wire_put_text(wire, CREST_PROTOBUF_LABEL_VALUE, labels->values[i]);
    }
}

/* Puts a Metric: these labels, and the value up to `end`. */
static void protobuf_put_metric(protobuf_page *made, const char *end)
{
    crest_wire *wire = &made->wire;
    const protobuf_labels *labels = &made->labels;
    size_t value = (size_t)(end - made->value), bytes = labels->bytes + value;
    int one_step = bytes <= PROTOBUF_STEP_BYTES;
    char *at =
        crest_wire_reserve(wire, CREST_WIRE_FIELD_BYTES_MAX + (one_step ? PROTOBUF_STEP_BYTES : 0));
    at = crest_wire_tag(at, PROTOBUF_FAMILY_METRIC, CREST_WIRE_LENGTH);
    at = crest_wire_varint(at, bytes);
    if (one_step) {
        at = protobuf_put_labels(labels, at);
        memcpy(at, made->value, value);
        crest_wire_commit(wire, at + value);
    } else {
        crest_wire_commit(wire, at);
        protobuf_put_long_labels(wire, labels);
        crest_wire_put_bytes(wire, made->value, value);
    }
}

/* ---- families ---- */

/* The parts of HELP, in the order of a text page; returns how many there are. */
static unsigned protobuf_help(const protobuf_page *made, const char *parts[5])
{
    const char *description = made->metric->first.description;
    int described = description != NULL && description[0] != '\0';
    unsigned count = 0;
    if (made->family.computed[0] != '\0') {
        parts[count++] = made->family.computed;
        parts[count++] = described ? ": " : ". ";
    }
    if (described)
        parts[count++] = description;
    if (crest_page_family_is_standard(&made->family))
        return count;
    parts[count++] = described ? " [" : "[";
    parts[count++] = made->metric->first.name;
    return count;
}

static void protobuf_put_help(protobuf_page *made)
{
    const char *parts[5];
    crest_wire *wire = &made->wire;
    unsigned count = protobuf_help(made, parts);
    int bracket = !crest_page_family_is_standard(&made->family);
    size_t bytes = bracket;
    for (unsigned i = 0; i < count; i++)
        bytes += crest_wire_utf8_bytes(parts[i]);
    char *at = crest_wire_reserve(wire, CREST_WIRE_FIELD_BYTES_MAX);
    at = crest_wire_tag(at, PROTOBUF_FAMILY_HELP, CREST_WIRE_LENGTH);
    crest_wire_commit(wire, crest_wire_varint(at, bytes));
    for (unsigned i = 0; i < count; i++)
        crest_wire_put_utf8(wire, parts[i]);
    crest_wire_put_bytes(wire, "]", bracket);
}

static void protobuf_put_type(crest_wire *wire, unsigned type)
{
    char *at = crest_wire_reserve(wire, CREST_WIRE_FIELD_BYTES_MAX);
    crest_wire_commit(wire, crest_wire_u64(at, PROTOBUF_FAMILY_TYPE, type));
}

static unsigned protobuf_type(const crest_page_family *family)
{
    switch (family->type[0]) {
    case 'c': return PROTOBUF_COUNTER;
    case 'g': return PROTOBUF_GAUGE;
    case 'h': return PROTOBUF_HISTOGRAM;
    default: return PROTOBUF_UNTYPED;
    }
}

/* Opens the family. Its name is that of the text page: a counter's with its samples' ending. */
static void protobuf_family_open(protobuf_page *made)
{
    const crest_page_family *family = &made->family;
    crest_wire *wire = &made->wire;
    char name[CREST_EXPORTED_BYTES_MAX + 8];
    size_t length = family->length;
    memcpy(name, family->name, length);
    memcpy(name + length, "_total", sizeof "_total");
    name[family->type[0] == 'c' ? length + 6 : length] = '\0';
    crest_wire_open(wire);
    crest_wire_put_text(wire, PROTOBUF_FAMILY_NAME, name);
    protobuf_put_help(made);
    protobuf_put_type(wire, protobuf_type(family));
}

static int protobuf_family_close(protobuf_page *made)
{
    const char *unit = crest_page_family_unit(&made->family);
    if (unit[0] != '\0')
        crest_wire_put_text(&made->wire, PROTOBUF_FAMILY_UNIT, unit);
    return crest_wire_close(&made->wire);
}

/* Puts the rows from `first` on; returns where the metric ends. */
static size_t protobuf_put_rows(protobuf_page *made, size_t first)
{
    const crest_page *page = made->page;
    crest_page_row rows[CREST_PAGE_ROWS];
    unsigned count;
    do {
        count = page->source->rows(page->snapshot, made->metric, first, rows, CREST_PAGE_ROWS);
        for (unsigned i = 0; i < count; i++) {
            protobuf_labels_of_row(made, &rows[i]);
            protobuf_put_metric(made, protobuf_put_value(made, &rows[i], first + i));
        }
        first += count;
    } while (count != 0);
    return first;
}

/* Where a metric ends that the page does not want. */
static size_t protobuf_skip(const protobuf_page *made, size_t first)
{
    const crest_page *page = made->page;
    crest_page_row rows[CREST_PAGE_ROWS];
    unsigned count;
    do
        first += count =
            page->source->rows(page->snapshot, made->metric, first, rows, CREST_PAGE_ROWS);
    while (count != 0);
    return first;
}

/* Puts the metric's own family; returns where the metric ends. */
static size_t protobuf_put_main(protobuf_page *made, size_t first)
{
    size_t end;
    crest_page_family_main(&made->family, made->metric);
    made->histograms.decimals = crest_unit_decimals(made->family.unit);
    if (!crest_page_wants(made->page, &made->family))
        return protobuf_skip(made, first);
    if (crest_kind_is_distribution(made->metric->first.kind))
        crest_protobuf_histograms_begin(&made->histograms, made->page, made->metric,
                                        made->histograms.decimals);
    do {
        protobuf_family_open(made);
        end = protobuf_put_rows(made, first);
    } while (!protobuf_family_close(made));
    return end;
}

/* ---- what windows compute ---- */

/* Whether the window has a result for the series, and which. */
static int protobuf_window_value(const protobuf_page *made, const crest_window_result *result,
                                 size_t index, double *value)
{
    const crest_page *page = made->page;
    int distribution = crest_kind_is_distribution(made->metric->first.kind);
    crest_window window;
    page->source->window(page->snapshot, index, result->window_s, &window);
    if (!(window.covered_s > 0) || (distribution && result->of_values && window.events == 0))
        return 0;
    memcpy(value, (const char *)&window + result->offset, sizeof *value);
    if (!distribution || result->of_values)
        *value = crest_page_in_base_unit(*value, made->family.unit);
    return 1;
}

/* Puts the family, opened with its first value; non-zero if there is one. */
static int protobuf_put_window(protobuf_page *made, const crest_window_result *result, size_t first,
                               size_t end)
{
    const crest_page *page = made->page;
    crest_page_row rows[CREST_PAGE_ROWS];
    unsigned count;
    int begun = 0;
    double value;
    for (size_t at = first; at < end; at += count) {
        count = page->source->rows(page->snapshot, made->metric, at, rows, CREST_PAGE_ROWS);
        for (unsigned i = 0; i < count; i++) {
            if (!protobuf_window_value(made, result, at + i, &value))
                continue;
            if (!begun)
                protobuf_family_open(made);
            begun = 1;
            protobuf_labels_of_row(made, &rows[i]);
            protobuf_put_metric(made, protobuf_put_gauge(made->value, value));
        }
    }
    return begun;
}

static void protobuf_put_windows(protobuf_page *made, size_t first, size_t end)
{
    const crest_page *page = made->page;
    crest_window_result results[CREST_WINDOW_RESULTS_MAX];
    unsigned count =
        crest_window_results(&made->metric->first, page->window_s, page->window_count, results);
    for (unsigned i = 0; i < count; i++) {
        crest_page_family_window(&made->family, made->metric, results[i].qualifier,
                                 results[i].meaning);
        if (!crest_page_wants(page, &made->family))
            continue;
        while (protobuf_put_window(made, &results[i], first, end) && !protobuf_family_close(made))
            ;
    }
}

/* ---- the target ---- */

static void protobuf_put_target(protobuf_page *made)
{
    const crest_page_options *options = made->page->options;
    protobuf_labels *labels = &made->labels;
    if (!crest_page_wants_either(made->page, CREST_TARGET_INFO, CREST_TARGET_FAMILY))
        return;
    labels->count = labels->plain_from = options->target_count;
    labels->bytes = 0;
    for (unsigned i = 0; i < labels->count; i++) {
        const char *value = options->target[i].value != NULL ? options->target[i].value : "";
        labels->keys[i] = options->target[i].key;
        labels->key_bytes[i] = strlen(labels->keys[i]);
        protobuf_label_value(labels, i, value, crest_wire_utf8_bytes(value));
    }
    do {
        crest_wire_open(&made->wire);
        crest_wire_put_text(&made->wire, PROTOBUF_FAMILY_NAME, CREST_TARGET_INFO);
        crest_wire_put_text(&made->wire, PROTOBUF_FAMILY_HELP, CREST_TARGET_HELP);
        protobuf_put_type(&made->wire, PROTOBUF_GAUGE);
        protobuf_put_metric(made, protobuf_put_gauge(made->value, 1));
    } while (!crest_wire_close(&made->wire));
}

/* ---- the page ---- */

static void protobuf_put_page(protobuf_page *made)
{
    const crest_page *page = made->page;
    int target_left = page->options->target != NULL;
    crest_page_metric *metric = &made->own;
    made->metric = metric;
    for (size_t first = 0; first < page->size && page->out->failed == 0;) {
        page->source->metric(page->snapshot, first, metric);
        metric->made = 1;
        if (target_left && strcmp(metric->first.exported, CREST_TARGET_INFO) > 0) {
            protobuf_put_target(made);
            target_left = 0;
        }
        protobuf_labels_begin(made);
        size_t end = protobuf_put_main(made, first);
        if (crest_page_wants_windows(page, metric->first.kind))
            protobuf_put_windows(made, first, end);
        first = end;
    }
    if (target_left)
        protobuf_put_target(made);
}

int crest_page_put_protobuf(const crest_page *page)
{
    /* too large for a stack, and not zeroed: a small page touches little of it */
    protobuf_page *made = crest_alloc_resize(NULL, sizeof *made, 1);
    if (made == NULL)
        return 0;
    made->page = page;
    made->histograms.native.runs.cut = 0;
    crest_wire_init(&made->wire, page->out);
    protobuf_put_page(made);
    crest_alloc_free(made);
    return 1;
}
