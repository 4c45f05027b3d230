/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console reporter: a table of every series on a stdio stream at each interval, for a program
 * run by hand and for a machine without a server. From crest_start: console=10s.
 */
#ifndef CREST_CONSOLE_H
#define CREST_CONSOLE_H

#include <crest/reporter.h>

CREST_BEGIN_C

/*
 * Makes a reporter that writes to `stream`, borrowed while it lives: one title line, then a section
 * each for counters (value, rate and peak over the last minute), gauges, and distributions (count,
 * mean, median, 99th percentile, maximum, and that of the last minute with the id of the operation
 * that took it, where a timer knows one), in units that fit. A row too long for the terminal takes
 * two lines. Plain text: control characters in label values and ids are escaped. NULL with *error
 * (which may be NULL) filled: CREST_NO_MEMORY, CREST_INVALID_ARGUMENT for
 * no stream. Owned by the caller, freed with crest_reporter_free. Thread-safe; allocates.
 */
CREST_API crest_reporter *crest_console_new(FILE *stream, crest_error *error);

CREST_END_C

#endif
