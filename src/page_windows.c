/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What windows compute, on a page: gauges with the window in their name. See page_values.h.
 */
#include "page_values.h"

#include <crest/window.h>

typedef struct windows_result {
    const char *qualifier;
    size_t offset;       /* of the result in crest_window */
    int of_values;       /* about the values of a distribution, not about how many there were */
    const char *counter; /* how HELP begins for a counter, a distribution and a range sampler; */
    const char *distribution; /* NULL: there is no such result */
    const char *range_sampler;
} windows_result;

static const windows_result windows_results[] = {
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

static const char *windows_computed(const windows_result *window, crest_kind kind)
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
typedef struct windows_family {
    const crest_page *page;
    const crest_page_metric *metric;
    const windows_result *result;
    int begun;
    int distribution;
    crest_page_family name;
    crest_line_form form;
} windows_family;

static void windows_put_row(windows_family *family, const crest_page_row *row, size_t index)
{
    const crest_page *page = family->page;
    crest_window window;
    page->source->window(page->snapshot, index, CREST_WINDOW_S, &window);
    if (!(window.covered_s > 0) ||
        (family->distribution && family->result->of_values && window.events == 0))
        return;
    if (!family->begun) {
        crest_page_put_header(page, &family->name, family->metric);
        crest_line_form_sample(&family->form, family->metric, family->name.name, "");
        family->begun = 1;
    }
    double value;
    memcpy(&value, (const char *)&window + family->result->offset, sizeof value);
    if (!family->distribution || family->result->of_values)
        value = crest_page_in_base_unit(value, family->name.unit);
    char *at = crest_line_begin(page->out, &family->form, row);
    crest_line_end(page->out, at + crest_number_double(at, value));
}

static void windows_put_family(windows_family *family, size_t first, size_t end)
{
    const crest_page *page = family->page;
    crest_page_row rows[CREST_PAGE_ROWS];
    unsigned count;
    if (!crest_page_wants(page, &family->name))
        return;
    for (size_t at = first; at < end && page->out->failed == 0; at += count) {
        count = page->source->rows(page->snapshot, family->metric, at, rows, CREST_PAGE_ROWS);
        for (unsigned i = 0; i < count; i++)
            windows_put_row(family, &rows[i], at + i);
    }
}

void crest_page_put_windows(const crest_page *page, const crest_page_metric *metric, size_t first,
                            size_t end)
{
    crest_kind kind = metric->first.kind;
    windows_family family;
    family.page = page;
    family.metric = metric;
    family.distribution = crest_page_is_distribution(kind);
    for (size_t i = 0; i < sizeof windows_results / sizeof windows_results[0]; i++) {
        const char *computed = windows_computed(&windows_results[i], kind);
        if (computed == NULL)
            continue;
        family.result = &windows_results[i];
        family.begun = 0;
        crest_page_family_window(&family.name, metric, family.result->qualifier, computed);
        windows_put_family(&family, first, end);
    }
}
