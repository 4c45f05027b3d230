/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console reporter, in libcrest-reporters: every series on a stdio stream at each interval, for
 * a program run by hand and for a machine without a server. On a terminal a table, elsewhere JSON
 * lines.
 *
 *     crest_error error;
 *     crest_console_options options = {.stream = stderr};
 *     crest_reporter *console = crest_console_new(&options, &error);
 *     crest_reporter_attach(NULL, console, NULL, &error);
 *
 * From crest_start: console=10s writes to standard error; console.format=auto (the default), table
 * or json; console.redraw=on draws over the table before instead of below it; console.colour=auto
 * (the default), on or off.
 *
 * The table has a title line, then a section each for counters (value, rate and peak over the last
 * minute), gauges, range samplers and distributions. A distribution shows count, mean, median, 99th
 * percentile and maximum, and the last minute's maximum with the id of its operation, where a timer
 * knows one. Units are chosen to fit.
 * On a terminal counters and distributions have a trend too: their rate from report to report, for
 * the last CREST_CONSOLE_POINTS reports, scaled to the highest of these.
 * Crest's own series that have counted nothing (such as causes of misuse) are left out; the JSON
 * format has them all.
 *
 * On a terminal the table keeps to its width: a name that does not fit has a line of its own, a
 * trend is shortened or left out, an operation's id cut. Names of two columns a character line up.
 * Where LC_ALL, LC_CTYPE or LANG name no UTF-8, or TERM is dumb or not set, everything is ASCII,
 * and what is not is escaped. Control characters and bidirectional marks in label values and ids
 * are always escaped: a peer cannot draw on the terminal by choosing its name. Colours are only on
 * a terminal, and never when NO_COLOR is set and not empty, unless console.colour=on.
 *
 * The JSON lines are those of json_lines.h, deltas included.
 */
#ifndef CREST_CONSOLE_H
#define CREST_CONSOLE_H

#include <crest/reporter.h>

/* Rates of a series that a trend shows, and series that have one, the first in the snapshot's
 * order; each takes 100 bytes. */
#define CREST_CONSOLE_POINTS 16u
#define CREST_CONSOLE_TREND_SERIES_MAX 4096u

typedef enum crest_console_format {
    CREST_CONSOLE_AUTO, /* a table if the stream is a terminal, else JSON lines */
    CREST_CONSOLE_TABLE,
    CREST_CONSOLE_JSON
} crest_console_format;

typedef struct crest_console_options {
    /* borrowed while the reporter lives; required */
    FILE *stream CREST_DEFAULT_(NULL);
    crest_console_format format CREST_DEFAULT_(CREST_CONSOLE_AUTO);
    /* non-zero: on a terminal each table overwrites the previous one; rows below its last line are
       counted instead of shown */
    int redraw CREST_DEFAULT_(0);
    /* 0: as said above; 1: colours, on a terminal or not; -1: no colours */
    int colour CREST_DEFAULT_(0);
} crest_console_options;

CREST_BEGIN_C

/*
 * Makes a reporter; options are copied, and the environment is read now. NULL with *error (which
 * may be NULL) filled: CREST_NO_MEMORY, CREST_INVALID_ARGUMENT for no stream. Owned by the caller,
 * freed with crest_reporter_free. Thread-safe; allocates.
 *
 * Its report: CREST_IO (the stream is closed or full), CREST_TIMED_OUT when a stopped terminal or a
 * slow pipe takes no more before report->deadline_ns, CREST_NO_MEMORY. Raises no signal. Does not
 * hold the stream's lock while it waits, so other threads that print wait for the pipe's reader
 * only, not for this reporter.
 */
CREST_API crest_reporter *crest_console_new(const crest_console_options *options,
                                            crest_error *error);

CREST_END_C

#ifdef CREST_DISABLE
#include <crest/off/console_off.h>
#endif

#endif
