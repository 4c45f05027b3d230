/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What metrics have recorded, on a page. See page_values.h.
 */
#include "page/page_values.h"

/* What the lines of one family share. */
typedef struct values_family {
    const crest_page *page;
    const crest_page_metric *metric;
    crest_page_family name;
    unsigned decimals;
    crest_line_form sample;
    crest_line_form made;
} values_family;

static void values_put_counter(const values_family *family, const crest_page_row *row)
{
    crest_buffer *out = family->page->out;
    char *at = crest_line_begin(out, &family->sample, row);
    crest_line_end(out, at + (family->decimals == 0
                                  ? crest_number_u64(at, row->counter)
                                  : crest_number_scaled(at, row->counter, family->decimals)));
    if (row->made_s != 0) {
        at = crest_line_begin(out, &family->made, row);
        crest_line_end(out, at + crest_number_u64(at, row->made_s));
    }
}

static void values_put_gauge(const values_family *family, const crest_page_row *row)
{
    crest_buffer *out = family->page->out;
    double value = crest_page_in_base_unit(row->gauge, family->name.unit);
    char *at = crest_line_begin(out, &family->sample, row);
    crest_line_end(out, at + crest_number_double(at, value));
}

static void values_put_range_sampler(const values_family *family, const crest_page_row *row)
{
    crest_buffer *out = family->page->out;
    uint64_t size = row->current < 0 ? 0 - (uint64_t)row->current : (uint64_t)row->current;
    char *at = crest_line_begin(out, &family->sample, row);
    if (row->current < 0)
        *at++ = '-';
    crest_line_end(out, at + crest_number_scaled(at, size, family->decimals));
}

static void values_put_row(const values_family *family, const crest_page_row *row)
{
    switch (family->metric->first.kind) {
    case CREST_KIND_COUNTER: values_put_counter(family, row); break;
    case CREST_KIND_GAUGE: values_put_gauge(family, row); break;
    case CREST_KIND_RANGE_SAMPLER: values_put_range_sampler(family, row); break;
    case CREST_KIND_NONE:
    case CREST_KIND_HISTOGRAM: /* page_distributions.c's */
    case CREST_KIND_TIMER:
    case CREST_KIND_STAGES: /* of declarations only */ break;
    }
}

static void values_family_begin(values_family *family)
{
    int counter = family->metric->first.kind == CREST_KIND_COUNTER;
    family->decimals = crest_unit_decimals(family->name.unit);
    crest_line_form_sample(&family->sample, family->metric, family->name.name,
                           counter ? "_total" : "");
    if (family->metric->made)
        crest_line_form_sample(&family->made, family->metric, family->name.name, "_created");
}

static size_t values_put_rows(values_family *family, size_t first)
{
    const crest_page *page = family->page;
    crest_page_row rows[CREST_PAGE_ROWS];
    unsigned count;
    size_t at = first;
    values_family_begin(family);
    do {
        count = page->source->rows(page->snapshot, family->metric, at, rows, CREST_PAGE_ROWS);
        for (unsigned i = 0; i < count; i++)
            values_put_row(family, &rows[i]);
        at += count;
    } while (count != 0 && page->out->failed == 0);
    return at;
}

static size_t values_put_distributions(values_family *family, size_t first,
                                       crest_page_bounds *bounds)
{
    const crest_page *page = family->page;
    crest_page_distributions lines;
    crest_page_row rows[CREST_PAGE_ROWS];
    unsigned count;
    size_t at = first;
    crest_page_distributions_begin(&lines, page, family->metric, &family->name, bounds);
    do {
        count = page->source->rows(page->snapshot, family->metric, at, rows, CREST_PAGE_ROWS);
        for (unsigned i = 0; i < count; i++)
            crest_page_put_distribution(&lines, &rows[i], at + i);
        at += count;
    } while (count != 0 && page->out->failed == 0);
    return at;
}

/* Where a metric ends that the page does not want. */
static size_t values_skip(const values_family *family, size_t first)
{
    const crest_page *page = family->page;
    crest_page_row rows[CREST_PAGE_ROWS];
    unsigned count;
    do
        first += count =
            page->source->rows(page->snapshot, family->metric, first, rows, CREST_PAGE_ROWS);
    while (count != 0);
    return first;
}

size_t crest_page_put_metric(const crest_page *page, const crest_page_metric *metric, size_t first,
                             crest_page_bounds *bounds)
{
    values_family family;
    family.page = page;
    family.metric = metric;
    crest_page_family_main(&family.name, metric);
    if (!crest_page_wants(page, &family.name))
        return values_skip(&family, first);
    crest_page_put_header(page, &family.name, metric);
    if (crest_kind_is_distribution(metric->first.kind))
        return values_put_distributions(&family, first, bounds);
    return values_put_rows(&family, first);
}
