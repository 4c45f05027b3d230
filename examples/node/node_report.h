/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the node says on standard output: one JSON line for each event, and at exit one JSON object
 * with everything it counted itself, in plain C variables apart from Crest, under the names that
 * Prometheus has. A reader of both can compare them number by number.
 *
 *     report_count(r, served, "rchain_comm_discovery_kademlia_handle_ping_total");
 *     report_seconds(r, sum_ns, "rchain_…_ping_time_seconds_sum{peer=\"%s\"}", name);
 */
#ifndef NODE_REPORT_H
#define NODE_REPORT_H

#include <stdbool.h>

#include "node_base.h"

typedef struct report {
    char *text;
    size_t length, capacity;
    bool first;
    struct report *within; /* what report_timer_print has added to it, or NULL */
} report;

/* {"event":"<event>","node":"<name>" … ; members follow; report_print ends it. */
void report_begin(report *r, const char *event);
void report_member(report *r, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* the format gives JSON */
void report_text(report *r, const char *key, const char *value);

/* Members of "series": between these two calls. The key is the series as PromQL would select it. */
void report_series_begin(report *r, const char *key);
void report_count(report *r, uint64_t value, const char *series, ...)
    __attribute__((format(printf, 3, 4)));
/* Nanoseconds, printed as seconds with nine decimals: exact. */
void report_seconds(report *r, uint64_t ns, const char *series, ...)
    __attribute__((format(printf, 3, 4)));
void report_series_end(report *r);
/* "within": how far the exported sums of the timers that were printed may be from the truth. */
void report_within(report *r);

/* Writes the line at once, so that lines of several threads never mix, and frees the text. */
void report_print(report *r);

/* --events: without it report_event does nothing. */
void report_events_on(void);
/* One event whose further members are the formatted JSON text, as in: "\"height\":%u". */
void report_event(const char *event, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * One operation by the node's own clock, which is read before and after each reading of Crest's:
 *
 *     report_clock_start(&clock);
 *     timing = crest_timer_start(&ping_time, op);
 *     report_clock_started(&clock);
 *     …
 *     report_clock_end(&clock);
 *     crest_timing_end(&timing, op, outcome);
 *     report_timer_add_clock(&pings, &clock);
 *
 * The duration is that from the first reading to the last; Crest's is not longer, and at most
 * apart_ns shorter, however long the scheduler lets the thread wait between two readings.
 */
typedef struct report_clock {
    uint64_t start_ns, end_ns; /* node_now_ns */
    uint64_t apart_ns;         /* from each reading before Crest's to that after it, added up */
} report_clock;
void report_clock_start(report_clock *clock);
void report_clock_started(report_clock *clock);
void report_clock_end(report_clock *clock);

/*
 * An operation on a block, by node_now_ns: the event `timed`, which is the other side of the span
 * that Crest makes of it. `timer` is the metric's name; `took` says how far Crest's duration may be
 * off, which of those between two machines has its own bound in it.
 */
void report_timed(const char *timer, const uint8_t hash[NODE_HASH_BYTES], const report_clock *took,
                  const char *outcome);

/* A count and a sum of durations in plain variables, and how they are reported. */
typedef struct report_timer {
    uint64_t count, sum_ns;
    uint64_t within_ns; /* what Crest's sum may be off */
} report_timer;
void report_timer_add(report_timer *timer, uint64_t ns, uint64_t within_ns);
/* Reads the clock the last time; returns the whole, of which apart_ns is what it may be off. */
report_clock report_timer_add_clock(report_timer *timer, const report_clock *clock);
/* Reports `<name>_seconds_count{<labels>}` and `_sum`, and the sum in "within" too; labels as in:
 * peer="node-1",outcome="ok". Nothing when it is zero and `always` is not set: series that Crest
 * makes when they are first hit.
 */
void report_timer_print(report *r, const report_timer *timer, bool always, const char *name,
                        const char *labels, ...) __attribute__((format(printf, 5, 6)));

#endif
