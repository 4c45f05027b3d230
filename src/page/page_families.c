/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families. See page_families.h.
 */
#include "page/page_families.h"
#include "page/page_escape.h"

/* Sets the family's name; a counter's loses the ending of its samples, _total. */
static void families_name(crest_page_family *family, const crest_series_view *series,
                          const char *qualifier)
{
    static const char total[] = "_total";
    family->unit = crest_unit_of(series->kind, series->unit);
    family->length = crest_exported_name(series->name, series->kind, series->unit, qualifier,
                                         family->name, sizeof family->name);
    if (family->length >= sizeof family->name)
        family->length = sizeof family->name - 1;
    if (series->kind == CREST_KIND_COUNTER && qualifier == NULL && family->length >= sizeof total) {
        family->length -= sizeof total - 1;
        family->name[family->length] = '\0';
    }
}

void crest_page_family_main(crest_page_family *family, const crest_page_metric *metric)
{
    static const char *const types[] = {"untyped",   "counter",   "gauge",
                                        "histogram", "histogram", "gauge"};
    families_name(family, &metric->first, NULL);
    family->type = types[metric->first.kind <= CREST_KIND_RANGE_SAMPLER ? metric->first.kind : 0];
    family->computed = "";
}

void crest_page_family_window(crest_page_family *family, const crest_page_metric *metric,
                              const char *qualifier, const char *computed)
{
    families_name(family, &metric->first, qualifier);
    family->type = "gauge";
    family->computed = computed;
}

/* The endings of the names of a type's samples, the family's own name first. */
static const char *const *families_suffixes(const char *type)
{
    static const char *const counter[] = {"", "_total", "_created", NULL};
    static const char *const histogram[] = {"", "_bucket", "_sum", "_count", "_created", NULL};
    static const char *const other[] = {"", NULL};
    return type[0] == 'c' ? counter : type[0] == 'h' ? histogram : other;
}

int crest_page_wants(const crest_page *page, const crest_page_family *family)
{
    const char *const *suffixes = families_suffixes(family->type);
    for (unsigned i = 0; i < page->options->name_count; i++) {
        const char *name = page->options->names[i];
        if (name == NULL || strncmp(name, family->name, family->length) != 0)
            continue;
        for (unsigned end = 0; suffixes[end] != NULL; end++)
            if (strcmp(name + family->length, suffixes[end]) == 0)
                return 1;
    }
    return page->options->name_count == 0;
}

int crest_page_wants_either(const crest_page *page, const char *name, const char *other)
{
    for (unsigned i = 0; i < page->options->name_count; i++) {
        const char *wanted = page->options->names[i];
        if (wanted != NULL && (strcmp(wanted, name) == 0 || strcmp(wanted, other) == 0))
            return 1;
    }
    return page->options->name_count == 0;
}

int crest_page_wants_windows(const crest_page *page, crest_kind kind)
{
    return page->window_count != 0 &&
           (kind == CREST_KIND_RANGE_SAMPLER || page->options->windows >= CREST_PAGE_WINDOWS_ALL);
}

void crest_page_choose_windows(crest_page *page)
{
    page->window_count = page->options->windows >= CREST_PAGE_WINDOWS_RANGES
                             ? page->source->windows(page->snapshot, page->window_s)
                             : 0;
    if (page->window_count > 1 && page->options->windows < CREST_PAGE_WINDOWS_ALL)
        page->window_count = 1;
}

static void families_put_meta(const crest_page *page, const char *what,
                              const crest_page_family *family, const char *text)
{
    crest_buffer_put_text(page->out, what);
    crest_buffer_put_bytes(page->out, family->name, family->length);
    if (!page->openmetrics && family->type[0] == 'c')
        crest_buffer_put_text(page->out, "_total");
    crest_buffer_put_char(page->out, ' ');
    crest_buffer_put_text(page->out, text);
}

/* Families that every client of Prometheus exports of its process, with the same HELP. A
 * Pushgateway that has such a family from several clients logs each difference, at each scrape. */
int crest_page_family_is_standard(const crest_page_family *family)
{
    static const char prefix[] = "process_";
    static const char *const names[] = {"cpu_seconds",
                                        "open_fds",
                                        "max_fds",
                                        "virtual_memory_bytes",
                                        "virtual_memory_max_bytes",
                                        "resident_memory_bytes",
                                        "start_time_seconds"};
    size_t before = sizeof prefix - 1;
    if (family->computed[0] != '\0' || strncmp(family->name, prefix, before) != 0)
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (family->length == before + strlen(names[i]) &&
            memcmp(family->name + before, names[i], family->length - before) == 0)
            return 1;
    return 0;
}

/* Puts HELP. A windowed family's begins with what the window computes. The canonical name ends it,
 * so that an operator can go from there to the source. */
static void families_put_help(const crest_page *page, const crest_page_family *family,
                              const crest_series_view *series)
{
    crest_buffer *out = page->out;
    const char *description = series->description != NULL ? series->description : "";
    families_put_meta(page, "# HELP ", family, family->computed);
    if (family->computed[0] != '\0')
        crest_buffer_put_text(out, description[0] != '\0' ? ": " : ". ");
    if (description[0] != '\0')
        crest_page_put_escaped(out, description, page->openmetrics);
    if (!crest_page_family_is_standard(family)) {
        crest_buffer_put_text(out, description[0] != '\0' ? " [" : "[");
        crest_page_put_escaped(out, series->name, page->openmetrics);
        crest_buffer_put_char(out, ']');
    }
    crest_buffer_put_char(out, '\n');
}

static void families_put_type(const crest_page *page, const crest_page_family *family)
{
    int unknown = page->openmetrics && family->type[0] == 'u';
    families_put_meta(page, "# TYPE ", family, unknown ? "unknown" : family->type);
    crest_buffer_put_char(page->out, '\n');
}

/* OpenMetrics wants a family's name to end in its unit. A distribution's rates have none: they
 * count events. */
const char *crest_page_family_unit(const crest_page_family *family)
{
    const char *unit = crest_unit_suffix(family->unit);
    size_t length = strlen(unit);
    if (length == 0 || family->length < length + 2 ||
        family->name[family->length - length - 1] != '_' ||
        memcmp(family->name + family->length - length, unit, length) != 0)
        return "";
    return unit;
}

static void families_put_unit(const crest_page *page, const crest_page_family *family)
{
    const char *unit = crest_page_family_unit(family);
    if (unit[0] == '\0')
        return;
    families_put_meta(page, "# UNIT ", family, unit);
    crest_buffer_put_char(page->out, '\n');
}

void crest_page_put_header(const crest_page *page, const crest_page_family *family,
                           const crest_page_metric *metric)
{
    if (!page->openmetrics)
        families_put_help(page, family, &metric->first);
    families_put_type(page, family);
    if (!page->openmetrics)
        return;
    families_put_unit(page, family);
    families_put_help(page, family, &metric->first);
}

double crest_page_in_base_unit(double value, crest_unit unit)
{
    static const double scales[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    return value / scales[crest_unit_decimals(unit)]; /* rounds correctly */
}
