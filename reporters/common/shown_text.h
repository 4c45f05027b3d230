/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that comes from outside: is it UTF-8, and how to show it to an operator. Pure functions; no
 * allocation.
 */
#ifndef CREST_REPORTERS_PUSH_TEXT_H
#define CREST_REPORTERS_PUSH_TEXT_H

#include <stddef.h>

/* Bytes of the UTF-8 character at `text`, of which `length` bytes are there; 0 when they do not
 * begin with a whole, shortest-form character. A NUL is a character of one byte. */
size_t crest_push_text_step(const char *text, size_t length);

/* Whether all of a NUL-terminated text is UTF-8. */
int crest_push_text_valid(const char *text);

/*
 * Copies `length` bytes a server sent into `shown`, NUL-terminated and fit for one line of a log or
 * a terminal: control characters and runs of blanks become one blank, bytes that are not UTF-8
 * become '?', blanks at both ends go, and what does not fit into `size` is replaced by "..." at a
 * character. `size` is at least 4. Returns the length.
 */
size_t crest_push_text_show(const char *text, size_t length, char *shown, size_t size);

#endif
