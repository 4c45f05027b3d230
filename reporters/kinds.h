/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of reporters in this library. Each is a constant in its reporter's own file;
 * register_kinds.c tells crest_start of all of them. A new reporter is its file, a line here and a
 * line there.
 */
#ifndef CREST_REPORTERS_KINDS_H
#define CREST_REPORTERS_KINDS_H

#include <crest/reporter.h>

extern const crest_reporter_kind crest_pushgateway_kind;      /* push_options.c */
extern const crest_reporter_kind crest_console_kind;          /* console.c */
extern const crest_reporter_kind crest_textfile_kind;         /* textfile.c */
extern const crest_reporter_kind crest_statsd_kind;           /* statsd_options.c */
extern const crest_reporter_kind crest_json_kind;             /* json_lines.c */
extern const crest_reporter_kind crest_spans_json_kind;       /* span_lines.c */
extern const crest_reporter_kind crest_events_json_kind;      /* event_lines.c */
extern const crest_reporter_kind crest_events_text_kind;      /* event_lines.c */
extern const crest_reporter_kind crest_zipkin_kind;           /* zipkin_options.c */
extern const crest_reporter_kind crest_influxdb_kind;         /* influxdb_options.c */
extern const crest_reporter_kind crest_hlog_kind;             /* hlog.c */
extern const crest_reporter_kind crest_prometheus_kind;       /* scrape.c */
extern const crest_reporter_kind crest_otlp_kind;             /* otlp_options.c */
extern const crest_reporter_kind crest_profile_reporter_kind; /* profile.c */
extern const crest_reporter_kind crest_live_kind;             /* live.c */

#endif
