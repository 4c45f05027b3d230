/* SPDX-License-Identifier: Apache-2.0 */
/* What page.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_PAGE_OFF_H
#define CREST_PAGE_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API const char *crest_format_content_type(crest_format format)
{
    return format == CREST_FORMAT_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

CREST_API crest_format crest_format_negotiate(const char *accept, const char **content_type)
{
    (void)accept;
    if (content_type != NULL)
        *content_type = crest_format_content_type(CREST_FORMAT_PROMETHEUS_TEXT);
    return CREST_FORMAT_PROMETHEUS_TEXT;
}

CREST_API size_t crest_exported_name(const char *canonical, crest_kind kind, crest_unit unit,
                                     const char *qualifier, char *text, size_t size)
{
    (void)canonical, (void)kind, (void)unit, (void)qualifier;
    if (size > 0)
        text[0] = '\0';
    return 0;
}

CREST_API crest_status crest_snapshot_write(const crest_snapshot *snapshot, crest_format format,
        const crest_page_options *options, crest_write_fn *write, void *context,
        crest_error *error)
{
    (void)snapshot, (void)format, (void)options, (void)write, (void)context;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_status crest_page_write(crest_registry *registry, crest_format format,
        crest_write_fn *write, void *context, crest_error *error)
{
    (void)registry, (void)format, (void)write, (void)context;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API int crest_prometheus_write(crest_registry *registry, FILE *stream)
{
    (void)registry, (void)stream;
    return 0;
}

CREST_END_C

#endif
