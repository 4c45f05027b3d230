/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of InfluxDB's line protocol: a series and its values at a time as one line. Pure; allocates
 * only where what a distribution has grown by is to be known.
 *
 *     rspace.produce,instance=a,outcome=ok count=3i,sum=0.25,p50=0.07 1700000000000\n
 *
 * Rules of the format, as InfluxDB 1.6.7 has them:
 *
 *   measurement   a backslash before a comma and a blank
 *   tags          a backslash before a comma, a blank and an equals sign, in keys and values;
 *                 sorted by key. An empty value is refused by the server, so the tag is left out.
 *                 A line end in a value would begin another line, a backslash at its end would hide
 *                 the separator behind it, and one before a comma, blank or equals sign is read in
 *                 two ways (VictoriaMetrics takes two backslashes for one): none of them can be
 *                 written, and the line is refused.
 *                 The key `time` is refused by the server, and is written time_
 *   fields        an integer ends in i; NaN and infinities are refused by the server, and left out
 */
#ifndef CREST_REPORTERS_INFLUX_LINE_H
#define CREST_REPORTERS_INFLUX_LINE_H

#include <crest/influxdb.h>

/* Why a line or a field was left out; the words are the `cause` of crest.influxdb-dropped-lines. */
typedef enum crest_influx_cause {
    CREST_INFLUX_TOO_LONG,
    CREST_INFLUX_NOT_A_NUMBER,
    CREST_INFLUX_LINE_END,
    CREST_INFLUX_BACKSLASH,
    CREST_INFLUX_PARTIAL_WRITE, /* the server left it out */
    CREST_INFLUX_CAUSES
} crest_influx_cause;
extern const char *const crest_influx_cause_names[CREST_INFLUX_CAUSES];

/* How lines are written. */
typedef struct crest_influx_form {
    crest_influxdb_fields fields;
    double percentiles[CREST_INFLUXDB_PERCENTILES_MAX];
    unsigned percentile_count;
    int windows; /* all of them, not only those of range samplers */
} crest_influx_form;

/* A series at a time. */
typedef struct crest_influx_point {
    const crest_series_view *series;
    const crest_series_view *previous; /* as of the last report that arrived; NULL: all is new */
    const crest_report *report;        /* for its windows and its resource */
    size_t index;                      /* of the series in the report's snapshot */
    /* in the precision of the server: of what is now, and of what happened in a period */
    uint64_t now, period;
} crest_influx_point;

/* The line that is made; "" when there is none. */
typedef struct crest_influx_line {
    size_t length;
    unsigned dropped; /* 1 << cause of each reason why it, or a field of it, was left out */
    int full;         /* something did not fit */
    char text[CREST_INFLUXDB_LINE_BYTES_MAX];
} crest_influx_line;

/* Makes the line of a point, its line feed included; length 0: there is nothing to say of it.
 * CREST_NO_MEMORY. */
crest_status crest_influx_line_make(crest_influx_line *line, const crest_influx_form *form,
                                    const crest_influx_point *point);

#endif
