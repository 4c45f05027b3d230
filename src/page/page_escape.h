/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escaping text that a line cannot hold as it is. Backslashes, line feeds and quotes get a
 * backslash; a byte that is not UTF-8 becomes U+FFFD. Quotes are escaped in label values of every
 * format, and in HELP of OpenMetrics only: a reader of text 0.0.4 would keep the backslash.
 */
#ifndef CREST_PAGE_ESCAPE_H
#define CREST_PAGE_ESCAPE_H

#include "base/buffer.h"

/* Least room that crest_page_escape needs. */
#define CREST_PAGE_ESCAPE_MIN 4u

/* Escapes from *text as much as fits into `size` bytes, CREST_PAGE_ESCAPE_MIN or more, and moves
 * *text behind it; returns the bytes written. */
size_t crest_page_escape(const char **text, char *out, size_t size, int quotes);

/* Escapes all of it, however long. */
void crest_page_put_escaped(crest_buffer *out, const char *text, int quotes);

/* key="value", the value escaped, and a comma before it unless it is the first. */
void crest_page_put_label(crest_buffer *out, const char *key, const char *value, int first);

#endif
