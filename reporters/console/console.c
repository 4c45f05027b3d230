/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console reporter: turns a snapshot into rows, and writes the table, or JSON lines, to a stdio
 * stream. See <crest/console.h>; the table itself is made in console_table.c, the lines in
 * json_report.c, and deadline_output.c writes.
 */
#define _GNU_SOURCE
#include <crest/console.h>

#include "console/console_history.h"
#include "console/console_table.h"
#include "json/json_report.h"
#include "kinds.h"
#include "common/deadline_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CONSOLE_NAME "console"
/* Of metrics that the library has of itself. */
#define CONSOLE_OWN_PREFIX "crest."

typedef struct console_state {
    crest_reporter reporter; /* first: what the caller holds */
    FILE *stream;
    crest_console_format format;
    int ascii, colour, redraw;
    crest_json_choice json;
    crest_console_history history;
    crest_patient_output output;
} console_state;

/* ---- rows ---- */

/* Columns and lines of the terminal; 0 when the stream is none. */
static struct winsize console_terminal(FILE *stream)
{
    struct winsize size;
    int file = fileno(stream);
    memset(&size, 0, sizeof size);
    if (file >= 0 && isatty(file) && ioctl(file, TIOCGWINSZ, &size) != 0)
        memset(&size, 0, sizeof size);
    return size;
}

static void console_row_of(const crest_series_view *view, crest_console_row *row)
{
    memset(row, 0, sizeof *row);
    row->name = view->name;
    row->label_count = view->label_count;
    row->label_keys = view->label_keys;
    row->label_values = view->label_values;
    row->open = view->open;
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

/* A metric of the library's own gets a line only when it has counted something. */
static int console_is_noise(const crest_console_row *row)
{
    if (strncmp(row->name, CONSOLE_OWN_PREFIX, strlen(CONSOLE_OWN_PREFIX)) != 0)
        return 0;
    switch (row->kind) {
    case CREST_KIND_COUNTER: return row->counter == 0;
    case CREST_KIND_HISTOGRAM:
    case CREST_KIND_TIMER: return row->count == 0;
    default: return 0;
    }
}

static void console_add_trend(console_state *state, crest_console_row *row)
{
    uint64_t value = row->counter, key = crest_console_history_key(0, row->name);
    if (row->kind == CREST_KIND_HISTOGRAM || row->kind == CREST_KIND_TIMER)
        value = row->count;
    else if (row->kind != CREST_KIND_COUNTER)
        return;
    for (unsigned i = 0; i < row->label_count; i++) {
        if (!crest_console_has_label(row, i))
            continue;
        /* an open family may get more keys, so a value's place does not tell its key */
        if (row->open)
            key = crest_console_history_key(key, row->label_keys[i]);
        key = crest_console_history_key(key, row->label_values[i]);
    }
    row->point_count = crest_console_history_add(&state->history, key, value, &row->points);
}

/* The rows of a snapshot, those of no interest left out; returns how many. */
static size_t console_rows(console_state *state, const crest_snapshot *snapshot, int trends,
                           crest_console_row *rows)
{
    size_t size = crest_snapshot_size(snapshot), count = 0;
    if (trends)
        crest_console_history_begin(&state->history, crest_snapshot_time_ns(snapshot), size);
    for (size_t i = 0; i < size; i++) {
        crest_series_view view;
        if (crest_snapshot_series(snapshot, i, &view) != CREST_OK)
            continue;
        crest_console_row *row = &rows[count];
        console_row_of(&view, row);
        if (console_is_noise(row))
            continue;
        if (trends)
            console_add_trend(state, row);
        count++;
    }
    if (trends)
        crest_console_history_end(&state->history);
    return count;
}

/* ---- a report ---- */

static crest_status console_table(console_state *state, const crest_report *report,
                                  crest_error *error)
{
    size_t size = crest_snapshot_size(report->snapshot);
    crest_console_row *rows = calloc(size + 1, sizeof *rows);
    if (rows == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "no memory for a table of %zu series", size);
    struct winsize terminal = console_terminal(state->stream);
    int is_terminal = terminal.ws_col > 0;
    crest_console_page page = {
        .wall_ns = crest_snapshot_wall_ns(report->snapshot),
        .resource = *report->resource,
        .rows = rows,
        .row_count = console_rows(state, report->snapshot, is_terminal, rows),
        .width = terminal.ws_col,
        .final = report->final,
        .ascii = is_terminal && state->ascii,
        .colour = state->colour > 0 || (state->colour == 0 && is_terminal),
        .redraw = is_terminal && state->redraw,
        .height = is_terminal && state->redraw ? terminal.ws_row : 0,
    };
    crest_console_table_write(&page, crest_patient_output_write, &state->output);
    free(rows);
    return CREST_OK;
}

static crest_status console_report(crest_reporter *self, const crest_report *report,
                                   crest_error *error)
{
    console_state *state = self->state;
    int file = fileno(state->stream);
    int json = state->format == CREST_CONSOLE_JSON ||
               (state->format == CREST_CONSOLE_AUTO && (file < 0 || !isatty(file)));
    crest_status status = CREST_OK;
    crest_patient_output_begin(&state->output, state->stream, -1, report->deadline_ns);
    if (json)
        crest_json_report_write(report, &state->json, crest_patient_output_write, &state->output);
    else
        status = console_table(state, report, error);
    int failed = crest_patient_output_end(&state->output);
    if (failed == ETIMEDOUT)
        return crest_error_set(
            error, CREST_TIMED_OUT,
            "the %s was not written: the terminal was stopped (Ctrl-Q lets it go "
            "on), or the pipe's reader is slow or hangs",
            json ? "report" : "table");
    if (failed)
        return crest_error_set(error, CREST_IO, "writing the %s: %s", json ? "report" : "table",
                               strerror(failed));
    state->json.number++;
    return status;
}

/* ---- making one ---- */

static void console_free(crest_reporter *self)
{
    console_state *state = self->state;
    crest_console_history_fini(&state->history);
    free(state);
}

/* Never NULL: "" for one that is not set. Read once, for the host may change it. */
static const char *console_variable(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL ? value : "";
}

/* Whether the terminal shows UTF-8, as far as the environment tells: the host may not have called
 * setlocale. */
static int console_is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *terminal = console_variable("TERM"), *value = "";
    if (terminal[0] == '\0' || strcmp(terminal, "dumb") == 0)
        return 0;
    for (unsigned i = 0; i < 3 && value[0] == '\0'; i++)
        value = console_variable(variables[i]);
    return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
}

crest_reporter *crest_console_new(const crest_console_options *options, crest_error *error)
{
    if (options == NULL || options->stream == NULL) {
        crest_error_set(error, CREST_INVALID_ARGUMENT, "a console reporter needs a stream");
        return NULL;
    }
    console_state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        crest_error_set(error, CREST_NO_MEMORY, "no memory for a console reporter");
        return NULL;
    }
    const char *terminal = getenv("TERM");
    int dumb = terminal == NULL || strcmp(terminal, "dumb") == 0;
    state->stream = options->stream;
    state->format = options->format;
    state->redraw = options->redraw && !dumb;
    state->ascii = !console_is_utf8();
    state->colour = options->colour;
    if (options->colour == 0 && (dumb || console_variable("NO_COLOR")[0] != '\0'))
        state->colour = -1;
    state->json.number = 1;
    state->reporter = (crest_reporter){
        .name = CONSOLE_NAME,
        .report = console_report,
        .free = console_free,
        .state = state,
        .deltas = options->format != CREST_CONSOLE_TABLE,
    };
    if (options->format == CREST_CONSOLE_AUTO && fileno(options->stream) >= 0)
        state->reporter.deltas = !isatty(fileno(options->stream));
    return &state->reporter;
}

/* ---- from options ---- */

/* Which of the words the option has; `chosen` stays when it is not set. */
static crest_status console_choice(const crest_options *options, const char *key,
                                   const char *const words[3], unsigned *chosen, crest_error *error)
{
    const char *value = crest_option(options, key);
    if (value == NULL)
        return CREST_OK;
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(value, words[i]) == 0) {
            *chosen = i;
            return CREST_OK;
        }
    return crest_error_set(error, CREST_INVALID_OPTIONS, "%s=%.100s: it is %s, %s or %s", key,
                           value, words[0], words[1], words[2]);
}

static crest_reporter *console_create(const char *value, const crest_options *options,
                                      const crest_resource *resource, crest_error *error)
{
    static const char *const formats[] = {"auto", "table", "json"};
    static const char *const colours[] = {"auto", "on", "off"};
    (void)value;
    (void)resource;
    crest_console_options made = {.stream = stderr};
    unsigned format = 0, colour = 0;
    if (console_choice(options, "console.format", formats, &format, error) != CREST_OK ||
        console_choice(options, "console.colour", colours, &colour, error) != CREST_OK ||
        crest_option_switch(options, "console.redraw", &made.redraw, error) != CREST_OK)
        return NULL;
    made.format = (crest_console_format)format;
    made.colour = colour == 2 ? -1 : (int)colour;
    return crest_console_new(&made, error);
}

static const char *const console_keys[] = {"console.format", "console.colour", "console.redraw",
                                           NULL};

const crest_reporter_kind crest_console_kind = {
    .name = CONSOLE_NAME, .keys = console_keys, .create = console_create, .value_is_interval = 1};
