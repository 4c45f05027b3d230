/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console reporter: turns a snapshot into rows, and writes the table to a stdio stream. See
 * <crest/console.h>; the table itself is made in console_table.c.
 */
#define _GNU_SOURCE
#include "console_table.h"
#include "kinds.h"

#include <crest/console.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* stderr has no buffer, and a system call for each cell would be slow and tear the table apart. */
#define CONSOLE_BUFFER_BYTES 65536u

typedef struct console_state {
    crest_reporter reporter;
    FILE *stream;
    size_t used;
    char buffer[CONSOLE_BUFFER_BYTES];
} console_state;

/* ---- writing ---- */

/* Writes out what is gathered; 0, or the errno of what failed. */
static int console_flush(console_state *state)
{
    size_t used = state->used;
    state->used = 0;
    errno = 0;
    if (fwrite(state->buffer, 1, used, state->stream) == used && fflush(state->stream) == 0)
        return 0;
    return errno != 0 ? errno : EIO;
}

static int console_gather(void *context, const void *bytes, size_t length)
{
    console_state *state = context;
    if (length > CONSOLE_BUFFER_BYTES - state->used) {
        int failed = console_flush(state);
        if (failed)
            return failed;
    }
    if (length > CONSOLE_BUFFER_BYTES)
        return fwrite(bytes, 1, length, state->stream) == length ? 0 : errno;
    memcpy(state->buffer + state->used, bytes, length);
    state->used += length;
    return 0;
}

/* Columns of the terminal; 0 when it is none. */
static unsigned console_width(FILE *stream)
{
    struct winsize size;
    int file = fileno(stream);
    if (file < 0 || !isatty(file) || ioctl(file, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

/* ---- rows ---- */

static void console_row_of(const crest_series_view *view, crest_console_row *row)
{
    memset(row, 0, sizeof *row);
    row->name = view->name;
    row->label_count = view->label_count;
    row->label_keys = view->label_keys;
    row->label_values = view->label_values;
    row->kind = view->kind;
    row->unit = view->unit;
    row->counter = view->counter;
    row->gauge = view->gauge;
    row->current = view->current;
    row->window = view->window;
    if (view->distribution == NULL)
        return;
    row->count = crest_distribution_count(view->distribution);
    row->sum = crest_distribution_sum(view->distribution);
    row->p50 = crest_distribution_quantile(view->distribution, 0.5);
    row->p99 = crest_distribution_quantile(view->distribution, 0.99);
    row->maximum = crest_distribution_max(view->distribution);
}

static crest_status console_report(crest_reporter *self, const crest_report *report,
                                   crest_error *error)
{
    console_state *state = self->state;
    size_t count = crest_snapshot_size(report->snapshot);
    crest_console_row *rows = calloc(count + 1, sizeof *rows);
    if (rows == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory for a table of %zu series",
                               count);
    for (size_t i = 0; i < count; i++) {
        crest_series_view view;
        crest_snapshot_series(report->snapshot, i, &view);
        console_row_of(&view, &rows[i]);
    }
    crest_console_page page = {.wall_ns = crest_snapshot_wall_ns(report->snapshot),
                               .resource = *report->resource,
                               .rows = rows,
                               .row_count = count,
                               .width = console_width(state->stream),
                               .final = report->final};
    state->used = 0;
    /* one table at a time, whoever else writes to the stream */
    flockfile(state->stream);
    int failed = crest_console_table_write(&page, console_gather, state);
    if (failed == 0)
        failed = console_flush(state);
    funlockfile(state->stream);
    free(rows);
    if (failed == 0)
        return CREST_OK;
    char reason[128];
    return crest_error_set(error, CREST_IO, "writing the table: %s",
                           strerror_r(failed, reason, sizeof reason));
}

/* ---- making one ---- */

static void console_free(crest_reporter *self)
{
    free(self->state);
}

crest_reporter *crest_console_new(FILE *stream, crest_error *error)
{
    if (stream == NULL) {
        crest_error_set(error, CREST_INVALID_ARGUMENT, "a console reporter needs a stream");
        return NULL;
    }
    console_state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "no memory for a console reporter");
        return NULL;
    }
    state->stream = stream;
    state->reporter.name = "console";
    state->reporter.report = console_report;
    state->reporter.free = console_free;
    state->reporter.state = state;
    return &state->reporter;
}

static crest_reporter *console_create(const char *value, const crest_options *options,
                                      const crest_resource *resource, crest_error *error)
{
    (void)value;
    (void)options;
    (void)resource;
    return crest_console_new(stderr, error);
}

const crest_reporter_kind crest_console_kind = {
    .name = "console", .create = console_create, .value_is_interval = 1};
