/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reporter of spans as JSON lines: into a file or standard output. See <crest/json_lines.h>.
 *
 * The lines are span_line.c's, the file appended_file.c's, what waits in between span_queue.c's.
 */
#include <crest/json_lines.h>

#include "common/appended_file.h"
#include "common/span_json.h"
#include "common/span_queue.h"
#include "kinds.h"
#include "json/span_line.h"

#include <stdlib.h>

#define SPAN_LINES_NAME "spans-json"

typedef struct span_lines {
    crest_reporter reporter; /* first: what the caller holds */
    crest_span_queue queue;
    crest_appended_file file;
    size_t out; /* of the oldest body: bytes whose lines are out, by reports that then failed */
} span_lines;

/* On the tracing thread. */
static crest_status span_lines_encode(void *owner, const crest_span_batch *batch,
                                      crest_span_queue *queue, crest_error *error)
{
    crest_span_text text = {.bytes = NULL};
    int stopped = 0;
    (void)owner;
    for (size_t i = 0; i < batch->count && stopped == 0; i++)
        stopped =
            crest_span_line_write(&batch->spans[i], batch->resource, crest_span_text_write, &text);
    crest_status status = stopped == 0
                              ? crest_span_queue_put(queue, text.bytes, text.length, batch->count)
                              : CREST_NO_MEMORY;
    free(text.bytes);
    return status == CREST_OK
               ? CREST_OK
               : crest_error_set(error, status, "No memory for the lines of %zu spans",
                                 batch->count);
}

/* After a report that failed: what is out of the body and stays, to the last end of a line. */
static size_t span_lines_out(const span_lines *lines, const crest_span_body *body)
{
    size_t end = lines->out + lines->file.stays;
    while (end > lines->out && body->bytes[end - 1] != '\n')
        end--;
    return end;
}

static crest_status span_lines_report(crest_reporter *self, const crest_report *report,
                                      crest_error *error)
{
    span_lines *lines = self->state;
    const crest_span_body *body;
    crest_status status = CREST_OK;
    if (report->final)
        crest_span_queue_end(&lines->queue);
    while (status == CREST_OK && (body = crest_span_queue_first(&lines->queue)) != NULL) {
        status = crest_appended_file_begin(&lines->file, report->deadline_ns, error);
        if (status != CREST_OK)
            return status;
        crest_patient_output_write(&lines->file.output, body->bytes + lines->out,
                                   body->length - lines->out);
        status = crest_appended_file_end(&lines->file, error);
        lines->out = status == CREST_OK ? 0 : span_lines_out(lines, body);
        if (status == CREST_OK)
            crest_span_queue_sent(&lines->queue, body->length, 0);
    }
    return status;
}

static crest_status span_lines_start(crest_reporter *self, crest_registry *registry,
                                     crest_error *error)
{
    span_lines *lines = self->state;
    (void)registry;
    return crest_span_queue_begin(&lines->queue, error);
}

static crest_status span_lines_stop(crest_reporter *self, uint64_t deadline_ns, crest_error *error)
{
    span_lines *lines = self->state;
    (void)deadline_ns;
    (void)error;
    crest_span_queue_end(&lines->queue);
    return CREST_OK;
}

static void span_lines_free(crest_reporter *self)
{
    span_lines *lines = self->state;
    crest_span_queue_fini(&lines->queue);
    crest_appended_file_fini(&lines->file);
    free(lines);
}

crest_reporter *crest_span_lines_new(const char *path, crest_error *error)
{
    if (path == NULL || path[0] == '\0') {
        crest_error_set(error, CREST_INVALID_ARGUMENT,
                        "JSON lines of spans need a file, or - for standard output, as in "
                        "spans-json=/var/log/x/spans.jsonl");
        return NULL;
    }
    span_lines *lines = calloc(1, sizeof *lines);
    if (lines == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a reporter of spans");
        return NULL;
    }
    lines->reporter = (crest_reporter){
        .name = SPAN_LINES_NAME,
        .report = span_lines_report,
        .start = span_lines_start,
        .stop = span_lines_stop,
        .free = span_lines_free,
        .state = lines,
        .no_snapshot = 1,
    };
    if (crest_appended_file_init(&lines->file, path, error) != CREST_OK) {
        free(lines);
        return NULL;
    }
    if (crest_span_queue_init(&lines->queue, SPAN_LINES_NAME, span_lines_encode, lines, error) ==
        CREST_OK)
        return &lines->reporter;
    span_lines_free(&lines->reporter);
    return NULL;
}

/* ---- from options ---- */

static crest_reporter *span_lines_create(const char *value, const crest_options *options,
                                         const crest_resource *resource, crest_error *error)
{
    (void)options;
    (void)resource; /* comes with each batch */
    return crest_span_lines_new(value, error);
}

static void span_lines_schedule(const crest_options *options, crest_schedule *schedule)
{
    (void)options;
    schedule->interval_ms = CREST_SPAN_INTERVAL_MS;
}

const crest_reporter_kind crest_spans_json_kind = {
    .name = SPAN_LINES_NAME,
    .create = span_lines_create,
    .schedule = span_lines_schedule,
};
