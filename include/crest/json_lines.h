/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON lines reporter, in libcrest-reporters: one JSON object a line for each series of a
 * report, appended to a file or written to standard output, for log pipelines and for jq.
 *
 *     crest_error error;
 *     crest_json_lines_options options = {.path = "/var/log/rnode/metrics.jsonl"};
 *     crest_reporter *json = crest_json_lines_new(&options, &error);
 *     crest_reporter_attach(NULL, json, NULL, &error);
 *
 * From crest_start: json=PATH, or json=- for standard output; json.interval; json.buckets=powers
 * (the default), all or none; json.windows (on).
 *
 *     jq -r 'select(.metric == "casper.add-block-time") | [.time, .quantiles["0.99"]] | @tsv'
 *
 * The members of a line; all times and values are in `unit`, the metric's own:
 *
 *   crest          the version of this table, CREST_JSON_LINES_SCHEMA. Members may be added within
 *                  a version; their meaning changes only with a new one
 *   time, time_ns  when the snapshot was taken: as RFC 3339 with nanoseconds, and since 1970
 *   report         counts the reports of a reporter that succeeded. Where the lines of a failed
 *                  report could not be taken back (a pipe), its retry has the same number and
 *                  replaces it
 *   final          true in the last report of a run, else not there
 *   resource       {service, version, instance, and resource.KEY options}, empty ones left out
 *   metric         the canonical name
 *   kind           "counter", "gauge", "range sampler", "histogram" or "timer"; stages are
 *                  histograms
 *   unit           "", "bytes", "ratio", "seconds", "milliseconds", "microseconds", "nanoseconds"
 *   labels         {KEY: VALUE}, a timer's outcome among them
 *   value          of a counter, gauge or range sampler (its current value)
 *   count, sum     of histograms and timers, cumulative; and, unless count is 0:
 *   min, max       the smallest and the largest value so far
 *   quantiles      {"0.5", "0.9", "0.95", "0.99", "0.999"}: of all values so far
 *   buckets        [[LOWEST, HIGHEST, COUNT], …], both ends included, upwards, empty ones left out:
 *                  by powers of two, or all buckets of the metric's range, as json.buckets says
 *   delta          how much a counter, or count, has grown since this reporter's last successful
 *                  report; at a series' first report its whole value. So the deltas of a run add
 *                  up to the value
 *   delta_sum      the same of sum
 *   delta_s        the seconds since that report; null at the first one
 *   windows        {"1m", "5m", "15m"}, those that are kept. Each has covered_s, the seconds that
 *                  were observed. Counters, histograms and timers: events, rate and peak (per
 *                  second). Histograms and timers: avg, max, slowest (the operation that took max)
 *                  and the quantiles that the metric asks for. Range samplers: min, avg, max
 *
 * Integers are exact to 64 bits. A reader that keeps all numbers as doubles (JavaScript) loses the
 * last digits of those above 2^53, as of time_ns. What is no number (NaN, infinite) is null. Text
 * is UTF-8; bytes that are not become U+FFFD, control characters are escaped.
 *
 * The file is opened for each report and appended to, so logrotate may rename it, without
 * copytruncate and without a signal; its size is logrotate's business. A report that cannot be
 * written whole is taken out of the file again, and the next successful report has its deltas.
 * Several processes may share a file: lines up to 64 KiB are not torn, but a failed report's lines
 * are then taken back only if they are the last ones.
 *
 * Kept spans (<crest/span.h>) are lines of another reporter: spans-json=PATH, and - for standard
 * output; spans-json.interval (5s). A line has, with OTLP's names where OTLP has them:
 *
 *   traceId, spanId, parentSpanId
 *                  in hexadecimal, 32 and 16 digits; a root has no parent
 *   name           the metric's, of a stage with the stage's behind a dot
 *   kind           "internal", "server", "client", "producer" or "consumer"
 *   startTimeUnixNano, endTimeUnixNano
 *                  integers
 *   outcome        "ok", "error", "timeout" or "cancelled"
 *   kept           why: "sampled", "failed", "timed-out", "slow" or "stuck"
 *   operation      the operation's id, as crest_op_format writes it
 *   message, traceState, service, instance
 *                  where there are any
 *   attributes     {KEY: VALUE}, of their types; droppedAttributesCount
 *   events         [{timeUnixNano, name, attributes}, …]
 *   links          [{traceId, spanId}, …]
 *   folded         {count, sum_ns, max_ns}: the span stands for so many of its name
 *
 * A text is cut at 4096 bytes, at a character. The spans of a batch are written whole or, after a
 * failure, again: up to 4 MiB of lines wait for that.
 */
#ifndef CREST_JSON_LINES_H
#define CREST_JSON_LINES_H

#include <crest/reporter.h>

#define CREST_JSON_LINES_SCHEMA 1u

typedef enum crest_json_buckets {
    CREST_JSON_BUCKETS_POWERS, /* counts by powers of two: at most 64 a line */
    CREST_JSON_BUCKETS_ALL,    /* all of the range: exact to its precision, up to hundreds a line */
    CREST_JSON_BUCKETS_NONE
} crest_json_buckets;

typedef struct crest_json_lines_options {
    /* a file, made if it is not there, with mode 0644 less the umask; "-": standard output. A
       relative one is taken from the working directory of the call. Required */
    const char *path CREST_DEFAULT_(NULL);
    crest_json_buckets buckets CREST_DEFAULT_(CREST_JSON_BUCKETS_POWERS);
    /* non-zero: no `windows` */
    int no_windows CREST_DEFAULT_(0);
} crest_json_lines_options;

CREST_BEGIN_C

/*
 * Makes a reporter; options are copied. The file is opened once, to know that it can be; one that
 * is not there is made by the first report. NULL with *error filled (error may be NULL):
 * CREST_INVALID_ARGUMENT for no path, CREST_IO with why the file can be neither opened nor made,
 * CREST_NO_MEMORY. Owned by the caller, freed with crest_reporter_free. Thread-safe; allocates.
 *
 * Its report: CREST_IO with what could not be done and why, CREST_TIMED_OUT when a pipe or terminal
 * takes no more before report->deadline_ns. Raises no signal. Standard output is shared with other
 * threads that print to stdout: lines are whole, and its lock is never held while this waits for a
 * slow reader. Memory: 64 KiB, and one more snapshot (for the deltas).
 */
CREST_API crest_reporter *crest_json_lines_new(const crest_json_lines_options *options,
                                               crest_error *error);

/*
 * Makes a reporter of kept spans; `path` as crest_json_lines_options.path, copied. NULL and its
 * report as above. Attach it with an interval of some seconds.
 */
CREST_API crest_reporter *crest_span_lines_new(const char *path, crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/json_lines_off.h>
#endif

#endif
