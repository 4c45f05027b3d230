/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HdrHistogram's logs, in libcrest-reporters: a reporter that appends to one, a reader of any, and
 * the compressed bytes that their lines have. HdrHistogram's tools read them, in Java, Go,
 * JavaScript, Python, Rust and C, and `crest hlog` does.
 *
 *     crest_error error;
 *     crest_hlog_options options = {.path = "/var/log/rnode/latencies.hlog"};
 *     crest_reporter *hlog = crest_hlog_new(&options, &error);
 *     crest_reporter_attach(NULL, hlog, NULL, &error);
 *
 * From crest_start: hlog=PATH, or hlog=- for standard output; hlog.interval, .include, .exclude.
 *
 * What a log has: a line for each histogram and timer that recorded anything in the interval, and
 * its tag is the series, NAME;KEY=VALUE;KEY=VALUE. Bytes of it that would end a tag or a part
 * (blanks, controls, comma, semicolon, equals sign, percent sign) are written %2C. Values are in
 * the metric's own unit; the line's "Interval_Max" is in milliseconds where that is a time, as
 * everywhere in HdrHistogram's logs. So the lines of a tag add up to what was recorded, and no line
 * is about more than its interval. Counters and gauges, and histograms of CREST_RANGE_NONE, have no
 * place there.
 *
 * The file is opened for each report and appended to, so logrotate may rename it; a report that
 * cannot be written whole is taken out of the file again, and the next successful report has its
 * records.
 *
 * Source: HdrHistogram 2.2.2 for Java, HistogramLogWriter and HistogramLogReader (format 1.3).
 */
#ifndef CREST_HLOG_H
#define CREST_HLOG_H

#include <crest/hdr.h>
#include <crest/reporter.h>

typedef struct crest_hlog_options {
    /* a file, made if it is not there, with mode 0644 less the umask; "-": standard output. A
       relative one is taken from the working directory of the call. Required */
    const char *path CREST_DEFAULT_(NULL);
} crest_hlog_options;

/* What a log has said so far; zeroed: nothing. For one reader of lines, from the first one on. */
typedef struct crest_hlog_log {
    double started_s; /* when the log says that it began, since 1970; 0: it does not */
    double base_s;    /* what is added to the times of its lines */
    int has_base;     /* base_s is settled */
} crest_hlog_log;

/* A line with a histogram. */
typedef struct crest_hlog_interval {
    const char *tag; /* borrowed from the line; not NUL-terminated */
    size_t tag_length; /* 0: none */
    double start_s;    /* since 1970, or since an unknown time where the log does not say */
    double length_s;
    double max; /* as the line says: of a log of ns, in ms */
    crest_distribution *distribution; /* the caller's; NULL: the line has no histogram */
} crest_hlog_interval;

CREST_BEGIN_C

/*
 * Makes a reporter; options are copied. NULL with *error filled (error may be NULL):
 * CREST_INVALID_ARGUMENT without a path, CREST_IO when the file can be neither opened nor made,
 * CREST_NO_MEMORY. The first report makes it. Owned by the caller, freed with crest_reporter_free.
 * Thread-safe; allocates; looks for the file.
 *
 * Its report: CREST_IO, CREST_TIMED_OUT after report->deadline_ns, CREST_NO_MEMORY.
 */
CREST_API crest_reporter *crest_hlog_new(const crest_hlog_options *options, crest_error *error);

/*
 * As crest_distribution_encode and _decode, with the counts compressed by zlib, which is what lines
 * of logs and most other programs hand about. _encode_compressed allocates, so it can answer
 * CREST_NO_MEMORY too; its bytes may differ between versions of zlib. _decode_compressed takes
 * bytes of either form. It makes no more of them than their head says and its range can have (72
 * KiB with 2 digits, 72 MiB with 5), so a small input cannot take much memory. Thread-safe.
 */
CREST_API crest_status crest_distribution_encode_compressed(const crest_distribution *distribution,
                                                            void *bytes, size_t room,
                                                            size_t *length);
CREST_API crest_distribution *crest_distribution_decode_compressed(const void *bytes, size_t length,
                                                                   crest_error *error);

/*
 * Reads one line of a log, without its line feed; a carriage return at its end is no matter.
 * CREST_OK with interval->distribution NULL: a comment, the legend or an empty line; what a comment
 * says of time is kept in *log. Otherwise the distribution is the caller's.
 * CREST_INVALID_ARGUMENT with a sentence in *error (may be NULL) and no distribution: the line is
 * no line of a log, or its histogram cannot be read; lines after it can be. CREST_NO_MEMORY. `log`
 * and `interval` are never NULL. Thread-safe for different logs; allocates.
 */
CREST_API crest_status crest_hlog_parse(crest_hlog_log *log, const char *line, size_t length,
                                        crest_hlog_interval *interval, crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/hlog_off.h>
#endif

#endif
