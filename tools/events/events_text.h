/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events and texts of files as a terminal may get them, as JSON, and as Chrome's trace events.
 */
#ifndef CREST_EVENTS_TEXT_H
#define CREST_EVENTS_TEXT_H

#include <crest/event_lines.h>

#include <stdio.h>

/* How events are shown. */
typedef struct events_look {
    unsigned width; /* columns; 0: as many as there are */
    int colours;
    int confidential;    /* shows the values of such events too */
    unsigned name_width; /* of the longest name so far */
    uint64_t day;        /* since 1970, of the last line; UINT64_MAX: none */
} events_look;

/* Without what a terminal would obey. */
void events_text_plain(const char *text, size_t length, FILE *to);
/* In lines of at most `width` columns, each behind so many blanks. */
void events_text_wrapped(const char *text, unsigned blanks, unsigned width, FILE *to);
/* A string of JSON; the text is valid UTF-8. */
void events_text_json(const char *text, size_t length, FILE *to);

/* Makes the column of names as wide as this one, up to a bound. */
void events_text_measure(const char *name, events_look *look);

/* Before the first line, and at each new day: a line with the date. */
void events_text_day(uint64_t wall_ns, events_look *look, FILE *to);

/* One event: a line, or several within the width. */
void events_text_event(const crest_event_view *event, events_look *look, FILE *to);

/* One event of Chrome's trace event format, behind a comma unless it is the first. */
void events_text_chrome(const crest_event_view *event, const events_look *look, uint64_t pid,
                        int first, FILE *to);

/* The same without the values of a confidential event, unless it is to be shown. */
const crest_event_view *events_text_masked(const crest_event_view *event, const events_look *look,
                                           crest_event_view *masked);

#endif
