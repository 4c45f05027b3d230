/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What windows compute, on a page: gauges with the window in their name. See page_values.h.
 */
#include "page/page_values.h"

#include <crest/window.h>

/* One family: the series with this result, under a header that is put only if there is one. */
typedef struct windows_family {
    const crest_page *page;
    const crest_page_metric *metric;
    const crest_window_result *result;
    int begun;
    int distribution;
    crest_page_family name;
    crest_line_form form;
} windows_family;

static void windows_put_row(windows_family *family, const crest_page_row *row, size_t index)
{
    const crest_page *page = family->page;
    crest_window window;
    page->source->window(page->snapshot, index, family->result->window_s, &window);
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
    crest_window_result results[CREST_WINDOW_RESULTS_MAX];
    unsigned count =
        crest_window_results(&metric->first, page->window_s, page->window_count, results);
    windows_family family;
    family.page = page;
    family.metric = metric;
    family.distribution = crest_kind_is_distribution(metric->first.kind);
    for (unsigned i = 0; i < count; i++) {
        family.result = &results[i];
        family.begun = 0;
        crest_page_family_window(&family.name, metric, results[i].qualifier, results[i].meaning);
        windows_put_family(&family, first, end);
    }
}
