/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of patterns for names: '*' matches any bytes, '?' one; separated by blanks or ':'. Pure.
 *
 *     if (crest_globs_match("comm.* rspace.*", metric->name)) ...
 */
#ifndef CREST_GLOBS_H
#define CREST_GLOBS_H

/* Whether one of the patterns matches the whole name; NULL and an empty list match none. Cost: at
 * most the list's length times the name's. */
int crest_globs_match(const char *globs, const char *name);

/* Whether the list has no pattern; NULL has none. */
int crest_globs_empty(const char *globs);

#endif
