/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for a terminal: counts columns, escapes what a terminal would act on, and leaves out blanks
 * at the ends of lines. Knows no table.
 */
#ifndef CREST_REPORTERS_CONSOLE_TEXT_H
#define CREST_REPORTERS_CONSOLE_TEXT_H

#include <crest/op.h>
#include <crest/page.h>

typedef enum crest_console_style {
    CREST_CONSOLE_PLAIN,
    CREST_CONSOLE_HEADING,
    CREST_CONSOLE_TREND,
    CREST_CONSOLE_ALARM
} crest_console_style;

/* Zeroed but for what is set before the first put. */
typedef struct crest_console_text {
    crest_write_fn *write; /* NULL: only counts */
    void *context;
    int ascii;  /* nothing beyond ASCII */
    int colour; /* styles show */
    int redraw; /* each line clears the rest of its own */
    int stopped;
    size_t columns; /* put since the line's begin */
    size_t blanks;  /* of these, not written yet */
    unsigned lines; /* ended */
} crest_console_text;

void crest_console_put(crest_console_text *text, const char *bytes, size_t length);
void crest_console_put_text(crest_console_text *text, const char *bytes);
void crest_console_put_blanks(crest_console_text *text, size_t count);
/* In quotes; quotes, backslashes, controls and, in ASCII, all else are escaped. */
void crest_console_put_quoted(crest_console_text *text, const char *bytes);
/* An operation's id: a text in quotes. */
void crest_console_put_op(crest_console_text *text, const crest_op *op);
/* A bar for each rate; the highest of them has full height, one of zero the lowest. */
void crest_console_put_trend(crest_console_text *text, const float *points, unsigned count);
void crest_console_style_as(crest_console_text *text, crest_console_style style);
void crest_console_end_line(crest_console_text *text);

/* Sequences that move the cursor: to the top, and clearing all below it. */
void crest_console_to_top(crest_console_text *text);
void crest_console_clear_below(crest_console_text *text);

#endif
