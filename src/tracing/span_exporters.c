/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of exporters of spans. See span_exporters.h.
 */
#include "tracing/span_exporters.h"
#include "base/error.h"
#include "base/sync.h"
#include "reporting/one_report.h"
#include "spans/kept_spans.h"

#include <string.h>

static crest_span_exporter *exporters_list[CREST_SPAN_EXPORTERS_MAX];
static uint8_t exporters_failing[CREST_SPAN_EXPORTERS_MAX]; /* the log was told */
static unsigned exporters_count;
static __thread uint8_t exporters_inside; /* this thread is within one */

void crest_span_exporters_forked(void)
{
    exporters_count = 0;
    exporters_inside = 0;
}

int crest_span_exporters_inside(void)
{
    return exporters_inside;
}

unsigned crest_span_exporters_count(void)
{
    return exporters_count;
}

crest_status crest_span_exporters_add(crest_span_exporter *exporter)
{
    for (unsigned i = 0; i < exporters_count; i++)
        if (exporters_list[i] == exporter)
            return CREST_ALREADY;
    if (exporters_count == CREST_SPAN_EXPORTERS_MAX)
        return CREST_LIMIT;
    exporters_failing[exporters_count] = 0;
    exporters_list[exporters_count++] = exporter;
    return CREST_OK;
}

crest_status crest_span_exporters_remove(const crest_span_exporter *exporter)
{
    for (unsigned i = 0; i < exporters_count; i++)
        if (exporters_list[i] == exporter) {
            exporters_count--;
            exporters_list[i] = exporters_list[exporters_count];
            exporters_failing[i] = exporters_failing[exporters_count];
            return CREST_OK;
        }
    return CREST_NOT_FOUND;
}

typedef struct exporters_call {
    crest_span_batch batch;
    int taken;
} exporters_call;

static void exporters_tell(unsigned number, crest_status status, const crest_error *error)
{
    int failing = status != CREST_OK;
    if (failing && !exporters_failing[number])
        crest_log_write(CREST_LOG_WARNING, "crest: spans are lost: %s: %s",
                        exporters_list[number]->name,
                        error->message[0] != '\0' ? error->message : crest_status_text(status));
    exporters_failing[number] = (uint8_t)failing;
}

static void exporters_call_all(const crest_resource *resource, void *context)
{
    exporters_call *call = context;
    call->batch.resource = resource;
    for (unsigned i = 0; i < exporters_count; i++) {
        crest_error error;
        crest_error_clear(&error);
        exporters_inside = 1;
        crest_status status = exporters_list[i]->take(exporters_list[i], &call->batch, &error);
        exporters_inside = 0;
        call->taken |= status == CREST_OK;
        exporters_tell(i, status, &error);
    }
}

int crest_span_exporters_take(const crest_span *spans, size_t count, int final)
{
    exporters_call call = {
        .batch = {.spans = spans,
                  .count = count,
                  .deadline_ns = crest_now() + CREST_SPAN_EXPORT_MS * CREST_NS_PER_MS,
                  .final = final}};
    if (exporters_count != 0)
        crest_one_report_with_resource(exporters_call_all, &call);
    for (size_t i = 0; call.taken && i < count; i++)
        crest_kept_spans_note(&spans[i]);
    return call.taken;
}
