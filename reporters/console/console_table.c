/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laying out the table. Each section is gone through twice: for the widths, then to write. See
 * console_table.h.
 */
#include "console/console_table.h"
#include "console/console_columns.h"
#include "console/console_number.h"
#include "console/console_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define CONSOLE_COLUMNS_MAX 6
#define CONSOLE_GAP 2
#define CONSOLE_NOTHING "-"
#define CONSOLE_MICRO "\xc2\xb5"
#define CONSOLE_CUT "..."
#define CONSOLE_TREND_TITLE "trend"
/* A trend of fewer rates is none. */
#define CONSOLE_TREND_MIN 6u
/* Of a row's second line, where the first one has the name. */
#define CONSOLE_INDENT 4u
/* Of an operation's id, each byte escaped. */
#define CONSOLE_ID_BYTES (8 * CREST_OP_TEXT_BYTES)
/* A section's blank, heading and first row, which may take two, before the last line. */
#define CONSOLE_LINES_KEPT 5u

typedef struct console_cells {
    char text[CONSOLE_COLUMNS_MAX][CREST_CONSOLE_NUMBER_BYTES];
} console_cells;

typedef struct console_section {
    const char *title;
    crest_kind kinds[2];
    unsigned column_count;
    const char *columns[CONSOLE_COLUMNS_MAX];
    int trend;           /* rates are shown as bars */
    const char *slowest; /* the last column, which is there when a row has something for it */
    void (*fill)(const crest_console_row *row, console_cells *cells);
} console_section;

/* How wide the columns of one section are. */
typedef struct console_layout {
    size_t name;
    size_t columns[CONSOLE_COLUMNS_MAX];
    size_t trend;   /* 0: none is shown */
    size_t slowest; /* 0: none has one */
} console_layout;

/* ---- cells ---- */

static void console_put_name(crest_console_text *text, const crest_console_row *row)
{
    crest_console_put_text(text, row->name);
    const char *before = "{";
    for (unsigned i = 0; i < row->label_count; i++) {
        if (!crest_console_has_label(row, i))
            continue;
        crest_console_put_text(text, before);
        before = ",";
        crest_console_put_text(text, row->label_keys[i]);
        crest_console_put_text(text, "=");
        crest_console_put_quoted(text, row->label_values[i]);
    }
    if (before[0] == ',')
        crest_console_put_text(text, "}");
}

static size_t console_text_columns(const char *text)
{
    return crest_console_columns(text, strlen(text));
}

/* Where there is only ASCII, a microsecond has a u. */
static void console_put_plain(crest_console_text *text, const char *cell)
{
    const char *micro = text->ascii ? strstr(cell, CONSOLE_MICRO) : NULL;
    if (micro == NULL) {
        crest_console_put_text(text, cell);
        return;
    }
    crest_console_put(text, cell, (size_t)(micro - cell));
    crest_console_put_text(text, "u");
    crest_console_put_text(text, micro + strlen(CONSOLE_MICRO));
}

/* Somewhere to write an id that may have to be cut. */
typedef struct console_bytes {
    char *bytes;
    size_t length;
} console_bytes;

static int console_bytes_take(void *context, const void *bytes, size_t length)
{
    console_bytes *into = context;
    if (length > CONSOLE_ID_BYTES - into->length)
        return 1;
    memcpy(into->bytes + into->length, bytes, length);
    into->length += length;
    return 0;
}

static int console_has_slowest(const crest_console_row *row)
{
    return row->kind == CREST_KIND_TIMER && row->window.covered_s > 0 &&
           row->window.slowest.kind != CREST_OP_NONE;
}

/* Columns of the row's slowest operation; 0 if none is known. */
static size_t console_slowest_columns(const crest_console_page *page, const crest_console_row *row)
{
    crest_console_text counting = {.ascii = page->ascii};
    if (console_has_slowest(row))
        crest_console_put_op(&counting, &row->window.slowest);
    return counting.columns;
}

static size_t console_name_columns(const crest_console_page *page, const crest_console_row *row)
{
    crest_console_text counting = {.ascii = page->ascii};
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
     1,
     NULL,
     console_fill_counter},
    {"gauge", {CREST_KIND_GAUGE, CREST_KIND_GAUGE}, 1, {"value"}, 0, NULL, console_fill_gauge},
    {"range sampler",
     {CREST_KIND_RANGE_SAMPLER, CREST_KIND_RANGE_SAMPLER},
     4,
     {"value", "min1m", "avg1m", "max1m"},
     0,
     NULL,
     console_fill_range_sampler},
    {"distribution",
     {CREST_KIND_HISTOGRAM, CREST_KIND_TIMER},
     6,
     {"count", "avg", "p50", "p99", "max", "max1m"},
     1,
     "slowest1m",
     console_fill_distribution},
};

static int console_in_section(const console_section *section, const crest_console_row *row)
{
    return row->kind == section->kinds[0] || row->kind == section->kinds[1];
}

static size_t console_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/*
 * Makes the section fit into the page's width: the trend gives way first, then the name's column,
 * whose longer names get lines of their own, then the operations' ids, which are cut.
 */
static void console_fit(const crest_console_page *page, const console_section *section,
                        console_layout *layout)
{
    size_t others = 0, slowest = layout->slowest != 0 ? CONSOLE_GAP + layout->slowest : 0;
    for (unsigned c = 0; c < section->column_count; c++)
        others += CONSOLE_GAP + layout->columns[c];
    size_t left = page->width > others ? page->width - others : 0;
    size_t name = layout->name < CREST_CONSOLE_NAME_COLUMNS_MIN ? layout->name
                                                                : CREST_CONSOLE_NAME_COLUMNS_MIN;
    size_t trend = layout->trend != 0 ? CONSOLE_GAP + layout->trend : 0;
    if (layout->name + trend + slowest <= left)
        return;
    if (name + slowest + trend > left) {
        size_t room = left > name + slowest ? left - name - slowest : 0;
        layout->trend = room >= CONSOLE_GAP + CONSOLE_TREND_MIN ? room - CONSOLE_GAP : 0;
        layout->trend = layout->trend < CREST_CONSOLE_POINTS ? layout->trend : CREST_CONSOLE_POINTS;
        trend = layout->trend != 0 ? CONSOLE_GAP + layout->trend : 0;
    }
    if (name + slowest > left)
        name = CONSOLE_INDENT;
    if (slowest != 0 && name + slowest > left) {
        layout->slowest = left > name + CONSOLE_GAP ? left - name - CONSOLE_GAP : 0;
        layout->slowest = console_larger(layout->slowest, strlen(section->slowest));
        slowest = CONSOLE_GAP + layout->slowest;
    }
    size_t taken = trend + slowest;
    layout->name = console_larger(name, left > taken ? left - taken : 0);
}

/* The widths of everything; the number of rows. */
static size_t console_measure(const crest_console_page *page, const console_section *section,
                              console_layout *layout)
{
    size_t rows = 0;
    *layout = (console_layout){.name = console_text_columns(section->title)};
    for (unsigned c = 0; c < section->column_count; c++)
        layout->columns[c] = console_text_columns(section->columns[c]);
    for (size_t i = 0; i < page->row_count; i++) {
        const crest_console_row *row = &page->rows[i];
        if (!console_in_section(section, row))
            continue;
        rows++;
        console_cells cells;
        section->fill(row, &cells);
        layout->name = console_larger(layout->name, console_name_columns(page, row));
        for (unsigned c = 0; c < section->column_count; c++)
            layout->columns[c] =
                console_larger(layout->columns[c], console_text_columns(cells.text[c]));
        if (section->slowest != NULL)
            layout->slowest = console_larger(layout->slowest, console_slowest_columns(page, row));
        if (section->trend && row->point_count > 0)
            layout->trend = CREST_CONSOLE_POINTS;
    }
    if (layout->slowest != 0)
        layout->slowest = console_larger(layout->slowest, strlen(section->slowest));
    if (page->width > 0)
        console_fit(page, section, layout);
    return rows;
}

static void console_put_cell(crest_console_text *text, const char *cell, size_t columns)
{
    size_t own = console_text_columns(cell);
    crest_console_put_blanks(text, CONSOLE_GAP + (columns > own ? columns - own : 0));
    console_put_plain(text, cell);
}

static void console_put_heading(crest_console_text *text, const console_section *section,
                                const console_layout *layout)
{
    crest_console_style_as(text, CREST_CONSOLE_HEADING);
    crest_console_put_text(text, section->title);
    if (text->columns > layout->name)
        crest_console_end_line(text);
    crest_console_put_blanks(text, layout->name - text->columns);
    for (unsigned c = 0; c < section->column_count; c++)
        console_put_cell(text, section->columns[c], layout->columns[c]);
    if (layout->trend != 0) {
        console_put_cell(text, CONSOLE_TREND_TITLE, layout->trend);
    }
    if (layout->slowest != 0) {
        crest_console_put_blanks(text, CONSOLE_GAP);
        crest_console_put_text(text, section->slowest);
    }
    crest_console_style_as(text, CREST_CONSOLE_PLAIN);
    crest_console_end_line(text);
}

/* The latest rates at the right. */
static void console_put_trend_cell(crest_console_text *text, const crest_console_row *row,
                                   size_t columns)
{
    unsigned count = row->point_count < columns ? row->point_count : (unsigned)columns;
    crest_console_put_blanks(text, CONSOLE_GAP + columns - count);
    if (count == 0)
        return;
    crest_console_style_as(text, CREST_CONSOLE_TREND);
    crest_console_put_trend(text, row->points + row->point_count - count, count);
    crest_console_style_as(text, CREST_CONSOLE_PLAIN);
}

/* The id, cut to its column. */
static void console_put_slowest(crest_console_text *text, const crest_console_row *row,
                                size_t columns)
{
    char id[CONSOLE_ID_BYTES];
    console_bytes into = {id, 0};
    crest_console_text whole = {
        .write = console_bytes_take, .context = &into, .ascii = text->ascii};
    crest_console_put_op(&whole, &row->window.slowest);
    crest_console_put_blanks(text, CONSOLE_GAP);
    if (whole.columns <= columns) {
        crest_console_put(text, id, into.length);
        return;
    }
    size_t length = 0, used = 0, bytes;
    for (; length < into.length; length += bytes) {
        crest_console_code(id + length, into.length - length, &bytes);
        used += crest_console_columns(id + length, bytes);
        if (used + strlen(CONSOLE_CUT) > columns)
            break;
    }
    crest_console_put(text, id, length);
    crest_console_put_text(text, CONSOLE_CUT);
}

/* An outcome that is not ok has come up in the last minute. */
static int console_is_alarm(const crest_console_row *row)
{
    for (unsigned i = 0; i < row->label_count; i++)
        if (strcmp(row->label_keys[i], "outcome") == 0)
            return row->window.events > 0 && strcmp(row->label_values[i], "ok") != 0;
    return 0;
}

static void console_put_row(crest_console_text *text, const console_section *section,
                            const console_layout *layout, const crest_console_row *row)
{
    console_cells cells;
    section->fill(row, &cells);
    if (console_is_alarm(row))
        crest_console_style_as(text, CREST_CONSOLE_ALARM);
    console_put_name(text, row);
    if (console_is_alarm(row))
        crest_console_style_as(text, CREST_CONSOLE_PLAIN);
    if (text->columns > layout->name)
        crest_console_end_line(text);
    crest_console_put_blanks(text, layout->name - text->columns);
    for (unsigned c = 0; c < section->column_count; c++)
        console_put_cell(text, cells.text[c], layout->columns[c]);
    if (layout->trend != 0)
        console_put_trend_cell(text, row, layout->trend);
    if (layout->slowest != 0 && console_has_slowest(row))
        console_put_slowest(text, row, layout->slowest);
    crest_console_end_line(text);
}

/* Whether two more lines and the last one still fit below. */
static int console_has_room(const crest_console_text *text, const crest_console_page *page)
{
    return page->height == 0 || text->lines + CONSOLE_LINES_KEPT < page->height;
}

/* Returns how many rows were left out for want of lines. */
static size_t console_put_section(crest_console_text *text, const crest_console_page *page,
                                  const console_section *section)
{
    console_layout layout;
    size_t rows = console_measure(page, section, &layout);
    if (rows == 0 || !console_has_room(text, page))
        return rows;
    crest_console_end_line(text);
    console_put_heading(text, section, &layout);
    for (size_t i = 0; i < page->row_count && text->stopped == 0; i++) {
        if (!console_in_section(section, &page->rows[i]))
            continue;
        if (!console_has_room(text, page))
            return rows;
        rows--;
        console_put_row(text, section, &layout, &page->rows[i]);
    }
    return 0;
}

static void console_put_title(crest_console_text *text, const crest_console_page *page)
{
    time_t seconds = (time_t)(page->wall_ns / 1000000000u);
    struct tm utc;
    memset(&utc, 0, sizeof utc);
    gmtime_r(&seconds, &utc);
    char title[64];
    snprintf(title, sizeof title, "Crest  %04d-%02d-%02d %02d:%02d:%02d UTC", utc.tm_year + 1900,
             utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
    crest_console_style_as(text, CREST_CONSOLE_HEADING);
    crest_console_put_text(text, title);
    const char *const about[][2] = {{"  service=", page->resource.service},
                                    {"  version=", page->resource.version},
                                    {"  instance=", page->resource.instance}};
    for (unsigned i = 0; i < 3; i++) {
        if (about[i][1] == NULL || about[i][1][0] == '\0')
            continue;
        crest_console_put_text(text, about[i][0]);
        crest_console_put_quoted(text, about[i][1]);
    }
    if (page->final)
        crest_console_put_text(text, "  (the last)");
    crest_console_style_as(text, CREST_CONSOLE_PLAIN);
    crest_console_end_line(text);
}

int crest_console_table_write(const crest_console_page *page, crest_write_fn *write, void *context)
{
    crest_console_text text = {.write = write,
                               .context = context,
                               .ascii = page->ascii,
                               .colour = page->colour,
                               .redraw = page->redraw};
    if (page->redraw)
        crest_console_to_top(&text);
    console_put_title(&text, page);
    size_t hidden = 0;
    for (size_t i = 0; i < sizeof console_sections / sizeof *console_sections; i++)
        hidden += console_put_section(&text, page, &console_sections[i]);
    if (hidden > 0) {
        char more[80];
        snprintf(more, sizeof more, "and %zu more that the terminal has no lines for", hidden);
        crest_console_put_text(&text, more);
    }
    crest_console_end_line(&text);
    if (page->redraw)
        crest_console_clear_below(&text);
    return text.stopped;
}
