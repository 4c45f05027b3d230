/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of patterns for names: '*' is any bytes, '?' one; separated by blanks or ':'. Pure.
 *
 *     if (crest_globs_match("comm.* rspace.*", metric->name)) ...
 */
#ifndef CREST_GLOBS_H
#define CREST_GLOBS_H

/* Whether one of the patterns matches all of the name; NULL and a list of none do not. Cost: at
 * most the length of the list times that of the name. */
int crest_globs_match(const char *globs, const char *name);

/* Whether the list has no pattern; NULL has none. */
int crest_globs_empty(const char *globs);

#endif
