/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file of events is meant: a file, a folder's, a process's.
 */
#ifndef CREST_EVENTS_FIND_H
#define CREST_EVENTS_FIND_H

#include <limits.h>

/* Says so on standard error, and ends with status 1. */
__attribute__((noreturn, format(printf, 1, 2))) void events_die(const char *format, ...);

/* The path of the file that `named` means; with dead, of the last run that has ended. Ends the
 * program with a sentence where there is none. */
void events_find(const char *named, int dead, char path[PATH_MAX]);

#endif
