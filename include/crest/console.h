/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console reporter: a table of every series on a stdio stream at each interval, for a program
 * run by hand and for a machine without a server. From crest_start: console=10s.
 */
#ifndef CREST_CONSOLE_H
#define CREST_CONSOLE_H

#include <crest/reporter.h>

CREST_BEGIN_C

/* Makes a reporter that writes to `stream`, borrowed while it lives. NULL when there is no memory.
 * Owned by the caller. */
CREST_API crest_reporter *crest_console_new(FILE *stream, crest_error *error);

CREST_END_C

#endif
