/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of exporters of spans. See span_exporters.h.
 */
#include "tracing/span_exporters.h"
#include "base/error.h"
#include "base/sync.h"
#include "base/utf8.h"
#include "reporting/one_report.h"
#include "spans/kept_spans.h"

#include <pthread.h>

typedef struct exporters_entry {
    crest_span_exporter *exporter;
    uint8_t failing; /* the log was told */
} exporters_entry;

static pthread_mutex_t exporters_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t exporters_returned = PTHREAD_COND_INITIALIZER;
/* Guarded by the lock. Prompt ones first. */
static exporters_entry exporters_list[CREST_SPAN_EXPORTERS_MAX];
static unsigned exporters_count;
static const crest_span_exporter *exporters_calling;
static uint64_t exporters_since_ns;       /* crest_monotonic_ns at that call's begin */
static __thread uint8_t exporters_inside; /* this thread is within one */

void crest_span_exporters_forked(void)
{
    static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
    crest_mutex_fresh(&exporters_lock);
    exporters_returned = fresh;
    exporters_count = 0;
    exporters_calling = NULL;
    exporters_inside = 0;
}

int crest_span_exporters_inside(void)
{
    return exporters_inside;
}

unsigned crest_span_exporters_count(void)
{
    pthread_mutex_lock(&exporters_lock);
    unsigned count = exporters_count;
    pthread_mutex_unlock(&exporters_lock);
    return count;
}

/* Under the lock: its place, or the count. */
static unsigned exporters_find(const crest_span_exporter *exporter)
{
    unsigned at = 0;
    while (at < exporters_count && exporters_list[at].exporter != exporter)
        at++;
    return at;
}

static crest_status exporters_insert(crest_span_exporter *exporter)
{
    if (exporters_find(exporter) != exporters_count)
        return CREST_ALREADY;
    if (exporters_count == CREST_SPAN_EXPORTERS_MAX)
        return CREST_LIMIT;
    unsigned at = exporters_count++;
    for (; exporter->prompt && at > 0 && !exporters_list[at - 1].exporter->prompt; at--)
        exporters_list[at] = exporters_list[at - 1];
    exporters_list[at] = (exporters_entry){exporter, 0};
    return CREST_OK;
}

crest_status crest_span_exporters_add(crest_span_exporter *exporter)
{
    pthread_mutex_lock(&exporters_lock);
    crest_status status = exporters_insert(exporter);
    pthread_mutex_unlock(&exporters_lock);
    return status;
}

crest_status crest_span_exporters_remove(const crest_span_exporter *exporter)
{
    pthread_mutex_lock(&exporters_lock);
    unsigned at = exporters_find(exporter);
    int found = at != exporters_count;
    exporters_count -= (unsigned)found;
    for (; found && at < exporters_count; at++)
        exporters_list[at] = exporters_list[at + 1];
    while (found && exporters_calling == exporter)
        pthread_cond_wait(&exporters_returned, &exporters_lock);
    pthread_mutex_unlock(&exporters_lock);
    return found ? CREST_OK : CREST_NOT_FOUND;
}

uint64_t crest_span_exporters_busy_ns(char *name, size_t size)
{
    uint64_t busy_ns = 0;
    name[0] = '\0';
    pthread_mutex_lock(&exporters_lock);
    if (exporters_calling != NULL) {
        busy_ns = crest_monotonic_ns() - exporters_since_ns + 1;
        crest_utf8_copy(exporters_calling->name, name, size, NULL);
    }
    pthread_mutex_unlock(&exporters_lock);
    return busy_ns;
}

/* ---- calling ---- */

typedef struct exporters_call {
    crest_span_batch batch;
    int taken;
} exporters_call;

/* Non-zero when it is still in the list, and now called. */
static int exporters_enter(const crest_span_exporter *exporter)
{
    pthread_mutex_lock(&exporters_lock);
    int found = exporters_find(exporter) != exporters_count;
    if (found) {
        exporters_calling = exporter;
        exporters_since_ns = crest_monotonic_ns();
    }
    pthread_mutex_unlock(&exporters_lock);
    return found;
}

/* It has returned; non-zero when the log is to be told. */
static int exporters_leave(const crest_span_exporter *exporter, int failing)
{
    pthread_mutex_lock(&exporters_lock);
    unsigned at = exporters_find(exporter);
    int tell = failing && at != exporters_count && !exporters_list[at].failing;
    if (at != exporters_count)
        exporters_list[at].failing = (uint8_t)failing;
    exporters_calling = NULL;
    pthread_cond_broadcast(&exporters_returned);
    pthread_mutex_unlock(&exporters_lock);
    return tell;
}

static void exporters_call_one(crest_span_exporter *exporter, exporters_call *call)
{
    crest_error error;
    char name[CREST_RESOURCE_BYTES_MAX];
    if (!exporters_enter(exporter))
        return;
    crest_utf8_copy(exporter->name, name, sizeof name, NULL);
    crest_error_clear(&error);
    exporters_inside = 1;
    crest_status status = exporter->take(exporter, &call->batch, &error);
    exporters_inside = 0;
    call->taken |= status == CREST_OK;
    if (exporters_leave(exporter, status != CREST_OK))
        crest_log_write(CREST_LOG_WARNING, "crest: spans are lost: %s: %s", name,
                        error.message[0] != '\0' ? error.message : crest_status_text(status));
}

static void exporters_call_all(const crest_resource *resource, void *context)
{
    exporters_call *call = context;
    crest_span_exporter *all[CREST_SPAN_EXPORTERS_MAX];
    pthread_mutex_lock(&exporters_lock);
    unsigned count = exporters_count;
    for (unsigned i = 0; i < count; i++)
        all[i] = exporters_list[i].exporter;
    pthread_mutex_unlock(&exporters_lock);
    call->batch.resource = resource;
    for (unsigned i = 0; i < count; i++)
        exporters_call_one(all[i], call);
}

int crest_span_exporters_take(const crest_span *spans, size_t count, int final)
{
    exporters_call call = {
        .batch = {.spans = spans,
                  .count = count,
                  .deadline_ns = crest_now() + CREST_SPAN_EXPORT_MS * CREST_NS_PER_MS,
                  .final = final}};
    if (crest_span_exporters_count() != 0)
        crest_one_report_with_resource(exporters_call_all, &call);
    for (size_t i = 0; call.taken && i < count; i++)
        crest_kept_spans_note(&spans[i]);
    return call.taken;
}
