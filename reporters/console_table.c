/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laying out the table. Each section is gone through twice: for the widths, then to write. See
 * console_table.h.
 */
#include "console_table.h"
#include "console_number.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define CONSOLE_COLUMNS_MAX 6
#define CONSOLE_GAP 2
#define CONSOLE_NOTHING "-"

typedef struct console_cells {
    char text[CONSOLE_COLUMNS_MAX][CREST_CONSOLE_NUMBER_BYTES];
} console_cells;

typedef struct console_section {
    const char *title;
    crest_kind kinds[2];
    unsigned column_count;
    const char *columns[CONSOLE_COLUMNS_MAX];
    const char *slowest; /* the last column, which is there when a row has something for it */
    void (*fill)(const crest_console_row *row, console_cells *cells);
} console_section;

/* Where the text goes; `columns` counts what was put since the line's begin. */
typedef struct console_output {
    crest_write_fn *write; /* NULL: only counts */
    void *context;
    int stopped;
    size_t columns;
} console_output;

/* ---- putting text ---- */

static void console_put(console_output *output, const char *bytes, size_t length)
{
    if (output->write != NULL && output->stopped == 0 && length > 0)
        output->stopped = output->write(output->context, bytes, length);
    for (size_t i = 0; i < length; i++)
        output->columns += ((unsigned char)bytes[i] & 0xc0) != 0x80;
}

static void console_put_text(console_output *output, const char *text)
{
    console_put(output, text, strlen(text));
}

static void console_put_blanks(console_output *output, size_t count)
{
    static const char blanks[] = "                                ";
    for (; count >= sizeof blanks; count -= sizeof blanks - 1)
        console_put(output, blanks, sizeof blanks - 1);
    console_put(output, blanks, count);
}

static void console_end_line(console_output *output)
{
    console_put(output, "\n", 1);
    output->columns = 0;
}

/* A text in quotes. Quotes, backslashes and control characters, those of Latin-1 (U+0080 to U+009F)
 * too, are escaped. */
static void console_put_quoted(console_output *output, const char *text)
{
    console_put(output, "\"", 1);
    const char *plain = text;
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at, next = (unsigned char)at[1];
        char escape[8] = "";
        if (c == '"' || c == '\\')
            snprintf(escape, sizeof escape, "\\%c", c);
        else if (c == '\n')
            strcpy(escape, "\\n");
        else if (c < ' ' || c == 127)
            snprintf(escape, sizeof escape, "\\x%02x", c);
        else if (c == 0xc2 && next >= 0x80 && next < 0xa0)
            snprintf(escape, sizeof escape, "\\u%04x", next);
        if (escape[0] == '\0')
            continue;
        console_put(output, plain, (size_t)(at - plain));
        console_put_text(output, escape);
        at += c == 0xc2;
        plain = at + 1;
    }
    console_put_text(output, plain);
    console_put(output, "\"", 1);
}

static void console_put_name(console_output *output, const crest_console_row *row)
{
    console_put_text(output, row->name);
    for (unsigned i = 0; i < row->label_count; i++) {
        console_put_text(output, i == 0 ? "{" : ",");
        console_put_text(output, row->label_keys[i]);
        console_put_text(output, "=");
        console_put_quoted(output, row->label_values[i]);
    }
    if (row->label_count > 0)
        console_put_text(output, "}");
}

static size_t console_text_columns(const char *text)
{
    console_output counting = {NULL, NULL, 0, 0};
    console_put_text(&counting, text);
    return counting.columns;
}

/* How many bytes of `at` are a character of UTF-8, roughly; 0: it is none. */
static size_t console_character(const char *at)
{
    unsigned char c = (unsigned char)*at;
    size_t bytes = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : 4;
    if (bytes == 4 && (c < 0xf0 || c > 0xf4))
        return 0;
    for (size_t i = 1; i < bytes; i++)
        if (((unsigned char)at[i] & 0xc0) != 0x80)
            return 0;
    return bytes;
}

/* An operation's id; a text in quotes, what is no character as a question mark. */
static void console_put_op(console_output *output, const crest_op *op)
{
    char text[CREST_OP_TEXT_BYTES];
    crest_op_format(op, text, sizeof text);
    if (op->kind != CREST_OP_TEXT) {
        console_put_text(output, text);
        return;
    }
    for (char *at = text; *at != '\0';) {
        size_t bytes = console_character(at);
        if (bytes == 0)
            *at = '?';
        at += bytes != 0 ? bytes : 1;
    }
    console_put_quoted(output, text);
}

/* Columns of the row's slowest operation; 0 if none is known. */
static size_t console_slowest_columns(const crest_console_row *row)
{
    console_output counting = {NULL, NULL, 0, 0};
    if (row->kind != CREST_KIND_TIMER || !(row->window.covered_s > 0) ||
        row->window.slowest.kind == CREST_OP_NONE)
        return 0;
    console_put_op(&counting, &row->window.slowest);
    return counting.columns;
}

static size_t console_name_columns(const crest_console_row *row)
{
    console_output counting = {NULL, NULL, 0, 0};
    console_put_name(&counting, row);
    return counting.columns;
}

/* ---- the sections ---- */

static void console_fill_counter(const crest_console_row *row, console_cells *cells)
{
    crest_console_count(cells->text[0], row->counter, row->unit);
    strcpy(cells->text[1], CONSOLE_NOTHING);
    strcpy(cells->text[2], CONSOLE_NOTHING);
    if (row->window.covered_s > 0) {
        crest_console_rate(cells->text[1], row->window.per_second, row->unit);
        crest_console_rate(cells->text[2], row->window.peak, row->unit);
    }
}

static void console_fill_gauge(const crest_console_row *row, console_cells *cells)
{
    crest_console_quantity(cells->text[0], row->gauge, row->unit);
}

static void console_fill_range_sampler(const crest_console_row *row, console_cells *cells)
{
    crest_console_quantity(cells->text[0], (double)row->current, row->unit);
    for (unsigned i = 1; i < CONSOLE_COLUMNS_MAX; i++)
        strcpy(cells->text[i], CONSOLE_NOTHING);
    if (row->window.covered_s > 0) {
        crest_console_quantity(cells->text[1], row->window.minimum, row->unit);
        crest_console_quantity(cells->text[2], row->window.average, row->unit);
        crest_console_quantity(cells->text[3], row->window.maximum, row->unit);
    }
}

static void console_fill_distribution(const crest_console_row *row, console_cells *cells)
{
    crest_console_count(cells->text[0], row->count, CREST_NONE);
    for (unsigned i = 1; i < CONSOLE_COLUMNS_MAX; i++)
        strcpy(cells->text[i], CONSOLE_NOTHING);
    if (row->count > 0) {
        crest_console_quantity(cells->text[1], (double)row->sum / (double)row->count, row->unit);
        crest_console_quantity(cells->text[2], (double)row->p50, row->unit);
        crest_console_quantity(cells->text[3], (double)row->p99, row->unit);
        crest_console_quantity(cells->text[4], (double)row->maximum, row->unit);
    }
    if (row->window.covered_s > 0 && row->window.events > 0)
        crest_console_quantity(cells->text[5], row->window.maximum, row->unit);
}

static const console_section console_sections[] = {
    {"counter",
     {CREST_KIND_COUNTER, CREST_KIND_COUNTER},
     3,
     {"value", "rate1m", "peak1m"},
     NULL,
     console_fill_counter},
    {"gauge", {CREST_KIND_GAUGE, CREST_KIND_GAUGE}, 1, {"value"}, NULL, console_fill_gauge},
    {"range sampler",
     {CREST_KIND_RANGE_SAMPLER, CREST_KIND_RANGE_SAMPLER},
     4,
     {"value", "min1m", "avg1m", "max1m"},
     NULL,
     console_fill_range_sampler},
    {"distribution",
     {CREST_KIND_HISTOGRAM, CREST_KIND_TIMER},
     6,
     {"count", "avg", "p50", "p99", "max", "max1m"},
     "slowest1m",
     console_fill_distribution},
};

static int console_in_section(const console_section *section, const crest_console_row *row)
{
    return row->kind == section->kinds[0] || row->kind == section->kinds[1];
}

/* The widths of the name, of each column and of the last one; the number of rows. */
static size_t console_measure(const crest_console_page *page, const console_section *section,
                              size_t *name_columns, size_t columns[CONSOLE_COLUMNS_MAX],
                              size_t *slowest)
{
    size_t rows = 0, others = 0;
    *slowest = 0;
    *name_columns = console_text_columns(section->title);
    for (unsigned c = 0; c < section->column_count; c++)
        columns[c] = console_text_columns(section->columns[c]);
    for (size_t i = 0; i < page->row_count; i++) {
        if (!console_in_section(section, &page->rows[i]))
            continue;
        rows++;
        console_cells cells;
        section->fill(&page->rows[i], &cells);
        size_t name = console_name_columns(&page->rows[i]);
        *name_columns = name > *name_columns ? name : *name_columns;
        for (unsigned c = 0; c < section->column_count; c++) {
            size_t cell = console_text_columns(cells.text[c]);
            columns[c] = cell > columns[c] ? cell : columns[c];
        }
        size_t operation = section->slowest != NULL ? console_slowest_columns(&page->rows[i]) : 0;
        *slowest = operation > *slowest ? operation : *slowest;
    }
    if (*slowest != 0 && *slowest < strlen(section->slowest))
        *slowest = strlen(section->slowest);
    others += *slowest != 0 ? CONSOLE_GAP + *slowest : 0;
    for (unsigned c = 0; c < section->column_count; c++)
        others += CONSOLE_GAP + columns[c];
    if (page->width > 0 && *name_columns + others > page->width) {
        size_t left = page->width > others ? page->width - others : 0;
        *name_columns =
            left > CREST_CONSOLE_NAME_COLUMNS_MIN ? left : CREST_CONSOLE_NAME_COLUMNS_MIN;
    }
    return rows;
}

static void console_put_cell(console_output *output, const char *text, size_t columns)
{
    size_t own = console_text_columns(text);
    console_put_blanks(output, CONSOLE_GAP + (columns > own ? columns - own : 0));
    console_put_text(output, text);
}

static void console_put_section(console_output *output, const crest_console_page *page,
                                const console_section *section)
{
    size_t name_columns, columns[CONSOLE_COLUMNS_MAX], slowest;
    if (console_measure(page, section, &name_columns, columns, &slowest) == 0)
        return;
    console_end_line(output);
    console_put_text(output, section->title);
    console_put_blanks(output, name_columns - strlen(section->title));
    for (unsigned c = 0; c < section->column_count; c++)
        console_put_cell(output, section->columns[c], columns[c]);
    if (slowest != 0) {
        console_put_blanks(output, CONSOLE_GAP);
        console_put_text(output, section->slowest);
    }
    console_end_line(output);
    for (size_t i = 0; i < page->row_count && output->stopped == 0; i++) {
        const crest_console_row *row = &page->rows[i];
        if (!console_in_section(section, row))
            continue;
        console_cells cells;
        section->fill(row, &cells);
        console_put_name(output, row);
        if (output->columns > name_columns)
            console_end_line(output);
        console_put_blanks(output, name_columns - output->columns);
        for (unsigned c = 0; c < section->column_count; c++)
            console_put_cell(output, cells.text[c], columns[c]);
        if (slowest != 0 && console_slowest_columns(row) != 0) {
            console_put_blanks(output, CONSOLE_GAP);
            console_put_op(output, &row->window.slowest);
        }
        console_end_line(output);
    }
}

static void console_put_title(console_output *output, const crest_console_page *page)
{
    time_t seconds = (time_t)(page->wall_ns / 1000000000u);
    struct tm utc;
    memset(&utc, 0, sizeof utc);
    gmtime_r(&seconds, &utc);
    char text[64];
    snprintf(text, sizeof text, "Crest  %04d-%02d-%02d %02d:%02d:%02d UTC", utc.tm_year + 1900,
             utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
    console_put_text(output, text);
    const char *const about[][2] = {{"  service=", page->resource.service},
                                    {"  version=", page->resource.version},
                                    {"  instance=", page->resource.instance}};
    for (unsigned i = 0; i < 3; i++) {
        if (about[i][1] == NULL || about[i][1][0] == '\0')
            continue;
        console_put_text(output, about[i][0]);
        console_put_quoted(output, about[i][1]);
    }
    if (page->final)
        console_put_text(output, "  (the last)");
    console_end_line(output);
}

int crest_console_table_write(const crest_console_page *page, crest_write_fn *write, void *context)
{
    console_output output = {write, context, 0, 0};
    console_put_title(&output, page);
    for (size_t i = 0; i < sizeof console_sections / sizeof *console_sections; i++)
        console_put_section(&output, page, &console_sections[i]);
    console_end_line(&output);
    return output.stopped;
}
