/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms and timers on a page. See page_distributions.h.
 */
#include "page/page_distributions.h"
#include "names/buckets.h"
#include "page/page_exemplar.h"

static void distributions_le(crest_page_text *le, const char *bound, int labelled)
{
    char *at = le->text;
    at = stpcpy(at, labelled ? ",le=\"" : "le=\"");
    at = stpcpy(at, bound);
    at = stpcpy(at, "\"} ");
    le->length = (size_t)(at - le->text);
}

static void distributions_bounds(crest_page_bounds *bounds, const crest_series_view *series)
{
    crest_unit unit = crest_unit_of(series->kind, series->unit);
    int labelled = series->label_count != 0;
    const crest_buckets *buckets = series->buckets;
    if (buckets == NULL)
        buckets = crest_buckets_for_unit(unit, series->kind);
    unsigned count = buckets->count < CREST_BUCKETS_MAX ? buckets->count : CREST_BUCKETS_MAX;
    /* compare the count first: it alone is set before any bounds have been made */
    if (bounds->count == count && bounds->bounds == buckets->bounds && bounds->unit == unit &&
        bounds->labelled == labelled)
        return;
    bounds->bounds = buckets->bounds;
    bounds->count = count;
    bounds->unit = unit;
    bounds->labelled = labelled;
    for (unsigned i = 0; i < count; i++) {
        char bound[CREST_NUMBER_BYTES_MAX];
        bounds->limits[i] = crest_buckets_limit(buckets->bounds[i], unit);
        crest_number_bound(bound, buckets->bounds[i]);
        distributions_le(&bounds->le[i], bound, labelled);
    }
    distributions_le(&bounds->le[count], "+Inf", labelled);
}

void crest_page_distributions_begin(crest_page_distributions *lines, const crest_page *page,
                                    const crest_page_metric *metric,
                                    const crest_page_family *family, crest_page_bounds *bounds)
{
    lines->page = page;
    lines->metric = metric;
    lines->family = family;
    lines->bounds = bounds;
    lines->decimals = crest_unit_decimals(family->unit);
    crest_line_form_labels(&lines->labels, metric);
    distributions_bounds(bounds, &metric->first);
}

/* An exemplar: the slowest operation of the last minute, and the line that it belongs on. */
typedef struct distributions_exemplar {
    unsigned bucket; /* index of the bucket that holds its value */
    crest_page_exemplar found;
} distributions_exemplar;

#define DISTRIBUTIONS_NO_BUCKET (CREST_BUCKETS_MAX + 1)

/* The lines of one series, as they are put together. */
typedef struct distributions_series {
    const crest_page_distributions *shared;
    const crest_page_row *row;
    size_t lead, labels; /* bytes of name_bucket{ and of the labels behind it */
    int whole;           /* zero: the labels are put the long way each time */
    distributions_exemplar exemplar;
    uint64_t count; /* the previous line's number, and its digits */
    size_t digits_length;
    char digits[CREST_NUMBER_BYTES_MAX + CREST_COPY_PAD];
    char head[CREST_EXPORTED_BYTES_MAX + 16 + CREST_LINE_FORM_BYTES + CREST_COPY_PAD];
} distributions_series;

static void distributions_head(distributions_series *series)
{
    const crest_line_form *form = &series->shared->labels;
    const crest_page_family *family = series->shared->family;
    char *at = series->head;
    memcpy(at, family->name, family->length);
    at = stpcpy(at + family->length, "_bucket{");
    series->lead = (size_t)(at - series->head);
    series->labels = form->labels != 0 ? crest_line_bytes(form, series->row) : form->fixed;
    series->whole = (form->labels == 0 ? form->whole : series->labels != 0) &&
                    series->labels <= CREST_LINE_FORM_BYTES;
    if (series->whole)
        crest_line_fill(at, form, series->row);
}

/* Finds the line of the exemplar, if there is one: the bucket of the value itself. A bucket of the
 * distribution that straddles a bound may have counted it one bucket further down. */
static void distributions_find_exemplar(distributions_series *series, size_t index)
{
    const crest_page *page = series->shared->page;
    const crest_page_bounds *bounds = series->shared->bounds;
    distributions_exemplar *exemplar = &series->exemplar;
    exemplar->bucket = DISTRIBUTIONS_NO_BUCKET;
    if (!page->openmetrics ||
        !crest_page_exemplar_of(&exemplar->found, page, series->shared->metric, index))
        return;
    exemplar->bucket = 0;
    while (exemplar->bucket < bounds->count &&
           !(exemplar->found.value <= bounds->bounds[exemplar->bucket]))
        exemplar->bucket++;
}

static void distributions_put_exemplar(crest_buffer *out, const crest_page_exemplar *exemplar)
{
    crest_buffer_put_text(out, " # {");
    if (exemplar->whole)
        crest_page_put_label(out, CREST_EXEMPLAR_LABEL, exemplar->id, 1);
    if (exemplar->traced) {
        crest_page_put_label(out, CREST_EXEMPLAR_TRACE_LABEL, exemplar->trace_text,
                             !exemplar->whole);
        crest_page_put_label(out, CREST_EXEMPLAR_SPAN_LABEL, exemplar->span_text, 0);
    }
    crest_buffer_put_text(out, "} ");
    crest_buffer_put_double(out, exemplar->value);
}

/* Keeps the digits of the line before: neighbouring buckets often have the same count. */
static char *distributions_digits(distributions_series *series, char *at, uint64_t count)
{
    if (series->digits_length == 0 || series->count != count) {
        series->digits_length = crest_number_u64(series->digits, count);
        series->count = count;
    }
    return crest_copy_padded(at, series->digits, series->digits_length);
}

static void distributions_put_bucket(distributions_series *series, unsigned bucket, uint64_t count)
{
    crest_buffer *out = series->shared->page->out;
    const crest_page_text *le = &series->shared->bounds->le[bucket];
    size_t head = series->lead + (series->whole ? series->labels : 0);
    char *at = crest_buffer_reserve(out, head + sizeof le->text + CREST_LINE_VALUE_BYTES);
    at = crest_copy_padded(at, series->head, head);
    if (!series->whole) {
        out->used = (size_t)(at - out->bytes);
        crest_line_put_labels(out, series->shared->metric, series->row);
        at = crest_buffer_reserve(out, sizeof le->text + CREST_LINE_VALUE_BYTES);
    }
    at = crest_copy_padded(at, le->text, le->length);
    at = distributions_digits(series, at, count);
    if (bucket == series->exemplar.bucket) {
        out->used = (size_t)(at - out->bytes);
        distributions_put_exemplar(out, &series->exemplar.found);
        at = crest_buffer_reserve(out, 1);
    }
    crest_line_end(out, at);
}

/* Begins a line without le, up to its number. */
static char *distributions_begin(const distributions_series *series, const char *suffix)
{
    crest_buffer *out = series->shared->page->out;
    int labelled = series->shared->bounds->labelled;
    crest_buffer_put_bytes(out, series->head, series->shared->family->length);
    crest_buffer_put_text(out, suffix);
    if (labelled)
        crest_buffer_put_char(out, '{');
    if (series->whole)
        crest_buffer_put_bytes(out, series->head + series->lead, series->labels);
    else
        crest_line_put_labels(out, series->shared->metric, series->row);
    if (labelled)
        crest_buffer_put_char(out, '}');
    crest_buffer_put_char(out, ' ');
    return crest_buffer_reserve(out, CREST_LINE_VALUE_BYTES);
}

/*
 * Puts the bucket lines. A recorded value is known only to lie between the ends of its bucket. It
 * is counted under the first bound that is not below the lower end. By the upper end, values
 * exactly on a bound would go to the next one.
 */
static void distributions_put_buckets(distributions_series *series, const crest_totals *totals)
{
    unsigned count = series->shared->bounds->count;
    for (unsigned at = 0; at < count; at++)
        distributions_put_bucket(series, at, totals->below[at]);
    distributions_put_bucket(series, count, totals->count);
}

void crest_page_put_distribution(const crest_page_distributions *lines, const crest_page_row *row,
                                 size_t index)
{
    const crest_page *page = lines->page;
    const crest_page_bounds *bounds = lines->bounds;
    crest_totals totals;
    page->source->totals(page->snapshot, index, bounds->limits, bounds->count, &totals);
    distributions_series series;
    series.shared = lines;
    series.row = row;
    series.digits_length = 0;
    distributions_head(&series);
    distributions_find_exemplar(&series, index);
    distributions_put_buckets(&series, &totals);
    char *at = distributions_begin(&series, "_sum");
    crest_line_end(page->out, at + crest_number_scaled(at, totals.sum, lines->decimals));
    at = distributions_begin(&series, "_count");
    crest_line_end(page->out, distributions_digits(&series, at, totals.count));
    if (row->made_s != 0) {
        at = distributions_begin(&series, "_created");
        crest_line_end(page->out, at + crest_number_u64(at, row->made_s));
    }
}
