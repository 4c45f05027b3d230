/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of reporters that crest_start knows. The public half is crest_reporter_kind_add in
 * <crest/reporter.h>.
 */
#ifndef CREST_REPORTER_KINDS_H
#define CREST_REPORTER_KINDS_H

#include <crest/reporter.h>

/* Bytes of an option's key, such as those that a kind lists. */
#define CREST_OPTION_KEY_BYTES_MAX 128u

/* Copies the kinds added so far, in the order of adding, and returns how many. Thread-safe. */
size_t crest_reporter_kinds(const crest_reporter_kind *kinds[CREST_REPORTER_KINDS_MAX]);

/* Whether the name is valid for a kind: a lower-case word of letters, digits and dashes. */
int crest_reporter_kind_name_is_valid(const char *name);

#endif
