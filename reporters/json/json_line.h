/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder of JSON lines: one series of a report as one JSON object and a line feed. Pure: knows
 * neither files nor snapshots. The schema is in <crest/json_lines.h>.
 *
 * Source: RFC 8259. All text is valid UTF-8: what is none becomes U+FFFD; control characters, those
 * of Latin-1 and the line separators too, are escaped, so that a line can be shown on a terminal.
 */
#ifndef CREST_REPORTERS_JSON_LINE_H
#define CREST_REPORTERS_JSON_LINE_H

#include <crest/json_lines.h>
#include <crest/page.h>

#define CREST_JSON_LINE_WINDOWS 3u
extern const struct crest_json_window {
    const char *name; /* 1m, 5m, 15m */
    unsigned seconds;
} crest_json_line_windows[CREST_JSON_LINE_WINDOWS];

/* What the lines of one report share. */
typedef struct crest_json_report {
    uint64_t wall_ns; /* since 1970 */
    uint64_t number;
    const crest_resource *resource;
    double delta_s; /* since the previous report; negative: there was none */
    int final;
    crest_json_buckets buckets;
} crest_json_report;

typedef struct crest_json_series {
    const crest_series_view *view;
    const crest_series_view *previous;             /* NULL: it was not in the previous report */
    crest_window windows[CREST_JSON_LINE_WINDOWS]; /* covered_s 0: left out */
} crest_json_series;

/* Writes the line in pieces; returns what `write` returned when it stopped it, else 0. */
int crest_json_line_write(const crest_json_report *report, const crest_json_series *series,
                          crest_write_fn *write, void *context);

#endif
