/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reporters of events as lines: into a file or a standard stream. See <crest/event_lines.h>.
 *
 * Each has a reader of the process's own rings, with a place of its own. What is read becomes lines
 * in memory, which stay until they are written; a reader whose lines wait reads no further, and
 * what is overwritten meanwhile it counts as lost.
 */
#include "common/appended_file.h"
#include "common/span_json.h"
#include "events/event_line.h"
#include "kinds.h"

#include <crest/event_control.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Lines that are gathered before they are written. */
#define EVENT_LINES_BYTES ((size_t)1 << 20)
/* Times that a report gathers and writes, at most: an emitting thread may be faster than we. */
#define EVENT_LINES_TURNS 64u

typedef struct event_lines {
    crest_reporter reporter; /* first: what the caller holds */
    crest_event_form form;
    crest_appended_file file;
    crest_event_reader *reader; /* NULL: events have not begun */
    crest_event_reader_totals told;
    crest_span_text waiting;
    size_t out; /* of `waiting`: bytes of whole lines that are out, by a report that then failed */
} event_lines;

static uint64_t event_lines_wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Reads what is there, up to the bound; 0 without memory for it. *more: there is more. */
static int event_lines_gather(event_lines *lines, int *more)
{
    crest_event_view event;
    crest_event_reader_totals totals;
    const unsigned output =
        lines->form == CREST_EVENT_FORM_JSON ? CREST_EVENT_TO_JSON : CREST_EVENT_TO_TEXT;
    int failed = 0;
    *more = 0;
    while (!failed && !*more && crest_event_reader_next(lines->reader, &event)) {
        if ((crest_event_goes_to(event.info->number) & output) != 0)
            failed =
                crest_event_line_write(&event, lines->form, crest_span_text_write, &lines->waiting);
        *more = lines->waiting.length >= EVENT_LINES_BYTES;
    }
    crest_event_reader_totals_read(lines->reader, &totals);
    if (!failed && totals.lost != lines->told.lost)
        failed = crest_event_line_lost(event_lines_wall_ns(), totals.lost - lines->told.lost,
                                       totals.lost_bytes - lines->told.lost_bytes, lines->form,
                                       crest_span_text_write, &lines->waiting);
    lines->told = totals;
    return !failed;
}

/* Writes what waits. */
static crest_status event_lines_write(event_lines *lines, uint64_t deadline_ns, crest_error *error)
{
    crest_span_text *waiting = &lines->waiting;
    crest_status status = crest_appended_file_begin(&lines->file, deadline_ns, error);
    if (status != CREST_OK)
        return status;
    crest_patient_output_write(&lines->file.output, waiting->bytes + lines->out,
                               waiting->length - lines->out);
    status = crest_appended_file_end(&lines->file, error);
    if (status == CREST_OK) {
        lines->out = waiting->length = 0;
        return CREST_OK;
    }
    /* what is out and stays, to the last end of a line */
    size_t end = lines->out + lines->file.stays;
    while (end > lines->out && waiting->bytes[end - 1] != '\n')
        end--;
    lines->out = end;
    return status;
}

static crest_status event_lines_report(crest_reporter *self, const crest_report *report,
                                       crest_error *error)
{
    event_lines *lines = self->state;
    crest_status status = CREST_OK;
    int more = 1;
    if (lines->waiting.length > lines->out)
        status = event_lines_write(lines, report->deadline_ns, error);
    if (status == CREST_OK && lines->reader == NULL &&
        crest_event_reader_own(&lines->reader, error) != CREST_OK)
        return error->status == CREST_NOT_RUNNING ? CREST_OK : error->status;
    for (unsigned turn = 0; status == CREST_OK && more && turn < EVENT_LINES_TURNS; turn++) {
        if (!event_lines_gather(lines, &more))
            status = crest_error_set(error, CREST_NO_MEMORY, "No memory for lines of events");
        if (status == CREST_OK && lines->waiting.length != 0)
            status = event_lines_write(lines, report->deadline_ns, error);
    }
    return status;
}

static void event_lines_free(crest_reporter *self)
{
    event_lines *lines = self->state;
    crest_event_reader_free(lines->reader);
    crest_appended_file_fini(&lines->file);
    free(lines->waiting.bytes);
    free(lines);
}

crest_reporter *crest_event_lines_new(const char *path, crest_event_form form, crest_error *error)
{
    if (path == NULL || path[0] == '\0' || (unsigned)form > CREST_EVENT_FORM_JSON) {
        crest_error_set(error, CREST_INVALID_ARGUMENT,
                        "Lines of events need a file, - for standard output, or stderr, as in "
                        "events-json=/var/log/x/events.jsonl");
        return NULL;
    }
    event_lines *lines = calloc(1, sizeof *lines);
    if (lines == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "No memory for a reporter of events");
        return NULL;
    }
    int to_stderr = strcmp(path, "stderr") == 0;
    lines->form = form;
    lines->reporter = (crest_reporter){
        .name = form == CREST_EVENT_FORM_JSON ? "events-json" : "events-text",
        .report = event_lines_report,
        .free = event_lines_free,
        .state = lines,
        .no_snapshot = 1,
    };
    if (crest_appended_file_init(&lines->file, to_stderr ? "-" : path, error) != CREST_OK) {
        free(lines);
        return NULL;
    }
    if (to_stderr)
        lines->file.stream = stderr;
    return &lines->reporter;
}

/* ---- from options ---- */

static crest_reporter *event_lines_json(const char *value, const crest_options *options,
                                        const crest_resource *resource, crest_error *error)
{
    (void)options, (void)resource;
    return crest_event_lines_new(value, CREST_EVENT_FORM_JSON, error);
}

static crest_reporter *event_lines_text(const char *value, const crest_options *options,
                                        const crest_resource *resource, crest_error *error)
{
    (void)options, (void)resource;
    return crest_event_lines_new(value, CREST_EVENT_FORM_TEXT, error);
}

static void event_lines_schedule(const crest_options *options, crest_schedule *schedule)
{
    (void)options;
    schedule->interval_ms = CREST_EVENT_LINES_INTERVAL_MS;
}

const crest_reporter_kind crest_events_json_kind = {
    .name = "events-json",
    .create = event_lines_json,
    .schedule = event_lines_schedule,
};

const crest_reporter_kind crest_events_text_kind = {
    .name = "events-text",
    .create = event_lines_text,
    .schedule = event_lines_schedule,
};
