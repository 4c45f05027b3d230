/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus' text format. See prometheus_text.h.
 *
 * A metric becomes several families (X_total, X_rate1m and so on), and the lines of a family have
 * to stand together, so the series of each metric are walked once for each of its families.
 */
#include "prometheus_text.h"
#include "buckets.h"
#include "buffer.h"
#include "names.h"
#include "number.h"
#include "utf8.h"

#include <string.h>

_Static_assert(CREST_BUFFER_BYTES == CREST_PAGE_PIECE_BYTES, "pieces are as page.h promises");

/* Labels longer than this, escaped, are escaped again for each line of their series. */
#define PROMETHEUS_LABELS_KEPT_BYTES 2048u
/* Text is escaped in steps of this size. */
#define PROMETHEUS_STEP_BYTES 256u

#define PROMETHEUS_TARGET_FAMILY "crest_target"
#define PROMETHEUS_TARGET PROMETHEUS_TARGET_FAMILY "_info"

/* A page in the making. */
typedef struct prometheus_page {
    const crest_page_source *source;
    const crest_snapshot *snapshot;
    crest_buffer *out;
    size_t size;   /* series in the snapshot */
    size_t unread; /* the series that could not be read; `size`: none */
    int openmetrics;
} prometheus_page;

/* What the lines of one family share. */
typedef struct prometheus_family {
    char name[CREST_EXPORTED_BYTES_MAX];
    size_t name_length;
} prometheus_family;

/* The labels of one series, escaped: key="value",key="value". */
typedef struct prometheus_labels {
    char text[PROMETHEUS_LABELS_KEPT_BYTES];
    size_t length;
    int whole; /* zero: they did not fit */
} prometheus_labels;

/* ---- escaping ---- */

/*
 * Escapes from *text as much as fits into `size` (at least 4) bytes and moves *text behind it;
 * returns the bytes written. Quotes are escaped in label values only: in HELP a reader would keep
 * the backslash. What is not UTF-8 becomes U+FFFD.
 */
static size_t prometheus_escape(const char **text, char *out, size_t size, int quotes)
{
    const char *at = *text;
    size_t used = 0;
    while (*at != '\0' && size - used >= 4) {
        unsigned char c = (unsigned char)*at;
        if (c == '\\' || c == '\n' || (c == '"' && quotes)) {
            out[used++] = '\\';
            out[used++] = c == '\n' ? 'n' : *at;
            at++;
        } else if (c < 0x80) {
            out[used++] = *at++;
        } else {
            size_t bad = 0;
            size_t length = crest_utf8_character(at, strnlen(at, 4), &bad);
            const char *from = length != 0 ? at : CREST_UTF8_REPLACEMENT;
            size_t bytes = length != 0 ? length : CREST_UTF8_REPLACEMENT_BYTES;
            memcpy(out + used, from, bytes);
            used += bytes;
            at += length != 0 ? length : bad;
        }
    }
    *text = at;
    return used;
}

static void prometheus_put_escaped(crest_buffer *out, const char *text, int quotes)
{
    while (*text != '\0') {
        char *at = crest_buffer_reserve(out, PROMETHEUS_STEP_BYTES);
        out->used += prometheus_escape(&text, at, PROMETHEUS_STEP_BYTES, quotes);
    }
}

static void prometheus_put_label(crest_buffer *out, const char *key, const char *value, int first)
{
    if (!first)
        crest_buffer_put_char(out, ',');
    crest_buffer_put_text(out, key);
    crest_buffer_put_bytes(out, "=\"", 2);
    prometheus_put_escaped(out, value, 1);
    crest_buffer_put_char(out, '"');
}

/* Escapes the labels of a series once for all its lines, if they fit. */
static void prometheus_labels_make(prometheus_labels *labels, const crest_series_view *series)
{
    labels->length = 0;
    labels->whole = 1;
    for (unsigned i = 0; i < series->label_count; i++) {
        const char *key = series->label_keys[i], *value = series->label_values[i];
        size_t key_length = strlen(key);
        /* a comma, ="", and the 4 bytes that escaping wants as a minimum */
        if (PROMETHEUS_LABELS_KEPT_BYTES - labels->length < key_length + 8) {
            labels->whole = 0;
            return;
        }
        char *text = labels->text;
        if (i > 0)
            text[labels->length++] = ',';
        memcpy(text + labels->length, key, key_length);
        labels->length += key_length;
        text[labels->length++] = '=';
        text[labels->length++] = '"';
        size_t room = PROMETHEUS_LABELS_KEPT_BYTES - labels->length - 1;
        labels->length += prometheus_escape(&value, text + labels->length, room, 1);
        if (*value != '\0') {
            labels->whole = 0;
            return;
        }
        text[labels->length++] = '"';
    }
}

/* ---- lines ---- */

/* name, suffix, {labels,le="…"} and a space: everything of a sample but its value. */
static void prometheus_put_sample(prometheus_page *page, const prometheus_family *family,
                                  const char *suffix, const crest_series_view *series,
                                  const prometheus_labels *labels, const char *le)
{
    crest_buffer *out = page->out;
    crest_buffer_put_bytes(out, family->name, family->name_length);
    crest_buffer_put_text(out, suffix);
    if (series->label_count != 0 || le != NULL) {
        crest_buffer_put_char(out, '{');
        if (labels->whole)
            crest_buffer_put_bytes(out, labels->text, labels->length);
        else
            for (unsigned i = 0; i < series->label_count; i++)
                prometheus_put_label(out, series->label_keys[i], series->label_values[i], i == 0);
        if (le != NULL)
            prometheus_put_label(out, "le", le, series->label_count == 0);
        crest_buffer_put_char(out, '}');
    }
    crest_buffer_put_char(out, ' ');
}

/* The canonical name ends HELP, so that an operator can go from here to the source; what a window
 * computes begins it. */
static void prometheus_put_help(prometheus_page *page, const char *name, size_t name_length,
                                const char *computed, const crest_series_view *series)
{
    crest_buffer *out = page->out;
    const char *description = series->description != NULL ? series->description : "";
    crest_buffer_put_text(out, "# HELP ");
    crest_buffer_put_bytes(out, name, name_length);
    crest_buffer_put_char(out, ' ');
    if (computed[0] != '\0') {
        crest_buffer_put_text(out, computed);
        crest_buffer_put_text(out, description[0] != '\0' ? ": " : ". ");
    }
    if (description[0] != '\0') {
        prometheus_put_escaped(out, description, page->openmetrics);
        crest_buffer_put_char(out, ' ');
    }
    crest_buffer_put_char(out, '[');
    prometheus_put_escaped(out, series->name, page->openmetrics);
    crest_buffer_put_text(out, "]\n");
}

static void prometheus_put_meta(prometheus_page *page, const char *what, const char *name,
                                size_t name_length, const char *text)
{
    crest_buffer_put_text(page->out, what);
    crest_buffer_put_bytes(page->out, name, name_length);
    crest_buffer_put_char(page->out, ' ');
    crest_buffer_put_text(page->out, text);
    crest_buffer_put_char(page->out, '\n');
}

/* HELP and TYPE, or in OpenMetrics TYPE, UNIT and HELP, where a counter's family has not the _total
 * of its samples. */
static void prometheus_put_header(prometheus_page *page, const prometheus_family *family,
                                  const char *computed, const crest_series_view *series,
                                  const char *type)
{
    static const char total[] = "_total";
    const char *unit = crest_unit_suffix(crest_unit_of(series->kind, series->unit));
    size_t length = family->name_length, unit_length = strlen(unit);
    if (!page->openmetrics) {
        prometheus_put_help(page, family->name, length, computed, series);
        prometheus_put_meta(page, "# TYPE ", family->name, length, type);
        return;
    }
    if (series->kind == CREST_KIND_COUNTER && computed[0] == '\0' && length >= sizeof total)
        length -= sizeof total - 1;
    prometheus_put_meta(page, "# TYPE ", family->name, length,
                        strcmp(type, "untyped") == 0 ? "unknown" : type);
    if (unit_length != 0 && length > unit_length + 1 &&
        family->name[length - unit_length - 1] == '_' &&
        memcmp(family->name + length - unit_length, unit, unit_length) == 0)
        prometheus_put_meta(page, "# UNIT ", family->name, length, unit);
    prometheus_put_help(page, family->name, length, computed, series);
}

static void prometheus_family_name(prometheus_family *family, const crest_series_view *series,
                                   const char *qualifier)
{
    family->name_length = crest_exported_name(series->name, series->kind, series->unit, qualifier,
                                              family->name, sizeof family->name);
    if (family->name_length >= sizeof family->name)
        family->name_length = sizeof family->name - 1;
}

/* A double in the metric's unit as one in its base unit; the division rounds correctly. */
static double prometheus_in_base_unit(double value, const crest_series_view *series)
{
    static const double scales[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    return value / scales[crest_unit_decimals(crest_unit_of(series->kind, series->unit))];
}

/* ---- the main family of a metric ---- */

/* The exported buckets of one metric: integer bounds to count by, and as text. */
typedef struct prometheus_bounds {
    unsigned count;
    uint64_t limits[CREST_BUCKETS_MAX];
    char le[CREST_BUCKETS_MAX][CREST_NUMBER_BYTES_MAX];
} prometheus_bounds;

static void prometheus_bounds_make(prometheus_bounds *bounds, const crest_series_view *series)
{
    crest_unit unit = crest_unit_of(series->kind, series->unit);
    const crest_buckets *buckets = series->buckets;
    if (buckets == NULL)
        buckets = crest_buckets_for_unit(unit, series->kind);
    bounds->count = buckets->count < CREST_BUCKETS_MAX ? buckets->count : CREST_BUCKETS_MAX;
    for (unsigned i = 0; i < bounds->count; i++) {
        bounds->limits[i] = crest_buckets_limit(buckets->bounds[i], unit);
        crest_number_bound(bounds->le[i], buckets->bounds[i]);
    }
}

/* What the lines of one distribution share. */
typedef struct prometheus_lines {
    prometheus_page *page;
    const prometheus_family *family;
    const crest_series_view *series;
    const prometheus_labels *labels;
} prometheus_lines;

static void prometheus_put_count(const prometheus_lines *lines, const char *suffix, const char *le,
                                 uint64_t count)
{
    prometheus_put_sample(lines->page, lines->family, suffix, lines->series, lines->labels, le);
    crest_buffer_put_u64(lines->page->out, count);
    crest_buffer_put_char(lines->page->out, '\n');
}

/*
 * A recorded value is known only to lie between the ends of its bucket. It counts under the first
 * bound that is not below the lower end: counted by the upper end, values exactly on a bound would
 * go to the next one.
 */
static void prometheus_put_distribution(const prometheus_lines *lines,
                                        const prometheus_bounds *bounds)
{
    const crest_page_source *source = lines->page->source;
    const crest_distribution *distribution = lines->series->distribution;
    uint64_t below = 0;
    unsigned at = 0;
    size_t cursor = 0;
    crest_bucket bucket;
    while (distribution != NULL && at < bounds->count &&
           source->next(distribution, &cursor, &bucket)) {
        for (; at < bounds->count && bounds->limits[at] < bucket.lowest; at++)
            prometheus_put_count(lines, "_bucket", bounds->le[at], below);
        below += bucket.count;
    }
    for (; at < bounds->count; at++)
        prometheus_put_count(lines, "_bucket", bounds->le[at], below);
    uint64_t count = distribution != NULL ? source->count(distribution) : 0;
    uint64_t sum = distribution != NULL ? source->sum(distribution) : 0;
    crest_unit unit = crest_unit_of(lines->series->kind, lines->series->unit);
    prometheus_put_count(lines, "_bucket", "+Inf", count);
    prometheus_put_sample(lines->page, lines->family, "_sum", lines->series, lines->labels, NULL);
    crest_buffer_put_scaled(lines->page->out, sum, crest_unit_decimals(unit));
    crest_buffer_put_char(lines->page->out, '\n');
    prometheus_put_count(lines, "_count", NULL, count);
}

static void prometheus_put_series(const prometheus_lines *lines, const prometheus_bounds *bounds)
{
    crest_buffer *out = lines->page->out;
    const crest_series_view *series = lines->series;
    switch (series->kind) {
    case CREST_KIND_NONE: break;
    case CREST_KIND_COUNTER:
        prometheus_put_sample(lines->page, lines->family, "", series, lines->labels, NULL);
        crest_buffer_put_scaled(out, series->counter, crest_unit_decimals(series->unit));
        crest_buffer_put_char(out, '\n');
        break;
    case CREST_KIND_GAUGE:
        prometheus_put_sample(lines->page, lines->family, "", series, lines->labels, NULL);
        crest_buffer_put_double(out, prometheus_in_base_unit(series->gauge, series));
        crest_buffer_put_char(out, '\n');
        break;
    case CREST_KIND_RANGE_SAMPLER:
        prometheus_put_sample(lines->page, lines->family, "", series, lines->labels, NULL);
        if (series->current < 0)
            crest_buffer_put_char(out, '-');
        crest_buffer_put_scaled(
            out, series->current < 0 ? 0 - (uint64_t)series->current : (uint64_t)series->current,
            crest_unit_decimals(series->unit));
        crest_buffer_put_char(out, '\n');
        break;
    case CREST_KIND_HISTOGRAM:
    case CREST_KIND_TIMER: prometheus_put_distribution(lines, bounds); break;
    case CREST_KIND_STAGES: break; /* of declarations only */
    }
}

static int prometheus_is_distribution(crest_kind kind)
{
    return kind == CREST_KIND_HISTOGRAM || kind == CREST_KIND_TIMER;
}

static int prometheus_read(prometheus_page *page, size_t index, crest_series_view *series)
{
    if (index >= page->size || page->out->failed != 0)
        return 0;
    if (page->source->series(page->snapshot, index, series) == CREST_OK)
        return 1;
    page->unread = index;
    return 0;
}

/* Writes the main family of the metric that *series, at `first`, begins; returns where it ends. */
static size_t prometheus_put_metric(prometheus_page *page, size_t first, crest_series_view *series)
{
    static const char *const types[] = {"untyped",   "counter",   "gauge",
                                        "histogram", "histogram", "gauge"};
    prometheus_family family;
    prometheus_bounds bounds = {0};
    prometheus_labels labels;
    const prometheus_lines lines = {page, &family, series, &labels};
    const char *metric = series->name;
    prometheus_family_name(&family, series, NULL);
    prometheus_put_header(page, &family, "", series, types[series->kind]);
    if (prometheus_is_distribution(series->kind))
        prometheus_bounds_make(&bounds, series);
    size_t end = first;
    do {
        prometheus_labels_make(&labels, series);
        prometheus_put_series(&lines, &bounds);
        end++;
    } while (prometheus_read(page, end, series) &&
             (series->name == metric || strcmp(series->name, metric) == 0));
    return end;
}

/* ---- what windows compute ---- */

typedef struct prometheus_window {
    const char *qualifier;
    size_t offset;       /* of the result in crest_window */
    int of_values;       /* about the values of a distribution, not about how many there were */
    const char *counter; /* how HELP begins for a counter, a distribution and a range sampler; */
    const char *distribution; /* NULL: there is no such result */
    const char *range_sampler;
} prometheus_window;

static const prometheus_window prometheus_windows[] = {
    {"rate1m", offsetof(crest_window, per_second), 0, "Per second, over the last minute",
     "Recorded per second, over the last minute", NULL},
    {"peak1m", offsetof(crest_window, peak), 0, "Per second, the highest tick of the last minute",
     "Recorded per second, the highest tick of the last minute", NULL},
    {"min1m", offsetof(crest_window, minimum), 1, NULL, NULL, "Lowest of the last minute"},
    {"avg1m", offsetof(crest_window, average), 1, NULL, "Average over the last minute",
     "Average over the last minute, weighted by time"},
    {"max1m", offsetof(crest_window, maximum), 1, NULL, "Largest of the last minute",
     "Highest of the last minute"},
};

static const char *prometheus_computed(const prometheus_window *window, crest_kind kind)
{
    switch (kind) {
    case CREST_KIND_NONE:
    case CREST_KIND_STAGES: /* of declarations only */
    case CREST_KIND_GAUGE: return NULL;
    case CREST_KIND_COUNTER: return window->counter;
    case CREST_KIND_HISTOGRAM:
    case CREST_KIND_TIMER: return window->distribution;
    case CREST_KIND_RANGE_SAMPLER: return window->range_sampler;
    }
    return NULL;
}

/* One family: the series that have this result, under a header that comes only if there is one. */
static void prometheus_put_window(prometheus_page *page, size_t first, size_t end,
                                  const prometheus_window *window)
{
    prometheus_family family;
    prometheus_labels labels;
    crest_series_view series;
    int begun = 0;
    for (size_t i = first; i < end && prometheus_read(page, i, &series); i++) {
        int distribution = prometheus_is_distribution(series.kind);
        const char *computed = prometheus_computed(window, series.kind);
        if (computed == NULL)
            return;
        if (!(series.window.covered_s > 0) ||
            (distribution && window->of_values && series.window.events == 0))
            continue;
        if (!begun) {
            prometheus_family_name(&family, &series, window->qualifier);
            prometheus_put_header(page, &family, computed, &series, "gauge");
            begun = 1;
        }
        double value;
        memcpy(&value, (const char *)&series.window + window->offset, sizeof value);
        if (!distribution || window->of_values)
            value = prometheus_in_base_unit(value, &series);
        prometheus_labels_make(&labels, &series);
        prometheus_put_sample(page, &family, "", &series, &labels, NULL);
        crest_buffer_put_double(page->out, value);
        crest_buffer_put_char(page->out, '\n');
    }
}

/* ---- the page ---- */

static void prometheus_put_target(const prometheus_page *page, const crest_page_options *options)
{
    static const char help[] = " What this process is; always 1. [crest.target-info]\n";
    crest_buffer *out = page->out;
    if (page->openmetrics) {
        crest_buffer_put_text(out, "# TYPE " PROMETHEUS_TARGET_FAMILY
                                   " info\n# HELP " PROMETHEUS_TARGET_FAMILY);
        crest_buffer_put_text(out, help);
    } else {
        crest_buffer_put_text(out, "# HELP " PROMETHEUS_TARGET);
        crest_buffer_put_text(out, help);
        crest_buffer_put_text(out, "# TYPE " PROMETHEUS_TARGET " gauge\n");
    }
    crest_buffer_put_text(out, PROMETHEUS_TARGET);
    for (unsigned i = 0; i < options->target_count; i++) {
        const crest_page_label *label = &options->target[i];
        crest_buffer_put_text(out, i == 0 ? "{" : "");
        prometheus_put_label(out, label->key, label->value != NULL ? label->value : "", i == 0);
    }
    crest_buffer_put_text(out, options->target_count != 0 ? "} 1\n" : " 1\n");
}

/* The target stands where its name sorts. */
static void prometheus_put_page(prometheus_page *page, const crest_page_options *options)
{
    int target_left = options->target != NULL;
    crest_series_view series;
    size_t first = 0;
    while (prometheus_read(page, first, &series)) {
        if (target_left && strcmp(series.exported, PROMETHEUS_TARGET) > 0) {
            prometheus_put_target(page, options);
            target_left = 0;
        }
        /* the kind of the metric: *series is another's when it has been put */
        int wanted =
            options->windows >= (series.kind == CREST_KIND_RANGE_SAMPLER ? CREST_PAGE_WINDOWS_RANGES
                                                                         : CREST_PAGE_WINDOWS_ALL);
        size_t end = prometheus_put_metric(page, first, &series);
        if (wanted)
            for (size_t i = 0; i < sizeof prometheus_windows / sizeof prometheus_windows[0]; i++)
                prometheus_put_window(page, first, end, &prometheus_windows[i]);
        first = end;
    }
    if (target_left)
        prometheus_put_target(page, options);
    if (page->openmetrics)
        crest_buffer_put_text(page->out, "# EOF\n");
}

static crest_status prometheus_check_target(const crest_page_options *options, crest_error *error)
{
    if (options->target == NULL)
        return CREST_OK;
    if (options->target_count > CREST_TARGET_LABELS_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The page was not written: the target has %u labels; %u is the "
                               "limit.",
                               options->target_count, CREST_TARGET_LABELS_MAX);
    for (unsigned i = 0; i < options->target_count; i++) {
        const char *key = options->target[i].key;
        char why[CREST_NAMES_WHY_BYTES];
        if (crest_label_key_syntax(key, why, sizeof why) != CREST_OK)
            return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                   "The page was not written: label %u of the target is not "
                                   "valid: %s.",
                                   i + 1, why);
        for (unsigned other = 0; other < i; other++)
            if (strcmp(options->target[other].key, key) == 0)
                return crest_error_set(error, CREST_INVALID_ARGUMENT,
                                       "The page was not written: the target has label %s twice.",
                                       key);
    }
    return CREST_OK;
}

crest_status crest_prometheus_text_write(const crest_page_source *source,
                                         const crest_snapshot *snapshot, crest_format format,
                                         const crest_page_options *options, crest_write_fn *write,
                                         void *context, crest_error *error)
{
    static const crest_page_options nothing_special;
    if (options == NULL)
        options = &nothing_special;
    if (snapshot == NULL || write == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The page was not written: there is no %s.",
                               snapshot == NULL ? "snapshot" : "function to write it with");
    crest_status status = prometheus_check_target(options, error);
    if (status != CREST_OK)
        return status;
    crest_buffer out;
    if (!crest_buffer_init(&out, write, context))
        return crest_error_set(error, CREST_NO_MEMORY,
                               "The page was not written: there is no memory for a buffer of %u "
                               "bytes. Nothing recorded is lost; write it again.",
                               CREST_BUFFER_BYTES);
    size_t size = source->size(snapshot);
    prometheus_page page = {source, snapshot, &out, size, size, format == CREST_FORMAT_OPENMETRICS};
    prometheus_put_page(&page, options);
    if (!crest_buffer_flush(&out))
        status = crest_error_set(error, CREST_IO,
                                 "The page is incomplete: it was being written, "
                                 "and after %llu bytes the write function returned %d for a piece "
                                 "of %zu bytes. Look at what it writes to, and write the page "
                                 "again.",
                                 (unsigned long long)out.delivered, out.failed, out.refused);
    else if (page.unread < size)
        status = crest_error_set(error, CREST_INVALID_ARGUMENT,
                                 "The page is incomplete: series %zu of %zu of the snapshot could "
                                 "not be read.",
                                 page.unread + 1, size);
    crest_buffer_fini(&out);
    return status;
}
