/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8: whether a text is valid, making it valid, and cutting it between characters. Servers
 * refuse a whole page for one invalid byte; a Pushgateway even stores it first and breaks every
 * later scrape. So all outside text is checked before it goes out.
 *
 * Source: The Unicode Standard, table 3-7 (well-formed byte sequences) and its practice of one
 * U+FFFD for each maximal part of a sequence. NUL ends a text and is not part of one.
 */
#ifndef CREST_BASE_UTF8_H
#define CREST_BASE_UTF8_H

#include <stddef.h>

/* U+FFFD, which replaces invalid bytes. */
#define CREST_UTF8_REPLACEMENT "\xef\xbf\xbd"
#define CREST_UTF8_REPLACEMENT_BYTES 3u

/* What crest_utf8_copy had to do. */
#define CREST_UTF8_REPLACED 1u
#define CREST_UTF8_CUT 2u

/*
 * The length of the well-formed character at `bytes`, of `length` (at least 1) bytes; 0 when there
 * is none. Then *bad (may be NULL) is the number of bytes, at least 1, that one U+FFFD replaces.
 */
size_t crest_utf8_character(const char *bytes, size_t length, size_t *bad);

/* The length of the longest valid beginning of the bytes; `length` when they are valid. */
size_t crest_utf8_valid_length(const char *bytes, size_t length);

/* Whether a text is valid UTF-8. */
int crest_utf8_is_valid(const char *text);

/* The largest length, up to `max`, at which valid UTF-8 of `length` bytes can be cut. */
size_t crest_utf8_cut(const char *bytes, size_t length, size_t max);

/*
 * Copies a text, valid or not, into `out` of `size` (at least 1) bytes as valid UTF-8 and a NUL.
 * Each invalid part becomes U+FFFD; a text too long is cut between characters. Returns the length.
 * *what (may be NULL) becomes CREST_UTF8_REPLACED and CREST_UTF8_CUT, or-ed, as they happened.
 */
size_t crest_utf8_copy(const char *text, char *out, size_t size, unsigned *what);

#endif
