/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console reporter's encoder: rows in, a table out. Pure; knows no stream and no snapshot.
 *
 * The text is plain, without escape sequences, unless colour or redraw ask for them. What comes
 * from outside (label values, the service's name) has its control characters escaped, so that a
 * peer cannot draw on the operator's terminal by its choice of a name.
 */
#ifndef CREST_REPORTERS_CONSOLE_TABLE_H
#define CREST_REPORTERS_CONSOLE_TABLE_H

#include <crest/console.h>
#include <crest/page.h>

/* A name column is not made narrower than this to fit a width, unless nothing else helps. */
#define CREST_CONSOLE_NAME_COLUMNS_MIN 20u

/* One series, all texts borrowed for the call; quantities are in its unit. */
typedef struct crest_console_row {
    const char *name;
    unsigned label_count;
    const char *const *label_keys;
    const char *const *label_values;
    int open; /* a label without a value is none */
    crest_kind kind;
    crest_unit unit;
    uint64_t counter;
    double gauge;
    int64_t current; /* of a range sampler */
    uint64_t count;  /* of a distribution, and what follows */
    uint64_t sum;
    uint64_t p50;
    uint64_t p99;
    uint64_t maximum;
    crest_window window;
    const float *points; /* the trend: rates of a counter or distribution, the oldest first */
    unsigned point_count;
} crest_console_row;

/* Whether the row shows this label. */
static inline int crest_console_has_label(const crest_console_row *row, unsigned label)
{
    return !row->open || row->label_values[label][0] != '\0';
}

typedef struct crest_console_page {
    uint64_t wall_ns; /* since 1970 */
    crest_resource resource;
    const crest_console_row *rows; /* of all kinds in any mixture */
    size_t row_count;
    unsigned width; /* columns of the terminal; a longer row takes two lines. 0: no bound */
    int final;
    int ascii;       /* nothing beyond ASCII */
    int colour;      /* headings, trends and alarms */
    int redraw;      /* over what the terminal shows, from its top */
    unsigned height; /* lines to keep to; 0: no bound */
} crest_console_page;

/* Writes the table in pieces of at most a line; returns what `write` returned when it stopped it,
 * else 0. */
int crest_console_table_write(const crest_console_page *page, crest_write_fn *write, void *context);

#endif
